"""The fast tier of a whole GPU: the same few calls many times a second, with as little as possible around them."""

from __future__ import annotations

import time
from typing import Any

from gpuscope.sources.calls import Getter
from gpuscope.sources.driver import Driver
from gpuscope.sources.field_groups import Power
from gpuscope.sources.figures import Figures, Tier, WithoutResources
from gpuscope.sources.refusals import PROBE_AGAIN_S


class FastTier(WithoutResources):
    """Makes the prepared calls one after the other; what fails in any way is left to the part's own, careful reading.

    The time of the calls is accounted for together: half of what a call costs would be its own accounting.
    """

    tier = Tier.FAST

    def __init__(self, driver: Driver, getters: list[Getter], power: Power) -> None:
        self.fields = (*(name for getter in getters for name in getter.fields), *power.fields)
        self._driver = driver
        self._parts: list[Getter | Power] = [*getters, power]
        self._steps: list[tuple[Getter | Power, Any, tuple[Any, ...], Any]] = []
        self._careful: list[Getter | Power] = []
        self._look_again_s = 0.0

    def read(self, now_s: float) -> Figures:
        """All figures of the tier, or why they are missing.

        Raises:
            DriverError: the device or the whole driver has gone.
        """
        if now_s >= self._look_again_s:
            return self._look(now_s)
        figures: Figures = {}
        failed = list(self._careful)
        driver = self._driver
        driver.call_started_s = start_s = time.monotonic()
        try:
            for part, entry, arguments, take in self._steps:
                if entry(*arguments):
                    failed.append(part)
                    self._look_again_s = now_s
                else:
                    take(figures)
        finally:
            driver.account(len(self._steps), start_s)
        for part in failed:
            figures.update(part.read(now_s))
        return figures

    def _look(self, now_s: float) -> Figures:
        """Read every part carefully; what has answered is called directly until the next such look."""
        figures: Figures = {}
        self._steps, self._careful = [], []
        for part in self._parts:
            figures.update(part.read(now_s))
            prepared = None if part.rests(now_s) else part.prepared
            if prepared is None:
                self._careful.append(part)
            else:
                self._steps.append((part, self._driver.entry(prepared.function), *prepared[1:]))
        self._look_again_s = now_s + PROBE_AGAIN_S
        return figures
