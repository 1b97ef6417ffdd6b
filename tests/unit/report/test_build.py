"""What a report holds: the session's, the footprint's and the recommendation's figures, unchanged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuscope.domain.base import to_json
from gpuscope.domain.footprint import Finding
from gpuscope.errors import ReportError
from gpuscope.report.build import build_report
from gpuscope.report.model import Figure, Group, Report
from gpuscope.store.reader import SessionReader
from tests.builders import (
    build_candidate,
    build_footprint,
    build_impossible,
    build_recommendation,
    build_session,
    failed,
)

MakeReport = Callable[..., Report]


def figure(report: Report, key: str) -> Figure:
    groups = [*report.evidence.groups, *report.appendix, Group(key="", figures=report.configuration)]
    return next(one for group in groups for one in group.figures if one.key == key)


def test_figures_are_those_of_the_footprint(make_report: MakeReport) -> None:
    footprint = build_footprint(gpus=2)
    report = make_report(gpus=2, footprint=footprint)
    peak = footprint.memory.peak_device_bytes
    assert peak is not None
    shown = figure(report, "figure.peak_device")
    assert (shown.low, shown.value, shown.high, shown.unit) == (peak.low, peak.mid, peak.high, "bytes")
    assert figure(report, "figure.steps").value == footprint.steps.count
    assert figure(report, "figure.step_time").value == footprint.steps.time_s.mid
    assert {part.key: part.value for part in report.evidence.breakdown}["part.optimizer_state"] == (
        footprint.memory.breakdown.optimizer_state_bytes
    )
    assert figure(report, "figure.gpus").value == "2 × NVIDIA L40S"


def test_provenance_is_that_of_the_nearest_pointer(make_report: MakeReport) -> None:
    shown = figure(make_report(), "figure.peak_allocated")
    assert (shown.kind, shown.how) == ("measured", "allocator's counter · probe")


def test_candidates_are_those_of_the_recommendation(make_report: MakeReport) -> None:
    recommendation = build_recommendation(candidates=5)
    report = make_report(recommendation=recommendation)
    assert tuple(ranked.candidate for ranked in report.candidates) == recommendation.candidates
    assert [ranked.role for ranked in report.candidates] == ["recommended", "alternate", "alternate", "", ""]
    assert report.decision.paragraph.startswith(recommendation.sentence)
    rejected = [one for group in report.rejections for one in group.rejected]
    assert sorted(rejected, key=str) == sorted(recommendation.rejected, key=str)
    assert len(report.prices) == 5
    assert [price.stale for price in report.prices] == [False, False, False, False, True]


def test_the_decision_says_each_figure_once(make_report: MakeReport) -> None:
    paragraph = make_report().decision.paragraph
    assert paragraph.count("31–38 h") == 1
    assert paragraph.count("$27–33") == 1
    assert "18.4–20.5 GiB" in paragraph


def test_a_candidate_without_price_needs_a_quote(make_report: MakeReport) -> None:
    bare = build_candidate(0, offer=None, cost_usd=None, cost_usd_per_hour=None, acquisition="buy")
    recommendation = build_recommendation(candidates=1)
    changed = type(recommendation)(
        verdict=recommendation.verdict,
        sentence="Ask for a quote.",
        constraints=recommendation.constraints,
        recommended=0,
        candidates=(bare,),
    )
    report = make_report(recommendation=changed)
    assert report.needs_quote == ("1 × NVIDIA L40S",)
    assert report.prices == ()
    cost = figure(report, "choice.purchase")
    assert cost.value is None
    assert "quote" in cost.missing


def test_unknown_figures_have_a_reason_and_no_value(make_report: MakeReport) -> None:
    report = make_report(gpus=0)
    everything = [one for group in (*report.evidence.groups, *report.appendix) for one in group.figures]
    everything += [*report.configuration, *report.requirement, *report.decision.key_figures]
    assert all((one.value is None) == bool(one.missing) for one in everything)
    assert figure(report, "figure.peak_allocated").missing == "The job ran on the CPU."
    by_key = {plot.key: plot for plot in report.evidence.plots}
    assert by_key["plot.power"].missing == "No GPU was seen in this session."
    assert by_key["plot.cpu"].lines


def test_a_failed_run_keeps_its_error_but_not_its_output(make_report: MakeReport) -> None:
    outcome = make_report(outcome=failed(), steps=10).evidence.outcome
    assert outcome is not None
    assert (outcome.kind, outcome.exit_status, outcome.error_type) == ("failed", 1, "FileNotFoundError")
    assert outcome.last_output == ()
    assert outcome.output_left_out


def test_nothing_recommended(make_report: MakeReport) -> None:
    report = make_report(recommendation=build_impossible())
    assert report.decision.confidence == "none"
    assert report.configuration == ()
    assert report.explanation is None
    assert report.decision.verdict == "impossible"


def test_findings_are_kept(make_report: MakeReport) -> None:
    finding = Finding(code="data", sentence="It waits.", evidence="41 of 100 ms.", remedy="Add workers.")
    assert make_report(footprint=build_footprint(findings=[finding])).evidence.findings == (finding,)


def test_many_gpus_share_one_line_and_one_group(make_report: MakeReport) -> None:
    report = make_report(gpus=64, steps=20)
    busy = next(plot for plot in report.evidence.plots if plot.key == "plot.utilization")
    assert [line.label for line in busy.lines] == ["64 GPUs: mean, lowest and highest"]
    assert [group.key for group in report.appendix] == ["group.session", "group.gpu:0–63"]


def test_hash_of_the_session_file(make_report: MakeReport) -> None:
    report = make_report()
    assert report.session.sha256 is not None
    assert len(report.session.sha256) == 64
    assert figure(report, "figure.sha256").value == report.session.sha256


def test_an_interrupted_session_says_so(make_report: MakeReport) -> None:
    notes = make_report(close=False).session.notes
    assert any("not closed" in note for note in notes)


def test_equal_input_gives_equal_reports(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = build_session(tmp_path_factory.mktemp("equal") / "run.gpuscope", steps=20)
    reports = []
    for _ in range(2):
        with SessionReader(path) as reader:
            report = build_report(reader, build_footprint(), build_recommendation())
        reports.append(to_json(report).replace(report.generated.encode(), b""))
    assert reports[0] == reports[1]


def test_unknown_language(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = build_session(tmp_path_factory.mktemp("language") / "run.gpuscope", steps=5)
    with SessionReader(path) as reader, pytest.raises(ReportError, match="'xx'"):
        build_report(reader, build_footprint(), build_recommendation(), language="xx")
