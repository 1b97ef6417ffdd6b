"""Pictures of the window in its states, light and dark, small and large: to be looked at, and checked for cut text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.engine import launch
from gpuscope.store.writer import SessionWriter
from gpuscope.ui.app import create_window
from gpuscope.ui.main_window import MainWindow
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import Mode
from gpuscope.ui.widgets.elided_label import ElidedLabel
from tests.ui import sessions
from tests.ui.panel_pictures import colours_in, save_picture
from tests.ui.plain_panels import PlainMonitorHandle

WAIT_MS = 20_000
SIZES = {"small": (1280, 800), "large": (1920, 1080)}
SETTLING_MS = 300


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GPUSCOPE_SESSIONS_DIR", str(tmp_path / "sessions"))


@pytest.fixture
def make_window() -> Iterator[Callable[[Mode, tuple[int, int]], MainWindow]]:
    made: list[MainWindow] = []

    def make(mode: Mode, size: tuple[int, int]) -> MainWindow:
        WindowSettings().mode = mode
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        window = create_window(application)
        made.append(window)
        window.resize(*size)
        window.confirm_close = lambda: True
        window.show()
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()


@pytest.fixture
def writers() -> Iterator[list[SessionWriter]]:
    """Sessions that still grow; closed in the end."""
    growing: list[SessionWriter] = []
    yield growing
    for writer in growing:
        writer.close()


def _running(folder: Path, writers: list[SessionWriter]) -> Path:
    writer = sessions.start_session(folder / "run.gpuscope")
    writers.append(writer)
    sessions.fill_session(writer, seconds=40, gpus=2)
    writer.add_output(sessions.ZERO_S + 1, b"".join(b"step %d loss %.3f\n" % (n, 4 - n / 100) for n in range(60)))
    writer.commit()
    return writer.path


def _finished(folder: Path, _writers: list[SessionWriter]) -> Path:
    return sessions.write_session(folder / "run.gpuscope", seconds=60, gap=(30, 34))


def _failed(folder: Path, _writers: list[SessionWriter]) -> Path:
    path = folder / "run.gpuscope"
    return sessions.write_session(path, seconds=20, outcome=sessions.failed(20), output=b"loading data\n")


def _combinations(states: Iterable[object], chosen: list[tuple[object, Mode, str]]) -> list[tuple[object, Mode, str]]:
    """All of them when the pictures are to be looked at, else a few that stand for the rest."""
    if os.environ.get("GPUSCOPE_PICTURES"):
        return [(state, mode, size) for state in states for mode in (Mode.LIGHT, Mode.DARK) for size in SIZES]
    return chosen


STATES = {"running": _running, "finished": _finished, "failed": _failed}


@pytest.mark.parametrize(
    ("state", "mode", "size"),
    _combinations(
        STATES, [("running", Mode.LIGHT, "small"), ("failed", Mode.DARK, "small"), ("finished", Mode.LIGHT, "large")]
    ),
)
def test_a_session(
    qtbot: QtBot,
    make_window: Callable[[Mode, tuple[int, int]], MainWindow],
    tmp_path: Path,
    writers: list[SessionWriter],
    state: str,
    mode: Mode,
    size: str,
) -> None:
    window = make_window(mode, SIZES[size])
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start(STATES[state](tmp_path, writers))
    _check(qtbot, window, f"window-{state}-{mode.value}-{size}", tmp_path, SIZES[size])


@pytest.mark.parametrize(
    ("gpus", "mode", "size"), _combinations([0, 8], [(0, Mode.LIGHT, "small"), (8, Mode.DARK, "large")])
)
def test_the_live_view(
    qtbot: QtBot,
    make_window: Callable[[Mode, tuple[int, int]], MainWindow],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    writers: list[SessionWriter],
    gpus: int,
    mode: Mode,
    size: str,
) -> None:
    writer = sessions.start_session(tmp_path / "live.gpuscope", run=False)
    sessions.fill_session(writer, seconds=40, gpus=gpus, run=False)
    writers.append(writer)
    monkeypatch.setattr(launch, "start_monitor", lambda: PlainMonitorHandle(writer.path))
    window = make_window(mode, SIZES[size])
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start()
    _check(qtbot, window, f"window-live-{gpus}-gpus-{mode.value}-{size}", tmp_path, SIZES[size])


@pytest.mark.parametrize("panel", ["run", "monitor", "advisor"])
def test_a_narrow_window_has_tabs(
    qtbot: QtBot, make_window: Callable[[Mode, tuple[int, int]], MainWindow], tmp_path: Path, panel: str
) -> None:
    window = make_window(Mode.LIGHT, (1000, 760))
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start(_finished(tmp_path, []))
    window.panels.reveal(getattr(window.panels, panel))
    _check(qtbot, window, f"window-narrow-{panel}", tmp_path, (1000, 760))


@pytest.mark.parametrize(
    ("mode", "size"),
    [
        (mode, size)
        for _, mode, size in _combinations(
            ["advisor"], [("advisor", Mode.LIGHT, "small"), ("advisor", Mode.DARK, "large")]
        )
    ],
)
def test_the_advisor_alone(
    qtbot: QtBot,
    make_window: Callable[[Mode, tuple[int, int]], MainWindow],
    tmp_path: Path,
    mode: Mode,
    size: str,
) -> None:
    window = make_window(mode, SIZES[size])
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start(_finished(tmp_path, []))
    window.advice.toggle_alone()
    assert not window.panels.run.isVisible()
    qtbot.waitUntil(lambda: window.advisor_panel.result.isVisible(), timeout=WAIT_MS)
    _check(qtbot, window, f"window-advisor-{mode.value}-{size}", tmp_path, SIZES[size])
    window.advice.toggle_alone()
    assert window.panels.run.isVisible()


def _check(qtbot: QtBot, window: MainWindow, name: str, tmp_path: Path, size: tuple[int, int]) -> None:
    qtbot.wait(SETTLING_MS)

    def settled() -> None:
        """On a busy machine layouts and plots take a moment longer."""
        assert colours_in(window.grab().toImage()) > 20
        assert _cut_texts(window) == []

    qtbot.waitUntil(settled, timeout=WAIT_MS)
    image = save_picture(window, name, tmp_path)
    assert (image.width(), image.height()) == size


def _cut_texts(window: QWidget) -> list[str]:
    """Labels and buttons on the screen whose text is wider than they are, or that reach out of the window."""
    found = []
    for widget in window.findChildren(QWidget):
        if not isinstance(widget, (QLabel, QAbstractButton)) or not _on_screen(widget):
            continue
        if isinstance(widget, ElidedLabel) or not widget.text():
            continue
        wraps = isinstance(widget, QLabel) and widget.wordWrap()
        if not wraps and widget.sizeHint().width() > widget.width() + 1:
            found.append(f"{widget.text()!r}: {widget.width()} of {widget.sizeHint().width()} pixels")
        left = widget.mapTo(window, QPoint(0, 0)).x()
        if left < 0 or left + widget.width() > window.width():
            found.append(f"{widget.text()!r} reaches out of the window")
    return found


def _on_screen(widget: QWidget) -> bool:
    return (
        widget.isVisible() and not widget.visibleRegion().isEmpty() and widget.windowType() is not Qt.WindowType.Popup
    )
