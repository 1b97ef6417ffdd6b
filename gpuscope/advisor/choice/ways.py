"""The ways to get a number of GPUs: instances for rent, machines for sale, one of them or several."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec, SystemSpec
from gpuscope.advisor.choice.constraints import BUY, DEFAULT_COUNTS, MOST_GPUS, RENT
from gpuscope.advisor.choice.hardware import Refusal, refuse_links
from gpuscope.advisor.choice.listings import QUOTED, Listing, listings
from gpuscope.advisor.choice.places import in_region, stays_in
from gpuscope.advisor.cost.prices import on_sale, why_not_on_sale
from gpuscope.advisor.parallel.topology import (
    Link,
    Topology,
    topology_at_counts,
    topology_of_offer,
    topology_of_system,
)
from gpuscope.domain.recommendation import Constraints

_CARDS_OF_A_SERVER = 8
_LEAST_OF_A_CLUSTER = 4
"""GPUs of an instance of which several are put together without being asked for."""


class Way(NamedTuple):
    """One way to get some GPUs."""

    acquisition: str
    topology: Topology
    machines: int
    """Instances or systems; a rack counts as one."""
    listing: Listing | None = None
    """Of one instance, where it is rented."""
    system: SystemSpec | None = None

    @property
    def share(self) -> float:
        """Of a GPU, where a slice is rented; else 1."""
        return 1.0 if self.listing is None else min(1.0, self.listing.offer.gpu_count or 1.0)

    @property
    def usd_per_hour(self) -> float | None:
        """Rent of all machines together, before tax."""
        return None if self.listing is None else self.listing.usd_per_hour * self.machines


class Ways:
    """What the catalogue has, as far as the constraints allow it.

    Args:
        catalogue: all offers and systems.
        constraints: already checked.
        serverless: whether functions that are started for each request will do; a training run needs a machine.
    """

    def __init__(self, catalogue: Catalogue, constraints: Constraints, *, serverless: bool) -> None:
        self._constraints = constraints
        self._listings: dict[str | None, list[Listing]] = defaultdict(list)
        self._slices: dict[str | None, list[Listing]] = defaultdict(list)
        self._systems: dict[str, list[SystemSpec]] = defaultdict(list)
        for listing in listings(catalogue, constraints.economics):
            offer = listing.offer
            if 0 < offer.gpu_count < 1:
                self._slices[offer.gpu_id].append(listing)
            elif offer.gpu_count == int(offer.gpu_count) and (serverless or offer.kind != "serverless"):
                self._listings[offer.gpu_id].append(listing)
        for system in catalogue.systems:
            self._systems[system.gpu_id].append(system)

    def of(self, gpu: GpuSpec, count: int) -> list[Way]:
        """Every allowed way to get `count` of these GPUs; of offers with the same links only the cheapest."""
        ways: list[Way] = []
        if self._constraints.acquisition != BUY:
            ways += self._rented(gpu, count, restricted=True)
        if self._constraints.acquisition != RENT:
            ways += self._bought(gpu, count)
        return [way for way in ways if refuse_links(way.topology, self._constraints) is None]

    def slices(self, gpu: GpuSpec) -> list[Way]:
        """Allowed parts of a GPU for rent; they are looked at for services alone, for a slice has its own speed."""
        if self._constraints.acquisition == BUY:
            return []
        allowed = [each for each in self._slices[gpu.id] if self._refuse(each.offer) is None]
        ways = [Way(RENT, topology_of_offer(listing.offer, gpu), 1, listing) for listing in allowed]
        return sorted(ways, key=_price_order)

    def sizes(self, gpu: GpuSpec) -> tuple[int, ...]:
        """Numbers of GPUs in the machines that are sold with them."""
        return tuple(sorted({system.gpu_count for system in self._systems[gpu.id]}))

    def without_gpu(self) -> list[Listing]:
        """Allowed instances that have no GPU."""
        return [listing for listing in self._listings[None] if self._refuse(listing.offer) is None]

    def offers(self, gpu_id: str, count: int) -> list[CatalogueOffer]:
        """Allowed instances with `count` of these GPUs, each once."""
        found = [listing.offer for listing in self._listings[gpu_id] if listing.offer.gpu_count == count]
        return [offer for offer in dict.fromkeys(found) if self._refuse(offer) is None]

    def why_none(self, gpu: GpuSpec, count: int) -> Refusal:
        """Why there is no allowed way to get `count` of these GPUs."""
        acquisition = self._constraints.acquisition
        every = (self._rented(gpu, count, restricted=False) if acquisition != BUY else []) + (
            self._bought(gpu, count) if acquisition != RENT else []
        )
        refused = [found for way in every if (found := refuse_links(way.topology, self._constraints)) is not None]
        if refused and len(refused) == len(every):
            return refused[0]
        if acquisition == BUY:
            return "not_on_sale", why_not_on_sale(gpu) or "it is sold only in machines of another size"
        code, words = self._why_not_rented(gpu, count)
        no_sale = why_not_on_sale(gpu)
        if acquisition is None and no_sale is not None:
            words += f", and {no_sale}"
        return code, words

    def _rented(self, gpu: GpuSpec, count: int, *, restricted: bool) -> list[Way]:
        """Cheapest listing for each kind of links and of price; `restricted`: of those that the constraints allow."""
        known = [each for each in self._listings[gpu.id] if not restricted or self._refuse(each.offer) is None]
        cheapest: dict[object, Way] = {}
        for listing in self._of_size(known, count):
            nodes = count // int(listing.offer.gpu_count)
            way = Way(RENT, topology_of_offer(listing.offer, gpu, nodes), nodes, listing)
            key = (way.machines, _kind(way.topology.intra), _kind(way.topology.inter), listing.kind)
            if key not in cheapest or _price_order(way) < _price_order(cheapest[key]):
                cheapest[key] = way
        return [cheapest[key] for key in sorted(cheapest, key=str)]

    def _of_size(self, known: list[Listing], count: int) -> list[Listing]:
        """Instances of which one or several make `count` GPUs: of each provider the largest that divide it."""
        largest: dict[str, int] = defaultdict(int)
        for offer in (listing.offer for listing in known):
            size = int(offer.gpu_count)
            if size == count or (
                self._joins(offer) and count % size == 0 and count // size <= self._most_machines(count)
            ):
                largest[offer.provider] = max(largest[offer.provider], size)
        return [each for each in known if int(each.offer.gpu_count) == largest.get(each.offer.provider)]

    def _joins(self, offer: CatalogueOffer) -> bool:
        """Whether several such instances make one cluster: if the network is known and it is no small one.

        A person who says how many machines there may be gets small ones, too.
        """
        large = offer.gpu_count >= _LEAST_OF_A_CLUSTER or self._constraints.max_nodes is not None
        return large and offer.kind in {"vm", "bare-metal"} and bool(offer.inter_node or offer.network_gbps)

    def _bought(self, gpu: GpuSpec, count: int) -> list[Way]:
        if not on_sale(gpu) and not self._quoted(gpu):
            return []
        most = self._most_machines(count)
        systems = [s for s in self._systems[gpu.id] if count % s.gpu_count == 0 and count // s.gpu_count <= most]
        if systems:
            # The largest machine; of equal ones that which comes first in the catalogue's order of ids.
            system = min(systems, key=lambda each: (-each.gpu_count, each.id))
            machines = count // system.gpu_count
            return [Way(BUY, topology_of_system(system, gpu, machines), machines, system=system)]
        cards = _most_cards(gpu)
        if not gpu.form_factor.startswith("PCIe"):
            return []
        if count <= cards:
            return [Way(BUY, topology_at_counts(gpu, count), 1)]
        if cards == _CARDS_OF_A_SERVER and count % cards == 0 and count // cards <= most:
            return [Way(BUY, topology_at_counts(gpu, count, gpus_per_node=cards), count // cards)]
        return []

    def _quoted(self, gpu: GpuSpec) -> bool:
        return any(quote.gpu == gpu.id and quote.kind == BUY for quote in self._constraints.economics.quotes)

    def _most_machines(self, count: int) -> int:
        """Up to eight GPUs are looked for in one machine, unless the person allows more."""
        return self._constraints.max_nodes or (MOST_GPUS if count > DEFAULT_COUNTS[-1] else 1)

    def _refuse(self, offer: CatalogueOffer) -> str | None:
        """Reason code; None: the offer is allowed."""
        limits = self._constraints
        if offer.price_status == QUOTED and not offer.region:
            return None
        if limits.providers and offer.provider.lower() not in {name.strip().lower() for name in limits.providers}:
            return "provider"
        if limits.regions and not in_region(offer, limits.regions):
            return "region"
        if limits.residency and not stays_in(offer, limits.residency):
            return "residency"
        return None

    def _why_not_rented(self, gpu: GpuSpec, count: int) -> Refusal:
        known = [listing.offer for listing in self._of_size(self._listings[gpu.id], count)]
        if not known:
            return "no_offer", "the catalogue has no offer of that many for rent"
        codes = {self._refuse(offer) for offer in known}
        places = ", ".join(sorted({offer.region for offer in known if self._refuse(offer) != "provider"}))
        if "residency" in codes:
            return "residency", f"it is offered only in {places}"
        if "region" in codes:
            return "region", f"it is offered only in {places}"
        return "provider", f"only {', '.join(sorted({offer.provider for offer in known}))} have it"


def _kind(link: Link | None) -> tuple[str, float] | None:
    return None if link is None else (link.kind, link.bytes_per_s)


def _price_order(way: Way) -> tuple[float, str, str, str]:
    assert way.listing is not None
    offer = way.listing.offer
    return way.usd_per_hour or float("inf"), offer.provider, offer.instance_type, offer.region


def _most_cards(gpu: GpuSpec) -> int:
    """How many cards a usual machine takes: eight passively cooled ones in a server, fewer with fans of their own."""
    if gpu.is_datacenter:
        return _CARDS_OF_A_SERVER
    return 2 if "triple" in gpu.form_factor else 4


def physical_cores(offer: CatalogueOffer) -> float | None:
    """Physical cores of an instance, as far as its notes say what a vCPU is."""
    if offer.virtual_cpus is None:
        return None
    if "hardware thread" in offer.notes:
        return offer.virtual_cpus / 2
    return offer.virtual_cpus if "vCPU = core" in offer.notes else None
