"""Whole chips: what each shows, and why the rest is missing."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import REASON_SENTENCES, FieldState, Reason, field_state
from gpuscope.domain.sample import GpuSample
from gpuscope.sources.device_reader import ALL_FIELDS
from gpuscope.sources.gpm import PERCENT_FIELDS
from gpuscope.sources.surroundings import Surroundings
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import DESKTOP, H100_SXM, LAPTOP, PROFILES, VGPU
from tests.nvml.scenario import Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import PLAIN, Everything

PAGES = {"pages_retired_corrected", "pages_retired_uncorrected", "pages_retired_pending"}
ROWS = {"rows_remapped_correctable", "rows_remapped_uncorrectable", "row_remap_pending", "row_remap_failed"}
ECC = {name for name in ALL_FIELDS if name.startswith("ecc_")}
NVLINK = {name for name in ALL_FIELDS if name.startswith("nvlink_")}
GPM = set(PERCENT_FIELDS)
MEMORY = {name for name in ALL_FIELDS if name.startswith("memory_")}
LOST_TIME = {"throttle_thermal_s", "throttle_hardware_thermal_s", "throttle_power_brake_s"}
NO_FAN = {"fan_percent", "fan_percents"}
MISSING: dict[str, set[str]] = {
    "A100": {"power_module_w"} | PAGES | GPM | NO_FAN,
    "H100": {"power_module_w"} | PAGES | NO_FAN,
    "B200": {"power_module_w"} | PAGES | NO_FAN,
    "GB200": PAGES | NO_FAN,
    "L40S": {"power_module_w", "temperature_memory_c"} | PAGES | GPM | NVLINK | NO_FAN,
    "T4": {"power_module_w", "temperature_memory_c", "temperature_margin_c"} | ROWS | GPM | NVLINK | NO_FAN | LOST_TIME,
    "desktop": {"power_module_w", "temperature_memory_c", "temperature_margin_c"} | PAGES | ROWS | ECC | GPM | NVLINK,
    "laptop": {"power_module_w", "temperature_memory_c", "temperature_margin_c"}
    | PAGES | ROWS | ECC | GPM | NVLINK | NO_FAN,
    "GB10": {"power_module_w", "temperature_memory_c", "temperature_margin_c", "clock_memory_mhz", "power_limit_w",
             "pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "pcie_replays"}
    | PAGES | ROWS | ECC | GPM | NVLINK | NO_FAN | MEMORY,
    "vGPU": set(ALL_FIELDS) - {
        "utilization_gpu_percent", "utilization_memory_percent", "encoder_percent", "decoder_percent", "clock_sm_mhz",
        "clock_memory_mhz", "clock_graphics_mhz", "performance_state", "processes"} - MEMORY,
}  # fmt: skip
"""What each chip does not offer; everything else must be there."""


def read(profile: dict[str, Any], make: MakeWorld, open_source: OpenSource) -> tuple[Device, GpuSample]:
    scenario = Scenario()
    scenario.add_gpu(profile)
    make(scenario)
    source = open_source()
    everything = Everything(source)
    everything.twice()
    (sample,) = everything.twice().values()
    return source.devices[0], sample


@pytest.mark.parametrize("name", PROFILES)
def test_a_chip_shows_all_it_has_and_says_why_the_rest_is_missing(
    name: str, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    profile = PROFILES[name]
    device, sample = read(profile, nvml_in_process, open_source)
    assert set(sample.unavailable) == MISSING[name]
    assert {field_state(reason) for reason in sample.unavailable.values()} <= {FieldState.UNSUPPORTED}
    shown = {field for field in ALL_FIELDS if getattr(sample, field) is not None}
    several_fans = {"fan_percents"} if "fans" in profile else set()
    assert shown == set(ALL_FIELDS) - MISSING[name] - {"fan_percents"} | several_fans
    counted = {"pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "energy_j", "fan_percent"}
    for field in shown & (PLAIN.keys() - counted):
        key, factor = PLAIN[field]
        assert getattr(sample, field) == pytest.approx(profile[key] * factor), field
    assert device.name == profile["name"]


@pytest.mark.parametrize(
    ("name", "links", "version", "nvlink_gb", "pcie_gb"),
    [
        ("A100", 12, "3.0", 309.4, 31.5),
        ("H100", 18, "4.0", 478.1, 63.0),
        ("B200", 18, "5.0", 956.3, 63.0),
        ("T4", 0, None, None, 15.75),
    ],
)
def test_limits_of_links(
    name: str, links: int, version: str | None, nvlink_gb: float | None, pcie_gb: float,
    nvml_in_process: MakeWorld, open_source: OpenSource,
) -> None:  # fmt: skip
    device, sample = read(PROFILES[name], nvml_in_process, open_source)
    assert (device.nvlink_links, device.nvlink_version) == (links, version)
    assert sample.pcie_limit_bytes_per_s == pytest.approx(pcie_gb * 1e9, rel=0.01)
    assert device.pcie_limit_bytes_per_s == pytest.approx(pcie_gb * 1e9, rel=0.01)
    if nvlink_gb is not None:
        assert sample.nvlink_limit_bytes_per_s == pytest.approx(nvlink_gb * 1e9, rel=0.01)
    else:
        assert device.unavailable["nvlink_version"] is Reason.NO_NVLINK


def test_a_link_that_saves_power_has_a_lower_limit_now_than_at_most(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    device, sample = read({**H100_SXM, "pcie_generation": 1}, nvml_in_process, open_source)
    assert sample.pcie_limit_bytes_per_s == 4e9
    assert device.pcie_limit_bytes_per_s == pytest.approx(63e9, rel=0.01)


def test_facts_of_a_whole_chip(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    device, _ = read(H100_SXM, nvml_in_process, open_source)
    assert (device.power_limit_min_w, device.power_limit_default_w, device.power_limit_max_w) == (200, 700, 700)
    assert (device.temperature_slowdown_c, device.temperature_shutdown_c) == (89, 92)
    assert (device.temperature_margin_slowdown_c, device.temperature_margin_shutdown_c) == (-2, -5)
    assert (device.temperature_max_c, device.temperature_memory_max_c) == (85, 95)
    assert (device.clock_sm_max_mhz, device.clock_memory_max_mhz, device.clock_graphics_max_mhz) == (1980, 2619, 1965)
    assert (device.compute_mode, device.persistence_mode, device.virtualization) == ("default", True, "none")
    assert (device.ecc_enabled, device.mig_enabled, device.xid_reported) == (True, False, True)


def test_several_fans(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    _, sample = read(DESKTOP, nvml_in_process, open_source)
    assert sample.fan_percents == (41, 44, 43)
    assert sample.fan_percent == 44


def test_reasons_of_a_virtual_gpu(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    device, sample = read(VGPU, nvml_in_process, open_source)
    assert device.virtualization == "vgpu"
    assert sample.unavailable["power_w"] is Reason.VGPU
    assert sample.unavailable["sm_activity_percent"] is Reason.GPM_CHIP
    assert device.unavailable["power_limit_w"] is Reason.VGPU
    assert "the machine that hosts it" in REASON_SENTENCES[Reason.VGPU]


def test_reasons_under_wsl(
    nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "release", lambda: "5.15.153.1-microsoft-standard-WSL2")
    hidden = {**LAPTOP, "compute_processes": ((5151, None),)}
    for name in ("fan_percent_0", "power_mw", "power_average_mw", "power_instant_mw"):
        hidden.pop(name)
    _, sample = read(hidden, nvml_in_process, open_source)
    assert sample.unavailable["power_w"] is Reason.WSL
    assert [p.unavailable["gpu_memory_bytes"] for p in sample.processes or () if p.pid == 5151] == [Reason.WSL]
    assert [p.gpu_memory_bytes for p in sample.processes or () if p.pid == 5151] == [None]


@pytest.mark.parametrize(
    ("system", "facts", "name", "reason"),
    [
        ("win32", {"driver_model": "wddm"}, "power_w", Reason.WDDM),
        ("win32", {"driver_model": "tcc"}, "power_w", Reason.NOT_SUPPORTED),
        ("win32", {"compute_capability": "9.0"}, "sm_activity_percent", Reason.GPM_WINDOWS),
        ("win32", {"compute_capability": "8.6"}, "sm_activity_percent", Reason.GPM_CHIP),
        ("linux", {"compute_capability": "12.0"}, "sm_activity_percent", Reason.GPM_CHIP),
        ("linux", {"compute_capability": "9.0", "virtualization": "vgpu"}, "sm_activity_percent", Reason.VGPU),
        ("linux", {"mig_enabled": True}, "sm_percent", Reason.MIG_MODE),
        ("linux", {"mig_enabled": True}, "power_w", Reason.NOT_SUPPORTED),
    ],
)
def test_the_surroundings_explain_what_is_missing(
    system: str, facts: dict[str, Any], name: str, reason: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    refused = Reason.GPM_CHIP if name in GPM else Reason.NOT_SUPPORTED
    surroundings = Surroundings(Device(uuid="a", index=0, name="b", **facts))
    assert surroundings.explain(name, refused) is reason
    assert surroundings.explain(name, Reason.UNKNOWN_ERROR) is Reason.UNKNOWN_ERROR
