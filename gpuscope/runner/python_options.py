"""Read the command line of a Python interpreter as the interpreter does, as far as gpuscope must know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PYTHON_NAME = re.compile(r"python[0-9.]*w?(\.exe)?", re.IGNORECASE)
_TAKES_VALUE = "WX"
_KEEPS_PROBE_OUT = "EIS"
"""-E and -I ignore PYTHONPATH, -S does not run sitecustomize."""


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """What `python [options] ...` is told.

    Attributes:
        keeps_probe_out: the option that does (`-I`); None when the probe can be loaded.
        script: the script file; None for -c, -m, standard input or none.
        module: of -m.
    """

    keeps_probe_out: str | None = None
    script: str | None = None
    module: str | None = None


def is_python(command: str) -> bool:
    """True for `python`, `python3.11`, `/usr/bin/python3`, `pythonw.exe`."""
    return _PYTHON_NAME.fullmatch(re.split(r"[/\\]", command)[-1]) is not None


def read_options(arguments: Sequence[str]) -> PythonOptions:
    """Read what follows the interpreter's name."""
    keeps_out: str | None = None
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        position += 1
        following = arguments[position] if position < len(arguments) else None
        if argument == "--":
            return PythonOptions(keeps_out, script=following)
        if not argument.startswith("-") or argument == "-":
            return PythonOptions(keeps_out, script=None if argument == "-" else argument)
        if argument.startswith("--"):
            position += argument == "--check-hash-based-pycs"
            continue
        letters, ending = _until_value(argument[1:])
        keeps_out = keeps_out or next((f"-{letter}" for letter in letters if letter in _KEEPS_PROBE_OUT), None)
        if ending is None:
            continue
        kind, value = ending[0], ending[1:]
        if kind == "m":
            return PythonOptions(keeps_out, module=value or following)
        if kind == "c":
            return PythonOptions(keeps_out)
        position += not value  # -W and -X: the value is attached or the next argument
    return PythonOptions(keeps_out)


def _until_value(letters: str) -> tuple[str, str | None]:
    """Single-letter options up to the one that takes a value; that one with what is attached to it."""
    for position, letter in enumerate(letters):
        if letter in _TAKES_VALUE + "cm":
            return letters[:position], letters[position:]
    return letters, None
