"""Which machine of a cluster comes first on its map."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from gpuscope.domain.device import Device

SILENT_DEVIATIONS = 6.0
"""A GPU that says nothing stands out like one that is that far off: farther than chance takes one of thousands."""


class Order(StrEnum):
    """How the machines are sorted."""

    OUTLIERS = "outliers"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Machine:
    """The GPUs of one machine, by index.

    Attributes:
        name: of the machine; empty where nobody says it.
        rack: where it stands; empty where nobody says it.
        keys: UUIDs of its GPUs and MIG instances.
    """

    name: str
    rack: str
    keys: tuple[str, ...]


def machines_of(devices: Sequence[Device]) -> list[Machine]:
    """The machines that the GPUs are in, by rack and name, in the order in which people count."""
    found: dict[tuple[str, str], list[Device]] = defaultdict(list)
    for device in devices:
        found[device.rack or "", device.hostname or ""].append(device)
    machines = []
    for (rack, name), inside in found.items():
        inside.sort(key=lambda device: (device.index, device.kind, device.uuid))
        machines.append(Machine(name, rack, tuple(device.uuid for device in inside)))
    return sorted(machines, key=lambda machine: (_counting(machine.rack), _counting(machine.name)))


def ordered(machines: Sequence[Machine], values: Mapping[str, float | None], order: Order) -> list[Machine]:
    """The machines in an order; outliers first are those with a GPU farthest from the middle of all, then unknown ones.

    Distances are counted in median absolute deviations, which a few strange GPUs do not move.
    """
    if order is Order.NAME:
        return list(machines)
    known = [value for value in values.values() if value is not None]
    if not known:
        return list(machines)
    middle = median(known)
    spread = median(abs(value - middle) for value in known)

    def strangeness(machine: Machine) -> float:
        distances = [_distance(values.get(key), middle, spread) for key in machine.keys]
        return max(distances, default=0.0)

    return sorted(machines, key=strangeness, reverse=True)


def _distance(value: float | None, middle: float, spread: float) -> float:
    if value is None:
        return SILENT_DEVIATIONS
    away = abs(value - middle)
    return away / spread if spread > 0 else (math.inf if away > 0 else 0.0)


def _counting(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts node2 before node10."""
    parts: list[tuple[int, int, str]] = []
    text = ""
    for letter in f"{name}\0":
        if text and letter.isdecimal() != text[-1].isdecimal():
            parts.append((0, int(text), "") if text.isdecimal() else (1, 0, text))
            text = ""
        text += letter
    return tuple(parts)
