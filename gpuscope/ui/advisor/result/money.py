"""Amounts in the currency that the person chose; the documents hold US dollars."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import DOLLAR, format_amount, format_amount_range


@dataclass(frozen=True, slots=True)
class Money:
    """Writes US dollars as amounts of a currency."""

    economics: Economics = field(default_factory=Economics)

    @staticmethod
    def of(economics: Economics) -> Money:
        """The currency of the person; US dollars where no rate is known."""
        known = economics.currency == DOLLAR or bool(economics.currency_per_usd)
        return Money(economics) if known else Money()

    @property
    def per_usd(self) -> float:
        """Units of the currency for one US dollar."""
        return 1.0 if self.economics.currency == DOLLAR else self.economics.currency_per_usd or 1.0

    def amount(self, usd: float) -> str:
        """`$1,240`, `€1,150`, `−$300`."""
        text = format_amount(abs(usd), self.economics)
        return f"−{text}" if usd < 0 else text

    def range(self, usd: Range) -> str:
        """`$74–91`."""
        if usd.low < 0:
            return f"{self.amount(usd.low)} – {self.amount(usd.high)}"
        return format_amount_range(usd, self.economics)
