"""The machine itself: facts once, figures at every reading."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any, Protocol

import msgspec

from gpuscope.domain.device import Host
from gpuscope.domain.sample import HostSample, SourceState
from gpuscope.sources.host_facts import read_facts
from gpuscope.sources.host_reader import SLOW_INTERVAL_S, HostReader

ROOT = Path("/")


class _Reader(Protocol):
    slow_interval_s: float

    def follow(self, root_pid: int | None) -> None: ...

    def read(self, now_s: float) -> dict[str, Any]: ...


def read_host(root: Path = ROOT) -> Host:
    """Facts of this machine that do not change during a session."""
    facts = read_facts(root) if _has_proc(root) else _portable().read_portable_facts()
    return msgspec.convert(facts, Host)


class HostSource:
    """Figures of the machine and of the workload's process tree. Create and use it in one thread."""

    def __init__(self, root_pid: int | None = None, root: Path = ROOT) -> None:
        self._reader: _Reader = HostReader(root) if _has_proc(root) else _portable().PortableHostReader()
        self._told: SourceState | None = None
        self.follow(root_pid)

    def follow(self, root_pid: int | None) -> None:
        """Watch the process tree of a workload; None watches none."""
        self._reader.follow(root_pid)

    def sample(self) -> HostSample:
        """One reading; rates and shares are over the time since the last one."""
        return msgspec.convert(self._reader.read(time.monotonic()), HostSample)

    def news(self) -> tuple[SourceState, ...] | None:
        """What is to be said of this source, when it is new."""
        interval_s = self._reader.slow_interval_s
        state = SourceState(source="host", ok=True)
        if interval_s > SLOW_INTERVAL_S:
            sentence = (
                f"Sensors of this machine are slow to read: temperatures and frequencies come every {interval_s:g} s."
            )
            state = SourceState(source="host", ok=True, code="stretched", sentence=sentence)
        if state == self._told:
            return None
        self._told = state
        return (state,)


def _has_proc(root: Path) -> bool:
    return (root / "proc" / "stat").exists()


def _portable() -> Any:
    """The readers that need psutil, which are not loaded where /proc says more."""
    return importlib.import_module("gpuscope.sources.host_portable")
