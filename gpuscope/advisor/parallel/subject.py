"""A training job as the search of layouts sees it: its batch, its dimensions, and what is known of its step."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gpuscope.advisor.job.architecture import USUAL_SEQUENCE, architecture_of
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory
from gpuscope.advisor.parallel.data_parallel import update_share
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.same import Same
from gpuscope.advisor.parallel.transformer import Shape, shape_of
from gpuscope.domain.ops import dtype_bytes

_ASSUMED_SAMPLES = 1.0
"""Of a batch that is not known."""


class Batch(NamedTuple):
    """Samples that one device works through in a step of the run."""

    micro: float
    """At once."""
    step: float
    """In a step, with accumulation."""
    replicas: float
    """Of the run."""
    known: bool
    """False: the run's batch is taken as one."""
    whole: bool
    """It can be divided into micro batches."""


class Subject(NamedTuple):
    """What the search has to know of a job."""

    job: Job
    memory: JobMemory
    batch: Batch
    shape: Shape | None
    """None: not a transformer, or its batch is not known."""
    shape_how: str
    shape_assumed: bool
    checkpointed: bool
    update_share: float
    gradient_bytes: float
    """For each parameter; little where few are trained."""
    rates: ParallelRates
    """Of the framework that the job uses."""
    modelled: bool
    """No run says how long a step takes: it is counted from the transformer's dimensions."""


def subject_of(job: Job, memory: JobMemory, *, timed: bool) -> Subject:
    """What the search has to know of a job.

    Args:
        job: what has to be done.
        memory: its parts.
        timed: a step on one GPU is known.
    """
    return _subject(Same(job), Same(memory), timed)


@lru_cache(maxsize=64)
def _subject(same_job: Same[Job], same_memory: Same[JobMemory], timed: bool) -> Subject:
    job = same_job.value
    workload, batch = job.footprint.workload, batch_of(job)
    known = architecture_of(job.footprint)
    shape, how = None, ""
    # A measured step of a batch that nobody knows says nothing about the dimensions' work.
    if known is not None and (batch.known or not job.ran):
        sequence = float(workload.sequence_length or USUAL_SEQUENCE)
        parameters = float(workload.parameters) if workload.parameters else None
        shape, how = shape_of(known.architecture, sequence, parameters), known.how
    size = dtype_bytes(workload.precision.parameters) or 4
    estimated = job.footprint.source.kind == "estimated"
    return Subject(
        job=job,
        memory=same_memory.value,
        batch=batch,
        shape=shape,
        shape_how=how,
        shape_assumed=known is not None and known.assumed,
        checkpointed=bool(workload.activation_checkpointing),
        update_share=update_share(job),
        gradient_bytes=max(2, size) * _trained_share(job),
        rates=job.calibration.parallel.of_software(workload.framework.name if workload.framework else None),
        modelled=shape is not None and batch.known and (estimated or not timed),
    )


def _trained_share(job: Job) -> float:
    """Trained parameters over all; 1 where the footprint does not tell, or the run did not train."""
    workload = job.footprint.workload
    if not workload.parameters or not workload.trainable_parameters or job.stage_changed:
        return 1.0
    return min(1.0, workload.trainable_parameters / workload.parameters)


def batch_of(job: Job) -> Batch:
    """The run's batch in samples; tokens are counted in sequences where their length is known."""
    workload = job.footprint.workload
    batch, sequence = workload.batch, workload.sequence_length
    accumulation = float(batch.gradient_accumulation or 1)
    replicas = float(max(1, job.source_count))
    if batch.per_device and batch.global_:
        replicas = max(1.0, batch.global_ / (batch.per_device * accumulation))
    micro = batch.per_device or (batch.global_ / (replicas * accumulation) if batch.global_ else None)
    if micro is None:
        return Batch(_ASSUMED_SAMPLES, _ASSUMED_SAMPLES, replicas, known=False, whole=False)
    if batch.unit == "tokens":
        if not sequence:
            return Batch(1.0, accumulation, replicas, known=True, whole=False)
        micro = max(1.0, micro / sequence)
    return Batch(micro, micro * accumulation, replicas, known=True, whole=micro == round(micro))
