"""Tables of the PDF: thin rules, repeated headings, numbers on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from reportlab.lib.colors import Color
from reportlab.platypus import Flowable, Paragraph, Table, TableStyle

from gpuscope.report.format import DASH, figure_text
from gpuscope.report.model import Figure
from gpuscope.report.styles import CONTENT_WIDTH, GREY, INK, PANEL, RULE, paragraph, style
from gpuscope.report.text import Texts

Cell: TypeAlias = "Paragraph | list[Paragraph]"

GUTTER = 18.0
_LABEL_SHARE = 0.44


def grid(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    widths: Sequence[float],
    *,
    right: Sequence[int] = (),
    shaded: Sequence[int] = (),
    joined: Sequence[int] = (),
    wide: Sequence[int] = (),
) -> Table:
    """A table with a heading row that is repeated on each page.

    Args:
        headings: one a column.
        rows: cells as paragraphs.
        widths: points, one a column.
        right: columns of numbers.
        shaded: rows to stress, counted from 0.
        joined: rows that belong to the one below them: no rule and no page break between.
        wide: rows whose second cell runs on to the right edge.
    """
    head = [
        paragraph(text, style(bold=True, colour=GREY, right=column in right)) for column, text in enumerate(headings)
    ]
    above_wide = [row - 1 for row in wide]
    look = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
        ("LEFTPADDING", (0, 0), (-1, -1), 4),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 2.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, INK),
        *(("LINEBELOW", (0, row + 1), (-1, row + 1), 0.3, RULE) for row in range(len(rows)) if row not in set(joined)),
        *(("BOTTOMPADDING", (0, row + 1), (-1, row + 1), 1) for row in above_wide),
        *(("TOPPADDING", (0, row + 2), (-1, row + 2), 0) for row in above_wide),
        *(("NOSPLIT", (0, row + 1), (-1, row + 2)) for row in joined),
        *(("SPAN", (1, row + 1), (-1, row + 1)) for row in wide),
        *(("BACKGROUND", (0, row + 1), (-1, row + 1), PANEL) for row in shaded),
    ]
    return Table([head, *map(list, rows)], colWidths=list(widths), repeatRows=1, style=TableStyle(look), hAlign="LEFT")


def number_cell(text: str, colour: Color = INK) -> Paragraph:
    """A figure, on the right."""
    return paragraph(text, style(colour=colour, right=True))


def text_cell(text: str, *, bold: bool = False, colour: Color = INK) -> Paragraph:
    """Words, on the left."""
    return paragraph(text, style(bold=bold, colour=colour))


def figure_table(figures: Sequence[Figure], texts: Texts) -> list[Flowable]:
    """Known figures in two columns, label left and value right; below them the unknown ones with their reason."""
    known = [figure for figure in figures if figure.value is not None]
    flowables: list[Flowable] = [_two_columns(known, texts)] if known else []
    reasons: dict[str, list[str]] = {}
    for figure in figures:
        if figure.value is None:
            reasons.setdefault(figure.missing, []).append(texts(figure.key))
    for reason, labels in reasons.items():
        flowables.append(paragraph(f"{DASH} {', '.join(labels)}: {reason}", style(colour=GREY, before=2)))
    return flowables


def _two_columns(figures: Sequence[Figure], texts: Texts) -> Table:
    half = (CONTENT_WIDTH - GUTTER) / 2
    widths = [half * _LABEL_SHARE, half * (1 - _LABEL_SHARE)]
    count = (len(figures) + 1) // 2
    rows = []
    for left in range(count):
        row: list[Cell | str] = []
        for index in (left, left + count):
            row += ["", ""] if index >= len(figures) else _label_and_value(figures[index], texts)
            row += [""] if index == left else []
        rows.append(row)
    look = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), 0),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
        ("LINEBELOW", (0, 0), (1, -1), 0.3, RULE),
        ("LINEBELOW", (3, 0), (4, len(figures) - count - 1), 0.3, RULE),
    ]
    if len(figures) == 1:
        look.pop()
    return Table(rows, colWidths=[*widths, GUTTER, *widths], style=TableStyle(look), hAlign="LEFT")


def _label_and_value(figure: Figure, texts: Texts) -> list[Cell | str]:
    return [text_cell(texts(figure.key), colour=GREY), number_cell(figure_text(figure))]
