"""The one way in: how a job is served on GPUs."""

from __future__ import annotations

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.architecture import architecture_of
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory, fit_rank
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.batches import serve_batches
from gpuscope.advisor.serving.constants import ServingConstants, names_engine
from gpuscope.advisor.serving.device import gpu_device
from gpuscope.advisor.serving.engine import decode
from gpuscope.advisor.serving.generative import Option, is_generative, options, request_of
from gpuscope.advisor.serving.memory import device_bytes
from gpuscope.advisor.serving.plan import ServingPlan, cannot
from gpuscope.advisor.serving.results import Setting, plan_of
from gpuscope.advisor.serving.slices import Slice, slice_for_share, sliced, slices_of
from gpuscope.advisor.serving.targets import check_target
from gpuscope.advisor.serving.weights import products_of
from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.serving import ServingTarget
from gpuscope.domain.units import format_bytes

_WORTH_SAYING = 1.05
"""How many times as long a step has to take with another engine before it is worth a word."""


def serve(
    job: Job,
    memory: JobMemory,
    gpu: GpuSpec,
    topology: Topology,
    target: ServingTarget,
    *,
    share: float = 1.0,
    constants: ServingConstants | None = None,
) -> ServingPlan:
    """The best way to serve a job on the GPUs of a topology.

    Args:
        job: what is served, in the precision of its computation.
        memory: its parts, for models that are not generative.
        gpu: which GPU.
        topology: how many there are, and how they are connected.
        target: what the service has to do.
        share: of one GPU, for offers of slices.
        constants: what the inference engine reaches; None: by the framework of the footprint.

    Returns:
        The plan that meets the targets with the fewest GPUs; where none does, the one that comes closest, with what
        it misses. It is worked out for one copy of the model and multiplied.

    Raises:
        UsageError: a target makes no sense, or a format is not known.
    """
    check_target(target)
    framework = job.footprint.workload.framework
    constants = constants or job.calibration.engines.of(None if framework is None else framework.name)
    part = slice_for_share(gpu, share) if share < 1 else None
    if part is not None:
        return _on(job, memory, sliced(gpu, part), topology, target, constants, part)
    whole = _on(job, memory, gpu, topology, target, constants, None)
    enough = _smallest_slice(job, memory, gpu, target, constants) if _one_is_enough(whole) else None
    return whole if enough is None else _with_slice(whole, enough)


def _on(
    job: Job,
    memory: JobMemory,
    gpu: GpuSpec,
    topology: Topology,
    target: ServingTarget,
    constants: ServingConstants,
    part: Slice | None,
) -> ServingPlan:
    if not is_generative(job, target):
        return serve_batches(job, memory, gpu, topology, target, part)
    known = architecture_of(job.footprint, language_model=True)
    if known is None:
        return cannot("neither the architecture nor the number of parameters of the model is known")
    have = device_bytes(job, gpu)
    found = list(options(job, known, gpu, topology, target, have, constants))
    possible = [each for each in found if isinstance(each, Option)]
    if not possible:
        return cannot(next(each for each in found if isinstance(each, str)))
    best = min(possible, key=lambda each: _rank(each, topology))
    if best.fits is False:
        least = best.need.surely_bytes
        count = f" of {best.split.gpus}" if best.split.gpus > 1 else ""
        reason = f"one request needs {format_bytes(least)} on each GPU{count}, it has {format_bytes(have)}"
        return cannot(reason, fits=False, need=best.need)
    slower, engine_note = _other_engine(job, best, gpu, topology, constants)
    notes = (request_of(target)[1], engine_note)
    here = max(1, topology.gpus // best.split.gpus)
    return plan_of(best, target, Setting(here, constants, gpu.vendor, part, notes, slower))


def _other_engine(
    job: Job, best: Option, gpu: GpuSpec, topology: Topology, constants: ServingConstants
) -> tuple[float, str]:
    """How many times as long a token takes with llama.cpp, where no engine is named, and a sentence on it."""
    framework = job.footprint.workload.framework
    if framework is not None and names_engine(framework.name):
        return 1.0, ""
    products = products_of(gpu, best.model.format, job.precision)
    other = job.calibration.engines.llama_cpp
    if isinstance(products, str) or other == constants:
        return 1.0, ""
    device = gpu_device(gpu, products, topology, best.split, other, job.calibration)
    if isinstance(device, str):
        return 1.0, ""
    full = best.full
    step = decode(best.model, device, max(1.0, full.batch / best.split.stages), best.request.mean_context)
    slower = max(1.0, step.seconds / full.step.seconds)
    sentence = "No engine is named: one that starts a whole step at once is assumed, such as vLLM or TensorRT-LLM" + (
        f"; with llama.cpp a step would take {slower:.2g} times as long" if slower >= _WORTH_SAYING else ""
    )
    return slower, f"{sentence}."


def _rank(each: Option, topology: Topology) -> tuple[object, ...]:
    """Fits, meets its latencies, and needs the fewest GPUs for the load, of those the format that loses least.

    Without a load: does the most on the GPUs here.
    """
    here = topology.gpus // each.split.gpus
    gpus = each.demand.replicas * each.split.gpus if each.demand is not None else 0
    done = here * each.full.requests_per_s
    kept = each.model.format.bits if each.demand is not None else 0.0
    closeness = each.need.surely_bytes if each.fits is False else 0.0
    late = each.full.latency_s if each.missed else 0.0
    return fit_rank(each.fits), closeness, len(each.missed), late, gpus, -kept, -done, each.split.gpus


def _one_is_enough(plan: ServingPlan) -> bool:
    return plan.meets and plan.serving is not None and plan.utilisation is not None and plan.gpus_needed <= 1


def _smallest_slice(
    job: Job, memory: JobMemory, gpu: GpuSpec, target: ServingTarget, constants: ServingConstants
) -> Slice | None:
    """The smallest MIG slice that does the whole load; None: none does."""
    single = Topology(gpu.id, 1, 1, None, None)
    for part in slices_of(gpu):
        plan = _on(job, memory, sliced(gpu, part), single, target, constants, part)
        if plan.meets and plan.serving is not None and plan.serving.replicas == 1:
            return part
    return None


def _with_slice(whole: ServingPlan, part: Slice) -> ServingPlan:
    """Say that a part of the GPU would do; the figures stay those of all of it."""
    assert whole.serving is not None
    words = Explanation(
        name="Slice that is enough",
        value=f"{part.compute_share:.0%} of the computing, {part.memory_share:.0%} of the memory",
        formula="the smallest MIG slice that meets every target with one copy; a slice has its share of everything",
        provenance="derived; profiles from NVIDIA's MIG user guide",
    )

    def explain() -> Explanation:
        tree = whole.explanation
        return msgspec.structs.replace(tree, inputs=(*tree.inputs, words))

    return whole._replace(
        serving=msgspec.structs.replace(whole.serving, gpu_share=part.compute_share),
        gpus_needed=part.compute_share,
        explain=explain,
    )
