"""How busy the processors are, and how fast they run."""

from __future__ import annotations

import os
from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import Figures, KeptFile, count_of_list, names_in, read_number, read_text

SHARES = ("cpu_percent", "cpu_percent_per_core", "cpu_iowait_percent", "cpu_steal_percent")
LOADS = ("load_1min", "load_5min", "load_15min")
FREQUENCIES = ("cpu_frequency_mhz", "cpu_frequency_limit_mhz")
KHZ_PER_MHZ = 1000
IDLE, IOWAIT, STEAL = 3, 4, 7
"""Places of the times in a line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal."""
KINDS = 8
"""What follows is time of guests, which is counted in user and nice already."""

Times = list[int]


class ProcessorShares:
    """Shares of time since the last reading, from /proc/stat; and the load, from /proc/loadavg."""

    def __init__(self, proc: Path) -> None:
        self._stat = KeptFile(proc / "stat", in_one_piece=True)
        self._load = KeptFile(proc / "loadavg", in_one_piece=True)
        self._before: dict[str, Times] = {}

    def read(self) -> Figures:
        """CPU shares in percent (of all hardware threads together, and of each), and load averages.

        Waiting for disks is not being busy; time that the hypervisor gave to others is.
        """
        return self._shares() | self._loads()

    def _shares(self) -> Figures:
        text = self._stat.read()
        if isinstance(text, Reason):
            return dict.fromkeys(SHARES, text)
        try:
            times = dict(_times(line) for line in text.decode("ascii").splitlines() if line.startswith("cpu"))
        except (ValueError, IndexError):
            times = {}
        before, self._before = self._before, times
        if "cpu" not in times:
            return dict.fromkeys(SHARES, Reason.UNREADABLE)
        if "cpu" not in before:
            return dict.fromkeys(SHARES, Reason.FIRST_READING)
        passed = [max(0, new - old) for new, old in zip(times["cpu"], before["cpu"])]  # noqa: B905 # Python 3.9
        if not sum(passed):
            return dict.fromkeys(SHARES, Reason.FIRST_READING)
        cores: tuple[float, ...] | Reason = Reason.FIRST_READING  # a core has been switched on or off
        if times.keys() == before.keys():
            cores = tuple(_busy_percent(new, before[name]) for name, new in times.items() if name != "cpu")
        return {
            "cpu_percent": _busy_percent(times["cpu"], before["cpu"]),
            "cpu_percent_per_core": cores,
            "cpu_iowait_percent": 100 * passed[IOWAIT] / sum(passed),
            "cpu_steal_percent": 100 * passed[STEAL] / sum(passed),
        }

    def _loads(self) -> Figures:
        text = self._load.read()
        if isinstance(text, Reason):
            return dict.fromkeys(LOADS, text)
        try:
            one, five, fifteen = (float(word) for word in text.split()[:3])
        except ValueError:
            return dict.fromkeys(LOADS, Reason.UNREADABLE)
        return {"load_1min": one, "load_5min": five, "load_15min": fifteen}


def _times(line: str) -> tuple[str, Times]:
    name, *words = line.split()
    times = [int(word) for word in words[:KINDS]]
    if len(times) <= IOWAIT:
        raise ValueError(line)
    return name, times + [0] * (KINDS - len(times))


def _busy_percent(new: Times, old: Times) -> float:
    """Idle and waiting times can go back a little on some kernels: never below nothing."""
    total = sum(new) - sum(old)
    idle = max(0, new[IDLE] - old[IDLE]) + max(0, new[IOWAIT] - old[IOWAIT])
    return 100 * min(1.0, max(0.0, (total - idle) / total)) if total > 0 else 0.0


def online_threads(sysfs: Path) -> int | None:
    """Hardware threads of the machine that are switched on."""
    count = count_of_list(read_text(sysfs / "devices" / "system" / "cpu" / "online"))
    return os.cpu_count() if isinstance(count, Reason) else count


def read_frequencies(sysfs: Path) -> Figures:
    """Means over all cores of the frequency now and of its present limit, in MHz.

    Virtual machines and some boards do not offer it; what /proc/cpuinfo says there is the nominal frequency.
    """
    folder = sysfs / "devices" / "system" / "cpu" / "cpufreq"
    sums = dict.fromkeys(FREQUENCIES, 0.0)
    cores = 0
    reason = Reason.NOT_OFFERED
    for policy in (folder / name for name in names_in(folder) if name.startswith("policy")):
        now, limit = read_number(policy / "scaling_cur_freq"), read_number(policy / "scaling_max_freq")
        members = read_text(policy / "affected_cpus")
        count = members if isinstance(members, Reason) else count_of_list(members.replace(" ", ","))
        for part in (now, limit, count):
            reason = part if isinstance(part, Reason) else reason
        if isinstance(now, Reason) or isinstance(limit, Reason) or isinstance(count, Reason) or now <= 0:
            continue
        sums["cpu_frequency_mhz"] += count * now / KHZ_PER_MHZ
        sums["cpu_frequency_limit_mhz"] += count * limit / KHZ_PER_MHZ
        cores += count
    return {name: total / cores if cores else reason for name, total in sums.items()}
