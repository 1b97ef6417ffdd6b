"""Any stretch of a long recording in as many entries as are wanted: extremes and gaps are never lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.domain.series import Envelope
from gpuscope.store import compactor
from gpuscope.store.level_reading import level_for
from gpuscope.store.reader import SessionReader
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, manifest

COUNT = 30_000
SPIKE_AT, MISSING_AT, HOLE_AFTER = 12_345, 21_000, 25_000


def value_at(number: int) -> float | None:
    if MISSING_AT <= number < MISSING_AT + 5:
        return None
    return 999.0 if number == SPIKE_AT else float(number % 100)


def time_at(number: int) -> float:
    return number / 10 + (60.0 if number > HOLE_AFTER else 0.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifty minutes in small blocks, so that there are three levels."""
    path = tmp_path_factory.mktemp("levels") / "a.gpuscope"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compactor, "BLOCK_ROWS", 90)
        patch.setattr(compactor, "JOURNAL_ROWS", 30)
        writer = SessionWriter.create(path, manifest())
        for number in range(COUNT):
            power = value_at(number)
            missing = {} if power is not None else {"power_w": Reason.TIMEOUT}
            gpu = GpuSample(uuid="G", power_w=power, unavailable=missing)
            writer.add_frame(Frame(monotonic_s=ZERO + time_at(number), wall_s=0.0, gpus=(gpu,)))
            if number % 50 == 0:
                writer.commit()
                while writer.compact():
                    pass
        writer.commit()
        writer.abandon()  # the newest frames are still rows
    return path


def whole(envelope: Envelope) -> tuple[float, float]:
    return float(np.nanmin(envelope.low)), float(np.nanmax(envelope.high))


@pytest.mark.parametrize("points", [1, 10, 30, 100, 900, 5000, 10**9])
def test_every_level_covers_everything(recording: Path, points: int) -> None:
    with SessionReader(recording) as reader:
        envelope = reader.series("G", "power_w", -1.0, 10_000.0, points)
    assert whole(envelope) == (0.0, 999.0)
    assert envelope.start_s[0] == 0.0
    assert envelope.end_s[-1] == pytest.approx(time_at(COUNT - 1))
    assert (np.diff(envelope.start_s) > 0).all(), "each once and in order"
    assert (envelope.start_s[1:] >= envelope.end_s[:-1]).all()
    assert len(envelope) >= min(points, COUNT)
    assert len(envelope) < max(40 * points, 400)
    spike = int(np.nanargmax(envelope.high))
    assert envelope.start_s[spike] <= time_at(SPIKE_AT) <= envelope.end_s[spike]


@pytest.mark.parametrize("points", [30, 900, 10**9])
def test_a_missing_value_and_a_hole_are_gaps(recording: Path, points: int) -> None:
    with SessionReader(recording) as reader:
        envelope = reader.series("G", "power_w", 0.0, 10_000.0, points)
    missing = np.searchsorted(envelope.start_s, time_at(MISSING_AT), side="right") - 1
    assert envelope.gap[missing]
    starts, ends = envelope.start_s[1:], envelope.end_s[:-1]
    inside = (envelope.start_s < time_at(HOLE_AFTER) + 1) & (envelope.end_s > time_at(HOLE_AFTER) + 59)
    assert (starts - ends).max() > 59 or envelope.gap[inside].any()
    assert envelope.gap.sum() < 40


def test_a_part_is_only_that_part(recording: Path) -> None:
    with SessionReader(recording) as reader:
        envelope = reader.series("G", "power_w", 100.0, 200.0, 20)
        assert 100.0 <= envelope.start_s[0] < 104.0
        assert 196.0 < envelope.end_s[-1] <= 203.0
        readings = reader.readings("G", "power_w", 100.0, 101.0)
    assert readings.t == pytest.approx(np.arange(1000, 1011) / 10)
    assert readings.values.tolist() == [float(number % 100) for number in range(1000, 1011)]


def test_few_rows_are_read_for_the_whole(recording: Path) -> None:
    with SessionReader(recording) as reader:
        assert reader._past is not None
        found = reader._past._levels.levels("G", frozenset({"power_w"}), 2, -np.inf, np.inf)
    assert found is not None
    assert len(found) <= COUNT / 900 + 2 * 90


def test_what_nobody_read_is_empty(recording: Path) -> None:
    with SessionReader(recording) as reader:
        assert len(reader.series("G", "fan_percent", 0.0, 1000.0, 10)) == 0
        assert len(reader.series("none", "power_w", 0.0, 1000.0, 10)) == 0
        assert reader.notes == ["The session was not closed: its writer ended early, the last second may be missing."]


def test_the_level_has_at_least_the_entries_that_are_wanted() -> None:
    assert [level_for(readings, 100) for readings in (0, 99, 2999, 3000, 89_999, 90_000)] == [0, 0, 0, 1, 1, 2]


def test_the_past_ends_where_the_frames_begin(recording: Path) -> None:
    with SessionReader(recording) as reader:
        found = reader.past({"power_w"})
        assert found is not None
        past, number = found
        first = next(reader.recorded_frames(number))
    assert first[0] == number + 1
    assert first[1].monotonic_s - ZERO == pytest.approx(past.end_s)
    curve = past.curves["G", "power_w"]
    assert curve.end_s[-1] < past.end_s < curve.end_s[-1] + 0.2
    assert whole(curve) == (0.0, 999.0)
    assert past.newest["G", "power_w"].value == float(int(past.newest["G", "power_w"].t * 10 + 0.5 - 600) % 100)
