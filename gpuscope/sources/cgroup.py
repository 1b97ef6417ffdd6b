"""What a container (or a Slurm job, or a systemd unit) may use of the machine, and what it uses of that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.cgroup_files import UNIFIED, Hierarchy, hierarchies
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, Number, count_of_list, number, read_number, read_text

MEMORY_FIELDS = ("cgroup_memory_limit_bytes", "cgroup_memory_used_bytes")
USAGE_FIELDS = ("cgroup_cpu_percent", "cgroup_throttled_percent", "cgroup_throttled_s_per_s")
CPU_FIELDS = ("cgroup_cpu_limit_cores", *USAGE_FIELDS)
OWN = "self"
"""Stands for the process that asks."""
MICROSECONDS_PER_S = 1e6
NANOSECONDS_PER_S = 1e9


class ControlGroup:
    """The limits that hold for a process: of all groups that it is in, the tightest.

    Names of files: https://docs.kernel.org/admin-guide/cgroup-v2.html (version 2) and
    https://docs.kernel.org/admin-guide/cgroup-v1/ with https://docs.kernel.org/scheduler/sched-bwc.html (version 1).
    """

    def __init__(self, root: Path, process: str = OWN) -> None:
        self._root = root
        self._process = process
        self._rates = CounterRates()
        self._found: dict[str, Hierarchy] = {}
        self._memory_limit: Number = Reason.NOT_OFFERED
        self._memory_level: Path | None = None
        self._cpu_limit: Number = Reason.NOT_OFFERED
        self._cpu_level: Path | None = None
        self._usage_level: Path | None = None

    def find(self, memory_total_bytes: float, threads: float) -> None:
        """Look for the limits, which seldom change.

        Args:
            memory_total_bytes: of the machine: a limit that is not below it is none.
            threads: of the machine, likewise.
        """
        found = hierarchies(self._root, self._process)
        if isinstance(found, Reason):
            if not self._found:  # what was found while the process lived holds on
                self._memory_limit = self._cpu_limit = found if self._process == OWN else Reason.PROCESS_ENDED
            return
        self._found = found
        version, levels = self._of("memory")
        name = "memory.max" if version == 2 else "memory.limit_in_bytes"
        limits = [(_memory_limit(level / name), level) for level in levels]
        if version == 1 and levels:
            limits.append((_limit_from_above(levels[0]), levels[0]))
        self._memory_limit, self._memory_level = _tightest(limits, memory_total_bytes)
        self._find_cpus(threads)

    def read(self, now_s: float) -> Figures:
        """Limits and use; where there is no limit, the reason says so."""
        return self._read_memory() | self._read_cpu(now_s)

    def _of(self, controller: str) -> Hierarchy:
        """Where a controller works: version 1 where it is mounted there, else version 2."""
        return self._found.get(controller) or self._found.get(UNIFIED) or Hierarchy(0, ())

    def _find_cpus(self, threads: float) -> None:
        """The tighter of quota and set of processors; use is counted where the quota is."""
        version, levels = self._of("cpu")
        quota, level = _tightest([(_quota_cores(version, level), level) for level in levels], threads)
        set_version, set_levels = self._of("cpuset")
        counts = [_cpu_count(set_version, level) for level in set_levels]
        limits = [(quota, level), *((count, None) for count in counts if count)]
        self._cpu_limit, _ = _tightest(limits, threads)
        self._cpu_level = level or next(iter(levels), None)
        accounts = self._of("cpuacct").levels
        if self._cpu_level is not None and len(accounts) == len(levels):
            self._usage_level = accounts[levels.index(self._cpu_level)]

    def _read_memory(self) -> Figures:
        if self._memory_level is None or isinstance(self._memory_limit, Reason):
            return dict.fromkeys(MEMORY_FIELDS, self._memory_limit)
        return {
            "cgroup_memory_limit_bytes": self._memory_limit,
            "cgroup_memory_used_bytes": _memory_used(self._of("memory").version, self._memory_level),
        }

    def _read_cpu(self, now_s: float) -> Figures:
        if isinstance(self._cpu_limit, Reason):
            return dict.fromkeys(CPU_FIELDS, self._cpu_limit)
        figures: Figures = {"cgroup_cpu_limit_cores": self._cpu_limit}
        stat = _pairs(self._cpu_level / "cpu.stat") if self._cpu_level is not None else {}
        used_s = self._used_s(stat)
        throttled_s = _throttled_s(stat)
        for field, counter, factor in (
            ("cgroup_cpu_percent", used_s, 100.0),
            ("cgroup_throttled_s_per_s", throttled_s, 1.0),
        ):
            rate = self._rates.rate(field, counter, now_s) if not isinstance(counter, Reason) else counter
            figures[field] = rate if isinstance(rate, Reason) else factor * rate
        figures["cgroup_throttled_percent"] = self._throttled_percent(stat, now_s)
        return figures

    def _used_s(self, stat: dict[str, int]) -> Number:
        if "usage_usec" in stat:
            return stat["usage_usec"] / MICROSECONDS_PER_S
        if self._usage_level is None:
            return Reason.NOT_OFFERED
        used_ns = read_number(self._usage_level / "cpuacct.usage")
        return used_ns if isinstance(used_ns, Reason) else used_ns / NANOSECONDS_PER_S

    def _throttled_percent(self, stat: dict[str, int], now_s: float) -> Number:
        """Share of the quota's periods in which the group used it up and had to wait."""
        if "nr_periods" not in stat or "nr_throttled" not in stat:
            return Reason.NOT_OFFERED
        periods = self._rates.rate("periods", stat["nr_periods"], now_s)
        throttled = self._rates.rate("throttled", stat["nr_throttled"], now_s)
        if isinstance(periods, Reason) or isinstance(throttled, Reason):
            return Reason.FIRST_READING
        return min(100.0, 100 * throttled / periods) if periods > 0 else 0.0


def _tightest(limits: Sequence[tuple[Number, Path | None]], whole: float) -> tuple[Number, Path | None]:
    """The smallest limit below the whole machine and where it is set; else why there is none."""
    known = [(limit, level) for limit, level in limits if not isinstance(limit, Reason) and limit < whole]
    if known:
        return min(known, key=lambda item: item[0])
    reasons = [limit for limit, _ in limits if isinstance(limit, Reason) and limit is not Reason.NO_LIMIT]
    return next(iter(reasons), Reason.NO_LIMIT), None


def _known(limit: Number) -> Number:
    """A file that is not there, as in the topmost group, limits nothing."""
    return Reason.NO_LIMIT if limit is Reason.NOT_OFFERED else limit


def _memory_limit(path: Path) -> Number:
    text = read_text(path)
    return Reason.NO_LIMIT if text == "max" else _known(number(text))


def _limit_from_above(level: Path) -> Number:
    """Version 1 tells a group the limit that its parents set, also of parents that a container does not see."""
    return _pairs(level / "memory.stat").get("hierarchical_memory_limit", Reason.NO_LIMIT)


def _quota_cores(version: int, level: Path) -> Number:
    """Processor time that a group may use, in cores."""
    if version == 2:
        text = read_text(level / "cpu.max")  # `max 100000` or `150000 100000`
        if isinstance(text, Reason):
            return _known(text)
        if text.startswith("max"):
            return Reason.NO_LIMIT
        quota, period = (number(part) for part in text.partition(" ")[::2])
    else:
        quota, period = read_number(level / "cpu.cfs_quota_us"), read_number(level / "cpu.cfs_period_us")
    if isinstance(quota, Reason) or isinstance(period, Reason):
        return _known(quota if isinstance(quota, Reason) else period)
    return quota / period if quota > 0 and period > 0 else Reason.NO_LIMIT


def _cpu_count(version: int, level: Path) -> Number:
    """How many processors a group may use."""
    names = ("cpuset.cpus.effective",) if version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
    texts = [text for name in names if (text := read_text(level / name)) is not Reason.NOT_OFFERED]
    return count_of_list(texts[0]) if texts else Reason.NO_LIMIT


def _memory_used(version: int, level: Path) -> Number:
    """What the group holds, without file pages that can be dropped at once.

    Kubernetes calls it the working set: usage less inactive file pages
    (https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/).
    """
    used = read_number(level / ("memory.current" if version == 2 else "memory.usage_in_bytes"))
    inactive = _pairs(level / "memory.stat").get("inactive_file" if version == 2 else "total_inactive_file")
    if isinstance(used, Reason):
        return used
    return Reason.NOT_OFFERED if inactive is None else max(0, used - inactive)


def _throttled_s(stat: dict[str, int]) -> Number:
    """Time that the group's tasks have waited for the next period, of all processors together."""
    if "throttled_usec" in stat:
        return stat["throttled_usec"] / MICROSECONDS_PER_S
    return stat["throttled_time"] / NANOSECONDS_PER_S if "throttled_time" in stat else Reason.NOT_OFFERED


def _pairs(path: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line."""
    text = read_text(path)
    words = [line.split() for line in text.splitlines()] if not isinstance(text, Reason) else []
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdecimal()}
