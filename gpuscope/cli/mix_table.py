"""The table of the ways to serve several jobs."""

from __future__ import annotations

from gpuscope.cli.tables import UNKNOWN, cut, table
from gpuscope.domain.mix import MixMachine, MixOption, MixRecommendation
from gpuscope.domain.money import format_amount, format_amount_range

MIX_MARKS = "> recommended   * alternate   busy: share of all hours in the first year"
_MACHINE_WIDTH = 38


def mix_table(mix: MixRecommendation, shown: int | None) -> str:
    """The options, best first, with the marks of `MIX_MARKS`: a line for each kind of machine."""
    rows = []
    for number, option in enumerate(mix.options[:shown]):
        mark = ">" if number == mix.recommended else "*" if number in mix.alternates else ""
        for line, machine in enumerate(option.machines):
            rows.append([mark if line == 0 else "", *_cells(mix, option, machine, first=line == 0)])
    years = mix.options[0].costs[-1].years
    headings = ["", "machines", "how", "jobs", "busy", "to pay", f"{years} years"]
    return table(headings, rows, right=(4, 5, 6))


def _cells(mix: MixRecommendation, option: MixOption, machine: MixMachine, *, first: bool) -> list[str]:
    economics = mix.constraints.economics
    name = f"{machine.count} × {machine.gpu_name}" if machine.count else machine.cpu or "CPU"
    times = f"{machine.machines} of " if machine.machines and machine.machines > 1 else ""
    cost = option.costs[-1].usd
    total = UNKNOWN if cost is None else format_amount_range(cost, economics)
    return [
        cut(times + name, _MACHINE_WIDTH),
        machine.acquisition if machine.offer is None else cut(f"rent {machine.offer.provider}", 14),
        cut(", ".join(mix.jobs[each.job].name for each in machine.jobs), 16),
        "" if machine.utilization is None else f"{machine.utilization:.0%}",
        "" if machine.purchase_usd is None else format_amount(machine.purchase_usd, economics),
        total if first else "",
    ]
