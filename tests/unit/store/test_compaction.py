"""Long recordings become blocks of columns while they grow: the same frames come back, each once and in order."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import (
    DiskSample,
    Frame,
    GpuSample,
    HostSample,
    ProcessSample,
    SamplerSample,
    SourceState,
)
from gpuscope.domain.series import Timeline
from gpuscope.errors import SessionError
from gpuscope.store import compactor
from gpuscope.store.compactor import BLOCK_ROWS, JOURNAL_ROWS
from gpuscope.store.levels import MEAN_STEPS, coarser, decode_levels, encode_levels, joined, level_zero
from gpuscope.store.reader import SessionReader
from gpuscope.store.stored_frames import StoredFrames
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, frame, manifest


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks after a few frames, so that tests need no thousands of them."""
    monkeypatch.setattr(compactor, "BLOCK_ROWS", 40)
    monkeypatch.setattr(compactor, "JOURNAL_ROWS", 20)
    monkeypatch.setattr(compactor, "ROWS_A_STEP", 15)


def milliseconds(numbers: st.SearchStrategy[int]) -> st.SearchStrategy[float]:
    return numbers.map(lambda number: number / 1000)


NUMBERS = st.integers(-(10**9), 10**12)
PERCENTS = st.integers(0, 10_000).map(lambda number: number / 100)
REASONS = st.dictionaries(
    st.sampled_from(["fan_percent", "power_w", "processes", "cpu_percent"]), st.sampled_from(list(Reason)), max_size=3
)
PROCESSES = st.none() | st.lists(
    st.builds(ProcessSample, pid=st.integers(1, 99), name=st.none() | st.text(max_size=3)), max_size=2
).map(tuple)
GPUS = st.builds(
    GpuSample,
    uuid=st.sampled_from(["GPU-1", "GPU-2", "GPU-3"]),
    power_w=st.none() | milliseconds(NUMBERS),
    memory_used_bytes=st.none() | NUMBERS | st.just(2**63),
    clock_event_reasons=st.none() | st.integers(0, 511),
    read_start_s=st.none() | st.integers(0, 10**15).map(lambda number: number / 1_000_000),
    processes=PROCESSES,
    unavailable=REASONS,
)
HOSTS = st.builds(
    HostSample,
    cpu_percent=st.none() | PERCENTS,
    cpu_percent_per_core=st.none() | st.lists(PERCENTS, max_size=3).map(tuple),
    load_1min=st.none() | st.floats(allow_nan=False),
    disks=st.lists(st.builds(DiskSample, name=st.text(max_size=3), read_bytes_per_s=st.none()), max_size=2).map(tuple),
    unavailable=REASONS,
)
FRAMES = st.builds(
    Frame,
    monotonic_s=st.integers(0, 10**15).map(lambda number: number / 1_000_000),
    wall_s=st.integers(0, 10**15).map(lambda number: number / 1_000_000),
    gpus=st.none() | st.lists(GPUS, max_size=3).map(tuple),
    host=st.none() | HOSTS,
    sampler=st.none() | st.builds(SamplerSample, missed_ticks=st.integers(0, 9)),
    devices=st.none() | st.just((Device(uuid="GPU-1", index=0, name="L4"),)),
    states=st.none() | st.just((SourceState(source="nvml", ok=False, code="wedged"),)),
)


@settings(max_examples=60, deadline=None)
@given(frames=st.lists(FRAMES, min_size=1, max_size=30))
def test_any_frames_come_back_from_a_block(frames: list[Frame], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    for each in frames:
        writer.add_frame(each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compactor, "BLOCK_ROWS", 20)
        writer._compactor = compactor.Compactor(writer._connection, manifest())
        writer._compactor._block_rows = 1
        writer.close()
    with SessionReader(path) as reader:
        assert [each for _, each in reader.frames()] == frames
        assert reader.notes == []
        assert rows_of(reader) == 0, "all of them are in blocks"


def rows_of(reader: SessionReader) -> int:
    return len(list(reader._frames.rows()))


def rich_frame(number: int) -> Frame:
    """Figures of all rates and kinds, as the sampler sends them."""
    generator = random.Random(number)
    missing = {"fan_percent": Reason.NOT_SUPPORTED} | ({"power_w": Reason.TIMEOUT} if number % 50 < 5 else {})
    gpus = tuple(
        GpuSample(
            uuid=f"GPU-{index}",
            utilization_gpu_percent=float(generator.randint(0, 100)),
            power_w=None if "power_w" in missing else generator.randint(100_000, 700_000) / 1000,
            energy_j=number * 12.5 if number % 10 == 0 else None,
            processes=(ProcessSample(pid=7, gpu_memory_bytes=number),) if number % 20 == 0 else None,
            unavailable=missing,
        )
        for index in range(2)
    )
    host = HostSample(cpu_percent=generator.randint(0, 1000) / 10, cpu_percent_per_core=(1.5, 2.0, 99.9))
    return Frame(
        monotonic_s=ZERO + number / 10, wall_s=1.7e9 + number / 10, gpus=gpus, host=host if number % 10 == 0 else None
    )


def record(path: Path, count: int) -> SessionWriter:
    """A recording of rich frames, compacted as a supervisor does it."""
    writer = SessionWriter.create(path, manifest())
    for number in range(count):
        writer.add_frame(rich_frame(number))
        writer.commit()
        writer.compact()
    return writer


def test_a_long_recording_keeps_its_newest_minute_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    count = BLOCK_ROWS + JOURNAL_ROWS + 100
    writer = record(path, count)
    with SessionReader(path) as reader:
        assert JOURNAL_ROWS <= rows_of(reader) <= JOURNAL_ROWS + 100
        assert [each for _, each in reader.frames()] == [rich_frame(number) for number in range(count)]
        assert reader.last_frame_s() == pytest.approx((count - 1) / 10)
    writer.close()
    with SessionReader(path) as reader:
        assert rows_of(reader) == 0
        assert [each for _, each in reader.frames(after=1234)] == [rich_frame(n) for n in range(1234, count)]
        assert [number for number, _ in reader.frames(after=890, limit=20)] == list(range(891, 911))


@pytest.mark.usefixtures("small_blocks")
def test_the_timeline_is_the_same_whether_frames_are_rows_or_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    record(path, 333).close()
    direct = Timeline(ZERO).extend(rich_frame(number) for number in range(333))
    with SessionReader(path) as reader:
        stored = reader.timeline()
        for key, name in (
            ("GPU-1", "power_w"),
            ("GPU-0", "energy_j"),
            ("GPU-0", "fan_percent"),
            ("host", "cpu_percent"),
        ):
            one, other = direct.get(key, name), stored.get(key, name)
            assert one.t == pytest.approx(other.t, abs=1e-6)
            assert np.array_equal(one.values, other.values, equal_nan=True), (key, name)
            assert direct.reason(key, name) == stored.reason(key, name)
        assert stored.end_s == pytest.approx(direct.end_s)


@pytest.mark.usefixtures("small_blocks")
def test_a_follower_gets_every_frame_once_while_they_move(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    seen: list[int] = []
    generator = random.Random(3)
    with SessionReader(path) as reader:
        for number in range(600):
            writer.add_frame(rich_frame(number))
            writer.commit()
            writer.compact()
            if generator.random() < 0.05:
                seen += [
                    seq for seq, _ in reader.frames(after=seen[-1] if seen else 0, limit=generator.choice([7, -1]))
                ]
        writer.close()
        seen += [seq for seq, _ in reader.frames(after=seen[-1])]
    assert seen == list(range(1, 601))


@pytest.mark.usefixtures("small_blocks")
def test_frames_that_move_between_two_looks_are_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    for number in range(70):
        writer.add_frame(rich_frame(number))
    writer.commit()
    rows = StoredFrames.rows

    def moved_meanwhile(self: StoredFrames, after: int = 0, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        while writer.compact():
            pass
        return rows(self, after, limit)

    with SessionReader(path) as reader:
        monkeypatch.setattr(StoredFrames, "rows", moved_meanwhile)
        assert [number for number, _ in reader.frames()] == list(range(1, 71))
    writer.close()


@pytest.mark.usefixtures("small_blocks")
def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    path, copies = tmp_path / "a.gpuscope", tmp_path / "copies"
    copies.mkdir()
    writer = SessionWriter.create(path, manifest())
    checked = 0
    for number in range(400):
        writer.add_frame(rich_frame(number))
        writer.commit()
        busy = writer.compact()
        if busy or number % 40 == 0:
            killed = copies / "killed.gpuscope"
            for suffix in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(path.with_name(path.name + suffix), killed.with_name(killed.name + suffix))
            with SessionReader(killed) as reader:
                assert [seq for seq, _ in reader.frames()] == list(range(1, number + 2))
            checked += 1
            for file in copies.iterdir():
                file.unlink()
    writer.close()
    assert checked > 50


@pytest.mark.usefixtures("small_blocks")
def test_an_adopted_recording_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    record(path, 150).abandon()
    writer = SessionWriter.adopt(path)
    for number in range(150, 300):
        writer.add_frame(rich_frame(number))
        writer.commit()
        writer.compact()
    writer.close()
    with SessionReader(path) as reader:
        assert [each for _, each in reader.frames()] == [rich_frame(number) for number in range(300)]


@pytest.mark.usefixtures("small_blocks")
def test_a_frame_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    for number in range(100):
        writer.add_frame(rich_frame(number))
    writer._connection.execute("UPDATE frames SET data=x'ff' WHERE seq IN (10, 11, 77)")
    writer._connection.execute("DELETE FROM frames WHERE seq=30")
    writer.close()
    with SessionReader(path) as reader:
        found = [number for number, _ in reader.frames()]
    assert found == [number for number in range(1, 101) if number not in {10, 11, 30, 77}]


def test_what_was_recorded_stays_when_advice_is_added(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    record(path, BLOCK_ROWS + JOURNAL_ROWS + 60).close()
    before = fingerprint(path)
    writer = SessionWriter.adopt(path, finished=True)
    writer.put_document("recommendation", {"advice": 1})
    writer.close()
    assert fingerprint(path) == before
    with SessionReader(path) as reader:
        reader.save_copy(tmp_path / "copy.gpuscope")
    assert fingerprint(tmp_path / "copy.gpuscope") == before


def fingerprint(path: Path) -> str:
    with SessionReader(path) as reader:
        return reader.evidence_sha256()


@pytest.mark.usefixtures("small_blocks")
def test_a_ring_keeps_the_end_and_its_file_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, msgspec.structs.replace(manifest(), keep_s=20.0))
    sizes = []
    for number in range(3000):
        writer.add_frame(rich_frame(number))
        writer.commit()
        while writer.compact():
            pass
        if number % 100 == 99:
            sizes.append(writer._connection.execute("PRAGMA page_count").fetchone()[0])
    assert max(sizes[-10:]) <= 1.1 * max(sizes[5:15]), sizes
    writer.close()
    with SessionReader(path) as reader:
        frames = [each for _, each in reader.frames()]
        dropped = f"{(3000 - len(frames)) / 600:.2f} min"
        power = reader.timeline().get("GPU-0", "power_w")
        assert reader.notes == [f"Only about the last 20 s were to be kept (--keep): the first {dropped} were dropped."]
    kept = [rich_frame(number) for number in range(3000 - len(frames), 3000)]
    assert frames == kept
    assert 200 <= len(frames) <= 270
    assert power.t[0] == pytest.approx(kept[0].monotonic_s - ZERO)


VALUES = st.lists(st.none() | milliseconds(st.integers(-1000, 10**6)), min_size=1, max_size=200)


@settings(max_examples=60, deadline=None)
@given(values=VALUES, deflate=st.integers(1, 9))
def test_levels_agree_with_the_readings(values: list[float | None], deflate: int) -> None:
    from gpuscope.store.frame_columns import Splitter

    frames = [
        Frame(monotonic_s=number * 0.5, wall_s=0.0, gpus=(GpuSample(uuid="G", power_w=value, unavailable=missing),))
        for number, value in enumerate(values)
        for missing in [{} if value is not None else {"power_w": Reason.TIMEOUT}]
    ]
    columns = Splitter(frames).readings("G").columns
    t_us = np.arange(len(values)) * 500_000
    levels = decode_levels(encode_levels(coarser(level_zero(t_us, columns)), deflate))
    for entry in range(len(levels)):
        part = values[30 * entry : 30 * entry + 30]
        known = [value for value in part if value is not None]
        assert levels.rows[entry] == len(part)
        assert levels.known[0][entry] == len(known)
        assert levels.missing[0][entry] == len(part) - len(known)
        assert levels.start_us[entry] == 15_000_000 * entry
        if known:
            assert (levels.low[0][entry], levels.high[0][entry]) == (min(known), max(known))
            half_a_step = (max(known) - min(known)) / MEAN_STEPS / 2
            assert levels.mean[0][entry] == pytest.approx(sum(known) / len(known), abs=half_a_step + 1e-9)
        else:
            assert np.isnan([levels.low[0][entry], levels.high[0][entry], levels.mean[0][entry]]).all()


def test_a_level_of_a_level_is_the_level_of_all() -> None:
    values = np.random.default_rng(1).integers(0, 1000, 2700).astype(np.float64)
    from gpuscope.store.figures import PRESENT, Column

    columns = {"power_w": Column(np.full(2700, PRESENT, dtype=np.uint8), values)}
    t_us = np.arange(2700) * 100_000
    first = coarser(level_zero(t_us, columns))
    second = coarser(joined([first.part(0, 30), first.part(30, 60), first.part(60, 90)]))
    parts = values.reshape(3, 900)
    assert second.low[0].tolist() == parts.min(axis=1).tolist()
    assert second.high[0].tolist() == parts.max(axis=1).tolist()
    assert second.mean[0] == pytest.approx(parts.mean(axis=1))
    assert second.longest_us.tolist() == [100_000] * 3


def test_a_hole_is_seen_at_every_level() -> None:
    from gpuscope.store.figures import PRESENT, Column

    columns = {"power_w": Column(np.full(1800, PRESENT, dtype=np.uint8), np.ones(1800))}
    t_us = np.arange(1800) * 100_000
    t_us[1000:] += 7_000_000
    first = coarser(level_zero(t_us, columns))
    assert int(first.longest_us.max()) == 7_100_000
    assert coarser(first).longest_us.tolist() == [100_000, 7_100_000]


def test_an_ordinary_short_session_stays_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    for number in range(50):
        writer.add_frame(frame(number))
    writer.close()
    with SessionReader(path) as reader:
        assert rows_of(reader) == 50


@pytest.mark.usefixtures("small_blocks")
def test_a_disk_that_fills_up_ends_the_recording_with_a_sentence_and_the_file_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = record(path, 500)
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count={pages + 3}").fetchone()
    written = [500]
    with pytest.raises(SessionError, match="the disk is full"):
        _record_on(writer, written)
    writer.abandon()
    with SessionReader(path) as reader:
        assert [each for _, each in reader.frames()] == [rich_frame(number) for number in range(written[0])]


def _record_on(writer: SessionWriter, written: list[int]) -> None:
    while True:
        writer.add_frame(rich_frame(written[0]))
        writer.commit()
        written[0] += 1
        writer.compact()
