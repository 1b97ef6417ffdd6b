"""Own or rent over the years: what each costs, as bars and as a table, and where the two meet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, Economics, OwnershipCost, RentalCost
from gpuscope.domain.recommendation import Candidate
from gpuscope.ui.advisor.result.bars import Bar, RangeBars
from gpuscope.ui.advisor.result.cells import configuration_name
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.advisor.result.scroll_page import ScrollPage
from gpuscope.ui.advisor.result.table_cells import FigureTable, Text
from gpuscope.ui.figures import DASH
from gpuscope.ui.theme import BLUE, BLUISH_GREEN, ORANGE, SKY_BLUE
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

translate = QCoreApplication.translate


class OwnershipPage(QWidget):
    """Of the candidate that is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_candidate`."""
        super().__init__(parent)
        self.setWhatsThis(
            self.tr(
                "What the chosen configuration costs to own and to rent over the years, with power, hosting, support, "
                "staff, interest, tax and what it still sells for. Set them in the form under Money over the years."
            )
        )
        self.sentence = WrappingLabel(self)
        self.bars = RangeBars(self)
        self.bars.setAccessibleName(self.tr("Owning and renting over the years"))
        self.table = FigureTable(self.tr("Cost of owning and renting by part"), self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(ScrollPage((self.sentence, self.bars, self.table), self))

    def show_candidate(self, candidate: Candidate | None, economics: Economics) -> None:
        """Replace everything."""
        costs = candidate.cost_over_years if candidate is not None else None
        known = costs is not None and bool(costs.own or costs.rent)
        self.bars.setVisible(known)
        self.table.setVisible(known)
        if candidate is None or costs is None or not known:
            self.sentence.setText(self.tr("For this configuration no cost over the years is known."))
            return
        money = Money.of(economics)
        name = configuration_name(candidate.gpu, candidate.gpu_name, candidate.count)
        self.sentence.setText(f"{name}: {comparison(costs, money)}")
        self.bars.show_bars(_bars(costs), money.range)
        titles, rows = cost_rows(costs, money)
        self.table.show_rows(titles, rows)
        self.table.fit_height()


def years_text(years: int) -> str:
    """`1 year`, `3 years`."""
    return translate("Ownership", "1 year") if years == 1 else translate("Ownership", "{0} years").format(years)


def comparison(costs: CostOverYears, money: Money) -> str:
    """Where owning and renting meet, in a sentence or two."""
    parts = []
    share = costs.break_even_utilization
    if share is not None:
        against = f" ({costs.compared_rent})" if costs.compared_rent else ""
        parts.append(
            translate("Ownership", "owning is cheaper than renting{against} from {share} of all hours on.").format(
                against=against, share=f"{share:.0%}"
            )
        )
    elif costs.own and costs.rent:
        parts.append(translate("Ownership", "where owning becomes cheaper than renting is never, or not known."))
    if costs.worth_below_usd is not None:
        sentence = translate("Ownership", "A purchase below {0} is cheaper than renting for this work.")
        parts.append(sentence.format(money.amount(costs.worth_below_usd)))
    return " ".join(parts) or translate("Ownership", "what it costs over the years.")


def _bars(costs: CostOverYears) -> list[Bar]:
    bars = []
    rents = {rent.years: rent for rent in costs.rent}
    for years in sorted({cost.years for cost in costs.own} | set(rents)):
        label = years_text(years)
        own = next((cost for cost in costs.own if cost.years == years), None)
        if own is not None:
            bars.append(Bar(label, translate("Ownership", "own"), own.total_usd, ORANGE))
        rent = rents.get(years)
        if rent is not None:
            demand = None if rent.on_demand_usd is None else Range.exact(rent.on_demand_usd)
            bars.append(Bar(label, translate("Ownership", "rent, on demand"), demand, BLUE))
            if rent.reserved_usd is not None:
                reserved = Range.exact(rent.reserved_usd)
                bars.append(Bar(label, translate("Ownership", "rent, reserved"), reserved, BLUISH_GREEN))
            if rent.spot_usd is not None:
                bars.append(Bar(label, translate("Ownership", "rent, spot"), rent.spot_usd, SKY_BLUE))
    return bars


def cost_rows(costs: CostOverYears, money: Money) -> tuple[list[Text], list[list[Text]]]:
    """Titles and rows of the table: a row for each part of the cost, a column for each number of years."""
    years = sorted({cost.years for cost in costs.own} | {rent.years for rent in costs.rent})
    own = {cost.years: cost for cost in costs.own}
    rent = {cost.years: cost for cost in costs.rent}
    titles = [Text(""), *(Text(years_text(each)) for each in years)]
    rows = [
        [Text(label, meaning, bold), *(_owned(own.get(each), field, money, bold=bold) for each in years)]
        for field, label, meaning, bold in _own_lines()
    ]
    rows += [
        [Text(label, meaning, bold=True), *(_rented(rent.get(each), field, money) for each in years)]
        for field, label, meaning in _rent_lines()
    ]
    hours = [_hours(rent.get(each)) for each in years]
    rows.append([Text(translate("Ownership", "Hours of use"), translate("Ownership", "Over the whole span.")), *hours])
    known = [row for row in rows if any(cell.text != DASH for cell in row[1:])]
    return titles, known


def _own_lines() -> tuple[tuple[str, str, str, bool], ...]:
    return (
        ("purchase_usd", translate("Ownership", "Purchase"),
         translate("Ownership", "GPUs with the machine around them."), False),
        ("energy_usd", translate("Ownership", "Electricity"),
         translate("Ownership", "Power of the machine × PUE × hours × tariff."), False),
        ("hosting_usd", translate("Ownership", "Hosting"), translate("Ownership", "The place in the rack."), False),
        ("support_usd", translate("Ownership", "Support"), translate("Ownership", "A share of the purchase a year."),
         False),
        ("staff_usd", translate("Ownership", "Staff"), translate("Ownership", "Who looks after it."), False),
        ("finance_usd", translate("Ownership", "Interest"), translate("Ownership", "On the money that is bound."),
         False),
        ("tax_usd", translate("Ownership", "Tax"), translate("Ownership", "On all that is paid."), False),
        ("residual_usd", translate("Ownership", "Sells for"), translate("Ownership", "Taken off at the end."), False),
        ("total_usd", translate("Ownership", "Owning, in all"), "", True),
    )  # fmt: skip


def _rent_lines() -> tuple[tuple[str, str, str], ...]:
    return (
        ("on_demand_usd", translate("Ownership", "Renting on demand"), translate("Ownership", "For the same hours.")),
        ("reserved_usd", translate("Ownership", "Renting reserved"),
         translate("Ownership", "Paid for all hours, with the discount that you gave.")),
        ("spot_usd", translate("Ownership", "Renting spot"),
         translate("Ownership", "With the work that interruptions lose.")),
    )  # fmt: skip


def _owned(cost: OwnershipCost | None, field: str, money: Money, *, bold: bool) -> Text:
    value = None if cost is None else getattr(cost, field)
    if field == "residual_usd" and value is not None:
        value = -value
    return _money_text(value, money, bold=bold)


def _rented(cost: RentalCost | None, field: str, money: Money) -> Text:
    return _money_text(None if cost is None else getattr(cost, field), money, bold=True)


def _money_text(value: float | Range | None, money: Money, *, bold: bool) -> Text:
    if value is None:
        return Text(DASH, translate("Ownership", "Not known: a price or one of the assumptions is missing."))
    write: Callable[..., str] = money.range if isinstance(value, Range) else money.amount
    return Text(write(value), bold=bold)


def _hours(cost: RentalCost | None) -> Text:
    return Text(DASH) if cost is None else Text(f"{cost.hours:,.0f} h")
