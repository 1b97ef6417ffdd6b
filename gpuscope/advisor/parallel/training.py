"""Training on many GPUs: the steps and memory of every layout that a job can have on them.

What does not depend on the GPU itself (layouts, memory, work, messages) is worked out once for all GPUs that are
connected alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.memory.memory_model import JobMemory
from gpuscope.advisor.parallel.collectives import Fabric, fabric_of
from gpuscope.advisor.parallel.data_parallel import DataMessages, SingleStep, data_messages, data_parallel_steps
from gpuscope.advisor.parallel.device import element_bytes_of, matrix_device
from gpuscope.advisor.parallel.layouts import Question, training_layouts
from gpuscope.advisor.parallel.memory import Needs, Run, needs_of
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.same import Same
from gpuscope.advisor.parallel.scaling import transformer_doubts
from gpuscope.advisor.parallel.step import Prepared, Steps, prepare_steps, transformer_steps
from gpuscope.advisor.parallel.subject import Subject
from gpuscope.advisor.parallel.table import LayoutTable, table_of
from gpuscope.advisor.parallel.topology import ALONE, Topology
from gpuscope.advisor.parallel.transformer import MatrixDevice
from gpuscope.advisor.timing.time_model import SPECIFICATION, StepTime
from gpuscope.advisor.timing.uncertainty import combined
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout


class Answer(NamedTuple):
    """All layouts of a job on some GPUs; steps only where they can be told."""

    table: LayoutTable
    steps: Steps | None
    needs: Needs
    batches: float
    """Of one device in the run's sense, in a step."""
    fabric: Fabric


def answer(
    subject: Subject, gpu: GpuSpec, topology: Topology, single: StepTime, *, keep_global_batch: bool
) -> Answer | None:
    """Steps and memory of every layout; None: the batch cannot be shared by so many GPUs."""
    batch = subject.batch
    batches = batch.replicas if keep_global_batch else float(topology.gpus)
    question = Question(
        gpus=topology.gpus,
        gpus_per_node=topology.gpus_per_node,
        global_batch=batch.step * batches,
        micro_batch=batch.micro,
        shape=subject.shape,
        checkpointed=subject.checkpointed,
        divisible=batch.whole or (not batch.known and subject.shape is not None),
        round_shape=subject.shape_assumed,
    )
    table = training_layouts(question)
    if table is None:
        return None
    # An estimate's activations are a formula's as well, and this one knows layouts.
    counted = subject.shape is not None and subject.job.footprint.source.kind == "estimated"
    micro = batch.micro if batch.known and not counted else None
    run = Run(micro, subject.checkpointed, element_bytes_of(subject.job.precision))
    needs = _needs(Same(subject.memory), question, run)
    fabric = _fabric(topology, Same(subject.rates))
    steps = _steps(subject, gpu, question, fabric, single)
    return Answer(table, steps, needs, batches, fabric)


def modelled_how(subject: Subject, gpu: GpuSpec) -> str:
    """Where the time of a step comes from that is counted from a transformer's dimensions."""
    job = subject.job
    device = _device(gpu, job.precision, Same(job.calibration), Same(subject.rates))
    return f"work of a transformer ({subject.shape_how}) at {device.how if device is not None else gpu.name}"


def modelled_step(subject: Subject, gpu: GpuSpec, mid_s: float, how: str) -> StepTime:
    """A step that takes `mid_s`, counted from a transformer's dimensions, with its doubts."""
    calibration, shape = subject.job.calibration, subject.shape
    doubts = transformer_doubts(
        gpu,
        calibration,
        mixture=shape is not None and shape.experts > 1,
        tuned=subject.rates is not calibration.parallel,
    )
    seconds = Range(low=mid_s / combined((*doubts.both, *doubts.faster)), mid=mid_s, high=mid_s * combined(doubts.both))
    return StepTime(seconds, mid_s, (*doubts.both, *doubts.faster), SPECIFICATION, how)


def single_step(subject: Subject, single: StepTime) -> SingleStep:
    """A step on one GPU without waiting for data; where the host sets the pace, its time."""
    assert single.seconds is not None
    assert single.device_s is not None
    busy = max(0.0, single.seconds.mid - subject.job.data_wait_s)
    host = busy if busy > single.device_s else 0.0
    return SingleStep(min(single.device_s, busy), host, subject.batch.step, subject.update_share)


def _steps(subject: Subject, gpu: GpuSpec, question: Question, fabric: Fabric, single: StepTime) -> Steps | None:
    job = subject.job
    rates, element = subject.rates, element_bytes_of(job.precision)
    if subject.shape is not None:
        device = _device(gpu, job.precision, Same(job.calibration), Same(subject.rates))
        if device is None:
            return None
        prepared = _prepared(question, fabric, Same(rates), element, subject.gradient_bytes)
        return transformer_steps(prepared, device, _measured_over_modelled(subject, device, single))
    if single.device_s is None or single.seconds is None:
        return None
    gradients = job.gradient_bytes
    if gradients is None and question.gpus > 1:
        return None
    parameters = job.footprint.workload.parameters
    gathered = gradients if parameters is None else parameters * element
    messages = _data_messages(question, fabric, Same(rates), gradients or 0.0, gathered or 0.0)
    table = training_layouts(question)
    assert table is not None
    return data_parallel_steps(single_step(subject, single), table, messages, rates)


def _measured_over_modelled(subject: Subject, device: MatrixDevice, single: StepTime) -> float:
    """How far the model of a transformer is off what is known of a step on one GPU; 1 where nothing is."""
    if subject.modelled or single.seconds is None or not subject.batch.known or subject.shape is None:
        return 1.0
    batch, rates = subject.batch, subject.rates
    alone = Layout(
        micro_batch=batch.micro,
        gradient_accumulation=round(batch.step / batch.micro),
        activation_checkpointing=subject.checkpointed,
    )
    prepared = prepare_steps(
        subject.shape, table_of([alone]), fabric_of(ALONE, rates), rates,
        element_bytes=device.element_bytes, gradient_bytes=subject.gradient_bytes,
    )  # fmt: skip
    busy = max(0.0, single.seconds.mid - subject.job.data_wait_s)
    return busy / float(transformer_steps(prepared, device).seconds[0])


@lru_cache(maxsize=256)
def _needs(memory: Same[JobMemory], question: Question, run: Run) -> Needs:
    table = training_layouts(question)
    assert table is not None
    return needs_of(memory.value, table, question.shape, run.micro_batch, training=True, ran=run)


@lru_cache(maxsize=1024)
def _fabric(topology: Topology, rates: Same[ParallelRates]) -> Fabric:
    return fabric_of(topology, rates.value)


@lru_cache(maxsize=384)
def _prepared(
    question: Question, fabric: Fabric, rates: Same[ParallelRates], element_bytes: float, gradient_bytes: float
) -> Prepared:
    table = training_layouts(question)
    assert table is not None
    assert question.shape is not None
    return prepare_steps(
        question.shape, table, fabric, rates.value, element_bytes=element_bytes, gradient_bytes=gradient_bytes
    )


@lru_cache(maxsize=1024)
def _data_messages(
    question: Question, fabric: Fabric, rates: Same[ParallelRates], gradient_bytes: float, parameter_bytes: float
) -> DataMessages:
    table = training_layouts(question)
    assert table is not None
    return data_messages(table, fabric, rates.value, gradient_bytes, parameter_bytes)


@lru_cache(maxsize=512)
def _device(
    gpu: GpuSpec, precision: str, calibration: Same[Calibration], rates: Same[ParallelRates]
) -> MatrixDevice | None:
    return matrix_device(gpu, precision, calibration.value, rates.value)
