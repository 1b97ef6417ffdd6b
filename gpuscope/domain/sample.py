"""What one look at the machine gives.

A figure is a number, or None. None with an entry in `unavailable` was asked for and is not to be had, for that
reason; None without one was not read in this frame (fields are read at different rates). It is never 0 for "missing".
"""

from __future__ import annotations

from gpuscope.domain.base import Compact
from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason


class ProcessSample(Compact, frozen=True, kw_only=True):
    """One process: on a GPU (from the driver) or in the workload's tree (from the host)."""

    pid: int
    name: str | None = None
    user: str | None = None
    kind: str | None = None
    """compute, graphics, or workload (a member of the workload's process tree)"""
    gpu_memory_bytes: int | None = None
    cpu_percent: float | None = None
    """Percent of one core, over the time since the last reading."""
    rss_bytes: int | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    threads: int | None = None
    unavailable: dict[str, Reason] = {}


class GpuSample(Compact, frozen=True, kw_only=True):
    """One GPU or MIG instance at one moment."""

    uuid: str
    utilization_gpu_percent: float | None = None
    """Share of time in which at least one kernel ran (a window of 1/6 s to 1 s); not the share of its capacity."""
    utilization_memory_percent: float | None = None
    """Share of time in which device memory was read or written; not bandwidth, not occupancy."""
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    """Held by processes; the driver's own reservation is not in it (NVML memory v2)."""
    memory_reserved_bytes: int | None = None
    memory_free_bytes: int | None = None
    power_w: float | None = None
    """Averaged by the driver over about a second on newer chips."""
    power_instant_w: float | None = None
    power_limit_w: float | None = None
    energy_j: float | None = None
    """Counter since driver load; use differences."""
    temperature_c: float | None = None
    temperature_memory_c: float | None = None
    fan_percent: float | None = None
    clock_sm_mhz: float | None = None
    clock_graphics_mhz: float | None = None
    clock_memory_mhz: float | None = None
    clock_event_reasons: int | None = None
    """NVML clock-event bit mask; bit 0 (idle) is not throttling."""
    performance_state: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    pcie_rx_bytes_per_s: float | None = None
    pcie_tx_bytes_per_s: float | None = None
    encoder_percent: float | None = None
    decoder_percent: float | None = None
    processes: tuple[ProcessSample, ...] | None = None
    read_start_s: float | None = None
    """Monotonic clock (as `Frame.monotonic_s`) before the first driver call of this sample."""
    read_end_s: float | None = None
    """The same, after the last."""
    unavailable: dict[str, Reason] = {}


class DiskSample(Compact, frozen=True, kw_only=True):
    """Rates of one block device since the last reading."""

    name: str
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None


class NetworkSample(Compact, frozen=True, kw_only=True):
    """Rates of one network interface since the last reading."""

    name: str
    receive_bytes_per_s: float | None = None
    send_bytes_per_s: float | None = None


class HostSample(Compact, frozen=True, kw_only=True):
    """The machine at one moment."""

    cpu_percent: float | None = None
    """Of all hardware threads together: 0 to 100."""
    cpu_percent_per_core: tuple[float, ...] | None = None
    load_1min: float | None = None
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    memory_available_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    disk_read_bytes_per_s: float | None = None
    disk_write_bytes_per_s: float | None = None
    network_receive_bytes_per_s: float | None = None
    network_send_bytes_per_s: float | None = None
    disks: tuple[DiskSample, ...] = ()
    networks: tuple[NetworkSample, ...] = ()
    workload_cpu_percent: float | None = None
    """The workload's process tree together, percent of one core."""
    workload_rss_bytes: int | None = None
    workload_processes: tuple[ProcessSample, ...] | None = None
    unavailable: dict[str, Reason] = {}


class SamplerSample(Compact, frozen=True, kw_only=True):
    """What the monitor itself costs, and what it missed."""

    cpu_percent: float | None = None
    """Of one core, the sampler process."""
    rss_bytes: int | None = None
    driver_share_percent: float | None = None
    """Share of wall time spent in driver calls."""
    missed_ticks: int = 0
    """Readings that came too late and were left out, since this sampler started."""
    driver_calls: int = 0
    """Since this sampler started."""


class SourceState(Compact, frozen=True, kw_only=True):
    """Whether a source of numbers works: shown to the person when it does not."""

    source: str
    """nvml or host"""
    ok: bool
    code: str = "ok"
    """ok, stretched (ok, some figures are read less often), no_driver_library, wrong_binding, driver_not_loaded,
    library_mismatch, no_gpu, gpu_lost, no_permission, wedged, error"""
    sentence: str = ""
    """One plain sentence with what to do; empty when all is well."""
    generation: int = 0


class Frame(Compact, frozen=True, kw_only=True):
    """One message of the sampler: whatever tiers were due. Times are seconds of the system's monotonic clock."""

    monotonic_s: float
    wall_s: float
    gpus: tuple[GpuSample, ...] | None = None
    host: HostSample | None = None
    sampler: SamplerSample | None = None
    devices: tuple[Device, ...] | None = None
    """Sent when devices appear or change (first frame, after a re-initialisation, MIG change)."""
    states: tuple[SourceState, ...] | None = None
    """Sent when a source's state changes."""
