"""What the tests of the window share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before pytest-qt creates the application


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's offscreen platform cannot pass on a window's size limits and says so each time: that is no failure."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support", extend=True))
