"""Which studies there are: every module of the package `studies`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuscope.advisor.validation import studies
from gpuscope.advisor.validation.goals import CASE_BY_KEY
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables
from gpuscope.errors import UsageError


class Study(NamedTuple):
    """One way of predicting published measurements."""

    name: str
    description: str
    case: str
    """Key of one of `goals.CASES`; empty: none."""
    goal: tuple[float, float] | None
    """Median and 90th percentile of the relative error; the study's own, else its case's."""
    tried: str
    """Where the goal is missed: what was tried, and why it stays."""
    outcomes: Callable[[Tables], Iterator[Outcome]]


def study_names() -> tuple[str, ...]:
    """Names of all studies, sorted; the module `studies/some_rows.py` is the study `some-rows`."""
    found = (module.name for module in pkgutil.iter_modules(studies.__path__))
    return tuple(sorted(name.replace("_", "-") for name in found if not name.startswith("_")))


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names that no study has.

    Raises:
        UsageError: there is none of such a name; says which there are.
    """
    known = study_names()
    for name in names:
        if name not in known:
            raise UsageError(f"There is no study {name!r}: choose from {', '.join(known)}.")


def load_study(name: str) -> Study:
    """Import a study."""
    module = importlib.import_module(f"{studies.__name__}.{name.replace('-', '_')}")
    case = CASE_BY_KEY.get(module.CASE)
    goal = module.GOAL or (case.goal if case else None)
    return Study(name, module.DESCRIPTION, module.CASE, goal, module.TRIED, module.outcomes)
