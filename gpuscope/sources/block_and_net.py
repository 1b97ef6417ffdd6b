"""Disks and network interfaces: which ones count, and how much goes through them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psutil

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import DiskSample, NetworkSample
from gpuscope.sources.rates import CounterRates

VIRTUAL_DISK = re.compile(r"(loop|ram|zram|dm-|md)\d")
VIRTUAL_INTERFACE = re.compile(r"(lo\d*$|veth|docker|br-|virbr|ifb|dummy|tun|tap)")
"""Names of what passes on traffic that is counted elsewhere."""

Sums = dict[str, Any]


class DiskRates:
    """Bytes a second of each physical disk, and of all together."""

    def __init__(self, sysfs: Path = Path("/sys")) -> None:
        self._sysfs = sysfs
        self._rates = CounterRates()

    def sample(self, now_s: float) -> tuple[tuple[DiskSample, ...], Sums, dict[str, Reason]]:
        """The disks, the host's sums by field name, and the reasons for missing sums."""
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        names = _physical(counters, self._sysfs / "block", VIRTUAL_DISK)
        rows = {
            name: {
                "read_bytes_per_s": self._rates.rate((name, "read"), counters[name].read_bytes, now_s),
                "write_bytes_per_s": self._rates.rate((name, "write"), counters[name].write_bytes, now_s),
            }
            for name in names
        }
        self._rates.forget_all_but({(name, way) for name in names for way in ("read", "write")})
        samples = tuple(DiskSample(name=name, **_figures(row)) for name, row in rows.items())
        return samples, *_totals(rows, "disk_")


class NetworkRates:
    """Bytes a second of each network interface that leads out of the machine, and of all together."""

    def __init__(self, sysfs: Path = Path("/sys")) -> None:
        self._sysfs = sysfs
        self._rates = CounterRates()

    def sample(self, now_s: float) -> tuple[tuple[NetworkSample, ...], Sums, dict[str, Reason]]:
        """The interfaces, the host's sums by field name, and the reasons for missing sums."""
        counters = psutil.net_io_counters(pernic=True, nowrap=False) or {}
        names = _physical(counters, self._sysfs / "class" / "net", VIRTUAL_INTERFACE)
        rows = {
            name: {
                "receive_bytes_per_s": self._rates.rate((name, "receive"), counters[name].bytes_recv, now_s),
                "send_bytes_per_s": self._rates.rate((name, "send"), counters[name].bytes_sent, now_s),
            }
            for name in names
        }
        self._rates.forget_all_but({(name, way) for name in names for way in ("receive", "send")})
        samples = tuple(NetworkSample(name=name, **_figures(row)) for name, row in rows.items())
        return samples, *_totals(rows, "network_")


def _physical(counters: dict[str, Any], folder: Path, virtual: re.Pattern[str]) -> list[str]:
    """The devices that sit on hardware; where the system does not tell, those whose names do not look virtual.

    Partitions and layered devices would count every byte twice.
    """
    real = [name for name in counters if (folder / name / "device").exists()]
    return sorted(real or [name for name in counters if not virtual.match(name)])


def _figures(row: Sums) -> Sums:
    return {name: value for name, value in row.items() if not isinstance(value, Reason)}


def _totals(rows: dict[str, Sums], prefix: str) -> tuple[Sums, dict[str, Reason]]:
    """Sums over all devices. A device that has just appeared joins at its second reading."""
    names = (
        ("read_bytes_per_s", "write_bytes_per_s") if prefix == "disk_" else ("receive_bytes_per_s", "send_bytes_per_s")
    )
    sums: Sums = {}
    reasons: dict[str, Reason] = {}
    for name in names:
        known = [row[name] for row in rows.values() if not isinstance(row[name], Reason)]
        if known:
            sums[prefix + name] = sum(known)
        else:
            reasons[prefix + name] = Reason.FIRST_READING if rows else Reason.NOT_FOUND
    return sums, reasons
