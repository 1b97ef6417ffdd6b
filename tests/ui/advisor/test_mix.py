"""Several jobs: the table of them, and the answer for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.engine.registry import SessionSummary
from gpuscope.store.reader import SessionState
from gpuscope.ui import theme
from gpuscope.ui.advisor.mix.jobs import JobsForm
from gpuscope.ui.advisor.mix.result import MixResult, job_rows, machine_rows, option_rows
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.figures import DASH
from tests.ui.advisor.panel_driving import Recorder, wait_until_idle
from tests.ui.advisor.samples import mix
from tests.ui.panel_pictures import colours_in, save_picture

RECENT = [
    SessionSummary(path=Path(f"/tmp/{name}.gpuscope"), title=f"runs/{name}.py", kind="run", created_wall_s=0,
                   state=SessionState.CLOSED)
    for name in ("train", "evaluate")
]  # fmt: skip


@pytest.fixture
def form(qtbot: QtBot, qapp: QApplication) -> JobsForm:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = JobsForm(lambda: RECENT)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def type_runs(form: JobsForm, row: int, text: str) -> None:
    item = form.table.item(row, 1)
    assert item is not None
    item.setText(text)


def test_jobs_are_added_edited_and_removed(qtbot: QtBot, form: JobsForm) -> None:
    assert form.read() is None
    assert form.hint.isVisible()
    form.add(Path("/tmp/a.gpuscope"), "runs/a.py --fast")
    form.add(Path("/tmp/b.json"))
    form.add(Path("/tmp/a.gpuscope"))
    assert form.paths() == [Path("/tmp/a.gpuscope"), Path("/tmp/b.json")], "a job is in the table once"
    type_runs(form, 0, "40")
    form.growth.setText("20%")
    found = form.read()
    assert found is not None
    assert [(job.name, job.runs_per_month) for job in found.jobs] == [("a.py --fast", 40), ("b", 1)]
    assert found.growth_per_year == pytest.approx(0.2)
    form.table.clearSelection()  # whatever keys an earlier test seems to hold down
    form.table.selectRow(0)
    form.table.setFocus()
    qtbot.keyClick(form, Qt.Key.Key_Delete)
    assert form.paths() == [Path("/tmp/b.json")]


def test_a_name_is_words_that_can_be_read(form: JobsForm) -> None:
    form.add(Path("/tmp/a.gpuscope"))
    item = form.table.item(0, 0)
    assert item is not None
    for typed, expected in ((" nightly ", "nightly"), ("\x1b\n", "a"), ("", "a"), ("x" * 500, "x" * 120)):
        item.setText(typed)
        found = form.read()
        assert found is not None
        assert found.jobs[0].name == expected


def test_growth_has_a_limit(form: JobsForm) -> None:
    form.add(Path("/tmp/a.gpuscope"))
    form.growth.setText("1000%")
    assert form.read() is not None
    form.growth.setText("1001")
    assert form.read() is None
    assert "from 0 to 1000" in form.growth.accessibleDescription()


def test_a_mistake_is_said_and_loses_nothing(form: JobsForm) -> None:
    form.add(Path("/tmp/a.gpuscope"))
    type_runs(form, 0, "often")
    assert form.read() is None
    assert form.problem.isVisible()
    assert "a: Write a number" in form.problem.text()
    type_runs(form, 0, "1e9")
    assert form.read() is None
    assert "up to 100,000 times" in form.problem.text()
    type_runs(form, 0, "3")
    form.growth.setText("much")
    assert form.read() is None
    assert "Write a number" in form.growth.accessibleDescription()


def test_recent_sessions_are_offered_unless_they_are_there(form: JobsForm) -> None:
    form.add(RECENT[0].path)
    form._fill_menu()
    assert [action.text() for action in form._menu.actions()] == ["evaluate.py"]
    form._menu.actions()[0].trigger()
    assert form.paths() == [RECENT[0].path, RECENT[1].path]


def test_files_are_dropped(form: JobsForm) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/a.gpuscope"), QUrl.fromLocalFile("/tmp/notes.txt")])
    form.dropEvent(
        QDropEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                   Qt.KeyboardModifier.NoModifier)
    )  # fmt: skip
    assert form.paths() == [Path("/tmp/a.gpuscope")]


def test_the_ways_stand_beside_each_other() -> None:
    titles, rows = option_rows(mix(), Money())
    assert [title.text for title in titles] == ["Way", "machines", "in use", "1 year", "3 years", "5 years"]
    assert [cell.text for cell in rows[0]][:3] == ["share machines of one kind", "2 × (4 × L40S)", "61%"]
    assert rows[0][3].bold
    assert rows[3][3].text == DASH
    assert "not known" in rows[3][3].tooltip
    _, machines = machine_rows(mix().options[0], Money())
    assert [cell.text for cell in machines[0]][1:] == ["61%", "83%", "$92,000", "$118,000"]
    _, jobs = job_rows(mix(), mix().options[1], Money())
    assert [row[0].text for row in jobs] == ["train.py --config gpt2.yaml", "evaluate.py"]
    assert jobs[0][1].text == "40"


def test_the_panel_advises_on_jobs(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    panel.source_bar.choose_jobs()
    assert panel.jobs_form.isVisible()
    assert "come again" in panel.message._title.text()
    panel.jobs_form.add(Path("/tmp/a.gpuscope"))
    qtbot.waitUntil(lambda: panel.mix_result.isVisible())
    assert panel.mix_result.sentence.text().startswith("Buy 2 machines")
    assert engine.mixes[-1].jobs[0].runs_per_month == 1
    panel.jobs_form.remove_chosen()
    qtbot.waitUntil(lambda: not panel.mix_result.isVisible())
    wait_until_idle(qtbot, panel)


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
def test_picture_of_the_answer(qtbot: QtBot, qapp: QApplication, mode: theme.Mode, tmp_path: Path) -> None:
    theme.apply_theme(qapp, mode)
    page = MixResult()
    qtbot.addWidget(page)
    page.resize(800, 700)
    page.show_mix(mix())
    page.show()
    qtbot.wait(50)
    assert colours_in(save_picture(page, f"mix-{mode}", tmp_path)) > 5
