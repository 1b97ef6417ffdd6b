"""The pages below the ranked table: own or rent, service, how sure, rejected, why."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.domain.economics import CostOverYears, Economics, OwnershipCost
from gpuscope.domain.recommendation import Recommendation
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.explanation import as_text
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.advisor.result.ownership import comparison, cost_rows
from gpuscope.ui.advisor.result.page import ResultPage
from gpuscope.ui.advisor.result.plot import front_line, points
from gpuscope.ui.advisor.result.serving import serving_rows, serving_sentence
from gpuscope.ui.figures import DASH
from tests.ui.advisor.samples import TARGET, over_years, recommendation, service, spread
from tests.ui.panel_pictures import colours_in, save_picture


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> ResultPage:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = ResultPage()
    qtbot.addWidget(widget)
    widget.resize(640, 800)
    widget.show()
    return widget


def visible_tabs(page: ResultPage) -> list[str]:
    return [page.tabs.tabText(tab) for tab in range(page.tabs.count()) if page.tabs.isTabVisible(tab)]


def test_the_pages_are_those_that_have_something_to_say(page: ResultPage) -> None:
    page.show_recommendation(recommendation(), "")
    assert visible_tabs(page) == ["Plot", "Why", "Own or rent", "How sure", "Rejected (3)"]
    page.show_recommendation(service(), "")
    assert "Service" in visible_tabs(page)
    blank = tuple(msgspec.structs.replace(candidate, cost_over_years=None) for candidate in recommendation().candidates)
    page.show_recommendation(msgspec.structs.replace(recommendation(), candidates=blank), "")
    assert "Own or rent" not in visible_tabs(page)


def test_owning_and_renting_side_by_side() -> None:
    costs = over_years(18_000, 2.24)
    titles, rows = cost_rows(costs, Money())
    assert [title.text for title in titles] == ["", "1 year", "3 years", "5 years"]
    by_name = {row[0].text: [cell.text for cell in row[1:]] for row in rows}
    assert by_name["Purchase"] == ["$18,000"] * 3
    assert by_name["Sells for"] == ["−$3,600"] * 3
    assert by_name["Renting on demand"] == ["$13,440", "$40,320", "$67,200"]
    assert "Renting reserved" not in by_name, "nobody knows it"
    assert by_name["Hours of use"][0] == "6,000 h"
    assert "42% of all hours" in comparison(costs, Money())
    assert "below $21,400" in comparison(costs, Money())


def test_what_is_not_known_is_a_dash_with_a_reason() -> None:
    costs = CostOverYears(own=(OwnershipCost(years=1, purchase_usd=100.0), OwnershipCost(years=3)))
    _, rows = cost_rows(costs, Money())
    assert [cell.text for cell in rows[0]] == ["Purchase", "$100", DASH]
    assert "Not known" in rows[0][2].tooltip
    assert comparison(costs, Money()) == "what it costs over the years."


def test_amounts_are_in_the_currency_of_the_person() -> None:
    yen = Money.of(Economics(currency="JPY", currency_per_usd=150.0))
    assert yen.amount(10) == "¥1,500"
    assert yen.amount(-10) == "−¥1,500"
    assert yen.range(spread(100.0, 0.1)).startswith("¥13,500")
    assert Money.of(Economics(currency="JPY")) == Money(), "without a rate the amounts stay in dollars"


def test_a_service_stands_beside_what_was_asked() -> None:
    serving = service().candidates[0].serving
    assert serving is not None
    rows = {row[0].text: (row[1].text, row[2].text) for row in serving_rows(serving, TARGET)}
    assert rows["First token (TTFT)"][1] == "≤ 500 ms"
    assert rows["Requests a second"] == ("11.4–17.0", "≥ 12")
    assert rows["Requests at the same time"][0] == "96"
    assert serving_sentence(serving) == (
        "4 copies of the model. Switching copies off in quiet hours saves 44% of the cost."
    )
    slice_ = msgspec.structs.replace(serving, replicas=1, gpu_share=0.25, autoscaling_saving_share=None)
    assert serving_sentence(slice_) == "25% of a GPU is enough."


def test_how_sure_says_what_to_do(page: ResultPage) -> None:
    page.show_recommendation(recommendation(), "")
    text = page.robustness.toPlainText()
    assert "With 60 h or more" in text
    assert "Run 50 steps in bfloat16" in text
    assert "Data loading keeps up" in text


def test_rejected_ones_are_filtered(page: ResultPage) -> None:
    page.show_recommendation(recommendation(), "")
    page.tabs.setCurrentWidget(page.rejected)
    page.rejected.filter.setText("t4 21")
    assert page.rejected.list.show_only("t4 21") == 1
    tops = page.rejected.list
    assert tops.topLevelItem(1).isHidden()
    page.rejected.filter.clear()
    assert not tops.topLevelItem(1).isHidden()


def test_a_figure_is_written_out_and_copied_with_its_parts(qtbot: QtBot, page: ResultPage) -> None:
    page.show_recommendation(recommendation(), "")
    page.tabs.setCurrentWidget(page.why)
    tree = page.why.tree
    tree.setFocus()
    tree.setCurrentItem(tree.topLevelItem(1))
    assert page.why.detail.text() == "Memory: 25.7 GiB\npeak + context\nmeasured"
    qtbot.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied.splitlines()[:3] == ["Memory: 25.7 GiB", "  = peak + context", "  [measured]"]
    tree.copy_all()
    assert "989 / 1830" in QGuiApplication.clipboard().text()
    explanation = recommendation().candidates[0].explanation
    assert explanation is not None
    assert as_text(explanation).startswith("Why")


def test_the_front_goes_down_as_time_goes_on(qapp: QApplication) -> None:
    answer = recommendation()
    front = [point for point in points(answer) if answer.candidates[point.number].pareto]
    xs, ys = front_line(front)
    assert xs == sorted(xs)
    assert ys == sorted(ys, reverse=True)


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
@pytest.mark.parametrize("name", ["plot", "why", "ownership", "serving", "robustness", "rejected"])
def test_pictures(
    qtbot: QtBot, qapp: QApplication, page: ResultPage, tmp_path: Path, name: str, mode: theme.Mode
) -> None:
    theme.apply_theme(qapp, mode)
    answer: Recommendation = service()
    page.show_recommendation(answer, "measured over 1,240 steps")
    page.tabs.setCurrentWidget(getattr(page, name))
    qtbot.wait(50)
    assert colours_in(save_picture(page, f"result-{name}-{mode}", tmp_path)) > 5
