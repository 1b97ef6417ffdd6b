"""The Advisor panel: its states, ranking again while typing, choosing, copying; pictures of it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from gpuscope.domain.device import Host
from gpuscope.domain.footprint import Footprint, FootprintSource, Workload
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.errors import SessionError, UsageError
from gpuscope.ui import theme
from gpuscope.ui.advisor.form.constraints import Choices
from gpuscope.ui.advisor.form.model import EstimateInput
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ConstraintTexts, QuoteTexts
from gpuscope.ui.advisor.mix.jobs import MixInput
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.advisor.result.cells import Column
from gpuscope.ui.advisor.result.range_delegate import ROW_HEIGHT
from gpuscope.ui.advisor.sources import AdvisorSources
from tests.ui.advisor.samples import FOOTPRINT, IMPOSSIBLE, mix, recommendation, service
from tests.ui.panel_pictures import colours_in, save_picture
from tests.ui.run_samples import manifest as run_manifest

MANIFEST = Manifest(
    session_id="1", kind="run", created_wall_s=0, created_monotonic_s=0, gpuscope_version="0", interval_s=0.1,
    host=Host(hostname="box", os="Linux"),
    run=RunSpec(argv=("python", "train.py"), cwd="/", target="script", display="train.py --config gpt2-medium.yaml"),
)  # fmt: skip
CHOICES = Choices(
    providers=[("aws", "aws"), ("lambda", "lambda")], regions=[("us-east-1", "us-east-1")],
    vendors=[("NVIDIA", "NVIDIA")], gpus=[("l40s", "L40S"), ("t4", "T4")],
    form_factors=[("PCIe", "PCIe")],
)  # fmt: skip


class Recorder:
    """Stands where the engine is, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Constraints] = []
        self.models: list[EstimateInput] = []
        self.answer: Callable[[Constraints], Recommendation] = recommendation
        self.footprint_error: str = ""
        self.found = FOOTPRINT
        self.kept: list[Path] = []
        self.mixes: list[MixInput] = []

    def footprint(self, path: Path) -> Footprint:
        if self.footprint_error:
            raise SessionError(self.footprint_error)
        return self.found

    def advise(self, footprint: Footprint, constraints: Constraints) -> Recommendation:
        self.asked.append(constraints)
        return self.answer(constraints)

    def estimate(self, model: EstimateInput) -> Footprint:
        self.models.append(model)
        return Footprint(source=FootprintSource(kind="estimated"), workload=Workload(parameters=model.parameters))

    def sources(self) -> AdvisorSources:
        return AdvisorSources(
            footprint=self.footprint,
            advise=self.advise,
            estimate=self.estimate,
            choices=lambda: CHOICES,
            quotes=lambda _path: (QuoteTexts(gpu="l40s", price="9000"),),
            mix=self.mix,
            recent=list,
            keep=lambda path, _footprint, _recommendation: self.kept.append(path),
        )

    def mix(self, jobs: MixInput, constraints: Constraints) -> MixRecommendation:
        self.mixes.append(jobs)
        return mix(constraints)


@pytest.fixture
def engine() -> Recorder:
    return Recorder()


@pytest.fixture
def panel(qtbot: QtBot, qapp: QApplication, engine: Recorder) -> AdvisorPanel:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = AdvisorPanel(sources=engine.sources())
    qtbot.addWidget(widget, before_close_func=lambda panel: wait_until_idle(qtbot, panel))
    widget.resize(400, 900)
    widget.show()
    qtbot.waitUntil(lambda: not widget._choosing.busy)
    return widget


def field(panel: AdvisorPanel, name: str) -> QLineEdit:
    widget = panel.constraints_form.editor_widget(name)
    assert isinstance(widget, QLineEdit)
    return widget


def wait_until_idle(qtbot: QtBot, panel: AdvisorPanel) -> None:
    works = (panel._reading, panel._ranking, panel._keeping, panel._importing, panel._mixing)
    qtbot.waitUntil(lambda: not any(work.busy for work in works))


def finish(qtbot: QtBot, panel: AdvisorPanel) -> None:
    panel.on_session_opened(MANIFEST, Path("/tmp/train.gpuscope"))
    panel.on_session_ended(None)
    qtbot.waitUntil(lambda: panel.recommendation is not None)


def shown_text(panel: AdvisorPanel) -> str:
    return panel.message._title.text() if panel.message.isVisible() else panel.result.verdict._sentence.text()


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
