"""GPU performance monitoring (GPM): what the parts of the chip did between two samples of hardware counters."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.domain.units import MIB
from gpuscope.sources.driver import INVALID_ARGUMENT, NOT_OFFERED, NOT_SUPPORTED, Driver, DriverError, refused
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, percent, rate
from gpuscope.sources.refusals import Refusals
from gpuscope.sources.structures import GpmMetricsGet, GpmSupport

SHORTEST_S = 0.1
"""nvml.h asks for at least 100 ms between the two samples."""

_VERSION = 1
"""NVML_GPM_SUPPORT_VERSION and NVML_GPM_METRICS_GET_VERSION."""
_PERCENTAGES = {
    "gpm_graphics_percent": 1,
    "sm_activity_percent": 2,
    "sm_occupancy_percent": 3,
    "tensor_activity_percent": 5,
    "dram_bandwidth_percent": 10,
    "fp64_activity_percent": 11,
    "fp32_activity_percent": 12,
    "fp16_activity_percent": 13,
}
_RATES = {
    "pcie_tx_bytes_per_s": 20,
    "pcie_rx_bytes_per_s": 21,
    "nvlink_rx_bytes_per_s": 60,
    "nvlink_tx_bytes_per_s": 61,
}
"""In MiB/s."""
_METRICS = _PERCENTAGES | _RATES
"""NVML_GPM_METRIC_* by the figure that it gives."""
PERCENT_FIELDS = tuple(_PERCENTAGES)
RATE_FIELDS = tuple(_RATES)
"""Figures that have other sources, too: left out where GPM does not have them."""


class GpmPair:
    """Keeps the last sample of a device and compares it with a new one; never waits for the second."""

    tier = Tier.MEDIUM
    fields = tuple(_METRICS)

    def __init__(self, driver: Driver, gpu: Handle, gpu_instance: int | None = None, instance: Handle = None) -> None:
        """Read a whole GPU, or one of its MIG GPU instances, whose own handle is `instance`."""
        self._driver = driver
        self._gpu = gpu
        self._gpu_instance = gpu_instance
        self._instance = instance
        self._refusals = Refusals()
        self._samples: list[Any] = []
        self._last_s: float | None = None
        self._request: Any = None

    def read(self, now_s: float) -> Figures:
        """Means over the time since the reading before; nothing at all when that is too short."""
        reason = self._refusals.reason("gpm", now_s)
        if reason is None and self._last_s is not None and now_s - self._last_s < SHORTEST_S:
            return {}
        if reason is None:
            reason = self._take_sample(now_s)
        if reason is not None:
            return dict.fromkeys(PERCENT_FIELDS, reason)
        try:
            self._driver.raw("nvmlGpmMetricsGet", ctypes.byref(self._request))
        except DriverError as error:
            return dict.fromkeys(PERCENT_FIELDS, error.of_figure())
        figures = {name: _figure(name, entry) for name, entry in zip(_METRICS, self._request.metrics, strict=False)}
        return {name: figure for name, figure in figures.items() if name in _PERCENTAGES or figure not in NOT_OFFERED}

    def close(self) -> None:
        """Give the samples back."""
        for sample in self._samples:
            with contextlib.suppress(DriverError):
                self._driver.raw("nvmlGpmSampleFree", sample)
        self._samples = []

    def _take_sample(self, now_s: float) -> Reason | None:
        """Fill the older of the two samples anew; why there is nothing to compare yet."""
        try:
            self._prepare()
            self._fill(self._samples[0])
        except DriverError as error:
            self._last_s = None
            reason = error.of_figure()
            if reason is Reason.NOT_SUPPORTED and not self._samples:
                reason = Reason.GPM_CHIP
            self._refusals.note("gpm", reason, now_s)
            return reason
        self._samples.reverse()
        first = self._last_s is None
        self._last_s = now_s
        self._request.sample1, self._request.sample2 = self._samples
        return Reason.FIRST_READING if first else None

    def _prepare(self) -> None:
        """Ask whether the device has GPM and make the two samples, once."""
        if self._samples:
            return
        support = GpmSupport(version=_VERSION)
        self._driver.raw("nvmlGpmQueryDeviceSupport", self._gpu, ctypes.byref(support))
        if not support.isSupportedDevice:
            raise DriverError(NOT_SUPPORTED, "nvmlGpmQueryDeviceSupport")
        try:
            for sample in (ctypes.c_void_p(), ctypes.c_void_p()):
                self._driver.raw("nvmlGpmSampleAlloc", ctypes.byref(sample))
                self._samples.append(sample)
        except DriverError:
            self.close()
            raise
        self._request = GpmMetricsGet(version=_VERSION, numMetrics=len(_METRICS))
        for entry, metric in zip(self._request.metrics, _METRICS.values(), strict=False):
            entry.metricId = metric

    def _fill(self, sample: Any) -> None:
        if self._gpu_instance is None:
            self._driver.raw("nvmlGpmSampleGet", self._gpu, sample)
            return
        try:
            self._driver.raw("nvmlGpmMigSampleGet", self._gpu, self._gpu_instance, sample)
        except DriverError as error:
            if error.code != INVALID_ARGUMENT and error.reason not in NOT_OFFERED:
                raise
            self._fill_by_handle(sample)

    def _fill_by_handle(self, sample: Any) -> None:
        """The other way to ask for an instance."""
        try:
            self._driver.raw("nvmlGpmSampleGet", self._instance, sample)
        except DriverError as error:
            if error.code == INVALID_ARGUMENT:  # how some drivers refuse instances' handles
                raise DriverError(NOT_SUPPORTED, "nvmlGpmSampleGet") from None
            raise


def _figure(name: str, entry: Any) -> Figure:
    if entry.nvmlReturn:
        return refused(entry.nvmlReturn, "nvmlGpmMetricsGet")
    return percent(entry.value) if name in _PERCENTAGES else rate(entry.value, MIB)
