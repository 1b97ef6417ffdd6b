"""The stages of a stop, with a tree and a clock made up by the test."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.runner.processes import ProcessKey, Push
from gpuscope.runner.stopping import Stopper, StopStage

ROOT = ProcessKey(10, 1.0)
CHILD = ProcessKey(11, 2.0)


class Tree:
    """Stands in for a ProcessTree; the test decides who is alive."""

    def __init__(self, *alive: ProcessKey) -> None:
        self.root = ROOT
        self.alive = list(alive)
        self.pushes: list[str] = []

    def look(self) -> list[ProcessKey]:
        return list(self.alive)

    def interrupt(self) -> None:
        self.pushes.append("interrupt")

    def push_all(self, push: Push) -> None:
        self.pushes.append(push.value)


def stopper(tree: Any) -> Stopper:
    return Stopper(tree)


def test_nothing_happens_before_it_is_asked_for() -> None:
    tree = Tree(ROOT)
    stop = stopper(tree)
    assert stop.advance(100.0) is StopStage.RUNNING
    assert not stop.requested
    assert tree.pushes == []


def test_each_stage_when_the_one_before_is_ignored() -> None:
    tree = Tree(ROOT)
    stop = stopper(tree)
    stop.request(0.0)
    assert stop.advance(9.9) is StopStage.INTERRUPT
    assert stop.advance(10.2) is StopStage.TERMINATE
    assert stop.advance(15.1) is StopStage.TERMINATE
    assert stop.advance(15.4) is StopStage.KILL
    assert tree.pushes == ["interrupt", "terminate", "kill"]
    tree.alive.clear()
    assert stop.advance(15.7) is StopStage.DONE
    assert stop.last_push is StopStage.KILL


def test_done_as_soon_as_nothing_lives() -> None:
    tree = Tree(ROOT)
    stop = stopper(tree)
    stop.request(0.0)
    tree.alive.clear()
    assert stop.advance(0.3) is StopStage.DONE
    assert stop.last_push is StopStage.INTERRUPT
    stop.request(1.0)
    assert stop.stage is StopStage.DONE
    assert tree.pushes == ["interrupt"]


def test_further_requests_are_more_forceful() -> None:
    tree = Tree(ROOT)
    stop = stopper(tree)
    for now in (0.0, 0.1, 0.2, 0.3):
        stop.request(now)
    assert tree.pushes == ["interrupt", "terminate", "kill"]


def test_what_the_script_left_has_less_time() -> None:
    tree = Tree(ROOT, CHILD)
    stop = stopper(tree)
    stop.request(0.0)
    assert stop.advance(1.0) is StopStage.INTERRUPT
    tree.alive.remove(ROOT)
    assert stop.advance(3.0) is StopStage.INTERRUPT
    assert stop.advance(4.9) is StopStage.INTERRUPT
    assert stop.advance(5.2) is StopStage.TERMINATE
    assert stop.advance(7.4) is StopStage.KILL


def test_what_cannot_be_killed_is_given_up_and_named() -> None:
    tree = Tree(CHILD)
    stop = stopper(tree)
    for now in (0.0, 0.1, 0.2):
        stop.request(now)
    assert stop.advance(5.0) is StopStage.KILL
    assert stop.advance(10.5) is StopStage.DONE
    assert stop.unstoppable == (CHILD,)


def test_tree_is_not_looked_at_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(ROOT)
    stop = stopper(tree)
    stop.request(0.0)
    looks: list[int] = []
    monkeypatch.setattr(tree, "look", lambda: looks.append(1) or [ROOT])
    for tick in range(100):
        stop.advance(tick * 0.01)
    assert 3 <= len(looks) <= 6
