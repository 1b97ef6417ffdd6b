"""The past of a long session in the window: coarse at once, exact where somebody looks closely, gaps as gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.domain.series import Envelope, Series
from gpuscope.engine.follow import Follower
from gpuscope.store import compactor
from gpuscope.store.writer import SessionWriter
from gpuscope.ui.details import read_details
from gpuscope.ui.history import History
from gpuscope.ui.monitor_model import PLOTTED_FIELDS, MonitorModel
from gpuscope.ui.overview import Overview
from tests.unit.store.test_session_file import ZERO, manifest


def stretches(count: int) -> Envelope:
    start = np.arange(count) * 3.0
    low = np.arange(count, dtype=np.float64)
    return Envelope(start, start + 2.9, low, low + 0.5, low + 0.25, np.zeros(count, dtype=bool))


@given(st.integers(1, 3000), st.integers(1, 50), st.floats(0, 1), st.floats(0, 1))
def test_any_part_keeps_its_extremes_in_few_points(count: int, columns: int, one: float, other: float) -> None:
    envelope = stretches(count)
    start_s, end_s = sorted((one * 3 * count, other * 3 * count))
    t, values = Overview(envelope).between(start_s, end_s, columns)
    inside = (envelope.start_s >= start_s) & (envelope.start_s <= end_s)
    assert (np.diff(t) >= 0).all()
    assert len(t) <= 3 * (8 * columns + 3)
    if inside.any():
        assert np.nanmax(values) >= envelope.high[inside].max()
        assert np.nanmin(values) <= envelope.low[inside].min()


def test_holes_and_missing_values_are_gaps_at_every_step() -> None:
    envelope = stretches(2000)
    envelope.start_s[1000:] += 100
    envelope.end_s[1000:] += 100
    envelope.gap[500] = True
    for columns in (10_000, 100, 5):
        t, values = Overview(envelope).between(0, 7000, columns)
        holes = t[np.isnan(values)]
        assert len(holes) == 2, columns
        widest_s = {10_000: 3, 100: 24, 5: 292}[columns]
        assert 1500 <= holes[0] <= 1500 + widest_s
        assert 3000 - 3 <= holes[1] <= 3000 + widest_s


def test_details_take_the_place_of_stretches_only_where_they_are() -> None:
    overview = Overview(stretches(100))
    assert overview.is_coarse(30.0, 60.0, 500)
    assert not overview.is_coarse(0.0, 300.0, 50), "the pixels could show no more"
    assert overview.at(31.0) == 10.25, "the mean of its stretch"
    readings = Series(np.arange(150, 750) / 10, np.arange(150, 750) / 100)
    overview.take_detail((15.0, 75.0), readings)
    assert not overview.is_coarse(30.0, 60.0, 500)
    assert overview.at(31.0) == 3.1
    assert overview.between(30.0, 31.0, 500)[1].tolist() == pytest.approx((np.arange(299, 311) / 100).tolist())
    assert len(overview.between(0.0, 300.0, 500)[0]) == 200, "not for what is beyond them"


def test_a_history_goes_on_where_its_past_ends() -> None:
    history = History(0.1, Overview(stretches(100)))
    history.extend([300.0, 300.1, 300.2], [7.0, 8.0, 9.0])
    t, values = history.between(290.0, 301.0)
    assert t[-3:].tolist() == [300.0, 300.1, 300.2]
    assert not np.isnan(values).any(), "no hole between"
    assert history.at(300.15) == 8.0
    assert history.at(150.0) == 50.25
    late = History(0.1, Overview(stretches(100)))
    late.extend([400.0, 400.1], [7.0, 8.0])
    assert np.isnan(late.between(290.0, 401.0)[1]).any(), "nothing was recorded between"


@pytest.fixture
def long_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compactor, "BLOCK_ROWS", 90)
    monkeypatch.setattr(compactor, "JOURNAL_ROWS", 30)
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    for number in range(5000):
        gpu = GpuSample(uuid="G", power_w=float(number % 700), memory_used_bytes=number)
        writer.add_frame(Frame(monotonic_s=ZERO + number / 10, wall_s=0.0, gpus=(gpu,)))
    writer.close()
    return path


def test_the_model_shows_a_long_session_and_asks_for_what_the_pixels_could_show(long_session: Path) -> None:
    follower = Follower(long_session, PLOTTED_FIELDS)
    model = MonitorModel(follower.manifest)
    assert model.take(follower.poll())
    follower.close()
    assert model.end_s == pytest.approx(499.9)
    assert model.reading("G", "power_w").value == 4999 % 700
    t, values = model.between("G", "power_w", 0.0, 500.0, 100)
    assert (t[0], t[-1]) == (0.0, pytest.approx(499.9))
    assert (np.nanmin(values), np.nanmax(values)) == (0.0, 699.0)
    assert model.detail_wanted() is None
    model.between("G", "power_w", 100.0, 110.0, 800)
    read = model.detail_wanted()
    assert read is not None
    assert model.detail_wanted() is None, "asked for once"
    model.take_detail(read())
    t, values = model.between("G", "power_w", 100.0, 110.0, 800)
    assert values.tolist() == [float(number % 700) for number in range(999, 1101)]
    assert model.at("G", "power_w", 104.57) == 1045 % 700
    assert model.detail_wanted() is None


def test_a_session_that_is_gone_is_not_asked_again(long_session: Path) -> None:
    follower = Follower(long_session, PLOTTED_FIELDS)
    model = MonitorModel(follower.manifest)
    model.take(follower.poll())
    follower.close()
    model.between("G", "power_w", 100.0, 110.0, 800)
    long_session.unlink()
    read = model.detail_wanted()
    assert read is not None
    model.take_detail(read())
    t, _ = model.between("G", "power_w", 100.0, 110.0, 800)
    assert len(t) > 0
    assert model.detail_wanted() is None


def test_details_have_a_margin_for_the_next_step_aside(long_session: Path) -> None:
    details = read_details(long_session, (100.0, 110.0), frozenset({("G", "power_w")}))
    assert details.span == (95.0, 115.0)
    assert details.readings["G", "power_w"].t == pytest.approx(np.arange(950, 1151) / 10)
