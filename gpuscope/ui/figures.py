"""Figures as they stand on the screen: the number, and its unit apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.domain.device import Device
from gpuscope.domain.units import GB, GIB, format_bytes, format_rate

DASH = "–"


class Figure(NamedTuple):
    """A number and its unit; a dash without a unit when it is unknown."""

    number: str
    unit: str


UNKNOWN = Figure(DASH, "")


def percent(value: float | None) -> Figure:
    """`87 %`."""
    return UNKNOWN if value is None else Figure(f"{value:.0f}", "%")


def watts(value: float | None) -> Figure:
    """`350 W`."""
    return UNKNOWN if value is None else Figure(f"{value:,.0f}" if value >= 100 else f"{value:.1f}", "W")


def megahertz(value: float | None) -> Figure:
    """`1,980 MHz`."""
    return UNKNOWN if value is None else Figure(f"{value:,.0f}", "MHz")


def celsius(value: float | None) -> Figure:
    """`61 °C`."""
    return UNKNOWN if value is None else Figure(f"{value:.0f}", "°C")


def memory(value: float | None) -> Figure:
    """`26.1 GiB`."""
    return UNKNOWN if value is None else _split(format_bytes(value))


def rate(value: float | None) -> Figure:
    """`1.2 GB/s`."""
    return UNKNOWN if value is None else _split(format_rate(value))


def gib_tick(value: float) -> str:
    """Bytes at a tick: `40 GiB`."""
    return f"{value / GIB:g} GiB"


def rate_tick(value: float) -> str:
    """Bytes a second at a tick: `20 MB/s`."""
    return "0" if value == 0 else format_rate(value)


def vendor_gigabytes(value: float) -> str:
    """Bytes as vendors count them: `85.9 GB`."""
    return f"{value / GB:.1f} GB"


def device_labels(devices: Sequence[Device]) -> dict[str, str]:
    """By UUID: `GPU 0`; the second MIG instance of it `MIG 0.1`, for instances share their GPU's index."""
    labels: dict[str, str] = {}
    instances: Counter[int] = Counter()
    for device in devices:
        if device.kind == "mig":
            labels[device.uuid] = f"MIG {device.index}.{instances[device.index]}"
            instances[device.index] += 1
        else:
            labels[device.uuid] = f"GPU {device.index}"
    return labels


def number_ranges(numbers: list[int]) -> str:
    """Whole numbers with neighbours joined: `0–3, 6`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _split(text: str) -> Figure:
    number, unit = text.rsplit(" ", 1)
    return Figure(number, unit)
