"""The machine's memory, swap and its traffic, and huge pages."""

from __future__ import annotations

import os
from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, KeptFile, Number

KIB = 1024
FIELDS = (
    "memory_total_bytes", "memory_available_bytes", "memory_used_bytes", "memory_cached_bytes", "memory_dirty_bytes",
    "swap_total_bytes", "swap_used_bytes", "huge_page_bytes", "huge_pages_total", "huge_pages_free",
)  # fmt: skip
TRAFFIC = {"swap_in_bytes_per_s": "pswpin", "swap_out_bytes_per_s": "pswpout"}
"""Fields and the counters of pages in /proc/vmstat that they come from."""


class Memory:
    """From /proc/meminfo and /proc/vmstat (proc_meminfo(5), proc_vmstat(5))."""

    def __init__(self, proc: Path) -> None:
        self._meminfo = KeptFile(proc / "meminfo", in_one_piece=True)
        self._vmstat = KeptFile(proc / "vmstat")
        self._rates = CounterRates()
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")

    def read(self, now_s: float) -> Figures:
        """Amounts in bytes, huge pages as a number of pages, traffic in bytes a second."""
        return self.amounts() | self._traffic(now_s)

    def amounts(self) -> Figures:
        """What needs no earlier reading."""
        text = self._meminfo.read()
        if isinstance(text, Reason):
            return dict.fromkeys(FIELDS, text)
        known = _numbers(text.replace(b":", b" "))
        used_swap = _minus(_bytes(known, "SwapTotal"), _bytes(known, "SwapFree"))
        total, available = _bytes(known, "MemTotal"), _bytes(known, "MemAvailable")
        cached, reclaimable = _bytes(known, "Cached"), known.get("SReclaimable", 0) * KIB
        return {
            "memory_total_bytes": total,
            "memory_available_bytes": available,
            "memory_used_bytes": _minus(total, available),
            "memory_cached_bytes": cached if isinstance(cached, Reason) else cached + reclaimable,
            "memory_dirty_bytes": _bytes(known, "Dirty"),
            "swap_total_bytes": _bytes(known, "SwapTotal"),
            "swap_used_bytes": used_swap,
            "huge_page_bytes": _bytes(known, "Hugepagesize"),
            "huge_pages_total": known.get("HugePages_Total", Reason.NOT_OFFERED),
            "huge_pages_free": known.get("HugePages_Free", Reason.NOT_OFFERED),
        }

    def _traffic(self, now_s: float) -> Figures:
        text = self._vmstat.read()
        if isinstance(text, Reason):
            return dict.fromkeys(TRAFFIC, text)
        at = text.find(b"\npswpin ")  # of some 180 lines, the two that are wanted stand together
        known = _numbers(text[at + 1 : at + 100]) if at >= 0 else {}
        figures: Figures = {}
        for name, counter in TRAFFIC.items():
            pages = known.get(counter)
            figures[name] = (
                Reason.NOT_OFFERED if pages is None else self._rates.rate(name, pages * self._page_bytes, now_s)
            )
        return figures


def _numbers(text: bytes) -> dict[str, int]:
    """The first number of each line by its first word; lines that are not like that are left out."""
    known: dict[str, int] = {}
    for line in text.decode("ascii", "replace").splitlines():
        words = line.split(None, 2)
        if len(words) > 1 and words[1].isdecimal():
            known[words[0]] = int(words[1])
    return known


def _bytes(known: dict[str, int], name: str) -> Number:
    return known[name] * KIB if name in known else Reason.NOT_OFFERED


def _minus(whole: Number, part: Number) -> Number:
    if isinstance(whole, Reason):
        return whole
    return part if isinstance(part, Reason) else max(0, whole - part)
