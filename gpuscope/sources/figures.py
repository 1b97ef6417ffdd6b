"""What a reading of a device consists of: figures with their names, and how often they are worth asking for."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Protocol

from gpuscope.domain.reasons import Reason

Handle = Any
Figure = Any
"""A number (or a tuple of processes), or the `Reason` why there is none."""
Figures = dict[str, Figure]

NOT_AVAILABLE = frozenset({0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
"""NVML_VALUE_NOT_AVAILABLE as an unsigned number."""


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


class Group(Protocol):
    """Figures of one device that are read together, from one initialisation of the driver to the next.

    Attributes:
        tier: how often.
        fields: names of the figures.
    """

    @property
    def tier(self) -> Tier:
        """How often it is read."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the figures."""

    def read(self, now_s: float) -> Figures:
        """The figures of now, or why they are missing; those left out were not looked at this time.

        Args:
            now_s: monotonic time.

        Raises:
            DriverError: the device or the whole driver has gone; nothing else ends a reading.
        """

    def close(self) -> None:
        """Let go of what the driver holds for it."""


class WithoutResources:
    """A group for which the driver holds nothing."""

    def close(self) -> None:
        """Nothing is to be let go of."""


def number(value: float) -> float | Reason:
    """A number as the driver gives it."""
    return Reason.NO_DATA if value in NOT_AVAILABLE else value


def thousandth(value: float) -> float | Reason:
    """A thousandth of what the driver gives: it counts in mW and mJ."""
    return Reason.NO_DATA if value in NOT_AVAILABLE else value / 1000


def percent(value: float) -> float | Reason:
    """A share; drivers have been seen to give utilisations far above 100."""
    return value if 0 <= value <= 100 else Reason.IMPLAUSIBLE  # NaN fails the comparison


def rate(value: float, unit_bytes: int) -> float | Reason:
    """Bytes a second of a rate in larger units."""
    return value * unit_bytes if math.isfinite(value) and value >= 0 else Reason.IMPLAUSIBLE
