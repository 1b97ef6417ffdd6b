"""Files with prices as lines of the form's table of quotes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.imports import read_prices
from gpuscope.domain.economics import Quote
from gpuscope.engine.advise import catalogue
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.texts import QuoteTexts

MOST_QUOTES = 200
"""More lines than these are a catalogue, which nobody reads in a form."""


def quotes_of_file(path: Path) -> tuple[QuoteTexts, ...]:
    """The prices of a CSV file of quotes, of offers, or of SkyPilot's catalogue.

    Raises:
        UsageError: the file is none of these or is damaged; names the line.
        UsageError: it holds no price that can be used, or too many.
    """
    prices = read_prices(path, catalogue())
    found = [_of_quote(quote) for quote in prices.quotes]
    found += [texts for offer in prices.offers for texts in _of_offer(offer)]
    if not found:
        sentence = QCoreApplication.translate("Quotes", "{0} holds no price of a GPU that the catalogue knows.")
        raise UsageError(sentence.format(path.name))
    if len(found) > MOST_QUOTES:
        sentence = QCoreApplication.translate(
            "Quotes", "{0} holds {1} prices, more than the {2} that the form takes: leave out the GPUs and regions "
            "that do not matter to you."
        )  # fmt: skip
        raise UsageError(sentence.format(path.name, len(found), MOST_QUOTES))
    return tuple(found)


def _of_quote(quote: Quote) -> QuoteTexts:
    return QuoteTexts(
        gpu=quote.gpu,
        count=str(quote.count),
        kind=quote.kind,
        price=f"{quote.price:.10g}",
        currency=quote.currency,
        date=quote.date or "",
        valid_until=quote.valid_until or "",
        vendor=quote.vendor,
        region=quote.region,
        bare=not quote.includes_machine,
        note=quote.note,
    )


def _of_offer(offer: CatalogueOffer) -> Iterator[QuoteTexts]:
    """Rent, and spot where there is a price; slices of a GPU cannot be quoted."""
    if offer.gpu_id is None or offer.gpu_count < 1:
        return
    for kind, price in (("rent", offer.on_demand_usd_per_hour), ("spot", offer.spot_usd_per_hour)):
        if price is not None:
            yield QuoteTexts(
                gpu=offer.gpu_id, count=f"{offer.gpu_count:.0f}", kind=kind, price=f"{price:.10g}",
                date=offer.price_date or "", vendor=offer.provider, region=offer.region, note=offer.instance_type,
            )  # fmt: skip
