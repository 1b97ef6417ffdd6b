"""The window that says how good the predictions are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.domain.base import Range
from gpuscope.engine.validate import OwnRun, OwnRuns, ValidationReport
from gpuscope.ui import theme
from gpuscope.ui.validation.kept import KeptValidation, ValidationStore
from gpuscope.ui.validation.page import ValidationPage
from gpuscope.ui.validation.scatter import describe
from tests.ui.panel_pictures import colours_in, save_picture

OWN = OwnRuns(
    predicted_jobs=2,
    runs=(
        OwnRun(
            when="2026-11-29T08:30:00+00:00", job="train.py", gpu="l40s", count=1, precision="bfloat16",
            predicted_s=Range(low=0.2, mid=0.25, high=0.3), measured_s=0.27, inside=True, sentence="As predicted.",
        ),
    ),
    inside=1,
)  # fmt: skip


def outcome(study: str, number: int) -> Outcome:
    measured = 0.01 * 1.3**number
    return Outcome(
        study=study, family="resnet", gpu="a100", precision="float32", label=f"model {number}", measured=measured,
        predicted=Range(low=measured * 0.8, mid=measured * (1 + 0.02 * (number % 5)), high=measured * 1.3),
        held_out="a100", source="published table",
    )  # fmt: skip


class Engine:
    """Two studies; the second waits until it may go on or is cancelled."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def run(
        self,
        cancelled: Callable[[], bool],
        progress: Callable[[int, int, str], None],
        seen: Callable[[Sequence[Outcome]], None],
    ) -> ValidationReport:
        progress(0, 2, "first")
        seen([outcome("first", number) for number in range(20)])
        progress(1, 2, "second")
        while not self.go_on.wait(0.01):
            if cancelled():
                return ValidationReport(studies=(StudyResult(name="first"),), own=OWN, complete=False)
        seen([outcome("second", number) for number in range(10)])
        results = (
            StudyResult(name="first", description="The first.", goal=(0.1, 0.25), met=True),
            StudyResult(name="second"),
            StudyResult(name="third", failure="ValueError: no"),
        )
        score = Score(
            data="Lambda suite", aim="fastest", rule="gpuscope", decisions=9, right=0.89, mean_regret=0.01,
            worst_regret=0.2,
        )  # fmt: skip
        return ValidationReport(studies=results, decisions=(score,), own=OWN)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication, engine: Engine) -> ValidationPage:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = ValidationPage(None, engine.run, lambda: OWN)
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitUntil(lambda: not widget._reading.busy and not widget._recalling.busy)
    return widget


def cells(page: ValidationPage, row: int) -> list[str]:
    return page.table.as_tsv().splitlines()[1 + row].split("\t")


def test_nothing_is_computed_before_it_is_asked_for(page: ValidationPage) -> None:
    assert page.start_button.isEnabled()
    assert not page.progress.isVisible()
    assert not page.published.isVisible()
    assert "Nothing has been compared" in page.nothing.text()
    assert "1 of 1 runs" in page.own_sentence.text()
    assert page.own_table.rowCount() == 1


def test_studies_appear_as_they_come_and_the_rest_at_the_end(
    qtbot: QtBot, page: ValidationPage, engine: Engine
) -> None:
    qtbot.mouseClick(page.start_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.table.rowCount() == 1)
    qtbot.waitUntil(lambda: "2 of 2" in page.progress.format())
    assert page.stop_button.isVisible()
    engine.go_on.set()
    qtbot.waitUntil(lambda: page.start_button.isEnabled())
    assert cells(page, 0)[:2] == ["first", "20"]
    assert cells(page, 0)[4] == "10% / 25% ✓"
    assert cells(page, 2)[0] == "third"
    assert "These failed: third" in page.sentence.text()
    assert page.decisions.rowCount() == 1
    assert len(page.scatter.shown_outcomes()) == 30
    page.table.selectRow(1)
    assert len(page.scatter.shown_outcomes()) == 10
    qtbot.mouseClick(page.all_button, Qt.MouseButton.LeftButton)
    assert len(page.scatter.shown_outcomes()) == 30


def test_it_can_be_stopped_with_what_there_is(qtbot: QtBot, page: ValidationPage) -> None:
    page.start()
    qtbot.waitUntil(lambda: page.table.rowCount() == 1)
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.start_button.isEnabled())
    assert "It was stopped" in page.sentence.text()
    assert page.table.rowCount() == 1


def test_closing_ends_the_work(qtbot: QtBot, page: ValidationPage) -> None:
    page.start()
    qtbot.waitUntil(lambda: page.table.rowCount() == 1)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()
    assert not page.work.busy
    page.show()
    assert page.table.rowCount() == 1
    assert "It was stopped" in page.sentence.text()


def test_the_last_whole_comparison_is_there_again(
    qtbot: QtBot, page: ValidationPage, engine: Engine, tmp_path: Path
) -> None:
    engine.go_on.set()
    page.start()
    qtbot.waitUntil(lambda: page.start_button.isEnabled() and not page._keeping.busy)
    again = ValidationPage(None, engine.run, lambda: OWN)
    qtbot.addWidget(again)
    again.show()
    qtbot.waitUntil(lambda: again.table.rowCount() == 3)
    assert again.table.as_tsv() == page.table.as_tsv()
    assert again.decisions.rowCount() == 1
    assert len(again.scatter.shown_outcomes()) == 30
    assert "compare again after an update" in again.sentence.text()
    assert again.start_button.isEnabled()


def test_a_damaged_memory_counts_as_none(tmp_path: Path) -> None:
    store = ValidationStore(tmp_path / "validation.msgpack")
    assert store.read() is None
    (tmp_path / "validation.msgpack").write_bytes(b"\x00no")
    assert store.read() is None
    kept = KeptValidation(day="2026-11-30", report=ValidationReport(studies=(), own=OWN), outcomes=())
    ValidationStore(tmp_path / "none" / "validation.msgpack").write(kept)  # cannot be written: nothing is kept
    store.write(kept)
    assert store.read() == kept


def test_a_mark_says_what_it_is() -> None:
    assert describe(outcome("first", 0)) == "model 0, a100, float32: 10 ms / 10 ms (published table)"


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
def test_pictures(
    qtbot: QtBot, qapp: QApplication, page: ValidationPage, engine: Engine, mode: theme.Mode, tmp_path: Path
) -> None:
    theme.apply_theme(qapp, mode)
    engine.go_on.set()
    page.start()
    qtbot.waitUntil(lambda: page.start_button.isEnabled())
    qtbot.wait(50)
    assert colours_in(save_picture(page, f"validation-{mode}", tmp_path)) > 10
    page.tabs.setCurrentIndex(2)
    save_picture(page, f"validation-own-{mode}", tmp_path)
