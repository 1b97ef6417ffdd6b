"""What a person typed into the Run panel: how it is checked, and what it asks for."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication

from gpuscope.domain.base import Value
from gpuscope.domain.redact import HIDDEN, redact_arguments, redact_environment, redact_text
from gpuscope.domain.run import RunSpec
from gpuscope.domain.units import parse_count
from gpuscope.engine.launch import RunRequest
from gpuscope.errors import UsageError

translate = QCoreApplication.translate

SCRIPT, MODULE, COMMAND = "script", "module", "command"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class RunSettings(Value, frozen=True, kw_only=True):
    """The fields of the form as text, so that half-finished input survives too."""

    kind: str = SCRIPT
    target: str = ""
    """Path of the script, name of the module, or the program."""
    arguments: str = ""
    """As one would type them in a shell."""
    python: str = ""
    """Path of the interpreter; empty: chosen by gpuscope."""
    folder: str = ""
    """Where it runs; empty: the script's own folder."""
    environment: str = ""
    """NAME=VALUE, one a line."""
    total_steps: str = ""
    profile: bool = True


def split_arguments(text: str) -> tuple[str, ...]:
    """Split as a shell does, without expanding anything; on Windows a backslash is a plain character.

    Raises:
        UsageError: a quotation mark is not closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""
    try:
        return tuple(lexer)
    except ValueError as error:
        if "escape" in str(error):
            raise UsageError(
                translate("RunSettings", "The arguments end in a backslash: add the character that it protects.")
            ) from error
        raise UsageError(translate("RunSettings", "A quotation mark in the arguments is not closed.")) from error


def parse_environment(text: str) -> dict[str, str]:
    """`NAME=VALUE` lines; empty lines are skipped.

    Raises:
        UsageError: names the first line that is something else.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, equals, value = line.strip().partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise UsageError(
                translate("RunSettings", "Line {number} of the environment is not NAME=VALUE.").format(number=number)
            )
        found[name] = value
    return found


def parse_total_steps(text: str) -> int | None:
    """`5000`, `5k`; None when nothing was typed.

    Raises:
        UsageError: it is no number above 0.
    """
    if not text.strip():
        return None
    count = parse_count(text)
    if count < 1:
        raise UsageError(translate("RunSettings", "The number of steps must be at least 1."))
    return count


def working_folder(settings: RunSettings) -> Path:
    """Where the workload would run: the folder typed, else the script's own, else the present one."""
    if settings.folder.strip():
        return Path(settings.folder.strip()).expanduser()
    if settings.kind == SCRIPT and Path(settings.target.strip()).expanduser().is_absolute():
        return Path(settings.target.strip()).expanduser().parent
    return Path.cwd()


def to_request(settings: RunSettings) -> RunRequest:
    """What the engine is asked for.

    Raises:
        UsageError: a field cannot be understood; `problems` says so beforehand.
    """
    target = settings.target.strip()
    folder = working_folder(settings)
    if settings.kind == SCRIPT:
        script = Path(target).expanduser()
        target = str(script.relative_to(folder) if script.is_relative_to(folder) else script)  # short in titles
    return RunRequest(
        target=settings.kind,
        args=(target, *split_arguments(settings.arguments)),
        python=settings.python.strip() or None,
        cwd=str(folder),
        env=parse_environment(settings.environment),
        total_steps=parse_total_steps(settings.total_steps),
        profile=settings.profile,
    )


def from_spec(spec: RunSpec) -> RunSettings:
    """The settings that a session was run with; what was secret is `***` and has to be typed again."""
    leading = {SCRIPT: 1, MODULE: 2}.get(spec.target, 0)
    target, *arguments = spec.argv[leading:]
    return RunSettings(
        kind=spec.target,
        target=target,
        arguments=shlex.join(arguments),
        python=spec.interpreter or "" if spec.target != COMMAND else "",
        folder=spec.cwd,
        environment="\n".join(f"{name}={value}" for name, value in spec.environment.items()),
        total_steps=str(spec.total_steps or ""),
    )


def without_secrets(settings: RunSettings) -> RunSettings:
    """The settings as they may be remembered."""
    lines = [line for line in settings.environment.splitlines() if line.strip()]
    try:
        arguments = shlex.join(redact_arguments(split_arguments(settings.arguments)))
    except UsageError:  # half-typed: the text as a whole
        arguments = redact_text(settings.arguments)
    return msgspec.structs.replace(
        settings, arguments=arguments, environment="\n".join(_line_without_secret(line) for line in lines)
    )


def _line_without_secret(line: str) -> str:
    name, equals, value = line.strip().partition("=")
    if not equals:
        return redact_text(line)
    return f"{name}={redact_environment({name: value})[name]}"


def problems(settings: RunSettings) -> dict[str, str]:
    """What is wrong with each field, as a sentence, by field name; empty when the run can start."""
    found: dict[str, str] = {}
    for field, check in _CHECKS.items():
        try:
            check(settings)
        except UsageError as error:
            found[field] = str(error)
    return found


def _check_target(settings: RunSettings) -> None:
    target = settings.target.strip()
    if settings.kind == SCRIPT:
        _check_script(target, working_folder(settings))
    elif settings.kind == MODULE:
        if not _MODULE.fullmatch(target):
            raise UsageError(translate("RunSettings", "Type the module's name, such as package.train."))
    elif not target:
        raise UsageError(translate("RunSettings", "Type the program to start, such as torchrun."))


def _check_script(target: str, folder: Path) -> None:
    if not target:
        raise UsageError(translate("RunSettings", "Choose the Python script to run, or drop it here."))
    script = folder / Path(target).expanduser()
    if script.is_dir() and not (script / "__main__.py").is_file():
        raise UsageError(
            translate("RunSettings", "{path} is a folder: choose a Python script in it.").format(path=script)
        )
    if not script.exists():
        raise UsageError(translate("RunSettings", "There is no file {path}.").format(path=script))
    if not os.access(script, os.R_OK):
        raise UsageError(translate("RunSettings", "{path} cannot be read: check its permissions.").format(path=script))


def _check_arguments(settings: RunSettings) -> None:
    if any(HIDDEN in argument for argument in split_arguments(settings.arguments)):
        raise UsageError(translate("RunSettings", "Secrets are not remembered: type what stands for *** again."))


def _check_environment(settings: RunSettings) -> None:
    hidden = [name for name, value in parse_environment(settings.environment).items() if HIDDEN in value]
    if hidden:
        sentence = translate("RunSettings", "Secrets are not remembered: type the value of {name} again.")
        raise UsageError(sentence.format(name=hidden[0]))


def _check_python(settings: RunSettings) -> None:
    path = settings.python.strip()
    if path and not (Path(path).is_file() and os.access(path, os.X_OK)):
        raise UsageError(translate("RunSettings", "{path} is not a program that can be started.").format(path=path))


def _check_folder(settings: RunSettings) -> None:
    folder = working_folder(settings)
    if not folder.is_dir():
        raise UsageError(translate("RunSettings", "There is no folder {path}.").format(path=folder))


_CHECKS: dict[str, Callable[[RunSettings], object]] = {
    "target": _check_target,
    "arguments": _check_arguments,
    "python": _check_python,
    "folder": _check_folder,
    "environment": _check_environment,
    "total_steps": lambda settings: parse_total_steps(settings.total_steps),
}
