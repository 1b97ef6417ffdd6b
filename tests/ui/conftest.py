"""What the tests of the window share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before pytest-qt creates the application


@pytest.fixture(autouse=True)
def _own_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the window remembers is remembered in the test's own folder."""
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(scope="session", autouse=True)
def _collections_are_short() -> None:
    """What was there before the tests is not looked through after each of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _garbage_waits_for_the_end_of_the_test() -> Iterator[None]:
    """A window that nobody holds any more must not be destroyed in the middle of its own paint event.

    The product has `ui.garbage` for that.
    """
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(autouse=True)
def _delete_closed_widgets() -> Iterator[None]:
    """Widgets of earlier tests are really gone: a change of the theme would style them all again."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's offscreen platform cannot pass on a window's size limits and says so each time: that is no failure."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support", extend=True))
