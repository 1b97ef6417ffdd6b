"""Which studies there are: every module of the package `studies`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import NamedTuple

from gpuscope.advisor.validation import studies
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables
from gpuscope.errors import UsageError

Goal = tuple[float, float]
"""Median and 90th percentile of the relative error."""


class Study(NamedTuple):
    """One way of predicting published measurements."""

    name: str
    description: str
    case: str
    """Row of `goals.CASES`; empty: none."""
    goal: Goal | None
    tried: str
    """Where the goal is missed: what was tried, and why it stays."""
    outcomes: Callable[[Tables], Iterator[Outcome]]


def all_studies() -> tuple[Study, ...]:
    """The studies in order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(studies.__path__) if not module.name.startswith("_"))
    found = [_study(importlib.import_module(f"{studies.__name__}.{name}")) for name in names]
    return tuple(sorted(found, key=lambda study: study.name))


def chosen(names: tuple[str, ...] = ()) -> tuple[Study, ...]:
    """The studies of these names; without names, all.

    Raises:
        UsageError: there is none of such a name.
    """
    known = {study.name: study for study in all_studies()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"There is no study {unknown[0]!r}: choose from {', '.join(known)}.")
    return tuple(known[name] for name in names) if names else tuple(known.values())


def _study(module: ModuleType) -> Study:
    return Study(module.NAME, module.DESCRIPTION, module.CASE, module.GOAL, module.TRIED, module.outcomes)
