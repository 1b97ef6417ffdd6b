"""The sections of the PDF after the first page."""

from __future__ import annotations

from collections.abc import Iterator

from reportlab.platypus import CondPageBreak, Flowable, KeepTogether, Paragraph, Spacer

from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.run import LIVE_VIEW
from gpuscope.report.advice_sections import over_years, service, several_jobs, surer
from gpuscope.report.charts import breakdown_bar, time_plot
from gpuscope.report.choice_tables import alternates, candidate_table, rejections
from gpuscope.report.format import DASH, figure_text
from gpuscope.report.model import Evidence, Figure, Group, Identity, Outcome, Report, SessionReference
from gpuscope.report.price_table import price_table
from gpuscope.report.styles import CONTENT_WIDTH, GREY, HEADING_SIZE, TROUBLE, paragraph, style
from gpuscope.report.tables import Cell, figure_table, grid, number_cell, text_cell
from gpuscope.report.text import Texts

INDENT = 10.0
"""Points a level of the explanation."""
_REASON = "choice.reason"
ROOM_BELOW_HEADING = 110.0
"""Points. reportlab's keepWithNext would push a long table to the next page as a whole."""
_RAW_UNITS = {
    "s_per_step": "s", "usd": "USD", "usd_per_hour": "USD/h", "percent": "%", "w": "W", "j": "J", "kwh": "kWh",
    "bytes_per_s": "bytes/s",
}  # fmt: skip
_RECORDINGS = frozenset({"record", LIVE_VIEW})
_GOOD_OUTCOMES = {"finished", "recorded", "stopped"}


class SectionHeading(Paragraph):  # type: ignore[misc]  # reportlab is untyped
    """A heading that also appears in the PDF's outline."""

    def __init__(self, text: str, key: str) -> None:
        """`key` names the place in the document."""
        self.outline_text = text
        self.outline_key = key
        super().__init__(text, style(HEADING_SIZE, bold=True, before=16).clone("heading", spaceAfter=5))


def heading(key: str, texts: Texts) -> list[Flowable]:
    """The heading of a section, not at the foot of a page."""
    return [CondPageBreak(ROOM_BELOW_HEADING), _title(key, texts)]


def _title(key: str, texts: Texts) -> SectionHeading:
    return SectionHeading(texts(key), key)


def minor(text: str) -> Paragraph:
    """A heading within a section."""
    return paragraph(text, style(bold=True, before=8).clone("minor", keepWithNext=1, spaceAfter=2))


def body(report: Report, texts: Texts) -> list[Flowable]:
    """Everything after the first page, in the order in which a reader asks."""
    if not is_about_a_choice(report):
        return [*_evidence(report.evidence, report.session, texts), *_appendix(report, texts)]
    return [
        KeepTogether([_title("section.requirement", texts), *figure_table(report.requirement, texts)]),
        *_jobs(report, texts),
        *(_evidence(report.evidence, report.session, texts) if report.mix is None else []),
        *(_choice(report, texts) if report.mix is None else []),
        *_appendix(report, texts),
    ]


def is_about_a_choice(report: Report) -> bool:
    """False for a recording of which nothing could be said but what the machine did."""
    return bool(report.candidates or report.rejections or report.mix) or report.session.kind not in _RECORDINGS


def _choice(report: Report, texts: Texts) -> Iterator[Flowable]:
    yield from heading("section.candidates", texts)
    yield from candidate_table(report.candidates, texts) if report.candidates else [_none(texts)]
    yield from _configuration(report, texts)
    yield from heading("section.rejections", texts)
    yield from rejections(report.rejections, texts) if report.rejections else [_none(texts)]
    yield from _assumptions(report, texts)
    yield from heading("section.prices", texts)
    yield from price_table(report, texts)


def _jobs(report: Report, texts: Texts) -> Iterator[Flowable]:
    if report.mix is not None:
        yield from heading("section.jobs", texts)
        yield from several_jobs(report.mix, texts)


def _none(texts: Texts) -> Paragraph:
    return paragraph(texts("report.none"), style(colour=GREY))


def _session_line(session: SessionReference, texts: Texts) -> str:
    return texts("evidence.session", session=session.session_id, sha256=session.sha256 or DASH)


def _evidence(evidence: Evidence, session: SessionReference, texts: Texts) -> Iterator[Flowable]:
    yield from heading("section.evidence", texts)
    yield paragraph(evidence.source_sentence, style())
    if session.session_id:
        yield paragraph(_session_line(session, texts), style(colour=GREY))
    if evidence.outcome is not None:
        yield from _outcome(evidence.outcome, texts)
    if evidence.findings:
        yield minor(texts("group.findings"))
        for finding in evidence.findings:
            yield paragraph(finding.sentence, style(bold=True, before=3))
            for line in (finding.evidence, finding.remedy):
                if line:
                    yield paragraph(line, style(colour=GREY))
    for group in evidence.groups:
        yield KeepTogether([minor(texts(group.key)), *figure_table(group.figures, texts)])
    if evidence.breakdown:
        yield KeepTogether([minor(texts("group.breakdown")), Spacer(1, 3), breakdown_bar(evidence.breakdown, texts)])
    yield from _plots(evidence, texts)


def _outcome(outcome: Outcome, texts: Texts) -> Iterator[Flowable]:
    colour = style().textColor if outcome.kind in _GOOD_OUTCOMES else TROUBLE
    yield minor(texts("group.outcome"))
    yield paragraph(outcome.sentence, style(colour=colour))
    facts = [
        (texts("figure.exit_status"), outcome.exit_status),
        (texts("figure.signal"), outcome.signal),
        (
            texts("figure.error"),
            ": ".join(part for part in (outcome.error_type, outcome.error_message) if part) or None,
        ),
    ]
    for name, value in facts:
        if value is not None:
            yield paragraph(f"{name}: {value}", style(colour=GREY))
    for line in outcome.last_output:
        yield paragraph(line, style(colour=GREY))
    if outcome.output_left_out:
        yield paragraph(texts("missing.output"), style(colour=GREY))


def _plots(evidence: Evidence, texts: Texts) -> Iterator[Flowable]:
    drawn = [plot for plot in evidence.plots if plot.lines]
    if drawn:
        first = time_plot(drawn[0], evidence.phases, texts)
        note = paragraph(texts("plot.across"), style(colour=GREY))
        yield CondPageBreak(first.height + ROOM_BELOW_HEADING)
        yield from heading("section.over_time", texts)
        yield from (note, Spacer(1, 6), first)
        for plot in drawn[1:]:
            yield Spacer(1, 9)
            yield time_plot(plot, evidence.phases, texts)
    for plot in evidence.plots:
        if not plot.lines:
            yield paragraph(f"{DASH} {texts(plot.key)}: {plot.missing}", style(colour=GREY, before=3))


def _configuration(report: Report, texts: Texts) -> Iterator[Flowable]:
    if report.configuration:
        figures = [figure for figure in report.configuration if figure.key != _REASON]
        reason = next(figure for figure in report.configuration if figure.key == _REASON)
        table = [*figure_table(figures, texts), paragraph(figure_text(reason), style(before=4))]
        yield KeepTogether([_title("section.configuration", texts), *table])
        yield from alternates(report.candidates, texts)
    selected = next((ranked.candidate for ranked in report.candidates if ranked.role == "recommended"), None)
    if selected is None:
        return
    if selected.serving is not None:
        yield from heading("section.service", texts)
        yield from service(selected.serving, texts)
    costs = selected.cost_over_years
    if costs is not None and (costs.own or costs.rent):
        yield from heading("section.over_years", texts)
        yield from over_years(costs, texts)


def _explanation(node: Explanation, depth: int) -> Iterator[Flowable]:
    """A figure and, indented, what it is made of."""
    main = style(bold=depth == 0, before=1.5).clone("node", leftIndent=INDENT * depth)
    yield paragraph(f"{node.name}: {node.value}" if node.value else node.name, main)
    origin = " · ".join(part for part in (node.formula, node.provenance) if part)
    if origin:
        yield paragraph(origin, style(colour=GREY).clone("origin", leftIndent=INDENT * depth))
    for part in node.inputs:
        yield from _explanation(part, depth + 1)


def _assumptions(report: Report, texts: Texts) -> Iterator[Flowable]:
    yield from heading("section.assumptions", texts)
    if not report.assumptions and not report.sensitivity:
        yield _none(texts)
    for assumption in report.assumptions:
        look = style(before=1.5).clone("assumption", leftIndent=INDENT, bulletIndent=0)
        yield paragraph(assumption, look, bullet="•")
    if report.sensitivity:
        rows = [[text_cell(item.input), text_cell(item.sentence)] for item in report.sensitivity]
        widths = [CONTENT_WIDTH * 0.28, CONTENT_WIDTH * 0.72]
        yield Spacer(1, 6)
        yield grid([texts("column.input"), texts("column.sensitivity")], rows, widths)
    if report.would_be_surer:
        yield from heading("section.surer", texts)
        yield surer(report.would_be_surer, texts)


def _appendix(report: Report, texts: Texts) -> Iterator[Flowable]:
    if report.explanation is not None:
        yield from heading("section.explanation", texts)
        yield from _explanation(report.explanation, 0)
    if report.mix is not None:
        return
    yield from heading("section.appendix", texts)
    groups = [*report.appendix, *report.evidence.groups]
    if report.evidence.breakdown:
        groups.append(Group(key="group.breakdown", figures=report.evidence.breakdown))
    rows: list[list[Cell]] = []
    titles: list[int] = []
    for group in groups:
        titles.append(len(rows))
        rows.append([text_cell(_group_title(group, texts), bold=True), text_cell(""), text_cell("")])
        rows += [_raw_row(figure, texts) for figure in group.figures]
    headings = [texts("column.figure"), texts("column.value"), texts("column.how")]
    yield grid(
        headings, rows, [CONTENT_WIDTH * share for share in (0.28, 0.36, 0.36)], right=[1], shaded=titles, joined=titles
    )
    if report.identity is not None:
        yield from _identity(report.identity, texts)


def _group_title(group: Group, texts: Texts) -> str:
    name, _, number = group.key.partition(":")
    return texts(name, number=number)


def _raw_row(figure: Figure, texts: Texts) -> list[Cell]:
    origin = ": ".join(part for part in (figure.kind, figure.how) if part) or figure.missing
    return [text_cell(texts(figure.key)), number_cell(_raw(figure)), text_cell(origin, colour=GREY)]


def _raw(figure: Figure) -> str:
    """The figure as it is stored, in its base unit; its range in brackets."""
    value = figure.value
    if value is None or isinstance(value, (bool, str)):
        return figure_text(figure)
    unit = "" if figure.unit == "count" else _RAW_UNITS.get(figure.unit, figure.unit)
    text = _digits(value, figure.unit)
    if figure.low is not None and figure.high is not None and figure.low != figure.high:
        text += f" ({_digits(figure.low, figure.unit)} – {_digits(figure.high, figure.unit)})"
    return f"{text} {unit}".rstrip()


def _digits(value: float, unit: str) -> str:
    return f"{value:,.0f}" if unit in {"bytes", "count"} and abs(value) >= 1000 else f"{value:.9g}"


def _identity(identity: Identity, texts: Texts) -> Iterator[Flowable]:
    yield from heading("section.identity", texts)
    lines = (
        identity.host,
        " ".join(identity.command),
        identity.folder,
        identity.interpreter or "",
        *identity.gpu_uuids,
    )
    for line in lines:
        if line:
            yield paragraph(line, style())
