"""The table of plain `nvidia-smi`, from driver 325 to 610, once and in a loop."""

from __future__ import annotations

from gpuscope.domain.reasons import Reason
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import FOLDER, codes, mib, only, read_case


def test_a_table_of_2014() -> None:
    reading = read_case("table-325-titan-three-gpus-na.txt")
    tracks = list(reading.tracks.values())
    assert [track.device.pci_bus_id for track in tracks] == ["0000:03:00.0", "0000:04:00.0", "0000:84:00.0"]
    assert {track.device.name for track in tracks} == {"GeForce GTX TITAN"}
    assert [track.known("fan_percent") for track in tracks] == [[31], [30], [30]]
    assert [mib(track, "memory_total_bytes") for track in tracks] == [[6143]] * 3
    assert all("power_w" in track.reasons and "utilization_gpu_percent" in track.reasons for track in tracks)
    assert (tracks[0].device.driver_version, tracks[0].device.cuda_version) == ("325.15", None)


def test_tables_of_a_loop_are_one_series_of_one_gpu() -> None:
    reading = read_case("table-550-repeated-as-time-series.log")
    track = only(reading)
    assert track.known("utilization_gpu_percent") == [0, 93, 0]
    assert track.known("power_w") == [32, 305, 164]
    assert mib(track, "memory_used_bytes") == [0, 11948, 11947]
    assert [second - track.wall_s[0] for second in track.wall_s] == [0, 60, 893]
    assert (track.device.driver_version, track.device.cuda_version) == ("550.54.15", "12.4")
    assert [(process.pid, process.wall_s) for process in reading.processes] == [(3794277, track.wall_s[1])]


def test_headings_of_driver_610_and_names_that_were_cut() -> None:
    reading = read_case("table-610-windows-kmd-umd-heading.txt")
    device = only(reading).device
    assert (device.driver_version, device.cuda_version) == ("610.62", "13.3")
    assert device.name == "NVIDIA GeForce RTX 2080"
    assert len(reading.processes) == 6
    assert {process.memory_bytes for process in reading.processes} == {None}
    assert reading.processes[0].name == r"C:\Windows\System32\dwm.exe"


def test_memory_that_is_shared_with_the_cpu_is_missing_and_not_zero() -> None:
    track = only(read_case("table-gb10-memory-not-supported.txt"))
    assert track.known("memory_used_bytes") == []
    assert track.reasons["memory_used_bytes"] is Reason.UNIFIED_MEMORY
    assert track.device.memory_total_bytes is None
    assert track.known("power_w") == [3]


def test_a_table_without_its_last_line_says_so() -> None:
    text = (FOLDER / "table-610-windows-kmd-umd-heading.txt").read_text(encoding="utf-8")
    lines = text.split("\n")
    upto = next(number for number, line in enumerate(lines) if "GeForce" in line)
    assert codes(read("\n".join(lines[: upto + 1]).encode(), "x")) == ["lost", "lost"]
