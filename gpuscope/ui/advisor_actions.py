"""What the window's menu does for the Advisor: which question, how much room, validation, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from gpuscope.ui.main_window import MainWindow
    from gpuscope.ui.out_of_memory import OutOfMemoryDialog
    from gpuscope.ui.validation.page import ValidationPage


class AdvisorActions(QObject):
    """Actions that concern the Advisor panel and what belongs to it."""

    def __init__(self, window: MainWindow) -> None:
        """The window's panels are there already."""
        super().__init__(window)
        self._window = window
        self._validation: ValidationPage | None = None
        self.out_of_memory: OutOfMemoryDialog | None = None

    def show_estimate(self) -> None:
        """Show the Advisor for a model that is typed in."""
        self._window.panels.reveal(self._window.panels.advisor)
        self._window.advisor_panel.source_bar.choose_estimate()

    def show_jobs(self) -> None:
        """Show the Advisor for several jobs."""
        self._window.panels.reveal(self._window.panels.advisor)
        self._window.advisor_panel.source_bar.choose_jobs()

    def toggle_alone(self) -> None:
        """Give the Advisor the whole window, or bring the other panels back."""
        self._window.panels.toggle_alone(self._window.panels.advisor)

    def show_validation(self) -> None:
        """Show how good the predictions are, in a window of its own."""
        if self._validation is None:
            from gpuscope.ui.validation.page import ValidationPage

            self._validation = ValidationPage(self._window)
        self._validation.show()
        self._validation.raise_()
        self._validation.activateWindow()

    def show_out_of_memory(self, text: str = "") -> None:
        """Show the dialog that explains out-of-memory messages, with a text when there is one."""
        if self.out_of_memory is None:
            from gpuscope.ui.out_of_memory import OutOfMemoryDialog

            self.out_of_memory = OutOfMemoryDialog(self._window)
        if text:
            self.out_of_memory.show_text(text)
        self.out_of_memory.show()
        self.out_of_memory.raise_()
        self.out_of_memory.activateWindow()

    def close_windows(self) -> None:
        """Close what was opened beside the window."""
        for beside in (self._validation, self.out_of_memory):
            if beside is not None:
                beside.close()

    def export(self) -> None:
        """Export what the Advisor shows: the report of the session, of a typed-in model, or of several jobs."""
        panel = self._window.advisor_panel
        if panel.mix is not None:
            self._window.export.ask_and_write_jobs(panel.mix)
        elif panel.estimating and panel.footprint is not None:
            self._window.export.ask_and_write_estimate(panel.footprint, panel.constraints)
        else:
            self._window.export_report()
