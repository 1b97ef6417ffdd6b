"""Reads the figures of one device: remembers what it does not offer, says why each missing figure is missing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources.driver import DEVICE_GONE, DRIVER_GONE, INVALID_ARGUMENT, LASTING, Driver, DriverError
from gpuscope.sources.nvml_devices import Found
from gpuscope.sources.nvml_fields import ALL_FIELDS, READINGS, UTILIZATION_FIELDS, Reading, Tier

PROBE_AGAIN_S = 60.0
"""What a device does not offer is asked for again this often."""

_BY_TIER: dict[Tier, tuple[Reading, ...]] = {
    tier: tuple(reading for reading in READINGS if reading.tier is tier) for tier in Tier
}


def missing_sample(uuid: str, reason: Reason) -> GpuSample:
    """A device of which nothing can be read."""
    return GpuSample(uuid=uuid, unavailable=dict.fromkeys(ALL_FIELDS, reason))


class DeviceReader:
    """One GPU or MIG instance, from one initialisation of the driver to the next."""

    def __init__(self, driver: Driver, found: Found, sysfs: Path = Path("/sys")) -> None:
        self.device: Device = found.device
        self._driver = driver
        self._handle = found.handle
        self._lasting: dict[Reading, tuple[dict[str, Reason], float]] = {}
        self._power = _power_folder(found.device, sysfs)

    def read(self, tier: Tier) -> GpuSample:
        """All figures of a tier.

        Raises:
            DriverError: the device or the whole driver has gone; nothing else ends a reading.
        """
        values: dict[str, Any] = {}
        unavailable: dict[str, Reason] = {}
        start_s = time.monotonic()
        for reading in _BY_TIER[tier]:
            remembered = self._lasting.get(reading)
            if remembered is not None and start_s < remembered[1]:
                unavailable.update(remembered[0])
                continue
            reasons = self._take(reading, values)
            unavailable.update(reasons)
            self._remember(reading, reasons, start_s)
        return GpuSample(
            uuid=self.device.uuid,
            unavailable=unavailable,
            read_start_s=start_s,
            read_end_s=time.monotonic(),
            **values,
        )

    def asleep(self) -> bool:
        """True while the system has put the GPU to sleep to save power: reading would wake it."""
        return self._power is not None and _first_line(self._power / "runtime_status") == "suspended"

    def _take(self, reading: Reading, values: dict[str, Any]) -> dict[str, Reason]:
        """Add the figures that are there to `values`; returns the reasons for the others."""
        try:
            figures = reading.read(self._driver, self._handle)
        except DriverError as error:
            if error.reason in DRIVER_GONE | DEVICE_GONE:
                raise
            return {name: self._reason(name, error) for name in reading.fields}
        pairs = list(zip(reading.fields, figures, strict=True))
        values.update({name: figure for name, figure in pairs if not isinstance(figure, Reason)})
        return {name: figure for name, figure in pairs if isinstance(figure, Reason)}

    def _reason(self, name: str, error: DriverError) -> Reason:
        if self.device.kind == "mig" and error.code == INVALID_ARGUMENT:
            return Reason.NOT_SUPPORTED  # how some drivers refuse instances' handles
        if self.device.mig_enabled and name in UTILIZATION_FIELDS and error.reason is Reason.NOT_SUPPORTED:
            return Reason.MIG_MODE
        return error.reason

    def _remember(self, reading: Reading, reasons: dict[str, Reason], now_s: float) -> None:
        lasts = len(reasons) == len(reading.fields) and all(reason in LASTING for reason in reasons.values())
        if lasts:
            self._lasting[reading] = (reasons, now_s + PROBE_AGAIN_S)
        else:
            self._lasting.pop(reading, None)


def _power_folder(device: Device, sysfs: Path) -> Path | None:
    """The GPU's power folder in sysfs if the system may put it to sleep (runtime power management is on)."""
    if device.pci_bus_id is None:
        return None
    domain, _, rest = device.pci_bus_id.lower().partition(":")
    folder = sysfs / "bus" / "pci" / "devices" / f"{domain[-4:]}:{rest}" / "power"
    return folder if _first_line(folder / "control") == "auto" else None


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
