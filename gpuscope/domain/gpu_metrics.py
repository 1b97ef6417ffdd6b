"""Metrics of Prometheus exporters for GPUs: which figure of a sample each one is, and its unit."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.domain.units import MIB


class Metric(NamedTuple):
    """A figure of a sample."""

    field: str
    scale: float = 1.0
    """From the metric's unit to the field's."""


METRICS: dict[str, Metric] = {
    # dcgm-exporter
    "DCGM_FI_DEV_GPU_UTIL": Metric("utilization_gpu_percent"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": Metric("utilization_memory_percent"),
    "DCGM_FI_DEV_ENC_UTIL": Metric("encoder_percent"),
    "DCGM_FI_DEV_DEC_UTIL": Metric("decoder_percent"),
    "DCGM_FI_DEV_FB_TOTAL": Metric("memory_total_bytes", MIB),
    "DCGM_FI_DEV_FB_USED": Metric("memory_used_bytes", MIB),
    "DCGM_FI_DEV_FB_FREE": Metric("memory_free_bytes", MIB),
    "DCGM_FI_DEV_FB_RESERVED": Metric("memory_reserved_bytes", MIB),
    "DCGM_FI_DEV_POWER_USAGE": Metric("power_w"),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": Metric("power_limit_w"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": Metric("energy_j", 1e-3),
    "DCGM_FI_DEV_GPU_TEMP": Metric("temperature_c"),
    "DCGM_FI_DEV_MEMORY_TEMP": Metric("temperature_memory_c"),
    "DCGM_FI_DEV_SM_CLOCK": Metric("clock_sm_mhz"),
    "DCGM_FI_DEV_MEM_CLOCK": Metric("clock_memory_mhz"),
    "DCGM_FI_DEV_FAN_SPEED": Metric("fan_percent"),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": Metric("clock_event_reasons"),
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": Metric("clock_event_reasons"),
    "DCGM_FI_DEV_POWER_USAGE_INSTANT": Metric("power_instant_w"),
    "DCGM_FI_DEV_PSTATE": Metric("performance_state"),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": Metric("ecc_corrected_volatile"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": Metric("ecc_uncorrected_volatile"),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": Metric("rows_remapped_correctable"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": Metric("rows_remapped_uncorrectable"),
    # its profiling fields, which are shares from 0 to 1 and rates a second
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": Metric("gpm_graphics_percent", 100),
    "DCGM_FI_PROF_SM_ACTIVE": Metric("sm_activity_percent", 100),
    "DCGM_FI_PROF_SM_OCCUPANCY": Metric("sm_occupancy_percent", 100),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": Metric("tensor_activity_percent", 100),
    "DCGM_FI_PROF_DRAM_ACTIVE": Metric("dram_bandwidth_percent", 100),
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE": Metric("fp64_activity_percent", 100),
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE": Metric("fp32_activity_percent", 100),
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE": Metric("fp16_activity_percent", 100),
    "DCGM_FI_PROF_PCIE_RX_BYTES": Metric("pcie_rx_bytes_per_s"),
    "DCGM_FI_PROF_PCIE_TX_BYTES": Metric("pcie_tx_bytes_per_s"),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": Metric("nvlink_rx_bytes_per_s"),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": Metric("nvlink_tx_bytes_per_s"),
    # the first DCGM exporter
    "dcgm_gpu_utilization": Metric("utilization_gpu_percent"),
    "dcgm_mem_copy_utilization": Metric("utilization_memory_percent"),
    "dcgm_enc_utilization": Metric("encoder_percent"),
    "dcgm_dec_utilization": Metric("decoder_percent"),
    "dcgm_fb_used": Metric("memory_used_bytes", MIB),
    "dcgm_fb_free": Metric("memory_free_bytes", MIB),
    "dcgm_power_usage": Metric("power_w"),
    "dcgm_total_energy_consumption": Metric("energy_j", 1e-3),
    "dcgm_gpu_temp": Metric("temperature_c"),
    "dcgm_memory_temp": Metric("temperature_memory_c"),
    "dcgm_sm_clock": Metric("clock_sm_mhz"),
    "dcgm_memory_clock": Metric("clock_memory_mhz"),
    # nvidia_gpu_exporter
    "nvidia_smi_utilization_gpu_ratio": Metric("utilization_gpu_percent", 100),
    "nvidia_smi_utilization_memory_ratio": Metric("utilization_memory_percent", 100),
    "nvidia_smi_memory_total_bytes": Metric("memory_total_bytes"),
    "nvidia_smi_memory_used_bytes": Metric("memory_used_bytes"),
    "nvidia_smi_memory_free_bytes": Metric("memory_free_bytes"),
    "nvidia_smi_memory_reserved_bytes": Metric("memory_reserved_bytes"),
    "nvidia_smi_power_draw_watts": Metric("power_w"),
    "nvidia_smi_power_draw_instant_watts": Metric("power_instant_w"),
    "nvidia_smi_enforced_power_limit_watts": Metric("power_limit_w"),
    "nvidia_smi_temperature_gpu": Metric("temperature_c"),
    "nvidia_smi_temperature_memory": Metric("temperature_memory_c"),
    "nvidia_smi_fan_speed_ratio": Metric("fan_percent", 100),
    "nvidia_smi_clocks_current_sm_clock_hz": Metric("clock_sm_mhz", 1e-6),
    "nvidia_smi_clocks_current_memory_clock_hz": Metric("clock_memory_mhz", 1e-6),
    "nvidia_smi_pstate": Metric("performance_state"),
    # nvidia-dcgm of node exporters and the NVML exporter
    "nvidia_gpu_duty_cycle": Metric("utilization_gpu_percent"),
    "nvidia_gpu_memory_used_bytes": Metric("memory_used_bytes"),
    "nvidia_gpu_memory_total_bytes": Metric("memory_total_bytes"),
    "nvidia_gpu_power_usage_milliwatts": Metric("power_w", 1e-3),
    "nvidia_gpu_temperature_celsius": Metric("temperature_c"),
    "nvidia_gpu_fanspeed_percent": Metric("fan_percent"),
}
"""By name, as the exporters' own documentation lists them with their units."""

PROFILING_FIELDS = frozenset(metric.field for name, metric in METRICS.items() if name.startswith("DCGM_FI_PROF_"))
"""What the hardware's own counters give."""
PREFIXES = ("DCGM_FI_", "dcgm_", "nvidia_smi_", "nvidia_gpu_")
"""Of metrics that are about a GPU; those without an entry above are kept under their own names."""
