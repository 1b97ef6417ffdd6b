"""How much goes through the host's memory, where the system counts it.

First by resctrl's memory-bandwidth monitoring (https://docs.kernel.org/filesystems/resctrl.html), else by the counters
of memory controllers. Tried on prepared folders only, not on hardware.
"""

from __future__ import annotations

import re
from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.memory_controllers import MemoryControllers
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, Number, names_in, read_number, read_text

COUNTER = "mbm_total_bytes"
FIELD = "memory_bandwidth_bytes_per_s"
CPU_FLAG = re.compile(r"^flags\s*:.*\bcqm_mbm_total\b", re.MULTILINE)
"""How /proc/cpuinfo says that the processor counts memory traffic, on Intel and AMD alike."""


class MemoryBandwidth:
    """Bytes a second between the last-level caches and memory, reading and writing, of the whole machine."""

    def __init__(self, root: Path) -> None:
        self._resctrl = root / "sys" / "fs" / "resctrl"
        self._cpuinfo = root / "proc" / "cpuinfo"
        self._counters: list[Path] = []
        self._reason = Reason.MEMORY_TRAFFIC_UNCOUNTED
        self._rates = CounterRates()
        self._controllers = MemoryControllers(root / "sys")

    def find(self) -> None:
        """Look for the counters: groups come and go."""
        groups = [self._resctrl, *(self._resctrl / name for name in names_in(self._resctrl))]
        domains = [group / "mon_data" / name for group in groups for name in names_in(group / "mon_data")]
        counters = [domain / COUNTER for domain in domains if (domain / COUNTER).exists()]
        if counters != self._counters:
            self._rates = CounterRates()  # a sum over other groups is another counter
        self._counters = counters
        if not counters:
            self._reason = self._why_not()

    def read(self, now_s: float) -> Figures:
        """The rate since the last reading, or why there is none.

        A task counts in the group that it is assigned to, and nowhere else: the machine's traffic is the sum of all.
        """
        total = self._total_bytes() if self._counters else self._controllers.total_bytes()
        if isinstance(total, Reason):
            return {FIELD: self._reason if total is Reason.NOT_OFFERED else total}
        return {FIELD: self._rates.rate(FIELD, total, now_s)}

    def _total_bytes(self) -> Number:
        total = 0.0
        for counter in self._counters:
            value = _counter(counter)
            if isinstance(value, Reason):
                return value
            total += value
        return total

    def _why_not(self) -> Reason:
        """The flags stand once for each hardware thread: the first block is enough."""
        text = read_text(self._cpuinfo)
        first = "" if isinstance(text, Reason) else text.partition("\n\n")[0]
        return Reason.RESCTRL_NOT_MOUNTED if CPU_FLAG.search(first) else Reason.MEMORY_TRAFFIC_UNCOUNTED


def _counter(path: Path) -> Number:
    """The counter's value; it says `Unavailable` or `Unassigned` while the hardware has none to give."""
    value = read_number(path)
    return Reason.NOT_READY if isinstance(value, Reason) else value
