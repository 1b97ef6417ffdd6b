"""What a `GpuSample` must show of a scenario: field names, the scenario's keys, the conversion of units."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.sources.device_reader import ALL_FIELDS
from gpuscope.sources.figures import Tier
from gpuscope.sources.gpm import SHORTEST_S
from gpuscope.sources.nvml import NvmlSource
from tests.nvml.scenario import Scope

T = TypeVar("T")

PLAIN: dict[str, tuple[str, float]] = {
    "utilization_gpu_percent": ("utilization_gpu", 1),
    "utilization_memory_percent": ("utilization_memory", 1),
    "memory_total_bytes": ("memory_total", 1),
    "memory_used_bytes": ("memory_used", 1),
    "memory_reserved_bytes": ("memory_reserved", 1),
    "power_w": ("power_mw", 1e-3),
    "power_limit_w": ("power_limit_mw", 1e-3),
    "energy_j": ("energy_mj", 1e-3),
    "temperature_c": ("temperature_c", 1),
    "fan_percent": ("fan_percent", 1),
    "clock_sm_mhz": ("clock_sm_mhz", 1),
    "clock_memory_mhz": ("clock_memory_mhz", 1),
    "clock_event_reasons": ("clock_event_reasons", 1),
    "performance_state": ("performance_state", 1),
    "pcie_generation": ("pcie_generation", 1),
    "pcie_width": ("pcie_width", 1),
    "pcie_rx_bytes_per_s": ("pcie_rx_kb_per_s", 1000),
    "pcie_tx_bytes_per_s": ("pcie_tx_kb_per_s", 1000),
    "encoder_percent": ("encoder_percent", 1),
    "decoder_percent": ("decoder_percent", 1),
}
"""Field → key of the scenario and factor."""


def assert_same(sample: GpuSample, scope: Scope, start_s: float, end_s: float) -> set[str]:
    """Every figure of the sample is one that the scenario had between two times; returns the fields that were there.

    A figure that is missing must be missing in the scenario, and say so.
    """
    present: set[str] = set()
    for name, (key, factor) in PLAIN.items():
        value = getattr(sample, name)
        wanted = scope.during(key, start_s, end_s)
        if value is not None:
            assert any(item is not None and abs(value - item * factor) < 1e-6 for item in wanted), (name, value, wanted)
            present.add(name)
        elif name in sample.unavailable:
            assert None in wanted, f"{name} is {wanted} in the scenario"
            assert sample.unavailable[name] is Reason.NOT_SUPPORTED
    return present


class Everything:
    """All that a source has said of its devices so far: the newest figure, or the newest reason, of each field."""

    def __init__(self, source: NvmlSource) -> None:
        self.source = source
        self.frames: list[Frame] = []
        self._rows: dict[str, dict[str, Any]] = {}

    def read(self) -> dict[str, GpuSample]:
        """Read every tier once more (the PCIE tier until all GPUs have had their turn); the samples by UUID."""
        for tier in Tier:
            self._take(self.source.read(tier))
        turns = 1
        while turns < len(self.source.devices) and self._take(self.source.read(Tier.PCIE)):
            turns += 1
        return {uuid: GpuSample(uuid=uuid, **row) for uuid, row in self._rows.items()}

    def twice(self) -> dict[str, GpuSample]:
        """Two readings, far enough apart for rates and GPM."""
        self.read()
        start_s = time.monotonic()
        poll(lambda: time.monotonic() - start_s > SHORTEST_S)
        return self.read()

    def _take(self, frame: Frame | None) -> bool:
        if frame is None:
            return False
        self.frames.append(frame)
        for sample in frame.gpus or ():
            self._add(sample)
        return True

    def _add(self, sample: GpuSample) -> None:
        row = self._rows.setdefault(sample.uuid, {"unavailable": {}})
        for name in ALL_FIELDS:
            value = getattr(sample, name)
            if value is not None:
                row[name] = value
                row["unavailable"].pop(name, None)
            elif name in sample.unavailable:
                row["unavailable"][name] = sample.unavailable[name]
                row.pop(name, None)


def poll(condition: Callable[[], T], timeout_s: float = 20.0, every_s: float = 0.02) -> T:
    """The first true result of a condition; fails when it does not come in time."""
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        result = condition()
        if result:
            return result
        time.sleep(every_s)
    raise AssertionError(f"this did not happen within {timeout_s} s")
