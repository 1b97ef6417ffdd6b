"""Figures that are one driver call each: which function, in what units, how often."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import NOT_OFFERED, Driver, DriverError
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, number, percent, thousandth
from gpuscope.sources.refusals import Refusals

BYTES_PER_NVML_KB = 1000
"""nvmlDeviceGetPcieThroughput counts in KB/s (nvml.h does not say which kind of KB; read as decimal)."""
PSTATE_UNKNOWN = 32
"""NVML_PSTATE_UNKNOWN."""
TEMPERATURE_GPU = 0
CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY = 0, 1, 2
PCIE_TX, PCIE_RX = 0, 1

Read = Callable[[], tuple[Figure, ...]]
"""Asks the driver once."""
Make = Callable[[Driver, Handle], Read]
"""Prepares the structures that a device's answers go into, once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a device: the fields it fills, in the order in which the figures are read."""

    tier: Tier
    fields: tuple[str, ...]
    make: Make


class Getter:
    """A `Reading` of one device."""

    def __init__(self, driver: Driver, handle: Handle, reading: Reading) -> None:
        self.tier = reading.tier
        self.fields = reading.fields
        self._read = reading.make(driver, handle)
        self._refusals = Refusals()

    def read(self, now_s: float) -> Figures:
        """The figures, or why they are missing; a lasting refusal is not asked for again at once."""
        known = self._refusals.reason("call", now_s)
        if known is not None:
            return dict.fromkeys(self.fields, known)
        try:
            figures = self._read()
        except DriverError as error:
            refused = error.of_figure()
            self._refusals.note("call", refused, now_s)
            return dict.fromkeys(self.fields, refused)
        self._refusals.note("call", figures[0], now_s)
        return dict(zip(self.fields, figures, strict=True))

    def close(self) -> None:
        """Nothing is held."""


def one_number(
    function: str, *arguments: int, convert: Callable[[int], Figure] = number, type_: Any = ctypes.c_uint
) -> Make:
    """A call that gives one number."""

    def make(driver: Driver, handle: Handle) -> Read:
        value = type_()
        places = (*arguments, ctypes.byref(value))

        def read() -> tuple[Figure, ...]:
            driver.raw(function, handle, *places)
            return (convert(value.value),)

        return read

    return make


def first_offered(*makes: Make) -> Make:
    """The first of several ways to ask that this driver offers for this device; the choice is kept."""

    def make(driver: Driver, handle: Handle) -> Read:
        ways = [one(driver, handle) for one in makes]

        def read() -> tuple[Figure, ...]:
            refusals: list[DriverError] = []
            for way in ways:
                try:
                    figures = way()
                except DriverError as error:
                    if error.reason not in NOT_OFFERED:
                        raise
                    refusals.append(error)
                    continue
                ways[:] = [way]
                return figures
            # A refusal says more than the absence of a function that only other drivers have.
            raise next((one for one in refusals if one.reason is not Reason.FUNCTION_NOT_FOUND), refusals[-1])

        return read

    return make


def _utilization(driver: Driver, handle: Handle) -> Read:
    rates = driver.module.c_nvmlUtilization_t()
    place = ctypes.byref(rates)

    def read() -> tuple[Figure, ...]:
        driver.raw("nvmlDeviceGetUtilizationRates", handle, place)
        return percent(rates.gpu), percent(rates.memory)

    return read


def memory(driver: Driver, handle: Handle) -> Read:
    """Total, used, reserved, free. Version 1 counts the driver's reservation as used: then reserved is not known."""
    ask = first_offered(_memory_v2, _memory_v1)(driver, handle)

    def read() -> tuple[Figure, ...]:
        try:
            figures = ask()
        except DriverError as error:
            if error.reason is not Reason.NOT_SUPPORTED:
                raise
            return (Reason.UNIFIED_MEMORY,) * 4  # only chips without memory of their own refuse both
        return (Reason.UNIFIED_MEMORY,) * 4 if figures[0] == 0 else figures

    return read


def _memory_v2(driver: Driver, handle: Handle) -> Read:
    info = driver.module.c_nvmlMemory_v2_t()
    place = ctypes.byref(info)

    def read() -> tuple[Figure, ...]:
        info.version = driver.module.nvmlMemory_v2
        driver.raw("nvmlDeviceGetMemoryInfo_v2", handle, place)
        return number(info.total), number(info.used), number(info.reserved), number(info.free)

    return read


def _memory_v1(driver: Driver, handle: Handle) -> Read:
    info = driver.module.c_nvmlMemory_t()
    place = ctypes.byref(info)

    def read() -> tuple[Figure, ...]:
        driver.raw("nvmlDeviceGetMemoryInfo", handle, place)
        return number(info.total), number(info.used), Reason.FUNCTION_NOT_FOUND, number(info.free)

    return read


class _Temperature(ctypes.Structure):
    """nvmlTemperature_v1_t."""

    _fields_ = (("version", ctypes.c_uint), ("sensorType", ctypes.c_uint), ("temperature", ctypes.c_int))


class _MarginTemperature(ctypes.Structure):
    """nvmlMarginTemperature_v1_t."""

    _fields_ = (("version", ctypes.c_uint), ("marginTemperature", ctypes.c_int))


def _version_1(structure: type[ctypes.Structure]) -> int:
    """NVML_STRUCT_VERSION of nvml.h: the size, and the version in the highest byte."""
    return ctypes.sizeof(structure) | 1 << 24


def _new_temperature(driver: Driver, handle: Handle) -> Read:
    """The function that replaces nvmlDeviceGetTemperature in CUDA 14."""
    info = _Temperature()
    place = ctypes.byref(info)

    def read() -> tuple[Figure, ...]:
        info.version, info.sensorType = _version_1(_Temperature), TEMPERATURE_GPU
        driver.raw("nvmlDeviceGetTemperatureV", handle, place)
        return (number(info.temperature),)

    return read


def _margin(driver: Driver, handle: Handle) -> Read:
    info = _MarginTemperature()
    place = ctypes.byref(info)

    def read() -> tuple[Figure, ...]:
        info.version = _version_1(_MarginTemperature)
        driver.raw("nvmlDeviceGetMarginTemperature", handle, place)
        return (number(info.marginTemperature),)

    return read


def _performance_state(value: int) -> Figure:
    return Reason.NO_DATA if value == PSTATE_UNKNOWN else number(value)


def _codec(function: str) -> Make:
    """A call that gives a percentage and the length of its window."""

    def make(driver: Driver, handle: Handle) -> Read:
        share, window_us = ctypes.c_uint(), ctypes.c_uint()
        places = (ctypes.byref(share), ctypes.byref(window_us))

        def read() -> tuple[Figure, ...]:
            driver.raw(function, handle, *places)
            return (percent(share.value),)

        return read

    return make


def _kilobytes(value: int) -> Figure:
    known = number(value)
    return known if isinstance(known, Reason) else known * BYTES_PER_NVML_KB


READINGS: tuple[Reading, ...] = (
    Reading(Tier.FAST, ("utilization_gpu_percent", "utilization_memory_percent"), _utilization),
    Reading(
        Tier.FAST,
        ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes"),
        memory,
    ),
    Reading(Tier.FAST, ("clock_sm_mhz",), one_number("nvmlDeviceGetClockInfo", CLOCK_SM)),
    Reading(Tier.FAST, ("clock_memory_mhz",), one_number("nvmlDeviceGetClockInfo", CLOCK_MEMORY)),
    Reading(
        Tier.FAST,
        ("clock_event_reasons",),
        first_offered(
            one_number("nvmlDeviceGetCurrentClocksEventReasons", type_=ctypes.c_ulonglong),
            one_number("nvmlDeviceGetCurrentClocksThrottleReasons", type_=ctypes.c_ulonglong),  # before driver 535
        ),
    ),
    Reading(
        Tier.MEDIUM,
        ("performance_state",),
        one_number("nvmlDeviceGetPerformanceState", convert=_performance_state),
    ),
    Reading(Tier.MEDIUM, ("encoder_percent",), _codec("nvmlDeviceGetEncoderUtilization")),
    Reading(Tier.MEDIUM, ("decoder_percent",), _codec("nvmlDeviceGetDecoderUtilization")),
    Reading(Tier.SLOW, ("clock_graphics_mhz",), one_number("nvmlDeviceGetClockInfo", CLOCK_GRAPHICS)),
    Reading(
        Tier.SLOW,
        ("temperature_c",),
        first_offered(one_number("nvmlDeviceGetTemperature", TEMPERATURE_GPU), _new_temperature),
    ),
    Reading(Tier.SLOW, ("temperature_margin_c",), _margin),
    Reading(Tier.SLOW, ("power_limit_w",), one_number("nvmlDeviceGetEnforcedPowerLimit", convert=thousandth)),
    Reading(
        Tier.PCIE,
        ("pcie_rx_bytes_per_s",),
        one_number("nvmlDeviceGetPcieThroughput", PCIE_RX, convert=_kilobytes),
    ),
    Reading(
        Tier.PCIE,
        ("pcie_tx_bytes_per_s",),
        one_number("nvmlDeviceGetPcieThroughput", PCIE_TX, convert=_kilobytes),
    ),
)
MEMORY_READING = READINGS[1]
"""The one reading here that MIG instances have of their own."""
