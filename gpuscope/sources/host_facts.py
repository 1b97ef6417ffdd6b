"""What a Linux machine is: the facts of it that do not change during a session, without anything but Python."""

from __future__ import annotations

import platform
import socket
from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.memory import Memory
from gpuscope.sources.processors import online_threads
from gpuscope.sources.system_files import names_in, read_text


def read_facts(root: Path = Path("/")) -> dict[str, Any]:
    """The facts in the shape of `Host`; what is not known is None."""
    amounts = Memory(root / "proc").amounts()
    known = {name: None if isinstance(value, Reason) else value for name, value in amounts.items()}
    cpus = root / "sys" / "devices" / "system" / "cpu"
    return {
        "hostname": socket.gethostname(),
        "os": _os_name(root),
        "cpu_name": _cpu_name(root),
        "cores": _cores(cpus),
        "threads": online_threads(root / "sys"),
        "memory_total_bytes": known["memory_total_bytes"],
        "swap_total_bytes": known["swap_total_bytes"],
    }


def _os_name(root: Path) -> str:
    """The distribution's own name where there is one."""
    text = read_text(root / "etc" / "os-release")
    lines = [] if isinstance(text, Reason) else text.splitlines()
    names = (line.partition("=")[2].strip("\"'") for line in lines if line.startswith("PRETTY_NAME="))
    return next(names, "") or platform.platform(terse=True)


def _cpu_name(root: Path) -> str | None:
    """The processor's name; of boards whose processor has none, the board's."""
    text = read_text(root / "proc" / "cpuinfo")
    lines = [] if isinstance(text, Reason) else text.splitlines()
    for key in ("model name", "Model", "Hardware", "cpu"):
        names = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key)
        name = next(names, "")
        if name:
            return name
    return platform.processor() or None


def _cores(cpus: Path) -> int | None:
    """Physical cores that are switched on: different groups of hardware threads that share one."""
    groups = {
        read_text(cpus / name / "topology" / "thread_siblings_list")
        for name in names_in(cpus)
        if name.startswith("cpu") and name[len("cpu") :].isdecimal()
    }
    return sum(not isinstance(group, Reason) for group in groups) or None
