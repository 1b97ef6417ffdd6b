"""The figures of the host in depth: what each is called, how it is written, and what it means."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from gpuscope.ui import figures
from gpuscope.ui.monitor_depth_gpu import DepthFigure, Group

translate = QCoreApplication.translate


def host_groups() -> tuple[Group, ...]:
    """The figures of the host, group by group."""
    return (_processor(), _held_up(), _memory(), _rates(), _container())


def _processor() -> Group:
    tr, percent = translate, figures.percent
    return Group(
        tr("Depth", "Host: processors"),
        (
            DepthFigure("cpu_percent", tr("Depth", "CPU"), percent, tr("Depth", "Of all hardware threads together.")),
            DepthFigure(
                "cpu_iowait_percent", tr("Depth", "waits for disks"), percent,
                tr("Depth", "Time in which idle CPUs waited for a disk; not in CPU."),
            ),
            DepthFigure(
                "cpu_steal_percent", tr("Depth", "stolen"), percent,
                tr("Depth", "Given to other virtual machines by the hypervisor: this one gets less than it sees."),
            ),
            DepthFigure(
                "cpu_frequency_mhz", tr("Depth", "clock"), figures.megahertz,
                tr("Depth", "Mean of all cores; behind it up to which the system may go now."),
                limit_field="cpu_frequency_limit_mhz",
            ),
            DepthFigure(
                "cpu_temperature_c", tr("Depth", "temperature"), figures.celsius,
                tr("Depth", "Of the hottest sensor of the processors."),
            ),
            DepthFigure(
                "load_1min", tr("Depth", "load 1 min"), figures.load,
                tr("Depth", "Tasks that run or wait for a CPU or a disk, a mean: more than there are hardware threads "
                            "means that some wait."),
            ),
            DepthFigure("load_15min", tr("Depth", "15 min"), figures.load, tr("Depth", "The same over 15 minutes.")),
        ),
    )  # fmt: skip


def _held_up() -> Group:
    tr, percent = translate, figures.percent
    some = tr("Depth", "Share of time in which at least one task stood still for want of it (pressure, from the "
                       "kernel).")  # fmt: skip
    every = tr("Depth", "Share of time in which all tasks stood still for want of it at once (pressure, full).")
    return Group(
        tr("Depth", "Host: held up by"),
        (
            DepthFigure("cpu_pressure_some_percent", tr("Depth", "CPU"), percent, some),
            DepthFigure("memory_pressure_some_percent", tr("Depth", "memory"), percent, some),
            DepthFigure("memory_pressure_full_percent", tr("Depth", "memory, all"), percent, every),
            DepthFigure("io_pressure_some_percent", tr("Depth", "disks"), percent, some),
            DepthFigure("io_pressure_full_percent", tr("Depth", "disks, all"), percent, every),
        ),
    )


def _memory() -> Group:
    tr, memory = translate, figures.memory
    return Group(
        tr("Depth", "Host: memory"),
        (
            DepthFigure(
                "memory_used_bytes", tr("Depth", "used"), memory, tr("Depth", "All there is less what is available."),
                limit_field="memory_total_bytes",
            ),
            DepthFigure(
                "memory_available_bytes", tr("Depth", "available"), memory,
                tr("Depth", "What new work can have without swapping, as the system estimates it."),
            ),
            DepthFigure(
                "memory_cached_bytes", tr("Depth", "cached"), memory,
                tr("Depth", "Contents of files, given up when memory is wanted: a data set that fits is read from disk "
                            "once."),
            ),
            DepthFigure(
                "memory_dirty_bytes", tr("Depth", "to be written"), memory,
                tr("Depth", "Written by programs and not yet on disk."),
            ),
            DepthFigure(
                "swap_used_bytes", tr("Depth", "swap"), memory,
                tr("Depth", "Memory that was moved out to disk."), limit_field="swap_total_bytes",
            ),
            DepthFigure(
                "swap_in_bytes_per_s", tr("Depth", "swap in"), figures.rate,
                tr("Depth", "Memory that is read back from disk: work waits for each of it."),
            ),
            DepthFigure(
                "memory_bandwidth_bytes_per_s", tr("Depth", "bandwidth"), figures.rate,
                tr("Depth", "Between last-level caches and memory, reading and writing."),
            ),
        ),
    )  # fmt: skip


def _rates() -> Group:
    tr, rate = translate, figures.rate
    return Group(
        tr("Depth", "Host: disks, net"),
        (
            DepthFigure("disk_read_bytes_per_s", tr("Depth", "read"), rate, tr("Depth", "All disks together.")),
            DepthFigure("disk_write_bytes_per_s", tr("Depth", "write"), rate, tr("Depth", "All disks together.")),
            DepthFigure(
                "disk_busy_percent", tr("Depth", "busiest disk"), figures.percent,
                tr("Depth", "Share of time in which it had something to do. A disk that works on many requests at once "
                            "can do more at 100%."),
            ),
            DepthFigure(
                "network_receive_bytes_per_s", tr("Depth", "net in"), rate, tr("Depth", "All interfaces together.")
            ),
            DepthFigure(
                "network_send_bytes_per_s", tr("Depth", "net out"), rate, tr("Depth", "All interfaces together.")
            ),
            DepthFigure(
                "rdma_receive_bytes_per_s", tr("Depth", "RDMA in"), rate,
                tr("Depth", "InfiniBand and RoCE, which the network's own figures do not have in them."),
            ),
            DepthFigure(
                "rdma_send_bytes_per_s", tr("Depth", "RDMA out"), rate,
                tr("Depth", "InfiniBand and RoCE, which the network's own figures do not have in them."),
            ),
        ),
    )  # fmt: skip


def _container() -> Group:
    tr = translate
    return Group(
        tr("Depth", "Container or job"),
        (
            DepthFigure(
                "cgroup_memory_used_bytes", tr("Depth", "memory"), figures.memory,
                tr("Depth", "Of the container, batch job or unit, without file pages that can be dropped at once; "
                            "above the limit the kernel ends a process."),
                limit_field="cgroup_memory_limit_bytes",
            ),
            DepthFigure(
                "cgroup_cpu_percent", tr("Depth", "CPU"), figures.percent,
                tr("Depth", "Percent of one core: a limit of four cores is 400%."),
            ),
            DepthFigure(
                "cgroup_cpu_limit_cores", tr("Depth", "cores allowed"), figures.load,
                tr("Depth", "The smaller of the quota and of the number of processors that it may use."),
            ),
            DepthFigure(
                "cgroup_throttled_percent", tr("Depth", "quota used up"), figures.percent,
                tr("Depth", "Share of the quota's periods in which it was used up: data loading then stands still."),
            ),
        ),
    )  # fmt: skip
