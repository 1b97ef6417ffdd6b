"""Cycles of garbage are collected in the window's thread only."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.ui.garbage import GarbageCollection


class _Link:
    def __init__(self) -> None:
        self.self = self


@pytest.fixture
def collection(qapp: QApplication) -> Iterator[GarbageCollection]:
    owner = QObject(qapp)
    gc.enable()
    yield GarbageCollection(owner)
    owner.deleteLater()


def _make_garbage() -> weakref.ref[_Link]:
    """Enough of it that the youngest generation is due."""
    links = [_Link() for _ in range(10 * gc.get_threshold()[0])]
    return weakref.ref(links[0])


def test_another_thread_never_collects(collection: GarbageCollection) -> None:
    found: list[weakref.ref[_Link]] = []
    thread = threading.Thread(target=lambda: found.append(_make_garbage()))
    thread.start()
    thread.join()
    assert not gc.isenabled()
    assert found[0]() is not None
    collection.collect_if_due()
    assert found[0]() is None


def test_it_happens_by_itself(collection: GarbageCollection, qtbot: QtBot) -> None:
    garbage = _make_garbage()
    qtbot.waitUntil(lambda: garbage() is None, timeout=5000)


def test_nothing_is_done_when_nothing_is_due(collection: GarbageCollection) -> None:
    gc.collect()
    runs = [generation["collections"] for generation in gc.get_stats()]
    collection.collect_if_due()
    assert [generation["collections"] for generation in gc.get_stats()] == runs
