"""The text catalogue covers what reports ask of it, and numbers read well."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Verdict
from gpuscope.report.axes import Scale, plot_unit, round_up, ticks
from gpuscope.report.format import figure_text, number, significant, spread
from gpuscope.report.model import Figure, Report
from gpuscope.report.text import ENGLISH, Texts

MakeReport = Callable[..., Report]


def test_every_key_of_a_report_has_a_text(make_report: MakeReport) -> None:
    report = make_report(steps=20)
    groups = [*report.evidence.groups, *report.appendix]
    keys = {figure.key for group in groups for figure in group.figures}
    keys |= {figure.key for figure in (*report.requirement, *report.configuration, *report.decision.key_figures)}
    keys |= {part.key for part in report.evidence.breakdown}
    keys |= {plot.key for plot in report.evidence.plots} | {phase.key for phase in report.evidence.phases}
    keys |= {group.key.partition(":")[0] for group in groups}
    assert not keys - set(ENGLISH)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_text(verdict: Verdict) -> None:
    assert f"verdict.{verdict}" in ENGLISH


def test_codes_of_newer_versions_have_a_stand_in() -> None:
    assert Texts().or_else("rejected.something_new", "Other reasons") == "Other reasons"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234567, "count", "1,234,567"),
        (0.5, "count", "0.5"),
        (48 * 1024**3, "bytes", "48 GiB"),
        (88.123, "percent", "88.1%"),
        (0.00000012, "j", "0.00000012 J"),
        (5120, "samples/s", "5,120 samples/s"),
        (2.5, "usd_per_hour", "$2.50/h"),
    ],
)
def test_numbers(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


def test_ranges_have_their_unit_once() -> None:
    assert spread(Range(low=9, mid=10, high=12), "kwh") == "9–12 kWh"
    assert spread(Range(low=0.5 * 1024**3, mid=1024**3, high=2 * 1024**3), "bytes") == "512 MiB – 2 GiB"
    assert spread(Range.exact(10.0), "kwh") == "10 kWh"


def test_unknown_and_yes() -> None:
    assert figure_text(Figure(key="x", missing="why")) == "–"
    assert figure_text(Figure(key="x", value=True)) == "yes"
    assert figure_text(Figure(key="x", value=0, unit="count")) == "0"


def test_significant() -> None:
    assert [significant(value) for value in (0, 0.125, 41.27, 1240.4, 0.00012)] == [
        "0",
        "0.125",
        "41.3",
        "1,240",
        "0.00012",
    ]


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0, 100, 4) == [0, 25, 50, 75, 100]
    assert ticks(0, 23.4, 8) == pytest.approx([0, 5, 10, 15, 20])
    assert round_up(47) == 50
    assert round_up(0) == 1


def test_units_of_axes() -> None:
    assert plot_unit("s", 4 * 86400).label == "d"
    assert plot_unit("s", 50 * 3600).label == "h"
    assert plot_unit("bytes", 3 * 1024**3).label == "GiB"
    assert plot_unit("s_per_step", 0.1).label == "ms"


def test_scales() -> None:
    linear = Scale(0, 10, 100, 200)
    assert [linear(value) for value in (-1, 0, 5, 10, 11)] == [100, 100, 150, 200, 200]
    logarithmic = Scale(1, 100, 0, 100, logarithmic=True)
    assert logarithmic(10) == pytest.approx(50)
    assert logarithmic.ticks(10) == pytest.approx([1, 2, 5, 10, 20, 50, 100])
