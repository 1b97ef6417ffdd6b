"""Where offers are: regions as the providers write them, and the countries behind them."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope.advisor.catalogue.specs import CatalogueOffer

# Words for a part of the world → beginnings of region names, as the providers write them.
_REGION_WORDS: dict[str, tuple[str, ...]] = {
    "japan": ("ap-northeast-1", "asia-northeast1", "japan"),
    "tokyo": ("ap-northeast-1", "asia-northeast1", "japaneast"),
    "europe": ("eu-", "europe-", "westeurope", "northeurope", "swedencentral", "uksouth", "fr-", "gravelines", "eu "),
    "us": ("us-", "eastus", "westus", "centralus", "southcentralus", "north america"),
}
_REGION_WORDS |= {"jp": _REGION_WORDS["japan"], "eu": _REGION_WORDS["europe"], "usa": _REGION_WORDS["us"]}

_EU = "european union"
# Beginning of a region's name, in lower case → country, and the parts of the world that it belongs to
# (from the providers' own lists of regions).
_COUNTRIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("us-", "united states", ("north america",)),
    ("eastus", "united states", ("north america",)),
    ("westus", "united states", ("north america",)),
    ("centralus", "united states", ("north america",)),
    ("southcentralus", "united states", ("north america",)),
    ("northcentralus", "united states", ("north america",)),
    ("north america", "", ("north america",)),
    ("canada", "canada", ("north america",)),
    ("ca-", "canada", ("north america",)),
    ("northamerica-northeast", "canada", ("north america",)),
    ("ap-northeast-1", "japan", ("asia",)),
    ("ap-northeast-3", "japan", ("asia",)),
    ("asia-northeast1", "japan", ("asia",)),
    ("asia-northeast2", "japan", ("asia",)),
    ("japan", "japan", ("asia",)),
    ("ap-northeast-2", "south korea", ("asia",)),
    ("asia-northeast3", "south korea", ("asia",)),
    ("koreacentral", "south korea", ("asia",)),
    ("ap-southeast-1", "singapore", ("asia",)),
    ("asia-southeast1", "singapore", ("asia",)),
    ("ap-south-", "india", ("asia",)),
    ("asia-south1", "india", ("asia",)),
    ("centralindia", "india", ("asia",)),
    ("india", "india", ("asia",)),
    ("ap-southeast-2", "australia", ("oceania",)),
    ("australia", "australia", ("oceania",)),
    ("eu-west-1", "ireland", ("europe", _EU)),
    ("northeurope", "ireland", ("europe", _EU)),
    ("eu-west-2", "united kingdom", ("europe",)),
    ("europe-west2", "united kingdom", ("europe",)),
    ("uk", "united kingdom", ("europe",)),
    ("eu-west-3", "france", ("europe", _EU)),
    ("europe-west9", "france", ("europe", _EU)),
    ("fr-", "france", ("europe", _EU)),
    ("gravelines", "france", ("europe", _EU)),
    ("francecentral", "france", ("europe", _EU)),
    ("eu-central-1", "germany", ("europe", _EU)),
    ("europe-west3", "germany", ("europe", _EU)),
    ("germany", "germany", ("europe", _EU)),
    ("eu-north-1", "sweden", ("europe", _EU)),
    ("swedencentral", "sweden", ("europe", _EU)),
    ("eu-north1", "finland", ("europe", _EU)),
    ("europe-north1", "finland", ("europe", _EU)),
    ("europe-west4", "netherlands", ("europe", _EU)),
    ("westeurope", "netherlands", ("europe", _EU)),
    ("europe-west1", "belgium", ("europe", _EU)),
    ("eu (luxembourg", "luxembourg", ("europe", _EU)),
    ("norway", "norway", ("europe",)),
    ("switzerland", "switzerland", ("europe",)),
    ("europe-west6", "switzerland", ("europe",)),
)
_SHORT_NAMES = {
    "us": "united states", "usa": "united states", "jp": "japan", "eu": _EU, "uk": "united kingdom", "de": "germany",
    "fr": "france", "nl": "netherlands", "se": "sweden", "fi": "finland", "ie": "ireland", "kr": "south korea",
    "korea": "south korea", "in": "india", "ca": "canada", "au": "australia", "sg": "singapore", "lu": "luxembourg",
    "be": "belgium", "no": "norway", "ch": "switzerland",
}  # fmt: skip


def in_region(offer: CatalogueOffer, regions: Iterable[str]) -> bool:
    """Whether an offer is in one of the regions; a price without a region is in none."""
    place = offer.region.lower()
    for region in regions:
        word = region.strip().lower()
        if place == word or place.startswith(_REGION_WORDS.get(word, ())):
            return True
    return False


def stays_in(offer: CatalogueOffer, places: Iterable[str]) -> bool:
    """Whether data on an offer's machine stays in one of the countries or parts of the world.

    An offer whose place is not stated, or not known to be in a country, stays nowhere.
    """
    known = _places(offer.region)
    return any(place_name(place) in known for place in places)


def place_name(text: str) -> str:
    """The full name of a country or part of the world: `eu` → `european union`."""
    word = text.strip().lower()
    return _SHORT_NAMES.get(word, word)


def known_places() -> frozenset[str]:
    """Names of all countries and parts of the world that regions can be told to be in."""
    return frozenset(name for _, country, parts in _COUNTRIES for name in (country, *parts) if name)


def _places(region: str) -> tuple[str, ...]:
    """Country and parts of the world of a region; the longest beginning that fits decides."""
    lowered = region.lower()
    fitting = [entry for entry in _COUNTRIES if lowered.startswith(entry[0])]
    if not fitting:
        return ()
    _, country, parts = max(fitting, key=lambda entry: len(entry[0]))
    return (country, *parts) if country else parts
