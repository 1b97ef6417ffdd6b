"""The first page of the PDF: the decision, how sure it is, what it rests on, and room to sign."""

from __future__ import annotations

from reportlab.platypus import Flowable, HRFlowable, PageBreak, Spacer, Table, TableStyle
from reportlab.platypus.flowables import TopPadder

from gpuscope.report.choice import candidate_name
from gpuscope.report.choice_tables import bare_reason
from gpuscope.report.cost_time import cost_time_plot
from gpuscope.report.format import figure_text
from gpuscope.report.model import Figure, Report
from gpuscope.report.sections import is_about_a_choice
from gpuscope.report.styles import (
    ACCENT,
    CONTENT_WIDTH,
    GREY,
    HEADING_SIZE,
    INK,
    PANEL,
    RULE,
    TITLE_SIZE,
    TROUBLE,
    paragraph,
    style,
)
from gpuscope.report.text import Texts

_TROUBLE_VERDICTS = {"impossible", "fix_first"}
_SIGNATURES = 2
_TITLE_CHARACTERS = 160


def first_page(report: Report, texts: Texts) -> list[Flowable]:
    """The page that a person who signs reads, on its own."""
    decision = report.decision
    if not is_about_a_choice(report):
        return _recording_head(report, texts)
    colour = TROUBLE if decision.verdict in _TROUBLE_VERDICTS else ACCENT
    plot = cost_time_plot(report.candidates, texts)
    return [
        paragraph(report.title, style(TITLE_SIZE, bold=True)),
        paragraph(texts("report.for", workload=_title(report.workload)), style(HEADING_SIZE, colour=GREY, before=3)),
        paragraph(report.generated[:10], style(HEADING_SIZE, colour=GREY)),
        Spacer(1, 9),
        HRFlowable(width="100%", thickness=1.6, color=colour, spaceAfter=10),
        paragraph(texts.or_else(f"verdict.{decision.verdict}", decision.verdict),
                  style(HEADING_SIZE, bold=True, colour=colour)),
        Spacer(1, 3),
        paragraph(decision.paragraph, style(HEADING_SIZE)),
        Spacer(1, 12),
        *([_key_figures(decision.key_figures, texts), Spacer(1, 12)] if decision.key_figures else []),
        *_confidence(report, texts),
        Spacer(1, 14),
        *([plot, Spacer(1, 14)] if plot is not None else []),
        *([] if decision.key_figures else _obstacles(report, texts)),
        TopPadder(_approval(texts)),
        PageBreak(),
    ]  # fmt: skip


def _recording_head(report: Report, texts: Texts) -> list[Flowable]:
    """Of a recording without a recommendation: nothing to decide and nothing to sign, only what was seen."""
    return [
        paragraph(texts("recording.title"), style(TITLE_SIZE, bold=True)),
        paragraph(report.generated[:10], style(HEADING_SIZE, colour=GREY, before=3)),
        Spacer(1, 9),
        HRFlowable(width="100%", thickness=1.6, color=ACCENT, spaceAfter=10),
        paragraph(texts("recording.no_advice"), style()),
        *(paragraph(note, style(before=1)) for note in report.session.notes),
    ]


def _title(text: str) -> str:
    return text if len(text) <= _TITLE_CHARACTERS else f"{text[:_TITLE_CHARACTERS]}…"


def _key_figures(figures: tuple[Figure, ...], texts: Texts) -> Table:
    cells = [
        [
            paragraph(texts(figure.key), style(colour=GREY)),
            paragraph(figure_text(figure), style(HEADING_SIZE, bold=True)),
            *([paragraph(figure.missing, style(colour=GREY))] if figure.value is None else []),
        ]
        for figure in figures
    ]
    look = TableStyle(
        [
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("BACKGROUND", (0, 0), (-1, -1), PANEL),
            ("LEFTPADDING", (0, 0), (-1, -1), 8),
            ("RIGHTPADDING", (0, 0), (-1, -1), 6),
            ("TOPPADDING", (0, 0), (-1, -1), 7),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 9),
            ("LINEBEFORE", (1, 0), (-1, -1), 0.5, RULE),
        ]
    )
    return Table([cells], colWidths=[CONTENT_WIDTH / len(cells)] * len(cells), style=look, hAlign="LEFT")


def _confidence(report: Report, texts: Texts) -> list[Flowable]:
    lines = [report.decision.confidence_sentence, report.evidence.source_sentence, *report.session.notes]
    return [
        paragraph(texts("sign.confidence"), style(bold=True)),
        *(paragraph(line, style(before=1)) for line in lines if line),
    ]


def _obstacles(report: Report, texts: Texts) -> list[Flowable]:
    """What stands against every configuration, when nothing is recommended: one example for each kind of reason."""
    if not report.rejections:
        return []
    lines: list[Flowable] = [paragraph(texts("section.rejections"), style(bold=True))]
    for group in report.rejections:
        first = group.rejected[0]
        title = texts.or_else(f"rejected.{group.reason_code}", texts("rejected.other"))
        name = candidate_name(first, texts)
        lines.append(paragraph(texts("rejected.count", title=title, count=len(group.rejected)), style(before=4)))
        reason = bare_reason(first)
        lines.append(paragraph(texts("rejected.example", name=name, reason=reason), style(colour=GREY)))
    return lines


def _approval(texts: Texts) -> Table:
    """Lines to sign on, at the foot of the page."""
    names = ("sign.name", "sign.role", "sign.date", "sign.signature")
    title = [paragraph(texts("sign.title"), style(HEADING_SIZE, bold=True)), *[""] * (len(names) - 1)]
    heads = [paragraph(texts(name), style(colour=GREY)) for name in names]
    look = TableStyle(
        [
            ("LEFTPADDING", (0, 0), (-1, -1), 0),
            ("RIGHTPADDING", (0, 0), (-1, -1), 12),
            ("BOTTOMPADDING", (0, 0), (-1, 1), 0),
            ("LINEBELOW", (0, 2), (-1, -1), 0.5, INK),
        ]
    )
    widths = [CONTENT_WIDTH * share for share in (0.3, 0.24, 0.14, 0.32)]
    rows = [title, heads, *([""] * len(names) for _ in range(_SIGNATURES))]
    heights = [20.0, 14.0, *([26.0] * _SIGNATURES)]
    return Table(rows, colWidths=widths, rowHeights=heights, style=look, hAlign="LEFT")
