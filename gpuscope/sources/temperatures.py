"""The machine's temperature sensors: slow to read, since many ask a chip over a slow bus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import Figures, Number, names_in, read_number, read_text

CPU_CHIPS = re.compile(r"coretemp|k8temp|k10temp|zenpower|via_cputemp|x86_pkg_temp|tcpu|cpu.*", re.IGNORECASE)
"""Names of sensors that sit in processors: drivers in Linux' drivers/hwmon, zones of laptops' firmware, and the zones
of boards, which begin with cpu."""
WITH_OFFSET, WITHOUT_OFFSET = " Tctl", " Tdie"
"""Some AMD processors add up to 27 degrees to the one, for their fans (https://docs.kernel.org/hwmon/k10temp.html)."""
MILLIDEGREES = 1000
LOWEST_C, HIGHEST_C = -40, 125
"""Sensors that nothing is connected to give values outside (127, -128, -273)."""


class _Sensor(NamedTuple):
    name: str
    chip: str
    file: Path
    limit: Path
    """The temperature at which the system must act; often missing."""
    power: Path
    """Says `suspended` while the device sleeps: it would be woken up to be measured."""


class Temperatures:
    """All sensors of hwmon; where there are none, the thermal zones, which are often the same sensors."""

    def __init__(self, sysfs: Path) -> None:
        self._sysfs = sysfs

    def read(self) -> Figures:
        """`temperatures` as a list, and the hottest of the processors' own sensors; in °C."""
        sensors = _hwmon(self._sysfs / "class" / "hwmon") or _zones(self._sysfs / "class" / "thermal")
        if not sensors:
            return {"cpu_temperature_c": Reason.NOT_OFFERED}
        values = [(sensor, _value(sensor)) for sensor in sensors]
        return {
            "temperatures": [_row(sensor, value) for sensor, value in values],
            "cpu_temperature_c": _hottest({s.name: value for s, value in values if CPU_CHIPS.fullmatch(s.chip)}),
        }


def _hottest(cpu: dict[str, Number]) -> Number:
    """The highest of the processors' own temperatures."""
    names = [name for name in cpu if name.replace(WITH_OFFSET, WITHOUT_OFFSET) == name]
    if not any(name.endswith(WITHOUT_OFFSET) for name in cpu):
        names = list(cpu)
    known = [value for name in names if not isinstance(value := cpu[name], Reason)]
    return max(known) if known else next(iter(cpu.values()), Reason.NOT_OFFERED)


def _hwmon(folder: Path) -> list[_Sensor]:
    """See https://docs.kernel.org/hwmon/sysfs-interface.html."""
    sensors: list[_Sensor] = []
    for name in names_in(folder):
        place = folder / name
        chip = _text(place / "name") or name
        for file in names_in(place):
            if file.startswith("temp") and file.endswith("_input"):
                stem = file[: -len("_input")]
                label = _text(place / f"{stem}_label") or stem
                power = place / "device" / "power" / "runtime_status"
                sensors.append(_Sensor(f"{chip} {label}", chip, place / file, place / f"{stem}_crit", power))
    return sensors


def _zones(folder: Path) -> list[_Sensor]:
    """See https://docs.kernel.org/driver-api/thermal/sysfs-api.html."""
    sensors: list[_Sensor] = []
    for name in names_in(folder):
        place = folder / name
        kind = _text(place / "type") if name.startswith("thermal_zone") else None
        if kind is not None:
            limit, power = place / "trip_point_0_temp", place / "device" / "power" / "runtime_status"
            critical = _text(place / "trip_point_0_type") == "critical"
            sensors.append(_Sensor(kind, kind, place / "temp", limit if critical else place / "none", power))
    return sensors


def _text(path: Path) -> str | None:
    text = read_text(path)
    return None if isinstance(text, Reason) or not text else text


def _value(sensor: _Sensor) -> Number:
    if read_text(sensor.power) == "suspended":
        return Reason.SUSPENDED
    millidegrees = read_number(sensor.file)
    if isinstance(millidegrees, Reason):
        return millidegrees
    celsius = millidegrees / MILLIDEGREES
    return celsius if LOWEST_C < celsius <= HIGHEST_C else Reason.IMPLAUSIBLE


def _row(sensor: _Sensor, value: Number) -> dict[str, Any]:
    limit = read_number(sensor.limit) if not isinstance(value, Reason) else value
    row: dict[str, Any] = {"name": sensor.name}
    if not isinstance(limit, Reason) and 0 < limit / MILLIDEGREES <= HIGHEST_C:
        row["limit_c"] = limit / MILLIDEGREES
    return {**row, "unavailable": {"celsius": value}} if isinstance(value, Reason) else {**row, "celsius": value}
