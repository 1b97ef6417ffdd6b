"""Where Python interpreters usually are on a machine; looks at folders only, starts nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuscope import paths
from gpuscope.errors import UsageError

_VENV_NAMES = (".venv", "venv", "env")
_CONDA_ROOTS = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda")
_PYTHON_NAMES = ("python.exe",) if sys.platform == "win32" else ("python3", "python")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is probably a Python interpreter."""

    path: Path
    origin: str
    """Where it was found, to follow "from": `the active virtual environment`."""


def interpreter_places(nearby: Sequence[Path], environment: Mapping[str, str], home: Path) -> list[Place]:
    """Candidates, the likeliest first; a file appears once, links to one file may all appear.

    Args:
        nearby: folders in which .venv, venv and env are looked for, the nearest first.
        environment: where VIRTUAL_ENV, CONDA_PREFIX and PATH are read.
        home: the person's home folder, for conda and pyenv.
    """
    found: dict[Path, Place] = {}
    for place in _all_places(nearby, environment, home):
        found.setdefault(place.path, place)
    return list(found.values())


def python_in(prefix: Path) -> Path | None:
    """The interpreter of a virtual or conda environment; None when there is none."""
    folders = (prefix / "Scripts", prefix) if sys.platform == "win32" else (prefix / "bin",)
    for folder in folders:
        for name in ("python.exe",) if sys.platform == "win32" else ("python", "python3"):
            if _is_program(folder / name):
                return folder / name
    return None


def _all_places(nearby: Sequence[Path], environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for variable, origin in (
        ("VIRTUAL_ENV", "the active virtual environment"),
        ("CONDA_PREFIX", "the active conda environment"),
    ):
        if environment.get(variable):
            yield from _in_prefixes([Path(environment[variable])], origin)
    for folder in nearby:
        yield from _in_prefixes([folder / name for name in _VENV_NAMES], "a nearby virtual environment")
    if not paths.is_frozen():
        yield Place(Path(sys.executable), "the environment that gpuscope runs in")
    yield from _on_path(environment.get("PATH", ""))
    yield from _in_prefixes(_conda_prefixes(home), "a conda environment")
    pyenv = Path(environment.get("PYENV_ROOT") or home / ".pyenv")
    yield from _in_prefixes(_subfolders(pyenv / "versions"), "pyenv")


def _in_prefixes(prefixes: list[Path], origin: str) -> Iterator[Place]:
    for prefix in prefixes:
        python = python_in(prefix)
        if python is not None:
            yield Place(python, origin)


def _on_path(path: str) -> Iterator[Place]:
    for folder in path.split(os.pathsep):
        if not folder or "pyenv/shims" in folder:  # shims start a shell first; the versions themselves are found
            continue
        for name in _PYTHON_NAMES:
            if _is_program(Path(folder) / name):
                yield Place(Path(folder) / name, "PATH")


def _conda_prefixes(home: Path) -> list[Path]:
    prefixes: list[Path] = []
    try:
        lines = (home / ".conda" / "environments.txt").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    prefixes += [Path(line.strip()) for line in lines if line.strip()]
    for name in _CONDA_ROOTS:
        prefixes += [home / name, *_subfolders(home / name / "envs")]
    return prefixes


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def _is_program(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except OSError:  # in a folder that this user may not enter
        return False


def home_folder() -> Path | None:
    """The person's home folder; None in a container that runs as a user whom its system does not know."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def expanded(name: str | Path) -> Path:
    """A path with `~` and `~user` replaced by the home folder.

    Raises:
        UsageError: there is no such user, or this one has no home folder.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"{name} begins with a home folder that this system does not know: write it in full."
        ) from error
