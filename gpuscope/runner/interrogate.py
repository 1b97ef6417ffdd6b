"""Ask a Python interpreter what it is and which torch it has, without importing torch (that takes seconds)."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gpuscope import paths
from gpuscope.domain.base import Value, from_json, to_json
from gpuscope.runner.questions import ask_program

PATIENCE_S = 10.0
"""Interpreters on a sleeping network disk answer later than this; they are left out."""

# Runs in any Python from 3.8 on. find_spec looks a package up without importing it; the versions are in its files.
_QUESTION = r"""
import importlib.util, json, os, re, site, sys, sysconfig
if sys.path and sys.path[0] == "":
    del sys.path[0]
def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(200000)
    except OSError:
        return ""
def value(name, text):
    match = re.search(r"^%s\b[^=\n]*=\s*['\"]([^'\"]+)['\"]" % name, text, re.M)
    return match.group(1) if match else None
torch = cuda = None
try:
    spec = importlib.util.find_spec("torch")
except Exception:
    spec = None
if spec is not None and spec.origin:
    folder = os.path.dirname(spec.origin)
    text = read(os.path.join(folder, "version.py"))
    torch = value("__version__", text) or value("__version__", read(spec.origin)) or "unknown"
    cuda = value("cuda", text)
folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
folders += [entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")]
if site.ENABLE_USER_SITE:
    folders.append(site.getusersitepackages())
print(json.dumps({"version": sys.version.split()[0], "prefix": sys.prefix, "torch_version": torch,
                  "cuda_version": cuda, "package_folders": sorted(set(folders))}))
"""


class Answer(Value, frozen=True, kw_only=True):
    """What an interpreter says of itself."""

    version: str
    prefix: str
    """Tells environments apart that share one executable."""
    torch_version: str | None
    """None: no torch; `unknown`: there is one that does not say its version."""
    cuda_version: str | None
    """CUDA that this torch was built for; None: a build without."""
    package_folders: tuple[str, ...]


def ask(python: Path, environment: Mapping[str, str]) -> Answer | None:
    """Ask the interpreter; None when it is not a working Python or does not answer in time."""
    argv = [str(python), "-c", _QUESTION]
    said = ask_program(argv, environment=environment, timeout_s=PATIENCE_S, cwd=Path(os.sep))
    if said is None or said.status != 0:
        return None
    try:
        return from_json(said.output.strip().rpartition(b"\n")[2], Answer)  # a startup file may print first
    except msgspec.MsgspecError:
        return None


class AnswerCache:
    """Answers of earlier runs of gpuscope, valid while neither the program nor its package folders changed."""

    def __init__(self, path: Path | None = None) -> None:
        """Keep answers in `path`; None: the app's state folder. A file that is damaged or not there counts as empty."""
        self._path = path
        self._lock = threading.Lock()
        self._entries: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            self._path = path or paths.state_dir() / "interpreters.json"
            entries = json.loads(self._path.read_text(encoding="utf-8"))
            self._entries = entries if isinstance(entries, dict) else {}

    def get(self, python: Path, environment: Mapping[str, str]) -> Answer | None:
        """The answer of before, if it still holds; otherwise the interpreter is asked. Safe in threads."""
        key = json.dumps([str(python), environment.get("PYTHONPATH", ""), environment.get("PYTHONHOME", "")])
        with self._lock:
            entry = self._entries.get(key, {})
        with contextlib.suppress(msgspec.ValidationError, KeyError, TypeError):
            known = msgspec.convert(entry["answer"], Answer)
            if entry["stamps"] == _stamps(python, known):
                return known
        answer = ask(python, environment)
        with self._lock:
            if answer is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = {"answer": msgspec.to_builtins(answer), "stamps": _stamps(python, answer)}
        return answer

    def save(self) -> None:
        """Write the answers down; without effect where that is not possible."""
        if self._path is None:  # there is no state folder
            return
        aside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            aside.write_bytes(to_json(self._entries))
            aside.replace(self._path)


def _stamps(python: Path, answer: Answer) -> list[float | None]:
    """Times of change: installing or removing a package changes that of its folder."""
    return [_changed_s(python), *(_changed_s(Path(folder)) for folder in answer.package_folders)]


def _changed_s(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
