"""Logs as they were found in public places: with what people and tools leave around the figures."""

from __future__ import annotations

import json

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import FOLDER, mib, only
from tests.unit.importers.test_monitors import read_monitor, sentences


def test_a_comment_that_speaks_of_a_gpu_is_no_heading_of_dmon() -> None:
    reading = read_monitor("prom-help-lines-name-the-gpu.prom")
    track = only(reading)
    assert reading.kind == "prometheus_text"
    assert mib(track, "memory_used_bytes") == [40536]
    assert track.reasons["utilization_gpu_percent"] is Reason.IMPLAUSIBLE


def test_rows_of_dcgmi_may_be_set_in() -> None:
    first, second = read_monitor("dcgmi-dmon-rows-set-in.txt").tracks.values()
    assert first.known("power_w") == [287.5, 288.5]
    assert second.known("temperature_c") == [33, 33]


def test_dmon_with_commas_reads_like_dmon_with_blanks() -> None:
    text = "#gpu, pwr, gtemp, mtemp, sm, mem\n#Idx, W, C, C, %, %\n0, 66, 40, -, 3, 1\n0, 301, 55, -, 98, 61\n"
    reading = read(text.encode(), "x")
    track = only(reading)
    assert reading.kind == "smi_dmon"
    assert (track.known("power_w"), track.known("utilization_gpu_percent")) == ([66, 301], [3, 98])
    assert track.reasons["temperature_memory_c"] is Reason.NOT_SUPPORTED


def test_commas_that_nvtop_leaves_out_are_put_in() -> None:
    reading = read_monitor("nvtop-3.3.0-no-commas.json")
    track = only(reading)
    assert track.known("memory_used_bytes") == [7585398784]
    assert track.known("power_w") == [7]
    assert "commas were missing" in sentences(reading)
    assert "cut off" in sentences(reading)


def test_sizes_of_nvtop_may_have_a_unit() -> None:
    gpu = {"pci": "0000:0c:00.0", "device_name": "AMD Radeon RX 7900 XT", "gpu_clock": "2MHz", "mem_used": "34.5 MiB"}
    assert mib(only(read(json.dumps([gpu]).encode(), "x")), "memory_used_bytes") == [34.5]


def test_answers_of_amd_smi_follow_each_other_behind_a_line_of_text() -> None:
    reading = read_monitor("amd-smi-watch.json")
    track = only(reading)
    assert list(track.wall_s) == [1769014607, 1769014608]
    assert track.known("power_w") == [None, 31]


def test_an_answer_of_amd_smi_that_is_cut_is_said() -> None:
    text = '[{"gpu": 0, "usage": {"gfx_activity": {"value": 42, "unit": "%"}}}]\n[{"gpu": 0, "usa'
    reading = read(text.encode(), "x")
    assert only(reading).known("utilization_gpu_percent") == [42]
    assert "no complete answer" in sentences(reading)


def test_a_prompt_before_the_json_of_rocm_smi_is_left_out() -> None:
    text = '$ rocm-smi --showuse --json\n{"card0": {"GPU use (%)": "42"}}\n'
    assert only(read(text.encode(), "x")).known("utilization_gpu_percent") == [42]


def test_system_metrics_of_a_run_of_weights_and_biases() -> None:
    text = (
        "_timestamp,_runtime,system.gpu.0.gpu,system.gpu.0.memoryAllocated,system.gpu.0.memoryAllocatedBytes\n"
        "1700000000.12,15.1,95,60.2,24000000000\n1700000015.12,30.1,97,60.2,\n"
    )
    reading = read(text.encode(), "x")
    track = only(reading)
    assert list(track.wall_s) == [1700000000.12, 1700000015.12]
    assert track.known("utilization_gpu_percent") == [95, 97]
    assert track.known("memory_used_bytes") == [24000000000, None]


def test_used_memory_of_a_total_is_the_used_one() -> None:
    track = only(read_monitor("rocm-smi-vram.csv"))
    assert track.known("memory_total_bytes") == [21458059264]
    assert track.known("memory_used_bytes") == [27856896]
    assert track.known("utilization_gpu_percent") == [0]


def test_of_two_columns_for_one_figure_the_first_counts_and_shares_are_no_bytes() -> None:
    text = "time,GPU,power cur,power avg,GPU memory use (%)\n2020-09-03 10:28:30,63,48,40,87\n"
    track = only(read(text.encode(), "x"))
    assert track.known("power_w") == [48]
    assert "memory_used_bytes" not in track.columns


def test_a_table_with_semicolons_and_decimal_commas() -> None:
    text = "Timestamp;GPU Usage (%);VRAM Used (GB)\n2025-03-01 12:00:00;98,5;20,25\n2025-03-01 12:00:01;7,5;20,5\n"
    track = only(read(text.encode(), "x"))
    assert track.known("utilization_gpu_percent") == [98.5, 7.5]
    assert mib(track, "memory_used_bytes") == [20.25 * 1024, 20.5 * 1024]


def test_figures_in_objects_of_an_object_are_read_and_none_is_an_error() -> None:
    values = {"@timestamp": "2021-01-03T07:27:16.080Z", "index": 3, "memory": {"used": 3256}, "power": {"draw": 25.3}}
    track = only(read(json.dumps(values).encode(), "x"))
    assert (track.device.index, track.known("power_w"), mib(track, "memory_used_bytes")) == (3, [25.3], [3256])
    with pytest.raises(UsageError, match="no figure of a GPU"):
        read(b'{"memory": [], "power": []}', "x")


def test_rows_of_eight_gpus_in_a_table_nobody_knows_stay_apart() -> None:
    rows = [f"2025-09-24T03:48:{33 + second}.493Z,{gpu}, {38 + gpu}, 100" for second in range(2) for gpu in range(8)]
    reading = read("\n".join(["timestamp,gpu_index,temperature_C,utilization_gpu_percent", *rows, ""]).encode(), "x")
    assert [track.device.index for track in reading.tracks.values()] == list(range(8))
    assert [track.known("temperature_c") for track in reading.tracks.values()] == [[38 + gpu] * 2 for gpu in range(8)]


def test_amd_smis_csv_numbers_its_gpus_and_calls_the_memorys_temperature_mem() -> None:
    reading = read(
        b"timestamp,gpu,gfx_activity,umc_activity,socket_power,gfx_0_clk,gfx_0_max_clk,mem_0_clk,edge,hotspot,mem\n"
        b"1786553852,0,90,20,238,95,2400,2000,N/A,37,23\n1786553852,1,91,21,242,96,2400,2000,N/A,41,26\n",
        "x",
    )
    first, second = reading.tracks.values()
    assert (first.known("utilization_gpu_percent"), second.known("power_w")) == ([90], [242])
    assert (first.known("temperature_memory_c"), first.known("clock_memory_mhz")) == ([23], [2000])
    assert "memory_used_bytes" not in first.columns


def test_rows_without_a_number_of_a_gpu_are_said() -> None:
    reading = read(b"time,gpu_id,util\n2025-09-24 03:48:33,0,5\n2025-09-24 03:48:34,?,6\n", "x")
    assert only(reading).known("utilization_gpu_percent") == [5]
    assert "without a number of a GPU" in sentences(reading)


def test_a_home_made_table_that_shares_a_name_with_nvidia_smi_is_guessed() -> None:
    text = "Date,Time,Temperature,Power Used, Power Max,Fan,Utilization,Memory Used,Memory Max\n"
    reading = read((text + "04-03-2021,13:32:39,58,1,250,0,7,30,11019\n").encode(), "x")
    track = only(reading)
    assert reading.kind == "mapped_csv"
    assert (track.known("temperature_c"), track.known("utilization_gpu_percent")) == ([58], [7])
    assert mib(track, "memory_used_bytes") == [30]
    assert "no time stamps" in sentences(reading)  # the hours of a day alone are no seconds


def test_kilowatt_hours_are_joules() -> None:
    text = "timestamp,gpu_power_w,gpu_energy_kwh\n2025-07-03T08:43:07,49.5,0.5\n"
    assert only(read(text.encode(), "x")).known("energy_j") == [1.8e6]


def test_a_csv_behind_a_table_is_not_lost_silently() -> None:
    text = (FOLDER / "table-550-repeated-as-time-series.log").read_text()
    reading = read(f"{text}\nindex, name, memory.used [MiB], utilization.gpu [%]\n0, V100, 9 MiB, 97 %\n".encode(), "x")
    assert "give it as a file of its own" in sentences(reading)
