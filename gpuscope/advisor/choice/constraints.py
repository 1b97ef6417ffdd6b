"""What the person allows, checked for sense before anything is predicted."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.places import in_region, known_places, place_name
from gpuscope.advisor.cost.quotes import check_quotes
from gpuscope.advisor.cost.terms import check_economics
from gpuscope.advisor.job.precision import precision_of
from gpuscope.advisor.serving.weights import weight_format
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import HOURS_OF_A_DAY, ServingTarget
from gpuscope.errors import UsageError

RENT, BUY, KEEP = "rent", "buy", "keep"
DEFAULT_COUNTS = (1, 2, 4, 8)
MOST_GPUS = 16_384
LINKS = ("pcie", "nvlink", "nvswitch", "infinity_fabric")
NETWORKS = ("ethernet", "roce", "infiniband", "efa", "tcpx", "nvlink_network")

_POSITIVE = {
    "deadline_s": "The deadline", "total_samples": "The number of samples", "total_steps": "The number of steps",
    "total_epochs": "The number of epochs", "samples_per_epoch": "The number of samples in an epoch",
    "budget_usd": "The budget", "budget_usd_per_hour": "The budget an hour", "power_limit_w": "The power limit",
    "rack_power_w": "The power of a machine", "minimum_memory_bytes": "The least memory",
    "minimum_throughput": "The least throughput", "max_nodes": "The number of machines",
}  # fmt: skip


def check(constraints: Constraints, catalogue: Catalogue) -> None:
    """Refuse constraints that contradict each other or name what does not exist.

    Raises:
        UsageError: one sentence that says what to change.
    """
    for name, words in _POSITIVE.items():
        value = getattr(constraints, name)
        if value is not None and not 0 < value < math.inf:
            raise UsageError(f"{words} must be above zero and finite, not {value:g}.")
    if any(not 1 <= count <= MOST_GPUS for count in constraints.counts):
        raise UsageError(f"The number of GPUs must be 1 or more, and at most {MOST_GPUS}.")
    for precision in (*constraints.precisions, *filter(None, (constraints.precision,))):
        precision_of(precision)
    check_economics(constraints.economics)
    check_quotes(constraints.economics, catalogue)
    _check_work(constraints)
    _check_acquisition(constraints)
    _check_serving(constraints.serving)
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


def _check_serving(target: ServingTarget | None) -> None:
    if target is None:
        return
    for name, value in msgspec.structs.asdict(target).items():
        if isinstance(value, float) and not value > 0:
            raise UsageError(f"The target of the service ({name.replace('_', ' ')}) must be above zero, not {value:g}.")
    for name in target.weight_dtypes:
        weight_format(name)
    load = target.hourly_load
    if load and (len(load) != HOURS_OF_A_DAY or min(load) < 0 or max(load) <= 0):
        raise UsageError("The load over the day is 24 figures, none below zero and one above: one for each hour.")


def _check_names(constraints: Constraints, catalogue: Catalogue) -> None:
    vendors = {gpu.vendor.lower() for gpu in catalogue.gpus}
    _check_known("vendor", constraints.vendors, vendors)
    _check_known("provider", constraints.providers, {offer.provider.lower() for offer in catalogue.offers})
    for wanted in constraints.gpus:
        _check_gpu(wanted, constraints.vendors, catalogue)
    for region in constraints.regions:
        if not any(in_region(offer, (region,)) for offer in catalogue.offers):
            raise UsageError(
                f"No offer in the catalogue is in the region {region!r}: use a provider's region name such as "
                "us-east-1 or japaneast, or japan, europe, us."
            )
    _check_known("link between GPUs", constraints.interconnects, set(LINKS))
    _check_known("network between machines", constraints.networks, set(NETWORKS))
    forms = {gpu.form_factor for gpu in catalogue.gpus if gpu.form_factor}
    for form in constraints.form_factors:
        if not any(known.lower().startswith(form.strip().lower()) for known in forms):
            short = sorted({known.split()[0] for known in forms})
            raise UsageError(f"The catalogue has no form factor {form!r}: it has {', '.join(short)}.")
    for place in constraints.residency:
        if place_name(place) not in known_places():
            raise UsageError(
                f"It is not known which offers are in {place!r}: use a country or a part of the world, such as japan, "
                "germany, eu, north america."
            )


def _check_gpu(wanted: str, vendors: tuple[str, ...], catalogue: Catalogue) -> None:
    gpu = catalogue.gpu(wanted)
    if gpu is None:
        near = [known.id for known in catalogue.gpus if wanted.lower() in known.id]
        hint = f"Did you mean {', '.join(near[:5])}?" if near else "Take an id from gpus.csv, such as l4."
        dated = f" of {catalogue.newest_price_date}" if catalogue.newest_price_date else ""
        raise UsageError(f"The catalogue{dated} has no GPU {wanted!r}, which may be newer. {hint}")
    if vendors and gpu.vendor.lower() not in {vendor.lower() for vendor in vendors}:
        raise UsageError(f"{gpu.name} is not from {', '.join(vendors)}: change the GPU or the vendor.")


def _check_known(what: str, wanted: Iterable[str], known: set[str]) -> None:
    for name in wanted:
        if name.strip().lower() not in known:
            raise UsageError(f"The catalogue has no {what} {name!r}: it has {', '.join(sorted(known))}.")
