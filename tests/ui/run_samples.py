"""Runs made by hand for the tests of the Run panel."""

from __future__ import annotations

from typing import Any

from gpuscope.domain.device import Host
from gpuscope.domain.events import Event
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome, RunSpec
from gpuscope.domain.sample import Frame, HostSample
from gpuscope.engine.follow import Update
from gpuscope.store.reader import SessionState

MIB = 1024**2
ZERO_S = 5000.0


def manifest(*, total_steps: int | None = 5000, probe: bool = True, target: str = "script") -> Manifest:
    spec = RunSpec(
        argv=("/opt/venv/bin/python", "train.py", "--config", "gpt2 medium.yaml"), cwd="/home/me/job", target=target,
        display="train.py --config 'gpt2 medium.yaml'", interpreter="/opt/venv/bin/python", total_steps=total_steps,
        probe=probe, environment={"OMP_NUM_THREADS": "8", "HF_TOKEN": "***"},
    )  # fmt: skip
    return Manifest(
        session_id="1", kind="run", created_wall_s=0, created_monotonic_s=ZERO_S, gpuscope_version="0",
        host=Host(hostname="box", os="Linux"), interval_s=0.1, run=spec,
    )  # fmt: skip


def event(t: float, kind: str, **data: Any) -> Event:
    return Event(t=t, source="probe:77", kind=kind, data=data)


def frame(t: float, rss_bytes: int | None = None) -> Frame:
    return Frame(monotonic_s=ZERO_S + t, wall_s=t, host=HostSample(workload_rss_bytes=rss_bytes))


def steps(count: int, *, start_s: float = 10.0, duration_s: float = 0.2) -> list[Event]:
    """Steps with their batches of 32 samples."""
    found = []
    for number in range(count):
        t = start_s + (number + 1) * duration_s
        found.append(event(t, "batch", samples=32, batches=1, wait_s=0.01))
        known = duration_s if number else None
        found.append(event(t, "step", n=number + 1, steps=1, optimizer="a", duration_s=known, skipped=False))
    return found


def census(t: float = 10.5) -> list[Event]:
    return [
        event(t, "model", parameters=124_000_000, parameter_bytes=496 * MIB, buffer_bytes=0),
        event(
            t, "optimizer", key="a", class_name="AdamW", parameter_bytes=496 * MIB, gradient_bytes=496 * MIB,
            state_bytes=992 * MIB, dominant=True,
        ),
    ]  # fmt: skip


def cuda_memory(t: float = 11.0) -> Event:
    return event(
        t, "memory", device=0, allocated_bytes=2100 * MIB, reserved_bytes=9000 * MIB,
        peak_allocated_bytes=8200 * MIB, peak_reserved_bytes=9000 * MIB, alloc_retries=0, ooms=0,
    )  # fmt: skip


def update(*events: Event, frames: tuple[Frame, ...] = (), state: SessionState = SessionState.LIVE) -> Update:
    return Update(events=list(events), frames=list(frames), state=state)


FINISHED = RunOutcome(kind=OutcomeKind.FINISHED, sentence="The run finished after 17 min.", exit_status=0)
FAILED = RunOutcome(
    kind=OutcomeKind.FAILED, sentence="The script failed with a FileNotFoundError.", exit_status=1,
    last_output=(
        "Traceback (most recent call last):", '  File "train.py", line 88, in <module>', "    data = open(path)",
        "FileNotFoundError: [Errno 2] No such file or directory: 'tokens.bin'",
    ),
)  # fmt: skip
OUT_OF_MEMORY = RunOutcome(
    kind=OutcomeKind.OUT_OF_MEMORY, sentence="The GPU ran out of memory.", exit_status=1,
    out_of_memory={"tried": 2.0 * 1024 * MIB, "total": 23.7 * 1024 * MIB, "free": 1.1 * 1024 * MIB},
    last_output=("torch.OutOfMemoryError: CUDA out of memory.",),
)  # fmt: skip
