"""Vector pictures of the report, drawn with reportlab.graphics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from reportlab.graphics.shapes import Circle, Drawing, Line, Path, PolyLine, Rect, String
from reportlab.lib.colors import Color

from gpuscope.domain.units import format_duration
from gpuscope.report.axes import Scale, Unit, plot_unit, round_up, tick_text
from gpuscope.report.format import figure_text, number
from gpuscope.report.model import Figure, Phase, Plot, PlotLine
from gpuscope.report.styles import (
    BODY_SIZE,
    BOLD,
    CONTENT_WIDTH,
    GREY,
    GRID,
    INK,
    PANEL,
    REGULAR,
    RULE,
    SERIES_COLOURS,
    printable,
    register_fonts,
    text_width,
)
from gpuscope.report.text import Texts

LEFT = 40.0
"""Room for the labels of the value axis, points."""
TIME_PLOT_HEIGHT = 96.0
_TOP, _BOTTOM = 16.0, 22.0

OUTLIER_FACTOR = 4.0
"""A highest value above this multiple of the 95th percentile (a first step that compiles) would flatten all others."""


def label(x: float, y: float, text: str, *, colour: Color = INK, bold: bool = False, anchor: str = "start") -> String:
    """Text in a picture."""
    register_fonts()
    return String(
        x, y, printable(text), fontName=BOLD if bold else REGULAR, fontSize=BODY_SIZE, fillColor=colour,
        textAnchor=anchor,
    )  # fmt: skip


def time_plot(plot: Plot, phases: Sequence[Phase], texts: Texts) -> Drawing:
    """One plot over session time: mean as a line, lowest to highest as a tint, gaps as gaps."""
    drawing = Drawing(CONTENT_WIDTH, TIME_PLOT_HEIGHT)
    top, outlier = _value_axis_end(plot)
    unit = plot_unit(plot.unit, top)
    end_s = max([line.t_s[-1] for line in plot.lines] + [phase.end_s for phase in phases])
    x = Scale(0.0, max(end_s, 1e-3), LEFT, CONTENT_WIDTH)
    y = Scale(0.0, top, _BOTTOM, TIME_PLOT_HEIGHT - _TOP)
    _phases(drawing, phases, x, y, texts)
    up_axis(drawing, y, unit, 3)
    across_axis(drawing, x, y.start, plot_unit("s", x.high), 8)
    for line, colour in zip(plot.lines, SERIES_COLOURS, strict=False):
        _draw_line(drawing, line, x, y, colour)
    title = f"{texts(plot.key)}, {unit.label}"
    if outlier is not None:
        title += " " + texts("plot.outlier", value=number(outlier, plot.unit))
    drawing.add(label(0, TIME_PLOT_HEIGHT - 9, title, bold=True))
    legend(
        drawing, [(line.label, colour) for line, colour in zip(plot.lines, SERIES_COLOURS, strict=False) if line.label]
    )
    return drawing


def legend(drawing: Drawing, entries: Sequence[tuple[str, Color]]) -> None:
    """Swatches with names, on the right of the title's line."""
    x = CONTENT_WIDTH
    for name, colour in reversed(entries):
        x -= text_width(name)
        drawing.add(label(x, drawing.height - 9, name, colour=GREY))
        x -= 11
        drawing.add(Rect(x, drawing.height - 8.5, 7, 5, fillColor=colour, strokeColor=None))
        x -= 9


def _value_axis_end(plot: Plot) -> tuple[float, float | None]:
    """Where the value axis ends, and the highest value when it lies above."""
    if plot.maximum is not None:
        return plot.maximum, None
    highs = sorted(value for line in plot.lines for value in line.high if value is not None)
    typical = highs[int(0.95 * (len(highs) - 1))]
    if highs[-1] > OUTLIER_FACTOR * typical > 0:
        return round_up(2 * typical), highs[-1]
    return round_up(highs[-1] * 1.02), None


def _phases(drawing: Drawing, phases: Sequence[Phase], x: Scale, y: Scale, texts: Texts) -> None:
    for phase in phases:
        if phase.key == "phase.steps":
            continue
        left, right = x(phase.start_s), x(phase.end_s)
        drawing.add(Rect(left, y.start, right - left, y.end - y.start, fillColor=PANEL, strokeColor=None))
        name = texts(phase.key)
        if right - left > text_width(name) + 8:
            drawing.add(label((left + right) / 2, y.end - 9, name, colour=GREY, anchor="middle"))


def up_axis(drawing: Drawing, y: Scale, unit: Unit, about: int) -> None:
    """Lines across with their values on the left."""
    scaled = Scale(y.low / unit.size, y.high / unit.size, y.start, y.end, y.logarithmic)
    for value in scaled.ticks(about):
        height = scaled(value)
        drawing.add(Line(LEFT, height, CONTENT_WIDTH, height, strokeColor=GRID, strokeWidth=0.5))
        drawing.add(label(LEFT - 5, height - 2.6, tick_text(value), colour=GREY, anchor="end"))


def across_axis(drawing: Drawing, x: Scale, height: float, unit: Unit, about: int) -> None:
    """The time axis at the bottom, with the unit at each tick; labels that would touch are left out."""
    scaled = Scale(x.low / unit.size, x.high / unit.size, x.start, x.end, x.logarithmic)
    drawing.add(Line(LEFT, height, CONTENT_WIDTH, height, strokeColor=RULE, strokeWidth=0.6))
    free_from = 0.0
    for value in scaled.ticks(about):
        position = scaled(value)
        # Over several powers of ten one unit gives unreadable numbers: each tick has its own.
        text = format_duration(value * unit.size) if x.logarithmic else tick_text(value, unit.label)
        half = text_width(text) / 2
        middle = min(position, CONTENT_WIDTH - half)
        drawing.add(Line(position, height, position, height - 2.5, strokeColor=RULE, strokeWidth=0.6))
        if middle - half >= free_from:
            drawing.add(label(middle, height - 11, text, colour=GREY, anchor="middle"))
            free_from = middle + half + 5


def _draw_line(drawing: Drawing, line: PlotLine, x: Scale, y: Scale, colour: Color) -> None:
    for rows in _stretches(line):
        points = [(x(t), y(mean)) for t, _, mean, _ in rows]
        if len(points) == 1:
            drawing.add(Circle(*points[0], 0.9, fillColor=colour, strokeColor=None))
            continue
        if any(high > low for _, low, _, high in rows):
            _envelope(drawing, rows, x, y, colour)
        flat = [value for point in points for value in point]
        drawing.add(PolyLine(flat, strokeColor=colour, strokeWidth=0.8, strokeLineJoin=1))


def _envelope(
    drawing: Drawing, rows: list[tuple[float, float, float, float]], x: Scale, y: Scale, colour: Color
) -> None:
    path = Path(fillColor=colour, fillOpacity=0.22, strokeColor=None)
    path.moveTo(x(rows[0][0]), y(rows[0][3]))
    for t, _, _, high in rows[1:]:
        path.lineTo(x(t), y(high))
    for t, low, _, _ in reversed(rows):
        path.lineTo(x(t), y(low))
    path.closePath()
    drawing.add(path)


def _stretches(line: PlotLine) -> Iterator[list[tuple[float, float, float, float]]]:
    """The parts of a line between its gaps."""
    rows: list[tuple[float, float, float, float]] = []
    for t, low, mean, high in zip(line.t_s, line.low, line.mean, line.high, strict=True):
        if low is None or mean is None or high is None:
            if rows:
                yield rows
            rows = []
        else:
            rows.append((t, low, mean, high))
    if rows:
        yield rows


def breakdown_bar(parts: Sequence[Figure], texts: Texts) -> Drawing:
    """One bar cut into the parts of memory, with a legend of names and figures below."""
    values = [float(part.value) for part in parts if isinstance(part.value, (int, float))]
    total = sum(values)
    columns = 3
    rows = (len(parts) + columns - 1) // columns
    drawing = Drawing(CONTENT_WIDTH, 18 + 12 * rows)
    edges = [0.0]
    for value in values:
        edges.append(edges[-1] + value / total * CONTENT_WIDTH if total else 0.0)
    colours = [SERIES_COLOURS[index] if index < len(SERIES_COLOURS) else GREY for index in range(len(parts))]
    for (left, right), colour in zip(pairwise(edges), colours, strict=True):
        drawing.add(Rect(left, drawing.height - 13, right - left, 12, fillColor=colour, strokeColor=None))
    for index, (part, colour) in enumerate(zip(parts, colours, strict=True)):
        row, column = divmod(index, columns)
        x, y = column * CONTENT_WIDTH / columns, drawing.height - 26 - 12 * row
        drawing.add(Rect(x, y, 7, 5, fillColor=colour, strokeColor=None))
        drawing.add(label(x + 11, y - 0.3, texts(part.key), colour=GREY))
        drawing.add(label(x + CONTENT_WIDTH / columns - 16, y - 0.3, figure_text(part), anchor="end"))
    return drawing
