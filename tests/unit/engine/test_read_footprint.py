"""Footprint documents that cannot be are refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.domain.base import to_json
from gpuscope.engine.advise import read_footprint
from gpuscope.errors import UsageError
from tests.builders import build_footprint

DOCUMENT: dict[str, Any] = json.loads(to_json(build_footprint()))


def _file(folder: Path, document: Any) -> Path:
    path = folder / "footprint.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_a_document_as_it_was_written(tmp_path: Path) -> None:
    assert read_footprint(_file(tmp_path, DOCUMENT)) == build_footprint()


@pytest.mark.parametrize("figure", [1e308, -1e308, 10**40])
def test_figures_that_no_job_has(tmp_path: Path, figure: float) -> None:
    time_s = {**DOCUMENT["steps"]["time_s"], "high": figure}
    document = {**DOCUMENT, "steps": {**DOCUMENT["steps"], "time_s": time_s}}
    with pytest.raises(UsageError, match="larger than any figure of a job"):
        read_footprint(_file(tmp_path, document))


def test_a_document_that_is_nested_without_end(tmp_path: Path) -> None:
    depth = 100_000
    text = json.dumps({**DOCUMENT, "extra": {"a": 0}}).replace('{"a": 0}', '{"a":' + "[" * depth + "]" * depth + "}")
    with pytest.raises(UsageError, match="nested too deeply"):
        read_footprint(_file(tmp_path, text))
