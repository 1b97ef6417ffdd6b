"""Figures from steps and samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.domain.series import Series, Timeline
from gpuscope.engine import measures


def test_median_and_its_interval() -> None:
    time = measures.step_time([0.1] * 50 + [0.2] * 51)
    assert time.p50 == 0.2
    assert time.low == 0.1, "the interval of the median reaches the other half"
    assert time.high == 0.2
    assert measures.step_time([]).p50 is None


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=300))
def test_the_interval_holds_the_median(durations: list[float]) -> None:
    time = measures.step_time(durations)
    assert time.low is not None
    assert time.mid is not None
    assert time.high is not None
    assert min(durations) <= time.low <= time.mid <= time.high <= max(durations)


@pytest.mark.parametrize(("count", "left_out"), [(0, 0), (1, 0), (2, 1), (10, 1), (50, 5), (1000, 10)])
def test_warm_up(count: int, left_out: int) -> None:
    assert measures.warm_up_steps(count) == left_out


def timeline(power: list[float], energy: list[float | None]) -> Timeline:
    frames = [
        Frame(monotonic_s=float(t), wall_s=0.0, gpus=(GpuSample(uuid="G", power_w=p, energy_j=e),))
        for t, (p, e) in enumerate(zip(power, energy, strict=True))
    ]
    return Timeline().extend(frames)


def test_energy_comes_from_the_counter() -> None:
    energy, how = measures.energy(timeline([999.0] * 5, [100.0, 150.0, 200.0, 250.0, 300.0]), ["G"], 0, 4, 20)
    assert energy.per_step_j == pytest.approx(10)
    assert energy.mean_power_w == pytest.approx(50)
    assert "counter" in how


def test_energy_between_the_readings_stands_for_the_whole_part() -> None:
    """The counter is read once a second: in a part of 3 s its readings span 2 s."""
    energy, _ = measures.energy(timeline([999.0] * 5, [100.0, 150.0, 200.0, 250.0, 300.0]), ["G"], 0.5, 3.5, 10)
    assert energy.mean_power_w == pytest.approx(50)
    assert energy.per_step_j == pytest.approx(15)


def test_a_counter_that_started_anew_is_not_believed() -> None:
    energy, how = measures.energy(timeline([70.0] * 5, [100.0, 150.0, 0.0, 50.0, 300.0]), ["G"], 0, 4, 4)
    assert energy.mean_power_w == pytest.approx(70)
    assert "integrated" in how


def test_without_the_counter_power_is_integrated() -> None:
    energy, how = measures.energy(timeline([100.0] * 5, [None] * 5), ["G"], 0, 4, 4)
    assert energy.per_step_j == pytest.approx(100)
    assert "integrated" in how


def test_no_readings_are_unknown_not_zero() -> None:
    energy, _ = measures.energy(Timeline(), ["G"], 0, 4, 4)
    assert energy.per_step_j is None
    assert energy.mean_power_w is None


def test_spread_leaves_out_what_was_missing() -> None:
    series = Series(np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0, np.nan, 30.0, 99.0]))
    found = measures.spread(series, 0, 2)
    assert found is not None
    assert (found.mean, found.p50) == (20.0, 20.0)
    assert measures.spread(series, 0.5, 1.5) is None
