"""Work beside the window: the newest answer arrives, failures become sentences, nothing blocks."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gpuscope.errors import UsageError
from gpuscope.ui.background import Newest


def test_the_answer_arrives_in_the_window_s_thread(qtbot: QtBot, qapp: object) -> None:
    work, threads = Newest(), []
    work.finished.connect(lambda _answer: threads.append(threading.current_thread()))
    with qtbot.waitSignal(work.finished) as signal:
        work.submit(lambda: threading.current_thread().name)
    assert signal.args == ["gpuscope-ui-work"]
    assert threads == [threading.main_thread()]
    assert not work.busy


def test_only_the_newest_answer_is_delivered(qtbot: QtBot, qapp: object) -> None:
    work, answers, go_on = Newest(), [], threading.Event()
    work.finished.connect(answers.append)
    work.submit(lambda: go_on.wait(10) and 1)
    work.submit(lambda: 2)
    work.submit(lambda: 3)
    go_on.set()
    qtbot.waitUntil(lambda: bool(answers))
    qtbot.wait(50)
    assert answers == [3]


def test_a_forgotten_answer_never_arrives(qtbot: QtBot, qapp: object) -> None:
    work, answers, go_on = Newest(), [], threading.Event()
    work.finished.connect(answers.append)
    work.submit(lambda: go_on.wait(10))
    work.forget()
    assert not work.busy
    go_on.set()
    qtbot.wait(50)
    assert answers == []


def test_an_expected_failure_becomes_its_sentence(qtbot: QtBot, qapp: object) -> None:
    def fail() -> None:
        raise UsageError("Choose another file.")

    work = Newest()
    with qtbot.waitSignal(work.failed) as signal:
        work.submit(fail)
    assert signal.args == ["Choose another file."]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_after_an_unexpected_failure_work_goes_on(qtbot: QtBot, qapp: object) -> None:
    work = Newest()
    with qtbot.waitSignal(work.failed) as signal:
        work.submit(lambda: 1 // 0)
    assert "unexpectedly" in signal.args[0]
    with qtbot.waitSignal(work.finished) as signal:
        work.submit(lambda: 7)
    assert signal.args == [7]


def test_a_function_that_holds_a_qt_object_is_refused(qapp: object) -> None:
    """The thread would be the last to let go of a window that is closed meanwhile, and destroy it there."""
    work, widget = Newest(), QObject()
    for function in (lambda: widget, widget.objectName, partial(str, widget), partial(lambda: widget)):
        with pytest.raises(TypeError, match="holds a Qt object"):
            work.submit(function)
    assert not work.busy
