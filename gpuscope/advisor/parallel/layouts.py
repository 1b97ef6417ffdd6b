"""Which layouts are worth a look for a job on a number of GPUs.

Tensor parallelism stays within a machine and within eight GPUs, for a layer's result crosses it several times; a
pipeline has as many stages as divide the layers; a context is split where it is long. What is left is data parallel,
replicated or sharded. Micro batches are the divisors of a replica's batch that are powers of two, the run's own, and
the whole. Simple layouts come before intricate ones: of equally fast ones the first is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.parallel.table import LayoutTable, table_of
from gpuscope.advisor.parallel.transformer import Shape
from gpuscope.domain.recommendation import Layout

MOST_TENSOR = 8
_LEAST_WIDTH = 256
"""Of a part of a layer: narrower ones leave most of a GPU idle, and nobody cuts small models into them."""
_MOST_STAGES = 64
_UNEVEN = 1.15
"""Layers of the longest stage over the mean, where the number of layers is assumed."""
_MOST_MICRO = 64.0
_ROUNDING = 1e-9
_POWERS_OF_TWO = tuple(2**power for power in range(16))
_LONG_CONTEXT = 8192.0
"""Tokens of a sequence that one GPU is left with at least, where its context is split."""
_MOST_CONTEXT = 16


class Question(NamedTuple):
    """What the layouts of a training job depend on; jobs and GPUs that agree in it share a table."""

    gpus: int
    gpus_per_node: int
    global_batch: float
    """Samples in a step."""
    micro_batch: float
    """Of the run."""
    shape: Shape | None
    """None: not a transformer; then only data parallel layouts."""
    checkpointed: bool
    """The run did."""
    divisible: bool
    """Whether micro batches other than the run's are possible: samples are whole."""
    round_shape: bool = False
    """The transformer's dimensions are assumed: one that is built has heads and layers that can be divided."""


def available_bytes(job: Job, gpu: GpuSpec) -> int:
    """Memory of one GPU: what the driver said in the run where it is the same GPU, else what the vendor says."""
    if job.source_gpu is not None and job.source_gpu.id == gpu.id and job.footprint.devices:
        return job.footprint.devices[0].memory_bytes or gpu.memory_bytes
    return gpu.memory_bytes


@lru_cache(maxsize=512)
def training_layouts(question: Question) -> LayoutTable | None:
    """Layouts of a training job, simple ones first; None: the batch cannot be shared by so many GPUs."""
    found = list(_layouts(question))
    return table_of(found) if found else None


def _layouts(question: Question) -> Iterator[Layout]:
    for tensor, pipeline, context in _model_degrees(question):
        data = question.gpus // (tensor * pipeline * context)
        for micro, count in _micro_batches(question, question.global_batch / data):
            if pipeline > 1 and count < pipeline:
                continue  # most of the stages would wait
            for expert in _expert_degrees(question.shape, data):
                yield from _sharded(question, tensor, pipeline, context, data, expert, micro, count)


def _sharded(
    question: Question, tensor: int, pipeline: int, context: int, data: int, expert: int, micro: float, count: int
) -> Iterator[Layout]:
    """A layout with each way to shard it, with and without checkpointing."""
    stages: tuple[int, ...] = (0,)
    if data * context > 1:
        # Stages 2 and 3 would send gradients or parameters for each micro batch of a pipeline.
        stages = (0, 1, 2, 3) if pipeline == 1 else (0, 1)
    choices = (False, True) if question.shape is not None else (question.checkpointed,)
    for checkpointing in choices:
        for stage in stages:
            yield Layout(
                data_parallel=data,
                tensor_parallel=tensor,
                pipeline_parallel=pipeline,
                context_parallel=context,
                expert_parallel=expert,
                zero_stage=stage,
                micro_batch=micro,
                gradient_accumulation=count,
                activation_checkpointing=checkpointing,
            )


def _model_degrees(question: Question) -> list[tuple[int, int, int]]:
    """Tensor, pipeline and context degrees whose product divides the GPUs; simple ones first."""
    shape = question.shape
    if shape is None:
        return [(1, 1, 1)]
    most_tensor = min(MOST_TENSOR, question.gpus_per_node)
    tensors = [
        split
        for split in (1, 2, 4, 8)
        if split <= most_tensor
        and (question.round_shape or shape.heads % split == 0)
        and (split == 1 or shape.hidden >= _LEAST_WIDTH * split)
    ]
    pipelines = _stages(shape.layers, question.round_shape)
    contexts = [1]
    while shape.sequence / (contexts[-1] * 2) >= _LONG_CONTEXT and contexts[-1] < _MOST_CONTEXT:
        contexts.append(contexts[-1] * 2)
    found = [
        (tensor, pipeline, context)
        for tensor in tensors
        for pipeline in pipelines
        for context in contexts
        if question.gpus % (tensor * pipeline * context) == 0
    ]
    return sorted(found, key=lambda each: (each[0] * each[1] * each[2], each[1] * each[2], each))


def _stages(layers: int, round_shape: bool) -> list[int]:
    """Numbers of pipeline stages that share out the layers evenly, or nearly so."""
    most = min(_MOST_STAGES, layers)
    if not round_shape:
        return [stages for stages in range(1, most + 1) if layers % stages == 0]
    return [stages for stages in _POWERS_OF_TWO if stages <= most and -(-layers // stages) * stages <= layers * _UNEVEN]


def _micro_batches(question: Question, samples: float) -> list[tuple[float, int]]:
    """Micro batches of a replica and how many of them make its batch; large ones first."""
    if not question.divisible:
        return [(samples, 1)]
    if samples < 1:
        return []
    # Where a batch cannot be shared evenly, all wait for the replicas that have one sample more.
    whole = math.ceil(samples - _ROUNDING)
    most = max(_MOST_MICRO, question.micro_batch)
    sizes = [size for size in _POWERS_OF_TWO if size <= most]
    sizes.append(round(question.micro_batch))
    if whole <= max(question.micro_batch, 1.0):
        sizes.append(whole)
    return [(float(size), whole // size) for size in sorted(set(sizes), reverse=True) if whole % size == 0]


def _expert_degrees(shape: Shape | None, data: int) -> list[int]:
    """No expert parallelism, and the widest that divides both the experts and the replicas."""
    if shape is None or shape.experts <= 1 or data == 1:
        return [1]
    widest = math.gcd(shape.experts, data)
    return [1] if widest == 1 else [1, widest]
