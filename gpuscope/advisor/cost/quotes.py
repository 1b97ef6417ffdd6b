"""Prices that the person was offered: typed in as a line, or read from a small CSV file.

A line is `GPU [xCOUNT] KIND PRICE [CURRENCY] [DATE] [bare] [vendor=…] [until=…] [region=…] [note=…]`, for example
`h100-sxm5-80gb x8 buy 250000 USD 2026-11-01 vendor="ACME Ltd"` or `l4 rent 0.55 EUR`. The price of a purchase is for
all the GPUs with their machine (`bare`: without it); that of rent, spot and reserved is for one hour of all of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import date
from pathlib import Path

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.table import GIVEN, Row, read_rows
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import to_usd
from gpuscope.errors import UsageError

KINDS = ("buy", "rent", "spot", "reserved")
BUY = "buy"
COLUMNS = ("gpu", "count", "kind", "price", "currency", "date")
"""Needed in a file of quotes; `valid_until`, `vendor`, `region`, `includes_machine` and `note` may be there, too."""
EXAMPLE = "h100-sxm5-80gb x8 buy 250000 USD 2026-11-01 vendor=ACME"

_MOST_GPUS = 100_000
_MOST_CHARACTERS = 1000
_DOLLAR_LIKE = frozenset({"USD", "EUR", "GBP", "CHF"})
"""Currencies in which a lost decimal point can be told from a high price without an exchange rate."""
_MOST_PER_GPU = 1e6
_MOST_PER_GPU_HOUR = 1e3
_COUNT = re.compile(r"[x×](\d{1,9})", re.IGNORECASE)
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAMES = {"vendor": "vendor", "until": "valid_until", "region": "region", "note": "note"}


def parse_quote(text: str, catalogue: Catalogue) -> Quote:
    """A quote as typed.

    Raises:
        UsageError: it is none; says what is wrong and how one is written.
    """
    wrong = _refusal(f"The quote {text[:_MOST_CHARACTERS]!r}")
    if len(text) > _MOST_CHARACTERS:
        raise wrong(f"it has more than {_MOST_CHARACTERS} characters")
    try:
        words = shlex.split(text)
    except ValueError:
        raise wrong("a quotation mark has no partner") from None
    if len(words) < 3:
        raise wrong("it is too short")
    fields: dict[str, object] = {"gpu": words.pop(0)}
    if count := _COUNT.fullmatch(words[0]):
        fields["count"] = int(count.group(1))
        words.pop(0)
    fields["kind"] = words.pop(0).lower()
    if not words:
        raise wrong("it has no price")
    fields["price"] = _price(words.pop(0), wrong)
    for word in words:
        _add_detail(fields, word, wrong)
    return _checked(Quote(**fields), catalogue, wrong)  # type: ignore[arg-type]  # each field was made of its own type


def check_quotes(economics: Economics, catalogue: Catalogue) -> None:
    """Refuse quotes that make no sense, wherever they come from.

    Raises:
        UsageError: one sentence that says which quote and why.
    """
    for quote in economics.quotes:
        words = f"{quote.gpu} x{quote.count} {quote.kind} {quote.price:g} {quote.currency}"
        _checked(quote, catalogue, _refusal(f"The quote {words!r}"))
        to_usd(quote.price, quote.currency, economics)


def read_quotes(path: Path, catalogue: Catalogue) -> tuple[Quote, ...]:
    """Quotes of a CSV file with the columns `COLUMNS`.

    Raises:
        CatalogueError: the file is damaged; names the line.
        UsageError: a quote makes no sense; names the line, too.
    """
    return tuple(
        _from_row(row, catalogue, _refusal(f"{path}, quote {number}"))
        for number, row in enumerate(read_rows(path, COLUMNS, GIVEN), start=1)
    )


_Refusal = Callable[[str], UsageError]


def _refusal(what: str) -> _Refusal:
    def refuse(problem: str) -> UsageError:
        return UsageError(f"{what}: {problem}. Write one like: {EXAMPLE}")

    return refuse


def _price(word: str, wrong: _Refusal) -> float:
    try:
        return float(word.removeprefix("$").replace(",", "").replace("_", ""))
    except ValueError:
        raise wrong(f"{word!r} is not a price") from None


def _add_detail(fields: dict[str, object], word: str, wrong: _Refusal) -> None:
    name, equals, value = word.partition("=")
    if equals and name in _NAMES:
        fields[_NAMES[name]] = value
    elif word == "bare":
        fields["includes_machine"] = False
    elif _DAY.fullmatch(word):
        fields["date"] = word
    elif _CURRENCY.fullmatch(word):
        fields["currency"] = word.upper()
    else:
        raise wrong(f"{word!r} is not understood: it is no currency, date like 2026-11-01, bare, vendor=, until= …")


def _from_row(row: Row, catalogue: Catalogue, wrong: _Refusal) -> Quote:
    price = row.price("price")
    if price is None:
        raise row.error("the column price is empty")
    quote = Quote(
        gpu=row.required("gpu"),
        count=row.whole("count") or 1,
        kind=row.text("kind").lower() or BUY,
        price=price,
        currency=row.text("currency").upper() or "USD",
        date=row.day("date"),
        valid_until=row.day("valid_until") if row.has("valid_until") else None,
        vendor=row.text("vendor") if row.has("vendor") else "",
        region=row.text("region") if row.has("region") else "",
        includes_machine=not (row.has("includes_machine") and row.text("includes_machine").lower() in {"no", "false"}),
        note=row.text("note") if row.has("note") else "",
    )
    return _checked(quote, catalogue, wrong)


def _checked(quote: Quote, catalogue: Catalogue, wrong: _Refusal) -> Quote:
    if catalogue.gpu(quote.gpu) is None:
        near = [gpu.id for gpu in catalogue.gpus if quote.gpu.lower() in gpu.id]
        hint = f"did you mean {', '.join(near[:5])}" if near else "take an id from gpus.csv"
        raise wrong(f"the catalogue has no GPU {quote.gpu!r}, {hint}")
    if quote.kind not in KINDS:
        raise wrong(f"{quote.kind!r} is not one of {', '.join(KINDS)}")
    if not 1 <= quote.count <= _MOST_GPUS:
        raise wrong(f"{quote.count} GPUs make no sense")
    _check_price(quote, wrong)
    for day in (quote.date, quote.valid_until):
        _check_day(day, wrong)
    if quote.date and quote.valid_until and quote.valid_until < quote.date:
        raise wrong(f"it was valid until {quote.valid_until}, before its own date {quote.date}")
    return quote


def _check_price(quote: Quote, wrong: _Refusal) -> None:
    if not 0 < quote.price < float("inf"):
        raise wrong(f"a price of {quote.price:g} makes no sense")
    each = quote.price / quote.count
    if quote.currency in _DOLLAR_LIKE and each > (_MOST_PER_GPU if quote.kind == BUY else _MOST_PER_GPU_HOUR):
        unit = "" if quote.kind == BUY else " and hour"
        raise wrong(f"{each:,.0f} {quote.currency} a GPU{unit} is more than anybody asks")


def _check_day(day: str | None, wrong: _Refusal) -> None:
    if day is None:
        return
    try:
        date.fromisoformat(day)
    except ValueError:
        raise wrong(f"{day!r} is no date like 2026-11-01") from None
