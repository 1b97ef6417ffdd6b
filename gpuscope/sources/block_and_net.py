"""Disks and network interfaces: which ones count, and how much goes through them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, KeptFile, Number, read_number, reading_of

VIRTUAL_DISK = re.compile(r"(loop|ram|zram|dm-|md|sr|fd)\d")
VIRTUAL_INTERFACE = re.compile(r"(lo\d*$|veth|docker|br-|virbr|ifb|dummy|tun|tap)")
"""Names of what passes on traffic that is counted elsewhere, and of drives for discs."""
SECTOR_BYTES = 512
"""The unit of /proc/diskstats, whatever the disk's own (https://docs.kernel.org/admin-guide/iostats.html)."""
BYTES_PER_S_PER_MBIT = 1e6 / 8

DISK_SUMS = {"disk_read_bytes_per_s": "read_bytes_per_s", "disk_write_bytes_per_s": "write_bytes_per_s"}
NETWORK_SUMS = {"network_receive_bytes_per_s": "receive_bytes_per_s", "network_send_bytes_per_s": "send_bytes_per_s"}
"""Fields of the host that add up a field of all devices."""

Counters = dict[str, dict[str, float]]


class Disks:
    """Rates of each physical disk, and of all together, from /proc/diskstats."""

    def __init__(self, proc: Path, sysfs: Path) -> None:
        self._file = KeptFile(proc / "diskstats")
        self._physical = PhysicalDevices(sysfs / "block", VIRTUAL_DISK)
        self._rates = DeviceRates()

    def read(self, now_s: float) -> Figures:
        """`disks` as a list, their sums, and how busy the busiest is."""
        text = self._file.read()
        if isinstance(text, Reason):
            return dict.fromkeys((*DISK_SUMS, "disk_busy_percent"), text)
        counters = _diskstats(text)
        wanted = {name: counters[name] for name in self._physical.among(counters)}
        rows = self._rates.rows(wanted, now_s)
        for row in rows.values():
            busy = row.pop("busy_ms_per_s")
            row["busy_percent"] = busy if isinstance(busy, Reason) else min(100.0, busy / 10)
        busiest = [row["busy_percent"] for row in rows.values() if not isinstance(row["busy_percent"], Reason)]
        missing = Reason.FIRST_READING if rows else Reason.NOT_FOUND
        return {
            "disks": device_list(rows),
            "disk_busy_percent": max(busiest, default=missing),
            **sums(rows.values(), DISK_SUMS),
        }


class Networks:
    """Rates of each network interface that leads out of the machine, and of all together, from /proc/net/dev."""

    def __init__(self, proc: Path, sysfs: Path) -> None:
        self._file = KeptFile(proc / "net" / "dev")
        self._folder = sysfs / "class" / "net"
        self._physical = PhysicalDevices(self._folder, VIRTUAL_INTERFACE)
        self._rates = DeviceRates()
        self._links: dict[str, Number] = {}

    def look_at_links(self) -> None:
        """Ask anew how fast the links are: some drivers take a millisecond for it."""
        self._links = {name: link_bytes_per_s(self._folder / name / "speed") for name in self._links}

    def read(self, now_s: float) -> Figures:
        """`networks` as a list, and their sums."""
        text = self._file.read()
        if isinstance(text, Reason):
            return dict.fromkeys(NETWORK_SUMS, text)
        counters = _net_dev(text)
        rows = self._rates.rows({name: counters[name] for name in self._physical.among(counters)}, now_s)
        if rows.keys() != self._links.keys():
            self._links = dict.fromkeys(rows, Reason.NOT_OFFERED)
            self.look_at_links()
        for name, row in rows.items():
            row["link_bytes_per_s"] = self._links[name]
        return {"networks": device_list(rows), **sums(rows.values(), NETWORK_SUMS)}


class PhysicalDevices:
    """The devices that sit on hardware; where the system does not tell, all whose names do not look virtual.

    Partitions and layered devices would count every byte twice.
    """

    def __init__(self, folder: Path, virtual: re.Pattern[str]) -> None:
        self._folder = folder
        self._virtual = virtual
        self._asked: frozenset[str] = frozenset()
        self._answer: list[str] = []

    def among(self, names: Iterable[str]) -> list[str]:
        """Those of the names, in order; the system is asked again when there are others than before."""
        asked = frozenset(names)
        if asked != self._asked:
            self._asked = asked
            likely = [name for name in asked if not self._virtual.match(name)]
            self._answer = sorted([name for name in likely if (self._folder / name / "device").exists()] or likely)
        return self._answer


class DeviceRates:
    """Rates of several counters of several devices."""

    def __init__(self) -> None:
        self._rates = CounterRates()

    def rows(self, counters: Mapping[str, Mapping[str, float]], now_s: float) -> dict[str, Figures]:
        """By device, the rate of each of its counters or why there is none yet."""
        self._rates.forget_all_but({(name, what) for name, row in counters.items() for what in row})
        return {
            name: {what: self._rates.rate((name, what), value, now_s) for what, value in row.items()}
            for name, row in counters.items()
        }


def device_list(rows: Mapping[str, Figures]) -> list[dict[str, Any]]:
    """The rows as they are told: figures that are there, and the reasons for the others."""
    return [{"name": name, **reading_of(row)} for name, row in rows.items()]


def sums(rows: Iterable[Figures], wanted: Mapping[str, str]) -> Figures:
    """Sums over all devices. A device that has just appeared joins at its second reading."""
    rows = list(rows)
    figures: Figures = {}
    for name, part in wanted.items():
        known = [row[part] for row in rows if not isinstance(row[part], Reason)]
        missing = next((row[part] for row in rows), Reason.NOT_FOUND)
        figures[name] = sum(known) if known else missing
    return figures


def link_bytes_per_s(path: Path) -> Number:
    """Speed of a link in bytes a second, from a file in Mbit/s; -1 and 0 say that nobody knows."""
    speed = read_number(path)
    if isinstance(speed, Reason):
        return speed
    return speed * BYTES_PER_S_PER_MBIT if speed > 0 else Reason.NOT_OFFERED


def _diskstats(text: bytes) -> Counters:
    """Bytes read and written and milliseconds busy of each block device (fields 3, 7 and 10 of the kernel's text)."""
    found: Counters = {}
    for line in text.decode("utf-8", "replace").splitlines():
        words = line.split()
        try:
            found[words[2]] = {
                "read_bytes_per_s": int(words[5]) * SECTOR_BYTES,
                "write_bytes_per_s": int(words[9]) * SECTOR_BYTES,
                "busy_ms_per_s": int(words[12]),
            }
        except (ValueError, IndexError):
            continue  # kernels before 2.6.25 gave partitions fewer fields
    return found


def _net_dev(text: bytes) -> Counters:
    """Bytes received and sent of each interface; the first two lines are headings."""
    found: Counters = {}
    for line in text.decode("utf-8", "replace").splitlines()[2:]:
        name, _, rest = line.rpartition(":")
        words = rest.split()
        try:
            found[name.strip()] = {"receive_bytes_per_s": int(words[0]), "send_bytes_per_s": int(words[8])}
        except (ValueError, IndexError):
            continue
    return found
