"""What is to be run, how it ended, and what a session says of itself."""

from __future__ import annotations

from enum import StrEnum

from gpuscope.domain.base import Value
from gpuscope.domain.device import Host

LIVE_VIEW = "live"
"""Kind of a session that is only a window's live view: nobody asked for the file, so it may be deleted."""

IMPORT = "import"
"""Kind of a session that was made of other programs' recordings."""
CLUSTER = "cluster"
"""Kind of a session with the GPUs of many machines, from a server that watches them."""


class RunSpec(Value, frozen=True, kw_only=True):
    """A workload as the person asked for it; secrets are already replaced by `***`."""

    argv: tuple[str, ...]
    """The whole command line that is started, interpreter first."""
    cwd: str
    target: str
    """script, module or command"""
    display: str
    """The part that the person typed, for titles: `train.py --epochs 3`."""
    interpreter: str | None = None
    interpreter_note: str = ""
    """Why this interpreter was taken, in a sentence."""
    environment: dict[str, str] = {}
    """Only what the person set with --env."""
    probe: bool = True
    total_steps: int | None = None
    """Given by the person, for progress; None when unknown."""


class OutcomeKind(StrEnum):
    """How a session ended."""

    FINISHED = "finished"
    FAILED = "failed"
    OUT_OF_MEMORY = "out_of_memory"
    STOPPED = "stopped"
    KILLED = "killed"
    NOT_STARTED = "not_started"
    UNKNOWN = "unknown"
    RECORDED = "recorded"


class RunOutcome(Value, frozen=True, kw_only=True):
    """How a run or a recording ended, in numbers and in a sentence."""

    kind: OutcomeKind
    sentence: str
    exit_status: int | None = None
    """The workload's own; None when nobody was there to see it, or it ended by a signal."""
    signal: int | None = None
    started_s: float | None = None
    """Session time."""
    ended_s: float | None = None
    last_output: tuple[str, ...] = ()
    """The last lines that the workload printed, for a run that failed."""
    error_type: str | None = None
    error_message: str | None = None
    out_of_memory: dict[str, float] = {}
    """Numbers parsed from the out-of-memory message, bytes, by name (tried, total, free, allocated, reserved)."""


class Manifest(Value, frozen=True, kw_only=True):
    """The first page of a session: what it is, where and when it was made."""

    session_id: str
    kind: str
    """run, record, live (a window's own view, deleted with it), import, cluster (machines of a server) or dry_run"""
    created_wall_s: float
    """Unix time of session time 0."""
    created_monotonic_s: float
    """Monotonic clock at session time 0; session time = monotonic − this."""
    gpuscope_version: str
    host: Host
    interval_s: float
    run: RunSpec | None = None
    followed_pid: int | None = None
    """`record --pid`: the process tree that is watched."""
    keep_s: float | None = None
    """`record --keep`: about so many of the last seconds are kept, what is older is dropped; None: everything is."""
