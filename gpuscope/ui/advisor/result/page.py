"""A recommendation on a page: the answer, the ranked table, and below it the plot, the reasons and the rest."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QSplitter, QTabWidget, QVBoxLayout, QWidget

from gpuscope.domain.recommendation import Candidate, Constraints, Recommendation
from gpuscope.ui.advisor.result.cells import configuration_name, place
from gpuscope.ui.advisor.result.explanation import ExplanationPage
from gpuscope.ui.advisor.result.ownership import OwnershipPage
from gpuscope.ui.advisor.result.plot import CostTimePlot
from gpuscope.ui.advisor.result.rejected import RejectedPage
from gpuscope.ui.advisor.result.robustness import RobustnessPage
from gpuscope.ui.advisor.result.serving import ServingPage
from gpuscope.ui.advisor.result.table import Rows
from gpuscope.ui.advisor.result.table_view import CandidateTable
from gpuscope.ui.advisor.result.verdict import VerdictView
from gpuscope.ui.theme import GRID

TABLE_MINIMUM_HEIGHT = 23 * GRID
"""Three rows and the header."""
TABS_MINIMUM_HEIGHT = 30 * GRID


class ResultPage(QWidget):
    """Choosing a row of the table or a mark of the plot shows that candidate everywhere."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_recommendation`."""
        super().__init__(parent)
        self._recommendation: Recommendation | None = None
        self._picked: tuple[str, str] | None = None
        self._showing = False
        self.verdict = VerdictView(self)
        self.table = CandidateTable(self)
        self.plot = CostTimePlot(self)
        self.why = ExplanationPage(self)
        self.explanation = self.why.tree
        self.rejected = RejectedPage(self)
        self.ownership = OwnershipPage(self)
        self.serving = ServingPage(self)
        self.robustness = RobustnessPage(self)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.tabBar().setAccessibleName(self.tr("What is shown of the answer"))
        self.tabs.addTab(self.plot, self.tr("Plot"))
        self.tabs.addTab(self.why, self.tr("Why"))
        self.tabs.addTab(self.ownership, self.tr("Own or rent"))
        self.tabs.addTab(self.serving, self.tr("Service"))
        self.tabs.addTab(self.robustness, self.tr("How sure"))
        self.tabs.addTab(self.rejected, self.tr("Rejected"))
        self._lay_out()
        self.table.chosen.connect(self._on_chosen)
        self.plot.chosen.connect(self.table.choose)

    def show_recommendation(self, recommendation: Recommendation, basis: str, rows: Rows | None = None) -> None:
        """Replace everything; a configuration that the person picked stays chosen, else it is the recommended one.

        Args:
            recommendation: the answer.
            basis: what it rests on, in a few words.
            rows: the table's cells, where they have been worked out already.
        """
        self._showing = True
        self._recommendation = recommendation
        self.verdict.show_recommendation(recommendation, basis)
        self.table.show_recommendation(recommendation, rows)
        self.table.setVisible(bool(recommendation.candidates))
        self.plot.show_recommendation(recommendation)
        self.rejected.show_rejected(recommendation.rejected)
        rejected = self.tabs.indexOf(self.rejected)
        self.tabs.setTabText(rejected, self.tr("Rejected ({0})").format(len(recommendation.rejected)))
        self._show_tab(self.serving, shown=any(each.serving is not None for each in recommendation.candidates))
        self._show_tab(self.ownership, shown=any(each.cost_over_years for each in recommendation.candidates))
        self.robustness.show_recommendation(recommendation)
        number = self._number_of(self._picked)
        if number is not None:
            self.table.choose(number)
        else:
            self._show_candidate(None)
            self.tabs.setCurrentWidget(self.rejected)
        self._showing = False

    def chosen_number(self) -> int | None:
        """Number of the chosen candidate."""
        rows = self.table.selectionModel().selectedRows()
        return self.table.candidates.candidate_number(rows[0].row()) if rows else None

    def _lay_out(self) -> None:
        splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.setChildrenCollapsible(False)
        splitter.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)  # takes what is left
        splitter.addWidget(self.table)
        splitter.addWidget(self.tabs)
        splitter.setStretchFactor(0, 1)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([1000, 1000])  # equal shares of whatever there is
        self.table.setMinimumHeight(TABLE_MINIMUM_HEIGHT)
        self.tabs.setMinimumHeight(TABS_MINIMUM_HEIGHT)
        splitter.setMinimumHeight(TABLE_MINIMUM_HEIGHT + splitter.handleWidth() + TABS_MINIMUM_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.verdict)
        column.addWidget(splitter, 1)

    def _on_chosen(self, number: int) -> None:
        if self._recommendation is None:
            return
        if not self._showing:
            self._picked = None if number == self._recommendation.recommended else self._key(number)
        self.plot.choose(number)
        self._show_candidate(self._recommendation.candidates[number])

    def _show_candidate(self, candidate: Candidate | None) -> None:
        constraints = Constraints() if self._recommendation is None else self._recommendation.constraints
        self.explanation.explain(None if candidate is None else candidate.explanation)
        self.ownership.show_candidate(candidate, constraints.economics)
        self.serving.show_candidate(candidate, constraints.serving)

    def _show_tab(self, page: QWidget, *, shown: bool) -> None:
        self.tabs.setTabVisible(self.tabs.indexOf(page), shown)

    def _key(self, number: int) -> tuple[str, str]:
        candidate = self._recommendation.candidates[number]  # type: ignore[union-attr]  # there is one while rows are
        return configuration_name(candidate.gpu, candidate.gpu_name, candidate.count), place(candidate)

    def _number_of(self, key: tuple[str, str] | None) -> int | None:
        if self._recommendation is None or not self._recommendation.candidates:
            return None
        numbers = range(len(self._recommendation.candidates))
        fallback = self._recommendation.recommended or 0
        return next((number for number in numbers if self._key(number) == key), fallback)
