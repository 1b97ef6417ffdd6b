"""The report as PDF: real text, vector pictures, outline, page numbers."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Spacer

from gpuscope import __version__
from gpuscope.domain.base import to_json
from gpuscope.report.front import first_page
from gpuscope.report.model import Report
from gpuscope.report.sections import SectionHeading, body, is_about_a_choice
from gpuscope.report.styles import (
    ACCENT,
    BODY_SIZE,
    BOLD,
    CONTENT_WIDTH,
    GREY,
    MARGIN,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    REGULAR,
    RULE,
    lacks,
    paragraph,
    printable,
    register_fonts,
    style,
    text_width,
)
from gpuscope.report.text import Texts

_HEADER, _FOOTER = 22.0, 26.0
_SHORT_ID = 12
_MAX_TITLE = 120


def pdf_bytes(report: Report) -> bytes:
    """Render the report on A4 pages."""
    register_fonts()
    texts = Texts(report.language)
    target = BytesIO()
    document = _Document(target, report, texts)
    story: list[Flowable] = [*first_page(report, texts), *body(report, texts)]
    if lacks(to_json(report).decode()):
        story += [Spacer(1, 10), paragraph(texts("report.glyphs"), style(colour=GREY))]
    document.build(story, canvasmaker=_counting_canvas(texts))
    return target.getvalue()


class _Document(BaseDocTemplate):  # type: ignore[misc]  # reportlab is untyped
    """Pages with a running head and foot; headings go into the outline."""

    def __init__(self, target: BytesIO, report: Report, texts: Texts) -> None:
        super().__init__(
            target,
            pagesize=(PAGE_WIDTH, PAGE_HEIGHT),
            title=printable(f"{report.title} {texts('report.for', workload=report.workload)}")[:_MAX_TITLE],
            subject=texts("report.subject"),
            author="gpuscope",
            creator=f"gpuscope {__version__}",
            lang=report.language,
        )
        frame = Frame(
            MARGIN, MARGIN + _FOOTER, CONTENT_WIDTH, PAGE_HEIGHT - 2 * MARGIN - _HEADER - _FOOTER,
            leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0,
        )  # fmt: skip
        self._foot = texts(
            "report.footer" if report.session.session_id else "report.footer_without_session",
            version=__version__,
            session=report.session.session_id[:_SHORT_ID],
            date=report.generated[:10],
        )
        self._first = texts("section.decision" if is_about_a_choice(report) else "recording.title")
        self.addPageTemplates(PageTemplate(id="page", frames=[frame], onPage=self._decorate))

    def _decorate(self, canvas: Canvas, _document: BaseDocTemplate) -> None:
        """Running head and foot."""
        if canvas.getPageNumber() == 1:
            canvas.bookmarkPage("section.decision")
            canvas.addOutlineEntry(self._first, "section.decision", level=0)
            canvas.showOutline()
        canvas.saveState()
        canvas.setFont(BOLD, BODY_SIZE)
        canvas.setFillColor(ACCENT)
        canvas.drawString(MARGIN, PAGE_HEIGHT - MARGIN, "gpuscope")
        canvas.setFillColor(GREY)
        canvas.setFont(REGULAR, BODY_SIZE)
        canvas.drawString(MARGIN, MARGIN, printable(self._foot))
        canvas.setStrokeColor(RULE)
        canvas.setLineWidth(0.5)
        canvas.line(MARGIN, MARGIN + 12, PAGE_WIDTH - MARGIN, MARGIN + 12)
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - reportlab's own name
        """Put each section's heading into the outline."""
        if isinstance(flowable, SectionHeading):
            self.canv.bookmarkPage(flowable.outline_key)
            self.canv.addOutlineEntry(flowable.outline_text, flowable.outline_key, level=0)


def _counting_canvas(texts: Texts) -> type[Canvas]:
    """A canvas that knows how many pages there are before it writes their numbers."""

    class CountingCanvas(Canvas):  # type: ignore[misc]  # reportlab is untyped
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._pages: list[dict[str, Any]] = []

        def showPage(self) -> None:  # noqa: N802 - reportlab's own name
            """Keep the page until all are there."""
            self._pages.append(dict(self.__dict__))
            self._startPage()

        def save(self) -> None:
            """Number the pages and write them."""
            for page in self._pages:
                self.__dict__.update(page)
                text = texts("report.page", page=self.getPageNumber(), pages=len(self._pages))
                self.setFont(REGULAR, BODY_SIZE)
                self.setFillColor(GREY)
                self.drawString(PAGE_WIDTH - MARGIN - text_width(text), MARGIN, text)
                super().showPage()
            super().save()

    return CountingCanvas
