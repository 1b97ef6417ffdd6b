"""Training on many GPUs: what is asked for a job, and the steps and memory of every layout that answers it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.architecture import architecture_of
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory
from gpuscope.advisor.parallel.collectives import fabric_of
from gpuscope.advisor.parallel.data_parallel import SingleStep, data_parallel_steps, update_share
from gpuscope.advisor.parallel.device import element_bytes_of, matrix_device
from gpuscope.advisor.parallel.layouts import Question, training_layouts
from gpuscope.advisor.parallel.memory import Needs, Run, needs_of
from gpuscope.advisor.parallel.step import Steps, transformer_steps
from gpuscope.advisor.parallel.table import LayoutTable, table_of
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.parallel.transformer import MatrixDevice, Shape, shape_of
from gpuscope.advisor.timing.time_model import SPECIFICATION, StepTime
from gpuscope.advisor.timing.uncertainty import combined, doubt
from gpuscope.domain.base import Range
from gpuscope.domain.ops import dtype_bytes
from gpuscope.domain.recommendation import Layout

_ASSUMED_SEQUENCE = 2048.0
_ASSUMED_SAMPLES = 1.0
_ALONE = Topology("", 1, 1, None, None)


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


class Subject(NamedTuple):
    """A training job as the search sees it."""

    job: Job
    memory: JobMemory
    batch: Batch
    shape: Shape | None
    shape_how: str
    checkpointed: bool
    update_share: float
    gradient_bytes: float
    """Of one element."""
    modelled: bool
    """No run says how long a step takes: it is counted from the transformer's dimensions."""


def subject_of(job: Job, memory: JobMemory, single: StepTime) -> Subject:
    """What the search has to know of a job."""
    workload = job.footprint.workload
    known = architecture_of(job.footprint)
    batch = batch_of(job)
    shape, how = None, ""
    # A measured step of a batch that nobody knows says nothing about the dimensions' work.
    if known is not None and (batch.known or not job.ran):
        sequence = float(workload.sequence_length or _ASSUMED_SEQUENCE)
        parameters = float(workload.parameters) if workload.parameters else None
        shape, how = shape_of(known.architecture, sequence, parameters), known.how
    size = dtype_bytes(workload.precision.parameters) or 4
    return Subject(
        job=job,
        memory=memory,
        batch=batch,
        shape=shape,
        shape_how=how,
        checkpointed=bool(workload.activation_checkpointing),
        update_share=update_share(job),
        gradient_bytes=float(max(2, size)),
        modelled=shape is not None
        and batch.known
        and (single.seconds is None or job.footprint.source.kind == "estimated"),
    )


class Answer(NamedTuple):
    """All layouts of a job on some GPUs; steps only where they can be told."""

    table: LayoutTable
    steps: Steps | None
    needs: Needs
    batches: float
    """Of one device in the run's sense, in a step."""


def answer(
    subject: Subject, gpu: GpuSpec, topology: Topology, single: StepTime, *, keep_global_batch: bool
) -> Answer | None:
    """Steps and memory of every layout; None: the batch cannot be shared by so many GPUs."""
    batch = subject.batch
    batches = batch.replicas if keep_global_batch else float(topology.gpus)
    divisible = batch.whole or not batch.known
    question = Question(
        gpus=topology.gpus,
        gpus_per_node=topology.gpus_per_node,
        global_batch=batch.step * batches,
        micro_batch=batch.micro,
        shape=subject.shape,
        checkpointed=subject.checkpointed,
        divisible=divisible and (batch.known or subject.shape is not None),
    )
    table = training_layouts(question)
    if table is None:
        return None
    steps = _steps(subject, gpu, topology, table, single)
    return Answer(table, steps, _needs(subject, question), batches)


def _needs(subject: Subject, question: Question) -> Needs:
    run = Run(subject.batch.micro if subject.batch.known else None, subject.checkpointed)
    batch = subject.batch.micro if subject.batch.known else None
    return _cached_needs(subject.memory, question, batch, run)


@lru_cache(maxsize=256)
def _cached_needs(memory: JobMemory, question: Question, batch: float | None, run: Run) -> Needs:
    table = training_layouts(question)
    assert table is not None
    return needs_of(memory, table, question.shape, batch, training=True, ran=run)


def _steps(subject: Subject, gpu: GpuSpec, topology: Topology, table: LayoutTable, single: StepTime) -> Steps | None:
    job, rates = subject.job, subject.job.calibration.parallel
    fabric = fabric_of(topology, rates)
    device = matrix_device(gpu, job.precision, job.calibration, rates)
    if subject.shape is not None and device is not None:
        off = _measured_over_modelled(subject, device, single)
        return transformer_steps(
            subject.shape, table, device, fabric, rates, gradient_bytes=subject.gradient_bytes,
            measured_over_modelled=off,
        )  # fmt: skip
    if single.device_s is None or single.seconds is None:
        return None
    element = element_bytes_of(job.precision)
    parameters = job.footprint.workload.parameters
    return data_parallel_steps(
        single_step(subject, single), table, fabric, rates, gradient_bytes=job.gradient_bytes,
        parameter_bytes=None if parameters is None else parameters * element,
    )  # fmt: skip


def single_step(subject: Subject, single: StepTime) -> SingleStep:
    """A step on one GPU without waiting for data; where the host sets the pace, its time."""
    assert single.seconds is not None
    assert single.device_s is not None
    busy = max(0.0, single.seconds.mid - subject.job.data_wait_s)
    host = busy if busy > single.device_s else 0.0
    return SingleStep(min(single.device_s, busy), host, subject.batch.step, subject.update_share)


def modelled_step(subject: Subject, gpu: GpuSpec, mid_s: float) -> StepTime:
    """A step that takes `mid_s`, counted from a transformer's dimensions, with its doubts."""
    job = subject.job
    device = matrix_device(gpu, job.precision, job.calibration, job.calibration.parallel)
    doubts = (doubt("transformer_dimensions", job.calibration),)
    factor = combined(doubts)
    seconds = Range(low=mid_s / factor, mid=mid_s, high=mid_s * factor)
    how = f"work of a transformer ({subject.shape_how}) at {device.how if device is not None else gpu.name}"
    return StepTime(seconds, mid_s, doubts, SPECIFICATION, how)


def _measured_over_modelled(subject: Subject, device: MatrixDevice, single: StepTime) -> float:
    """How far the model of a transformer is off what is known of a step on one GPU; 1 where nothing is."""
    if subject.modelled or single.seconds is None or not subject.batch.known or subject.shape is None:
        return 1.0
    batch, rates = subject.batch, subject.job.calibration.parallel
    alone = Layout(
        micro_batch=batch.micro,
        gradient_accumulation=round(batch.step / batch.micro),
        activation_checkpointing=subject.checkpointed,
    )
    modelled = transformer_steps(
        subject.shape, table_of([alone]), device, fabric_of(_ALONE, rates), rates,
        gradient_bytes=subject.gradient_bytes,
    )  # fmt: skip
    busy = max(0.0, single.seconds.mid - subject.job.data_wait_s)
    return busy / float(modelled.seconds[0])
