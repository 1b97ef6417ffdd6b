"""Tables of `nvidia-smi dmon` and `pmon`, and lists of processes: columns by their names, whatever the driver."""

from __future__ import annotations

import pytest

from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import FOLDER, codes, mib, only, read_case

APPS = "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"


def test_dmon_with_every_group_and_headings_that_come_again() -> None:
    reading = read_case("dmon-2016-all-groups-header-again.log")
    track = only(reading)
    assert reading.rows == 10
    assert track.known("power_w") == [15, 14, 13, 14, 49, 49, 49, 49, 49, 49]
    assert track.known("temperature_c") == [59, 59, 59, 59, 61, 61, 61, 61, 61, 60]
    assert track.known("clock_memory_mhz") == [405] * 4 + [4513] * 6
    assert track.known("clock_sm_mhz") == [27, 26, 26, 27, 1674, 1673, 1674, 1675, 1673, 1675]
    assert track.known("pviol") == [0, 100, 100, 100, 0, 0, 0, 0, 0, 0]
    assert mib(track, "memory_used_bytes") == [145] * 4 + [445] * 6
    assert track.known("sbecc") == [None] * 10
    assert track.known("pcie_rx_bytes_per_s")[-1] == 267e6
    assert codes(reading) == ["missing"]  # no time stamps


def test_new_columns_between_old_ones_shift_nothing() -> None:
    track = only(read_case("dmon-610-windows-encoder-full.txt"))
    assert track.known("encoder_percent") == [100] * 5
    assert track.known("jpg") == [0] * 5
    assert track.known("clock_memory_mhz") == [7500] * 5
    assert track.known("temperature_memory_c") == [None] * 5


def test_rows_of_dashes_are_missing_and_the_rest_is_counted() -> None:
    reading = read_case("dmon-mostly-dashes.log")
    assert only(reading).known("utilization_gpu_percent") == [0, None, None, None, None, None]
    assert any("5 of 6 samples" in note.sentence for note in reading.notes)


def test_dmon_with_date_and_time_and_two_gpus() -> None:
    text = (
        "#Date       Time        gpu    pwr     sm\n#YYYYMMDD   HH:MM:SS    Idx      W      %\n"
        " 20240102   10:00:00      0    100     50\n 20240102   10:00:00      1    200     60\n"
        " 20240102   10:00:05      0    101     51\n 20240102   10:00:05      1    201     61\n"
    )
    reading = read(text.encode(), "x")
    assert [track.known("power_w") for track in reading.tracks.values()] == [[100, 101], [200, 201]]
    first = reading.tracks["0"]
    assert first.wall_s[1] - first.wall_s[0] == 5
    assert not reading.notes


def test_one_process_on_three_gpus_has_a_figure_on_each() -> None:
    processes = read_case("pmon-545-same-pid-on-three-gpus.txt").processes
    assert [(p.device, p.sm_percent, p.memory_controller_percent) for p in processes if p.pid == 1174916] == [
        ("0", 88, 54), ("1", 92, 53), ("2", 89, 53),
    ]  # fmt: skip
    assert len({process.pid for process in processes}) == 4
    assert all(process.encoder_percent is None for process in processes)


def test_names_with_blanks_stay_whole() -> None:
    processes = read_case("pmon-610-windows-names-with-blanks.txt").processes
    assert [process.name for process in processes][-2:] == ["NVIDIA Overlay.", "NVIDIA Overlay."]
    assert [process.encoder_percent for process in processes if process.pid == 12940] == [99]
    assert {process.kind for process in processes} == {"compute", "both"}


def test_processes_of_a_mig_card() -> None:
    processes = read_case("csv-compute-apps-mig.csv").processes
    assert [(p.pid, p.name, p.memory_bytes) for p in processes] == [
        (21180, "/opt/tools/memhog", 2296 * 1024**2), (21181, "/opt/tools/memhog", 1272 * 1024**2),
        (21198, "./gpu_burn", 7484 * 1024**2),
    ]  # fmt: skip


def test_a_comma_in_a_name_does_not_shift_the_columns() -> None:
    (process,) = read(
        f"{APPS}2026/07/14 09:00:44.742, GPU-1, 7, python -c print(1, 2), 10 MiB\n".encode(), "x"
    ).processes
    assert (process.name, process.memory_bytes) == ("python -c print(1, 2)", 10 * 1024**2)


@pytest.mark.parametrize("memory", ["[N/A]", "[Not Supported]", "[Insufficient Permissions]"])
def test_memory_that_the_driver_does_not_tell_is_missing(memory: str) -> None:
    (process,) = read(f"{APPS}2026/07/14 09:00:44.742, GPU-1, 7, python, {memory}\n".encode(), "x").processes
    assert process.memory_bytes is None


def test_lines_that_are_no_rows_are_counted() -> None:
    text = "# gpu     sm    mem\n# Idx      %      %\n    0      5      6\nGPU is lost\n    0      7\n"
    assert [(note.code, note.line, note.count) for note in read(text.encode(), "x").notes if note.code == "lost"] == [
        ("lost", 4, 2)
    ]


def test_every_shipped_log_is_recognised_by_its_content() -> None:
    for path in FOLDER.iterdir():
        reading = read(path.read_bytes(), path.name)
        assert reading.rows > 0
