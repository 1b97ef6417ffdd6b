"""Logs of `nvidia-smi --query-gpu` as people have them: every value, every device, and what is said about the rest."""

from __future__ import annotations

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import codes, mib, only, read_case

HEADER = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n"


def test_two_interleaved_gpus_are_two_series_a_second_apart() -> None:
    reading = read_case("two-gpu-interleaved.csv")
    assert reading.rows == 12
    assert [track.device.index for track in reading.tracks.values()] == [0, 1]
    first, second = reading.tracks.values()
    assert first.device.name == "NVIDIA RTX A6000"
    assert first.known("utilization_gpu_percent") == [92, 95, 86, 100, 97, 93]
    assert first.known("utilization_memory_percent") == [73, 80, 37, 100, 82, 69]
    assert mib(first, "memory_free_bytes") == [23498] * 6
    assert mib(second, "memory_used_bytes") == [15] * 6
    assert first.wall_s[1] - first.wall_s[0] == pytest.approx(1.0, abs=0.05)
    assert not reading.zone_known


def test_a_header_before_every_row_is_no_row() -> None:
    track = only(read_case("header-every-sample.csv"))
    assert track.known("utilization_gpu_percent") == [22, 24, 29, 28, 20]
    assert mib(track, "memory_used_bytes") == [841, 869, 865, 865, 865]
    assert track.device.pci_bus_id == "00000000:01:00.0"
    assert track.device.memory_total_bytes == 8192 * 1024**2


def test_rows_that_name_no_gpu_are_told_apart_by_their_place_and_that_is_said() -> None:
    reading = read_case("headerless-four-gpus-no-index.csv")
    assert [track.known("column 3") for track in reading.tracks.values()] == [
        [11409] * 3, [10851] * 3, [10911] * 3, [13325] * 3,
    ]  # fmt: skip
    assert codes(reading) == ["assumed", "assumed"]


def test_a_row_that_was_cut_is_left_out_and_that_is_said() -> None:
    reading = read_case("last-row-cut.csv")
    assert mib(only(reading), "memory_used_bytes") == [1129, 1123, 1121, 17304, 17304]
    assert [(note.code, note.line) for note in reading.notes] == [("lost", 7)]


def test_a_cut_within_the_last_cell_is_seen_by_its_missing_unit() -> None:
    reading = read(
        f"{HEADER}2026/01/03 15:36:53.507, 0, 1 %, 1129 MiB\n2026/01/03 15:36:54.507, 0, 1 %, 11".encode(), "x"
    )
    assert mib(only(reading), "memory_used_bytes") == [1129]
    assert codes(reading) == ["lost"]


def test_mig_mode_has_no_utilisation_and_is_not_idle() -> None:
    reading = read_case("mig-h100-util-na.csv")
    track = only(reading)
    assert track.known("utilization_gpu_percent") == [None, None]
    assert track.reasons["utilization_gpu_percent"] is Reason.MIG_MODE
    assert track.known("power_w") == [71.15, 433.78]
    assert track.known("power_instant_w") == [70.72, 447.35]
    assert mib(track, "memory_reserved_bytes") == [479, 479]
    assert track.known("clock_event_reasons") == [1, 0]
    assert (track.device.mig_enabled, track.device.compute_capability) == (True, "9.0")
    assert "cannot be judged" in reading.notes[0].sentence


def test_error_sentences_between_rows_are_events_and_not_zeros() -> None:
    reading = read_case("nvml-error-between-rows.csv")
    track = only(reading)
    assert track.known("power_w") == [22.89, 22.73, 22.73, 23.0, 23.0, 23.0]
    assert track.wall_s[1] - track.wall_s[0] == pytest.approx(0.05, abs=0.001)
    (note,) = reading.notes
    assert (note.code, note.count, note.line) == ("driver_error", 2, 5)
    assert "Unknown Error" in note.sentence


def test_semicolons_decimal_commas_and_days_first() -> None:
    track = only(read_case("semicolon-decimal-comma.csv"))
    assert track.known("power_w") == [33.09, 33.14, 71.06]
    assert mib(track, "memory_used_bytes") == [1129, 1123, 17304]
    assert [second - track.wall_s[0] for second in track.wall_s] == [0, 1, 3]
    assert track.wall_s[0] == 1767454613  # 2026-01-03 15:36:53, taken as it stands


def test_old_names_of_clock_event_reasons() -> None:
    track = only(read_case("throttle-mask-old-names.csv"))
    assert track.known("clock_event_reasons") == [4, 0]
    assert track.known("power_instant_w") == [39.32, 111.5]
    assert track.known("performance_state") == [8, 2]
    assert track.device.pcie_generation_max == 3


def test_flags_make_the_mask_where_there_is_none() -> None:
    text = (
        "timestamp, clocks_event_reasons.gpu_idle, clocks_event_reasons.hw_slowdown, power.draw [W]\n"
        "2026/01/01 00:00:00.000, Not Active, Active, 10.00 W\n"
    )
    assert only(read(text.encode(), "x")).known("clock_event_reasons") == [8]


def test_an_error_in_one_field_is_no_number() -> None:
    reading = read_case("unknown-error-field.csv")
    track = only(reading)
    assert track.known("power_w") == [228.82]
    assert track.known("power.default_limit") == [None]
    assert track.reasons["power.default_limit"] is Reason.UNKNOWN_ERROR
    assert codes(reading) == ["missing", "contradiction"]
    assert "109%" in reading.notes[1].sentence


def test_utf16_of_powershell() -> None:
    reading = read_case("utf16le-bom-powershell.csv")
    track = only(reading)
    assert track.device.name == "Tesla V100S-PCIE-32GB"
    assert track.known("utilization_gpu_percent") == [0, 0, 28, 28, 29, 29, 28]
    assert codes(reading) == ["encoding"]


def test_utf16_without_a_mark_and_runs_of_nul() -> None:
    text = HEADER + "2026/01/03 15:36:53.507, 0, 7 %, 1129 MiB\n"
    for data in (text.encode("utf-16-le"), text.encode("utf-16-be"), text.encode() + b"\0" * 4000):
        assert only(read(data, "x")).known("utilization_gpu_percent") == [7]


@pytest.mark.parametrize("cell", ["[N/A]", "N/A", "[Not Supported]", "", "9223372036854775807", "4294967295"])
def test_what_is_not_there_is_missing_and_never_zero(cell: str) -> None:
    track = only(read(f"{HEADER}2026/01/03 15:36:53.507, 0, {cell}, 1129 MiB\n".encode(), "x"))
    assert track.known("utilization_gpu_percent") == [None]
    assert "utilization_gpu_percent" in track.reasons


def test_rows_of_another_width_are_left_out_and_counted() -> None:
    rows = (
        "2026/01/03 15:36:53.507, 0, 1 %, 1129 MiB\nsomething else, entirely\n\n2026/01/03 15:36:54.5, 0, 2 %, 5 MiB\n"
    )
    reading = read((HEADER + rows).encode(), "x")
    assert only(reading).known("utilization_gpu_percent") == [1, 2]
    assert [(note.code, note.line, note.count) for note in reading.notes] == [("lost", 3, 1)]


def test_a_line_of_many_megabytes_is_left_out() -> None:
    reading = read((HEADER + "x" * 3_000_000 + "\n2026/01/03 15:36:53.507, 0, 1 %, 1129 MiB\n").encode(), "x")
    assert reading.rows == 1
    assert codes(reading) == ["lost"]


def test_terminal_escapes_do_not_come_through() -> None:
    text = "timestamp, name, power.draw [W]\n2026/01/01 00:00:00.000, \x1b]0;title\x07Tesla \x1b[31mT4, 10.00 W\n"
    assert only(read(text.encode(), "x")).device.name == "Tesla T4"


def test_other_files_are_refused_with_what_is_read() -> None:
    with pytest.raises(UsageError, match=r"no kind that gpuscope reads\. It reads: nvidia-smi"):
        read(b"a,b\n1,2\n", "table.csv")
    with pytest.raises(UsageError, match="explain-oom"):
        read(b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "job.log")
