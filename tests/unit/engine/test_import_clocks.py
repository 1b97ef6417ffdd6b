"""Files of one run whose clocks do not agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.engine.import_files import import_files
from gpuscope.engine.session import open_session
from tests.unit.importers.pytorch_files import FOLDER, event, kernel, trace

SMI = "timestamp, index, name, utilization.gpu [%]\n" + "".join(
    f"2024/11/23 12:23:{second:02}.000, 0, NVIDIA A10, 50 %\n" for second in range(30)
)


def rank(number: int, start_us: float, **beside: object) -> bytes:
    """A trace of one rank: ten kernels within a second."""
    events = [kernel("k", start_us + 1e5 * index, 5e4, index) for index in range(10)]
    events += [event("cpu_op", "aten::mm", start_us, 1e5)]
    return trace(events, distributedInfo={"rank": number, "world_size": 2}, **beside)


def length_of(files: dict[str, bytes], folder: Path) -> tuple[float, list[str]]:
    """Seconds of the session that the files make, and the notes."""
    paths = []
    for name, data in files.items():
        (folder / name).write_bytes(data)
        paths.append(folder / name)
    readings = import_files(paths, folder / "out.gpuscope")
    notes = [note.sentence for reading in readings for note in reading.notes]
    with open_session(folder / "out.gpuscope") as reader:
        ends = [frame.monotonic_s for _, frame in reader.frames()]
    return max(ends), notes


def test_a_file_without_times_is_laid_where_the_others_begin(tmp_path: Path) -> None:
    summary = (FOLDER / "memory-summary-1.4-mb.txt").read_bytes()
    length_s, notes = length_of({"smi.csv": SMI.encode(), "summary.txt": summary}, tmp_path)
    assert length_s == pytest.approx(29, abs=1)
    assert any("laid where the other files begin" in note for note in notes)


def test_ranks_of_one_machine_stay_where_they_are(tmp_path: Path) -> None:
    length_s, notes = length_of({"0.json": rank(0, 5e9), "1.json": rank(1, 5e9 + 3e6)}, tmp_path)
    assert length_s == pytest.approx(4, abs=0.5)
    assert not any("laid" in note for note in notes)


def test_ranks_of_machines_that_were_started_days_apart_begin_together(tmp_path: Path) -> None:
    length_s, notes = length_of({"0.json": rank(0, 5e9), "1.json": rank(1, 9e12)}, tmp_path)
    assert length_s == pytest.approx(1, abs=0.2)
    assert any("another machine's" in note for note in notes)


@pytest.mark.parametrize("base", [1735632360 * 10**9, 1735632360 * 10**6, 1735632360 * 10**3, 1735632360])
def test_a_base_in_another_unit(base: int, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(rank(0, 1e6, baseTimeNanoseconds=base))
    import_files([file], tmp_path / "out.gpuscope")
    with open_session(tmp_path / "out.gpuscope") as reader:
        assert reader.manifest.created_wall_s == pytest.approx(1735632361, abs=1)


@pytest.mark.parametrize("base", [0, -5, 2**70, "soon", None, True, 1e300])
def test_a_base_that_makes_no_sense_is_none(base: object, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(rank(0, 1e6, baseTimeNanoseconds=base))
    import_files([file], tmp_path / "out.gpuscope")
    with open_session(tmp_path / "out.gpuscope") as reader:
        assert reader.manifest.created_wall_s == pytest.approx(1, abs=0.5)


def test_a_base_beside_times_that_are_since_1970_already_is_not_added(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(rank(0, 1.735e15, baseTimeNanoseconds=1735632360 * 10**9))
    import_files([file], tmp_path / "out.gpuscope")
    with open_session(tmp_path / "out.gpuscope") as reader:
        assert reader.manifest.created_wall_s == pytest.approx(1.735e9, abs=1)
