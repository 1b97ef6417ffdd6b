"""What a run on a GPU says of the memory that its job needs as a whole, where nobody took it apart."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import halves_activations
from gpuscope.advisor.memory.context_memory import PUBLISHED_CONTEXT, context_bytes
from gpuscope.domain.base import Range


class Room(NamedTuple):
    """Memory in which the job has run as it is wanted."""

    of_gpu_bytes: float
    """All memory of each GPU of the run."""
    gpus: int


class HeldByRun(NamedTuple):
    """Bytes of the process on one GPU, without its context."""

    bytes: Range
    how: str
    slack_included: bool = True
    """With what the allocator keeps above live tensors."""


def room_of_run(job: Job) -> Room | None:
    """The GPU that a job has worked through steps on was large enough for it.

    None: no step was timed on a GPU of known size, or the job is wanted in another stage or precision, which may need
    more.
    """
    devices = job.footprint.devices
    if not devices or not job.ran or job.stage_changed:
        return None
    if halves_activations(job.precision) != halves_activations(job.source_precision):
        return None
    size = devices[0].memory_bytes or (job.source_gpu.memory_bytes if job.source_gpu is not None else None)
    peak = job.footprint.memory.peak_allocated_bytes
    # A recorded peak that no such GPU holds contradicts the run: then the larger figure counts.
    if size is None or (peak is not None and peak.low > size):
        return None
    return Room(float(size), len(devices))


def most_of_inference(job: Job, parameters: float | None) -> HeldByRun | None:
    """Inference at the same batch holds less than the training that was seen; None: that is not what is wanted.

    A forward pass that keeps nothing for a backward pass holds its parameters and little else, so the middle is low.
    """
    peak = job.footprint.memory.peak_allocated_bytes
    if peak is None or not job.stage_changed or job.stage == TRAINING:
        return None
    most = max(0.0, peak.high - (parameters or 0.0))
    return HeldByRun(Range(low=0.0, mid=most / 2, high=most), "at most what training held", slack_included=False)


def most_held_by_run(job: Job) -> HeldByRun | None:
    """At most what the allocator, or the whole process, held at its peak; None: neither is known.

    The least is not known: allocators keep what was freed, and some frameworks take most of a card at once.
    """
    memory = job.footprint.memory
    if job.stage_changed or not job.source_count:
        return None
    if memory.peak_reserved_bytes is not None:
        held = memory.peak_reserved_bytes
        return HeldByRun(Range(low=0.0, mid=held.mid, high=held.high), "at most the bytes that the run reserved")
    if memory.peak_device_bytes is None:
        return None
    context = PUBLISHED_CONTEXT if job.source_gpu is None else context_bytes(job.source_gpu)[0]
    peak = memory.peak_device_bytes
    mid, high = max(0.0, peak.mid - context.mid), max(0.0, peak.high - context.low)
    return HeldByRun(Range(low=0.0, mid=mid, high=high), "at most what the driver showed of the run")
