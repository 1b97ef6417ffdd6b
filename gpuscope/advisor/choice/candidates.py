"""Build every configuration that the catalogue allows: GPU × count, rented and bought, CPUs, and what is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec, SystemSpec
from gpuscope.advisor.choice import explain
from gpuscope.advisor.choice.constraints import BUY, DEFAULT_COUNTS, KEEP, RENT, Offers
from gpuscope.advisor.choice.options import Option, judge
from gpuscope.advisor.choice.verdict import title
from gpuscope.advisor.cost.energy import energy_kwh, power_watts
from gpuscope.advisor.cost.prices import hourly_price, on_sale, purchase_usd, rent_usd, shown_offer, why_not_on_sale
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import FLOAT32, supports
from gpuscope.advisor.job.work import Work
from gpuscope.advisor.memory.memory_model import JobMemory, job_memory
from gpuscope.advisor.parallel.interconnect import interconnect_of
from gpuscope.advisor.parallel.layouts import Placement, available_bytes, place
from gpuscope.advisor.parallel.scaling import Scaled, scale
from gpuscope.advisor.timing.time_model import MEASURED, StepTime, at_hand, step_on_cpu, step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import (
    Candidate,
    CandidateMemory,
    Constraints,
    Explanation,
    Layout,
    Rejected,
)
from gpuscope.domain.units import format_bytes


class Builder:
    """Builds and judges the candidates of one job.

    Args:
        job: what has to be done.
        work: how much of it.
        constraints: already checked.
        catalogue: what there is.
        today: the day of the advice, for the age of prices.
    """

    def __init__(self, job: Job, work: Work, constraints: Constraints, catalogue: Catalogue, today: date) -> None:
        self._job = job
        self._work = work
        self._constraints = constraints
        self._catalogue = catalogue
        self._today = today
        self._offers = Offers(catalogue, constraints, serverless=job.stage != TRAINING)
        self._memory: JobMemory = job_memory(job)
        self._systems = {(system.gpu_id, system.gpu_count): system for system in reversed(catalogue.systems)}

    def counts(self) -> tuple[int, ...]:
        """Numbers of GPUs to try."""
        return tuple(sorted(set(self._constraints.counts))) or DEFAULT_COUNTS

    def of_gpu(self, gpu: GpuSpec) -> Iterator[Option | Rejected]:
        """All configurations of one GPU; for each count at least one option or one rejection."""
        refused = self._refuse_gpu(gpu)
        single = None if refused else step_on_gpu(self._job, gpu)
        for count in self.counts():
            if refused is not None or single is None:
                code, words = refused or ("", "")
                yield _rejected(gpu, count, code, words)
                continue
            yield from self._of_count(gpu, count, single)

    def without_gpu(self) -> Iterator[Option]:
        """CPU instances whose speed can be told from the run."""
        job, limits = self._job, self._constraints
        if limits.acquisition == BUY or limits.gpus or limits.vendors or limits.counts or job.precision != FLOAT32:
            return
        for offer in self._offers.without_gpu():
            cpu = self._catalogue.cpu(offer.cpu_id)
            single = step_on_cpu(job, cpu, _cores(offer))
            needed = job.footprint.memory.host_rss_bytes
            memory = None if offer.memory_gib is None else round(offer.memory_gib * 2**30)
            if single.seconds is None or cpu is None or (needed is not None and memory is not None and needed > memory):
                continue
            candidate = self._timed(
                Candidate(
                    gpu=None,
                    cpu=cpu.id,
                    count=0,
                    acquisition=RENT,
                    offer=shown_offer(offer, self._today),
                    precision=FLOAT32,
                    fits=None if needed is None or memory is None else True,
                    memory=CandidateMemory(
                        needed_bytes=None if needed is None else Range.exact(float(needed)), available_bytes=memory
                    ),
                    confidence=single.confidence,
                ),
                Scaled(single.seconds, 1.0, 0.0, 0.0, single.how),
            )
            yield self._judged(self._priced(candidate, hourly_price(offer)), single, None, None)

    def at_hand(self) -> Option | None:
        """The machine of the run itself; None when other hardware was asked for or it was not measured like this."""
        job, limits = self._job, self._constraints
        single = at_hand(job)
        asked = (
            limits.acquisition or limits.gpus or limits.counts or limits.providers or limits.regions or limits.vendors
        )
        if asked or single.seconds is None:
            return None
        device = job.footprint.devices[0] if job.footprint.devices else None
        candidate = Candidate(
            gpu=job.source_gpu.id if job.source_gpu is not None else None,
            gpu_name=device.name if device is not None else None,
            cpu=job.source_cpu.id if job.source_cpu is not None else None,
            count=job.source_count,
            acquisition=KEEP,
            precision=job.precision,
            layout=Layout(data_parallel=max(1, job.source_count)),
            fits=True,
            confidence=MEASURED,
        )
        scaled = Scaled(single.seconds, self._work.batches_per_step, 0.0, 0.0, single.how)
        return self._judged(self._timed(candidate, scaled), single, None, None)

    def _refuse_gpu(self, gpu: GpuSpec) -> tuple[str, str] | None:
        limits = self._constraints
        if limits.gpus and gpu.id not in limits.gpus:
            return "not_asked", "it is not among the GPUs asked for"
        if limits.vendors and gpu.vendor.lower() not in {vendor.lower() for vendor in limits.vendors}:
            return "vendor", f"it is from {gpu.vendor}"
        supported = supports(gpu, self._job.precision)
        if supported is False:
            return "precision", f"it does not compute in {self._job.precision} at a useful rate"
        if supported is None:
            return "precision", f"the catalogue does not know its rate in {self._job.precision}"
        return None

    def _of_count(self, gpu: GpuSpec, count: int, single: StepTime) -> Iterator[Option | Rejected]:
        placement = place(self._job, self._memory, gpu, count)
        if placement.fits is False:
            yield _rejected(gpu, count, "memory", self._too_small(gpu, placement))
            return
        offer = self._offers.cheapest(gpu.id, count) if self._constraints.acquisition != BUY else None
        buyable = self._constraints.acquisition != RENT and self._can_buy(gpu, count)
        if offer is None and not buyable:
            yield _rejected(gpu, count, *self._why_unavailable(gpu, count))
            return
        if offer is not None:
            yield self._rented(gpu, count, single, placement, offer)
        if buyable:
            yield self._bought(gpu, count, single, placement)

    def _rented(
        self, gpu: GpuSpec, count: int, single: StepTime, placement: Placement, offer: CatalogueOffer
    ) -> Option:
        candidate, scaled = self._common(gpu, count, single, placement, offer.intra_node if count > 1 else "", RENT)
        candidate = msgspec.structs.replace(candidate, offer=shown_offer(offer, self._today))
        return self._judged(self._priced(candidate, hourly_price(offer)), single, (gpu, placement), scaled)

    def _bought(self, gpu: GpuSpec, count: int, single: StepTime, placement: Placement) -> Option:
        system = self._systems.get((gpu.id, count))
        description = system.scale_up if system is not None and count > 1 else ""
        candidate, scaled = self._common(gpu, count, single, placement, description, BUY)
        price = _system_price(system) or purchase_usd(gpu, count)
        candidate = msgspec.structs.replace(
            candidate,
            system=system.name if system is not None else None,
            cost_usd=None if price is None else Range.exact(price),
        )
        return self._judged(candidate, single, (gpu, placement), scaled)

    def _common(
        self, gpu: GpuSpec, count: int, single: StepTime, placement: Placement, link_text: str, acquisition: str
    ) -> tuple[Candidate, Scaled]:
        link = interconnect_of(gpu, count, link_text)
        scaled = scale(self._job, single, placement.layout, link)
        candidate = Candidate(
            gpu=gpu.id,
            gpu_name=gpu.name,
            count=count,
            acquisition=acquisition,
            precision=self._job.precision,
            layout=placement.layout,
            fits=placement.fits,
            memory=CandidateMemory(
                needed_bytes=placement.need.needed_bytes, available_bytes=available_bytes(self._job, gpu)
            ),
            confidence=single.confidence if count == 1 else "specification",
            interconnect=link.name if link is not None else "",
        )
        return self._timed(candidate, scaled), scaled

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

    def _priced(self, candidate: Candidate, usd_per_hour: float | None) -> Candidate:
        if usd_per_hour is None:
            return candidate
        return msgspec.structs.replace(
            candidate,
            cost_usd_per_hour=Range.exact(usd_per_hour),
            cost_usd=rent_usd(candidate.time_to_finish_s, usd_per_hour),
        )

    def _judged(
        self, candidate: Candidate, single: StepTime, place_: tuple[GpuSpec, Placement] | None, scaled: Scaled | None
    ) -> Option:
        """Add energy, reason and explanation, and hold it against the constraints."""
        gpu = place_[0] if place_ is not None else self._catalogue.gpu(candidate.gpu)
        watts, power_how = (None, "not known for CPUs") if gpu is None else power_watts(self._job, gpu, candidate.count)
        energy = energy_kwh(candidate.time_to_finish_s, watts)
        candidate = msgspec.structs.replace(candidate, energy_kwh=energy)
        board_w = None if gpu is None or not gpu.tdp_w else gpu.tdp_w * candidate.count
        if candidate.count == 0:
            board_w = 0.0
        option = judge(candidate, self._work, self._constraints, board_w)
        timed = scaled or Scaled(single.seconds, float(candidate.layout.data_parallel), 0.0, 0.0, single.how)
        trees: list[Explanation] = []
        if place_ is not None:
            trees.append(explain.memory_tree(place_[1], candidate.memory.available_bytes or 0))
        trees += [
            explain.time_tree(single, timed, self._work, candidate.time_to_finish_s),
            explain.cost_tree(candidate),
            explain.energy_tree(energy, power_how),
        ]
        sentence = explain.reason(candidate, option.compared_usd, option.risks, timed.how)
        tree = Explanation(name=title(candidate), value=candidate.acquisition, inputs=tuple(trees))
        return option._replace(candidate=msgspec.structs.replace(candidate, reason=sentence, explanation=tree))

    def _too_small(self, gpu: GpuSpec, placement: Placement) -> str:
        need = placement.need
        least = need.needed_bytes.low if need.needed_bytes is not None else need.surely_bytes
        have = format_bytes(available_bytes(self._job, gpu))
        sharding = " even sharded" if placement.layout.zero_stage or placement.layout.tensor_parallel > 1 else ""
        what = "training" if self._job.stage == TRAINING else "inference"
        return f"{what} needs at least {format_bytes(least)} on each GPU{sharding}, it has {have}"

    def _can_buy(self, gpu: GpuSpec, count: int) -> bool:
        if not on_sale(gpu):
            return False
        if (gpu.id, count) in self._systems:
            return True
        return gpu.form_factor.startswith("PCIe") and count <= _most_cards(gpu)

    def _why_unavailable(self, gpu: GpuSpec, count: int) -> tuple[str, str]:
        acquisition = self._constraints.acquisition
        if acquisition == BUY:
            return "not_on_sale", why_not_on_sale(gpu) or "it is sold only in machines of another size"
        code, words = self._offers.why_none(gpu.id, count)
        no_sale = why_not_on_sale(gpu)
        if acquisition is None and no_sale is not None:
            words += f", and {no_sale}"
        return code, words


def _rejected(gpu: GpuSpec, count: int, code: str, words: str) -> Rejected:
    return Rejected(
        gpu=gpu.id, gpu_name=gpu.name, count=count, reason_code=code, reason=f"{count}× {gpu.name}: {words}."
    )


def _most_cards(gpu: GpuSpec) -> int:
    """How many cards a usual machine takes: eight passively cooled ones in a server, fewer with fans of their own."""
    if gpu.segment == "datacenter":
        return 8
    return 2 if "triple" in gpu.form_factor else 4


def _system_price(system: SystemSpec | None) -> float | None:
    return None if system is None else system.price_usd


def _cores(offer: CatalogueOffer) -> float | None:
    """Physical cores of an instance, as far as its notes say what a vCPU is."""
    if offer.virtual_cpus is None:
        return None
    if "hardware thread" in offer.notes:
        return offer.virtual_cpus / 2
    return offer.virtual_cpus if "vCPU = core" in offer.notes else None
