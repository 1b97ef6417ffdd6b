"""The answer in the Advisor panel: choosing, columns, copying; pictures of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.domain.recommendation import Recommendation
from gpuscope.ui import theme
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.advisor.result.cells import Column
from gpuscope.ui.advisor.result.range_delegate import ROW_HEIGHT
from tests.ui.advisor.panel_driving import Recorder, finish
from tests.ui.advisor.samples import recommendation, service
from tests.ui.panel_pictures import colours_in, save_picture


def test_choosing_goes_both_ways(qtbot: QtBot, panel: AdvisorPanel) -> None:
    finish(qtbot, panel)
    table = panel.result.table
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert panel.result.chosen_number() == 1
    assert panel.result.plot._chosen == 1
    panel.result.plot.chosen.emit(4)
    assert panel.result.chosen_number() == 4


def test_the_recommended_row_is_chosen_until_the_person_picks_another(
    qtbot: QtBot, panel: AdvisorPanel, engine: Recorder
) -> None:
    finish(qtbot, panel)
    assert panel.result.chosen_number() == 0

    def rank_again(recommended: int) -> None:
        answer = msgspec.structs.replace(recommendation(), recommended=recommended)
        panel.result.show_recommendation(answer, "")

    rank_again(2)
    assert panel.result.chosen_number() == 2
    panel.result.table.choose(1)  # as a click does
    rank_again(0)
    assert panel.result.chosen_number() == 1
    panel.result.table.choose(0)
    rank_again(2)
    assert panel.result.chosen_number() == 2


def test_columns_that_know_nothing_give_their_room_up(panel: AdvisorPanel) -> None:
    blank = tuple(
        msgspec.structs.replace(candidate, time_to_finish_s=None, cost_usd=None)
        for candidate in recommendation().candidates
    )
    table = panel.result.table
    panel.result.show()

    def shown(answer: Recommendation) -> set[Column]:
        panel.result.show_recommendation(answer, "")
        return {column for column in Column if not table.isColumnHidden(column)}

    assert {Column.TIME, Column.COST} <= shown(recommendation())
    unknown = shown(msgspec.structs.replace(recommendation(), candidates=blank))
    assert {Column.FIT, Column.STEP_TIME} <= unknown
    assert not {Column.TIME, Column.COST} & unknown


def test_a_service_has_columns_of_its_own(panel: AdvisorPanel) -> None:
    table = panel.result.table
    panel.result.show()
    panel.resize(1300, 900)
    panel.result.show_recommendation(recommendation(), "")
    assert table.isColumnHidden(Column.FIRST_TOKEN)
    panel.result.show_recommendation(service(), "")
    assert not table.isColumnHidden(Column.FIRST_TOKEN)
    model = table.candidates
    assert model.data(model.index(0, Column.REQUESTS)) == "11.4–17.0 /s"
    assert "as a service" in model.data(model.index(1, Column.REQUESTS), Qt.ItemDataRole.ToolTipRole)


def test_copying_takes_the_whole_table(qtbot: QtBot, panel: AdvisorPanel) -> None:
    finish(qtbot, panel)
    panel.result.table.setFocus()
    qtbot.keyClick(panel.result.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 1 + len(recommendation().candidates)
    assert lines[0].split("\t")[0] == "GPU × n"
    assert lines[1].startswith("2 × L40S ◆ (aws · g6e.24xlarge · us-east-1)\t26 / 48 GiB\t")
    assert lines[-1].endswith("\t\t\t\t\t\t\t\t\tspecified")


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
@pytest.mark.parametrize("width", [336, 400, 700])
def test_pictures(
    qtbot: QtBot, qapp: QApplication, panel: AdvisorPanel, mode: theme.Mode, width: int, tmp_path: Path
) -> None:
    theme.apply_theme(qapp, mode)
    panel.resize(width, 900)
    finish(qtbot, panel)
    panel.result.tabs.setCurrentWidget(panel.result.plot)
    qtbot.wait(50)
    assert panel.width() == width, "the panel must not force itself wider"
    assert colours_in(save_picture(panel, f"advisor-{mode}-{width}", tmp_path)) > 10
    panel.result.tabs.setCurrentWidget(panel.result.why)
    panel.constraints_form.sections[2].fold.set_open(True)
    panel.resize(width, 1000)
    qtbot.wait(50)
    save_picture(panel, f"advisor-why-{mode}-{width}", tmp_path)


def test_picture_of_the_first_state(panel: AdvisorPanel, tmp_path: Path) -> None:
    assert colours_in(save_picture(panel, "advisor-nothing", tmp_path)) > 3


def test_a_low_panel_scrolls_instead_of_growing(qtbot: QtBot, panel: AdvisorPanel, tmp_path: Path) -> None:
    finish(qtbot, panel)
    panel.resize(336, 500)
    qtbot.wait(50)
    assert (panel.width(), panel.height()) == (336, 500)
    assert panel.result.table.height() >= 3 * ROW_HEIGHT
    assert panel.result.table.geometry().bottom() < panel.result.tabs.geometry().top(), "nothing overlaps"
    save_picture(panel, "advisor-low", tmp_path)
