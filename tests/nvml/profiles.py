"""Whole chips for the stand-in: what each offers and what it refuses, as data sheets and nvml.h describe them.

What a chip does not offer is not in its profile and is answered with NOT_SUPPORTED. Moving figures are made up within
what such a chip shows; counters grow at a known rate, so that a test can ask for it.
"""

from __future__ import annotations

from typing import Any

from tests.nvml.scenario import GIB, H100, RTX_4090, Growing

MIB = 1024**2
PCIE_TX_BYTES_PER_S, PCIE_RX_BYTES_PER_S = 3_000_000_000, 1_500_000_000
LINK_TX_KIB_PER_S, LINK_RX_KIB_PER_S = 4_000_000, 2_000_000
"""Of each link."""
LINK_TX_BYTES_PER_S, LINK_RX_BYTES_PER_S = 9_000_000_000, 7_000_000_000
"""Of each link of NVLink 5."""
LOST_TO_POWER_NS_PER_S, LOST_TO_HEAT_NS_PER_S = 250_000_000, 40_000_000

_BASE = {key: value for key, value in H100.items() if key not in {"mig_mode", "mig_mode_pending", "mig_devices_max"}}
_MODES = {"compute_mode": 0, "persistence_mode": 1, "virtualization": 0, "event_types": 0x1F}
_MIG = {"mig_mode": 0, "mig_mode_pending": 0, "mig_devices_max": 7}
_ECC = {
    "ecc_mode": 1, "ecc_mode_pending": 1, "ecc_corrected_volatile": 4, "ecc_uncorrected_volatile": 0,
    "ecc_corrected_aggregate": 17, "ecc_uncorrected_aggregate": 1,
}  # fmt: skip
_ROWS = {
    "rows_remapped_correctable": 2, "rows_remapped_uncorrectable": 1, "row_remap_pending": 0, "row_remap_failed": 0,
}  # fmt: skip
_PAGES = {"pages_retired_corrected": 3, "pages_retired_uncorrected": 0, "pages_retired_pending": 0}
_LOST_TIME = {
    "throttle_power_ns": Growing(5_000_000_000, LOST_TO_POWER_NS_PER_S),
    "throttle_thermal_ns": Growing(1_000_000_000, LOST_TO_HEAT_NS_PER_S),
    "throttle_hardware_thermal_ns": 0, "throttle_power_brake_ns": 0,
}  # fmt: skip
_PCIE = {
    "pcie_tx_bytes": Growing(2**40, PCIE_TX_BYTES_PER_S), "pcie_rx_bytes": Growing(2**39, PCIE_RX_BYTES_PER_S),
    "pcie_replays": 0,
}  # fmt: skip
_GPM = {
    "gpm_supported": 1, "gpm_1": 93.5, "gpm_2": 71.25, "gpm_3": 33.5, "gpm_5": 41.75, "gpm_10": 52.5, "gpm_11": 0.0,
    "gpm_12": 12.25, "gpm_13": 3.5, "gpm_20": 2048.0, "gpm_21": 1024.0, "gpm_60": 4096.0, "gpm_61": 8192.0,
}  # fmt: skip
_LIMITS = {
    "temperature_shutdown_c": 92, "temperature_slowdown_c": 89, "temperature_max_c": 85, "temperature_memory_max_c": 95,
    "temperature_memory_c": 61, "temperature_margin_c": 31, "margin_slowdown_c": -2, "margin_shutdown_c": -5,
}  # fmt: skip
_UTILISATION = {"process_utilization": ((4242, 57),)}


def _power(watts: int, limit: int, least: int, *, averages: bool) -> dict[str, Any]:
    """Power figures in mW; chips that average give both, others the instant one only."""
    instant = {"power_instant_mw": watts * 1000 + 11_000, "power_mw": watts * 1000 + 11_000}
    average = {"power_average_mw": watts * 1000, "power_mw": watts * 1000} if averages else {}
    limits = {
        "power_limit_mw": limit * 1000, "power_limit_default_mw": limit * 1000, "power_limit_min_mw": least * 1000,
        "power_limit_max_mw": limit * 1000,
    }  # fmt: skip
    energy = {"energy_mj": Growing(5_000_000_000, watts * 1000.0)}
    return {**instant, **average, **limits, **energy}


def _memory(mebibytes: int) -> dict[str, Any]:
    return {"memory_total": mebibytes * MIB, "memory_used": mebibytes * MIB // 2, "memory_reserved": 600 * MIB}


def _nvlink(links: int, speed_mb_per_s: int, version: int) -> dict[str, Any]:
    return {
        "nvlink_links": links, "nvlink_state": 1, "nvlink_version": version, "nvlink_speed": speed_mb_per_s,
        "nvlink_speed_common": speed_mb_per_s,
    }  # fmt: skip


_KIB_COUNTERS = {
    "nvlink_tx_kib": Growing(2**30, LINK_TX_KIB_PER_S), "nvlink_rx_kib": Growing(2**31, LINK_RX_KIB_PER_S),
}  # fmt: skip
_BYTE_COUNTERS = {
    "nvlink_tx_bytes": Growing(2**41, LINK_TX_BYTES_PER_S), "nvlink_rx_bytes": Growing(2**42, LINK_RX_BYTES_PER_S),
}  # fmt: skip
_DATA_CENTRE = {**_BASE, **_MODES, **_ECC, **_PCIE, **_LOST_TIME, **_LIMITS, **_UTILISATION}

A100 = {
    **_DATA_CENTRE, **_MIG, **_ROWS, **_memory(81920), **_power(312, 400, 100, averages=False),
    **_nvlink(12, 25781, 4), **_KIB_COUNTERS,
    "name": "NVIDIA A100-SXM4-80GB", "compute_major": 8, "compute_minor": 0,
    "pcie_generation": 4, "pcie_generation_max": 4,
}  # fmt: skip
H100_SXM = {
    **_DATA_CENTRE, **_MIG, **_ROWS, **_GPM, **_memory(81559), **_power(540, 700, 200, averages=True),
    **_nvlink(18, 26562, 6), **_KIB_COUNTERS,
    "name": "NVIDIA H100 80GB HBM3",
}  # fmt: skip
B200 = {
    **_DATA_CENTRE, **_MIG, **_ROWS, **_GPM, **_memory(183359), **_power(780, 1000, 200, averages=True),
    **_nvlink(18, 53125, 7), **_BYTE_COUNTERS,
    "name": "NVIDIA B200", "compute_major": 10, "compute_minor": 0,
}  # fmt: skip
GB200 = {
    **B200, **_memory(189471), **_power(900, 1200, 200, averages=True),
    "name": "NVIDIA GB200", "power_module_mw": 1_350_000,
}  # fmt: skip
L40S = {
    **_DATA_CENTRE, **_ROWS, **_memory(46068), **_power(210, 350, 100, averages=True),
    "name": "NVIDIA L40S", "compute_major": 8, "compute_minor": 9, "pcie_generation": 4, "pcie_generation_max": 4,
}  # fmt: skip
del L40S["temperature_memory_c"], L40S["temperature_memory_max_c"]
T4 = {
    **_DATA_CENTRE, **_PAGES, **_memory(15360), **_power(48, 70, 60, averages=False),
    "name": "Tesla T4", "compute_major": 7, "compute_minor": 5,
    "compute_processes": ((4242, 6 * GIB),), "pcie_generation": 3, "pcie_generation_max": 3,
}  # fmt: skip
for _key in ("temperature_memory_c", "temperature_memory_max_c", "temperature_margin_c", "pcie_tx_bytes",
             "pcie_rx_bytes", "throttle_thermal_ns", "throttle_hardware_thermal_ns",
             "throttle_power_brake_ns"):  # fmt: skip
    del T4[_key]
DESKTOP = {
    **RTX_4090, **_MODES, **_PCIE, **_LOST_TIME, **_power(318, 450, 150, averages=True),
    "process_utilization": ((5151, 57),),
    "fans": 3, "fan_percent_0": 41, "fan_percent_1": 44, "fan_percent_2": 43,
    "temperature_shutdown_c": 100, "temperature_slowdown_c": 97, "temperature_max_c": 84,
}  # fmt: skip
LAPTOP = {
    **DESKTOP, **_memory(8188), **_power(85, 140, 5, averages=True),
    "name": "NVIDIA GeForce RTX 4070 Laptop GPU", "compute_processes": ((5151, 3 * GIB),),
}  # fmt: skip
for _key in ("fan_percent", "fans", "power_limit_min_mw", "persistence_mode"):
    del LAPTOP[_key]
GB10 = {
    **_BASE, **_MODES, **_LOST_TIME, **_UTILISATION, **_power(38, 140, 10, averages=True),
    "name": "NVIDIA GB10", "compute_major": 12, "compute_minor": 1, "utilization_memory": 0,
}  # fmt: skip
for _key in ("memory_total", "memory_used", "memory_reserved", "clock_memory_mhz",
             "clock_memory_max_mhz", "pcie_tx_kb_per_s", "pcie_rx_kb_per_s", "power_limit_mw", "power_limit_max_mw",
             "power_limit_min_mw", "power_limit_default_mw"):  # fmt: skip
    del GB10[_key]
"""A chip that shares the CPU's memory: it says nothing of memory, and GPM does not exist on it."""
VGPU: dict[str, Any] = {
    "name": "NVIDIA A40-8Q", "virtualization": 2, "compute_mode": 0, "persistence_mode": 1,
    "compute_major": 8, "compute_minor": 6, **_memory(8192), "utilization_gpu": 44, "utilization_memory": 12,
    "encoder_percent": 0, "encoder_period_us": 167_000, "decoder_percent": 0, "decoder_period_us": 167_000,
    "clock_graphics_mhz": 1740, "clock_sm_mhz": 1740, "clock_memory_mhz": 7251, "performance_state": 0,
    "compute_processes": ((4242, 3 * GIB),), "graphics_processes": (), "process_utilization": ((4242, 57),),
}  # fmt: skip
"""A part of a GPU inside a virtual machine: nothing of the board (power, temperature, PCIe, clock events)."""

PROFILES: dict[str, dict[str, Any]] = {
    "A100": A100, "H100": H100_SXM, "B200": B200, "GB200": GB200, "L40S": L40S, "T4": T4, "desktop": DESKTOP,
    "laptop": LAPTOP, "GB10": GB10, "vGPU": VGPU,
}  # fmt: skip


def mig_instance(number: int, gibibytes: int) -> dict[str, Any]:
    """A MIG instance of a Hopper GPU: its own memory, processes and GPM; NVML refuses its handle all else."""
    return {
        "uuid": f"MIG-00000000-0000-4000-8000-{number:012x}", "name": f"NVIDIA H100 80GB HBM3 MIG {number}",
        "gpu_instance_id": number, "memory_total": gibibytes * GIB, "memory_used": gibibytes * GIB // 4,
        "memory_reserved": 64 * MIB, "compute_processes": ((100 + number, GIB),), "graphics_processes": (),
        "gpm_1": 10.0 * number, "gpm_2": 9.0 * number, "gpm_3": 4.0 * number, "gpm_5": 3.0 * number,
        "gpm_10": 5.0 * number,
    }  # fmt: skip


MIG_GPU = {
    **{
        key: value
        for key, value in H100_SXM.items()
        if key not in {"utilization_gpu", "utilization_memory", "encoder_percent", "decoder_percent"}
        and key != "process_utilization"
    },
    "mig_mode": 1, "mig_mode_pending": 1, "compute_processes": (),
}  # fmt: skip
"""A Hopper GPU that is split into instances: add them with `mig_instance`."""
