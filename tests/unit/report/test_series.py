"""Decimation for plots: no peak is lost, no gap is bridged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.series import EMPTY, Series
from gpuscope.report.series import COLUMNS, plot_line


def evenly(values: list[float], step_s: float = 0.1) -> Series:
    return Series(np.arange(len(values)) * step_s, np.asarray(values, dtype=np.float64))


def test_few_readings_are_kept_as_they_are() -> None:
    line = plot_line("x", [evenly([1.0, 5.0, 2.0])], 0.0, 0.2)
    assert line is not None
    assert line.mean == line.low == line.high == (1.0, 5.0, 2.0)


def test_missing_readings_cut_the_line() -> None:
    line = plot_line("x", [evenly([1.0, float("nan"), 3.0])], 0.0, 0.2)
    assert line is not None
    assert line.mean == (1.0, None, 3.0)


def test_a_long_pause_cuts_the_line_and_jitter_does_not() -> None:
    times = np.array([0.0, 0.1, 0.25, 0.35, 2.0, 2.1])
    line = plot_line("x", [Series(times, np.ones(6))], 0.0, 2.1)
    assert line is not None
    assert line.mean.count(None) == 1
    assert line.mean[4] is None


def test_no_reading_gives_no_line() -> None:
    assert plot_line("x", [EMPTY], 0.0, 1.0) is None
    assert plot_line("x", [evenly([float("nan")] * 3)], 0.0, 1.0) is None


def test_several_devices_give_lowest_mean_and_highest() -> None:
    line = plot_line("x", [evenly([1.0, 1.0]), evenly([3.0, float("nan")])], 0.0, 0.1)
    assert line is not None
    assert (line.low, line.mean, line.high) == ((1.0, 1.0), (2.0, 1.0), (3.0, 1.0))


@given(st.lists(st.floats(0, 1e6, allow_nan=False, width=32), min_size=1, max_size=3000))
def test_extremes_survive(values: list[float]) -> None:
    line = plot_line("x", [evenly(values)], 0.0, len(values) * 0.1)
    assert line is not None
    assert len(line.t_s) <= COLUMNS + 1
    assert max(high for high in line.high if high is not None) == pytest.approx(max(values), rel=1e-5)
    assert min(low for low in line.low if low is not None) == pytest.approx(min(values), rel=1e-5)
    assert list(line.t_s) == sorted(line.t_s)
