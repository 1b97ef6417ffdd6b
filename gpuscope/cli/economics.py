"""Options about money: quotes and price lists, currency, tax, and what owning costs."""

from __future__ import annotations

import argparse
import math
from datetime import date
from pathlib import Path
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.imports import read_prices
from gpuscope.advisor.cost.quotes import EXAMPLE, parse_quote
from gpuscope.advisor.cost.terms import check_economics
from gpuscope.cli.arguments import duration, fraction
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import DOLLAR, to_usd
from gpuscope.engine.advise import catalogue
from gpuscope.errors import UsageError


class Money(NamedTuple):
    """What the options say about money."""

    economics: Economics
    offers: tuple[CatalogueOffer, ...] = ()
    """Imported, to be looked at besides the catalogue's."""
    notes: tuple[str, ...] = ()
    """About rows of the files that were left out or had to be guessed."""


def add_economics(parser: argparse.ArgumentParser) -> None:
    """Add the options about money."""
    group = parser.add_argument_group(
        "money", "Amounts are in the currency of --currency. What is not given is assumed, and the advice says so."
    )
    group.add_argument("--quote", metavar="TEXT", action="append", default=[], help=f'such as "{EXAMPLE}"')
    group.add_argument(
        "--prices", metavar="FILE.csv", type=Path, action="append", default=[],
        help="quotes, offers with the columns of cloud_offers.csv, or a SkyPilot catalogue file",
    )  # fmt: skip
    group.add_argument("--prices-date", metavar="DATE", type=_day, help="of SkyPilot files, which have none")
    group.add_argument("--currency", metavar="CODE", type=_currency, default=DOLLAR, help="such as EUR (default USD)")
    group.add_argument("--exchange-rate", metavar="N", type=_amount, help="units of --currency for one US dollar")
    group.add_argument("--tax", metavar="SHARE", type=_share, default=0.0, help="added to every price, such as 10%%")
    _add_renting(group)
    _add_owning(group)


def _add_renting(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--reserved-discount", metavar="SHARE", type=_share, help="off on-demand prices, for all hours")
    group.add_argument("--spot", action="store_true", help="spot prices, with the work that interruptions lose")
    group.add_argument("--interruptions-per-day", metavar="N", type=_amount, help="of a spot machine")
    group.add_argument("--restart-time", metavar="TIME", type=duration, help="from an interruption to computing again")
    group.add_argument("--checkpoint-interval", metavar="TIME", type=duration, help="such as 30min")


def _add_owning(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--hours-per-month", metavar="N", type=_amount, help="of use; default: as the work takes")
    group.add_argument("--years", metavar="N,...", type=_years, default=(1, 3, 5), help="to look ahead (default 1,3,5)")
    group.add_argument("--electricity", metavar="AMOUNT", type=_amount, help="for a kWh")
    group.add_argument("--pue", metavar="N", type=_amount, help="power of the site over that of its machines")
    group.add_argument("--hosting", metavar="AMOUNT", type=_amount, help="for the place, a kW and month")
    group.add_argument("--support", metavar="SHARE", type=_share, help="of the purchase price, a year")
    group.add_argument("--staff", metavar="AMOUNT", type=_amount, help="a year")
    group.add_argument("--interest", metavar="SHARE", type=_share, help="a year, on the purchase")
    group.add_argument(
        "--residual", metavar="SHARE", type=_share, help="of the price left after the longest of --years"
    )
    group.add_argument(
        "--machine-share", metavar="SHARE", type=_share_above_one, help="around bare GPUs, of their price"
    )


def economics_from(options: argparse.Namespace) -> Money:
    """What was typed; files of prices are read.

    Raises:
        UsageError: an option, a quote or a file of prices makes no sense.
    """
    if options.exchange_rate is not None and options.currency == "USD":
        raise UsageError("An exchange rate belongs to a currency: name it with --currency, such as --currency EUR.")
    bare = Economics(currency=options.currency, currency_per_usd=options.exchange_rate)
    check_economics(bare)
    quotes: tuple[Quote, ...] = tuple(parse_quote(text, catalogue()) for text in options.quote)
    offers: tuple[CatalogueOffer, ...] = ()
    notes: tuple[str, ...] = ()
    for path in options.prices:
        prices = read_prices(path, catalogue(), options.prices_date)
        quotes, offers, notes = quotes + prices.quotes, offers + prices.offers, notes + prices.notes
    for quote in quotes:
        to_usd(quote.price, quote.currency, bare)
    economics = Economics(
        currency=options.currency,
        currency_per_usd=options.exchange_rate,
        tax_share=options.tax,
        electricity_usd_per_kwh=_usd(options.electricity, bare),
        power_usage_effectiveness=options.pue,
        hosting_usd_per_kw_month=_usd(options.hosting, bare),
        support_share_per_year=options.support,
        staff_usd_per_year=_usd(options.staff, bare),
        finance_rate_per_year=options.interest,
        residual_share=options.residual,
        machine_share=options.machine_share,
        hours_per_month=options.hours_per_month,
        years=options.years,
        reserved_discount_share=options.reserved_discount,
        use_spot=options.spot,
        spot_interruptions_per_day=options.interruptions_per_day,
        spot_restart_s=options.restart_time,
        checkpoint_interval_s=options.checkpoint_interval,
        quotes=quotes,
    )
    check_economics(economics)
    return Money(economics, offers, notes)


def _usd(amount: float | None, economics: Economics) -> float | None:
    return None if amount is None else to_usd(amount, economics.currency, economics)


def _amount(text: str) -> float:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number that is not negative")
    return value


def _share(text: str) -> float:
    value = _share_above_one(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is more than the whole: write shares like 10% or 0.1")
    return value


def _share_above_one(text: str) -> float:
    value = fraction(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} must not be negative")
    return value


def _currency(text: str) -> str:
    if len(text) != 3 or not (text.isascii() and text.isalpha()):
        raise argparse.ArgumentTypeError(f"{text!r} is no currency: use its three letters, such as EUR")
    return text.upper()


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date: write it like 2026-11-01") from None


def _years(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no years: write them like 1,3,5") from None
