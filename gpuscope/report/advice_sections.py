"""The PDF's sections about the recommended configuration over the years and as a service, and about several jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportlab.platypus import Flowable, Spacer

from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, OwnershipCost, RentalCost
from gpuscope.domain.mix import MixMachine, MixOption, MixRecommendation
from gpuscope.domain.recommendation import Improvement
from gpuscope.domain.serving import Serving
from gpuscope.report.format import DASH, number, optional, spread
from gpuscope.report.styles import CONTENT_WIDTH, GREY, paragraph, style
from gpuscope.report.tables import Cell, grid, number_cell, text_cell
from gpuscope.report.text import Texts

_OWN = (
    ("own.purchase", "purchase_usd"),
    ("own.energy", "energy_usd"),
    ("own.hosting", "hosting_usd"),
    ("own.support", "support_usd"),
    ("own.staff", "staff_usd"),
    ("own.finance", "finance_usd"),
    ("own.tax", "tax_usd"),
    ("own.residual", "residual_usd"),
    ("own.total", "total_usd"),
)
_RENT = (("rent.on_demand", "on_demand_usd"), ("rent.reserved", "reserved_usd"), ("rent.spot", "spot_usd"))
_TOTAL = "own.total"
_LABEL_SHARE = 0.4


def over_years(costs: CostOverYears, texts: Texts) -> Iterator[Flowable]:
    """Owning by part and renting, a column for each span, and where the two meet."""
    years = sorted({cost.years for cost in costs.own} | {cost.years for cost in costs.rent})
    own = {cost.years: cost for cost in costs.own}
    rent = {cost.years: cost for cost in costs.rent}
    rows = [
        (key, [_amount(own.get(each), field, minus=key == "own.residual") for each in years]) for key, field in _OWN
    ]
    rows += [(key, [_amount(rent.get(each), field) for each in years]) for key, field in _RENT]
    rows.append(("rent.hours", [f"{rent[each].hours:,.0f} h" if each in rent else DASH for each in years]))
    known = [(key, cells) for key, cells in rows if any(cell != DASH for cell in cells)]
    bold = {_TOTAL, *(key for key, _ in _RENT)}
    yield _figures_grid(
        ["", *(years_text(each, texts) for each in years)],
        [[text_cell(texts(key), bold=key in bold), *map(number_cell, cells)] for key, cells in known],
    )
    for sentence in _meeting(costs, texts):
        yield paragraph(sentence, style(before=4))


def years_text(years: int, texts: Texts) -> str:
    """`1 year`, `3 years`."""
    return texts("years.one") if years == 1 else texts("years.many", count=years)


def _meeting(costs: CostOverYears, texts: Texts) -> Iterator[str]:
    if costs.break_even_utilization is not None:
        against = texts("own.against", rent=costs.compared_rent) if costs.compared_rent else ""
        yield texts("own.break_even", share=f"{costs.break_even_utilization:.0%}", against=against)
    if costs.worth_below_usd is not None:
        yield texts("own.worth_below", amount=number(costs.worth_below_usd, "usd"))


def _amount(cost: OwnershipCost | RentalCost | None, field: str, *, minus: bool = False) -> str:
    value = None if cost is None else getattr(cost, field)
    if value is None:
        return DASH
    text = spread(value, "usd") if isinstance(value, Range) else number(value, "usd")
    return f"-{text}" if minus and value else text


def _figures_grid(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Flowable:
    figures = len(headings) - 1
    widths = [CONTENT_WIDTH * _LABEL_SHARE, *[CONTENT_WIDTH * (1 - _LABEL_SHARE) / figures] * figures]
    return grid(headings, rows, widths, right=range(1, len(headings)))


def service(serving: Serving, texts: Texts) -> Iterator[Flowable]:
    """Latencies, throughput, copies; what was asked for stands under Requirement."""
    weights = None if serving.weights_bytes is None else number(serving.weights_bytes, "bytes")
    cache = None if serving.cache_bytes_per_token is None else number(serving.cache_bytes_per_token, "bytes")
    rows = (
        ("service.copies", str(serving.replicas)),
        ("service.first_token", optional(serving.time_to_first_token_s, "s")),
        ("service.inter_token", optional(serving.inter_token_latency_s, "s")),
        ("service.latency", optional(serving.latency_s, "s")),
        ("service.requests", optional(serving.requests_per_second, "count").removesuffix(" count")),
        ("service.tokens", optional(serving.tokens_per_second, "count").removesuffix(" count")),
        ("service.concurrent", _whole(serving.concurrent_per_replica)),
        ("service.weights", " ".join(part for part in (weights, serving.weight_dtype) if part) or DASH),
        ("service.cache", cache or DASH),
        ("service.copy_hours", _whole(serving.replica_hours_per_day)),
    )
    known = [[text_cell(texts(key)), number_cell(value)] for key, value in rows if value != DASH]
    yield _figures_grid(["", texts("service.predicted")], known)
    if serving.gpu_share is not None and serving.gpu_share < 1:
        yield paragraph(texts("service.share", share=f"{serving.gpu_share:.0%}"), style(before=4))
    if serving.replicas_by_hour:
        counts = " ".join(map(str, serving.replicas_by_hour))
        yield paragraph(texts("service.by_hour", counts=counts), style(before=4))
    if serving.autoscaling_saving_share is not None:
        share = f"{serving.autoscaling_saving_share:.0%}"
        yield paragraph(texts("service.saving", share=share), style(before=4))


def _whole(value: float | None) -> str:
    return DASH if value is None else number(round(value, 1), "count")


def surer(improvements: Sequence[Improvement], texts: Texts) -> Flowable:
    """What to measure or to ask for, and what that does to the range."""
    rows = [[text_cell(each.sentence or each.action), text_cell(_effect(each, texts))] for each in improvements]
    widths = [CONTENT_WIDTH * 0.6, CONTENT_WIDTH * 0.4]
    return grid([texts("column.action"), texts("column.effect")], rows, widths)


def _effect(improvement: Improvement, texts: Texts) -> str:
    now, then = improvement.width_now, improvement.width_then
    if now is None or then is None:
        return improvement.input
    return texts("surer.effect", what=improvement.input, now=f"{now:.2f}", then=f"{then:.2f}")


def several_jobs(mix: MixRecommendation, texts: Texts) -> Iterator[Flowable]:
    """The ways to serve all jobs with their cost, and where each job runs in the recommended one."""
    yield paragraph(mix.sentence, style(bold=True))
    years = sorted({cost.years for option in mix.options for cost in option.costs})
    headings = [texts("jobs.way"), texts("jobs.machines"), texts("jobs.in_use")]
    rows = [
        _option_row(option, years, texts, best=index == mix.recommended) for index, option in enumerate(mix.options)
    ]
    if rows:
        widths = [CONTENT_WIDTH * share for share in (0.2, 0.3, 0.1)]
        widths += [CONTENT_WIDTH * 0.4 / max(len(years), 1)] * len(years)
        columns = [*headings, *(years_text(each, texts) for each in years)]
        yield Spacer(1, 4)
        yield grid(columns, rows, widths, right=range(2, len(columns)))
    if mix.recommended is not None:
        yield from _jobs_of(mix, mix.options[mix.recommended], texts)
    if mix.growth_per_year:
        yield paragraph(texts("jobs.growth", share=f"{mix.growth_per_year:.0%}"), style(before=4))
    for note in (*(each.sentence for each in mix.sensitivity), *mix.assumptions):
        yield paragraph(note, style(colour=GREY, before=2))


def _option_row(option: MixOption, years: Sequence[int], texts: Texts, *, best: bool) -> list[Cell]:
    costs = {cost.years: cost.usd for cost in option.costs}
    shares = [machine.utilization for machine in option.machines if machine.utilization is not None]
    names = dict.fromkeys(_machine_name(machine, texts) for machine in option.machines)
    return [
        text_cell(texts.or_else(f"jobs.{option.kind}", option.kind), bold=best),
        text_cell(", ".join(names)),
        number_cell(" / ".join(f"{share:.0%}" for share in shares) or DASH),
        *(number_cell(optional(costs.get(each), "usd")) for each in years),
    ]


def _machine_name(machine: MixMachine, texts: Texts) -> str:
    if machine.gpu is None:
        return texts("candidate.cpu_only")
    name = texts("candidate.name", count=machine.count, gpu=machine.gpu_name or machine.gpu)
    return f"{machine.machines} × ({name})" if machine.machines and machine.machines > 1 else name


def _jobs_of(mix: MixRecommendation, option: MixOption, texts: Texts) -> Iterator[Flowable]:
    placed = sorted(
        ((job, machine) for machine in option.machines for job in machine.jobs), key=lambda pair: pair[0].job
    )
    rows = [
        [
            text_cell(mix.jobs[job.job].name),
            number_cell(f"{mix.jobs[job.job].runs_per_month:g}"),
            text_cell(_machine_name(machine, texts)),
            number_cell(optional(None if job.hours_per_run is None else job.hours_per_run.scaled(3600), "s")),
            number_cell(optional(job.usd_per_run, "usd")),
        ]
        for job, machine in placed
    ]
    headings = [texts(key) for key in ("jobs.job", "jobs.runs", "jobs.on", "jobs.run", "jobs.cost")]
    yield Spacer(1, 6)
    yield grid(headings, rows, [CONTENT_WIDTH * share for share in (0.3, 0.12, 0.28, 0.14, 0.16)], right=(1, 3, 4))
    if option.reason:
        yield paragraph(option.reason, style(before=4))
