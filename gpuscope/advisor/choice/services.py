"""Configurations that answer requests: as many machines as the load needs, compared by what they cost over years."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.choice.building import cpu_candidate, gpu_candidate
from gpuscope.advisor.choice.constraints import BUY, MOST_GPUS, RENT
from gpuscope.advisor.choice.explain import Parts
from gpuscope.advisor.choice.hardware import Refusal, rejected
from gpuscope.advisor.choice.judging import figures_of, judged
from gpuscope.advisor.choice.listings import Listing
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.options import Breach, Option
from gpuscope.advisor.choice.predictions import Predictions, Variant
from gpuscope.advisor.choice.ways import Way, Ways, physical_cores
from gpuscope.advisor.cost.energy import power_watts
from gpuscope.advisor.cost.service import service_watts
from gpuscope.advisor.job.architecture import active_parameters, architecture_of, count_parameters
from gpuscope.advisor.job.work import Work
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.scaling import Scaled
from gpuscope.advisor.parallel.topology import ALONE, topology_at_counts
from gpuscope.advisor.serving.generative import request_of
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.slices import slice_for_share, sliced
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate, CandidateMemory, Constraints, Rejected
from gpuscope.domain.serving import ServingTarget

MISSED = "serving"
"""Reason code of a target that is not met."""


class Services:
    """Builds the candidates of a service.

    Args:
        predictions: of the job.
        target: what the service has to do.
        work: for the unit of throughput.
        constraints: already checked.
        catalogue: for CPUs.
        ways: what can be had.
        money: what it costs.
    """

    def __init__(
        self,
        predictions: Predictions,
        target: ServingTarget,
        work: Work,
        constraints: Constraints,
        catalogue: Catalogue,
        ways: Ways,
        money: Money,
    ) -> None:
        self._predictions = predictions
        self._target = target
        self._work = work
        self._constraints = constraints
        self._catalogue = catalogue
        self._ways = ways
        self._money = money

    def of_count(self, gpu: GpuSpec, count: int, variants: list[Variant]) -> Iterator[Option | Rejected]:
        """Machines with `count` of these GPUs, as many as the load needs."""
        ways = self._ways.of(gpu, count) + (self._ways.slices(gpu) if count == 1 else [])
        if not ways:
            yield rejected(gpu, count, self._why_out_of_reach(gpu, count, variants))
            return
        too_small: ServingPlan | None = None
        served = False
        for way in ways:
            for variant in variants:
                enough, plan = self._enough(gpu, way, variant)
                if plan.fits is False or plan.serving is None:
                    too_small = too_small or plan
                    continue
                served = True
                yield self._option(gpu, enough, variant, plan)
        if not served and too_small is not None:
            yield rejected(gpu, count, _cannot(too_small))

    def on_cpu(self, listing: Listing, variant: Variant) -> Option | None:
        """Instances without GPU, as many as the load needs; None: what they do is not known, or it does not fit."""
        offer = listing.offer
        memory = offer.memory_bytes
        cpu = self._catalogue.cpu(offer.cpu_id)
        plan = self._predictions.cpu_service(variant, cpu, physical_cores(offer), memory, self._target)
        if cpu is None or plan.serving is None or plan.fits is False:
            return None
        way = Way(RENT, ALONE, self._machines(plan, 1, 1), listing)
        if way.machines < plan.gpus_needed:
            return None  # more of them than anybody rents, or than are allowed
        room = CandidateMemory(needed_bytes=_needed(plan), available_bytes=memory)
        candidate = cpu_candidate(cpu, way, variant.job.precision, plan.fits, room)
        return self._judged(candidate, variant, plan, way, None, way.machines)

    def _why_out_of_reach(self, gpu: GpuSpec, count: int, variants: list[Variant]) -> Refusal:
        """A single GPU that cannot be had is first of all too small, where it is."""
        if count == 1:
            alone = topology_at_counts(gpu, 1)
            plans = [self._predictions.service(variant, gpu, alone, self._target, 1.0) for variant in variants]
            if all(plan.fits is False for plan in plans):
                return _cannot(plans[0])
        return self._ways.why_none(gpu, count)

    def _enough(self, gpu: GpuSpec, way: Way, variant: Variant) -> tuple[Way, ServingPlan]:
        """More machines of the kind where one is not enough: copies of a model do not talk to each other."""
        plan = self._predictions.service(variant, gpu, way.topology, self._target, way.share)
        machines = self._machines(plan, way.topology.gpus, way.machines)
        if machines == way.machines or way.share < 1:
            return way, plan
        nodes = way.topology.nodes * machines // way.machines
        more = way._replace(machines=machines, topology=way.topology._replace(nodes=nodes))
        return more, self._predictions.service(variant, gpu, more.topology, self._target, way.share)

    def _option(self, gpu: GpuSpec, way: Way, variant: Variant, plan: ServingPlan) -> Option:
        memory = CandidateMemory(needed_bytes=_needed(plan), available_bytes=_available(variant, gpu, way.share))
        candidate = gpu_candidate(gpu, way, variant.job.precision, plan.layout, plan.fits, memory)
        return self._judged(candidate, variant, plan, way, gpu, way.machines)

    def _machines(self, plan: ServingPlan, gpus: int, machines: int) -> int:
        """Machines for the whole load, as far as the person allows so many."""
        needed = max(machines, math.ceil(plan.gpus_needed / gpus) * machines)
        return min(needed, self._constraints.max_nodes or max(machines, MOST_GPUS // gpus))

    def _judged(
        self, candidate: Candidate, variant: Variant, plan: ServingPlan, way: Way, gpu: GpuSpec | None, machines: int
    ) -> Option:
        assert plan.serving is not None
        purchase = self._money.purchase(gpu, way) if gpu is not None and way.acquisition == BUY else None
        candidate = self._money.priced(candidate, way, purchase)
        candidate = msgspec.structs.replace(
            candidate,
            serving=plan.serving,
            throughput=plan.serving.requests_per_second,
            throughput_unit=None if plan.serving.requests_per_second is None else "requests/s",
        )
        watts, how = (None, "not known for CPUs") if gpu is None else self._watts(variant, plan, gpu, candidate.count)
        parts = Parts(
            self._work, self._predictions.at_hand(variant), Scaled(None, float(machines), 0.0, 0.0, "a service"),
            None, how, gpu, way, self._money.power(gpu, way, watts, how), purchase, plan,
        )  # fmt: skip
        option = judged(candidate, figures_of(candidate, parts, self._money, watts), self._constraints, parts)
        missed = tuple(Breach(MISSED, words, math.inf, "") for words in plan.missed)
        return option._replace(breaches=(*missed, *option.breaches), risks=(*plan.risks, *option.risks))

    def _watts(self, variant: Variant, plan: ServingPlan, gpu: GpuSpec, count: int) -> tuple[Range | None, str]:
        """Power by the tokens that it works on, where those are known; of a slice, as without them."""
        known = architecture_of(variant.job.footprint, language_model=True)
        if known is not None and plan.serving is not None and plan.serving.gpu_share is None:
            request, _ = request_of(self._target)
            target = msgspec.structs.replace(
                self._target, prompt_tokens=request.prompt_tokens, output_tokens=request.output_tokens
            )
            total = variant.job.footprint.workload.parameters or count_parameters(known.architecture).total
            parameters = active_parameters(known.architecture, total)
            spread_over = plan.layout.tensor_parallel
            watts, how = service_watts(plan.serving, target, gpu, spread_over, variant.job.precision, parameters)
            if watts is not None:
                return watts, how
        return power_watts(variant.job, gpu, count)


def _needed(plan: ServingPlan) -> Range | None:
    return None if plan.need is None else plan.need.needed_bytes


def _available(variant: Variant, gpu: GpuSpec, share: float) -> int:
    """Memory of one GPU, or of the slice that is offered of it."""
    if share < 1:
        return sliced(gpu, slice_for_share(gpu, share)).memory_bytes
    return available_bytes(variant.job, gpu)


def _cannot(plan: ServingPlan) -> Refusal:
    """Nothing is served where it does not fit, or where nothing tells how fast it would be."""
    return "memory" if plan.fits is False else "unknown_time", "; ".join(plan.missed) or "it does not fit"
