"""What all tests share: the stand-in driver's fixtures, and no process or thread may outlive its test."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

pytest_plugins = ["tests.nvml.fixtures"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and children inherit it: the workloads under test must feel an interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SETTLING_S = 2.0
"""What ends by itself (a reader at end of file, a child that was told to go) gets this long."""


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if type(thread).__name__ != "_DummyThread"}


def _leftovers(children: set[psutil.Process], threads: set[threading.Thread]) -> list[str]:
    processes = [f"process {child.pid} {child.name()}" for child in _children() - children if child.is_running()]
    return processes + [f"thread {thread.name}" for thread in _threads() - threads if thread.is_alive()]


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    children, threads = _children(), _threads()
    yield
    deadline_s = time.monotonic() + SETTLING_S
    while (left := _leftovers(children, threads)) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert not left, f"left behind by this test: {', '.join(left)}"
