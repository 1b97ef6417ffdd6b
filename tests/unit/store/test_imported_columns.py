"""Readings that come by the device and by the hundred thousand: recordings of other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.store.block_rows import IMPORTED_ROWS
from gpuscope.store.reader import SessionReader
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, frame, manifest

NAN = float("nan")


def test_every_value_comes_back_with_its_state(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    t = np.arange(IMPORTED_ROWS + 1000, dtype=np.float64)
    power = np.round(300 + 50 * np.sin(t / 7), 3)
    power[10:20] = NAN
    used = 1024.0**3 + (t // 100) * 4096
    used[::2] = NAN
    writer.add_columns("GPU-1", t, {"power_w": power, "memory_used_bytes": used}, {"power_w": Reason.NO_DATA})
    writer.close()
    with SessionReader(path) as reader:
        timeline = reader.timeline()
        assert reader.last_frame_s() == timeline.end_s == t[-1]
        assert np.array_equal(timeline.get("GPU-1", "power_w").values, power, equal_nan=True)
        assert timeline.get("GPU-1", "memory_used_bytes").t.tolist() == t[1::2].tolist(), "never read is no gap"
        assert timeline.get("GPU-1", "memory_used_bytes").values.tolist() == used[1::2].tolist()
        assert timeline.reason("GPU-1", "power_w") is Reason.NO_DATA
        assert timeline.reason("GPU-1", "memory_used_bytes") is None
        frames = [found for _, found in reader.frames()]
        assert [found for _, found in reader.frames(after=15, limit=2)] == frames[15:17]
        assert reader.notes == []
    assert len(frames) == len(t)
    missing = GpuSample(uuid="GPU-1", memory_used_bytes=1024**3, unavailable={"power_w": Reason.NO_DATA})
    assert frames[11] == Frame(monotonic_s=ZERO + 11, wall_s=1.7e9 + 11, gpus=(missing,))


def test_devices_of_one_moment_are_one_frame_and_files_may_overlap(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    writer.add_columns("GPU-1", np.array([0.0, 2.0, 4.0]), {"power_w": np.array([1.0, 3.0, 5.0])}, {})
    writer.add_columns("GPU-2", np.array([2.0]), {"power_w": np.array([9.0])}, {})
    writer.add_columns("GPU-1", np.array([1.0, 2.0, 3.0]), {"power_w": np.array([2.0, 3.5, 4.0])}, {})
    writer.add_frame(frame(15))
    writer.close()
    with SessionReader(path) as reader:
        frames = [found for _, found in reader.frames()]
        series = reader.timeline().get("GPU-1", "power_w")
    times = [found.monotonic_s - ZERO for found in frames]
    assert times == [0.0, 1.0, 1.5, 2.0, 2.0, 3.0, 4.0]
    powers = [[(gpu.uuid, gpu.power_w) for gpu in found.gpus or ()] for found in frames]
    assert powers[3] == [("GPU-1", 3.0), ("GPU-2", 9.0)]
    assert powers[4] == [("GPU-1", 3.5)]
    assert series.t.tolist() == times
    assert series.values.tolist() == [1.0, 2.0, 115.0, 3.0, 3.5, 4.0, 5.0]


@pytest.mark.parametrize("times", [[1.0, 0.5], [0.0, NAN], [0.0, 1e300]])
def test_times_that_fall_or_are_none_are_refused(times: list[float], tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path / "a.gpuscope", manifest())
    with pytest.raises(ValueError, match="never fall"):
        writer.add_columns("GPU-1", np.array(times), {"power_w": np.zeros(2)}, {})
    writer.close()


def test_nothing_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    writer.add_columns("GPU-1", np.empty(0), {"power_w": np.empty(0)}, {})
    writer.close()
    with SessionReader(path) as reader:
        assert list(reader.frames()) == []
        assert len(reader.timeline().get("GPU-1", "power_w").t) == 0
