"""The workload's processes on Linux: who belongs to it, and what each one uses (proc_pid_stat(5), proc_pid_io(5))."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, KeptFile, names_in, read_text, reading_of

WORKLOAD = "workload"
TOTALS = {"workload_cpu_percent": "cpu_percent", "workload_rss_bytes": "rss_bytes"}
"""Fields of the host that add up a field of all members."""
INPUT_OUTPUT = {"read_bytes_per_s": "read_bytes", "write_bytes_per_s": "write_bytes"}
"""Fields and the counters in /proc/PID/io of what really went to and from disks."""
FULL_LOOK_S = 30.0
"""In between, only process numbers that were not there at the last look are looked at."""
KEPT_MEMBERS = 200
"""Of so many processes the files stay open: a process may have some 1000 files."""
SHORT_NAME_BYTES = 15
"""The kernel cuts names here."""


class _Stat(NamedTuple):
    """What is wanted of /proc/PID/stat."""

    name: str
    state: str
    parent: int
    cpu_ticks: int
    threads: int
    start_ticks: int
    rss_pages: int


class ProcessTree:
    """A process and all its descendants.

    A member whose parent ends is handed to another parent by the system; it stays a member, and so do its children.
    """

    def __init__(self, root_pid: int, root: Path = Path("/")) -> None:
        self._proc = root / "proc"
        self._members: dict[int, _Member] = {}
        self._rates = CounterRates()
        self._seen: set[int] = set()
        self._next_full_look_s = float("-inf")
        self._boot_wall_s = _boot_time(self._proc)
        self._add(root_pid)

    def read(self, now_s: float) -> Figures:
        """The workload's fields of a `HostSample`."""
        self._find_new(now_s)
        rows: list[dict[str, Any]] = []
        for pid, member in list(self._members.items()):
            stat = member.stat()
            if stat is None:
                self._members.pop(pid).close()
            elif stat.state != "Z":  # it has ended and uses nothing; its parent has not noticed yet
                rows.append(self._row(pid, member, stat, now_s))
                if len(self._members) > KEPT_MEMBERS:
                    member.close()
        self._rates.forget_all_but({(pid, what) for pid in self._members for what in ("cpu", *INPUT_OUTPUT)})
        return {"workload_processes": sorted(rows, key=lambda row: int(row["pid"])), **workload_totals(rows)}

    def _find_new(self, now_s: float) -> None:
        """Members' new children: from the numbers of all processes, as a list of children costs a file a thread."""
        if now_s >= self._next_full_look_s:  # for numbers that were given again to another process in between
            self._seen = set()
            self._next_full_look_s = now_s + FULL_LOOK_S
        pids = {int(name) for name in names_in(self._proc) if name.isdecimal()}
        stats = {pid: _parse(read_text(self._proc / str(pid) / "stat")) for pid in pids - self._seen}
        self._seen = pids
        parents = {pid: stat.parent for pid, stat in stats.items() if stat is not None and pid not in self._members}
        while joining := [pid for pid, parent in parents.items() if parent in self._members]:
            for pid in joining:
                del parents[pid]
                self._add(pid)

    def _add(self, pid: int) -> None:
        member = _Member(self._proc / str(pid))
        if member.stat() is not None:
            self._members[pid] = member
        if len(self._members) > KEPT_MEMBERS:
            member.close()

    def _row(self, pid: int, member: _Member, stat: _Stat, now_s: float) -> dict[str, Any]:
        """One member in the shape of a `ProcessSample`."""
        share = self._rates.rate((pid, "cpu"), stat.cpu_ticks / _TICKS_PER_S, now_s)
        figures: Figures = {"cpu_percent": share if isinstance(share, Reason) else 100 * share}
        counters = member.input_output()
        for field, counter in INPUT_OUTPUT.items():
            value = counters if isinstance(counters, Reason) else counters.get(counter, Reason.UNREADABLE)
            figures[field] = value if isinstance(value, Reason) else self._rates.rate((pid, field), value, now_s)
        row: dict[str, Any] = {
            "pid": pid,
            "name": member.full_name(stat.name),
            "kind": WORKLOAD,
            "threads": stat.threads,
            "rss_bytes": stat.rss_pages * _PAGE_BYTES,
            **reading_of(figures),
        }
        if self._boot_wall_s is not None:
            row["started_wall_s"] = self._boot_wall_s + stat.start_ticks / _TICKS_PER_S
        return row


class _Member:
    """One process, told apart from a later one of the same number by its start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stat = KeptFile(folder / "stat", in_one_piece=True)
        self._io = KeptFile(folder / "io", in_one_piece=True)
        self._start_ticks: int | None = None
        self._names: tuple[str, str] = ("", "")

    def stat(self) -> _Stat | None:
        """What the kernel says of it; None when it is no more."""
        text = self._stat.read()
        stat = None if isinstance(text, Reason) else _parse(text.decode("utf-8", "replace"))
        if stat is None or self._start_ticks not in {None, stat.start_ticks}:
            return None
        self._start_ticks = stat.start_ticks
        return stat

    def input_output(self) -> dict[str, int] | Reason:
        """Its counters of bytes, or why they are not to be had."""
        text = self._io.read()
        if isinstance(text, Reason):
            return text
        pairs = [line.partition(":")[::2] for line in text.decode("ascii", "replace").splitlines()]
        return {name: int(value) for name, value in pairs if value.strip().isdecimal()}

    def full_name(self, short: str) -> str:
        """The name that the kernel cuts short, from the command line where that says more."""
        if len(short.encode()) < SHORT_NAME_BYTES:
            return short
        if self._names[0] != short:
            text = read_text(self._folder / "cmdline")
            program = "" if isinstance(text, Reason) else text.partition("\0")[0].rpartition("/")[2]
            self._names = (short, program if program.startswith(short) else short)
        return self._names[1]

    def close(self) -> None:
        """Let go of its files."""
        self._stat.close()
        self._io.close()


def workload_totals(rows: list[dict[str, Any]]) -> Figures:
    """Sums over the members that have a figure. One that has just appeared joins at its second reading."""
    totals: Figures = {}
    for name, part in TOTALS.items():
        known = [row[part] for row in rows if part in row]
        missing = next((row["unavailable"][part] for row in rows if part not in row), Reason.PROCESS_ENDED)
        totals[name] = sum(known) if known else missing
    return totals


def _parse(text: str | Reason) -> _Stat | None:
    """The fields of /proc/PID/stat; the name may hold spaces and brackets, so what follows begins after the last."""
    if isinstance(text, Reason):
        return None
    before, _, after = text.rpartition(")")
    words = after.split()
    try:
        return _Stat(
            name=before.partition("(")[2],
            state=words[0],
            parent=int(words[1]),
            cpu_ticks=int(words[11]) + int(words[12]),
            threads=int(words[17]),
            start_ticks=int(words[19]),
            rss_pages=int(words[21]),
        )
    except (ValueError, IndexError):
        return None


def _boot_time(proc: Path) -> float | None:
    """Seconds since 1970 at which the machine started."""
    text = read_text(proc / "stat")
    lines = [] if isinstance(text, Reason) else text.splitlines()
    times = [line.split()[1] for line in lines if line.startswith("btime ")]
    return float(times[0]) if times and times[0].isdecimal() else None


_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
