"""What a person has to know about an export: what is missing, what was lost, what its figures are not."""

from __future__ import annotations

from gpuscope.domain.imported import TraceDetails
from gpuscope.importers.nsight.activities import Activities
from gpuscope.importers.nsight.database import Database
from gpuscope.importers.reading import Note


def notes_of(database: Database, activities: Activities, details: TraceDetails) -> list[Note]:
    """The notes, most important first."""
    return [*_losses(database, activities), *_missing(details), *_processes(activities)]


def _losses(database: Database, activities: Activities) -> list[Note]:
    found = []
    if database.missing_bytes:
        sentence = (
            f"The file is cut off: {database.missing_bytes} bytes are missing; times and counts are lower bounds."
        )
        found.append(Note(code="lost", sentence=sentence))
    if database.damaged:
        tables = ", ".join(sorted(database.damaged))
        found.append(Note(code="lost", sentence=f"Damaged tables were read up to the damage: {tables}."))
    if database.refused:
        sentence = "The file holds views, triggers or virtual tables, which no export has: they were left alone."
        found.append(Note(code="lost", sentence=sentence, count=len(database.refused)))
    if activities.odd:
        sentence = "Rows without sane times were left out."
        found.append(Note(code="lost", sentence=sentence, count=activities.odd))
    return found


def _missing(details: TraceDetails) -> list[Note]:
    found = []
    if not details.devices:
        sentence = "The export has no kernels: record with `nsys profile --trace=cuda,nvtx`."
        found.append(Note(code="missing", sentence=sentence))
    if not details.steps:
        sentence = (
            "The export marks no steps (torch.cuda.nvtx.range(f'step {n}') in the loop): the whole of it counts as one."
        )
        found.append(Note(code="missing", sentence=sentence))
    if not details.has_shapes:
        sentence = (
            "The export has no shapes of operators, so no FLOPs: what kernels do is told by their names. Record with "
            "torch.autograd.profiler.emit_nvtx(record_shapes=True), or with PyTorch's own profiler."
        )
        found.append(Note(code="missing", sentence=sentence))
    if details.memory:
        sentence = "Memory is what the program took from the driver: what its tensors used of it is not in the export."
        found.append(Note(code="assumed", sentence=sentence))
    return found


def _processes(activities: Activities) -> list[Note]:
    processes = activities.by_work
    if len(processes) < 2:
        return []
    sentence = (
        f"{len(processes)} processes used the GPUs: steps and operators are those of process {processes[0]}, whose "
        "work took longest."
    )
    return [Note(code="assumed", sentence=sentence)]
