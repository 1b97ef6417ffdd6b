"""Serve a language model on GPUs: for each allowed format and way of cutting it, how much a copy does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.architecture import KnownArchitecture, architecture_of
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.job.precision import FLOAT32, TF32
from gpuscope.advisor.memory.memory_model import MemoryNeed
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.constants import ServingConstants, is_llama_cpp
from gpuscope.advisor.serving.device import Device, gpu_device
from gpuscope.advisor.serving.engine import Point, Request, operate, prompt_of
from gpuscope.advisor.serving.memory import most_requests, serving_need
from gpuscope.advisor.serving.model import ServedModel, served_model
from gpuscope.advisor.serving.replicas import Demand, demand
from gpuscope.advisor.serving.split import Split, splits
from gpuscope.advisor.serving.targets import largest_batch, misses
from gpuscope.advisor.serving.weights import WeightFormat, cache_bytes, is_known, products_of, weight_format
from gpuscope.domain.serving import ServingTarget

USUAL_PROMPT, USUAL_OUTPUT = 512.0, 256.0
"""Of a request whose size is not given (assumed)."""


class Option(NamedTuple):
    """One format and way of cutting the model, at its best batch."""

    model: ServedModel
    device: Device
    split: Split
    fits: bool | None
    gpu: GpuSpec | None
    """None: a CPU."""
    memory_batch: int
    """Requests that the memory takes."""
    full: Point
    """At the largest batch with which the targets hold."""
    request: Request
    alone: Point
    """With one request at a time."""
    missed: tuple[str, ...]
    demand: Demand | None

    @property
    def need(self) -> MemoryNeed:
        """Memory of one GPU with the caches of a full batch."""
        return serving_need(self.model, self.gpu, self.split, self.request, self.full.batch)


def is_generative(job: Job, target: ServingTarget) -> bool:
    """Whether tokens are written one after the other: asked for in tokens, or a typed-in model of known architecture
    without the work of a step."""
    asked = (target.prompt_tokens, target.output_tokens, target.time_to_first_token_s, target.inter_token_latency_s)
    if any(value is not None for value in asked):
        return True
    return not job.ops and job.step_time_s is None and architecture_of(job.footprint) is not None


def request_of(target: ServingTarget) -> tuple[Request, str]:
    """The usual request, and a sentence where part of it is assumed."""
    request = Request(target.prompt_tokens or USUAL_PROMPT, target.output_tokens or USUAL_OUTPUT)
    if target.prompt_tokens and target.output_tokens:
        return request, ""
    return request, (
        f"A request is taken to be {request.prompt_tokens:.0f} tokens of prompt and {request.output_tokens:.0f} of "
        "answer where that is not given."
    )


def formats_of(job: Job, target: ServingTarget) -> tuple[WeightFormat, ...]:
    """Formats to try: those allowed, else that of the footprint (or the precision that was asked for instead).

    Raises:
        UsageError: a format is not known.
    """
    workload = job.footprint.workload
    files = is_llama_cpp(None if workload.framework is None else workload.framework.name)
    if target.weight_dtypes:
        return tuple(weight_format(name, llama_cpp=files) for name in target.weight_dtypes)
    held = workload.precision.parameters
    if held is not None and is_known(held):
        known = weight_format(held, llama_cpp=files)
        if known.quantised or job.precision == job.source_precision:
            return (known,)
    return (weight_format(job.precision, llama_cpp=files),)


def value_bytes(job: Job, target: ServingTarget) -> float:
    """Bytes of a cached value: as asked for, else of the computation.

    Raises:
        UsageError: the format is not known.
    """
    if target.cache_dtype:
        return cache_bytes(target.cache_dtype)
    quantised = formats_of(job, target)[0].quantised
    return cache_bytes(FLOAT32) if job.precision in {FLOAT32, TF32} and not quantised else 2.0


def options(
    job: Job,
    known: KnownArchitecture,
    gpu: GpuSpec,
    topology: Topology,
    target: ServingTarget,
    available_bytes: float,
    constants: ServingConstants,
) -> Iterator[Option | str]:
    """Every format and split; over machines only where none surely holds a copy.

    For what is not possible at all, the end of a sentence.
    """
    request, _ = request_of(target)
    value = value_bytes(job, target)
    for format_ in formats_of(job, target):
        products = products_of(gpu, format_, job.precision)
        if isinstance(products, str):
            yield products
            continue
        model = served_model(known, job.footprint.workload.parameters, format_, value)
        surely = False
        for split in splits(known.architecture, gpu.id, topology):
            if surely and split.stages > 1:
                break
            device = gpu_device(gpu, products, topology, split, constants, job.calibration)
            if isinstance(device, str):
                yield device
                continue
            most, fits = most_requests(model, gpu, split, request, available_bytes * constants.memory_share)
            surely = surely or fits is True
            yield option(model, device, gpu, request, target, most, fits, constants)


def option(
    model: ServedModel,
    device: Device,
    gpu: GpuSpec | None,
    request: Request,
    target: ServingTarget,
    memory_batch: int,
    fits: bool | None,
    constants: ServingConstants,
) -> Option:
    """The best batch of one copy, and how many copies the load needs then."""

    prompt = prompt_of(model, device, request)

    def point_at(batch: int) -> Point:
        return operate(model, device, float(batch), request, prompt)

    alone = point_at(1)
    batch = largest_batch(min(memory_batch, constants.most_concurrent), point_at, target)
    full = point_at(batch)
    return Option(
        model=model,
        device=device,
        split=device.split,
        fits=fits,
        gpu=gpu,
        memory_batch=memory_batch,
        full=full,
        request=request,
        alone=alone,
        missed=misses(full, target),
        demand=demand(target, full.batch, full.latency_s),
    )
