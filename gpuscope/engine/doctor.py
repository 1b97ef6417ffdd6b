"""`gpuscope doctor`: what is there on this machine, what is missing, and what to do about it."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from gpuscope import __version__, paths
from gpuscope.domain.base import Value
from gpuscope.domain.device import Host
from gpuscope.domain.host_capacity import host_capacity
from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.sample import HostSample
from gpuscope.domain.topology import Topology
from gpuscope.domain.units import GIB, format_bytes
from gpuscope.engine.advise import catalogue
from gpuscope.errors import GpuscopeError
from gpuscope.runner.interpreters import find_interpreters
from gpuscope.sources.diagnose import NvmlReport, nvml_report
from gpuscope.sources.host import HostSource, read_host
from gpuscope.store.schema import on_network_file_system

SCHEMA = "gpuscope.doctor/1"

PACKAGES = ("PySide6_Essentials", "pyqtgraph", "numpy", "nvidia-ml-py", "psutil", "msgspec", "reportlab")
"""What pyproject.toml asks for, by distribution name."""

DISPLAY_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
}
"""Of the libraries that Qt takes from a Linux system, those that a desktop most often lacks, and their packages."""

LITTLE_SPACE_BYTES = GIB
"""About a day of eight GPUs at 10 Hz."""
SELDOM_OFFERED = {
    "cpu_frequency_mhz": "frequencies",
    "cpu_temperature_c": "temperatures of the processor",
    "cpu_pressure_some_avg10_percent": "pressure-stall information",
    "memory_bandwidth_bytes_per_s": "memory bandwidth",
}
"""Figures of a `HostSample` that many machines do not offer, as people call them."""
MENDABLE = frozenset({Reason.RESCTRL_NOT_MOUNTED, Reason.SYSTEM_REFUSES})


class Check(Value, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    """Stable key: gpuscope, packages, catalogue, nvidia, host, interpreters, sessions_folder, state_folder or
    display."""
    ok: bool | None
    """None: not there, and gpuscope does without it."""
    detail: str
    """What was found, in a sentence."""
    remedy: str = ""
    """What to do, in a sentence; empty when there is nothing to do."""
    essential: bool = False
    """gpuscope itself does not work while this is not ok."""


class Examination(Value, frozen=True, kw_only=True):
    """The document `gpuscope.doctor/1`."""

    schema: str = SCHEMA
    ok: bool
    """Every essential check is ok; the exit status says the same."""
    checks: tuple[Check, ...]
    topology: Topology | None = None
    """How GPUs and network cards are connected; null without GPUs."""


def examine() -> Examination:
    """Look at everything that gpuscope needs or can use; takes a few seconds and changes nothing."""
    nvidia = nvml_report()
    checks = (
        _check_gpuscope(),
        _check_packages(),
        _check_catalogue(),
        check_nvidia(nvidia),
        check_host(read_host(), HostSource().sample()),
        _check_interpreters(),
        _check_folder("sessions_folder"),
        _check_folder("state_folder"),
        _check_display(),
    )
    ok = all(check.ok is True for check in checks if check.essential)
    return Examination(ok=ok, checks=checks, topology=nvidia.topology)


def _check_gpuscope() -> Check:
    kind = "packaged app" if paths.is_frozen() else f"Python {platform.python_version()} at {sys.executable}"
    detail = f"gpuscope {__version__}, {kind}, on {platform.platform()}."
    return Check(name="gpuscope", ok=True, detail=detail, essential=True)


def _check_packages() -> Check:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check(
            name="packages",
            ok=False,
            detail=f"Not installed: {', '.join(missing)}. Installed: {', '.join(found) or 'none'}.",
            remedy=f"Install gpuscope again, or: {sys.executable} -m pip install {' '.join(missing)}",
            essential=True,
        )
    return Check(name="packages", ok=True, detail=", ".join(found) + ".", essential=True)


def _check_catalogue() -> Check:
    try:
        content = catalogue()
    except GpuscopeError as error:
        return Check(name="catalogue", ok=False, detail=str(error), remedy="Install gpuscope again.", essential=True)
    newest = content.newest_price_date or "unknown"
    detail = f"{len(content.gpus)} GPUs and {len(content.offers)} offers; the newest price is of {newest}."
    return Check(name="catalogue", ok=True, detail=detail, essential=True)


def check_nvidia(report: NvmlReport) -> Check:
    """Whether GPUs can be read, and what to do if not; sleeping ones are left asleep."""
    binding = f"binding {report.binding_package or 'unknown'} {report.binding_version or ''}".strip()
    if not report.state.ok:
        missing = report.state.code in {"no_driver_library", "driver_not_loaded", "no_gpu"}
        return Check(
            name="nvidia",
            ok=None if missing else False,
            detail=f"No GPU figures ({binding}).",
            remedy=report.state.sentence,
        )
    if report.state.code == "asleep":
        return Check(name="nvidia", ok=None, detail=f"The GPUs sleep ({binding}).", remedy=report.state.sentence)
    names = ", ".join(device.name for device in report.devices)
    detail = f"Driver {report.driver_version or 'unknown'}, {binding}, {len(report.devices)} GPUs: {names}."
    return Check(name="nvidia", ok=True, detail=detail)


def check_host(host: Host, sample: HostSample) -> Check:
    """What the machine offers to the work, and which figures it does not give."""
    capacity = host_capacity(sample, host.threads)
    parts = [host.cpu_name or "unknown processor"]
    if capacity.cpus is not None:
        parts.append(f"{capacity.cpus:g} CPUs" + (" (limited)" if capacity.cpus_are_limited else ""))
    if capacity.memory_total_bytes is not None:
        limited = " (limited)" if capacity.memory_is_limited else ""
        parts.append(f"{format_bytes(capacity.memory_total_bytes)} of memory{limited}")
    missing = {label: sample.unavailable[name] for name, label in SELDOM_OFFERED.items() if name in sample.unavailable}
    detail = f"{', '.join(parts)}."
    if missing:
        detail += f" Not to be had here: {', '.join(missing)}."
    mendable = [reason for reason in missing.values() if reason in MENDABLE]
    return Check(name="host", ok=True, detail=detail, remedy=REASON_SENTENCES[mendable[0]] if mendable else "")


def _check_interpreters() -> Check:
    with_torch = [found for found in find_interpreters(Path.cwd()) if found.torch_version]
    if not with_torch:
        return Check(
            name="interpreters",
            ok=None,
            detail="No Python with torch was found on this machine.",
            remedy="Activate the environment that your scripts use, or name its Python: gpuscope run --python PATH ...",
        )
    listed = "; ".join(f"{found.path} (torch {found.torch_version})" for found in with_torch)
    return Check(name="interpreters", ok=True, detail=f"Python with torch: {listed}.")


def _check_folder(name: str) -> Check:
    try:
        folder = paths.sessions_dir() if name == "sessions_folder" else paths.state_dir()
        with tempfile.TemporaryFile(dir=folder):
            free_bytes = shutil.disk_usage(folder).free
    except OSError as error:
        variable = "GPUSCOPE_SESSIONS_DIR" if name == "sessions_folder" else "GPUSCOPE_STATE_DIR"
        return Check(
            name=name,
            ok=False,
            detail=f"Nothing can be written there: {error}.",
            remedy=f"Make the folder writable, or set {variable} to another one.",
            essential=True,
        )
    remedies = []
    if free_bytes < LITTLE_SPACE_BYTES:
        remedies.append("Free some disk space: a full disk ends a recording.")
    if on_network_file_system(folder / "any"):
        remedies.append("The folder is on a network file system: sessions are safer and faster on a local disk.")
    detail = f"{folder} can be written, {format_bytes(free_bytes)} are free."
    return Check(name=name, ok=True, detail=detail, remedy=" ".join(remedies), essential=True)


def _check_display() -> Check:
    if sys.platform != "linux":
        return Check(name="display", ok=True, detail=f"The desktop of {platform.system()}.")
    screen = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if not screen:
        return Check(
            name="display",
            ok=None,
            detail="Neither DISPLAY nor WAYLAND_DISPLAY is set: the window cannot open here.",
            remedy="Use the commands (see gpuscope --help), or ssh -X, or open the session on another machine.",
        )
    missing = [package for library, package in DISPLAY_LIBRARIES.items() if not _can_load(library)]
    if missing:
        return Check(
            name="display",
            ok=False,
            detail=f"Display {screen}; system libraries that the window needs are missing.",
            remedy=f"sudo apt-get install {' '.join(missing)}",
        )
    return Check(name="display", ok=True, detail=f"Display {screen}.")


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
