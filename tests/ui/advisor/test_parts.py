"""Parts of the Advisor panel: sorting, cells, ticks, marks, rejected ones, the real catalogue and engine."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Candidate, Constraints
from gpuscope.ui import theme
from gpuscope.ui.advisor.form.constraints import ConstraintsForm
from gpuscope.ui.advisor.form.model import EstimateInput
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ConstraintTexts
from gpuscope.ui.advisor.result.cells import SERVICE_COLUMNS, Column, cell
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.advisor.result.plot import CostTimePlot, points, tick_text
from gpuscope.ui.advisor.result.rejected import RejectedList
from gpuscope.ui.advisor.result.table import CandidateModel
from gpuscope.ui.advisor.result.table_view import CandidateTable
from gpuscope.ui.advisor.sources import engine_sources
from gpuscope.ui.figures import DASH
from gpuscope.ui.widgets.log_axis import nice_amounts, nice_durations, say_duration
from tests.ui.advisor.samples import UNPRICED, recommendation, rented

HOUR = 3600.0


@pytest.fixture
def model(qapp: QApplication) -> CandidateModel:
    model = CandidateModel()
    model.show(recommendation())
    return model


def shown(model: CandidateModel, column: Column) -> list[str]:
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_the_model_keeps_qt_s_rules(model: CandidateModel) -> None:
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.sort(Column.COST)
    model.show(recommendation())
    assert tester.model() is model


@pytest.mark.parametrize("order", [Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder])
def test_unknown_figures_sort_last_either_way(model: CandidateModel, order: Qt.SortOrder) -> None:
    model.sort(Column.TIME, order)
    times = shown(model, Column.TIME)
    assert times[-1] == DASH
    candidates = recommendation().candidates
    mids = [candidates[model.candidate_number(row)].time_to_finish_s for row in range(model.rowCount() - 1)]
    values = [value.mid for value in mids if value is not None]
    assert values == sorted(values, reverse=order is Qt.SortOrder.DescendingOrder)
    model.sort(-1)
    assert [model.candidate_number(row) for row in range(model.rowCount())] == list(range(model.rowCount()))


def test_a_missing_figure_is_a_dash_with_its_reason() -> None:
    for column in (Column.FIT, Column.STEP_TIME, Column.TIME, Column.COST, Column.COST_PER_HOUR, Column.ENERGY):
        found = cell(UNPRICED, column)
        assert found.text == DASH
        assert found.tooltip.endswith(".")
        assert found.plain == ""


def test_what_is_measured_without_doubt_has_no_range_in_its_words() -> None:
    exact = Candidate(gpu="x", count=1, acquisition="rent", cost_usd_per_hour=Range.exact(2.5))
    assert cell(exact, Column.COST_PER_HOUR).text == "$2.50"
    assert "9 times in 10" not in cell(exact, Column.COST_PER_HOUR).tooltip
    assert "9 times in 10" in cell(rented("L40S", 1, 10, 1), Column.COST).tooltip


def test_without_a_gpu_it_says_cpu_only() -> None:
    assert cell(Candidate(gpu=None, count=0, acquisition="keep"), Column.CONFIGURATION).text == "CPU only"


def test_a_narrow_table_keeps_what_matters_most(qtbot: QtBot, qapp: QApplication) -> None:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    table = CandidateTable()
    qtbot.addWidget(table)
    table.resize(330, 300)
    table.show()
    table.show_recommendation(recommendation())
    visible = [column for column in Column if not table.isColumnHidden(column)]
    assert visible == [Column.CONFIGURATION, Column.TIME, Column.COST]
    table.resize(900, 300)
    assert not any(table.isColumnHidden(column) for column in Column if column not in SERVICE_COLUMNS)
    assert table.horizontalHeader().length() <= table.viewport().width()


def test_only_candidates_with_time_and_cost_are_drawn() -> None:
    assert [point.number for point in points(recommendation())] == [0, 1, 2, 3, 4, 5]


def test_a_click_on_a_mark_chooses_it(qtbot: QtBot, qapp: QApplication) -> None:
    plot = CostTimePlot()
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    plot.show_recommendation(recommendation())
    qtbot.wait(50)
    place = plot.mark_position(4).toPoint()
    viewport = plot._plot.viewport()
    with qtbot.waitSignal(plot.chosen) as signal:
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=viewport.mapFrom(plot, place))
    assert signal.args == [4]


def test_without_totals_the_plot_says_what_is_missing(qtbot: QtBot, qapp: QApplication) -> None:
    plot = CostTimePlot()
    qtbot.addWidget(plot)
    plot.show()
    only = recommendation().candidates[-1:]
    plot.show_recommendation(recommendation().__class__(
        verdict=recommendation().verdict, sentence="", constraints=Constraints(), candidates=only))  # fmt: skip
    assert plot._empty.isVisible()
    assert "steps, samples or epochs" in plot._empty.text()


@pytest.mark.parametrize(("low", "high"), [(0.01, 0.2), (1.2 * HOUR, 14 * HOUR), (60, 90 * HOUR), (1, 1e9)])
def test_ticks_are_round_and_few(low: float, high: float) -> None:
    durations, amounts = nice_durations(low, high), nice_amounts(low, high)
    for ticks in (durations, amounts):
        assert 2 <= len(ticks) <= 10
        assert all(low <= tick <= high for tick in ticks)
        assert all(first < second for first, second in pairwise(ticks))


def test_ticks_are_said_in_the_largest_unit() -> None:
    texts = [say_duration(seconds) for seconds in (0.05, 30, 120, HOUR, 12 * HOUR, 3 * 24 * HOUR)]
    assert texts == ["50 ms", "30 s", "2 min", "1 h", "12 h", "3 d"]


def test_rejected_ones_are_grouped_by_reason(qtbot: QtBot, qapp: QApplication) -> None:
    rejected = RejectedList()
    qtbot.addWidget(rejected)
    rejected.show_rejected(recommendation().rejected)
    tops = [rejected.topLevelItem(row).text(0) for row in range(rejected.topLevelItemCount())]
    assert tops == ["Too little memory (2)", "Too slow for the deadline (1)"]
    assert rejected.topLevelItem(0).child(0).text(1) == "Needs 25.7 GiB, has 14.9 GiB."


def test_the_form_gives_back_what_it_was_given(qtbot: QtBot, qapp: QApplication) -> None:
    form = ConstraintsForm(PresetStore())
    qtbot.addWidget(form)
    form.offer(engine_sources().choices())
    texts = ConstraintTexts(
        stage="training", deadline="36h", total="10", total_unit="epochs", samples_per_epoch="50k", acquisition="rent",
        providers=("aws",), counts="1, 2", precision="bfloat16",
    )  # fmt: skip
    form.set_texts(texts)
    assert form.texts() == texts
    constraints = form.read(datetime.now().astimezone())
    assert constraints is not None
    assert constraints.providers == ("aws",)


def test_the_real_engine_estimates_and_ranks_at_once() -> None:
    sources = engine_sources()
    sources.choices()  # reads the catalogue
    model = EstimateInput(
        parameters=7_000_000_000, dtype="bf16", stage="training", optimizer="adamw", batch=8, sequence_length=2048
    )
    footprint = sources.estimate(model)
    began_s = time.perf_counter()
    found = sources.advise(footprint, Constraints(total_steps=10_000))
    took_s = time.perf_counter() - began_s
    assert found.candidates
    assert points(found)
    assert took_s < 2.0, "typically 50 ms; a window that waits longer feels broken"


def test_amounts_are_in_the_person_s_currency() -> None:
    yen = Money.of(Economics(currency="JPY", currency_per_usd=150.0))
    exact = Candidate(gpu="x", count=1, acquisition="rent", cost_usd_per_hour=Range.exact(2.5))
    assert cell(exact, Column.COST_PER_HOUR, yen).text == "¥375"
    francs = Money.of(Economics(currency="CHF", currency_per_usd=0.8))
    shown = cell(exact, Column.COST_PER_HOUR, francs)
    assert (shown.text, shown.unit) == ("CHF 2.00", "")
    assert Money.of(Economics(currency="JPY")) == Money(), "without a rate amounts stay in dollars"
    answer = recommendation(Constraints(economics=yen.economics))
    in_dollars = points(recommendation())
    assert [point.cost.mid for point in points(answer)] == pytest.approx([150 * each.cost.mid for each in in_dollars])
    assert tick_text(15_000, yen) == "¥15,000"
    assert tick_text(0.1, Money()) == "$0.1"
