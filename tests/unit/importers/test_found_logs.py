"""Logs as they were found in public places: with what people and tools leave around the figures."""

from __future__ import annotations

import json

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import mib, only
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
