"""What other monitors write: exporters, gpustat, vendors' tools, wide tables."""

from __future__ import annotations

import json

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.reading import Reading
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import FOLDER, codes, mib, only

MONITORS = FOLDER.parent / "monitors"


def read_monitor(name: str) -> Reading:
    return read((MONITORS / name).read_bytes(), name)


def sentences(reading: Reading) -> str:
    return " ".join(note.sentence for note in reading.notes)


def test_numbers_that_dcgm_writes_for_no_value_are_missing() -> None:
    track = only(read_monitor("prom-dcgm-blank-sentinels.prom"))
    assert track.known("clock_sm_mhz") == [139]
    assert track.known("clock_memory_mhz") == [405]
    assert track.reasons["temperature_memory_c"] is Reason.IMPLAUSIBLE
    assert track.reasons["dram_bandwidth_percent"] is Reason.IMPLAUSIBLE
    assert track.reasons["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"] is Reason.IMPLAUSIBLE


def test_bad_lines_of_an_exporter_do_not_spoil_the_others() -> None:
    reading = read_monitor("prom-missing-and-na-values.prom")
    track = only(reading)
    assert (track.known("power_w"), track.known("temperature_c")) == ([43.5], [34])
    assert track.known("utilization_gpu_percent") == []
    assert [(note.code, note.line, note.count) for note in reading.notes] == [("lost", 3, 3)]


def test_counters_that_stopped_on_a_busy_gpu_are_said() -> None:
    text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-1"} 0.0\n'
    assert "the counters have stopped" in sentences(read(text.encode(), "x"))


def test_the_answer_of_a_prometheus_server_is_a_series_of_each_gpu() -> None:
    series = [
        {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": uuid, "gpu": gpu, "modelName": "NVIDIA A100"},
         "values": [[1700000000, "50"], [1700000015, value]]}
        for uuid, gpu, value in (("GPU-1", "0", "60"), ("GPU-2", "1", "NaN"))
    ]  # fmt: skip
    answer = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    reading = read(json.dumps(answer).encode(), "x")
    assert reading.zone_known
    assert [track.known("utilization_gpu_percent") for track in reading.tracks.values()] == [[50, 60], [50, None]]
    assert [track.device.name for track in reading.tracks.values()] == ["NVIDIA A100"] * 2
    with pytest.raises(UsageError, match="server answered: bad_data"):
        read(b'{"status":"error","errorType":"bad_data","error":"bad_data","data":{"resultType":null}}', "x")


def test_exporter_of_nvidia_smi_has_shares_and_bytes() -> None:
    text = 'nvidia_smi_utilization_gpu_ratio{uuid="a"} 0.5\nnvidia_smi_memory_used_bytes{uuid="a"} 1048576\n'
    track = only(read(text.encode(), "x"))
    assert (track.known("utilization_gpu_percent"), mib(track, "memory_used_bytes")) == ([50], [1])


def test_memory_that_no_listed_process_holds_is_said() -> None:
    reading = read_monitor("gpustat-text-missing-process.txt")
    assert [track.device.index for track in reading.tracks.values()] == [0, 3, 6]
    assert [track.known("utilization_gpu_percent") for track in reading.tracks.values()] == [[73], [99], [0]]
    assert reading.tracks["3"].device.driver_version == "535.54.03"
    assert "GPU 3: 6121 MiB of the 21305 MiB" in sentences(reading)
    assert codes(reading) == ["contradiction"]


def test_gpustat_json() -> None:
    answer = {
        "query_time": "2024-01-02T10:00:00", "driver_version": "535.54.03",
        "gpus": [{"index": 0, "uuid": "GPU-1", "name": "A100", "utilization.gpu": None, "memory.used": 100,
                  "memory.total": 1000, "power.draw": 55, "processes": [{"pid": 7, "command": "python",
                                                                        "gpu_memory_usage": 90}]}],
    }  # fmt: skip
    reading = read(json.dumps(answer).encode(), "x")
    track = only(reading)
    assert track.known("power_w") == [55]
    assert "utilization_gpu_percent" in track.reasons
    assert (reading.processes[0].pid, reading.processes[0].memory_bytes) == (7, 90 * 1024**2)
    with pytest.raises(UsageError, match="no complete JSON of gpustat"):
        read(json.dumps(answer).encode()[:-40], "x")


def test_rocm_smi_has_cards_and_a_system_that_is_none() -> None:
    track = only(read_monitor("rocm-smi-json-mi100.json"))
    assert track.known("temperature_c") == [53]
    assert track.known("clock_memory_mhz") == [1200]
    assert track.known("clock_sm_mhz") == [300]
    assert track.known("power_w") == [36]
    assert track.known("power_limit_w") == [290]
    assert track.known("memory_used_bytes") == [6750208]
    assert "utilization_memory_percent" in track.reasons
    assert (track.device.vendor, track.device.driver_version) == ("AMD", "6.3.6")


def test_nvtop_snapshot() -> None:
    text = """[{"device_name": "NVIDIA GeForce RTX 3090", "gpu_clock": "210MHz", "mem_clock": "405MHz", "temp": "33C",
    "fan_speed": null, "power_draw": "21W", "gpu_util": "7%", "mem_util": "5%"}]"""
    track = only(read(text.encode(), "x"))
    assert track.device.name == "NVIDIA GeForce RTX 3090"
    assert [track.known(name) for name in ("utilization_gpu_percent", "power_w", "temperature_c")] == [[7], [21], [33]]
    assert "fan_percent" in track.reasons
    assert "utilization_memory_percent" not in track.columns


def test_amd_smi() -> None:
    gpu = {"gpu": 0, "usage": {"gfx_activity": {"value": 12, "unit": "%"}, "umc_activity": "N/A"},
           "power": {"socket_power": {"value": 150, "unit": "W"}},
           "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}}}  # fmt: skip
    for document in ([gpu], {"gpu_data": [gpu]}):
        track = only(read(json.dumps(document).encode(), "x"))
        assert (track.known("utilization_gpu_percent"), track.known("power_w")) == ([12], [150])
        assert mib(track, "memory_total_bytes") == [196592]
        assert "utilization_memory_percent" in track.reasons


def test_fields_that_dcgm_measures_in_turns() -> None:
    tracks = read_monitor("dcgmi-dmon-multiplexed-na.txt").tracks
    assert list(tracks) == ["GPU 0", "GPU 1", "GPU 2"]
    assert tracks["GPU 0"].known("GRACT") == [None, 0.888]
    assert tracks["GPU 0"].known("TENSO") == [None, 0.178]
    assert tracks["GPU 0"].known("SMACT") == []
    assert tracks["GPU 1"].known("FP64A") == [None, 0]
    assert tracks["GPU 1"].reasons["GRACT"] is Reason.NO_DATA


def test_no_energy_at_247_watts_is_a_contradiction() -> None:
    reading = read_monitor("dcgmi-stats-job-table.txt")
    track = only(reading)
    assert track.known("power_w")[0] == 247.541
    assert track.known("memory_used_bytes")[0] == 9934209024
    assert track.wall_s[1] - track.wall_s[0] == 21
    assert "energy_j" not in track.columns
    assert codes(reading) == ["contradiction", "finding"]
    assert "about 5070 J" in sentences(reading)


def test_memory_of_a_jetson_is_the_boards() -> None:
    reading = read_monitor("tegrastats-dated-cores-off.log")
    track = only(reading)
    assert track.known("utilization_gpu_percent") == [22, 32, 0]
    assert track.known("ram_used_mb") == [2274, 2303, 2338]
    assert track.reasons["memory_total_bytes"] is Reason.UNIFIED_MEMORY
    assert (track.known("VDD_CPU_GPU_CV_mw"), track.known("VDD_CPU_GPU_CV_average_mw")) == (
        [1594, 1674, 1594], [1594, 1634, 1620],
    )  # fmt: skip
    assert track.known("cpu_cores_off") == [2, 2, 2]
    assert codes(reading) == ["assumed"]


def test_a_gpu_z_log_after_a_crash() -> None:
    reading = read_monitor("gpuz-log-latin1-nul-run.txt")
    track = only(reading)
    assert track.known("temperature_c") == [47, 47, 46, 46, 46]
    assert track.known("utilization_gpu_percent") == [2, 1, 0, 1, 0]
    assert mib(track, "memory_used_bytes") == [698, 698, 696, 693, 693]
    assert "power_w" not in track.columns
    assert codes(reading) == ["lost", "encoding", "contradiction"]


def test_bounds_of_a_wandb_chart_are_no_gpus_of_their_own() -> None:
    reading = read_monitor("wandb-chart-export-min-max.csv")
    track = only(reading)
    assert track.known("memoryAllocated") == [4.09, 61.72, 92.83, None]
    assert track.known("memoryAllocated max") == [4.09, 92.83, 92.83, None]
    assert list(track.wall_s) == [15.03, 45.11, 75.2, 105.4]
    assert codes(reading) == ["missing"]


def test_nvitops_gpus_are_the_physical_ones() -> None:
    reading = read_monitor("nvitop-collector-csv-reordered-gpus.csv")
    assert {key: mib(track, "memory_used_bytes") for key, track in reading.tracks.items()} == {
        "GPU 3": [3.875], "GPU 2": [8878.875], "GPU 1": [8182.875], "GPU 0": [9286.875],
    }  # fmt: skip
    assert reading.tracks["GPU 3"].known("temperature_c") == [25]
    (process,) = reading.processes
    assert (process.pid, process.device, process.memory_bytes) == (12345, "GPU 4", 8861 * 1024**2)
    assert "cuda:1 = GPU 2" in sentences(reading)


def test_bare_na_in_json_is_missing_and_no_year_is_made_up() -> None:
    reading = read_monitor("csv-json-with-bare-na.json")
    track = only(reading)
    assert (track.known("temperature_c"), mib(track, "memory_used_bytes")) == ([44], [3])
    assert "power_w" in track.reasons
    assert "which has no year" in sentences(reading)


def test_every_shipped_file_is_recognised_by_its_content() -> None:
    for path in MONITORS.iterdir():
        assert read(path.read_bytes(), path.name).rows > 0
