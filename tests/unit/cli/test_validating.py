"""`gpuscope validate` in a terminal and for scripts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Summary, summary_of
from gpuscope.advisor.validation.words import bias_percent, goal_text, held_out_text, percent, remarks
from gpuscope.cli import main, validating
from gpuscope.cli.validation_text import validation_text
from gpuscope.domain.base import Range
from gpuscope.engine.validate import OwnRun, OwnRuns, ValidationReport
from tests.unit.advisor.validation.test_summary import outcome


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


def report(*studies: StudyResult, **changes: Any) -> ValidationReport:
    return ValidationReport(studies=studies, **({"own": OwnRuns(predicted_jobs=0)} | changes))


def study(summary: Summary | None = None, **changes: Any) -> StudyResult:
    return StudyResult(**({"name": "made-up", "description": "Made up.", "summary": summary} | changes))


def summary() -> Summary:
    return summary_of([outcome(1.0), outcome(1.1, label="a row | with a bar"), outcome(None, refusal="no rates")])


def test_a_study_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--study", "energy"]) == 0
    text = capsys.readouterr().out
    assert "energy" in text
    assert "Worst rows:" in text
    assert "This machine's own runs:" in text


def test_json_is_one_document(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["validate", "--study", "energy", "--json"]) == 0
    found = json.loads(capsysbinary.readouterr().out)
    assert found["schema"] == "gpuscope.validation/1"
    assert found["studies"][0]["summary"]["overall"]["rows"] > 0


def test_an_unknown_study_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--study", "nonsense"]) == 2
    assert "There is no study 'nonsense': choose from " in capsys.readouterr().err


def test_progress_is_only_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, expected in ((True, "\r1 of 2: energy"), (False, "")):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda shown=terminal: shown)
        monkeypatch.setattr(validating.sys, "stderr", stream)
        progress = validating._Progress()
        progress.show(0, 2, "energy")
        progress.clear()
        assert stream.getvalue().startswith(expected)
        assert stream.getvalue().rstrip(" ").endswith("\r" if terminal else "")


def test_failures_refusals_and_narrow_ranges_are_said() -> None:
    missed = [outcome(2.0, gpu="l4")] * 30 + [outcome(1.0)] * 10
    narrow = study(summary_of([*missed, outcome(None, refusal="no rates")]), tried="Two constants.")
    found = list(remarks(narrow))
    assert found[-1] == "made-up: Two constants."
    assert "made-up: no prediction for 1 rows (no rates)." in found
    assert "made-up: the 90% ranges hold 25% of 40 rows, fewer than 88%." in found
    assert "made-up: the ranges are too narrow for gpu l4 (0% of 30 rows inside)." in found
    assert list(remarks(study(failure="KeyError: 'x'"))) == ["made-up failed: KeyError: 'x'"]


def test_a_missed_goal_is_said_with_what_was_tried() -> None:
    missed = study(summary(), goal=(0.01, 0.02), met=False, tried="Two constants.")
    text = validation_text(report(missed), details=False)
    assert "1% / 2%" in text
    assert "missed" in text
    assert "made-up misses its goal of 1% / 2%. Two constants." in text


def test_decisions_own_runs_and_an_early_end_are_shown() -> None:
    score = Score(data="d", aim="fastest", rule="gpuscope", decisions=7, right=0.5, mean_regret=0.03, worst_regret=0.2)
    run = OwnRun(
        when="2026-11-30T10:00:00+00:00", job="train.py", gpu="l4", count=1, precision="float16",
        predicted_s=Range(low=0.1, mid=0.15, high=0.2), measured_s=0.15, inside=True, sentence="train.py: inside.",
    )  # fmt: skip
    own = OwnRuns(predicted_jobs=1, runs=(run,), inside=1, note="1 damaged line was left out.")
    text = validation_text(report(study(summary()), decisions=(score,), own=own, complete=False), details=False)
    assert "1 of 1 runs were inside the range that had been predicted." in text
    assert "2026-11-30  train.py: inside." in text
    assert "1 damaged line was left out." in text
    assert "mean regret" in text
    assert text.endswith("Stopped early: the rest is missing.")


def test_predicted_jobs_that_have_not_run_are_counted() -> None:
    text = validation_text(report(own=OwnRuns(predicted_jobs=3)), details=False)
    assert "Jobs with predictions: 3" in text


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "—"), (0.0, "0%"), (0.0004, "0%"), (0.035, "3.5%"), (0.4, "40%"), (12.64, "1264%")],
)
def test_shares_as_percentages(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_a_bias_says_its_direction() -> None:
    assert bias_percent(0.05) == "+5.1%"
    assert bias_percent(-0.05) == "−4.9%"
    assert bias_percent(None) == "—"
    assert goal_text((0.04, 0.1)) == "4% / 10%"


def test_what_was_held_out_is_said_briefly() -> None:
    families = [f"family net{number}; all GPUs like l4" for number in range(40)]
    assert held_out_text(families) == "a family of models; all GPUs like l4"
    assert held_out_text([f"gpu-{number}" for number in range(12)]).endswith("gpu-9; 2 more")
