"""Find the file behind `-m MODULE` without importing anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpuscope.errors import UsageError
from gpuscope.runner.questions import ask_program

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
    if (cwd / name).is_file():
        raise UsageError(f"{name} is a file, not a module: leave out -m.")
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
    argv = [str(python), "-c", _QUESTION, name, str(cwd)]
    said = ask_program(argv, environment=environment, timeout_s=_PATIENCE_S, cwd=cwd)
    verdict = b"" if said is None else said.errors.strip()  # without an answer the run itself will say what is wrong
    if verdict == b"missing":
        raise UsageError(f"{python} has no module {name}: install it there, or name another interpreter with --python.")
    if verdict == b"package":
        raise UsageError(f"{name} is a package without a __main__ module: name the module in it that is to be run.")
