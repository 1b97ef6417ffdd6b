"""The table of jobs: which, how often a month, and how their number grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpuscope.domain.base import Value
from gpuscope.engine.registry import SessionSummary
from gpuscope.errors import UsageError
from gpuscope.store.schema import SUFFIX
from gpuscope.ui.advisor.form import parsing
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.titles import short_title
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

TABLE_HEIGHT = 19 * GRID
RECENT_SHOWN = 15
MOST_NAME = 120
"""Characters of a job's name: it is said in sentences."""
MOST_RUNS = 100_000
"""A month: more than two a minute is a service."""
MOST_GROWTH = 10.0
"""A year, as a share: eleven times as many."""
_NAME, _RUNS = range(2)
_PATH = Qt.ItemDataRole.UserRole
SUFFIXES = (SUFFIX, ".json")


class JobInput(Value, frozen=True, kw_only=True):
    """A job as it was added and typed."""

    path: Path
    """A session, or a footprint as JSON."""
    name: str
    runs_per_month: float


class MixInput(Value, frozen=True, kw_only=True):
    """All jobs."""

    jobs: tuple[JobInput, ...]
    growth_per_year: float = 0.0
    """0.2: each year a fifth more runs than the year before."""


class JobsForm(QWidget):
    """Jobs are added from the recent sessions, from files, or dropped on the table."""

    changed = Signal()

    def __init__(self, recent: Callable[[], list[SessionSummary]], parent: QWidget | None = None) -> None:
        """No jobs; `recent` gives the sessions to choose from."""
        super().__init__(parent)
        self._recent = recent
        self.setAcceptDrops(True)
        self.setWhatsThis(
            self.tr(
                "What you buy serves many jobs. Add those that come again and again, and say how often a month each "
                "runs (of a language model that answers requests: its hours of load): the answer compares keeping what "
                "is at hand, renting, machines that they share, and machines of their own."
            )
        )
        self.table = QTableWidget(0, 2, self)
        self.table.setHorizontalHeaderLabels([self.tr("Job"), self.tr("runs a month")])
        self.table.setAccessibleName(self.tr("Jobs"))
        self.table.setFixedHeight(TABLE_HEIGHT)
        self.table.verticalHeader().hide()
        self.table.setTabKeyNavigation(False)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        head = self.table.horizontalHeader()
        head.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(_RUNS, QHeaderView.ResizeMode.ResizeToContents)
        self.table.itemChanged.connect(self._on_item_changed)
        self.hint = WrappingLabel(self)
        self.hint.setText(self.tr("Add sessions or footprints, or drop them here."))
        set_role(self.hint, "muted")
        self.problem = WrappingLabel(self)
        set_role(self.problem, "trouble")
        self.problem.hide()
        self.recent_button = QPushButton(self.tr("Add recent"), self)
        self.file_button = QPushButton(self.tr("Add file…"), self)
        self.remove_button = QPushButton(self.tr("Remove"), self)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.recent_button.setMenu(self._menu)
        self.file_button.clicked.connect(self._ask_files)
        self.remove_button.clicked.connect(self.remove_chosen)
        self.growth = QLineEdit()
        self.growth.setPlaceholderText("0")
        self.growth.textChanged.connect(self.changed)
        self._lay_out()

    def paths(self) -> list[Path]:
        """The files of the jobs, in order."""
        return [self.table.item(row, _NAME).data(_PATH) for row in range(self.table.rowCount())]  # type: ignore[union-attr]  # every row has its items

    def add(self, path: Path, name: str = "", runs: str = "1") -> None:
        """Add a job; one whose file is there already is chosen instead."""
        if path in self.paths():
            self.table.selectRow(self.paths().index(path))
            return
        row = self.table.rowCount()
        self.table.blockSignals(True)  # noqa: FBT003 - Qt's own signature
        self.table.insertRow(row)
        title = QTableWidgetItem(short_title(name) if name else path.stem)
        title.setData(_PATH, path)
        title.setToolTip(as_plain(str(path)))
        count = QTableWidgetItem(runs)
        count.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.table.setItem(row, _NAME, title)
        self.table.setItem(row, _RUNS, count)
        self.table.blockSignals(False)  # noqa: FBT003 - Qt's own signature
        self.table.setCurrentItem(count)
        self._on_item_changed()

    def remove_chosen(self) -> None:
        """Take the chosen jobs out."""
        rows = sorted({index.row() for index in self.table.selectedIndexes()}, reverse=True)
        for row in rows:
            self.table.removeRow(row)
        if rows:
            self._on_item_changed()

    def read(self) -> MixInput | None:
        """The jobs; None when there are none, or after saying what could not be understood."""
        problems: list[str] = []
        jobs = []
        for row in range(self.table.rowCount()):
            name, runs = self.table.item(row, _NAME), self.table.item(row, _RUNS)
            assert name is not None
            assert runs is not None
            try:
                jobs.append(
                    JobInput(path=name.data(_PATH), name=_name(name), runs_per_month=self._parse_runs(runs.text()))
                )
            except UsageError as error:
                problems.append(f"{_name(name)}: {error}")
        growth = self._growth()
        self.problem.setText("\n".join(problems))
        self.problem.setVisible(bool(problems))
        if problems or growth is None or not jobs:
            return None
        return MixInput(jobs=tuple(jobs), growth_per_year=growth)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete removes what is chosen."""
        if event.key() == Qt.Key.Key_Delete:
            self.remove_chosen()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Sessions and footprints are welcome."""
        if _files_in(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add all of them."""
        for path in _files_in(event):
            self.add(path)
        event.acceptProposedAction()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID // 2)
        for button in (self.recent_button, self.file_button, self.remove_button):
            set_role(button, "compact")
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._grid = FieldGrid()
        self._grid.add(
            "growth",
            self.tr("More runs each year, %"),
            self.growth,
            explanation=self.tr("20 means that each year there are a fifth more runs than in the year before."),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self.table, self.hint, self.problem):
            column.addWidget(part)
        column.addLayout(buttons)
        column.addWidget(self._grid)

    def _parse_runs(self, text: str) -> float:
        times = parsing.parse_positive(text)
        if times > MOST_RUNS:
            raise UsageError(self.tr("Write how often a month it runs, up to {0} times.").format(f"{MOST_RUNS:,}"))
        return times

    def _growth(self) -> float | None:
        text = self.growth.text().strip()
        if not text:
            self._grid.show_problems({})
            return 0.0
        try:
            growth = parsing.parse_amount(text.removesuffix("%")) / 100
            if growth > MOST_GROWTH:
                raise UsageError(self.tr("Write a percentage from 0 to {0:.0f}, like 20.").format(100 * MOST_GROWTH))
        except UsageError as error:
            self._grid.show_problems({"growth": str(error)})
            return None
        self._grid.show_problems({})
        return growth

    def _on_item_changed(self) -> None:
        self.hint.setVisible(not self.table.rowCount())
        self.changed.emit()

    def _fill_menu(self) -> None:
        self._menu.clear()
        there = set(self.paths())
        found = [summary for summary in self._recent() if summary.path not in there][:RECENT_SHOWN]
        for summary in found:
            action = self._menu.addAction(short_title(summary.title).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, summary=summary: self.add(summary.path, summary.title))
        if not found:
            self._menu.addAction(self.tr("There are no other sessions")).setEnabled(False)

    def _ask_files(self) -> None:
        kinds = self.tr("Sessions and footprints (*{0} *.json)").format(SUFFIX)
        names, _ = QFileDialog.getOpenFileNames(self, self.tr("Add jobs"), "", kinds)
        for name in names:
            self.add(Path(name))


def _name(item: QTableWidgetItem) -> str:
    """What the person calls a job, without what cannot be read; the file's name when nothing is left."""
    words = "".join(letter for letter in item.text() if letter.isprintable()).strip()
    path: Path = item.data(_PATH)
    return words[:MOST_NAME] or path.stem


def _files_in(event: QDropEvent) -> list[Path]:
    urls = event.mimeData().urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    return [path for path in paths if path.suffix in SUFFIXES]
