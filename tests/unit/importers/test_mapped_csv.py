"""Tables that nobody knows: the guess, the person's word, and the memory of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.engine.import_files import read_file
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import mib, only

TWO_GPUS = (
    "time,gpu0_util,gpu0_mem_used_mb,gpu1_util,gpu1_mem_used_mb,cpu\n"
    "2024-01-02 10:00:00,5,100,6,200,7\n2024-01-02 10:00:01,50,1000,60,2000,7\n"
)
OWN = "step_no,busy,held\n1,12,3000000000\n2,13,3100000000\n"


def test_the_guess_tells_gpus_figures_units_and_the_time() -> None:
    reading = read(TWO_GPUS.encode(), "x")
    first, second = reading.tracks.values()
    assert first.known("utilization_gpu_percent") == [5, 50]
    assert mib(second, "memory_used_bytes") == [200, 2000]
    assert first.wall_s[1] - first.wall_s[0] == 1
    assert "cpu" not in reading.notes[0].sentence
    assert "have to be checked" in reading.notes[0].sentence


def test_gigabytes_seconds_and_other_columns() -> None:
    text = "elapsed_s,GPU Utilization (%),VRAM (GB),Power (W),loss\n0.5,12,3.5,100,2.3\n1.5,13,3.6,110,2.1\n"
    track = only(read(text.encode(), "x"))
    assert mib(track, "memory_used_bytes") == pytest.approx([3584, 3686.4])
    assert track.known("power_w") == [100, 110]
    assert list(track.wall_s) == [0.5, 1.5]
    assert set(track.columns) == {"utilization_gpu_percent", "memory_used_bytes", "power_w"}


def test_the_persons_word_goes_before_the_guess_and_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    table = tmp_path / "own.csv"
    table.write_text(OWN, encoding="utf-8")
    said = {"busy": "utilization_gpu_percent", "held": "memory_used_bytes", "step_no": "ignore"}
    first = only(read_file(table, said))
    again = only(read_file(table))
    for track in (first, again):
        assert track.known("utilization_gpu_percent") == [12, 13]
        assert track.known("memory_used_bytes") == [3000000000, 3100000000]


def test_wrong_mappings_are_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="has no column 'x': it has step_no, busy, held"):
        read(OWN.encode(), "own.csv", {"x": "power_w"})
    with pytest.raises(UsageError, match="'speed' is nothing that a column can be"):
        read(OWN.encode(), "own.csv", {"busy": "speed"})
    with pytest.raises(UsageError, match="--map COLUMN=FIELD"):
        read(b"a,b\n1,2\n", "own.csv", {"a": "ignore"})


def test_a_table_without_figures_of_a_gpu_is_of_no_kind() -> None:
    with pytest.raises(UsageError, match="no kind that gpuscope reads"):
        read(b"name,city\nx,y\n", "people.csv")
