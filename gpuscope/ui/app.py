"""Start the window."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from gpuscope import paths
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.garbage import GarbageCollection
from gpuscope.ui.main_window import MainWindow
from gpuscope.ui.run_panel import RunPanel
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import apply_theme

NO_DISPLAY = (
    "There is no display to open a window on: use `gpuscope record`, `gpuscope run` and `gpuscope report` here, and "
    "open the session on another machine."
)
NO_FOLDER = (
    "gpuscope cannot keep its settings and sessions in {0} ({1}): set GPUSCOPE_STATE_DIR and GPUSCOPE_SESSIONS_DIR to "
    "folders that can be written."
)
HEADLESS_PLATFORMS = frozenset({"offscreen", "minimal", "vnc"})


def main(argv: list[str]) -> int:
    """Open the window, on a session when `argv` names one; returns when it is closed.

    Without a display, or without a folder to write to, it prints one sentence and returns 1.
    """
    if not has_display(sys.platform, dict(os.environ)):
        sys.stderr.write(NO_DISPLAY + "\n")
        return 1
    try:
        paths.state_dir()
        paths.sessions_dir()
    except OSError as error:
        sys.stderr.write(NO_FOLDER.format(error.filename, error.strerror) + "\n")
        return 1
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(["gpuscope"])
    application.setApplicationName("gpuscope")
    GarbageCollection(application)
    window = create_window(application)
    window.show()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C in the terminal ends the window at once; runs go on
    window.start(Path(argv[0]) if argv else None)
    return application.exec()


def create_window(application: QApplication) -> MainWindow:
    """The window with its panels, in the look that the person chose; not shown yet."""
    settings = WindowSettings()
    apply_theme(application, settings.mode)
    return MainWindow(RunPanel(), AdvisorPanel(), settings)


def has_display(platform: str, environment: dict[str, str]) -> bool:
    """Whether Qt will find a display; without one its xcb plugin would abort the process."""
    if platform in {"win32", "darwin"}:
        return True
    chosen = environment.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    if chosen in HEADLESS_PLATFORMS:
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
