"""A picture of the window on a finished session, without a screen: the self-test's proof that Qt works here."""

from __future__ import annotations

import os
import time
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gpuscope.errors import GpuscopeError
from gpuscope.ui.app import create_window
from gpuscope.ui.main_window import MainWindow

PATIENCE_S = 30.0
SETTLING_S = 1.0
"""After the session is read: the plots are drawn ten times a second."""


class SnapshotError(GpuscopeError):
    """The window did not show the session."""


def snapshot(session: Path, picture: Path) -> None:
    """Open the window on a session, wait until it is read and drawn, save a picture, close.

    Nothing appears on a screen when QT_QPA_PLATFORM is `offscreen`, which is set unless something else is.

    Raises:
        SnapshotError: the session was not shown in time, or the picture is blank or cannot be written.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(["gpuscope"])
    window = create_window(application)
    try:
        window.show()
        window.start(session)
        _wait_until_read(window)
        _process_events(SETTLING_S)
        _save(window, picture)
    finally:
        window.close()
        window.deleteLater()
        _process_events(0.0)


def _wait_until_read(window: MainWindow) -> None:
    failures: list[str] = []
    done: list[bool] = []
    window.session.failed.connect(failures.append)
    window.session.ended.connect(lambda _outcome: done.append(True))
    deadline_s = time.monotonic() + PATIENCE_S
    while not done and not failures and time.monotonic() < deadline_s:
        _process_events(0.05)
    if failures:
        raise SnapshotError(f"The window could not open the session: {failures[0]}")
    if not done:
        raise SnapshotError(f"The window did not show the session within {PATIENCE_S:.0f} s: run `gpuscope doctor`.")


def _save(window: MainWindow, picture: Path) -> None:
    image = window.grab().toImage()
    places = ((x, y) for x in range(0, image.width(), 8) for y in range(0, image.height(), 8))
    colours = {image.pixel(x, y) for x, y in places}
    if len(colours) < 3:
        raise SnapshotError("The window stayed blank: run `gpuscope doctor`.")
    if not image.save(str(picture)):
        raise SnapshotError(f"The picture {picture} cannot be written.")


def _process_events(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
