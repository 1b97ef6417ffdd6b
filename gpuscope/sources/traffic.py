"""PCIe and NVLink traffic from the driver's cumulative counters."""

from __future__ import annotations

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.units import KIB
from gpuscope.sources.driver import NOT_OFFERED, Driver
from gpuscope.sources.field_batch import Answer, Field, FieldBatch
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, WithoutResources
from gpuscope.sources.nvlink import Links
from gpuscope.sources.rates import CounterKind, CounterReading, counter_rate

_PCIE = {"pcie_tx_bytes_per_s": Field(197), "pcie_rx_bytes_per_s": Field(198)}
"""Bytes; they run over."""
_NVLINK: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "nvlink_tx_bytes_per_s": ((138, KIB), (202, 1)),
    "nvlink_rx_bytes_per_s": ((139, KIB), (204, 1)),
}
"""Identifier and unit of the data counters of each link: up to NVLink 4, and from NVLink 5 on."""


class Counters:
    """Remembers the last readings of one device's counters."""

    def __init__(self) -> None:
        self._last: dict[Field, CounterReading] = {}

    def rate(self, field: Field, answer: Answer, read_s: float, unit_bytes: int, most: float | None) -> Figure:
        """Bytes a second since the last reading, or why that is not known."""
        if isinstance(answer.value, Reason):
            return answer.value
        now = CounterReading(int(answer.value), answer.driver_us, read_s)
        found = counter_rate(self._last.get(field), now, CounterKind(answer.modulus, unit_bytes, most))
        if found is not Reason.STALE:  # the next rate is over the whole time since the driver renewed it
            self._last[field] = now
        return found


class PcieTraffic(WithoutResources):
    """Rates of the PCIe link."""

    tier = Tier.MEDIUM
    fields = tuple(_PCIE)

    def __init__(self, driver: Driver, handle: Handle, device: Device) -> None:
        self._batch = FieldBatch(driver, handle, list(_PCIE.values()))
        self._counters = Counters()
        self._most = device.pcie_limit_bytes_per_s

    def read(self, now_s: float) -> Figures:
        """Both directions."""
        answers = self._batch.read(now_s)
        return {name: self._counters.rate(field, answers[field], now_s, 1, self._most) for name, field in _PCIE.items()}


class NvlinkTraffic(WithoutResources):
    """Rates of all NVLinks together."""

    tier = Tier.MEDIUM
    fields = tuple(_NVLINK)

    def __init__(self, driver: Driver, handle: Handle, links: Links) -> None:
        self._links = links
        self._fields = [
            Field(identifier, link)
            for ways in _NVLINK.values()
            for identifier, _ in ways
            for link in range(links.count)
        ]
        self._batch = FieldBatch(driver, handle, self._fields)
        self._counters = Counters()

    def read(self, now_s: float) -> Figures:
        """The sum over the active links; one whose counter is missing makes the sum unknown."""
        active = self._links.active
        if not active:
            return dict.fromkeys(self.fields, Reason.FIRST_READING if active is None else Reason.NO_NVLINK)
        answers = self._batch.read(now_s)
        return {name: self._sum(active, ways, answers, now_s) for name, ways in _NVLINK.items()}

    def _sum(
        self, active: tuple[int, ...], ways: tuple[tuple[int, int], ...], answers: dict[Field, Answer], now_s: float
    ) -> Figure:
        rates: list[Figure] = []
        for link in active:
            refused: Figure = Reason.NOT_SUPPORTED
            for identifier, unit_bytes in ways:
                field = Field(identifier, link)
                refused = self._counters.rate(field, answers[field], now_s, unit_bytes, self._links.link_bytes_per_s)
                if refused not in NOT_OFFERED:
                    break
            rates.append(refused)
        missing = [rate for rate in rates if isinstance(rate, Reason)]
        return missing[0] if missing else sum(rates)
