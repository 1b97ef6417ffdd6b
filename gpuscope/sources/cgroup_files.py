"""Where the control groups of a process lie in the file system, in both of their versions.

See cgroups(7) and cgroup_namespaces(7).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import read_text

UNIFIED = ""
"""Stands for the one hierarchy of version 2 among the names of version 1's controllers."""


class Hierarchy(NamedTuple):
    """A process's place in one hierarchy."""

    version: int
    levels: tuple[Path, ...]
    """Folders from the process's own group up to the topmost that is visible; limits of all of them hold."""


def hierarchies(root: Path, process: str) -> dict[str, Hierarchy] | Reason:
    """The hierarchies by controller (`memory`, `cpu`, ...; `UNIFIED` for version 2), or why they are not known.

    Args:
        root: `/`, or a prepared tree.
        process: `self` or a process id.
    """
    groups = read_text(root / "proc" / process / "cgroup")
    mounts = read_text(root / "proc" / "self" / "mountinfo")
    if isinstance(groups, Reason):
        return groups
    if isinstance(mounts, Reason):
        return mounts
    mounted = {name: (version, top, at) for version, name, top, at in _mounts(mounts)}
    found: dict[str, Hierarchy] = {}
    for names, path in _groups(groups):
        for name in names:
            if name in mounted:
                version, top, at = mounted[name]
                found[name] = Hierarchy(version, _levels(root / at.lstrip("/"), top, path))
    return found


def _groups(text: str) -> Iterator[tuple[list[str], str]]:
    """Controllers and path of each line such as `4:memory:/docker/ab` or `0::/`."""
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            yield (parts[1].split(",") if parts[1] else [UNIFIED]), parts[2]


def _mounts(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Version, controller, mounted part of the hierarchy and mount point of each control-group mount."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        if len(words) < 5 or len(kinds) < 3:
            continue
        top, at = _unescaped(words[3]), _unescaped(words[4])
        if kinds[0] == "cgroup2":
            yield 2, UNIFIED, top, at
        elif kinds[0] == "cgroup":
            for name in kinds[2].split(","):  # options and controllers; the options' names are no controller's
                yield 1, name, top, at


def _unescaped(text: str) -> str:
    """Mount points have spaces and the like as octal numbers."""
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def _levels(mount_point: Path, top: str, path: str) -> tuple[Path, ...]:
    """Folders from the group at `path` up to the mount point.

    In a container the path may be one that only the host can see (or begin with `..`): then the mount point is the
    process's own group.
    """
    inside = path[len(top.rstrip("/")) :] if (path + "/").startswith(top.rstrip("/") + "/") else ""
    names = [name for name in inside.split("/") if name]
    if ".." in names:
        names = []
    while names and not mount_point.joinpath(*names).is_dir():
        names.pop()
    return tuple(mount_point.joinpath(*names[:depth]) for depth in range(len(names), -1, -1))
