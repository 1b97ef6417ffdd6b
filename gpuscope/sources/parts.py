"""Parts of a GPU whose figures take several calls together: its PCIe link and its fans."""

from __future__ import annotations

from gpuscope.domain.reasons import Reason
from gpuscope.sources.calls import Getter, Reading, one_number
from gpuscope.sources.driver import Driver, DriverError
from gpuscope.sources.figures import Figures, Handle, Tier, WithoutResources, number
from gpuscope.sources.link_limits import pcie_limit_bytes_per_s
from gpuscope.sources.refusals import Refusals

_GENERATION = Reading(
    Tier.MEDIUM, ("pcie_generation",), (one_number("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration"),)
)
_WIDTH = Reading(Tier.MEDIUM, ("pcie_width",), (one_number("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),))
_FAN = Reading(Tier.SLOW, ("fan_percent",), (one_number("fan_percent", "nvmlDeviceGetFanSpeed"),))


class PcieLink(WithoutResources):
    """The link as it is now: it slows down while the GPU idles."""

    tier = Tier.MEDIUM
    fields = ("pcie_generation", "pcie_width", "pcie_limit_bytes_per_s")

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._generation = Getter(driver, handle, _GENERATION)
        self._width = Getter(driver, handle, _WIDTH)

    def read(self, now_s: float) -> Figures:
        """Generation, width and what both make."""
        figures = self._generation.read(now_s) | self._width.read(now_s)
        missing = next((figure for figure in figures.values() if isinstance(figure, Reason)), None)
        if missing is None:
            limit = pcie_limit_bytes_per_s(figures["pcie_generation"], figures["pcie_width"])
            missing = Reason.NO_DATA if limit is None else None
            figures["pcie_limit_bytes_per_s"] = limit
        if missing is not None:
            figures["pcie_limit_bytes_per_s"] = missing
        return figures


class Fans(WithoutResources):
    """The speed of each fan, as the driver intends it."""

    tier = Tier.SLOW
    fields = ("fan_percent", "fan_percents")

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._one = Getter(driver, handle, _FAN)
        self._refusals = Refusals()
        self._count: int | None = None

    def read(self, now_s: float) -> Figures:
        """The fastest fan and, where there are several, all of them."""
        count = self._fans(now_s)
        if isinstance(count, Reason):  # not even how many: the plain call may work all the same
            return self._one.read(now_s) | {"fan_percents": count}
        if count < 2:
            return self._one.read(now_s)
        try:
            speeds = [self._driver.call("nvmlDeviceGetFanSpeed_v2", self._handle, fan) for fan in range(count)]
        except DriverError as error:
            return dict.fromkeys(self.fields, error.of_figure())
        known = [number(speed) for speed in speeds]
        missing = next((speed for speed in known if isinstance(speed, Reason)), None)
        if missing is not None:
            return dict.fromkeys(self.fields, missing)
        return {"fan_percent": max(speeds), "fan_percents": tuple(speeds)}

    def _fans(self, now_s: float) -> int | Reason:
        """How many there are, or why the driver does not say."""
        if self._count is None:
            refused = self._refusals.reason("count", now_s)
            if refused is not None:
                return refused
            try:
                self._count = int(self._driver.call("nvmlDeviceGetNumFans", self._handle))
            except DriverError as error:
                reason = error.of_figure()
                self._refusals.note("count", reason, now_s)
                return reason
        return self._count
