"""Every study that ships works on the rows that ship; one that fails is reported."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from gpuscope.advisor.validation import registry
from gpuscope.advisor.validation.goals import CASE_BY_KEY
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.registry import check_names, load_study, study_names
from gpuscope.advisor.validation.studying import Cancelled, study_result
from gpuscope.advisor.validation.tables import Tables
from gpuscope.errors import CatalogueError, UsageError
from tests.unit.advisor.validation.test_summary import outcome

ONE = "energy"


@pytest.mark.parametrize("name", study_names())
def test_a_study_says_what_it_is(name: str) -> None:
    study = load_study(name)
    assert study.description.endswith(".")
    assert study.case == "" or study.case in CASE_BY_KEY


def test_rows_are_named_after_their_study(tables: Tables) -> None:
    rows = list(load_study(ONE).outcomes(tables))
    assert {row.study for row in rows} == {ONE}
    assert all(row.measured > 0 and row.source and row.held_out for row in rows)
    assert all((row.predicted is None) == bool(row.refusal) for row in rows)


def test_a_study_gives_the_same_twice(tables: Tables) -> None:
    fresh = Tables(tables.folder, tables.catalogue)
    assert study_result(ONE, tables) == study_result(ONE, fresh)


def test_an_unknown_study_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=f"no study 'nonsense'.*{ONE}"):
        check_names(("nonsense",))


def _use(monkeypatch: pytest.MonkeyPatch, outcomes: object) -> None:
    module = ModuleType("made_up")
    module.__dict__.update(
        DESCRIPTION="Made up.", CASE="no-run", GOAL=None, TRIED="Nothing.", outcomes=outcomes
    )  # fmt: skip
    monkeypatch.setattr(registry.importlib, "import_module", lambda _name: module)


def test_a_study_that_fails_is_reported(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Tables) -> Iterator[Outcome]:
        yield outcome(1.0)
        raise KeyError("rtx-9090")

    _use(monkeypatch, fail)
    result = study_result("made-up", tables)
    assert result.summary is None
    assert result.failure == "KeyError: 'rtx-9090'"
    assert result.met is None


def test_a_study_without_rows_is_reported(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, lambda _: iter(()))
    assert "no published row" in study_result("made-up", tables).failure


def test_a_study_that_cannot_be_imported_is_reported(tables: Tables) -> None:
    assert "ModuleNotFoundError" in study_result("not-there", tables).failure


def test_the_goal_of_the_case_counts(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, lambda _: iter([outcome(1.1)] * 10))
    result = study_result("made-up", tables)
    assert result.goal == CASE_BY_KEY["no-run"].goal
    assert result.met is True


def test_a_study_can_be_stopped(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: Tables) -> Iterator[Outcome]:
        while True:
            yield outcome(1.0)

    _use(monkeypatch, endless)
    answers = iter([False, False, True])
    with pytest.raises(Cancelled):
        study_result("made-up", tables, lambda: next(answers))


def test_a_damaged_table_is_named(tables: Tables) -> None:
    with pytest.raises(CatalogueError, match=r"nothing\.csv"):
        tables.rows("nothing")
