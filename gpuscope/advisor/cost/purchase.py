"""What a configuration costs to buy: the person's quote, else the catalogue's price of a machine, else launch price."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import SystemSpec
from gpuscope.advisor.cost.configuration import Configuration
from gpuscope.advisor.cost.prices import is_stale, purchase_usd
from gpuscope.advisor.cost.terms import MACHINE_AT_LEAST_USD, MACHINE_SHARE, Terms
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import to_usd
from gpuscope.domain.units import format_money

QUOTE, SYSTEM_PRICE, LAUNCH_PRICE = "quote", "system price", "launch price"


class Purchase(NamedTuple):
    """The price of a configuration with the machines around the GPUs, before tax."""

    usd: float | None
    """None: needs a quote."""
    kind: str
    """quote, system price, launch price, or empty when there is none"""
    formula: str
    source: str
    """Where the price of that kind comes from, in words."""
    price_date: str | None = None
    stale: bool = False
    """Older than 30 days, undated (a system price), or no longer valid; launch prices always are."""


def purchase_of(what: Configuration, terms: Terms, economics: Economics, today: date) -> Purchase:
    """The best known purchase price.

    Raises:
        UsageError: a quote is in a currency whose rate is not known.
    """
    quoted = [price for quote in economics.quotes if (price := _quoted(quote, what, terms, economics, today))]
    if quoted:
        return min(quoted, key=lambda price: (price.stale, price.usd, price.source))
    if what.system is not None and what.system.price_usd is not None:
        return _system_price(what, what.system, what.system.price_usd)
    gpus_usd = purchase_usd(what.gpu, what.count)
    if gpus_usd is None:
        return Purchase(None, "", "", f"the catalogue has no price of the {what.gpu.name}")
    machine_usd, machine = _machine(gpus_usd, what.nodes, terms)
    return Purchase(
        gpus_usd + machine_usd,
        LAUNCH_PRICE,
        f"{what.count} × {format_money(gpus_usd / what.count)} + {machine}",
        f"{what.gpu.launch_price_source or 'catalogue'}, which is not a quote{_network(what)}",
        what.gpu.launch_date,
        stale=True,
    )


def quote_words(quote: Quote) -> str:
    """`quote of ACME, 2026-11-01`."""
    return f"{f'quote of {quote.vendor}' if quote.vendor else 'your quote'}, {_dates(quote)}"


def _dates(quote: Quote) -> str:
    valid = f", valid until {quote.valid_until}" if quote.valid_until is not None else ""
    return (quote.date or "undated") + valid


def quote_is_stale(quote: Quote, today: date) -> bool:
    """No longer valid; where it says nothing of that, older than 30 days (spot: one day) or undated."""
    if quote.valid_until is not None:
        return date.fromisoformat(quote.valid_until) < today
    return is_stale(quote.date, today, spot=quote.kind == "spot")


def _quoted(quote: Quote, what: Configuration, terms: Terms, economics: Economics, today: date) -> Purchase | None:
    """The quote scaled to the configuration; None: it is for something else."""
    if quote.kind != "buy" or quote.gpu != what.gpu.id or what.count % quote.count:
        return None
    times = what.count // quote.count
    if quote.includes_machine and times not in {1, what.nodes}:
        return None
    usd = to_usd(quote.price, quote.currency, economics) * times
    formula = f"{times} × {format_money(usd / times)}"
    if not quote.includes_machine:
        machine_usd, machine = _machine(usd, what.nodes, terms)
        usd, formula = usd + machine_usd, f"{formula} + {machine}"
    source = f"{quote.vendor or 'given'}, {_dates(quote)}"
    return Purchase(usd, QUOTE, formula, source, quote.date, quote_is_stale(quote, today))


def _system_price(what: Configuration, system: SystemSpec, usd: float) -> Purchase:
    return Purchase(
        usd * what.nodes,
        SYSTEM_PRICE,
        f"{what.nodes} × {format_money(usd)}",
        f"{system.name} ({system.price_source or 'catalogue'}), undated{_network(what)}",
        stale=True,
    )


def _network(what: Configuration) -> str:
    return "; the network between the machines is not in it" if what.nodes > 1 else ""


def _machine(gpus_usd: float, nodes: int, terms: Terms) -> tuple[float, str]:
    """Price of the machines around bare GPUs, and how it was reckoned."""
    if terms.machine_share is not None:
        return gpus_usd * terms.machine_share, f"{terms.machine_share:.0%} of that for the machine"
    usd = max(gpus_usd * MACHINE_SHARE, MACHINE_AT_LEAST_USD * nodes)
    return usd, f"{format_money(usd)} for the machine, assumed"
