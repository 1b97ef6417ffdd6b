"""Libraries of older drivers, which lack functions, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.nvml.build import build_library
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import A100, H100_SXM
from tests.nvml.scenario import Scenario

OF_2022 = (
    "nvmlGpm*", "nvmlDeviceGetFieldValues", "nvmlDeviceGetMarginTemperature", "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetNumFans", "nvmlDeviceGetFanSpeed_v2",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMemoryInfo_v2",
)  # fmt: skip
ALMOST_NOTHING = (
    *OF_2022, "nvmlDeviceGetComputeRunningProcesses_*", "nvmlDeviceGetGraphicsRunningProcesses_*",
    "nvmlDeviceGetMPSComputeRunningProcesses*", "nvmlDeviceGetProcessUtilization", "nvmlEvent*",
    "nvmlDeviceRegisterEvents", "nvmlDeviceGetSupportedEventTypes", "nvmlDeviceGetVirtualizationMode",
    "nvmlDeviceGetMigMode", "nvmlDeviceGetNvLink*", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetPcieReplayCounter", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetTotalEnergyConsumption",
)  # fmt: skip

READ = """
import json, sys, time
from pathlib import Path
from gpuscope.domain.base import to_json
from gpuscope.sources.binding import load_binding
from gpuscope.sources.driver import Driver
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource

source = NvmlSource(Driver(load_binding()), Path("/nowhere"))
merged = {"unavailable": {}}
for _ in range(2):
    for tier in Tier:
        frame = source.read(tier)
        for sample in (frame.gpus or ()) if frame else ():
            row = json.loads(to_json(sample))
            merged["unavailable"] |= row.pop("unavailable", {})
            merged |= row
print(json.dumps({"ok": source.state.ok, "sample": merged, "device": json.loads(to_json(source.devices[0]))}))
source.close()
"""


def read(without: tuple[str, ...], profile: dict[str, Any], make: MakeWorld) -> dict[str, Any]:
    scenario = Scenario()
    scenario.add_gpu(profile)
    world = make(scenario)
    environment = {**world.environment, "LD_LIBRARY_PATH": str(build_library(without))}
    done = subprocess.run(
        [sys.executable, "-c", READ], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["ok"]
    return found


@pytest.mark.parametrize("profile", [A100, H100_SXM], ids=["A100", "H100"])
def test_a_library_of_2022(profile: dict[str, Any], nvml_scenario: MakeWorld) -> None:
    found = read(OF_2022, profile, nvml_scenario)
    sample, missing = found["sample"], found["sample"]["unavailable"]
    assert sample["power_w"] == profile["power_mw"] / 1000
    assert missing["power_instant_w"] == "function_not_found"
    assert sample["energy_j"] >= 5_000_000
    assert sample["clock_event_reasons"] == 4, "by its old name"
    assert sample["memory_used_bytes"] == profile["memory_used"] + profile["memory_reserved"], "version 1"
    assert missing["memory_reserved_bytes"] == "function_not_found"
    assert sample["ecc_corrected_aggregate"] == 17
    assert sample["rows_remapped_correctable"] == 2
    assert sample["nvlink_links_active"] == profile["nvlink_links"]
    assert sample["pcie_rx_bytes_per_s"] == 2_500_000_000, "measured"
    assert missing["sm_activity_percent"] == ("gpm_chip" if profile is A100 else "function_not_found")
    assert missing["temperature_memory_c"] == "function_not_found"
    assert [process["pid"] for process in sample["processes"]] == [4242]
    assert "power_averaged" in found["device"]["unavailable"]


def test_a_library_with_almost_nothing(nvml_scenario: MakeWorld) -> None:
    found = read(ALMOST_NOTHING, H100_SXM, nvml_scenario)
    sample, missing = found["sample"], found["sample"]["unavailable"]
    assert sample["utilization_gpu_percent"] == 61
    assert [process["pid"] for process in sample["processes"]] == [4242], "version 1 of the list"
    (process,) = sample["processes"]
    assert process["unavailable"]["sm_percent"] == "function_not_found"
    assert missing["energy_j"] == "function_not_found"
    assert missing["ecc_corrected_volatile"] == "function_not_found"
    assert found["device"]["unavailable"]["xid_reported"] == "function_not_found"
    assert not [name for name, value in sample.items() if value == 0 and name not in {"performance_state"}]
