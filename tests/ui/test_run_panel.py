"""The Run panel: starting, mistakes, a run in progress and how it ends, recent sessions; pictures of it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome
from gpuscope.engine.launch import RunRequest
from gpuscope.engine.registry import SessionSummary
from gpuscope.runner.interpreters import Interpreter
from gpuscope.store.reader import SessionState
from gpuscope.ui import theme
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.recent_runs import note
from gpuscope.ui.run_panel import RunPanel, RunSources
from gpuscope.ui.settings import WindowSettings
from tests.ui.advisor.panel_driving import Recorder as AdvisorRecorder
from tests.ui.panel_pictures import colours_in, save_picture
from tests.ui.run_samples import (
    FAILED,
    FINISHED,
    MIB,
    OUT_OF_MEMORY,
    census,
    cuda_memory,
    frame,
    manifest,
    steps,
    update,
)

FOUND = [
    Interpreter("/opt/venv/bin/python", "3.12.4", "2.13.0", "13.0", "the active virtual environment"),
    Interpreter("/usr/bin/python3", "3.11.2", None, None, "PATH"),
]
NOW_S = 1_796_000_000.0
RECENT = [
    SessionSummary(path=Path("/s/a.gpuscope"), title="train.py --config gpt2-medium.yaml --data /data/fineweb-edu-10B",
                   kind="run", created_wall_s=NOW_S, state=SessionState.LIVE),
    SessionSummary(path=Path("/s/b.gpuscope"), title="-m package.train --epochs 3", kind="run",
                   created_wall_s=NOW_S - 90_000, state=SessionState.CLOSED),
    SessionSummary(path=Path("/s/c.gpuscope"), title="workstation", kind="record", created_wall_s=NOW_S - 900_000,
                   state=SessionState.INTERRUPTED),
]  # fmt: skip


class Machine:
    """Stands where the engine is, and remembers what it was asked."""

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def interpreters(self, folder: Path) -> list[Interpreter]:
        self.folders.append(folder)
        return FOUND

    def sources(self) -> RunSources:
        return RunSources(self.interpreters, lambda: RECENT, lambda _path: manifest())


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def panel(
    qtbot: QtBot, qapp: QApplication, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RunPanel:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = RunPanel(sources=machine.sources(), settings=WindowSettings())
    qtbot.addWidget(widget, before_close_func=lambda panel: wait_until_idle(qtbot, panel))
    widget.resize(400, 800)
    widget.show()
    qtbot.waitUntil(lambda: widget.recent.count() == len(RECENT))
    return widget


def wait_until_idle(qtbot: QtBot, panel: RunPanel) -> None:
    qtbot.waitUntil(lambda: not panel.interpreters.busy and not panel._recent_work.busy)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("print(1)")
    return path


def follow(panel: RunPanel, opened: Manifest, *, cuda: bool = True, steps_done: int = 1240) -> None:
    panel.on_session_opened(opened)
    memory = [cuda_memory()] if cuda else []
    last = frame(10 + 0.2 * steps_done, 6100 * MIB)
    panel.on_update(update(*steps(steps_done), *census(), *memory, frames=(last,)))


def requests_of(panel: RunPanel) -> list[RunRequest]:
    found: list[RunRequest] = []
    panel.run_requested.connect(found.append)
    return found


def test_a_filled_in_script_is_requested(qtbot: QtBot, panel: RunPanel, script: Path) -> None:
    requests = requests_of(panel)
    panel.form.take_script(script)
    qtbot.keyClicks(panel.form._arguments, "--epochs 3 --name 'two words'")
    qtbot.keyClick(panel.form._arguments, Qt.Key.Key_Return)
    assert requests == [
        RunRequest(target="script", args=("train.py", "--epochs", "3", "--name", "two words"), cwd=str(script.parent))
    ]


def test_a_double_click_is_one_run(qtbot: QtBot, panel: RunPanel, script: Path) -> None:
    requests = requests_of(panel)
    panel.form.take_script(script)
    panel.run()
    panel.run()
    assert len(requests) == 1
    panel.on_session_opened(manifest())
    panel.on_session_ended(FINISHED)
    panel.run()
    assert len(requests) == 2


def test_a_mistake_is_said_at_its_field_and_nothing_starts(qtbot: QtBot, panel: RunPanel, script: Path) -> None:
    requests = requests_of(panel)
    qtbot.mouseClick(panel.run_button, Qt.MouseButton.LeftButton)
    assert requests == []
    assert "Choose the Python script" in panel.form._target.accessibleDescription()
    assert panel.form._target._line.hasFocus()
    panel.form.take_script(script)
    assert panel.form._target.accessibleDescription() == "", "it goes away as soon as it is mended"


def test_a_mistake_in_a_folded_field_unfolds_it(qtbot: QtBot, panel: RunPanel, script: Path) -> None:
    panel.form.take_script(script)
    panel.form._environment.setPlainText("nonsense")
    panel.form._section.set_open(False)
    panel.run()
    assert panel.form._environment.isVisible()
    assert "Line 1" in panel.form._environment.accessibleDescription()


def test_dropping_a_script_takes_it(panel: RunPanel, script: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(script))])
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                      Qt.KeyboardModifier.NoModifier)  # fmt: skip
    panel.form.dropEvent(drop)
    assert panel.form.settings().target == str(script)


def test_interpreters_are_offered_with_their_torch(qtbot: QtBot, panel: RunPanel, machine: Machine) -> None:
    box = panel.interpreters
    qtbot.waitUntil(lambda: box.count() == 4)
    assert box.itemText(1) == "torch 2.13.0 · Python 3.12.4 · /opt/venv"
    assert box.itemText(2).startswith("no torch")
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert panel.form.settings().python == "/opt/venv/bin/python"


def test_another_folder_is_looked_through(qtbot: QtBot, panel: RunPanel, machine: Machine, script: Path) -> None:
    panel.form.take_script(script)
    qtbot.waitUntil(lambda: script.parent in machine.folders)


def test_what_was_run_is_remembered_without_secrets(panel: RunPanel, machine: Machine, script: Path) -> None:
    panel.form.take_script(script)
    panel.form._environment.setPlainText("HF_TOKEN=hf_abcdefghijklmnopqrst\nOMP_NUM_THREADS=8")
    panel.run()
    again = RunPanel(sources=machine.sources(), settings=WindowSettings())
    assert again.form.settings().target == str(script)
    assert again.form.settings().environment == "HF_TOKEN=***\nOMP_NUM_THREADS=8"
    again.deleteLater()


def test_a_run_in_progress_shows_steps_speed_and_memory(qtbot: QtBot, panel: RunPanel) -> None:
    follow(panel, manifest())
    status = panel.status
    assert status.steps.plain_text() == "1,240 of 5,000 steps"
    assert status.progress.value() == 1240
    assert status.median.plain_text() == "200 ms"
    assert status.rate.plain_text() == "5 it/s"
    assert status.samples.plain_text() == "160 samples/s"
    assert status.remaining.plain_text() == "12.5 min to go"
    assert "optimizer state 992 MiB" in status.parts.accessibleName()
    assert status.state.text() == "Running steadily."
    assert panel.stop_button.isVisible()
    assert not panel.run_button.isEnabled()
    with qtbot.waitSignal(panel.stop_requested):
        qtbot.mouseClick(panel.stop_button, Qt.MouseButton.LeftButton)
    requests = requests_of(panel)
    panel.run()
    assert requests == [], "one run at a time"


def test_waiting_shows_no_figures(panel: RunPanel) -> None:
    panel.on_session_opened(manifest())
    assert panel.status.state.text().startswith("Waiting for the first step")
    assert not panel.status.median.isVisible()
    assert not panel.status.progress.isVisible()


def test_a_stalled_run_says_for_how_long(panel: RunPanel) -> None:
    panel.on_session_opened(manifest())
    panel.on_update(update(*steps(40), frames=(frame(78),)))
    assert panel.status.state.text() == "No step for 60 s; a step usually takes 200 ms."


@pytest.mark.parametrize(
    ("outcome", "part"),
    [
        (FINISHED, "finished after 17 min"),
        (FAILED, "FileNotFoundError"),
        (OUT_OF_MEMORY, "Tried to allocate 2 GiB, the GPU has 23.7 GiB, 1.1 GiB were free."),
        (None, "interrupted"),
    ],
)
def test_the_end_is_said(panel: RunPanel, outcome: RunOutcome | None, part: str) -> None:
    follow(panel, manifest())
    panel.on_session_ended(outcome)
    assert part in panel.status.state.text()
    assert panel.status.last_output.isVisible() is bool(outcome is not None and outcome.last_output)
    assert panel.run_button.isEnabled()
    assert not panel.stop_button.isVisible()
    assert not panel.status.remaining.isVisible()


def test_recent_sessions_are_opened_and_filled_in_again(qtbot: QtBot, panel: RunPanel) -> None:
    opened: list[Path] = []
    panel.open_requested.connect(opened.append)
    panel.recent.setCurrentRow(1)
    panel.recent.itemActivated.emit(panel.recent.item(1))
    assert opened == [Path("/s/b.gpuscope")]
    assert panel.again_button.isEnabled()
    qtbot.mouseClick(panel.again_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.form.settings().target == "train.py")
    panel.recent.setCurrentRow(2)
    assert not panel.again_button.isEnabled(), "a recording has no settings of a run"


def test_a_list_without_sessions_offers_nothing_to_fill_in(panel: RunPanel) -> None:
    assert not panel.again_button.isHidden()
    panel._recent_work.finished.emit([])
    assert panel.again_button.isHidden()


def test_how_a_recent_run_ended_is_said() -> None:
    ended = SessionSummary(
        path=Path("/s/d.gpuscope"), title="train.py", kind="run", created_wall_s=NOW_S, state=SessionState.CLOSED,
        outcome=OutcomeKind.OUT_OF_MEMORY,
    )  # fmt: skip
    assert note(ended).endswith(" · out of memory")
    assert note(msgspec.structs.replace(ended, outcome=None)).count("·") == 0


def test_what_is_left_of_the_height_goes_below_folded_sections(panel: RunPanel) -> None:
    top = panel._recent_section.y()
    panel._recent_section.set_open(False)
    QApplication.processEvents()
    assert panel._recent_section.y() == top
    assert panel._recent_section.height() < 5 * theme.GRID
    panel._recent_section.set_open(True)
    QApplication.processEvents()
    assert panel.recent.height() > 20 * theme.GRID


def test_tab_goes_through_the_form_and_to_the_button(qtbot: QtBot, panel: RunPanel) -> None:
    panel.form._kind.setFocus()
    seen = []
    for _ in range(12):
        widget = QApplication.focusWidget()
        seen.append(widget)
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    form = panel.form
    wanted = [form._kind, form._total_steps, form._target._line, form._target._button, form._arguments,
              panel.interpreters]  # fmt: skip
    assert [widget for widget in seen if widget in wanted] == wanted
    assert panel.run_button in seen


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
@pytest.mark.parametrize("width", [288, 400])
def test_pictures(
    qtbot: QtBot, qapp: QApplication, panel: RunPanel, mode: theme.Mode, width: int, tmp_path: Path
) -> None:
    theme.apply_theme(qapp, mode)
    panel.resize(width, 800)
    panel.form.take_script(tmp_path / "missing.py")
    panel.form._arguments.setText("--name 'open")
    panel.run()
    qtbot.wait(30)
    assert panel.width() == width, "the panel must not force itself wider"
    assert colours_in(save_picture(panel, f"run-mistakes-{mode}-{width}", tmp_path)) > 5
    for name, outcome in (("gpu", None), ("cpu", None), ("failed", FAILED), ("oom", OUT_OF_MEMORY)):
        follow(panel, manifest(), cuda=name != "cpu")
        if outcome is not None:
            panel.on_session_ended(outcome)
        qtbot.wait(30)
        assert colours_in(save_picture(panel, f"run-{name}-{mode}-{width}", tmp_path)) > 5


def test_mnemonics_are_unique_and_leave_the_menus_alone(qtbot: QtBot, panel: RunPanel) -> None:
    advisor = AdvisorPanel(sources=AdvisorRecorder().sources())
    labels = [label.text() for widget in (panel, advisor) for kind in (QLabel, QPushButton)
              for label in widget.findChildren(kind)]  # fmt: skip
    letters = [match.group(1).lower() for text in labels for match in [re.search(r"&(\w)", text)] if match]
    assert len(letters) > 10
    assert not {"s", "r", "o", "v", "h"} & set(letters), "these open menus"
    shared = {letter for letter in letters if letters.count(letter) > 1}
    assert not shared, "one letter, one field"
    qtbot.waitUntil(lambda: not advisor._choosing.busy)
    advisor.deleteLater()
