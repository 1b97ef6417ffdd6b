"""From what the person typed to what is started: the command line, its folder, its environment."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuscope import paths
from gpuscope.domain.redact import HIDDEN, redact_arguments, redact_environment
from gpuscope.domain.run import RunSpec
from gpuscope.errors import UsageError
from gpuscope.runner.environment import outside_environment, workload_environment
from gpuscope.runner.imports import TORCH_PACKAGES, torch_import
from gpuscope.runner.interpreters import choose_interpreter
from gpuscope.runner.modules import find_module
from gpuscope.runner.places import expanded
from gpuscope.runner.python_options import is_python, read_options

_SCRIPT_SUFFIXES = (".py", ".pyw")


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that is needed to start a workload. Only `spec` may be written down: the rest holds secrets."""

    argv: tuple[str, ...]
    cwd: Path
    environment: dict[str, str]
    spec: RunSpec


@dataclass(frozen=True, slots=True)
class _Command:
    argv: tuple[str, ...]
    target: str
    interpreter: str | None = None
    note: str = ""
    probe: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where names are looked up."""

    cwd: Path
    environment: Mapping[str, str]
    python: str | None


def plan_launch(
    args: Sequence[str],
    *,
    target: str | None = None,
    python: str | None = None,
    cwd: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    profile: bool = True,
    total_steps: int | None = None,
) -> LaunchPlan:
    """Work out how to start what the person asked for. Interpreters may be started and asked what they are.

    Args:
        args: the script, module or command, then its arguments.
        target: `script`, `module` or `command`; None: a script when the first word names a Python file, else a command.
        python: interpreter that the person named.
        cwd: folder to run in, scripts are relative to it; None: the present one.
        environment: variables that the person added.
        profile: whether the probe may profile one step.
        total_steps: for progress.

    Raises:
        UsageError: no such script, module, command, folder or interpreter.
        RunError: no interpreter has the torch that the script imports.
    """
    if not args:
        raise UsageError("Nothing to run: give a script, -m MODULE or a command after --.")
    given = dict(environment or {})
    outside = outside_environment()
    try:
        folder = _folder(cwd)
        command = _resolve(tuple(args), target, _Place(folder, {**outside, **given}, python))
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise UsageError(f"{error.filename or args[0]} cannot be looked at: {error.strerror}.") from error
    shown = redact_arguments(args)
    spec = RunSpec(
        argv=redact_arguments(command.argv),
        cwd=str(folder),
        target=command.target,
        display=" ".join(_quoted(word) for word in (("-m", *shown) if command.target == "module" else shown)),
        interpreter=command.interpreter,
        interpreter_note=command.note,
        environment=redact_environment(given),
        probe=command.probe,
        total_steps=total_steps,
    )
    variables = workload_environment(outside, given, probe_site=paths.probe_dir() / "site", profile=profile)
    return LaunchPlan(command.argv, folder, variables, spec)


def _quoted(word: str) -> str:
    """As it would be typed in a shell, but for `***`, which stays bare."""
    plain = word.replace(HIDDEN, "_")
    return word if shlex.quote(plain) == plain else shlex.quote(word)


def _folder(cwd: str | Path | None) -> Path:
    folder = Path.cwd() if cwd is None else expanded(cwd).absolute()
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} to run in: name an existing one with --cwd.")
    return folder


def _resolve(args: tuple[str, ...], target: str | None, place: _Place) -> _Command:
    if target == "module":
        return _module(args, place)
    if target == "script" or (target is None and _is_script(args[0], place)):
        return _script(args, place)
    if place.python is not None:
        raise UsageError(f"--python is for scripts and modules, but {args[0]} is a command: leave one of them out.")
    if is_python(args[0]):
        return _typed_python(args, place)
    return _Command((_program(args[0], place), *args[1:]), "command")


def _is_script(name: str, place: _Place) -> bool:
    """A Python file that is there, or a name that can only mean one (so that the message speaks of a script)."""
    if not name.lower().endswith(_SCRIPT_SUFFIXES):
        return False
    return (place.cwd / name).is_file() or shutil.which(name, path=_path(place)) is None


def _script(args: tuple[str, ...], place: _Place) -> _Command:
    script = _existing_script(args[0], place.cwd)
    wanted = torch_import(script)
    interpreter, note = choose_interpreter(
        place.cwd,
        place.python,
        wanted is not None,
        what=_what(args[0], wanted),
        script_folder=script.parent,
        environment=place.environment,
    )
    return _Command((interpreter.path, *args), "script", interpreter.path, note)


def _existing_script(name: str, cwd: Path) -> Path:
    script = cwd / name
    if script.is_dir() and not (script / "__main__.py").is_file():
        raise UsageError(f"{name} is a folder, not a script: name a Python file.")
    if not script.exists():
        raise UsageError(f"There is no script {name} in {cwd}: check the name, or give its folder with --cwd.")
    if not os.access(script, os.R_OK):
        raise UsageError(f"{script} cannot be read: change its permissions.")
    return script


def _module(args: tuple[str, ...], place: _Place) -> _Command:
    beside = find_module(args[0], place.cwd)
    wanted = torch_import(beside) if beside is not None else _torch_by_name(args[0])
    interpreter, note = choose_interpreter(
        place.cwd, place.python, wanted is not None, what=_what(args[0], wanted), environment=place.environment
    )
    if beside is None:
        find_module(args[0], place.cwd, Path(interpreter.path), place.environment)
    return _Command((interpreter.path, "-m", *args), "module", interpreter.path, note)


def _torch_by_name(module: str) -> str | None:
    package = module.partition(".")[0]
    return package if package in TORCH_PACKAGES else None


def _what(name: str, wanted: str | None) -> str:
    return name if wanted in {None, "torch"} else f"{name} (through {wanted})"


def _typed_python(args: tuple[str, ...], place: _Place) -> _Command:
    program = _program(args[0], place)
    options = read_options(args[1:])
    if options.script is not None:
        _existing_script(options.script, place.cwd)
    note = f"{program} was typed."
    if options.keeps_probe_out is not None:
        note += f" Its option {options.keeps_probe_out} keeps gpuscope's probe out: steps are not recorded."
    return _Command((program, *args[1:]), "command", program, note, probe=options.keeps_probe_out is None)


def _path(place: _Place) -> str | None:
    return place.environment.get("PATH")


def _program(name: str, place: _Place) -> str:
    """The program's full path; a name with a separator is relative to the folder of the run.

    Raises:
        UsageError: there is no such program.
    """
    if os.sep not in name and "/" not in name:
        found = shutil.which(name, path=_path(place))
        if found is not None:
            return str(Path(found).absolute())
        if (place.cwd / name).is_file():
            raise UsageError(f"There is no command {name} on PATH: write ./{name} for the file in {place.cwd}.")
        raise UsageError(f"There is no command {name} on PATH: check its name or give its whole path.")
    path = place.cwd / expanded(name)
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a command.")
    if not path.exists():
        raise UsageError(f"There is no command {path}: check its name.")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{path} is not executable: run chmod +x on it, or name the program that reads it.")
    return str(path)
