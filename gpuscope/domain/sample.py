"""What one look at the machine gives.

A figure is a number, or None. None with an entry in `unavailable` was asked for and is not to be had, for that
reason; None without one was not read in this frame (fields are read at different rates). It is never 0 for "missing".
"""

from __future__ import annotations

from typing import Any

from gpuscope.domain.base import Compact
from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.topology import Topology


class ProcessSample(Compact, frozen=True, kw_only=True):
    """One process: on a GPU (from the driver) or in the workload's tree (from the host)."""

    pid: int
    name: str | None = None
    user: str | None = None
    kind: str | None = None
    """compute, graphics, or workload (a member of the workload's process tree)"""
    started_wall_s: float | None = None
    """When it began, seconds since 1970."""
    gpu_memory_bytes: int | None = None
    sm_percent: float | None = None
    """Share of the GPU's time in which its kernels ran, over the driver's own window; 0 when it was idle."""
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
    """Averaged by the driver over a second on Ampere and later except GA100 (A100, A30), else of the moment; see
    `Device.power_averaged`."""
    power_instant_w: float | None = None
    """Of the moment, as the driver last sampled it: A100 and H100 look only during a quarter of the time."""
    power_module_w: float | None = None
    """Of the whole module where a CPU shares it (Grace Hopper, Grace Blackwell)."""
    power_limit_w: float | None = None
    energy_j: float | None = None
    """Counter since driver load; use differences."""
    temperature_c: float | None = None
    temperature_memory_c: float | None = None
    temperature_margin_c: float | None = None
    """Degrees left until the chip slows down."""
    fan_percent: float | None = None
    """Of the fastest fan."""
    fan_percents: tuple[float, ...] | None = None
    """Of each fan, where there are several."""
    clock_sm_mhz: float | None = None
    clock_graphics_mhz: float | None = None
    clock_memory_mhz: float | None = None
    clock_event_reasons: int | None = None
    """NVML clock-event bit mask; bit 0 (idle) is not throttling."""
    throttle_power_s: float | None = None
    """Time with clocks lowered to stay below the power limit. These are counters since driver load; use differences."""
    throttle_thermal_s: float | None = None
    """The same by the driver, because of temperature."""
    throttle_hardware_thermal_s: float | None = None
    """The same by the hardware's own protection from heat."""
    throttle_power_brake_s: float | None = None
    """The same by the power supply's brake signal."""
    performance_state: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    pcie_rx_bytes_per_s: float | None = None
    """To the GPU."""
    pcie_tx_bytes_per_s: float | None = None
    """From the GPU."""
    pcie_limit_bytes_per_s: float | None = None
    """What the link carries in each direction as it is now (generation times width, after line coding)."""
    pcie_replays: int | None = None
    """Packets sent again since driver load: many mean a bad slot, riser or cable."""
    nvlink_rx_bytes_per_s: float | None = None
    """To the GPU, all links together."""
    nvlink_tx_bytes_per_s: float | None = None
    nvlink_limit_bytes_per_s: float | None = None
    """What the active links carry together in each direction."""
    nvlink_links_active: int | None = None
    gpm_graphics_percent: float | None = None
    """Share of time in which any compute or graphics work ran. This and the next: hardware counters of Hopper and
    later (GPM), a mean over the time since the reading before; an instance's are those of its GPU instance."""
    sm_activity_percent: float | None = None
    """Share of the SMs that had work, over time."""
    sm_occupancy_percent: float | None = None
    """Warps on the SMs, of the most that fit."""
    tensor_activity_percent: float | None = None
    """Share of time in which tensor cores worked."""
    dram_bandwidth_percent: float | None = None
    """Device memory traffic, of its peak bandwidth."""
    fp64_activity_percent: float | None = None
    """Share of time in which the FP64 pipes worked, without tensor cores; likewise the next two."""
    fp32_activity_percent: float | None = None
    fp16_activity_percent: float | None = None
    encoder_percent: float | None = None
    decoder_percent: float | None = None
    ecc_corrected_volatile: int | None = None
    """Errors that ECC corrected since driver load."""
    ecc_uncorrected_volatile: int | None = None
    ecc_corrected_aggregate: int | None = None
    """The same in the GPU's life."""
    ecc_uncorrected_aggregate: int | None = None
    rows_remapped_correctable: int | None = None
    """Rows of device memory replaced by spare ones (Ampere and later)."""
    rows_remapped_uncorrectable: int | None = None
    row_remap_pending: int | None = None
    """1: a row is replaced at the next reset."""
    row_remap_failed: int | None = None
    """1: no spare row was left: the GPU should be replaced."""
    pages_retired_corrected: int | None = None
    """Pages of device memory taken out of use (before Ampere) because of corrected errors."""
    pages_retired_uncorrected: int | None = None
    pages_retired_pending: int | None = None
    """1: a page is taken out of use at the next reset."""
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
    busy_percent: float | None = None
    """Share of time in which it had something to do. A disk that works on many requests at once can do more at 100."""
    unavailable: dict[str, Reason] = {}


class NetworkSample(Compact, frozen=True, kw_only=True):
    """Rates of one network interface, or of one port of an RDMA card, since the last reading."""

    name: str
    receive_bytes_per_s: float | None = None
    send_bytes_per_s: float | None = None
    link_bytes_per_s: float | None = None
    """What the link carries in each direction."""
    unavailable: dict[str, Reason] = {}


class TemperatureSample(Compact, frozen=True, kw_only=True):
    """One temperature sensor of the host."""

    name: str
    """The chip and what it calls the place: `coretemp Package id 0`."""
    celsius: float | None = None
    limit_c: float | None = None
    """Where the system has to act, as the sensor's maker says."""
    unavailable: dict[str, Reason] = {}


class HostSample(Compact, frozen=True, kw_only=True):
    """The machine at one moment.

    Pressures are shares of time in which work stood still for want of something: some of the tasks, or all of them at
    once (full); since the last reading, and as the kernel averages them over 10 s. Fields that begin with `cgroup_` are
    of the container, batch job or unit that gpuscope itself (or the workload that it follows) runs in: missing, with
    the reason, where that has all of the machine.
    """

    cpu_percent: float | None = None
    """Of all hardware threads together: 0 to 100."""
    cpu_percent_per_core: tuple[float, ...] | None = None
    cpu_iowait_percent: float | None = None
    """Idle while something waited for a disk; not in `cpu_percent`."""
    cpu_steal_percent: float | None = None
    """Given to others by the hypervisor; in `cpu_percent`."""
    cpu_frequency_mhz: float | None = None
    """Mean of all cores; like the limit and the temperatures, read every few seconds only."""
    cpu_frequency_limit_mhz: float | None = None
    """Up to which the system may go now."""
    load_1min: float | None = None
    load_5min: float | None = None
    load_15min: float | None = None
    cpu_pressure_some_percent: float | None = None
    cpu_pressure_some_avg10_percent: float | None = None
    memory_pressure_some_percent: float | None = None
    memory_pressure_some_avg10_percent: float | None = None
    memory_pressure_full_percent: float | None = None
    memory_pressure_full_avg10_percent: float | None = None
    io_pressure_some_percent: float | None = None
    io_pressure_some_avg10_percent: float | None = None
    io_pressure_full_percent: float | None = None
    io_pressure_full_avg10_percent: float | None = None
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    """Total less available."""
    memory_available_bytes: int | None = None
    """What new work can have without swapping, as the system estimates it."""
    memory_cached_bytes: int | None = None
    """Files' contents and what else the kernel gives up when memory is wanted."""
    memory_dirty_bytes: int | None = None
    """Written by programs and not yet on disk."""
    memory_bandwidth_bytes_per_s: float | None = None
    """Between last-level caches and memory, reading and writing."""
    huge_page_bytes: int | None = None
    """Size of one huge page of the default size."""
    huge_pages_total: int | None = None
    huge_pages_free: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_in_bytes_per_s: float | None = None
    swap_out_bytes_per_s: float | None = None
    disk_read_bytes_per_s: float | None = None
    disk_write_bytes_per_s: float | None = None
    disk_busy_percent: float | None = None
    """Of the busiest disk."""
    network_receive_bytes_per_s: float | None = None
    network_send_bytes_per_s: float | None = None
    rdma_receive_bytes_per_s: float | None = None
    """InfiniBand and RoCE, which the network's own figures do not have in them."""
    rdma_send_bytes_per_s: float | None = None
    cpu_temperature_c: float | None = None
    """Of the hottest sensor of the processors."""
    disks: tuple[DiskSample, ...] = ()
    networks: tuple[NetworkSample, ...] = ()
    rdma: tuple[NetworkSample, ...] = ()
    temperatures: tuple[TemperatureSample, ...] = ()
    cgroup_memory_limit_bytes: int | None = None
    cgroup_memory_used_bytes: int | None = None
    """Without file pages that can be dropped at once."""
    cgroup_cpu_limit_cores: float | None = None
    """The smaller of the quota and of the number of processors that it may use."""
    cgroup_cpu_percent: float | None = None
    """Percent of one core."""
    cgroup_throttled_percent: float | None = None
    """Share of the quota's periods in which it was used up."""
    cgroup_throttled_s_per_s: float | None = None
    """Seconds that processors have stood still for the quota, a second; of all of them together."""
    workload_cpu_percent: float | None = None
    """The workload's process tree together, percent of one core."""
    workload_rss_bytes: int | None = None
    workload_processes: tuple[ProcessSample, ...] | None = None
    read_s: float | None = None
    """How long this reading took."""
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
    library_mismatch, no_gpu, asleep (ok: all GPUs sleep and are left alone), gpu_lost, no_permission, wedged, error"""
    sentence: str = ""
    """One plain sentence with what to do; empty when all is well."""
    generation: int = 0


class SourceEvent(Compact, frozen=True, kw_only=True):
    """Something that a source was told of, rather than something that it measured."""

    monotonic_s: float
    """When it was told, on the clock of `Frame.monotonic_s`."""
    kind: str
    """xid: the driver's report of an error of a GPU or of a program on it"""
    uuid: str | None = None
    """The GPU; None when the driver does not say which."""
    code: int | None = None
    """The Xid number."""
    sentence: str = ""
    """What it means and what to do."""
    gpu_instance: int | None = None
    """The MIG GPU instance that it concerns."""

    def facts(self) -> dict[str, Any]:
        """What is known of it, as the data of a session's event."""
        facts = {"uuid": self.uuid, "code": self.code, "sentence": self.sentence, "gpu_instance": self.gpu_instance}
        return {name: value for name, value in facts.items() if value is not None}


class Frame(Compact, frozen=True, kw_only=True):
    """One message of the sampler: whatever tiers were due. Times are seconds of the system's monotonic clock."""

    monotonic_s: float
    wall_s: float
    gpus: tuple[GpuSample, ...] | None = None
    host: HostSample | None = None
    sampler: SamplerSample | None = None
    devices: tuple[Device, ...] | None = None
    """Sent when devices appear or change (first frame, after a re-initialisation, MIG change)."""
    topology: Topology | None = None
    """How GPUs and network cards are connected; sent with the devices."""
    states: tuple[SourceState, ...] | None = None
    """Sent when a source's state changes."""
    events: tuple[SourceEvent, ...] | None = None
