"""The Python interpreters of this machine, and which of them a script is run with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpuscope.errors import RunError, UsageError
from gpuscope.runner.environment import outside_environment
from gpuscope.runner.interrogate import Answer, AnswerCache
from gpuscope.runner.places import Place, expanded, home_folder, interpreter_places, python_in

_ASKED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that answered."""

    path: str
    version: str
    """As `3.11.9`."""
    torch_version: str | None
    """None: it has no torch."""
    cuda_version: str | None
    """CUDA that its torch was built for; None: a CPU build, or no torch."""
    origin: str
    """Where it was found: `the active virtual environment`, `PATH`, ..."""

    @property
    def label(self) -> str:
        """`Python 3.11.9 with torch 2.13.0`."""
        torch = "without torch" if self.torch_version is None else f"with torch {self.torch_version}"
        return f"Python {self.version} {torch}"


def find_interpreters(
    cwd: str | Path,
    *,
    script_folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
    cache: AnswerCache | None = None,
) -> list[Interpreter]:
    """Every interpreter that is found and answers, the likeliest first, each environment once.

    Takes a moment the first time (each one is started, several at once); answers are remembered.

    Args:
        cwd: folder of the run, for virtual environments nearby.
        script_folder: looked at before `cwd`.
        environment: None: this process's own, without what belongs to gpuscope.
        home: None: the person's home folder.
        cache: None: the app's own.
    """
    variables = outside_environment() if environment is None else dict(environment)
    places = interpreter_places(_nearby(Path(cwd), script_folder), variables, home or home_folder() or Path(cwd))
    return _ask_all(places, variables, cache or AnswerCache())


def choose_interpreter(
    cwd: str | Path,
    explicit: str | None,
    needs_torch: bool,
    *,
    what: str = "the script",
    script_folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
    cache: AnswerCache | None = None,
) -> tuple[Interpreter, str]:
    """The interpreter for a run, and why it was taken, in a sentence.

    Args:
        cwd: folder of the run.
        explicit: what the person named (a program, a name on PATH, or the folder of an environment); None: choose.
        needs_torch: whether one without torch is of no use.
        what: what needs torch, for the message.
        script_folder, environment, home, cache: as in `find_interpreters`.

    Raises:
        UsageError: the named interpreter is not there or is no Python.
        RunError: torch is needed, and the named interpreter, or every one that was found, has none.
    """
    variables = outside_environment() if environment is None else dict(environment)
    if explicit is not None:
        chosen = _explicit(explicit, Path(cwd), variables, cache or AnswerCache())
        if needs_torch and chosen.torch_version is None:
            raise RunError(
                f"{chosen.path} (Python {chosen.version}) has no torch, but {what} imports it: install torch there "
                "or name another interpreter with --python."
            )
        return chosen, f"{chosen.path} was named: {chosen.label}."
    found = find_interpreters(cwd, script_folder=script_folder, environment=variables, home=home, cache=cache)
    usable = [interpreter for interpreter in found if interpreter.torch_version is not None or not needs_torch]
    if not usable:
        looked = f"none of the {len(found)} Python interpreters found here has it" if found else "no Python was found"
        raise RunError(
            f"{what} needs torch, but {looked}: install torch or name an interpreter that has it with --python."
        )
    chosen = usable[0]
    return chosen, _why(chosen, passed_over=found.index(chosen))


def _nearby(cwd: Path, script_folder: Path | None) -> list[Path]:
    """Folders in which a virtual environment counts as nearby: the script's, the run's, and those above them."""
    starts = [folder.resolve() for folder in (script_folder, cwd) if folder is not None]
    return list(dict.fromkeys(folder for start in starts for folder in (start, *start.parents)))


def _why(chosen: Interpreter, *, passed_over: int) -> str:
    sentence = f"{chosen.path} was taken, from {chosen.origin}: {chosen.label}"
    if passed_over:
        sentence += f"; {passed_over} that would come first {'has' if passed_over == 1 else 'have'} no torch"
    return sentence + "."


def _explicit(explicit: str, cwd: Path, environment: Mapping[str, str], cache: AnswerCache) -> Interpreter:
    path = _locate(explicit, cwd, environment)
    if path is None:
        raise UsageError(f"There is no interpreter {explicit}: name a Python program with --python.")
    found = _ask_all([Place(path, "--python")], environment, cache)
    if not found:
        raise UsageError(f"{explicit} is not a working Python interpreter: name another one with --python.")
    return found[0]


def _locate(explicit: str, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    if os.sep not in explicit and "/" not in explicit:
        on_path = shutil.which(explicit, path=environment.get("PATH"))
        if on_path is not None:
            return Path(on_path)
    for base in (Path.cwd(), cwd):  # what the person sees in the terminal, then what the run sees
        path = base / expanded(explicit)
        if path.is_dir() and python_in(path) is not None:
            return python_in(path)
        if path.is_file():
            return path
    return None


def _ask_all(places: list[Place], environment: Mapping[str, str], cache: AnswerCache) -> list[Interpreter]:
    with ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="interpreters") as pool:
        answers = list(pool.map(lambda place: cache.get(place.path, environment), places))
    cache.save()
    found: dict[tuple[str, str], Interpreter] = {}
    for place, answer in zip(places, answers, strict=True):
        if answer is not None:
            found.setdefault((answer.prefix, answer.version), _interpreter(place, answer))
    return list(found.values())


def _interpreter(place: Place, answer: Answer) -> Interpreter:
    return Interpreter(str(place.path), answer.version, answer.torch_version, answer.cuda_version, place.origin)
