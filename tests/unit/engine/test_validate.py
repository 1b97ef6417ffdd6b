"""A validation as the command line and the window ask for it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gpuscope.domain.base import Range, from_json, to_json
from gpuscope.engine.prediction_ledger import (
    Comparison,
    JobIdentity,
    PredictedStep,
    Prediction,
    add_entries,
    ledger_path,
)
from gpuscope.engine.validate import DECISIONS, SCHEMA, ValidationReport, own_runs, validation
from gpuscope.errors import UsageError

NOW = time.time()
JOB = JobIdentity(name="train.py", arguments="0" * 16, stage="training")
STEP = PredictedStep(gpu="rtx-4090", count=1, precision="float16", step_time_s=Range(low=0.1, mid=0.15, high=0.2))


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


def comparison(session: str, measured_s: float, started_s: float = NOW) -> Comparison:
    return Comparison(
        run_wall_s=started_s, session=session, job=JOB, predicted=STEP, predicted_wall_s=NOW - 60, measured_s=measured_s
    )


def test_named_studies_alone_are_made() -> None:
    told: list[tuple[int, int, str]] = []
    report = validation(["energy", "collectives"], progress=lambda *values: told.append(values))
    assert [study.name for study in report.studies] == ["energy", "collectives"]
    assert all(study.summary is not None and study.summary.overall.rows for study in report.studies)
    assert told == [(0, 2, "energy"), (1, 2, "collectives")]
    assert report.decisions == ()
    assert report.complete


def test_the_document_can_be_read_back() -> None:
    report = validation(["energy"])
    assert report.schema == SCHEMA
    assert from_json(to_json(report), ValidationReport) == report


def test_an_unknown_study_is_refused_before_any_work() -> None:
    with pytest.raises(UsageError, match="no study 'nonsense'"):
        validation(["energy", "nonsense"], progress=lambda *_: pytest.fail("it had begun"))


def test_what_was_done_when_it_was_stopped_is_kept() -> None:
    names: list[str] = []
    report = validation(
        ["collectives", "energy"],
        cancelled=lambda: names[-1] == "energy",
        progress=lambda _done, _parts, name: names.append(name),
    )
    assert [study.name for study in report.studies] == ["collectives"]
    assert not report.complete


def test_all_of_it_can_be_stopped_at_once() -> None:
    names: list[str] = []
    report = validation(cancelled=lambda: True, progress=lambda _done, _parts, name: names.append(name))
    assert (report.studies, report.decisions, report.complete) == ((), (), False)
    assert DECISIONS not in names


def test_without_predictions_there_are_no_own_runs() -> None:
    assert own_runs().predicted_jobs == 0
    assert own_runs().runs == ()


def test_own_runs_come_newest_first_with_their_verdict() -> None:
    add_entries([Prediction(made_wall_s=NOW - 60, session="first", job=JOB, steps=(STEP,))])
    add_entries([comparison("second", 0.15, NOW), comparison("third", 0.5, NOW + 60)])
    own = own_runs()
    assert (own.predicted_jobs, own.inside) == (1, 1)
    assert [run.measured_s for run in own.runs] == [0.5, 0.15]
    assert [run.inside for run in own.runs] == [False, True]
    assert own.runs[0].sentence.endswith("slower.")


def test_damage_of_the_ledger_is_said() -> None:
    add_entries([comparison("second", 0.15)])
    with ledger_path().open("ab") as file:
        file.write(b"{\n")
    own = own_runs()
    assert len(own.runs) == 1
    assert own.note == "1 damaged line was left out of the predictions that were made on this machine."


def test_a_ledger_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    ledger_path().mkdir()
    assert "cannot be read" in own_runs().note
