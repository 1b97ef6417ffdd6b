"""Figures that are one driver call each: which function, in what units, how often."""

from __future__ import annotations

import ctypes

from gpuscope.domain.reasons import Reason
from gpuscope.sources.calls import Make, Prepared, Reading, one_number
from gpuscope.sources.driver import Driver
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, number, percent, thousandth
from gpuscope.sources.structures import (
    MarginTemperature,
    MemoryV1,
    MemoryV2,
    Temperature,
    Utilization,
    version_of,
)

BYTES_PER_NVML_KB = 1000
"""nvmlDeviceGetPcieThroughput counts in KB/s (nvml.h does not say which kind of KB; read as decimal)."""
PSTATE_UNKNOWN = 32
"""NVML_PSTATE_UNKNOWN."""
TEMPERATURE_GPU = 0
CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY = 0, 1, 2
PCIE_TX, PCIE_RX = 0, 1
_MEMORY = ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes")


def _utilization(_: Driver, handle: Handle) -> Prepared:
    rates = Utilization()

    def take(figures: Figures) -> None:
        figures["utilization_gpu_percent"] = percent(rates.gpu)
        figures["utilization_memory_percent"] = percent(rates.memory)

    return Prepared("nvmlDeviceGetUtilizationRates", (handle, ctypes.byref(rates)), take)


def _memory(info: MemoryV1 | MemoryV2, reserved: Figure) -> Figures:
    """Chips that share the system's memory give a total of 0."""
    if info.total == 0:
        return dict.fromkeys(_MEMORY, Reason.UNIFIED_MEMORY)
    return dict(zip(_MEMORY, (number(info.total), number(info.used), reserved, number(info.free)), strict=True))


def _memory_v2(_: Driver, handle: Handle) -> Prepared:
    info = MemoryV2(version=version_of(MemoryV2, 2))

    def take(figures: Figures) -> None:
        figures.update(_memory(info, number(info.reserved)))

    return Prepared("nvmlDeviceGetMemoryInfo_v2", (handle, ctypes.byref(info)), take)


def _memory_v1(_: Driver, handle: Handle) -> Prepared:
    """Version 1 counts the driver's reservation as used: then reserved is not known."""
    info = MemoryV1()

    def take(figures: Figures) -> None:
        figures.update(_memory(info, Reason.FUNCTION_NOT_FOUND))

    return Prepared("nvmlDeviceGetMemoryInfo", (handle, ctypes.byref(info)), take)


def _new_temperature(_: Driver, handle: Handle) -> Prepared:
    """The function that replaces nvmlDeviceGetTemperature in CUDA 14."""
    info = Temperature(version=version_of(Temperature, 1), sensorType=TEMPERATURE_GPU)

    def take(figures: Figures) -> None:
        figures["temperature_c"] = number(info.temperature)

    return Prepared("nvmlDeviceGetTemperatureV", (handle, ctypes.byref(info)), take)


def _margin(_: Driver, handle: Handle) -> Prepared:
    info = MarginTemperature(version=version_of(MarginTemperature, 1))

    def take(figures: Figures) -> None:
        figures["temperature_margin_c"] = number(info.marginTemperature)

    return Prepared("nvmlDeviceGetMarginTemperature", (handle, ctypes.byref(info)), take)


def _codec(name: str, function: str) -> Make:
    """A call that gives a percentage and the length of its window."""

    def make(_: Driver, handle: Handle) -> Prepared:
        share, window_us = ctypes.c_uint(), ctypes.c_uint()

        def take(figures: Figures) -> None:
            figures[name] = percent(share.value)

        return Prepared(function, (handle, ctypes.byref(share), ctypes.byref(window_us)), take)

    return make


def _performance_state(value: float) -> Figure:
    return Reason.NO_DATA if value == PSTATE_UNKNOWN else number(value)


def _kilobytes(value: float) -> Figure:
    known = number(value)
    return known if isinstance(known, Reason) else known * BYTES_PER_NVML_KB


def _reading(tier: Tier, name: str, *ways: Make) -> Reading:
    return Reading(tier, (name,), ways)


MEMORY_READING = Reading(Tier.FAST, _MEMORY, (_memory_v2, _memory_v1), refused=Reason.UNIFIED_MEMORY)
"""Only chips without memory of their own refuse both ways. Instances have this reading, too."""
READINGS: tuple[Reading, ...] = (
    Reading(Tier.FAST, ("utilization_gpu_percent", "utilization_memory_percent"), (_utilization,)),
    MEMORY_READING,
    _reading(Tier.FAST, "clock_sm_mhz", one_number("clock_sm_mhz", "nvmlDeviceGetClockInfo", CLOCK_SM)),
    _reading(Tier.FAST, "clock_memory_mhz", one_number("clock_memory_mhz", "nvmlDeviceGetClockInfo", CLOCK_MEMORY)),
    _reading(
        Tier.FAST,
        "clock_event_reasons",
        one_number("clock_event_reasons", "nvmlDeviceGetCurrentClocksEventReasons", type_=ctypes.c_ulonglong),
        one_number("clock_event_reasons", "nvmlDeviceGetCurrentClocksThrottleReasons", type_=ctypes.c_ulonglong),
    ),
    _reading(
        Tier.MEDIUM,
        "performance_state",
        one_number("performance_state", "nvmlDeviceGetPerformanceState", convert=_performance_state),
    ),
    _reading(Tier.MEDIUM, "encoder_percent", _codec("encoder_percent", "nvmlDeviceGetEncoderUtilization")),
    _reading(Tier.MEDIUM, "decoder_percent", _codec("decoder_percent", "nvmlDeviceGetDecoderUtilization")),
    _reading(
        Tier.SLOW,
        "clock_graphics_mhz",
        one_number("clock_graphics_mhz", "nvmlDeviceGetClockInfo", CLOCK_GRAPHICS),
    ),
    _reading(
        Tier.SLOW,
        "temperature_c",
        one_number("temperature_c", "nvmlDeviceGetTemperature", TEMPERATURE_GPU),
        _new_temperature,
    ),
    _reading(Tier.SLOW, "temperature_margin_c", _margin),
    _reading(
        Tier.SLOW,
        "power_limit_w",
        one_number("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", convert=thousandth),
    ),
    _reading(
        Tier.PCIE,
        "pcie_rx_bytes_per_s",
        one_number("pcie_rx_bytes_per_s", "nvmlDeviceGetPcieThroughput", PCIE_RX, convert=_kilobytes),
    ),
    _reading(
        Tier.PCIE,
        "pcie_tx_bytes_per_s",
        one_number("pcie_tx_bytes_per_s", "nvmlDeviceGetPcieThroughput", PCIE_TX, convert=_kilobytes),
    ),
)
