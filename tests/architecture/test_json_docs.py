"""docs/json.md and the program's types say the same."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from gpuscope.advisor.calibration.own_rates import RatesDocument
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.out_of_memory import OutOfMemoryExplanation
from gpuscope.domain.recommendation import Recommendation
from gpuscope.domain.run import RunOutcome
from gpuscope.engine.doctor import Examination
from gpuscope.engine.validate import ValidationReport
from gpuscope.report.model import Report
from tests.architecture.json_types import describe, reachable

DOCUMENTED = {
    one.__name__: one
    for one in reachable(
        Footprint,
        Recommendation,
        MixRecommendation,
        Report,
        RunOutcome,
        Examination,
        OutOfMemoryExplanation,
        ValidationReport,
        RatesDocument,
    )
}

Row = tuple[str, str, str]


@pytest.fixture(scope="module")
def tables(root: Path) -> dict[str, list[Row]]:
    """Rows (field, type, meaning) of each section that has a table, by the section's name."""
    text = (root / "docs" / "json.md").read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", section, flags=re.MULTILINE)
        found[section.splitlines()[0].strip()] = rows
    return found


def test_every_structure_has_its_section(tables: dict[str, list[Row]]) -> None:
    assert set(tables) == set(DOCUMENTED)


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_fields_and_types_are_as_in_the_program(tables: dict[str, list[Row]], name: str) -> None:
    documented = [(field, type_) for field, type_, _ in tables[name]]
    fields = msgspec.structs.fields(DOCUMENTED[name])
    assert documented == [(field.encode_name, describe(field.type)) for field in fields]


def test_every_field_has_a_meaning(tables: dict[str, list[Row]]) -> None:
    empty = [f"{name}.{field}" for name, rows in tables.items() for field, _, meaning in rows if not meaning.strip()]
    assert not empty


def test_schema_names_are_documented(root: Path) -> None:
    text = (root / "docs" / "json.md").read_text(encoding="utf-8")
    for one in (Footprint, Recommendation, MixRecommendation, Report, Examination, ValidationReport, RatesDocument):
        schema = next(field.default for field in msgspec.structs.fields(one) if field.name == "schema")
        assert f"| `schema` | text | `{schema}`" in text
