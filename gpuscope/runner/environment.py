"""The environment that a workload starts in: the person's own, plus the probe, minus what is only ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import gpuscope
from gpuscope import paths

PROBE_DIR_VARIABLE = "GPUSCOPE_PROBE_DIR"
"""The run folder: where the probe writes. Also the mark by which a workload's stray children are found."""
PROBE_PROFILE_VARIABLE = "GPUSCOPE_PROBE_PROFILE"

_BUNDLE_PREFIXES = ("_PYI_", "QT_", "QML_", "QML2_")
_BUNDLE_NAMES = frozenset({"_MEIPASS2", "PYTHONHOME"})
_BUNDLE_LIBRARY_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH")
"""PyInstaller's starter points these into the bundle and keeps the person's own value under NAME_ORIG."""


def without_bundle(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as it was before the packaged app's starter changed it.

    A Python or a Qt from outside would otherwise load the bundle's libraries.
    """
    cleaned = {
        name: value
        for name, value in environment.items()
        if not name.startswith(_BUNDLE_PREFIXES) and name not in _BUNDLE_NAMES
    }
    for name in _BUNDLE_LIBRARY_PATHS:
        original = cleaned.pop(name + "_ORIG", None)
        cleaned.pop(name, None)
        if original:
            cleaned[name] = original
    return cleaned


def without_own_source(environment: Mapping[str, str], source: Path) -> dict[str, str]:
    """The environment without the entries that `paths.app_environment` put at the front of PYTHONPATH."""
    cleaned = dict(environment)
    entries = cleaned.get("PYTHONPATH", "").split(os.pathsep)
    while entries and entries[0] == str(source):
        entries.pop(0)
    _set_or_drop(cleaned, "PYTHONPATH", os.pathsep.join(entries))
    return cleaned


def outside_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment for programs that are not part of gpuscope.

    Args:
        base: environment of this process; None: `os.environ`.
    """
    environment = dict(os.environ if base is None else base)
    for name in (PROBE_DIR_VARIABLE, PROBE_PROFILE_VARIABLE):  # set when we are ourselves part of a run
        environment.pop(name, None)
    if paths.is_frozen():
        return without_bundle(environment)
    return without_own_source(environment, Path(gpuscope.__file__).resolve().parent.parent)


def workload_environment(
    outside: Mapping[str, str], given: Mapping[str, str], *, probe_site: Path, profile: bool
) -> dict[str, str]:
    """Environment of a workload; `probe_dir_entry` of its run folder completes it.

    Args:
        outside: of `outside_environment`.
        given: what the person set with --env; wins over `outside`.
        probe_site: the folder that holds the probe's sitecustomize and nothing else.
        profile: whether the probe may profile a step.
    """
    environment = {**outside, **given}
    rest = [
        entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry not in {"", str(probe_site)}
    ]
    environment["PYTHONPATH"] = os.pathsep.join([str(probe_site), *rest])
    environment[PROBE_PROFILE_VARIABLE] = "1" if profile else "0"
    environment.setdefault("PYTHONUNBUFFERED", "1")  # lines appear as they are printed, though it is a file
    if sys.platform == "win32":
        environment.setdefault("PYTHONIOENCODING", "utf-8")  # a console takes any text, a file only the code page
    return environment


def probe_dir_entry(run_folder: Path) -> tuple[str, str]:
    """The variable that tells the probe where to write, and its value: the same for every spelling of the folder."""
    return PROBE_DIR_VARIABLE, str(run_folder.resolve())


def _set_or_drop(environment: dict[str, str], name: str, value: str) -> None:
    if value:
        environment[name] = value
    else:
        environment.pop(name, None)
