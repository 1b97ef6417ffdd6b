"""The document says what the studies find; the constants that ship are those that the fits find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.goals import CASES
from gpuscope.advisor.validation.registry import load_study, study_names
from gpuscope.advisor.validation.studying import StudyResult, study_result
from gpuscope.advisor.validation.tables import Tables
from gpuscope.engine.validate import shipped_tables
from tests.accuracy import refit
from tests.accuracy.__main__ import DOCUMENT
from tests.accuracy.document import document, section

SAMPLE = ("collectives", "energy", "llm-training", "timm-no-run", "timm-training")
"""Studies of each kind that take a second or two; all of them take a minute (`make accuracy`)."""

_WORST = re.compile(r"^The worst rows:.*?(?=^#|\Z)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.-])[-+−]?\d+(?:\.\d+)?(?=%)")
_ROUNDED = 0.6
"""Percentage points by which a figure may differ: another processor adds numbers up in another order."""


@pytest.fixture(scope="module")
def tables() -> Tables:
    return shipped_tables()


@pytest.fixture(scope="module")
def committed() -> dict[str, str]:
    """Sections of the committed document by study."""
    text = DOCUMENT.read_text(encoding="utf-8")
    parts = re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0].removeprefix("### "): part.strip() for part in parts}


def test_every_study_has_its_section(committed: dict[str, str]) -> None:
    assert set(committed) == set(study_names())


@pytest.mark.parametrize("name", SAMPLE)
def test_a_section_says_what_the_study_finds(name: str, tables: Tables, committed: dict[str, str]) -> None:
    result = study_result(name, tables)
    assert result.failure == ""
    made, there = _WORST.sub("", section(result)), _WORST.sub("", committed[name])
    again = "docs/accuracy-time.md is not up to date: run `make accuracy`"
    assert _NUMBER.sub("#", made).strip() == _NUMBER.sub("#", there).strip(), again
    for one, other in zip(_numbers(made), _numbers(there), strict=True):
        assert one == pytest.approx(other, abs=_ROUNDED), again


def _numbers(text: str) -> Iterator[float]:
    return (float(number.replace("−", "-")) for number in _NUMBER.findall(text))


@pytest.mark.parametrize("name", SAMPLE)
def test_rows_are_named_after_their_study(name: str, tables: Tables) -> None:
    rows = list(load_study(name).outcomes(tables))
    assert {row.study for row in rows} == {name}
    assert all(row.measured > 0 and row.source and row.held_out for row in rows)
    assert all((row.predicted is None) == bool(row.refusal) for row in rows)
    assert all(
        row.predicted is None or 0 < row.predicted.low <= row.predicted.mid <= row.predicted.high for row in rows
    )


def test_every_kind_of_prediction_with_a_goal_is_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [case.name for case in CASES if f"| {case.name} |" not in text] == []


def test_failures_and_kinds_that_nothing_tests_are_said() -> None:
    text = document([StudyResult(name="broken", case="no-run", failure="KeyError: 'x'")], [])
    assert "- broken failed: KeyError: 'x'" in text
    assert f"- Nothing here tests: {CASES[0].name}." in text


def test_a_missed_goal_is_said_with_what_was_tried(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    made = StudyResult(name="made-up", case="no-run", goal=(0.01, 0.02), met=False, tried="Two constants.")
    summary = study_result("energy", tables).summary
    text = document([StudyResult(**{**_fields(made), "summary": summary})], [])
    assert "- made-up misses its goal of 1% / 2%. Two constants." in text


def _fields(result: StudyResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


def test_decisions_are_listed_with_their_regret() -> None:
    score = Score(
        data="d", aim="fastest", rule="gpuscope", decisions=7, right=0.5, mean_regret=0.031, worst_regret=0.25
    )
    assert "| d | fastest | gpuscope | 7 | 50% | 3.1% | 25% |" in document([], [score])


def test_the_shipped_rates_are_those_of_the_fit(tables: Tables, tmp_path: Path) -> None:
    refit.FITS[0](tables, tmp_path)
    found = [
        each for path in tmp_path.glob("*.csv") for each in refit.file_differences(tables.folder / path.name, path)
    ]
    assert found == []


def test_a_constant_that_was_changed_by_hand_is_found(tmp_path: Path) -> None:
    shipped, refitted = tmp_path / "shipped.csv", tmp_path / "refitted.csv"
    shipped.write_text("name,value\nshare,0.80\n")
    refitted.write_text("name,value\nshare,0.90\n")
    assert list(refit.file_differences(shipped, refitted)) == [
        "shipped.csv, line 2 (share): 0.80 ships, the fit gives 0.90."
    ]
    assert list(refit.file_differences(shipped, shipped)) == []
    assert list(refit.file_differences(tmp_path / "none.csv", refitted)) == ["none.csv is missing."]


def test_a_file_that_no_fit_makes_is_found(tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stray.csv").write_text("name,value\n")
    monkeypatch.setattr(refit, "FITS", ())
    found = list(refit.differences(Tables(tmp_path, tables.catalogue)))
    assert found == ["stray.csv ships, but no fit makes it."]
