"""How far an import is, with a button that cancels it: shown when it takes longer than a second."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from gpuscope.errors import GpuscopeError
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.focus import hide_without_passing_focus_on

_PARTS = 1000
"""Steps of the bar."""


class ImportCancelledError(GpuscopeError):
    """The person cancelled, or looks at something else now."""


class ImportState:
    """What the importing thread tells of itself, and whether it is to stop; knows nothing of Qt."""

    def __init__(self) -> None:
        """At the beginning."""
        self.told: tuple[Path | None, float] | None = None
        """As engine.import_files.ImportProgress was told last."""
        self.cancelled = False

    def tell(self, path: Path | None, share: float) -> None:
        """Note how far it is.

        Raises:
            ImportCancelledError: it is to stop.
        """
        if self.cancelled:
            raise ImportCancelledError("The import was cancelled.")
        self.told = (path, share)


class ImportProgressBar(QFrame):
    """A line with what is being read, a bar, and a button."""

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Hidden until there is something to show."""
        super().__init__(parent)
        set_role(self, "banner")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, _PARTS)
        self.bar.setAccessibleName(self.tr("Progress of the import"))
        self.cancel_button = QPushButton(self.tr("Cancel the import"), self)
        self.cancel_button.clicked.connect(self.cancel_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID // 2, GRID // 2)
        layout.addWidget(self.label)
        layout.addWidget(self.bar, 1)
        layout.addWidget(self.cancel_button)
        self.hide()

    def show_state(self, state: ImportState) -> None:
        """Show how far an import is; before anything is known, the bar moves without an end."""
        path, share = state.told or (None, 0.0)
        self.bar.setRange(0, _PARTS if state.told else 0)
        self.bar.setValue(round(share * _PARTS))
        if path is not None:
            self.label.setText(self.tr("Reading {0}").format(path.name))
        else:
            self.label.setText(self.tr("Writing the session") if state.told else self.tr("Reading"))
        self.show()

    def put_away(self) -> None:
        """Nothing is being imported any more."""
        if not self.isHidden():
            hide_without_passing_focus_on(self)
