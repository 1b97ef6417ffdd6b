"""One driver call for one or more figures: prepared once for a device, made again and again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import NOT_OFFERED, Driver, DriverError
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, WithoutResources, number
from gpuscope.sources.refusals import Refusals


class Prepared(NamedTuple):
    """A call of the library with the places where the driver puts its answer."""

    function: str
    arguments: tuple[Any, ...]
    take: Callable[[Figures], None]
    """Puts the figures of the answer, or why they are missing, where it is told."""


Make = Callable[[Driver, Handle], Prepared]


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a device."""

    tier: Tier
    fields: tuple[str, ...]
    ways: tuple[Make, ...]
    """Calls that give the same; the first that this driver offers for a device is kept."""
    refused: Reason = Reason.NOT_SUPPORTED
    """What it means when a device offers none of them."""


class Getter(WithoutResources):
    """A `Reading` of one device."""

    def __init__(self, driver: Driver, handle: Handle, reading: Reading) -> None:
        self.tier = reading.tier
        self.fields = reading.fields
        self._driver = driver
        self._refused = reading.refused
        self._ways = [make(driver, handle) for make in reading.ways]
        self._refusals = Refusals()

    @property
    def prepared(self) -> Prepared:
        """The call as it is made now."""
        return self._ways[0]

    def rests(self, now_s: float) -> bool:
        """True while a lasting refusal is remembered."""
        return self._refusals.reason("call", now_s) is not None

    def read(self, now_s: float) -> Figures:
        """The figures, or why they are missing; a lasting refusal is not asked for again at once."""
        known = self._refusals.reason("call", now_s)
        if known is not None:
            return dict.fromkeys(self.fields, known)
        try:
            figures = self._ask()
        except DriverError as error:
            reason = error.of_figure()
            reason = self._refused if reason is Reason.NOT_SUPPORTED else reason
            self._refusals.note("call", reason, now_s)
            return dict.fromkeys(self.fields, reason)
        self._refusals.note("call", figures[self.fields[0]], now_s)
        return figures

    def _ask(self) -> Figures:
        refusals: list[DriverError] = []
        for way in self._ways:
            try:
                self._driver.raw(way.function, *way.arguments)
            except DriverError as error:
                if error.reason not in NOT_OFFERED:
                    raise
                refusals.append(error)
                continue
            self._ways = [way]
            figures: Figures = {}
            way.take(figures)
            return figures
        # A refusal says more than the absence of a function that only other drivers have.
        raise next((one for one in refusals if one.reason is not Reason.FUNCTION_NOT_FOUND), refusals[-1])


def one_number(
    name: str,
    function: str,
    *arguments: int,
    convert: Callable[[float], Figure] = number,
    type_: Any = ctypes.c_uint,
) -> Make:
    """A call that gives one number, for the field `name`."""

    def make(_: Driver, handle: Handle) -> Prepared:
        value = type_()

        def take(figures: Figures) -> None:
            figures[name] = convert(value.value)

        return Prepared(function, (handle, *arguments, ctypes.byref(value)), take)

    return make
