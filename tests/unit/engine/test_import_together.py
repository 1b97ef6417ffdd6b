"""What shows only when the files of one run are held against each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.unit.engine.test_import_clocks import SMI, length_of, rank

NOON = datetime(2024, 11, 23, 12, 23, tzinfo=UTC)
APPS = (
    "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n2024/11/23 12:23:05.000, GPU-1, 7, python, 9 MiB\n"
)


def trace_at(begin: datetime, number: int = 0) -> bytes:
    return rank(number, begin.timestamp() * 1e6, baseTimeNanoseconds=0)


@pytest.mark.parametrize("second", [SMI, "\n".join(reversed(SMI.splitlines()[1:])) + "\n"], ids=["same", "other"])
def test_a_file_that_is_given_twice_counts_once(second: str, tmp_path: Path) -> None:
    _, notes = length_of({"a.csv": SMI.encode(), "b.csv": second.encode()}, tmp_path)
    assert any("given twice" in note for note in notes) is (second == SMI)


def test_files_of_different_days_are_said(tmp_path: Path) -> None:
    late = APPS.replace("11/23", "11/30").encode()
    length_s, notes = length_of({"smi.csv": SMI.encode(), "apps.csv": late}, tmp_path)
    assert length_s > 6 * 86400
    assert any("168.0 hours after the others end" in note or "167." in note for note in notes)


def test_files_that_overlap_are_of_one_run(tmp_path: Path) -> None:
    _, notes = length_of({"smi.csv": SMI.encode(), "apps.csv": APPS.encode()}, tmp_path)
    assert not any("one run" in note for note in notes)


def test_local_times_are_laid_where_the_trace_was_in_the_only_zone_that_fits(tmp_path: Path) -> None:
    began = NOON - timedelta(hours=9) + timedelta(seconds=10)
    length_s, notes = length_of({"smi.csv": SMI.encode(), "trace.json": trace_at(began)}, tmp_path)
    assert length_s == pytest.approx(29, abs=1)
    assert any("-9 h" in note for note in notes)


def test_local_times_that_fit_no_zone_stay_and_are_said(tmp_path: Path) -> None:
    began = NOON - timedelta(hours=9, minutes=7)
    length_s, notes = length_of({"smi.csv": SMI.encode(), "trace.json": trace_at(began)}, tmp_path)
    assert length_s > 9 * 3600
    assert any("hours after the others end" in note for note in notes)


def test_ranks_are_missing_only_while_they_are(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "both").mkdir()
    files = {"0.json": trace_at(NOON, 0), "1.json": trace_at(NOON, 1)}
    _, notes = length_of({"0.json": files["0.json"]}, tmp_path / "one")
    assert any("give the files of all ranks" in note for note in notes)
    _, notes = length_of(files, tmp_path / "both")
    assert not any("give the files of all ranks" in note for note in notes)
