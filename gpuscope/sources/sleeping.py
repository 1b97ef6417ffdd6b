"""GPUs that the system has put to sleep, as Linux tells it: they are not woken to be measured."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.device import Device

NVIDIA = "0x10de"
_DISPLAY_CLASS = "0x03"
"""PCI base class of display controllers."""


def power_folder(device: Device, sysfs: Path) -> Path | None:
    """The GPU's power folder in sysfs if the system may put it to sleep (runtime power management is on)."""
    if device.pci_bus_id is None:
        return None
    domain, _, rest = device.pci_bus_id.lower().partition(":")
    folder = sysfs / "bus" / "pci" / "devices" / f"{domain[-4:]}:{rest}" / "power"
    return folder if _first_line(folder / "control") == "auto" else None


def is_asleep(folder: Path) -> bool:
    """True while the device of that power folder is suspended."""
    return _first_line(folder / "runtime_status") == "suspended"


def all_asleep(sysfs: Path) -> bool:
    """True when this machine has NVIDIA GPUs and every one of them sleeps: starting the driver would wake them."""
    folders = [
        path / "power"
        for path in (sysfs / "bus" / "pci" / "devices").glob("*")
        if _first_line(path / "vendor") == NVIDIA and _first_line(path / "class").startswith(_DISPLAY_CLASS)
    ]
    return bool(folders) and all(is_asleep(folder) for folder in folders)


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
