"""`torch.cuda.memory_summary()` and `memory_stats()` as printed."""

from __future__ import annotations

import json
import pprint
from collections import OrderedDict

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import FOLDER, allocators_of, read_case, sentences

MIB, KIB = 1024**2, 1024


def test_megabytes_of_torch_1_4_are_mebibytes() -> None:
    reading = read_case("memory-summary-1.4-mb.txt")
    (told,) = allocators_of(reading)
    assert (told.device, told.out_of_memory_count, told.retries) == (0, 1, 1)
    assert [size // MIB for size in told.totals["allocated_bytes.all"].values()] == [1062, 4877, 89299, 88237]
    assert told.totals["allocated_bytes.small_pool"]["current"] == 14 * MIB
    assert [size // MIB for size in told.totals["reserved_bytes.all"].values()] == [12420, 12420, 16924, 4504]
    found = sentences(reading, "finding")
    assert any("11358 MiB are reserved but not allocated" in sentence for sentence in found)
    assert any("ran out of memory once" in sentence for sentence in found)


def test_units_by_line_and_counts_without_unit() -> None:
    reading = read_case("memory-summary-2.x-kib-device-1.txt")
    (told,) = allocators_of(reading)
    assert (told.device, told.out_of_memory_count, told.retries) == (1, 0, 2)
    assert list(told.totals["allocated_bytes.all"].values()) == [674974720, 4676648960, 13043236864, 12367953920]
    assert (told.requested_bytes, told.reserved_bytes) == (670824448, 5368709120)
    assert list(told.totals["inactive_split_bytes.all"].values())[:3] == [12891136, 20971520, 6442450944]
    assert told.totals["allocation.all"] == {"current": 402, "peak": 611, "allocated": 3025, "freed": 2623}
    assert list(reading.tracks) == ["GPU 1"]


def test_tables_inside_a_log_are_a_series_of_each_device() -> None:
    table = (FOLDER / "memory-summary-2.x-kib-device-1.txt").read_text(encoding="utf-8")
    log = "\n".join(f"2024-01-01 12:00:00 INFO {line}" for line in table.splitlines())
    text = f"starting\n{log}\nloss 3.1\n{log.replace('4460 MiB', '1000 MiB').replace('659155', '700000')}\n"
    reading = read((text + log.replace("device ID 1", "device ID 3")).encode(), "x")
    assert {key: len(track.wall_s) for key, track in reading.tracks.items()} == {"GPU 1": 2, "GPU 3": 1}
    assert reading.tracks["GPU 1"].known("allocated_bytes") == [659155 * KIB, 700000 * KIB]
    peaks = [event.data["peak_allocated_bytes"] for event in reading.events]
    assert peaks == [4460 * MIB, 4460 * MIB]


def test_another_backend() -> None:
    table = (FOLDER / "memory-summary-2.x-kib-device-1.txt").read_text(encoding="utf-8")
    text = (
        table.replace("CUDA memory", "XPU memory").replace("cudaMalloc", "xpuMalloc").replace("CUDA OOMs", "XPU OOMs")
    )
    (told,) = allocators_of(read(text.encode(), "x"))
    assert (told.backend, told.retries) == ("XPU", 2)


@pytest.mark.parametrize("form", [pprint.pformat, repr, str])
def test_the_dict_of_memory_stats_printed_in_any_way(form: object) -> None:
    stats = OrderedDict(
        {
            "allocated_bytes.all.current": 512, "allocated_bytes.all.peak": 4096, "reserved_bytes.all.current": 2097152,
            "reserved_bytes.all.peak": 2097152, "num_ooms": 3, "num_alloc_retries": 0, "segment.all.current": 1,
        }
    )  # fmt: skip
    assert callable(form)
    for value in (stats, dict(stats)):
        (told,) = allocators_of(read(form(value).encode(), "x"))
        assert (told.allocated_bytes, told.peak_allocated_bytes, told.out_of_memory_count) == (512, 4096, 3)
        assert (told.segments, told.retries) == (1, 0)


def test_a_cut_table_says_so() -> None:
    text = (FOLDER / "memory-summary-1.4-mb.txt").read_text(encoding="utf-8")
    reading = read(text[: text.index("| GPU reserved")].encode(), "x")
    assert "was cut there" in sentences(reading, "lost")[0]
    assert allocators_of(reading)[0].reserved_bytes is None


def test_a_table_without_figures_is_refused() -> None:
    with pytest.raises(UsageError, match="no figures"):
        read(b"|  PyTorch CUDA memory summary, device ID 0  |\n", "x")


def test_statistics_as_nested_dicts() -> None:
    nested = {
        "allocated_bytes": {"all": {"current": 10, "peak": 2097152, "allocated": 20, "freed": 10},
                            "large_pool": {"current": 0, "peak": 0, "allocated": 0, "freed": 0}},
        "reserved_bytes": {"all": {"current": 5, "peak": 4194304, "allocated": 3, "freed": 2}},
        "num_ooms": 2,
    }  # fmt: skip
    for text in (json.dumps(nested), json.dumps(nested, indent=1), str(nested)):
        (told,) = allocators_of(read(text.encode(), "stats.json"))
        assert (told.peak_allocated_bytes, told.peak_reserved_bytes) == (2097152, 4194304)
        assert told.out_of_memory_count == 2
