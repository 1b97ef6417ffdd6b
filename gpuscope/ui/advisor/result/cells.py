"""What the ranked table says of a candidate, column by column: figure, unit, range, and why a figure is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate
from gpuscope.domain.units import GIB, format_bytes, format_duration_range, join_range
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.figures import DASH

translate = QCoreApplication.translate

DOLLARS = Money()
_CONFIDENCE_ORDER = {"measured": 0.0, "calibrated": 1.0, "specification": 2.0}


class Column(IntEnum):
    """The table's columns, left to right."""

    CONFIGURATION = 0
    FIT = 1
    STEP_TIME = 2
    TIME = 3
    COST = 4
    COST_PER_HOUR = 5
    ENERGY = 6
    FIRST_TOKEN = 7
    NEXT_TOKEN = 8
    REQUESTS = 9
    CONFIDENCE = 10


SERVICE_COLUMNS = (Column.FIRST_TOKEN, Column.NEXT_TOKEN, Column.REQUESTS)
"""Only of a service."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure as it is shown."""

    text: str
    unit: str = ""
    """Shown small and grey after the text."""
    note: str = ""
    """A second, grey line."""
    range: Range | None = None
    limit: float | None = None
    """The end of the scale when the figure has one of its own (a card's memory)."""
    sort_key: float | str | None = None
    """None sorts last, upwards and downwards."""
    tooltip: str = ""

    @property
    def plain(self) -> str:
        """Text and unit, for copying."""
        return f"{self.text} {self.unit}".strip() if self.text != DASH else ""


def header(column: Column) -> tuple[str, str]:
    """A column's title, and what it means."""
    return {
        Column.CONFIGURATION: (
            translate("Advisor", "GPU × n"),
            translate(
                "Advisor",
                "The kind and the number of GPUs, and where they are to be had. ◆: no other is better in time, cost "
                "and energy together.",
            ),
        ),
        Column.FIT: (
            translate("Advisor", "Memory"),
            translate("Advisor", "What the job needs on each GPU, against what the GPU has."),
        ),
        Column.STEP_TIME: (translate("Advisor", "Step"), translate("Advisor", "Predicted time of one step.")),
        Column.TIME: (translate("Advisor", "Time"), translate("Advisor", "Predicted time for the whole work.")),
        Column.COST: (
            translate("Advisor", "Cost"),
            translate(
                "Advisor", "Renting: the whole work. Buying: the purchase price, with the machine around the GPUs."
            ),
        ),
        Column.COST_PER_HOUR: (translate("Advisor", "Per hour"), translate("Advisor", "Price of one hour, all GPUs.")),
        Column.ENERGY: (
            translate("Advisor", "Energy"),
            translate("Advisor", "Predicted energy for the whole work, all GPUs."),
        ),
        Column.FIRST_TOKEN: (
            translate("Advisor", "1st token"),
            translate("Advisor", "Predicted time from a request to its first token (TTFT)."),
        ),
        Column.NEXT_TOKEN: (
            translate("Advisor", "Next token"),
            translate("Advisor", "Predicted time between two tokens of an answer."),
        ),
        Column.REQUESTS: (
            translate("Advisor", "Requests/s"),
            translate("Advisor", "Predicted requests a second, all copies together."),
        ),
        Column.CONFIDENCE: (
            translate("Advisor", "Basis"),
            translate("Advisor", "What the prediction rests on: a measurement, a calibration or the specification."),
        ),
    }[column]


def cell(candidate: Candidate, column: Column, money: Money = DOLLARS) -> Cell:
    """The cell of a candidate in a column; amounts are in the currency of `money`."""
    amounts = _AMOUNTS.get(column)
    return _CELLS[column](candidate) if amounts is None else amounts(candidate, money)


def configuration_name(gpu: str | None, gpu_name: str | None, count: int) -> str:
    """`2 × L40S`; without a GPU, `CPU only`."""
    if gpu is None and gpu_name is None:
        return translate("Advisor", "CPU only")
    return f"{count} × {gpu_name or gpu}"


def place(candidate: Candidate) -> str:
    """Where it is to be had: `aws · g6e.12xlarge · us-east-1`, or that it is bought, or at hand."""
    if candidate.offer is not None:
        parts = (candidate.offer.provider, candidate.offer.instance_type, candidate.offer.region)
        return " · ".join(part for part in parts if part)
    if candidate.acquisition == "keep":
        return translate("Advisor", "this machine")
    if candidate.acquisition == "buy":
        return candidate.system or translate("Advisor", "bought")
    return translate("Advisor", "rented, needs a quote")


def _configuration(candidate: Candidate) -> Cell:
    name = configuration_name(candidate.gpu, candidate.gpu_name, candidate.count)
    note = place(candidate)
    front = (
        translate("Advisor", "Nothing else is better in time, cost and energy together.") if candidate.pareto else ""
    )
    tooltip = "\n".join(line for line in (name, note, _details(candidate), candidate.reason, front) if line)
    return Cell(text=f"{name} ◆" if candidate.pareto else name, note=note, sort_key=name.lower(), tooltip=tooltip)


def _details(candidate: Candidate) -> str:
    """Precision, layout and links, as far as they say anything."""
    layout = candidate.layout
    degrees = (
        (translate("Advisor", "data"), layout.data_parallel),
        (translate("Advisor", "tensor"), layout.tensor_parallel),
        (translate("Advisor", "pipeline"), layout.pipeline_parallel),
        (translate("Advisor", "context"), layout.context_parallel),
        (translate("Advisor", "expert"), layout.expert_parallel),
    )
    parts = [candidate.precision or "", *(f"{name} {degree}" for name, degree in degrees if degree > 1)]
    parts += [f"ZeRO {layout.zero_stage}"] if layout.zero_stage else []
    parts += [translate("Advisor", "activation checkpointing")] if layout.activation_checkpointing else []
    return " · ".join(part for part in (*parts, candidate.interconnect, candidate.network) if part)


def _fit(candidate: Candidate) -> Cell:
    needed, available = candidate.memory.needed_bytes, candidate.memory.available_bytes
    if needed is None or available is None:
        why = translate("Advisor", "How much memory the job needs, or the GPU has, is not known.")
        return Cell(text=DASH, tooltip=why)
    tooltip = translate("Advisor", "Needs {low} to {high} of {available} on each GPU ({vendor} GB).").format(
        low=format_bytes(needed.low),
        high=format_bytes(needed.high),
        available=format_bytes(available),
        vendor=f"{available / 1e9:.1f}",
    )
    if candidate.fits is False:
        tooltip = translate("Advisor", "Does not fit.") + " " + tooltip
    text = f"{_gib(needed.mid)} / {_gib(available)}"
    return Cell(text, "GiB", range=needed, limit=float(available), sort_key=needed.mid / available, tooltip=tooltip)


def _gib(value_bytes: float) -> str:
    gib = value_bytes / GIB
    return f"{gib:.0f}" if gib >= 10 else f"{gib:.1f}"


def _step_time(candidate: Candidate) -> Cell:
    why = translate("Advisor", "No time of a step is known to predict from: measure a run of at least a few steps.")
    return _range_cell(candidate.step_time_s, format_duration_range, why)


def _time(candidate: Candidate) -> Cell:
    if candidate.step_time_s is None:
        why = translate("Advisor", "Without a predicted step time there is no time for the whole work.")
    else:
        why = translate("Advisor", "Give the total steps, samples or epochs to see how long the whole work takes.")
    return _range_cell(candidate.time_to_finish_s, format_duration_range, why)


def _cost(candidate: Candidate, money: Money) -> Cell:
    if candidate.cost_usd_per_hour is None and candidate.acquisition != "rent":
        why = translate("Advisor", "No price is known: ask for a quote.")
    else:
        why = translate("Advisor", "The cost follows from the time of the whole work, which is not known.")
    return _amount_cell(candidate.cost_usd, money, why, _price_note(candidate))


def _cost_per_hour(candidate: Candidate, money: Money) -> Cell:
    if candidate.acquisition == "rent":
        why = translate("Advisor", "No price is known: ask for a quote.")
    else:
        why = translate("Advisor", "Only what is rented is paid by the hour.")
    return _amount_cell(candidate.cost_usd_per_hour, money, why, _price_note(candidate))


def _price_note(candidate: Candidate) -> str:
    if candidate.offer is None:
        kind = candidate.price_kind
        return translate("Advisor", "It is a {kind}.").format(kind=kind) if kind else ""
    note = translate("Advisor", "Price of {date}.").format(
        date=candidate.offer.price_date or translate("Advisor", "unknown date")
    )
    return note + (" " + translate("Advisor", "It may be out of date.") if candidate.offer.stale else "")


def _energy(candidate: Candidate) -> Cell:
    why = translate("Advisor", "Energy needs the time of the whole work and the power of the GPU.")
    return _range_cell(candidate.energy_kwh, _format_kwh, why)


def _first_token(candidate: Candidate) -> Cell:
    value = None if candidate.serving is None else candidate.serving.time_to_first_token_s
    return _range_cell(value, format_duration_range, _no_service())


def _next_token(candidate: Candidate) -> Cell:
    value = None if candidate.serving is None else candidate.serving.inter_token_latency_s
    return _range_cell(value, format_duration_range, _no_service())


def _requests(candidate: Candidate) -> Cell:
    value = None if candidate.serving is None else candidate.serving.requests_per_second
    return _range_cell(value, _format_requests, _no_service())


def _no_service() -> str:
    return translate("Advisor", "Nothing is known of this configuration as a service.")


def _format_requests(value: Range) -> str:
    digits = 0 if value.mid >= 100 else 1 if value.mid >= 10 else 2
    return join_range(f"{value.low:,.{digits}f} /s", f"{value.high:,.{digits}f} /s")


def _format_kwh(value: Range) -> str:
    digits = 0 if value.mid >= 10 else 1 if value.mid >= 1 else 2
    low, high = f"{value.low:,.{digits}f}", f"{value.high:,.{digits}f}"
    return f"{low} kWh" if low == high else f"{low}–{high} kWh"


def _confidence(candidate: Candidate) -> Cell:
    word, meaning = {
        "measured": (
            translate("Advisor", "measured"),
            translate("Advisor", "The job itself was measured on this GPU."),
        ),
        "calibrated": (
            translate("Advisor", "calibrated"),
            translate("Advisor", "Predicted with rates that were measured on this kind of GPU."),
        ),
        "specification": (
            translate("Advisor", "specified"),
            translate("Advisor", "Predicted from the vendor's specification only: the ranges are wide."),
        ),
    }.get(candidate.confidence, (candidate.confidence, ""))
    return Cell(text=word, sort_key=_CONFIDENCE_ORDER.get(candidate.confidence), tooltip=meaning)


def _range_cell(value: Range | None, form: Callable[[Range], str], why_missing: str, tooltip: str = "") -> Cell:
    if value is None:
        return Cell(text=DASH, tooltip=why_missing)
    text, _, unit = form(value).partition(" ")
    middle = form(Range.exact(value.mid))
    spread = translate("Advisor", "Most likely {middle}; 9 times in 10 within {range}.").format(
        middle=middle, range=form(value)
    )
    exact = value.low == value.high
    return Cell(
        text,
        unit,
        range=value,
        sort_key=value.mid,
        tooltip=" ".join(part for part in ("" if exact else spread, tooltip) if part),
    )


def _amount_cell(value: Range | None, money: Money, why_missing: str, tooltip: str) -> Cell:
    """A currency stands before its figure: there is no unit behind it."""
    found = _range_cell(value, money.range, why_missing, tooltip)
    return found if value is None else replace(found, text=money.range(value), unit="")


_CELLS: dict[Column, Callable[[Candidate], Cell]] = {
    Column.CONFIGURATION: _configuration,
    Column.FIT: _fit,
    Column.STEP_TIME: _step_time,
    Column.TIME: _time,
    Column.ENERGY: _energy,
    Column.FIRST_TOKEN: _first_token,
    Column.NEXT_TOKEN: _next_token,
    Column.REQUESTS: _requests,
    Column.CONFIDENCE: _confidence,
}
_AMOUNTS: dict[Column, Callable[[Candidate, Money], Cell]] = {
    Column.COST: _cost,
    Column.COST_PER_HOUR: _cost_per_hour,
}
