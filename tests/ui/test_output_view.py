"""The output follows the end, stays bounded, can be searched and copied; notes are put up once and away."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from gpuscope.ui.banner import MOST_BANNERS, Banners
from gpuscope.ui.output_view import MOST_LINES, OutputView


def _view(qtbot: QtBot) -> OutputView:
    view = OutputView()
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show()
    return view


def test_progress_bars_overwrite_themselves(qtbot: QtBot) -> None:
    view = _view(qtbot)
    for share in range(0, 101, 10):
        view.add(f"\r\x1b[32m{share:3d}%\x1b[0m".encode())
    assert view.text.toPlainText() == "100%"
    view.add(b"\ndone\n")
    assert view.text.toPlainText().splitlines() == ["100%", "done"]


def test_it_follows_the_end_unless_told_not_to(qtbot: QtBot) -> None:
    view = _view(qtbot)
    bar = view.text.verticalScrollBar()
    view.add(b"".join(b"line %d\n" % n for n in range(200)))
    assert bar.value() == bar.maximum() > 0
    view.follow.setChecked(False)
    bar.setValue(0)
    view.add(b"more\n" * 50)
    assert bar.value() == 0
    view.follow.setChecked(True)
    assert bar.value() == bar.maximum()


def test_the_end_stays_in_sight_when_the_view_becomes_lower(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.add(b"".join(b"line %d\n" % n for n in range(200)))
    bar = view.text.verticalScrollBar()
    highest = bar.maximum()
    view.resize(600, 120)
    QApplication.processEvents()
    assert bar.value() == bar.maximum() > highest


def test_scrolling_back_stops_following_until_the_end_is_reached_again(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.add(b"".join(b"line %d\n" % n for n in range(200)))
    bar = view.text.verticalScrollBar()
    bar.triggerAction(QScrollBar.SliderAction.SliderPageStepSub)
    assert not view.follow.isChecked()
    place = bar.value()
    view.add(b"more\n" * 50)
    assert bar.value() == place
    bar.triggerAction(QScrollBar.SliderAction.SliderToMaximum)
    assert view.follow.isChecked()


def test_it_stays_bounded(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.add(b"".join(b"line %d\n" % n for n in range(3 * MOST_LINES)))
    assert view.text.document().blockCount() <= MOST_LINES
    assert view.text.toPlainText().splitlines()[-1] == f"line {3 * MOST_LINES - 1}"


def test_it_can_be_searched_and_copied(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.add(b"alpha\nbeta\nalpha again\n")
    view.search.setText("alpha")
    assert view.find_next()
    assert view.text.textCursor().selectedText() == "alpha"
    first = view.text.textCursor().blockNumber()
    assert view.find_next()
    assert view.text.textCursor().blockNumber() != first
    assert view.find_next()  # starts over
    view.search.setText("gamma")
    assert not view.find_next()
    view.copy.click()
    assert QApplication.clipboard().text() == "alpha\nbeta\nalpha again\n"


def test_clear_starts_over(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.add(b"half a line")
    view.clear()
    view.add(b"new\n")
    assert view.text.toPlainText() == "new\n"


def test_a_note_is_up_once_and_can_be_put_away(qtbot: QtBot) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    banners.show()
    banners.show_note("The disk is nearly full.")
    banners.show_note("The disk is nearly full.")
    assert banners.sentences() == ["The disk is nearly full."]
    banners.shown()[0].close_button.click()
    assert banners.sentences() == []


def test_an_action_is_done_once_and_the_note_goes(qtbot: QtBot) -> None:
    banners, done = Banners(), []
    qtbot.addWidget(banners)
    banners.show_note("train.py is still running.", "Follow it", lambda: done.append("followed"), lasting=True)
    banners.clear()
    button = banners.shown()[0].action_button
    assert button is not None
    button.click()
    assert done == ["followed"]
    assert banners.sentences() == []


def test_old_notes_make_room(qtbot: QtBot) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    for number in range(MOST_BANNERS + 3):
        banners.show_note(f"Note {number}.")
    assert banners.sentences() == [f"Note {n}." for n in range(3, MOST_BANNERS + 3)]
