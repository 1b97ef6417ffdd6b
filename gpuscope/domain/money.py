"""Amounts of money in the person's own currency. Documents hold US dollars; only what is shown is converted."""

from __future__ import annotations

from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.units import format_money, format_money_range, join_range
from gpuscope.errors import UsageError

DOLLAR = "USD"

_SIGNS = {DOLLAR: "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
_WHOLE_ONLY = frozenset({"CLP", "ISK", "JPY", "KRW", "UGX", "VND", "XAF", "XOF", "XPF"})
"""Currencies without a smaller coin (ISO 4217, exponent 0); amounts in them are whole."""


def from_usd(usd: float, economics: Economics) -> float:
    """US dollars in the person's currency, not rounded.

    Raises:
        UsageError: the exchange rate is not given.
    """
    return usd * _rate(economics.currency, economics)


def to_usd(amount: float, currency: str, economics: Economics) -> float:
    """An amount of `currency` in US dollars, not rounded: there and back is the same amount to the cent.

    Args:
        amount: in `currency`.
        currency: US dollars, or the currency of `economics`.
        economics: holds the exchange rate.

    Raises:
        UsageError: it is another currency, or the exchange rate is not given.
    """
    return amount / _rate(currency, economics)


def _rate(currency: str, economics: Economics) -> float:
    """Units of `currency` for one US dollar."""
    if currency == DOLLAR:
        return 1.0
    if currency != economics.currency or not economics.currency_per_usd:
        raise UsageError(
            f"An amount is in {currency}, but no exchange rate is known: set the currency to {currency} and say how "
            f"many {currency} one US dollar costs."
        )
    return economics.currency_per_usd


def format_amount(usd: float, economics: Economics) -> str:
    """An amount of US dollars as the person wants to see it: `$1,234`, `€1,100`, `¥185,000`, `CHF 980`."""
    if economics.currency == DOLLAR:
        return format_money(usd)
    return _prefix(economics.currency) + _figure(from_usd(usd, economics), economics.currency)


def format_amount_range(usd: Range, economics: Economics) -> str:
    """A range of US dollars as the person wants to see it: `€74–91`."""
    if economics.currency == DOLLAR:
        return format_money_range(usd)
    prefix = _prefix(economics.currency)
    low, high = (_figure(from_usd(each, economics), economics.currency) for each in (usd.low, usd.high))
    return prefix + join_range(low, high).replace(" ", "")


def _prefix(currency: str) -> str:
    return _SIGNS.get(currency) or f"{currency} "


def _figure(amount: float, currency: str) -> str:
    """Hundredths below 100 where the currency has them, whole above."""
    whole = abs(amount) >= 100 or currency in _WHOLE_ONLY
    return f"{amount:,.0f}" if whole else f"{amount:,.2f}"
