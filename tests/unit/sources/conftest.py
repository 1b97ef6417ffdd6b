"""Fixtures of the sources' tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.sources.binding import load_binding
from gpuscope.sources.driver import Driver
from gpuscope.sources.nvml import NvmlSource

OpenSource = Callable[..., NvmlSource]


@pytest.fixture
def open_source(tmp_path: Path) -> Iterator[OpenSource]:
    """Makes NVML sources that let go of the library after the test; without a sysfs of its own, no GPU sleeps."""
    opened: list[NvmlSource] = []

    def make(sysfs: Path = tmp_path) -> NvmlSource:
        opened.append(NvmlSource(Driver(load_binding()), sysfs))
        return opened[-1]

    yield make
    for source in opened:
        source.close()
