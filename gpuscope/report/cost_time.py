"""The picture of the choice: what each candidate costs against how long it takes, with ranges as bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reportlab.graphics.shapes import Circle, Drawing, Group, Line, Rect
from reportlab.lib.colors import Color

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate
from gpuscope.report.axes import Scale, plot_unit, span
from gpuscope.report.charts import LEFT, across_axis, label, legend, up_axis
from gpuscope.report.model import RankedCandidate
from gpuscope.report.styles import ACCENT, CONTENT_WIDTH, GREY, INK, SERIES_COLOURS
from gpuscope.report.text import Texts

HEIGHT = 240.0
_TOP, _BOTTOM = 22.0, 34.0
_ALTERNATE = SERIES_COLOURS[1]
_MAX_NUMBERED_OTHERS = 12
"""With more, their numbers would cover each other; the table has them."""


@dataclass(frozen=True, slots=True)
class _Point:
    ranked: RankedCandidate
    time_s: Range
    usd: Range

    @property
    def colour(self) -> Color:
        return {"recommended": ACCENT, "alternate": _ALTERNATE}.get(self.ranked.role, GREY)


@dataclass(frozen=True, slots=True)
class _Axes:
    """What is drawn: of the whole work when its length is known, else of one step."""

    points: list[_Point]
    title_key: str
    time_unit: str
    money_unit: str


def cost_time_plot(candidates: Sequence[RankedCandidate], texts: Texts) -> Drawing | None:
    """The plot; None when fewer than two candidates have both figures.

    Rented candidates are circles, bought ones squares (their price is that of the GPUs, not of the work).
    """
    axes = _axes(candidates)
    if len(axes.points) < 2:
        return None
    drawing = Drawing(CONTENT_WIDTH, HEIGHT)
    x = span([p.time_s.low for p in axes.points], [p.time_s.high for p in axes.points], LEFT + 8, CONTENT_WIDTH - 8)
    y = span([p.usd.low for p in axes.points], [p.usd.high for p in axes.points], _BOTTOM, HEIGHT - _TOP)
    up_axis(drawing, y, plot_unit(axes.money_unit, y.high), 5)
    across_axis(drawing, x, y.start, plot_unit(axes.time_unit, x.high), 7)
    drawing.add(label(LEFT, 4, texts("plot.ranges"), colour=GREY))
    others = sum(1 for point in axes.points if not point.ranked.role)
    order = {"": 0, "alternate": 1, "recommended": 2}
    for point in sorted(axes.points, key=lambda point: order.get(point.ranked.role, 0)):
        _draw(drawing, point, x, y, numbered=bool(point.ranked.role) or others <= _MAX_NUMBERED_OTHERS)
    drawing.add(label(0, HEIGHT - 9, texts(axes.title_key), bold=True))
    roles = {point.ranked.role for point in axes.points}
    entries = (("recommended", "role.recommended", ACCENT), ("alternate", "role.alternate", _ALTERNATE),
               ("", "plot.others", GREY))  # fmt: skip
    legend(drawing, [(texts(key), colour) for role, key, colour in entries if role in roles])
    return drawing


def _axes(candidates: Sequence[RankedCandidate]) -> _Axes:
    whole = _points(candidates, lambda candidate: (candidate.time_to_finish_s, candidate.cost_usd))
    if len(whole) >= 2:
        return _Axes(whole, "plot.cost_time", "s", "usd")
    step = _points(candidates, lambda candidate: (candidate.step_time_s, candidate.cost_usd_per_hour))
    return _Axes(step, "plot.rate_step", "s_per_step", "usd_per_hour")


def _points(
    candidates: Sequence[RankedCandidate], pick: Callable[[Candidate], tuple[Range | None, Range | None]]
) -> list[_Point]:
    points = []
    for ranked in candidates:
        time_s, usd = pick(ranked.candidate)
        if time_s is not None and usd is not None:
            points.append(_Point(ranked, time_s, usd))
    return points


def _draw(drawing: Drawing, point: _Point, x: Scale, y: Scale, *, numbered: bool) -> None:
    across, up = x(point.time_s.mid), y(point.usd.mid)
    width = 1.3 if point.ranked.role else 0.6
    bars = Group(
        Line(x(point.time_s.low), up, x(point.time_s.high), up, strokeColor=point.colour, strokeWidth=width),
        Line(across, y(point.usd.low), across, y(point.usd.high), strokeColor=point.colour, strokeWidth=width),
    )
    drawing.add(bars)
    size = 3.2 if point.ranked.role else 2.2
    if point.ranked.candidate.acquisition == "buy":
        mark = Rect(across - size, up - size, 2 * size, 2 * size, fillColor=point.colour, strokeColor=None)
    else:
        mark = Circle(across, up, size, fillColor=point.colour, strokeColor=None)
    drawing.add(mark)
    if numbered:
        text = f"{point.ranked.rank}"
        drawing.add(label(across + size + 2, up + size, text, bold=bool(point.ranked.role), colour=INK))
