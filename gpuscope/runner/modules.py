"""Find the file behind `-m MODULE` without importing anything."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from gpuscope.errors import UsageError

_PATIENCE_S = 10.0

# Packages are looked up level by level with the plain finder, because find_spec on a dotted name imports its parents.
_QUESTION = r"""
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
sys.path.insert(0, sys.argv[2])
names = sys.argv[1].split(".")
spec = find_spec(names[0])
for count in range(2, len(names) + 1):
    if spec is None or spec.submodule_search_locations is None:
        sys.exit("missing")
    spec = PathFinder.find_spec(".".join(names[:count]), spec.submodule_search_locations)
if spec is None:
    sys.exit("missing")
if spec.submodule_search_locations is not None:
    if PathFinder.find_spec(".".join(names) + ".__main__", spec.submodule_search_locations) is None:
        sys.exit("package")
"""


def find_module(
    name: str, cwd: Path, python: Path | None = None, environment: Mapping[str, str] | None = None
) -> Path | None:
    """The module's file in `cwd`; otherwise None, after asking the interpreter, if one is given, whether it is there.

    Raises:
        UsageError: the module is nowhere, or is a package that cannot be run.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{name} is not the name of a module: write -m PACKAGE.MODULE, without .py.")
    base = cwd.joinpath(*name.split("."))
    for candidate in (base / "__main__.py", base.with_name(base.name + ".py")):
        if candidate.is_file():
            return candidate
    if python is not None:
        _ask(name, cwd, python, environment or {})
    return None


def _ask(name: str, cwd: Path, python: Path, environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            [str(python), "-c", _QUESTION, name, str(cwd)],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return  # the run itself will say what is wrong
    verdict = done.stderr.strip()
    if verdict == b"missing":
        raise UsageError(f"{python} has no module {name}: install it there, or name another interpreter with --python.")
    if verdict == b"package":
        raise UsageError(f"{name} is a package without a __main__ module: name the module in it that is to be run.")
