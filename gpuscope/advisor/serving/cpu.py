"""Serve on a machine without GPU, for loads that are small enough for it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.catalogue.specs import CpuSpec
from gpuscope.advisor.job.architecture import KnownArchitecture, architecture_of
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import fit_rank
from gpuscope.advisor.serving.batches import batches_plan, cpu_batch_time, largest_batch_of, run_batch
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.device import cpu_device
from gpuscope.advisor.serving.generative import Option, formats_of, is_generative, option, request_of, value_bytes
from gpuscope.advisor.serving.memory import most_requests
from gpuscope.advisor.serving.model import served_model
from gpuscope.advisor.serving.plan import ServingPlan, cannot
from gpuscope.advisor.serving.results import Setting, plan_of
from gpuscope.advisor.serving.split import Split
from gpuscope.advisor.serving.targets import check_target
from gpuscope.advisor.timing.device_rates import cpu_rates
from gpuscope.advisor.timing.time_model import step_on_cpu
from gpuscope.domain.serving import ServingTarget
from gpuscope.domain.units import format_bytes

_USABLE_SHARE = 0.8
"""Of a machine's memory: the operating system and the server's own processes have the rest (assumed)."""


def serve_cpu(
    job: Job,
    cpu: CpuSpec | None,
    cores: float | None,
    memory_bytes: int | None,
    target: ServingTarget,
    *,
    constants: ServingConstants | None = None,
) -> ServingPlan:
    """The best way to serve a job on CPUs: one copy on each machine, and as many machines as the load needs.

    A language model's tokens come as fast as the memory gives the weights; anything else takes the step time of the
    time model, which needs a run on a known CPU.

    Args:
        job: what is served.
        cpu: which CPU; None: not known.
        cores: of it; None: all of one socket.
        memory_bytes: of the machine; None: not known.
        target: what the service has to do.
        constants: what the engine reaches; None: by the framework of the footprint.

    Raises:
        UsageError: a target makes no sense, or a format is not known.
    """
    check_target(target)
    if cpu is None:
        return cannot("the CPU of this offer is not known")
    if not is_generative(job, target):
        return _batches(job, cpu, cores, memory_bytes, target)
    known = architecture_of(job.footprint, language_model=True)
    if known is None:
        return cannot("neither the architecture nor the number of parameters of the model is known")
    framework = job.footprint.workload.framework
    constants = constants or job.calibration.engines.of(None if framework is None else framework.name)
    found = list(_options(job, known, cpu, cores, memory_bytes, target, constants))
    possible = [each for each in found if isinstance(each, Option)]
    if not possible:
        return cannot(next(each for each in found if isinstance(each, str)))
    best = min(possible, key=_rank)
    if best.fits is False:
        have = format_bytes(memory_bytes or 0)
        words = f"one request needs {format_bytes(best.need.surely_bytes)}, the machine has {have}"
        return cannot(words, fits=False, need=best.need)
    return plan_of(best, target, Setting(None, constants, None, None, (request_of(target)[1],)))


def _options(
    job: Job,
    known: KnownArchitecture,
    cpu: CpuSpec,
    cores: float | None,
    memory_bytes: int | None,
    target: ServingTarget,
    constants: ServingConstants,
) -> Iterator[Option | str]:
    request, _ = request_of(target)
    device = cpu_device(cpu, cores, constants)
    if isinstance(device, str):
        yield device
        return
    for format_ in formats_of(job, target):
        model = served_model(known, job.footprint.workload.parameters, format_, value_bytes(job, target))
        most, fits = constants.most_concurrent, None
        if memory_bytes is not None:
            most, fits = most_requests(model, None, Split(), request, memory_bytes * _USABLE_SHARE)
        yield option(model, device, None, request, target, most, fits, constants)


def _rank(each: Option) -> tuple[object, ...]:
    """Fits, meets its latencies, needs the fewest machines (or does the most); then the format that loses least."""
    copies = each.demand.replicas if each.demand is not None else 0
    late = each.full.latency_s if each.missed else 0.0
    return fit_rank(each.fits), len(each.missed), late, copies, -each.full.requests_per_s, -each.model.format.bits


def _batches(
    job: Job, cpu: CpuSpec, cores: float | None, memory_bytes: int | None, target: ServingTarget
) -> ServingPlan:
    single = step_on_cpu(job, cpu, cores)
    rates = cpu_rates(cpu, cores, job.calibration)
    time = cpu_batch_time(job, single, 0.0 if rates is None else rates.kernel_latency_s)
    if time is None:
        return cannot(f"its step time on {cpu.name} is not known: {single.how}")
    needed = job.footprint.memory.host_rss_bytes
    fit = None if needed is None or memory_bytes is None else needed <= memory_bytes * _USABLE_SHARE
    if fit is False:
        return cannot(
            f"it took {format_bytes(needed or 0)}, the machine has {format_bytes(memory_bytes or 0)}", fits=False
        )
    base = run_batch(job)
    # Memory is known for the run's batch alone: no larger one is tried.
    batch = largest_batch_of(time, target, lambda size: size <= base, base)
    return batches_plan(time, batch, target, None, fit, None, None, f"{cpu.name}: {single.how}")
