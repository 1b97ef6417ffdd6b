"""Build every configuration that the catalogue allows: GPU × count, rented and bought, CPUs, and what is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.choice.building import cpu_candidate, gpu_candidate
from gpuscope.advisor.choice.constraints import BUY, DEFAULT_COUNTS, KEEP, MOST_GPUS, RENT
from gpuscope.advisor.choice.explain import Parts
from gpuscope.advisor.choice.hardware import Refusal, refuse_gpu, rejected
from gpuscope.advisor.choice.judging import figures_of, judged
from gpuscope.advisor.choice.listings import Listing
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.predictions import Predictions, Variant
from gpuscope.advisor.choice.services import Services
from gpuscope.advisor.choice.ways import Way, Ways, physical_cores
from gpuscope.advisor.cost.energy import cpu_power_watts, energy_kwh, power_watts
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import FLOAT32, supports
from gpuscope.advisor.job.work import Work
from gpuscope.advisor.memory.host_memory import host_need
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.scaling import Scaled
from gpuscope.advisor.parallel.search import Plan
from gpuscope.advisor.parallel.topology import ALONE, topology_at_counts
from gpuscope.advisor.serving.generative import is_generative
from gpuscope.advisor.timing.time_model import CALIBRATED, SPECIFICATION, StepTime
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import FootprintDevice
from gpuscope.domain.recommendation import (
    Candidate,
    CandidateMemory,
    Constraints,
    Layout,
    Rejected,
)
from gpuscope.domain.serving import ServingTarget
from gpuscope.domain.units import format_bytes


class Builder:
    """Builds and judges the candidates of one job under one set of constraints.

    Args:
        predictions: of the job.
        work: how much of it.
        constraints: already checked.
        catalogue: what there is.
        today: the day of the advice, for the age of prices.
    """

    def __init__(
        self, predictions: Predictions, work: Work, constraints: Constraints, catalogue: Catalogue, today: date
    ) -> None:
        self._predictions = predictions
        self._work = work
        self._constraints = constraints
        self._catalogue = catalogue
        self._variants = predictions.variants(constraints)
        self._ways = Ways(catalogue, constraints, serverless=self._job.stage != TRAINING)
        self._target = service_of(self._job, constraints)
        self.money = Money(constraints, self._ways, today, predictions.owned, service=self._target is not None)
        self._services: Services | None = None
        if self._target is not None:
            self._services = Services(predictions, self._target, work, constraints, catalogue, self._ways, self.money)

    @property
    def _job(self) -> Job:
        """As it is wanted first."""
        return self._variants[0].job

    def sizes(self, gpu: GpuSpec) -> tuple[int, ...]:
        """Numbers of GPUs in the machines that are sold with them."""
        return self._ways.sizes(gpu)

    def counts(self) -> tuple[int, ...]:
        """Those asked for; else powers of two up to as many as the job used, and that number itself."""
        if self._constraints.counts:
            return tuple(sorted(set(self._constraints.counts)))
        used = min(self._job.busy_gpus, MOST_GPUS)
        if self._services is not None or used <= 1:
            return DEFAULT_COUNTS
        powers = (1 << exponent for exponent in range((used - 1).bit_length() + 1))
        return tuple(sorted({*DEFAULT_COUNTS, used, *powers}))

    def of_gpu(self, gpu: GpuSpec, counts: tuple[int, ...]) -> Iterator[Option | Rejected]:
        """All configurations of one GPU; for each count at least one option or one rejection."""
        refused = refuse_gpu(gpu, self._constraints)
        variants: list[Variant] = []
        if refused is None:
            variants = [variant for variant in self._variants if supports(gpu, variant.job.precision)]
            refused = None if variants else self._refuse_precision(gpu)
        for count in counts:
            if refused is not None:
                yield rejected(gpu, count, refused)
            else:
                yield from self._of_count(gpu, count, variants)

    def without_gpu(self) -> Iterator[Option]:
        """CPU instances whose speed can be told from the run."""
        limits = self._constraints
        asked_for_gpu = (
            limits.gpus or limits.vendors or limits.counts or limits.form_factors or limits.minimum_memory_bytes
        )
        if limits.acquisition == BUY or asked_for_gpu:
            return
        if self._services is None and self._job.precision != FLOAT32:
            return
        for listing in self._ways.without_gpu():
            if self._services is None:
                option = self._on_cpu(listing)
            else:
                option = self._services.on_cpu(listing, self._variants[0])
            if option is not None:
                yield option

    def at_hand(self) -> Option | None:
        """The machine of the run itself; None when other hardware was asked for or it was not measured like this."""
        if self._services is not None:
            return None
        job, limits = self._job, self._constraints
        single = self._predictions.at_hand(self._variants[0])
        asked = limits.acquisition or limits.gpus or limits.counts or limits.providers or limits.regions
        if asked or single.seconds is None or _refuses(job.source_gpu, limits):
            return None
        device = job.footprint.devices[0] if job.footprint.devices else None
        candidate = Candidate(
            gpu=job.source_gpu.id if job.source_gpu is not None else None,
            gpu_name=_name_of(device, job.source_gpu),
            cpu=job.source_cpu.id if job.source_cpu is not None else None,
            count=job.source_count,
            acquisition=KEEP,
            precision=job.precision,
            layout=Layout(data_parallel=max(1, job.source_count)),
            fits=True,
            confidence=single.confidence,
        )
        scaled = Scaled(single.seconds, self._work.batches_per_step, 0.0, 0.0, single.how)
        candidate = self._timed(candidate, scaled)
        return self._judged(candidate, self._variants[0], Parts(self._work, single, scaled, None, ""))

    def _refuse_precision(self, gpu: GpuSpec) -> Refusal:
        names = " or ".join(variant.job.precision for variant in self._variants)
        if all(supports(gpu, variant.job.precision) is False for variant in self._variants):
            return "precision", f"it does not compute in {names} at a useful rate"
        return "precision", f"the catalogue does not know its rate in {names}"

    def _of_count(self, gpu: GpuSpec, count: int, variants: list[Variant]) -> Iterator[Option | Rejected]:
        if self._services is not None:
            yield from self._services.of_count(gpu, count, variants)
            return
        too_few = self._too_few(gpu, count)
        ways = [] if too_few else self._ways.of(gpu, count)
        if not ways:
            yield rejected(gpu, count, too_few or self._why_out_of_reach(gpu, count, variants))
            return
        too_small: Plan | None = None
        placed = False
        for way in ways:
            for variant in variants:
                plan = self._predictions.plan(variant, gpu, way.topology)
                if plan.fits is False:
                    too_small = too_small or plan
                    continue
                placed = True
                yield self._option(gpu, way, variant, plan)
        if not placed and too_small is not None:
            yield rejected(gpu, count, ("memory", self._too_small(gpu, too_small)))

    def _too_few(self, gpu: GpuSpec, count: int) -> Refusal | None:
        """Where nothing tells how fast it is, nobody knows whether fewer GPUs than the job used would do."""
        used = self._job.busy_gpus
        if count >= used or self._constraints.counts or self._predictions.step(self._variants[0], gpu).seconds:
            return None
        return "fewer_gpus", f"the job used {used} GPUs, and whether fewer would be fast enough is not known"

    def _why_out_of_reach(self, gpu: GpuSpec, count: int, variants: list[Variant]) -> Refusal:
        """A single GPU that cannot be had is first of all too small, where it is."""
        if count == 1:
            plans = [self._predictions.plan(variant, gpu, topology_at_counts(gpu, 1)) for variant in variants]
            if all(plan.fits is False for plan in plans):
                return "memory", self._too_small(gpu, plans[0])
        return self._ways.why_none(gpu, count)

    def _option(self, gpu: GpuSpec, way: Way, variant: Variant, plan: Plan) -> Option:
        single = self._predictions.step(variant, gpu)
        memory = CandidateMemory(needed_bytes=plan.need.needed_bytes, available_bytes=available_bytes(variant.job, gpu))
        candidate = gpu_candidate(gpu, way, variant.job.precision, plan.layout, plan.fits, memory)
        candidate = msgspec.structs.replace(candidate, confidence=_confidence(single, candidate.count))
        scaled = _slowed(plan.scaled, self.money.slowdown(gpu, way))
        purchase = self.money.purchase(gpu, way) if way.acquisition == BUY else None
        candidate = self.money.priced(self._timed(candidate, scaled), way, purchase)
        parts = Parts(self._work, single, scaled, plan, "", gpu, way, purchase=purchase)
        return self._judged(candidate, variant, parts)

    def _on_cpu(self, listing: Listing) -> Option | None:
        variant, offer = self._variants[0], listing.offer
        cpu = self._catalogue.cpu(offer.cpu_id)
        single = self._predictions.cpu_step(variant, cpu, physical_cores(offer))
        needed, memory = host_need(variant.job, variant.memory), offer.memory_bytes
        too_small = needed is not None and memory is not None and needed.low > memory
        if single.seconds is None or cpu is None or too_small:
            return None
        way = Way(RENT, ALONE, 1, listing)
        fits = True if needed is not None and memory is not None and needed.high <= memory else None
        room = CandidateMemory(needed_bytes=needed, available_bytes=memory)
        candidate = cpu_candidate(cpu, way, FLOAT32, fits, room)
        candidate = msgspec.structs.replace(candidate, confidence=single.confidence)
        scaled = Scaled(single.seconds, 1.0, 0.0, 0.0, single.how)
        candidate = self.money.priced(self._timed(candidate, scaled), way, None)
        return self._judged(candidate, variant, Parts(self._work, single, scaled, None, "", None, way))

    def _timed(self, candidate: Candidate, scaled: Scaled) -> Candidate:
        if scaled.seconds is None:
            return candidate
        return msgspec.structs.replace(
            candidate,
            step_time_s=scaled.seconds,
            throughput=self._work.throughput(scaled.seconds, scaled.batches),
            throughput_unit=f"{self._work.unit}/s",
            time_to_finish_s=self._work.seconds(scaled.seconds, scaled.batches),
        )

    def _judged(self, candidate: Candidate, variant: Variant, parts: Parts) -> Option:
        """Add power and energy, and hold it against the constraints."""
        gpu = parts.gpu or self._catalogue.gpu(candidate.gpu)
        watts, how = None, "not known"
        if gpu is not None:
            watts, how = power_watts(variant.job, gpu, candidate.count, parts.single)
        elif (cpu := self._catalogue.cpu(candidate.cpu)) is not None:
            watts, how = cpu_power_watts(
                cpu, physical_cores(parts.way.listing.offer) if parts.way and parts.way.listing else None
            )
        power = self.money.power(parts.gpu, parts.way, watts, how)
        parts = parts._replace(gpu=gpu, power_how=how, power=power)
        candidate = msgspec.structs.replace(candidate, energy_kwh=energy_kwh(candidate.time_to_finish_s, watts))
        return judged(candidate, figures_of(candidate, parts, self.money, watts), self._constraints, parts)

    def _too_small(self, gpu: GpuSpec, plan: Plan) -> str:
        need = plan.need
        least = need.needed_bytes.low if need.needed_bytes is not None else need.surely_bytes
        have = format_bytes(available_bytes(self._job, gpu))
        sharding = " even sharded" if plan.layout.zero_stage or plan.layout.tensor_parallel > 1 else ""
        what = "training" if self._job.stage == TRAINING else "inference"
        return f"{what} needs at least {format_bytes(least)} on each GPU{sharding}, it has {have}"


def _confidence(single: StepTime, gpus: int) -> str:
    """Several GPUs are never measured by a run on one; known rates of the GPU still count."""
    if gpus == 1 or single.confidence == SPECIFICATION:
        return single.confidence
    return CALIBRATED


def _refuses(gpu: GpuSpec | None, limits: Constraints) -> bool:
    """Whether the GPU at hand is out; where a property is asked for, so is one that the catalogue does not know."""
    if gpu is not None:
        return refuse_gpu(gpu, limits) is not None
    return bool(limits.vendors or limits.form_factors or limits.ecc or limits.minimum_memory_bytes)


def _name_of(device: FootprintDevice | None, gpu: GpuSpec | None) -> str | None:
    """Of a GPU of the run: as its driver prints it, else as the catalogue or the footprint calls it."""
    if device is None:
        return None
    return device.name or (gpu.name if gpu is not None else device.gpu)


def _slowed(scaled: Scaled, factor: Range) -> Scaled:
    """Longer steps on average, for what interruptions lose."""
    if scaled.seconds is None or factor.high == 1:
        return scaled
    how = f"{scaled.how}; × {factor.mid:.3g} for what interruptions lose"
    return scaled._replace(seconds=scaled.seconds.times(factor), how=how)


def service_of(job: Job, constraints: Constraints) -> ServingTarget | None:
    """What a service has to do; None: one piece of work is asked for.

    A language model that was only typed in is served, too: a step of it is not known, its tokens are.
    """
    if constraints.serving is not None:
        return constraints.serving
    target = ServingTarget()
    return target if job.stage != TRAINING and is_generative(job, target) else None
