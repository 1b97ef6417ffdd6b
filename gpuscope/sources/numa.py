"""The NUMA nodes of a Linux machine: https://docs.kernel.org/admin-guide/mm/numaperf.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import names_in, read_text

KIB = 1024


def read_numa_nodes(sysfs: Path) -> list[dict[str, Any]]:
    """The nodes that are switched on, each in the shape of `NumaNode`; empty where the system does not tell."""
    folder = sysfs / "devices" / "system" / "node"
    numbers = sorted(int(name[4:]) for name in names_in(folder) if name[:4] == "node" and name[4:].isdecimal())
    return [_node(folder / f"node{number}", number) for number in numbers]


def _node(folder: Path, number: int) -> dict[str, Any]:
    cpus, distances = read_text(folder / "cpulist"), read_text(folder / "distance")
    words = [] if isinstance(distances, Reason) else distances.split()
    return {
        "number": number,
        "cpus": "" if isinstance(cpus, Reason) else cpus,
        "memory_total_bytes": _memory(folder / "meminfo"),
        "distances": [int(word) for word in words] if all(word.isdecimal() for word in words) else [],
    }


def _memory(path: Path) -> int | None:
    """From a line such as `Node 0 MemTotal:  131072000 kB`."""
    text = read_text(path)
    for line in [] if isinstance(text, Reason) else text.splitlines():
        words = line.split()
        if len(words) > 3 and words[2] == "MemTotal:" and words[3].isdecimal():
            return int(words[3]) * KIB
    return None
