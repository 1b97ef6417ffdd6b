"""Rings, decimation and histories keep what they must: order, extremes, gaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.ui.decimate import min_max
from gpuscope.ui.history import BLOCK_ROWS, FINE_ROWS, History
from gpuscope.ui.rings import Ring

VALUE = st.floats(-1e9, 1e9, width=32)
VALUE_OR_GAP = st.one_of(VALUE, st.just(float("nan")))


@given(st.integers(1, 40), st.lists(st.lists(VALUE, max_size=30), max_size=12))
def test_a_ring_holds_the_newest_rows_in_order(capacity: int, batches: list[list[float]]) -> None:
    ring = Ring(2, capacity)
    everything: list[float] = []
    for batch in batches:
        ring.extend([batch, [-value for value in batch]])
        everything += batch
        view = ring.view()
        assert view.shape == (2, min(capacity, len(everything)))
        assert view[0].tolist() == everything[-capacity:]
        assert view[1].tolist() == [-value for value in everything[-capacity:]]
        assert len(ring) == view.shape[1]


def test_a_ring_grows_to_its_capacity_and_no_further() -> None:
    ring = Ring(1, 1000)
    for start in range(0, 5000, 7):
        ring.extend([list(range(start, start + 7))])
    assert ring.view()[0].tolist() == list(range(5005 - 1000, 5005))


@given(st.lists(VALUE_OR_GAP, min_size=1, max_size=400), st.integers(1, 50))
def test_decimation_keeps_the_extremes_and_the_gaps_of_each_column(values: list[float], columns: int) -> None:
    t = np.arange(len(values), dtype=np.float64)
    data = np.asarray(values)
    start, end = 0.0, float(len(values))
    out_t, out = min_max(t, data, start, end, columns)
    assert len(out) <= max(len(values), 1) * 3
    assert len(out) <= max(3 * (columns + 2), 2 * columns)
    assert np.all(np.diff(out_t) >= 0)
    known, out_known = data[~np.isnan(data)], out[~np.isnan(out)]
    assert set(out_known) <= set(known)
    if len(known):
        assert out_known.min() == known.min()
        assert out_known.max() == known.max()
    assert np.isnan(data).any() == np.isnan(out).any()


def test_decimation_shows_a_single_spike_among_many() -> None:
    t = np.linspace(0, 100, 36_000)
    values = np.zeros_like(t)
    values[17_000] = 99.0
    out_t, out = min_max(t, values, 0, 100, 800)
    assert out.max() == 99.0
    assert abs(out_t[out.argmax()] - t[17_000]) < 100 / 800
    assert len(out) <= 3 * 802


def test_decimation_reaches_one_point_beyond_each_edge() -> None:
    t = np.arange(100.0)
    out_t, _ = min_max(t, t, 10.5, 20.5, 1000)
    assert out_t[0] == 10.0
    assert out_t[-1] == 21.0


def _history(times_s: list[float], values: list[float]) -> History:
    history = History(0.1)
    for t, value in zip(times_s, values, strict=True):
        history.extend([t], [value])
    return history


def test_a_history_breaks_at_a_hole_and_at_a_missing_value() -> None:
    times = [i * 0.1 for i in range(20)] + [5 + i * 0.1 for i in range(20)]
    values = [1.0] * 40
    values[30] = float("nan")
    t, shown = _history(times, values).between(0, 10)
    assert len(t) == 41
    assert np.flatnonzero(np.isnan(shown)).tolist() == [20, 31]
    assert 1.9 < t[20] < 5.0


def test_a_slow_figure_has_no_gaps_between_its_usual_readings() -> None:
    _, shown = _history([float(i) for i in range(30)], [2.0] * 30).between(0, 100)
    assert not np.isnan(shown).any()


def test_the_value_at_a_moment_is_the_last_one_before_it_unless_there_is_a_gap() -> None:
    times = [i * 0.1 for i in range(20)] + [5 + i * 0.1 for i in range(20)]
    history = _history(times, [float(i) for i in range(40)])
    assert history.at(0.55) == 5.0
    assert history.at(4.0) is None
    assert history.at(-1.0) is None
    assert history.at(7.0) == 39.0
    assert history.at(60.0) is None


def test_what_is_older_than_the_full_hour_stays_as_extremes() -> None:
    count = FINE_ROWS + 20_000
    t = np.arange(count) * 0.1
    values = np.sin(t / 50)
    values[1000] = 7.0
    history = History(0.1)
    for start in range(0, count, 500):
        history.extend(t[start : start + 500].tolist(), values[start : start + 500].tolist())
    shown_t, shown = history.between(0, count)
    assert shown_t[0] == 0.0
    assert np.all(np.diff(shown_t) >= 0)
    assert not np.isnan(shown).any()
    assert shown.max() == 7.0
    assert len(shown_t) < FINE_ROWS + 2 * 20_000 / BLOCK_ROWS + 100


def test_many_values_on_few_pixels_come_as_extremes_up_to_the_newest() -> None:
    count = 20_000
    t = np.arange(count) * 0.1
    values = np.sin(t / 50)
    values[[777, count - 1]] = 7.0, 8.0
    history = History(0.1)
    for start in range(0, count, 77):
        history.extend(t[start : start + 77].tolist(), values[start : start + 77].tolist())
    shown_t, shown = history.between(0, count, columns=100)
    assert len(shown_t) < count / 8
    assert np.all(np.diff(shown_t) >= 0)
    assert (shown_t[0], shown_t[-1]) == (0.0, t[-1])
    assert set(shown[shown > 6]) == {7.0, 8.0}
    assert np.abs(np.diff(np.unique(shown_t))).max() <= 0.1 * BLOCK_ROWS + 1e-9
    fine_t, _ = history.between(0, 100, columns=1000)
    assert len(fine_t) == 1001
