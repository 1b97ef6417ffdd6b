"""Names from a file of somebody else in the window: shown as they are written, never taken for markup."""

from __future__ import annotations

import pytest
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.domain.device import Device
from gpuscope.ui.cards import new_gpu_card
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

MARKUP = "<img src='file:///etc/passwd'><b>bold</b><a href='http://127.0.0.1/'>x</a>"


def test_a_device_with_tags_in_its_name(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    card = new_gpu_card(Device(uuid=MARKUP, index=0, name=MARKUP), MARKUP, parent)
    for label in card.findChildren(QLabel):
        plain = label.textFormat() is Qt.TextFormat.PlainText
        assert plain or "<img" not in label.text(), label.text()
    for widget in (card, *card.findChildren(QWidget)):
        assert "<img" not in widget.toolTip()


@pytest.mark.parametrize("kind", [ElidedLabel, WrappingLabel])
def test_labels_show_tags_as_text(kind: type[QLabel], qtbot: QtBot) -> None:
    label = kind()
    qtbot.addWidget(label)
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_a_tooltip_shows_tags_as_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.set_full_text(MARKUP)
    assert "&lt;img" in label.toolTip()
    assert as_plain("a < b\nc") == "a < b\nc"
