"""How far the answer can be trusted: what would change it, what would make it surer, what it assumes, its prices."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QTextBrowser, QWidget

from gpuscope.domain.recommendation import Recommendation
from gpuscope.ui import theme

translate = QCoreApplication.translate


class RobustnessPage(QTextBrowser):
    """Text that can be selected and copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_recommendation`."""
        super().__init__(parent)
        self._recommendation: Recommendation | None = None
        self.setOpenExternalLinks(False)
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setAccessibleName(self.tr("How sure the answer is"))
        self.setWhatsThis(
            self.tr(
                "How far each input may move before another configuration is chosen, what to measure or to ask for to "
                "make the ranges narrower, and everything that was assumed."
            )
        )

    def show_recommendation(self, recommendation: Recommendation) -> None:
        """Replace the text."""
        self._recommendation = recommendation
        colours = theme.colours_of(self)
        self.document().setDefaultStyleSheet(
            f"h4 {{ margin: 8px 0 2px 0; }} p {{ margin: 0 0 4px 0; }} .muted {{ color: {colours.muted}; }}"
        )
        self.setHtml("".join(_html(recommendation)) or f"<p>{escape(self.tr('Nothing is assumed.'))}</p>")

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._recommendation is not None:
            self.show_recommendation(self._recommendation)


def _html(recommendation: Recommendation) -> Iterator[str]:
    yield from _part(
        translate("Robustness", "What would change the choice"),
        [_line(each.sentence, each.input) for each in recommendation.sensitivity],
    )
    yield from _part(
        translate("Robustness", "What would make it surer"),
        [_line(each.sentence or each.action, each.input) for each in recommendation.would_be_surer],
    )
    yield from _part(translate("Robustness", "Assumed"), [_line(each) for each in recommendation.assumptions])
    undated = translate("Robustness", "undated")
    offers = [candidate.offer for candidate in recommendation.candidates if candidate.offer is not None]
    sources = sorted({f"{each.provider}: {each.price_date or undated}, {each.source}" for each in offers})
    yield from _part(translate("Robustness", "Prices"), [_line(each) for each in sources])


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"<h4>{escape(title)}</h4>"
        yield from lines


def _line(sentence: str, note: str = "") -> str:
    grey = f' <span class="muted">({escape(note)})</span>' if note else ""
    return f"<p>{escape(sentence)}{grey}</p>"
