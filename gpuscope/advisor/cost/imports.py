"""Prices from a file that the person gives, whichever of three kinds it is."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

from gpuscope.advisor.catalogue.loading import Catalogue, offers_in
from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.catalogue.table import GIVEN, read_header
from gpuscope.advisor.cost.quotes import COLUMNS as QUOTE_COLUMNS
from gpuscope.advisor.cost.quotes import read_quotes
from gpuscope.advisor.cost.skypilot import COLUMNS as SKYPILOT_COLUMNS
from gpuscope.advisor.cost.skypilot import read_skypilot
from gpuscope.domain.economics import Quote
from gpuscope.errors import CatalogueError, UsageError

_MOST_BYTES = 100_000_000


class Prices(NamedTuple):
    """What a file held."""

    offers: tuple[CatalogueOffer, ...] = ()
    quotes: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about what was left out or had to be guessed."""


def read_prices(path: Path, catalogue: Catalogue, price_date: str | None = None) -> Prices:
    """Read a file of quotes, of offers with the catalogue's columns, or of SkyPilot's catalogue.

    Args:
        path: a CSV file in UTF-8; its header says which of the three it is.
        catalogue: whose GPUs it may name.
        price_date: ISO date of a SkyPilot file, which has none of its own.

    Raises:
        UsageError: it is none of the three, is damaged, or a quote makes no sense; names the line.
    """
    try:
        return _read(path, catalogue, price_date)
    except CatalogueError as error:  # the readers of what comes with gpuscope are used for what the person gives
        raise UsageError(str(error)) from error


def _read(path: Path, catalogue: Catalogue, price_date: str | None) -> Prices:
    _check_size(path)
    header = set(read_header(path, GIVEN))
    if set(QUOTE_COLUMNS) <= header:
        return Prices(quotes=read_quotes(path, catalogue))
    if {"AcceleratorName", "InstanceType"} <= header:
        found = read_skypilot(path, catalogue, price_date)
        return Prices(offers=found.offers, notes=found.notes)
    if {"gpu_id", "on_demand_usd_h"} <= header:
        return Prices(offers=offers_in(path, catalogue))
    raise UsageError(
        f"{path} is no file of prices: its first line has to name the columns {', '.join(QUOTE_COLUMNS)}, those of "
        f"gpuscope's cloud_offers.csv, or SkyPilot's ({', '.join(SKYPILOT_COLUMNS[:3])} …)."
    )


def _check_size(path: Path) -> None:
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). {GIVEN.file}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path} cannot be read: it is a folder, a pipe or a device, no file. {GIVEN.file}")
    size = status.st_size
    if size > _MOST_BYTES:
        raise UsageError(f"{path} has {size / 1e6:,.0f} MB, more than any list of prices. {GIVEN.file}")
