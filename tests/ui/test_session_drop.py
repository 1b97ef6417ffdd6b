"""Sessions that are dropped on the window are opened, logs imported; scripts and folders are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.ui.session_drop import SessionDrop


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (["file:///s/a.gpuscope"], [Path("/s/a.gpuscope")]),
        (["file:///s/gpu.csv"], [[Path("/s/gpu.csv")]]),
        (["file:///s/gpu.csv", "file:///s/host.csv"], [[Path("/s/gpu.csv"), Path("/s/host.csv")]]),
        (["file:///s/gpu.csv", "https://example.org/b.csv"], []),
        (["file:///s/a.gpuscope", "file:///s/b.gpuscope"], []),
        (["file:///s/a.gpuscope", "file:///s/gpu.csv"], []),
        (["file:///"], []),
        (["file:///s/train.py"], []),
        (["https://example.org/a.gpuscope"], []),
        ([], []),
    ],
)
def test_one_session_or_logs_at_a_time(
    qtbot: QtBot, qapp: QApplication, urls: list[str], expected: list[Path | list[Path]]
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    drop = SessionDrop(window)
    dropped: list[Path | list[Path]] = []
    drop.dropped.connect(dropped.append)
    drop.logs_dropped.connect(dropped.append)
    data = QMimeData()
    data.setUrls([QUrl(url) for url in urls])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    keys = Qt.KeyboardModifier.NoModifier
    coming, event = (
        QDragEnterEvent(QPoint(5, 5), copy, data, left, keys),
        QDropEvent(QPointF(5, 5), copy, data, left, keys),
    )
    coming.ignore()
    for each in (coming, event):
        QApplication.sendEvent(window, each)
    assert dropped == expected
    assert coming.isAccepted() == bool(expected)
