"""Where things are, in a source tree, an installed wheel and the frozen app."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from gpuscope.errors import GpuscopeError


def is_frozen() -> bool:
    """True inside the packaged app."""
    return bool(getattr(sys, "frozen", False))


def resources_dir() -> Path:
    """Folder of catalogue, workloads and icons.

    Raises:
        GpuscopeError: the installation is incomplete.
    """
    candidates = [Path(__file__).resolve().parent.parent / "resources", Path(__file__).resolve().parent / "resources"]
    if is_frozen():
        candidates.insert(0, Path(str(getattr(sys, "_MEIPASS", ""))) / "resources")
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise GpuscopeError("The resources folder of gpuscope is missing: reinstall gpuscope.")


def probe_dir() -> Path:
    """Folder of the probe's plain Python files (sources, also in the frozen app)."""
    if is_frozen():
        return Path(str(getattr(sys, "_MEIPASS", ""))) / "gpuscope" / "probe"
    return Path(__file__).resolve().parent / "probe"


def app_command() -> list[str]:
    """The argv prefix that starts this very app again: `[*app_command(), "record", ...]`."""
    if is_frozen():
        return [sys.executable]
    return [sys.executable, "-m", "gpuscope"]


def app_environment() -> dict[str, str]:
    """Environment in which `app_command` finds this very copy of gpuscope, wherever it is started."""
    environment = dict(os.environ)
    if not is_frozen():
        source = str(Path(__file__).resolve().parent.parent)
        rest = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = source + (os.pathsep + rest if rest else "")
    return environment


def _user_dir(variable: str, fallback: str) -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(_home() / "AppData" / "Local")
    else:
        base = os.environ.get(variable) or str(_home() / fallback)
    return Path(base) / "gpuscope"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # a container that runs as a user whom its system does not know
        raise FileNotFoundError(errno.ENOENT, "this user has no home folder", "HOME") from error


def state_dir() -> Path:
    """Folder of what the app remembers about runs (created on demand, private to the user).

    Raises:
        OSError: it cannot be created; nothing essential depends on it.
    """
    override = os.environ.get("GPUSCOPE_STATE_DIR")
    folder = Path(override) if override else _user_dir("XDG_STATE_HOME", ".local/state")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def sessions_dir() -> Path:
    """Folder for sessions that the window starts without being told a file name.

    Raises:
        OSError: it cannot be created.
    """
    override = os.environ.get("GPUSCOPE_SESSIONS_DIR")
    folder = Path(override) if override else _user_dir("XDG_DATA_HOME", ".local/share") / "sessions"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
