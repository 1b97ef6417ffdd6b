"""What the person allows: checked for sense, then applied to what the catalogue has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.prices import hourly_price
from gpuscope.advisor.job.precision import precision_of
from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError

RENT, BUY, KEEP = "rent", "buy", "keep"
DEFAULT_COUNTS = (1, 2, 4, 8)

_POSITIVE = {
    "deadline_s": "The deadline", "total_samples": "The number of samples", "total_steps": "The number of steps",
    "total_epochs": "The number of epochs", "samples_per_epoch": "The number of samples in an epoch",
    "budget_usd": "The budget", "budget_usd_per_hour": "The budget an hour", "power_limit_w": "The power limit",
}  # fmt: skip

# Words for a part of the world → beginnings of region names, as the providers write them.
_REGION_WORDS: dict[str, tuple[str, ...]] = {
    "japan": ("ap-northeast-1", "asia-northeast1", "japan"),
    "tokyo": ("ap-northeast-1", "asia-northeast1", "japaneast"),
    "europe": ("eu-", "europe-", "westeurope", "northeurope", "swedencentral", "uksouth", "fr-", "gravelines", "eu "),
    "us": ("us-", "eastus", "westus", "centralus", "southcentralus", "north america"),
}
_REGION_WORDS |= {"jp": _REGION_WORDS["japan"], "eu": _REGION_WORDS["europe"], "usa": _REGION_WORDS["us"]}


def check(constraints: Constraints, catalogue: Catalogue) -> None:
    """Refuse constraints that contradict each other or name what does not exist.

    Raises:
        UsageError: one sentence that says what to change.
    """
    for name, words in _POSITIVE.items():
        value = getattr(constraints, name)
        if value is not None and not value > 0:
            raise UsageError(f"{words} must be above zero, not {value:g}.")
    if any(count < 1 for count in constraints.counts):
        raise UsageError("The number of GPUs must be 1 or more.")
    if constraints.precision is not None:
        precision_of(constraints.precision)
    _check_work(constraints)
    _check_acquisition(constraints)
    _check_names(constraints, catalogue)


def _check_work(constraints: Constraints) -> None:
    totals = (constraints.total_samples, constraints.total_steps, constraints.total_epochs)
    given = sum(total is not None for total in totals)
    if given > 1:
        raise UsageError("Give the total work once: in samples, in steps or in epochs.")
    if constraints.total_epochs is not None and constraints.samples_per_epoch is None:
        raise UsageError("Give the number of samples in an epoch together with the number of epochs.")
    if constraints.deadline_s is not None and not given:
        raise UsageError("A deadline needs the total work: give the number of samples, steps or epochs.")


def _check_acquisition(constraints: Constraints) -> None:
    if constraints.acquisition not in {None, RENT, BUY}:
        raise UsageError(f"Acquisition {constraints.acquisition!r} is not known: use rent or buy, or leave it out.")
    if constraints.acquisition != BUY:
        return
    for given, words in (
        (constraints.providers, "a provider"),
        (constraints.regions, "a region"),
        (constraints.budget_usd_per_hour, "a budget an hour"),
    ):
        if given:
            raise UsageError(f"Buying and {words} contradict each other: leave out {words}, or allow renting.")


def _check_names(constraints: Constraints, catalogue: Catalogue) -> None:
    vendors = {gpu.vendor.lower() for gpu in catalogue.gpus}
    _check_known("vendor", constraints.vendors, vendors)
    _check_known("provider", constraints.providers, {offer.provider.lower() for offer in catalogue.offers})
    for wanted in constraints.gpus:
        gpu = catalogue.gpu(wanted)
        if gpu is None:
            near = [known.id for known in catalogue.gpus if wanted.lower() in known.id]
            hint = f"Did you mean {', '.join(near[:5])}?" if near else "Take an id from gpus.csv, such as l4."
            raise UsageError(f"The catalogue has no GPU {wanted!r}. {hint}")
        if constraints.vendors and gpu.vendor.lower() not in {vendor.lower() for vendor in constraints.vendors}:
            raise UsageError(f"{gpu.name} is not from {', '.join(constraints.vendors)}: change the GPU or the vendor.")
    for region in constraints.regions:
        if not any(in_region(offer, (region,)) for offer in catalogue.offers):
            raise UsageError(
                f"No offer in the catalogue is in the region {region!r}: use a provider's region name such as "
                "us-east-1 or japaneast, or japan, europe, us."
            )


def _check_known(what: str, wanted: Iterable[str], known: set[str]) -> None:
    for name in wanted:
        if name.lower() not in known:
            raise UsageError(f"The catalogue has no {what} {name!r}: it has {', '.join(sorted(known))}.")


def in_region(offer: CatalogueOffer, regions: Iterable[str]) -> bool:
    """Whether an offer is in one of the regions; a price without a region is in none."""
    place = offer.region.lower()
    for region in regions:
        word = region.lower()
        if place == word or place.startswith(_REGION_WORDS.get(word, ())):
            return True
    return False


class Offers:
    """The catalogue's offers by GPU and count, as far as the constraints allow them.

    Args:
        catalogue: all offers.
        constraints: already checked.
        serverless: whether functions that are started for each request will do; a training run needs a machine.
    """

    def __init__(self, catalogue: Catalogue, constraints: Constraints, *, serverless: bool) -> None:
        self._constraints = constraints
        self._by_key: dict[tuple[str | None, int], list[CatalogueOffer]] = defaultdict(list)
        for offer in catalogue.offers:
            # Slices of a GPU have their own speed, which is not modelled.
            whole = offer.gpu_count == int(offer.gpu_count) and hourly_price(offer) is not None
            if whole and (serverless or offer.kind != "serverless"):
                self._by_key[offer.gpu_id, int(offer.gpu_count)].append(offer)

    def cheapest(self, gpu_id: str, count: int) -> CatalogueOffer | None:
        """The allowed offer with the lowest price; ties by provider, type and region."""
        return min(self._allowed(gpu_id, count), key=_price_order, default=None)

    def without_gpu(self) -> list[CatalogueOffer]:
        """Allowed instances that have no GPU."""
        return self._allowed(None, 0)

    def why_none(self, gpu_id: str, count: int) -> tuple[str, str]:
        """Reason code and words for the lack of an allowed offer."""
        known = self._by_key.get((gpu_id, count), [])
        if not known:
            return "no_offer", "the catalogue has no offer of that many for rent"
        providers = sorted({offer.provider for offer in known})
        if self._constraints.providers and not any(self._provider_ok(offer) for offer in known):
            return "provider", f"only {', '.join(providers)} have it"
        regions = sorted({offer.region for offer in known if self._provider_ok(offer)})
        return "region", f"it is offered only in {', '.join(regions)}"

    def _allowed(self, gpu_id: str | None, count: int) -> list[CatalogueOffer]:
        regions = self._constraints.regions
        return [
            offer
            for offer in self._by_key.get((gpu_id, count), [])
            if self._provider_ok(offer) and (not regions or in_region(offer, regions))
        ]

    def _provider_ok(self, offer: CatalogueOffer) -> bool:
        wanted = {name.lower() for name in self._constraints.providers}
        return not wanted or offer.provider.lower() in wanted


def _price_order(offer: CatalogueOffer) -> tuple[float, str, str, str]:
    return hourly_price(offer) or float("inf"), offer.provider, offer.instance_type, offer.region
