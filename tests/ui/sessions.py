"""Sessions with every figure that the Monitor shows, written by the real writer, whole or bit by bit."""

from __future__ import annotations

import math
from pathlib import Path

from gpuscope.domain.device import Device, Host
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome, RunSpec
from gpuscope.domain.sample import Frame, GpuSample, HostSample, ProcessSample, SourceState
from gpuscope.store.writer import SessionWriter

GIB = 1024**3
ZERO_S = 1000.0
WALL_S = 1_790_000_000.0
INTERVAL_S = 0.1
NO_DRIVER = "No NVIDIA driver was found: install it from nvidia.com/drivers, or open a session from another machine."


def uuid_of(index: int) -> str:
    return f"GPU-{index:08d}-aaaa-bbbb-cccc-ddddeeeeffff"


def manifest(*, run: bool = True, total_steps: int | None = 600, interval_s: float = INTERVAL_S) -> Manifest:
    spec = RunSpec(
        argv=("/usr/bin/python3", "train_gpt.py", "--epochs", "3"),
        cwd="/home/me/project",
        target="script",
        display="train_gpt.py --epochs 3",
        interpreter="/usr/bin/python3",
        total_steps=total_steps,
    )
    host = Host(
        hostname="workstation",
        os="Linux 6.8",
        cpu_name="AMD EPYC 9354 32-Core Processor",
        cores=32,
        threads=64,
        memory_total_bytes=256 * GIB,
    )
    return Manifest(
        session_id="11111111-2222-4333-8444-555555555555",
        kind="run" if run else "record",
        created_wall_s=WALL_S,
        created_monotonic_s=ZERO_S,
        gpuscope_version="0.1.0",
        host=host,
        interval_s=interval_s,
        run=spec if run else None,
    )


def devices(count: int) -> tuple[Device, ...]:
    return tuple(
        Device(
            uuid=uuid_of(index),
            index=index,
            name="NVIDIA H100 80GB HBM3",
            memory_total_bytes=80 * GIB,
            driver_version="570.86.15",
            power_limit_w=700.0,
        )
        for index in range(count)
    )


def frame(number: int, *, gpus: int = 1, interval_s: float = INTERVAL_S, workload: bool = True) -> Frame:
    """The frame at `number` intervals; the host is in every tenth."""
    t = number * interval_s
    samples = tuple(_gpu(index, number, t) for index in range(gpus))
    state = SourceState(source="nvml", ok=True) if gpus else SourceState(
        source="nvml", ok=False, code="no_driver_library", sentence=NO_DRIVER
    )  # fmt: skip
    return Frame(
        monotonic_s=ZERO_S + t,
        wall_s=WALL_S + t,
        gpus=samples or None,
        host=_host(number, t, workload=workload) if number % 10 == 0 else None,
        devices=devices(gpus) if number == 0 and gpus else None,
        states=(state,) if number == 0 else None,
    )


def _gpu(index: int, number: int, t: float) -> GpuSample:
    wave = math.sin(t / 3 + index)
    noise = math.sin(number * 12.9898 + index * 78.233) * 43758.5453 % 1
    stepping = 14 if number % 12 == 0 else 0
    processes = (
        ProcessSample(pid=4242, name="python3", user="me", kind="compute", gpu_memory_bytes=61 * GIB),
        ProcessSample(pid=977, name="Xorg", user="root", kind="graphics", gpu_memory_bytes=90 * 1024**2),
    )
    return GpuSample(
        uuid=uuid_of(index),
        utilization_gpu_percent=max(0.0, 88 + 5 * wave + 6 * noise - stepping - 9 * index % 40),
        memory_total_bytes=80 * GIB,
        memory_used_bytes=round((min(61, 12 + 9 * t) + 2 * wave) * GIB),
        memory_reserved_bytes=614 * 1024**2,
        power_w=520 + 60 * wave + 80 * noise,
        power_limit_w=700.0,
        temperature_c=61 + 3 * wave,
        clock_sm_mhz=1980 - (135 if wave > 0.9 else 0),
        clock_memory_mhz=2619.0,
        clock_event_reasons=0x4 if wave > 0.9 else 0,
        pcie_rx_bytes_per_s=2.1e9 + 4e8 * noise,
        pcie_tx_bytes_per_s=6e8 + 1e8 * wave,
        processes=processes if number % 10 == 0 else None,
    )


def _host(number: int, t: float, *, workload: bool) -> HostSample:
    wave = math.sin(t / 5)
    tree = (
        ProcessSample(
            pid=4242, name="python3", user="me", kind="workload", cpu_percent=182.0, rss_bytes=6 * GIB,
            read_bytes_per_s=2.1e8, write_bytes_per_s=3.0e4, threads=41,
        ),
        ProcessSample(
            pid=4301, name="python3", user="me", kind="workload", cpu_percent=64.0, rss_bytes=GIB,
            read_bytes_per_s=9.9e7, write_bytes_per_s=0.0, threads=3,
        ),
    )  # fmt: skip
    return HostSample(
        cpu_percent=23 + 8 * wave,
        memory_total_bytes=256 * GIB,
        memory_used_bytes=round((31 + wave) * GIB),
        memory_available_bytes=round((225 - wave) * GIB),
        disk_read_bytes_per_s=3.1e8 + 9e7 * wave,
        disk_write_bytes_per_s=4e6,
        network_receive_bytes_per_s=1.2e6,
        network_send_bytes_per_s=4e5 if number % 20 else 3e7,
        workload_cpu_percent=246.0 if workload else None,
        workload_rss_bytes=7 * GIB if workload else None,
        workload_processes=tree if workload else None,
    )


def add_steps(writer: SessionWriter, first: int, last: int, start_s: float = 2.0, step_s: float = 0.12) -> None:
    for number in range(first, last + 1):
        data = {"n": number, "duration_s": step_s if number > 1 else None, "optimizer": "AdamW"}
        writer.add_event(ZERO_S + start_s + number * step_s, "step", data, "probe:4242")


def write_session(
    path: Path,
    *,
    seconds: float = 60.0,
    gpus: int = 1,
    gap: tuple[float, float] | None = None,
    outcome: RunOutcome | None = None,
    run: bool = True,
    output: bytes = b"step 1 loss 3.21\nstep 2 loss 3.05\n",
) -> Path:
    """A finished session: a run, or a recording of the whole machine."""
    writer = start_session(path, run=run)
    fill_session(writer, seconds=seconds, gpus=gpus, gap=gap, run=run)
    if run:
        writer.add_output(ZERO_S + 1, output)
        writer.put_document("outcome", outcome or finished(seconds))
    writer.commit()
    writer.close()
    return path


def start_session(path: Path, *, run: bool = True) -> SessionWriter:
    writer = SessionWriter.create(path, manifest(run=run))
    writer.commit()
    return writer


def fill_session(
    writer: SessionWriter, *, seconds: float, gpus: int, gap: tuple[float, float] | None = None, run: bool = True
) -> None:
    for number in range(round(seconds / INTERVAL_S) + 1):
        if gap is None or not gap[0] < number * INTERVAL_S < gap[1]:
            writer.add_frame(frame(number, gpus=gpus, workload=run))
    if run:
        add_steps(writer, 1, max(1, int((seconds - 2.5) / 0.12)))
    writer.commit()


def finished(seconds: float) -> RunOutcome:
    return RunOutcome(
        kind=OutcomeKind.FINISHED, sentence="The run finished.", exit_status=0, started_s=0.0, ended_s=seconds
    )


def failed(seconds: float) -> RunOutcome:
    return RunOutcome(
        kind=OutcomeKind.FAILED,
        sentence="train_gpt.py failed with FileNotFoundError: No such file or directory: 'data/train.bin'.",
        exit_status=1,
        started_s=0.0,
        ended_s=seconds,
        last_output=(
            "Traceback (most recent call last):",
            '  File "train_gpt.py", line 41, in <module>',
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'",
        ),
        error_type="FileNotFoundError",
        error_message="No such file or directory: 'data/train.bin'",
    )
