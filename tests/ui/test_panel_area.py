"""Where the panels live: what keeps its size and what comes to the front when the window changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.ui.panel_area import OUTPUT_HEIGHT_PX, TABS_BELOW_PX, PanelArea


@pytest.fixture
def area(qtbot: QtBot, qapp: QApplication) -> Iterator[PanelArea]:
    window = QWidget()
    qtbot.addWidget(window)
    panels = [QPlainTextEdit() for _ in range(4)]
    made = PanelArea(*panels, window)
    notice = QLabel("a notice above the panels", window)
    notice.setObjectName("notice")
    notice.setFixedHeight(160)
    notice.hide()
    column = QVBoxLayout(window)
    column.addWidget(notice)
    column.addWidget(made, 1)
    window.resize(TABS_BELOW_PX + 100, 800)
    window.show()
    yield made
    window.close()


def _output_height(area: PanelArea) -> int:
    for _ in range(3):  # the layout is settled by events that are posted while others are handled
        QApplication.processEvents()
    return area.output.height()


def test_notices_above_the_panels_do_not_make_the_output_grow(area: PanelArea) -> None:
    area.reveal(area.output)
    before = _output_height(area)
    assert before == OUTPUT_HEIGHT_PX
    notice = area.parentWidget().findChild(QLabel, "notice")
    for _ in range(4):
        notice.show()
        assert _output_height(area) == before
        notice.hide()
        assert _output_height(area) == before
    area.parentWidget().resize(TABS_BELOW_PX + 100, 1000)
    assert _output_height(area) == before


def test_the_height_that_the_person_gave_the_output_is_kept(area: PanelArea) -> None:
    area.reveal(area.output)
    QApplication.processEvents()
    area.resizeDocks([area.monitor, area.output], [500, 300], Qt.Orientation.Vertical)  # as dragging the boundary does
    before = _output_height(area)
    assert before > OUTPUT_HEIGHT_PX
    area.parentWidget().resize(TABS_BELOW_PX + 100, 900)
    assert _output_height(area) == before


def test_a_panel_outside_the_window_stays_there_when_the_window_changes(qtbot: QtBot, area: PanelArea) -> None:
    area.monitor.setFloating(True)
    for width in (TABS_BELOW_PX - 200, TABS_BELOW_PX + 100):
        area.parentWidget().resize(width, 800)
        qtbot.waitUntil(lambda width=width: area.tabbed == (width < TABS_BELOW_PX))
        assert area.monitor.isFloating()
        assert area.monitor.isVisible()
        assert area.monitor.titleBarWidget() is None
    area.monitor.setFloating(False)
    assert not area.monitor.isFloating()


def test_a_remembered_panel_outside_the_window_is_there_again(qtbot: QtBot, area: PanelArea) -> None:
    area.monitor.setFloating(True)
    layout = area.save_layout()
    window = QWidget()
    qtbot.addWidget(window)
    again = PanelArea(*[QPlainTextEdit() for _ in range(4)], window)
    again.restore_layout(layout)
    again.resize(TABS_BELOW_PX - 200, 800)
    window.show()
    assert again.monitor.isFloating()
    qtbot.waitUntil(again.monitor.isVisible)


def test_the_panel_that_was_shown_last_is_in_front_of_the_tabs(qtbot: QtBot, area: PanelArea) -> None:
    area.reveal(area.monitor)
    area.parentWidget().resize(TABS_BELOW_PX - 200, 800)
    qtbot.waitUntil(lambda: area.tabbed and not area.monitor.visibleRegion().isEmpty())
    assert area.run.visibleRegion().isEmpty()
