"""Reads the figures of one device: remembers what it does not offer, says why each missing figure is missing."""

from __future__ import annotations

import time
from pathlib import Path

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources.calls import Getter
from gpuscope.sources.driver import Driver
from gpuscope.sources.fast_tier import FastTier
from gpuscope.sources.field_groups import PlainFields, Power
from gpuscope.sources.figures import Figures, Group, Tier
from gpuscope.sources.gpm import RATE_FIELDS, GpmPair
from gpuscope.sources.gpu_processes import GpuProcesses, ProcessShares
from gpuscope.sources.nvlink import NvlinkState
from gpuscope.sources.nvml_devices import Found
from gpuscope.sources.nvml_fields import MEMORY_READING, READINGS
from gpuscope.sources.parts import Fans, PcieLink
from gpuscope.sources.refusals import lasts
from gpuscope.sources.sleeping import is_asleep, power_folder
from gpuscope.sources.surroundings import Surroundings
from gpuscope.sources.traffic import NvlinkTraffic, PcieTraffic

_NOT_FIGURES = frozenset({"uuid", "read_start_s", "read_end_s", "unavailable"})
ALL_FIELDS = tuple(name for name in GpuSample.__struct_fields__ if name not in _NOT_FIGURES)
"""Every figure of a `GpuSample`."""
_PCIE_RATES = ("pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s")


def missing_sample(uuid: str, reason: Reason) -> GpuSample:
    """A device of which nothing can be read."""
    return GpuSample(uuid=uuid, unavailable=dict.fromkeys(ALL_FIELDS, reason))


class DeviceReader:
    """One GPU or MIG instance, from one initialisation of the driver to the next.

    Attributes:
        device: what is read.
        measures_pcie: its PCIe rates are only to be had by measuring them (the PCIE tier).
        silent: the last fast reading had nothing, for no lasting reason: the handle may be no longer good.
    """

    def __init__(self, driver: Driver, found: Found, sysfs: Path = Path("/sys")) -> None:
        self.device: Device = found.device
        self.measures_pcie = found.device.kind == "gpu"
        self.silent = False
        self._surroundings = Surroundings(found.device)
        groups = _groups_of_instance(driver, found) if found.device.kind == "mig" else _groups_of_gpu(driver, found)
        self._groups = {tier: [group for group in groups if group.tier is tier] for tier in Tier}
        self._elsewhere = _not_of_instances(groups) if found.device.kind == "mig" else {}
        self._power = power_folder(found.device, sysfs)

    def read(self, tier: Tier) -> GpuSample:
        """All figures of a tier.

        Raises:
            DriverError: the device or the whole driver has gone; nothing else ends a reading.
        """
        start_s = time.monotonic()
        groups = self._groups[tier]
        figures = groups[0].read(start_s) if len(groups) == 1 else _merged(groups, start_s)
        if tier is Tier.MEDIUM:
            self._settle_pcie(figures)
        unavailable: dict[str, Reason] = {}
        if Reason in map(type, figures.values()):
            missing = [name for name, figure in figures.items() if isinstance(figure, Reason)]
            unavailable = {name: self._surroundings.explain(name, figures.pop(name)) for name in missing}
        if tier is Tier.FAST:
            self.silent = not figures and not all(map(lasts, unavailable.values()))
        if tier is Tier.MEDIUM:
            unavailable |= {name: reason for name, reason in self._elsewhere.items() if name not in figures}
        return GpuSample(
            uuid=self.device.uuid,
            unavailable=unavailable,
            read_start_s=start_s,
            read_end_s=time.monotonic(),
            **figures,
        )

    def asleep(self) -> bool:
        """True while the system has put the GPU to sleep to save power: reading would wake it."""
        return self._power is not None and is_asleep(self._power)

    def close(self) -> None:
        """Let go of what the driver holds for this device."""
        for groups in self._groups.values():
            for group in groups:
                group.close()

    def _settle_pcie(self, figures: Figures) -> None:
        """Where neither counters nor GPM give PCIe rates, the PCIE tier measures them and says what is missing."""
        if self.device.kind == "gpu":
            self.measures_pcie = any(lasts(figures.get(name)) for name in _PCIE_RATES)
        if self.measures_pcie:
            for name in _PCIE_RATES:
                figures.pop(name, None)


def _groups_of_gpu(driver: Driver, found: Found) -> list[Group]:
    handle, device = found.handle, found.device
    shares = ProcessShares(driver, handle)
    nvlink = NvlinkState(driver, handle, device.nvlink_links or 0)
    getters = [Getter(driver, handle, reading) for reading in READINGS]
    return [
        FastTier(driver, [getter for getter in getters if getter.tier is Tier.FAST], Power(driver, handle)),
        *(getter for getter in getters if getter.tier is not Tier.FAST),
        PlainFields(driver, handle, Tier.MEDIUM),
        PlainFields(driver, handle, Tier.SLOW),
        PcieLink(driver, handle),
        GpmPair(driver, handle),  # before the counters, which are only read where it has no rates
        PcieTraffic(driver, handle, device),
        NvlinkTraffic(driver, handle, nvlink.links),
        shares,
        nvlink,
        Fans(driver, handle),
        GpuProcesses(driver, handle, device, shares),
    ]


def _groups_of_instance(driver: Driver, found: Found) -> list[Group]:
    """What a MIG instance has of its own. Asked for anything else, drivers refuse, or answer for the whole GPU."""
    handle, device = found.handle, found.device
    if device.gpu_instance_id is None:  # the whole GPU's counters must not pass for the instance's
        gpm = GpmPair(driver, handle)
    else:
        gpm = GpmPair(driver, found.gpu_handle, device.gpu_instance_id, handle)
    return [
        Getter(driver, handle, MEMORY_READING),
        gpm,
        GpuProcesses(driver, handle, device, None),
    ]


def _not_of_instances(groups: list[Group]) -> dict[str, Reason]:
    own = {name for group in groups for name in group.fields} - set(RATE_FIELDS)
    return {name: Reason.MIG_INSTANCE for name in ALL_FIELDS if name not in own}


def _merged(groups: list[Group], now_s: float) -> Figures:
    """What the groups say, in their order: of a figure with several sources the first that has it."""
    figures: Figures = {}
    for group in groups:
        if group.fields and all(_is_there(figures, name) for name in group.fields):
            continue
        for name, figure in group.read(now_s).items():
            if not _is_there(figures, name):
                figures[name] = figure
    return figures


def _is_there(figures: Figures, name: str) -> bool:
    return name in figures and not isinstance(figures[name], Reason)
