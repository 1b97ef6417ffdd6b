"""Which figures the plots of the Monitor show, and what each plot means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication

from gpuscope.domain.series import HOST_KEY
from gpuscope.ui import figures
from gpuscope.ui.figures import Figure
from gpuscope.ui.rings import FloatArray

translate = QCoreApplication.translate

GPU = "gpu"
"""Stands for the chosen GPU where a device is named."""

Derive = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of the chosen GPU or of the host."""

    device: str
    field: str
    label: str
    metric: str
    figure: Callable[[float | None], Figure]
    dashed: bool = False
    right: bool = False
    optional: bool = False
    """Its value is only shown when there is one: it is no figure of every session."""
    alone: bool = False
    """Of the chosen GPU only: the other GPUs' curves do not lie behind it."""
    limit_field: str = ""
    """A figure of the same device that this one can reach at most: stands behind its value."""
    derive: Derive | None = None
    """Makes what is drawn out of the recorded readings, such as a rate out of a counter."""

    @property
    def key(self) -> str:
        """What tells it from all other lines of a plot."""
        return f"{self.device}:{self.field}"


def share_of_time(t: FloatArray, seconds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A counter of seconds → percent of the time since the reading before; NaN where the counter started again."""
    if len(t) < 2:
        return np.empty(0), np.empty(0)
    passed = np.diff(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = 100.0 * np.diff(seconds) / passed
    percent[(percent < 0) | (passed <= 0)] = np.nan
    return t[1:], np.minimum(percent, 100.0)


def of_cores(cores: float) -> Derive:
    """Percent of one core → percent of so many."""

    def derive(t: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return t, values / cores

    return derive


def plot_lines(cpu_limit_cores: float | None = None, *, memory_is_limited: bool = False) -> dict[str, list[Line]]:
    """The lines of all plots by the plot's name.

    Args:
        cpu_limit_cores: of the container that the work runs in, which stand in for the machine's; None: no limit.
        memory_is_limited: the container's memory stands in for the machine's.
    """
    return {
        "utilization": _utilization(_cpu(cpu_limit_cores)),
        "memory": [Line(GPU, "memory_used_bytes", translate("MonitorPlots", "used"), "gpu_memory", figures.memory)],
        "bandwidth": _links(),
        "power": _power(),
        "heat": _heat(),
        "disks": _disks(),
        "host": _host(_cpu(cpu_limit_cores), memory_is_limited=memory_is_limited),
    }


def _cpu(limit_cores: float | None) -> Line:
    if not limit_cores:
        return Line(HOST_KEY, "cpu_percent", translate("MonitorPlots", "CPU"), "cpu", figures.percent)
    label = translate("MonitorPlots", "CPU of the container")
    return Line(HOST_KEY, "cgroup_cpu_percent", label, "cpu", figures.percent, derive=of_cores(limit_cores))


def _utilization(cpu: Line) -> list[Line]:
    tr = translate
    return [
        Line(GPU, "utilization_gpu_percent", tr("MonitorPlots", "GPU"), "utilization_gpu", figures.percent),
        _counter("sm_activity_percent", tr("MonitorPlots", "SMs"), "sm_activity", figures.percent),
        _counter("tensor_activity_percent", tr("MonitorPlots", "tensor cores"), "tensor_activity", figures.percent),
        _counter("dram_bandwidth_percent", tr("MonitorPlots", "memory bandwidth"), "dram_bandwidth", figures.percent),
        cpu,
    ]


def _links() -> list[Line]:
    tr, rate = translate, figures.rate
    out = tr("MonitorPlots", "out")
    return [
        Line(
            GPU, "pcie_rx_bytes_per_s", tr("MonitorPlots", "PCIe in"), "pcie", rate,
            limit_field="pcie_limit_bytes_per_s",
        ),
        Line(GPU, "pcie_tx_bytes_per_s", out, "pcie", rate, dashed=True),
        Line(
            GPU, "nvlink_rx_bytes_per_s", tr("MonitorPlots", "NVLink in"), "nvlink", rate, right=True, optional=True,
            limit_field="nvlink_limit_bytes_per_s",
        ),
        Line(GPU, "nvlink_tx_bytes_per_s", out, "nvlink", rate, dashed=True, right=True, optional=True),
    ]  # fmt: skip


def _disks() -> list[Line]:
    tr, rate = translate, figures.rate
    out = tr("MonitorPlots", "out")
    return [
        Line(HOST_KEY, "disk_read_bytes_per_s", tr("MonitorPlots", "disk read"), "disk", rate),
        Line(HOST_KEY, "disk_write_bytes_per_s", tr("MonitorPlots", "write"), "disk", rate, dashed=True),
        Line(HOST_KEY, "network_receive_bytes_per_s", tr("MonitorPlots", "net in"), "network", rate),
        Line(HOST_KEY, "network_send_bytes_per_s", out, "network", rate, dashed=True),
        _host_figure("rdma_receive_bytes_per_s", tr("MonitorPlots", "RDMA in"), "rdma", rate),
        _host_figure("rdma_send_bytes_per_s", out, "rdma", rate, dashed=True),
    ]


def _power() -> list[Line]:
    tr, megahertz = translate, figures.megahertz
    return [
        Line(GPU, "power_w", tr("MonitorPlots", "power"), "power", figures.watts, limit_field="power_limit_w"),
        _counter("power_instant_w", tr("MonitorPlots", "of the moment"), "power", figures.watts, dashed=True),
        Line(GPU, "clock_sm_mhz", tr("MonitorPlots", "SM clock"), "clock_sm", megahertz, right=True),
        Line(GPU, "clock_memory_mhz", tr("MonitorPlots", "memory clock"), "clock_memory", megahertz, right=True),
    ]


def _heat() -> list[Line]:
    tr = translate
    return [
        _counter("temperature_c", tr("MonitorPlots", "GPU"), "temperature", figures.celsius),
        _counter("temperature_memory_c", tr("MonitorPlots", "memory"), "temperature_memory", figures.celsius),
        _lost("throttle_power_s", tr("MonitorPlots", "slowed by the power limit"), "slowed_power"),
        _lost("throttle_thermal_s", tr("MonitorPlots", "by heat"), "slowed_heat"),
        _lost("throttle_hardware_thermal_s", tr("MonitorPlots", "by protection from heat"), "slowed_heat", dashed=True),
        _lost("throttle_power_brake_s", tr("MonitorPlots", "by the power brake"), "slowed_power", dashed=True),
    ]


def _host(cpu: Line, *, memory_is_limited: bool) -> list[Line]:
    tr, percent, memory = translate, figures.percent, figures.memory
    used = "cgroup_memory_used_bytes" if memory_is_limited else "memory_used_bytes"
    label = tr("MonitorPlots", "memory of the container") if memory_is_limited else tr("MonitorPlots", "memory")
    run = tr("MonitorPlots", "of it the run")
    return [
        cpu,
        _host_figure("cpu_iowait_percent", tr("MonitorPlots", "waits for disks"), "iowait", percent),
        _host_figure("io_pressure_some_percent", tr("MonitorPlots", "held up: disks"), "disk", percent, dashed=True),
        _host_figure(
            "memory_pressure_some_percent", tr("MonitorPlots", "memory"), "memory_pressure", percent, dashed=True
        ),
        Line(HOST_KEY, used, label, "host_memory", memory, right=True),
        _host_figure("workload_rss_bytes", run, "host_memory", memory, dashed=True, right=True),
        _host_figure("swap_used_bytes", tr("MonitorPlots", "swap"), "swap", memory, right=True),
    ]


def _counter(
    field: str, label: str, metric: str, figure: Callable[[float | None], Figure], *, dashed: bool = False
) -> Line:
    """A figure that only some GPUs have."""
    return Line(GPU, field, label, metric, figure, dashed=dashed, optional=True, alone=True)


def _lost(field: str, label: str, metric: str, *, dashed: bool = False) -> Line:
    """Time lost to a reason: the driver counts it in seconds."""
    return Line(
        GPU, field, label, metric, figures.percent, dashed=dashed, right=True, optional=True, alone=True,
        derive=share_of_time,
    )  # fmt: skip


def _host_figure(
    field: str,
    label: str,
    metric: str,
    figure: Callable[[float | None], Figure],
    *,
    dashed: bool = False,
    right: bool = False,
) -> Line:
    """A figure that only some hosts have."""
    return Line(HOST_KEY, field, label, metric, figure, dashed=dashed, right=right, optional=True)


def explanations() -> dict[str, str]:
    """What each plot shows, in words, by its name."""
    tr = translate
    return {
        "utilization": tr(
            "MonitorPlots",
            "GPU: share of time in which at least one kernel ran, not of capacity. Where the chip counts them: SMs, "
            "share of the multiprocessors that had work; tensor cores, share of time in which they worked; memory "
            "bandwidth, of its peak. CPU: of all hardware threads, or of those that the container may use. The small "
            "marks at the bottom are optimizer steps.",
        ),
        "memory": tr(
            "MonitorPlots",
            "Memory that processes hold on the chosen GPU; the axis ends at all there is. Other GPUs are pale.",
        ),
        "bandwidth": tr(
            "MonitorPlots",
            "PCIe of the chosen GPU (left) and NVLink over all its links (right), from the driver's counters, each "
            "with what the link carries at most in one direction. In: to the GPU.",
        ),
        "disks": tr(
            "MonitorPlots",
            "Disks, network interfaces and RDMA cards of the host, each kind added up. RDMA is not in the network's.",
        ),
        "power": tr(
            "MonitorPlots",
            "Power drawn by the chosen GPU (left) with its limit as a dotted line, and its clocks (right). The driver "
            "averages power over a second on Ampere and later except A100 and A30; where it also tells the power of "
            "the moment, that is dashed. A100 and H100 look at it during a quarter of the time only.",
        ),
        "heat": tr(
            "MonitorPlots",
            "Temperatures of the chip and its memory (left), with dotted lines where the GPU lowers its clocks, and "
            "the share of time in which clocks were held down, by reason (right), from the driver's counters.",
        ),
        "host": tr(
            "MonitorPlots",
            "CPU (left): of all hardware threads, or of those that the container may use; time in which idle CPUs "
            "waited for a disk; share of time in which some task stood still for want of disks or of memory. Memory "
            "and swap in use (right), of the container's limit where there is one.",
        ),
    }
