"""Figures as they stand on the screen: the number, and its unit apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

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


def count(value: float | None) -> Figure:
    """`1,204`: whole things, without a unit."""
    return UNKNOWN if value is None else Figure(f"{value:,.0f}", "")


def yes_or_no(value: float | None) -> Figure:
    """`yes` for anything but 0."""
    if value is None:
        return UNKNOWN
    translate = QCoreApplication.translate
    return Figure(translate("Figures", "yes") if value else translate("Figures", "no"), "")


def performance_state(value: float | None) -> Figure:
    """`P0`."""
    return UNKNOWN if value is None else Figure(f"P{value:.0f}", "")


def load(value: float | None) -> Figure:
    """`12.4`: waiting and running tasks."""
    return UNKNOWN if value is None else Figure(f"{value:.1f}", "")


def energy(value_j: float | None) -> Figure:
    """Joules as `12.4 kWh`, small ones as `820 Wh`."""
    if value_j is None:
        return UNKNOWN
    watt_hours = value_j / 3600
    return Figure(f"{watt_hours / 1000:,.1f}", "kWh") if watt_hours >= 1000 else Figure(f"{watt_hours:.1f}", "Wh")


def seconds(value: float | None) -> Figure:
    """`0.4 s`, `12 min`, `3.1 h`."""
    if value is None:
        return UNKNOWN
    if value < 120:
        return Figure(f"{value:.1f}", "s")
    return Figure(f"{value / 60:.0f}", "min") if value < 7200 else Figure(f"{value / 3600:,.1f}", "h")


def memory(value: float | None) -> Figure:
    """`26.1 GiB`."""
    return UNKNOWN if value is None else _split(format_bytes(value))


def rate(value: float | None) -> Figure:
    """`1.2 GB/s`."""
    return UNKNOWN if value is None else _split(format_rate(value))


def of_limit(figure: Figure, limit: Figure) -> Figure:
    """`12.3` `GB/s of 63`: a figure and what it can be at most; the limit's unit is left out where it is the same."""
    if UNKNOWN in {figure, limit}:
        return figure
    most = limit.number if limit.unit == figure.unit else f"{limit.number} {limit.unit}"
    of = QCoreApplication.translate("Figures", "of {0}").format(most)
    return Figure(figure.number, f"{figure.unit} {of}".strip())


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


def gpu_places(devices: Sequence[Device], uuids: Sequence[str]) -> str:
    """Which of the devices these are: `0–3, MIG 4.0`."""
    found = [device for device in devices if device.uuid in uuids]
    labels = device_labels(devices) if found else {}
    instances = [labels[device.uuid] for device in found if device.kind == "mig"]
    gpus = number_ranges([device.index for device in found if device.kind != "mig"])
    return ", ".join([*([gpus] if gpus else []), *instances])


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
