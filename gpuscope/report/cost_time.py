"""The picture of the choice: what each candidate costs against how long it takes, with ranges as bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reportlab.graphics.shapes import Circle, Drawing, Group, Line, Rect
from reportlab.lib.colors import Color, HexColor

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate
from gpuscope.report.axes import Scale, plot_unit, span
from gpuscope.report.charts import LEFT, across_axis, label, legend, up_axis
from gpuscope.report.model import RankedCandidate
from gpuscope.report.styles import ACCENT, CONTENT_WIDTH, GREY, INK, SERIES_COLOURS, text_width
from gpuscope.report.text import Texts

HEIGHT = 240.0
_TOP, _BOTTOM = 22.0, 34.0
_ALTERNATE = SERIES_COLOURS[1]
_OTHER = HexColor("#93A0AC")
_MAX_NUMBERED_OTHERS = 12
"""With more, their numbers would cover each other; the table has them."""


@dataclass(frozen=True, slots=True)
class _Point:
    ranked: RankedCandidate
    time_s: Range
    usd: Range

    @property
    def colour(self) -> Color:
        return {"recommended": ACCENT, "alternate": _ALTERNATE}.get(self.ranked.role, _OTHER)


@dataclass(frozen=True, slots=True)
class _Axes:
    """What is drawn: of the whole work when its length is known, else of one step."""

    points: list[_Point]
    at_hand: list[_Point]
    title_key: str
    time_unit: str
    money_unit: str


def cost_time_plot(candidates: Sequence[RankedCandidate], texts: Texts) -> Drawing | None:
    """The plot; None when there are fewer than two candidates to compare.

    Purchase prices and rents are not the same kind of money: only the kind of the recommended candidate is drawn (rents
    when it is neither). What is at hand costs nothing more and is drawn as a band of time.
    """
    axes = _axes(candidates)
    if len(axes.points) < 2:
        return None
    drawing = Drawing(CONTENT_WIDTH, HEIGHT)
    times = [point.time_s for point in axes.points] + [band.time_s for band in axes.at_hand]
    x = span([time.low for time in times], [time.high for time in times], LEFT + 8, CONTENT_WIDTH - 8)
    y = span([p.usd.low for p in axes.points], [p.usd.high for p in axes.points], _BOTTOM, HEIGHT - _TOP)
    up_axis(drawing, y, plot_unit(axes.money_unit, y.high), 5)
    middle_s = sorted(time.mid for time in times)[len(times) // 2]
    across_axis(drawing, x, y.start, plot_unit(axes.time_unit, middle_s if x.logarithmic else x.high), 7)
    for band in axes.at_hand:
        _draw_at_hand(drawing, band, x, y, texts)
    others = sum(1 for point in axes.points if not point.ranked.role)
    order = {"": 0, "alternate": 1, "recommended": 2}
    for point in sorted(axes.points, key=lambda point: order.get(point.ranked.role, 0)):
        _draw(drawing, point, x, y, numbered=bool(point.ranked.role) or others <= _MAX_NUMBERED_OTHERS)
    drawing.add(label(0, HEIGHT - 9, texts(axes.title_key), bold=True))
    drawing.add(label(LEFT, 4, texts("plot.ranges"), colour=GREY))
    _legend(drawing, axes, texts)
    return drawing


def _legend(drawing: Drawing, axes: _Axes, texts: Texts) -> None:
    roles = {point.ranked.role for point in axes.points} | {band.ranked.role for band in axes.at_hand}
    entries = (("recommended", "role.recommended", ACCENT), ("alternate", "role.alternate", _ALTERNATE),
               ("", "plot.others", _OTHER))  # fmt: skip
    legend(drawing, [(texts(key), colour) for role, key, colour in entries if role in roles])


def _axes(candidates: Sequence[RankedCandidate]) -> _Axes:
    buying = any(ranked.role == "recommended" and ranked.candidate.acquisition == "buy" for ranked in candidates)
    kind = [ranked for ranked in candidates if (ranked.candidate.acquisition == "buy") == buying]
    whole = _points(kind, lambda candidate: (candidate.time_to_finish_s, candidate.cost_usd))
    if len(whole) >= 2:
        at_hand = _points(kind, lambda candidate: (candidate.time_to_finish_s, _nothing_more(candidate)))
        return _Axes(whole, at_hand, "plot.purchase_time" if buying else "plot.cost_time", "s", "usd")
    step = _points(kind, lambda candidate: (candidate.step_time_s, candidate.cost_usd_per_hour))
    at_hand = _points(kind, lambda candidate: (candidate.step_time_s, _nothing_more(candidate)))
    return _Axes(step, at_hand, "plot.rate_step", "s_per_step", "usd_per_hour")


def _nothing_more(candidate: Candidate) -> Range | None:
    return Range.exact(0.0) if candidate.acquisition == "keep" and candidate.cost_usd is None else None


def _points(
    candidates: Sequence[RankedCandidate], pick: Callable[[Candidate], tuple[Range | None, Range | None]]
) -> list[_Point]:
    points = []
    for ranked in candidates:
        time_s, usd = pick(ranked.candidate)
        if time_s is not None and usd is not None:
            points.append(_Point(ranked, time_s, usd))
    return points


def _draw_at_hand(drawing: Drawing, band: _Point, x: Scale, y: Scale, texts: Texts) -> None:
    left, middle, right = x(band.time_s.low), x(band.time_s.mid), x(band.time_s.high)
    tint = Rect(left, y.start, right - left, y.end - y.start, fillColor=band.colour, fillOpacity=0.12, strokeColor=None)
    drawing.add(tint)
    drawing.add(Line(middle, y.start, middle, y.end, strokeColor=band.colour, strokeWidth=1.3))
    text = texts("plot.at_hand", rank=band.ranked.rank)
    fits = middle + 5 + text_width(text, bold=True) < CONTENT_WIDTH
    drawing.add(label(middle + (5 if fits else -5), y.end - 8, text, bold=True, anchor="start" if fits else "end"))


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
