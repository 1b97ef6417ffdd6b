"""How a run ended, from what the system and the probe say."""

from __future__ import annotations

import signal
from typing import Any

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.importers.out_of_memory.find import find_messages

Events = list[tuple[str, dict[str, Any]]]


def outcome_of(
    *,
    exit_status: int | None,
    exit_signal: int | None,
    stopped: bool,
    events: Events,
    last_output: tuple[str, ...],
    started_s: float,
    ended_s: float,
    root_pid: int | None,
) -> RunOutcome:
    """The outcome of a workload.

    Args:
        exit_status: as the system gave it; None when a signal ended it or nobody was there to see it.
        exit_signal: the signal that ended it; None otherwise.
        stopped: the person asked for the end.
        events: probe events as (source, fields).
        last_output: last lines of its output.
        started_s: session time.
        ended_s: session time.
        root_pid: the process that was started; its probe's `exit` event replaces a status that nobody saw.
    """
    own = f"probe:{root_pid}"
    if exit_status is None and exit_signal is None:
        exit_status = next((f.get("status") for s, f in reversed(events) if f.get("kind") == "exit" and s == own), None)
    exception = _last(events, "exception")
    memory = _last(events, "out_of_memory")
    failed = exit_signal is not None or exit_status not in (0, None)
    kind, sentence = _kind_and_sentence(exit_status, exit_signal, stopped, exception, memory if failed else None)
    show_output = kind not in (OutcomeKind.FINISHED, OutcomeKind.STOPPED)
    return RunOutcome(
        kind=kind,
        sentence=sentence,
        exit_status=exit_status,
        signal=exit_signal,
        started_s=started_s,
        ended_s=ended_s,
        last_output=last_output if show_output else (),
        error_type=str(exception["type"]) if exception and failed else None,
        error_message=str(exception.get("message", "")) if exception and failed else None,
        out_of_memory=_figures(str(memory.get("message", ""))) if memory and failed else {},
    )


_FIGURES = {
    "tried": "requested_bytes", "total": "total_bytes", "free": "free_bytes", "allocated": "allocated_bytes",
    "reserved": "reserved_bytes", "reserved_unallocated": "reserved_unallocated_bytes",
    "this_process": "this_process_bytes", "allowed": "limit_bytes", "other": "other_bytes",
}  # fmt: skip


def _figures(message: str) -> dict[str, float]:
    """Figures of the last out-of-memory message in a text; those that it does not give are absent."""
    messages = find_messages(message)
    found = {name: getattr(messages[-1], field) for name, field in _FIGURES.items()} if messages else {}
    return {name: float(value) for name, value in found.items() if value is not None}


def _last(events: Events, kind: str) -> dict[str, Any] | None:
    return next((fields for _, fields in reversed(events) if fields.get("kind") == kind), None)


def _kind_and_sentence(
    status: int | None,
    ended_by: int | None,
    stopped: bool,
    exception: dict[str, Any] | None,
    memory: dict[str, Any] | None,
) -> tuple[OutcomeKind, str]:
    if stopped:
        return OutcomeKind.STOPPED, "The run was stopped on request."
    if memory is not None:
        return OutcomeKind.OUT_OF_MEMORY, f"The run ran out of memory: {_first_line(memory.get('message'))}"
    if ended_by is not None:
        return OutcomeKind.KILLED, _signal_sentence(ended_by)
    if status is None:
        return OutcomeKind.UNKNOWN, "The run ended while no supervisor was watching; its exit status is not known."
    if status == 0:
        return OutcomeKind.FINISHED, "The run finished."
    if exception is not None:
        text = f"{exception.get('type')}: {_first_line(exception.get('message'))}".rstrip(": ")
        return OutcomeKind.FAILED, f"The run failed with exit status {status}: {text}"
    return OutcomeKind.FAILED, f"The run failed with exit status {status}."


def _first_line(text: Any) -> str:
    return str(text or "").strip().split("\n", 1)[0][:300]


def _signal_sentence(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name == "SIGKILL":
        return "The run was killed by SIGKILL; if nobody did that, the system ran out of memory: see the kernel log."
    if name in {"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"}:
        return f"The run crashed with {name}."
    return f"The run was ended by {name}."
