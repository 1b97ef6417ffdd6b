"""The Advisor panel: its states, ranking again while typing."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from gpuscope.domain.footprint import Footprint, FootprintSource
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.model import EstimateInput
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ConstraintTexts, QuoteTexts
from gpuscope.ui.advisor.panel import AdvisorPanel
from tests.ui.advisor.panel_driving import MANIFEST, Recorder, field, finish, shown_text, wait_until_idle
from tests.ui.advisor.samples import IMPOSSIBLE, recommendation
from tests.ui.panel_pictures import save_picture
from tests.ui.run_samples import manifest as run_manifest


def test_without_a_session_it_says_what_to_do(panel: AdvisorPanel) -> None:
    assert "Nothing to advise on yet" in shown_text(panel)
    assert panel.message._estimate.isVisible()
    assert not panel.source_bar._export.isEnabled()


def test_while_running_it_offers_advice_on_what_is_known(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    panel.on_session_opened(MANIFEST, Path("/tmp/train.gpuscope"))
    assert "when the run has ended" in shown_text(panel)
    qtbot.mouseClick(panel.message._so_far, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.recommendation is not None)
    assert "still going on" in panel.result.verdict._basis.text()


def test_the_end_of_the_run_brings_the_answer(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    said: list[str] = []
    panel.status.connect(said.append)
    finish(qtbot, panel)
    assert shown_text(panel).startswith("Rent 2 × L40S")
    assert "measured over 1,240 steps on NVIDIA H100" in panel.result.verdict._basis.text()
    assert panel.result.chosen_number() == 0
    assert panel.result.explanation.topLevelItem(0).text(0) == "Time for the work"
    assert said[-1] == ""
    qtbot.waitUntil(lambda: engine.kept == [Path("/tmp/train.gpuscope")])
    with qtbot.waitSignal(panel.export_requested):
        qtbot.mouseClick(panel.source_bar._export, Qt.MouseButton.LeftButton)


def test_typing_ranks_again_once(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    finish(qtbot, panel)
    asked = len(engine.asked)
    qtbot.keyClicks(field(panel, "deadline"), "36h")
    qtbot.waitUntil(lambda: len(engine.asked) > asked)
    qtbot.waitUntil(lambda: not panel._ranking.busy)
    assert len(engine.asked) == asked + 1
    assert engine.asked[-1].deadline_s == 36 * 3600


@pytest.mark.parametrize("width", [400, 1200])
def test_the_decision_is_seen_at_once(qtbot: QtBot, panel: AdvisorPanel, width: int) -> None:
    panel.resize(width, 500)
    finish(qtbot, panel)
    sentence = panel.result.verdict._sentence
    qtbot.waitUntil(lambda: sentence.visibleRegion().boundingRect().height() == sentence.height())
    assert sentence.height() >= sentence.heightForWidth(sentence.width())  # none of its lines is cut
    form, said = (widget.mapTo(panel, QPoint(0, 0)) for widget in (panel.constraints_form, sentence))
    assert said.y() < form.y() if width == 400 else said.x() > form.x()


def test_what_the_form_remembers_counts_from_the_first_answer_on(
    qtbot: QtBot, qapp: QApplication, engine: Recorder
) -> None:
    PresetStore().keep_last(ConstraintTexts(deadline="36h", currency="JPY", currency_per_usd="150"))
    panel = AdvisorPanel(sources=engine.sources())
    qtbot.addWidget(panel, before_close_func=lambda panel: wait_until_idle(qtbot, panel))
    finish(qtbot, panel)
    assert engine.asked[0].deadline_s == 36 * 3600
    assert engine.asked[0].economics.currency == "JPY"
    assert panel.constraints == engine.asked[0]


def test_what_failed_cannot_be_exported(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    def fail(_constraints: Constraints) -> Recommendation:
        raise UsageError("It cannot be said.")

    finish(qtbot, panel)
    assert panel.source_bar._export.isEnabled()
    engine.answer = fail
    field(panel, "deadline").setText("36h")
    qtbot.waitUntil(lambda: "There is no advice" in shown_text(panel))
    assert not panel.source_bar._export.isEnabled()
    engine.answer = recommendation
    field(panel, "deadline").setText("35h")
    qtbot.waitUntil(lambda: shown_text(panel).startswith("Rent 2 × L40S"))
    assert panel.source_bar._export.isEnabled()


def test_a_file_without_prices_is_said_at_the_quotes(qtbot: QtBot, qapp: QApplication, engine: Recorder) -> None:
    def no_prices(path: Path) -> tuple[QuoteTexts, ...]:
        raise UsageError(f"{path.name} holds no price.")

    panel = AdvisorPanel(sources=dataclasses.replace(engine.sources(), quotes=no_prices))
    qtbot.addWidget(panel, before_close_func=lambda panel: wait_until_idle(qtbot, panel))
    quotes = panel.constraints_form.quotes
    quotes.import_requested.emit(Path("/tmp/notes.csv"))
    qtbot.waitUntil(lambda: quotes.problem.text() == "notes.csv holds no price.")
    assert not quotes.problem.isHidden()
    quotes.add_button.click()
    assert quotes.problem.isHidden()


def test_a_mistake_is_said_under_its_field_and_keeps_the_answer(
    qtbot: QtBot, panel: AdvisorPanel, engine: Recorder
) -> None:
    finish(qtbot, panel)
    asked = len(engine.asked)
    line = field(panel, "budget")
    qtbot.keyClicks(line, "lots")
    qtbot.waitUntil(lambda: "amount of money" in line.accessibleDescription())
    assert len(engine.asked) == asked
    assert shown_text(panel).startswith("Rent 2 × L40S")
    assert panel.earlier.isVisible()
    line.setText("$1,200")
    qtbot.waitUntil(lambda: len(engine.asked) > asked)
    assert engine.asked[-1].budget_usd == 1200
    assert line.accessibleDescription() == ""


def test_an_overtaken_answer_is_dropped(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    finish(qtbot, panel)
    release = threading.Event()

    def slow_at_first(constraints: Constraints) -> Recommendation:
        if constraints.budget_usd == 1:
            release.wait(10)
            return IMPOSSIBLE
        return recommendation(constraints)

    engine.answer = slow_at_first
    line = field(panel, "budget")
    line.setText("1")
    qtbot.waitUntil(lambda: engine.asked[-1].budget_usd == 1)
    line.setText("200")
    qtbot.wait(300)
    release.set()
    qtbot.waitUntil(lambda: engine.asked[-1].budget_usd == 200 and not panel._ranking.busy)
    assert panel.recommendation is not None
    assert panel.recommendation.constraints.budget_usd == 200


def test_a_footprint_that_fails_is_said(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    engine.footprint_error = "There is no file /tmp/train.gpuscope."
    panel.on_session_opened(MANIFEST, Path("/tmp/train.gpuscope"))
    panel.on_session_ended(None)
    qtbot.waitUntil(lambda: "no file" in panel.message._text.text())
    assert panel.message.isVisible()


@pytest.mark.parametrize("running", [True, False])
def test_a_session_without_a_job_is_not_advised_on(
    qtbot: QtBot, panel: AdvisorPanel, engine: Recorder, *, running: bool
) -> None:
    engine.found = Footprint(source=FootprintSource(kind="measured"))
    panel.on_session_opened(MANIFEST, Path("/tmp/train.gpuscope"))
    if running:
        panel.advise_on_session()
    else:
        panel.on_session_ended(None)
    qtbot.waitUntil(lambda: "Too little" in shown_text(panel))
    assert engine.asked == []
    assert panel.message._so_far.isVisible() is running


def test_a_typed_in_model_is_estimated(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    qtbot.mouseClick(panel.message._estimate, Qt.MouseButton.LeftButton)
    assert panel.estimate_form.isVisible()
    assert "How large" in shown_text(panel)
    qtbot.keyClicks(panel.estimate_form._parameters, "7B")
    qtbot.waitUntil(lambda: panel.recommendation is not None)
    assert engine.models[-1] == EstimateInput(
        parameters=7_000_000_000, dtype="fp32", stage="training", optimizer="adamw"
    )
    assert "nothing was measured" in panel.result.verdict._basis.text()
    panel.estimate_form._parameters.setText("seven")
    qtbot.waitUntil(lambda: "not a number" in panel.estimate_form._parameters.accessibleDescription())
    assert panel.recommendation is None


def test_nothing_possible_shows_why(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder, tmp_path: Path) -> None:
    engine.answer = lambda _constraints: IMPOSSIBLE
    finish(qtbot, panel)
    assert not panel.result.table.isVisible()
    assert panel.result.rejected.isVisible()
    save_picture(panel, "advisor-impossible", tmp_path)


def test_every_field_is_reached_by_tab(qtbot: QtBot, panel: AdvisorPanel) -> None:
    first = field(panel, "deadline")
    first.setFocus()
    seen = []
    for _ in range(12):
        widget = QApplication.focusWidget()
        seen.append(widget)
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    lines = [widget for widget in seen if isinstance(widget, QLineEdit)]
    names = [name for line in lines for name, known in panel.constraints_form._editors.items() if known.widget is line]
    assert names[:4] == ["deadline", "total", "budget", "budget_per_hour"]


def test_the_run_s_total_becomes_the_work_in_all(qtbot: QtBot, panel: AdvisorPanel, engine: Recorder) -> None:
    line = field(panel, "total")
    panel.on_session_opened(run_manifest(total_steps=5000), Path("/tmp/a.gpuscope"))
    assert line.text() == "5000"
    panel.on_session_ended(None)
    qtbot.waitUntil(lambda: bool(engine.asked) and engine.asked[-1].total_steps == 5000)
    panel.on_session_opened(run_manifest(total_steps=70), Path("/tmp/b.gpuscope"))
    assert line.text() == "70", "a suggestion gives way to the next"
    panel.on_session_opened(run_manifest(total_steps=None), Path("/tmp/d.gpuscope"))
    assert line.text() == "", "a run without a total has not the total of another"
    line.setText("9k")
    panel.on_session_opened(run_manifest(total_steps=5), Path("/tmp/c.gpuscope"))
    assert line.text() == "9k", "what the person typed stays"
    qtbot.waitUntil(lambda: not panel._pause.isActive())
