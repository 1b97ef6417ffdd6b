"""Amounts in the currency that the person chose; the documents hold US dollars."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.units import format_money, format_money_range


@dataclass(frozen=True, slots=True)
class Money:
    """Writes US dollars as amounts of a currency."""

    currency: str = "USD"
    per_usd: float = 1.0

    @staticmethod
    def of(economics: Economics) -> Money:
        """The currency of the person; US dollars where no rate is known."""
        if economics.currency == "USD" or economics.currency_per_usd is None:
            return Money()
        return Money(economics.currency, economics.currency_per_usd)

    def amount(self, usd: float) -> str:
        """`$1,240`, `EUR 1,150`, `−$300`."""
        text = self._named(format_money(abs(usd) * self.per_usd))
        return f"−{text}" if usd < 0 else text

    def range(self, usd: Range) -> str:
        """`$74–91`."""
        if usd.low < 0:
            return f"{self.amount(usd.low)} – {self.amount(usd.high)}"
        return self._named(format_money_range(usd.scaled(self.per_usd)))

    def _named(self, text: str) -> str:
        return text if self.currency == "USD" else f"{self.currency} {text.removeprefix('$')}"
