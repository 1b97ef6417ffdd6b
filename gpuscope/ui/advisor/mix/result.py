"""What to get for several jobs: the decision, the options beside each other, and the machines of the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.mix import JobOnMachine, MixMachine, MixOption, MixRecommendation
from gpuscope.domain.units import format_duration_range
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.bars import Bar, RangeBars
from gpuscope.ui.advisor.result.cells import configuration_name
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.advisor.result.ownership import years_text
from gpuscope.ui.advisor.result.table_cells import FigureTable, Text
from gpuscope.ui.figures import DASH
from gpuscope.ui.theme import BLUE, BLUISH_GREEN, GRID, ORANGE, REDDISH_PURPLE, SKY_BLUE, Size, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

translate = QCoreApplication.translate

_COLOURS = {"kept": SKY_BLUE, "rented": BLUE, "shared": ORANGE, "separate": REDDISH_PURPLE, "mixed": BLUISH_GREEN}


class MixResult(QWidget):
    """Choosing a line of the table shows its machines and jobs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_mix`."""
        super().__init__(parent)
        self._mix: MixRecommendation | None = None
        self.sentence = WrappingLabel(self)
        self.sentence.setFont(theme.font(Size.LARGE))
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.options = FigureTable(self.tr("Ways to serve all jobs"), self)
        self.options.itemSelectionChanged.connect(self._on_chosen)
        self.bars = RangeBars(self)
        self.bars.setAccessibleName(self.tr("Cost of each way over the years"))
        self.reason = WrappingLabel(self)
        self.machines = FigureTable(self.tr("Machines of the chosen way"), self)
        self.jobs = FigureTable(self.tr("Jobs on these machines"), self)
        self.notes = WrappingLabel(self)
        set_role(self.notes, "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        for part in (self.sentence, self.options, self.bars, self.reason, self.machines, self.jobs, self.notes):
            column.addWidget(part)
        column.addStretch(1)

    @property
    def mix(self) -> MixRecommendation | None:
        """What is shown."""
        return self._mix

    def show_mix(self, mix: MixRecommendation) -> None:
        """Replace everything; the recommended way is chosen."""
        self._mix = mix
        money = Money.of(mix.constraints.economics)
        self.sentence.setText(mix.sentence)
        titles, rows = option_rows(mix, money)
        self.options.show_rows(titles, rows, stretched=1)
        self.options.fit_height()
        self.bars.show_bars(_bars(mix), money.range)
        notes = [each.sentence for each in mix.sensitivity] + list(mix.assumptions)
        self.notes.setText("\n".join(f"• {note}" for note in notes))
        for part in (self.options, self.bars, self.machines, self.jobs):
            part.setVisible(bool(mix.options))
        if mix.options:
            self.options.selectRow(mix.recommended or 0)
        self._on_chosen()

    def _on_chosen(self) -> None:
        if self._mix is None:
            return
        rows = self.options.selectionModel().selectedRows()
        option = self._mix.options[rows[0].row()] if rows and self._mix.options else None
        if option is None:
            self.reason.setText("")
            return
        money = Money.of(self._mix.constraints.economics)
        self.reason.setText(option.reason)
        self.machines.show_rows(*machine_rows(option, money))
        self.machines.fit_height()
        self.jobs.show_rows(*job_rows(self._mix, option, money))
        self.jobs.fit_height()


def kind_name(kind: str) -> str:
    """What the person calls a kind of option."""
    return {
        "rented": translate("Mix", "rent each by the hour"),
        "kept": translate("Mix", "keep what is at hand"),
        "shared": translate("Mix", "share machines of one kind"),
        "separate": translate("Mix", "machines of their own"),
        "mixed": translate("Mix", "keep or buy for some, rent for others"),
    }.get(kind, kind)


def machine_name(machine: MixMachine) -> str:
    """`3 × (8 × H100)`, `CPU only`."""
    name = configuration_name(machine.gpu, machine.gpu_name, machine.count)
    return f"{machine.machines} × ({name})" if machine.machines and machine.machines > 1 else name


def option_rows(mix: MixRecommendation, money: Money) -> tuple[list[Text], list[list[Text]]]:
    """Titles and a row for each way: what, utilisation, cost over each span."""
    years = sorted({cost.years for option in mix.options for cost in option.costs})
    titles = [Text(translate("Mix", "Way")), Text(translate("Mix", "machines")), Text(translate("Mix", "in use"))]
    titles += [Text(years_text(each)) for each in years]
    rows = []
    for number, option in enumerate(mix.options):
        best = number == mix.recommended
        costs = {cost.years: cost.usd for cost in option.costs}
        row = [
            Text(kind_name(option.kind), option.reason, bold=best),
            Text(", ".join(dict.fromkeys(machine_name(machine) for machine in option.machines))),
            Text(_utilization(option)),
        ]
        for each in years:
            usd = costs.get(each)
            unknown = translate("Mix", "A price is not known.")
            row.append(Text(DASH, unknown) if usd is None else Text(money.range(usd), bold=best))
        rows.append(row)
    return titles, rows


def _utilization(option: MixOption) -> str:
    shares = [machine.utilization for machine in option.machines if machine.utilization is not None]
    return " / ".join(f"{share:.0%}" for share in shares) or DASH


def machine_rows(option: MixOption, money: Money) -> tuple[list[Text], list[list[Text]]]:
    """Titles and a row for each kind of machine."""
    titles = [
        Text(translate("Mix", "Machine")),
        Text(translate("Mix", "in use")),
        Text(translate("Mix", "in the last year")),
        Text(translate("Mix", "purchase")),
        Text(translate("Mix", "worth it below"), translate("Mix", "A purchase below this is cheaper than renting.")),
    ]
    rows = []
    for machine in option.machines:
        offer = machine.offer
        where = f"{offer.provider} {offer.instance_type}" if offer is not None else machine.system or ""
        rows.append(
            [
                Text(" · ".join(part for part in (machine_name(machine), where) if part)),
                _share(machine.utilization),
                _share(machine.utilization_last_year),
                _amount(machine.purchase_usd, money),
                _amount(machine.worth_below_usd, money),
            ]
        )
    return titles, rows


def job_rows(mix: MixRecommendation, option: MixOption, money: Money) -> tuple[list[Text], list[list[Text]]]:
    """Titles and a row for each job: where it runs, how long, what a run costs."""
    titles = [
        Text(translate("Mix", "Job")),
        Text(translate("Mix", "runs a month")),
        Text(translate("Mix", "on")),
        Text(translate("Mix", "a run")),
        Text(translate("Mix", "a month")),
        Text(translate("Mix", "cost of a run"), translate("Mix", "Of a rent; what is bought is paid once.")),
    ]
    placed = [(machine, job) for machine in option.machines for job in machine.jobs]
    rows = []
    for machine, placement in sorted(placed, key=lambda pair: pair[1].job):
        job = mix.jobs[placement.job]
        cost = placement.usd_per_run
        rows.append(
            [
                Text(job.name, job.work),
                Text(f"{job.runs_per_month:g}"),
                Text(configuration_name(machine.gpu, machine.gpu_name, machine.count)),
                _hours(placement, "hours_per_run"),
                _hours(placement, "hours_per_month"),
                Text(DASH) if cost is None else Text(money.range(cost)),
            ]
        )
    return titles, rows


def _hours(placement: JobOnMachine, field: str) -> Text:
    hours = getattr(placement, field)
    return Text(DASH) if hours is None else Text(format_duration_range(hours.scaled(3600)))


def _share(share: float | None) -> Text:
    return Text(DASH) if share is None else Text(f"{share:.0%}")


def _amount(usd: float | None, money: Money) -> Text:
    return Text(DASH) if usd is None else Text(money.amount(usd))


def _bars(mix: MixRecommendation) -> list[Bar]:
    years = sorted({cost.years for option in mix.options for cost in option.costs})
    return [
        Bar(years_text(each), kind_name(option.kind), cost.usd, _COLOURS.get(option.kind, BLUE))
        for each in years
        for option in _cheapest_of_each_kind(mix)
        for cost in option.costs
        if cost.years == each
    ]


def _cheapest_of_each_kind(mix: MixRecommendation) -> list[MixOption]:
    """The options are ordered, so that the first of a kind is its best."""
    first: dict[str, MixOption] = {}
    for option in mix.options:
        first.setdefault(option.kind, option)
    return list(first.values())
