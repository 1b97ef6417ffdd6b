"""The answer in large letters, with what it rests on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from gpuscope.domain.recommendation import Recommendation
from gpuscope.ui import theme
from gpuscope.ui.theme import GRID, Size, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel


class VerdictView(QWidget):
    """The sentence, age of the prices, and a banner when some of them are old."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_recommendation`."""
        super().__init__(parent)
        self._sentence = WrappingLabel(self)
        self._sentence.setFont(theme.font(Size.LARGE))
        self._sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._basis = WrappingLabel(self)
        set_role(self._basis, "muted")
        self._banner = QFrame(self)
        set_role(self._banner, "banner")
        self._warning = WrappingLabel(self._banner)
        inside = QVBoxLayout(self._banner)
        inside.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        inside.addWidget(self._warning)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self._sentence, self._basis, self._banner):
            column.addWidget(part)

    def show_recommendation(self, recommendation: Recommendation, basis: str) -> None:
        """Show an answer.

        Args:
            recommendation: the answer.
            basis: what it rests on, in a few words.
        """
        self._sentence.setText(recommendation.sentence)
        prices = recommendation.prices_as_of
        parts = [basis, self.tr("prices of {0}").format(prices) if prices else self.tr("no prices known")]
        self._basis.setText(" · ".join(part for part in parts if part))
        self._warning.setText(self._stale_sentence(recommendation))
        self._banner.setVisible(bool(self._warning.text()))

    def _stale_sentence(self, recommendation: Recommendation) -> str:
        offers = [candidate.offer for candidate in recommendation.candidates if candidate.offer is not None]
        stale = sum(offer.stale for offer in offers)
        if not stale:
            return ""
        if stale == len(offers):
            return self.tr("All prices are older than 30 days or undated: check them before you decide.")
        return self.tr("{0} of {1} prices are older than 30 days or undated: check them before you decide.").format(
            stale, len(offers)
        )
