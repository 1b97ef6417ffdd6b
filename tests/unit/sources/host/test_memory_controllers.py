"""Counters of memory controllers: prepared descriptions, and a counter of the kernel's own behind them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.sources import memory_controllers
from gpuscope.sources.memory_bandwidth import MemoryBandwidth
from gpuscope.sources.memory_controllers import MemoryControllers
from tests.unit.sources.host.trees import Machine

SOFTWARE = 1
"""PERF_TYPE_SOFTWARE; its event 0 is the processor's clock in nanoseconds, 1 that of the task."""


def controller(root: Path, name: str = "uncore_imc_0", event: str = "event=0x00", kind: int = SOFTWARE) -> Machine:
    folder = f"sys/bus/event_source/devices/{name}"
    machine = Machine(root).put(f"{folder}/type", kind).put(f"{folder}/cpumask", "0\n")
    machine.put(f"{folder}/format/event", "config:0-7\n").put(f"{folder}/format/umask", "config:8-15\n")
    for name_of_event in ("cas_count_read", "cas_count_write"):
        machine.put(f"{folder}/events/{name_of_event}", f"{event}\n")
        machine.put(f"{folder}/events/{name_of_event}.scale", "6.103515625e-5\n")  # 64 bytes in MiB
        machine.put(f"{folder}/events/{name_of_event}.unit", "MiB\n")
    return machine


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, float]]:
    """Counters that were asked for, as (type, config, bytes each); none is given."""
    asked: list[tuple[int, int, float]] = []

    def refuse(event: memory_controllers._Event, cpu: int) -> int:
        asked.append((event.kind, event.config, event.bytes_each))
        raise PermissionError(13, "perf_event_open")

    monkeypatch.setattr(memory_controllers, "_open_counter", refuse)
    return asked


def test_a_description_becomes_the_kernels_number(tmp_path: Path, opened: list[tuple[int, int, float]]) -> None:
    controller(tmp_path, event="event=0x04,umask=0x03", kind=14)
    assert MemoryControllers(tmp_path / "sys").total_bytes() is Reason.SYSTEM_REFUSES
    assert opened == [(14, 0x0304, 64.0)]


@pytest.mark.parametrize("event", ["event=0x104", "edge=1", "event=x", ""])
def test_a_description_that_is_not_understood_counts_nothing(
    tmp_path: Path, opened: list[tuple[int, int, float]], event: str
) -> None:
    controller(tmp_path, event=event)
    assert MemoryControllers(tmp_path / "sys").total_bytes() is Reason.NOT_OFFERED
    assert opened == []


def test_one_controller_that_is_not_understood_makes_the_sum_unknown(
    tmp_path: Path, opened: list[tuple[int, int, float]]
) -> None:
    controller(tmp_path)
    controller(tmp_path, "uncore_imc_1").put(
        "sys/bus/event_source/devices/uncore_imc_1/events/cas_count_read.unit", "?"
    )
    assert MemoryControllers(tmp_path / "sys").total_bytes() is Reason.NOT_OFFERED
    assert opened == []


def test_the_counters_really_count(tmp_path: Path) -> None:
    """The processor's clock stands in for reads and writes: a billion of 64 bytes each a second, twice."""
    controller(tmp_path)
    bandwidth = MemoryBandwidth(tmp_path)
    bandwidth.find()
    start_s = time.monotonic()
    first = bandwidth.read(start_s)["memory_bandwidth_bytes_per_s"]
    if first is Reason.SYSTEM_REFUSES or first is Reason.MEMORY_TRAFFIC_UNCOUNTED:
        pytest.skip("this user may not count for the whole machine")
    assert first is Reason.FIRST_READING
    while time.monotonic() - start_s < 0.1:
        pass
    rate = bandwidth.read(time.monotonic())["memory_bandwidth_bytes_per_s"]
    assert rate == pytest.approx(2 * 64e9, rel=0.2)
