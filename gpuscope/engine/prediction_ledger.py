"""The file of predictions and of what later runs made of them: JSON lines in the state folder, bounded.

Lines are only added, so that two processes do not harm each other; when the file has grown, it is written anew with
the latest of them. A line that is damaged is skipped and counted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gpuscope import paths
from gpuscope.domain.base import Range, Value, from_json, to_json

MOST_PREDICTIONS = 60
MOST_COMPARISONS = 500
MOST_BYTES = 2 * 1024 * 1024
"""Past this the file is written anew with the latest entries."""
MOST_READ_BYTES = 4 * MOST_BYTES
"""A file beyond this was not written by gpuscope; only its end is read."""


class JobIdentity(Value, frozen=True, kw_only=True):
    """What makes two runs the same job. It tells neither where files are nor what the arguments were."""

    name: str
    """Of the script, module or program, without its folder."""
    arguments: str
    """Hash of the arguments, paths left out."""
    stage: str
    parameters: int | None = None
    batch_per_device: float | None = None
    gradient_accumulation: int | None = None
    """Batches before an update; None: one, or it was not seen."""


class PredictedStep(Value, frozen=True, kw_only=True):
    """What was promised for one configuration."""

    gpu: str
    """Catalogue id."""
    count: int
    precision: str
    step_time_s: Range
    nodes: int = 1
    """Machines that the GPUs are in."""
    data_parallel: int | None = None
    """GPUs with a batch of their own; None: not kept, as in ledgers of old."""
    zero_stage: int = 0
    """How far parameters, gradients and optimizer state are sharded over them."""
    interconnect: str = ""
    """How GPUs are connected inside a machine."""


class Prediction(Value, frozen=True, kw_only=True, tag="prediction", tag_field="kind"):
    """What a piece of advice promised."""

    made_wall_s: float
    """Unix time of the advice."""
    session: str
    """Id of the session that it was given for."""
    job: JobIdentity
    steps: tuple[PredictedStep, ...]


class Comparison(Value, frozen=True, kw_only=True, tag="comparison", tag_field="kind"):
    """A later run of a job beside what had been predicted for it."""

    run_wall_s: float
    """Unix time at which the run was started."""
    session: str
    """Id of the run's session."""
    job: JobIdentity
    predicted: PredictedStep
    predicted_wall_s: float
    measured_s: float
    """Median step of the run."""

    @property
    def inside(self) -> bool:
        """Whether the run lies in the predicted range."""
        return self.predicted.step_time_s.low <= self.measured_s <= self.predicted.step_time_s.high


class Ledger(NamedTuple):
    """What the file holds, oldest first."""

    predictions: tuple[Prediction, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    damaged_lines: int = 0
    unreadable: str = ""
    """Why it could not be read; empty: it could, or there is none yet."""


def ledger_path() -> Path:
    """Where the ledger is.

    Raises:
        OSError: there is no state folder.
    """
    return paths.state_dir() / "predictions.jsonl"


def read_ledger() -> Ledger:
    """All entries that can be read; of comparisons of one run with one configuration the last counts."""
    try:
        lines = [line for line in _last_bytes(ledger_path()).split(b"\n") if line.strip()]
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        return Ledger(unreadable=error.strerror or str(error))
    predictions: list[Prediction] = []
    comparisons: dict[tuple[str, str, int, str], Comparison] = {}
    damaged = 0
    for line in lines:
        try:
            entry = from_json(line, Prediction | Comparison)  # type: ignore[arg-type]  # a union is no class
        except msgspec.MsgspecError:
            damaged += 1
            continue
        if isinstance(entry, Prediction):
            predictions.append(entry)
        else:
            step = entry.predicted
            comparisons[entry.session, step.gpu, step.count, step.precision] = entry
    return Ledger(
        tuple(predictions[-MOST_PREDICTIONS:]), tuple(comparisons.values())[-MOST_COMPARISONS:], damaged
    )  # fmt: skip


def add_entries(entries: Sequence[Prediction | Comparison]) -> None:
    """Add lines at the end; failing to do so harms nothing but the memory of what was predicted."""
    with contextlib.suppress(OSError):
        path = ledger_path()
        # The newline in front ends a line that a full disk cut short.
        _append(path, b"".join(b"\n" + to_json(entry) + b"\n" for entry in entries))
        if path.stat().st_size > MOST_BYTES:
            _write_anew(path)


def _append(path: Path, text: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with open(descriptor, "ab", buffering=0) as file:  # noqa: PTH123 - of a descriptor, for its access rights
        file.write(text)


def _write_anew(path: Path) -> None:
    """The latest entries alone; what another process adds in this very moment may be lost."""
    ledger = read_ledger()
    kept = [*ledger.predictions[-MOST_PREDICTIONS // 2 :], *ledger.comparisons]
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(b"".join(to_json(entry) + b"\n" for entry in kept))
    new.chmod(0o600)
    new.replace(path)


def _last_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_READ_BYTES))
        data = file.read(MOST_READ_BYTES)
    return data if size <= MOST_READ_BYTES else data.partition(b"\n")[2]
