"""The PDF's table of prices, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator

from reportlab.platypus import Flowable

from gpuscope.report.format import DASH, number
from gpuscope.report.model import Price, Report
from gpuscope.report.styles import CONTENT_WIDTH, GREY, TROUBLE, paragraph, style
from gpuscope.report.tables import Cell, grid, number_cell, text_cell
from gpuscope.report.text import Texts

_COLUMNS = (
    ("column.offer", 0.35),
    ("column.region", 0.14),
    ("column.on_demand", 0.13),
    ("column.spot", 0.09),
    ("column.date", 0.17),
    ("column.source", 0.12),
)
_NUMBERS = (2, 3, 4, 5)
_INDENT = 14.0


def price_table(report: Report, texts: Texts) -> Iterator[Flowable]:
    """Every published price with its date and the number of its source; below it the sources, each once."""
    if report.prices:
        sources = {key: index for index, key in enumerate(dict.fromkeys(map(_source, report.prices)), start=1)}
        rows = [_row(price, sources[_source(price)], texts) for price in report.prices]
        widths = [CONTENT_WIDTH * share for _, share in _COLUMNS]
        yield grid([texts(key) for key, _ in _COLUMNS], rows, widths, right=_NUMBERS)
        yield paragraph(texts("price.sources"), style(bold=True, before=8).clone("minor", keepWithNext=1))
        for (name, url), index in sources.items():
            look = style(before=1.5).clone("source", leftIndent=_INDENT, bulletIndent=0)
            yield paragraph(f"{name} {url}".rstrip(), look, bullet=str(index))
    else:
        yield paragraph(texts("decision.no_prices"), style(colour=GREY))
    if report.needs_quote:
        yield paragraph(texts("price.needs_quote", names=", ".join(report.needs_quote)), style(before=8))


def _source(price: Price) -> tuple[str, str]:
    """Who published the price, with what kind of price it is, and where."""
    name = f"{price.source} ({price.status})" if price.status else price.source
    return name, price.source_url


def _row(price: Price, source: int, texts: Texts) -> list[Cell]:
    date = price.price_date or texts("price.undated")
    if price.stale and price.price_date:
        date = f"{date}, {texts('price.stale')}"
    return [
        text_cell(f"{price.provider} {price.instance_type}"),
        text_cell(price.region or DASH),
        number_cell(_rate(price.usd_per_hour)),
        number_cell(_rate(price.spot_usd_per_hour)),
        number_cell(date, TROUBLE if price.stale else style().textColor),
        number_cell(str(source)),
    ]


def _rate(usd_per_hour: float | None) -> str:
    return DASH if usd_per_hour is None else number(usd_per_hour, "usd_per_hour")
