"""Which NVML calls give which figures, in what units, and how often they are worth asking for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import Driver, DriverError
from gpuscope.sources.gpu_processes import read_processes

Handle = Any
Figure = Any
"""A number (or a tuple of processes), or the `Reason` why there is none."""

BYTES_PER_NVML_KB = 1000
"""nvmlDeviceGetPcieThroughput counts in KB/s (nvml.h does not say which kind of KB; read as decimal)."""
PSTATE_UNKNOWN = 32
"""NVML_PSTATE_UNKNOWN."""
NOT_AVAILABLE = frozenset({0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
"""NVML_VALUE_NOT_AVAILABLE as an unsigned number."""
TEMPERATURE_GPU = 0
CLOCK_SM, CLOCK_MEMORY = 1, 2
PCIE_TX, PCIE_RX = 0, 1


class Tier(Enum):
    """How often a figure is read."""

    FAST = "fast"
    """At the sampler's interval."""
    MEDIUM = "medium"
    """Once a second."""
    SLOW = "slow"
    """Every two seconds."""
    PCIE = "pcie"
    """One GPU after the other: each call measures for 20 ms."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a device: the fields it fills, in the order in which `read` returns their figures."""

    tier: Tier
    fields: tuple[str, ...]
    read: Callable[[Driver, Handle], tuple[Figure, ...]]


def _number(value: int) -> int | Reason:
    return Reason.NO_DATA if value in NOT_AVAILABLE else value


def _thousandth(value: int) -> float | Reason:
    return Reason.NO_DATA if value in NOT_AVAILABLE else value / 1000


def _percent(value: int) -> int | Reason:
    """Drivers have been seen to give utilisations far above 100."""
    return Reason.IMPLAUSIBLE if value > 100 else value


def _utilization(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    rates = driver.call("nvmlDeviceGetUtilizationRates", handle)
    return _percent(rates.gpu), _percent(rates.memory)


def read_memory(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    """Total, used, reserved, free. Version 1 counts the driver's reservation as used: then reserved is not known."""
    try:
        figures: tuple[Figure, ...] = driver.first_offered(
            lambda: _memory_v2(driver.call("nvmlDeviceGetMemoryInfo", handle, version=driver.module.nvmlMemory_v2)),
            lambda: _memory_v1(driver.call("nvmlDeviceGetMemoryInfo", handle)),
        )
    except DriverError as error:
        if error.reason is Reason.NOT_SUPPORTED:
            return (Reason.UNIFIED_MEMORY,) * 4  # only chips without memory of their own refuse both
        raise
    return figures


def _memory_v2(info: Any) -> tuple[Figure, ...]:
    if info.total == 0:
        return (Reason.UNIFIED_MEMORY,) * 4
    return _number(info.total), _number(info.used), _number(info.reserved), _number(info.free)


def _memory_v1(info: Any) -> tuple[Figure, ...]:
    if info.total == 0:
        return (Reason.UNIFIED_MEMORY,) * 4
    return _number(info.total), _number(info.used), Reason.FUNCTION_NOT_FOUND, _number(info.free)


def _power(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    return (_thousandth(driver.call("nvmlDeviceGetPowerUsage", handle)),)


def _power_limit(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    return (_thousandth(driver.call("nvmlDeviceGetEnforcedPowerLimit", handle)),)


def _energy(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    return (_thousandth(driver.call("nvmlDeviceGetTotalEnergyConsumption", handle)),)


def _clock(kind: int) -> Callable[[Driver, Handle], tuple[Figure, ...]]:
    return lambda driver, handle: (_number(driver.call("nvmlDeviceGetClockInfo", handle, kind)),)


def _clock_events(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    return (
        driver.first_offered(
            lambda: driver.call("nvmlDeviceGetCurrentClocksEventReasons", handle),
            lambda: driver.call("nvmlDeviceGetCurrentClocksThrottleReasons", handle),  # its name before driver 535
        ),
    )


def _temperature(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    return (
        _number(
            driver.first_offered(
                lambda: driver.call("nvmlDeviceGetTemperature", handle, TEMPERATURE_GPU),
                lambda: driver.call("nvmlDeviceGetTemperatureV", handle, TEMPERATURE_GPU),  # replaces it in CUDA 14
            )
        ),
    )


def _performance_state(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
    state = driver.call("nvmlDeviceGetPerformanceState", handle)
    return (Reason.NO_DATA if state == PSTATE_UNKNOWN else state,)


def _plain(function: str) -> Callable[[Driver, Handle], tuple[Figure, ...]]:
    """A call that gives one number in the field's own unit."""
    return lambda driver, handle: (_number(driver.call(function, handle)),)


def _codec(function: str) -> Callable[[Driver, Handle], tuple[Figure, ...]]:
    """A call that gives a percentage and the length of its window."""
    return lambda driver, handle: (_percent(driver.call(function, handle)[0]),)


def _pcie(direction: int) -> Callable[[Driver, Handle], tuple[Figure, ...]]:
    def read(driver: Driver, handle: Handle) -> tuple[Figure, ...]:
        rate = _number(driver.call("nvmlDeviceGetPcieThroughput", handle, direction))
        return (rate if isinstance(rate, Reason) else rate * BYTES_PER_NVML_KB,)

    return read


READINGS: tuple[Reading, ...] = (
    Reading(Tier.FAST, ("utilization_gpu_percent", "utilization_memory_percent"), _utilization),
    Reading(
        Tier.FAST,
        ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes"),
        read_memory,
    ),
    Reading(Tier.FAST, ("power_w",), _power),
    Reading(Tier.FAST, ("clock_sm_mhz",), _clock(CLOCK_SM)),
    Reading(Tier.FAST, ("clock_memory_mhz",), _clock(CLOCK_MEMORY)),
    Reading(Tier.FAST, ("clock_event_reasons",), _clock_events),
    Reading(Tier.MEDIUM, ("energy_j",), _energy),
    Reading(Tier.MEDIUM, ("performance_state",), _performance_state),
    Reading(Tier.MEDIUM, ("pcie_generation",), _plain("nvmlDeviceGetCurrPcieLinkGeneration")),
    Reading(Tier.MEDIUM, ("pcie_width",), _plain("nvmlDeviceGetCurrPcieLinkWidth")),
    Reading(Tier.MEDIUM, ("encoder_percent",), _codec("nvmlDeviceGetEncoderUtilization")),
    Reading(Tier.MEDIUM, ("decoder_percent",), _codec("nvmlDeviceGetDecoderUtilization")),
    Reading(Tier.SLOW, ("temperature_c",), _temperature),
    Reading(Tier.SLOW, ("fan_percent",), _plain("nvmlDeviceGetFanSpeed")),
    Reading(Tier.SLOW, ("power_limit_w",), _power_limit),
    Reading(Tier.SLOW, ("processes",), read_processes),
    Reading(Tier.PCIE, ("pcie_rx_bytes_per_s",), _pcie(PCIE_RX)),
    Reading(Tier.PCIE, ("pcie_tx_bytes_per_s",), _pcie(PCIE_TX)),
)
ALL_FIELDS = tuple(name for reading in READINGS for name in reading.fields)
"""Every figure of a `GpuSample` that NVML gives."""
UTILIZATION_FIELDS = frozenset(
    {"utilization_gpu_percent", "utilization_memory_percent", "encoder_percent", "decoder_percent"}
)
"""What a GPU does not offer while it is split into MIG instances (nvml.h)."""
