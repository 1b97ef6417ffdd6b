"""The figures of one GPU in depth: what each is called, how it is written, and what it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.device import Device
from gpuscope.ui import figures
from gpuscope.ui.figures import Figure

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class DepthFigure:
    """One figure of a sample."""

    field: str
    label: str
    figure: Callable[[float | None], Figure]
    meaning: str
    limit_field: str = ""
    """A figure of the same sample that this one can reach at most."""
    device_limit: str = ""
    """The same, as a fact of the device."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a device that does not change while it is watched."""

    field: str
    label: str
    text: Callable[[Device], str | None]
    meaning: str


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that belong together."""

    title: str
    figures: tuple[DepthFigure, ...]


def gpu_groups() -> tuple[Group, ...]:
    """The figures of a GPU, group by group."""
    return (_work(), _memory(), _links(), _power(), _lost_speed(), _heat(), _health())


def _work() -> Group:
    tr, percent = translate, figures.percent
    counted = tr("Depth", "Hardware counters of Hopper and later, a mean over the time since the reading before.")
    return Group(
        tr("Depth", "Work"),
        (
            DepthFigure(
                "utilization_gpu_percent", tr("Depth", "GPU"), percent,
                tr("Depth", "Share of time in which at least one kernel ran, over 1/6 s to 1 s; not of capacity."),
            ),
            DepthFigure(
                "utilization_memory_percent", tr("Depth", "memory controller"), percent,
                tr("Depth", "Share of time in which device memory was read or written; neither bandwidth nor "
                            "occupancy."),
            ),
            DepthFigure(
                "sm_activity_percent", tr("Depth", "SMs"), percent,
                tr("Depth", "Share of the multiprocessors that had work. {0}").format(counted),
            ),
            DepthFigure(
                "sm_occupancy_percent", tr("Depth", "occupancy"), percent,
                tr("Depth", "Warps on the multiprocessors, of the most that fit. {0}").format(counted),
            ),
            DepthFigure(
                "tensor_activity_percent", tr("Depth", "tensor cores"), percent,
                tr("Depth", "Share of time in which tensor cores worked. {0}").format(counted),
            ),
            DepthFigure(
                "dram_bandwidth_percent", tr("Depth", "memory bandwidth"), percent,
                tr("Depth", "Traffic of device memory, of its peak. {0}").format(counted),
            ),
            DepthFigure(
                "fp64_activity_percent", "FP64", percent,
                tr("Depth", "Share of time in which the FP64 pipes worked, without tensor cores. {0}").format(counted),
            ),
            DepthFigure(
                "fp32_activity_percent", "FP32", percent,
                tr("Depth", "Share of time in which the FP32 pipes worked, without tensor cores. {0}").format(counted),
            ),
            DepthFigure(
                "fp16_activity_percent", "FP16", percent,
                tr("Depth", "Share of time in which the FP16 pipes worked, without tensor cores. {0}").format(counted),
            ),
            DepthFigure(
                "encoder_percent", tr("Depth", "encoder"), percent,
                tr("Depth", "Share of time in which the video encoder worked."),
            ),
            DepthFigure(
                "decoder_percent", tr("Depth", "decoder"), percent,
                tr("Depth", "Share of time in which the video decoder worked: where it is busy, reading films may be "
                            "what the job waits for."),
            ),
        ),
    )  # fmt: skip


def _memory() -> Group:
    tr, memory = translate, figures.memory
    return Group(
        tr("Depth", "Memory"),
        (
            DepthFigure(
                "memory_used_bytes", tr("Depth", "used"), memory,
                tr("Depth", "Held by processes; what the driver keeps for itself is not in it."),
                limit_field="memory_total_bytes",
            ),
            DepthFigure(
                "memory_reserved_bytes", tr("Depth", "driver"), memory,
                tr("Depth", "Kept by the driver for itself; no process can have it."),
            ),
            DepthFigure(
                "memory_free_bytes", tr("Depth", "free"), memory, tr("Depth", "What a process could still get.")
            ),
        ),
    )  # fmt: skip


def _links() -> Group:
    tr, rate = translate, figures.rate
    pcie = tr("Depth", "Over PCIe, in one direction; behind it what the link carries as it is now.")
    nvlink = tr("Depth", "Over all NVLinks together, in one direction; behind it what the active links carry.")
    return Group(
        tr("Depth", "Links"),
        (
            DepthFigure(
                "pcie_rx_bytes_per_s", tr("Depth", "PCIe in"), rate, pcie, limit_field="pcie_limit_bytes_per_s"
            ),
            DepthFigure(
                "pcie_tx_bytes_per_s", tr("Depth", "PCIe out"), rate, pcie, limit_field="pcie_limit_bytes_per_s"
            ),
            DepthFigure(
                "pcie_generation", tr("Depth", "PCIe generation"), figures.count,
                tr("Depth", "As the link runs now; an idle GPU lowers it to save power. Below the highest in full work "
                            "the slot, the riser or the firmware's settings hold it back."),
                device_limit="pcie_generation_max",
            ),
            DepthFigure(
                "pcie_width", tr("Depth", "PCIe lanes"), figures.count,
                tr("Depth", "Lanes in use now. Fewer than the highest: the slot has no more, or a contact is bad."),
                device_limit="pcie_width_max",
            ),
            DepthFigure(
                "pcie_replays", tr("Depth", "PCIe replays"), figures.count,
                tr("Depth", "Packets sent again since driver load: many mean a bad slot, riser or cable."),
            ),
            DepthFigure(
                "nvlink_rx_bytes_per_s", tr("Depth", "NVLink in"), rate, nvlink, limit_field="nvlink_limit_bytes_per_s"
            ),
            DepthFigure(
                "nvlink_tx_bytes_per_s", tr("Depth", "NVLink out"), rate, nvlink, limit_field="nvlink_limit_bytes_per_s"
            ),
            DepthFigure(
                "nvlink_links_active", tr("Depth", "NVLinks"), figures.count,
                tr("Depth", "Links that work now, of those that the chip has."), device_limit="nvlink_links",
            ),
        ),
    )  # fmt: skip


def _power() -> Group:
    tr, watts, megahertz = translate, figures.watts, figures.megahertz
    return Group(
        tr("Depth", "Power and clocks"),
        (
            DepthFigure(
                "power_w", tr("Depth", "power"), watts,
                tr("Depth", "Averaged by the driver over a second on Ampere and later except A100 and A30, else of the "
                            "moment; behind it the limit."),
                limit_field="power_limit_w",
            ),
            DepthFigure(
                "power_instant_w", tr("Depth", "of the moment"), watts,
                tr("Depth", "As last sampled: A100 and H100 look only during a quarter of the time. Judge energy by "
                            "its counter."),
            ),
            DepthFigure(
                "power_module_w", tr("Depth", "whole module"), watts,
                tr("Depth", "Of GPU, CPU and memory together, where they share a module (Grace)."),
            ),
            DepthFigure(
                "energy_j", tr("Depth", "energy"), figures.energy,
                tr("Depth", "Counter since driver load: what to judge energy by."),
            ),
            DepthFigure(
                "clock_sm_mhz", tr("Depth", "SM clock"), megahertz,
                tr("Depth", "Of the multiprocessors now, and the highest."), device_limit="clock_sm_max_mhz",
            ),
            DepthFigure(
                "clock_memory_mhz", tr("Depth", "memory clock"), megahertz,
                tr("Depth", "Of device memory now, and the highest."), device_limit="clock_memory_max_mhz",
            ),
            DepthFigure(
                "clock_graphics_mhz", tr("Depth", "graphics clock"), megahertz,
                tr("Depth", "Of the graphics engine now, and the highest."), device_limit="clock_graphics_max_mhz",
            ),
            DepthFigure(
                "performance_state", tr("Depth", "performance state"), figures.performance_state,
                tr("Depth", "P0 is the fastest, P15 the slowest; idle GPUs go down by themselves."),
            ),
        ),
    )  # fmt: skip


def _lost_speed() -> Group:
    tr = translate
    since = tr("Depth", "Counted by the driver since it was loaded; the plot shows the share of time now.")
    entries = (
        ("throttle_power_s", tr("Depth", "power limit"), tr("Depth", "Time with clocks held down by the power limit.")),
        ("throttle_thermal_s", tr("Depth", "heat"), tr("Depth", "Time with clocks held down because of temperature.")),
        (
            "throttle_hardware_thermal_s",
            tr("Depth", "protection from heat"),
            tr("Depth", "Time in which the hardware protected itself from heat: look at fans, dust and air."),
        ),
        (
            "throttle_power_brake_s",
            tr("Depth", "power brake"),
            tr("Depth", "Time in which the power supply told the GPU to slow down: it, or the rack, is at its limit."),
        ),
    )
    return Group(
        tr("Depth", "Time slowed by"),
        tuple(DepthFigure(field, label, figures.seconds, f"{meaning} {since}") for field, label, meaning in entries),
    )


def _heat() -> Group:
    tr, celsius = translate, figures.celsius
    return Group(
        tr("Depth", "Heat"),
        (
            DepthFigure(
                "temperature_c", tr("Depth", "GPU"), celsius,
                tr("Depth", "Of the chip; behind it where it lowers its clocks."),
                device_limit="temperature_slowdown_c",
            ),
            DepthFigure(
                "temperature_memory_c", tr("Depth", "memory"), celsius,
                tr("Depth", "Of device memory; behind it up to which it is meant to work."),
                device_limit="temperature_memory_max_c",
            ),
            DepthFigure(
                "temperature_margin_c", tr("Depth", "margin"), celsius,
                tr("Depth", "Degrees left until the chip slows down."),
            ),
            DepthFigure(
                "fan_percent", tr("Depth", "fan"), figures.percent,
                tr("Depth", "Of the fastest fan, as it is meant to turn. Server cards have none of their own."),
            ),
        ),
    )  # fmt: skip


def _health() -> Group:
    tr, count = translate, figures.count
    replaced = tr("Depth", "Rows of device memory replaced by spare ones in the GPU's life")
    retired = tr("Depth", "Pages of device memory taken out of use in the GPU's life")
    entries = (
        ("ecc_corrected_volatile", tr("Depth", "corrected"),
         tr("Depth", "Memory errors that ECC put right since driver load: a few are normal.")),
        ("ecc_uncorrected_volatile", tr("Depth", "not corrected"),
         tr("Depth", "Memory errors that ECC could not put right since driver load: the work that used the memory is "
                     "lost.")),
        ("ecc_corrected_aggregate", tr("Depth", "corrected ever"), tr("Depth", "The same in the GPU's life.")),
        ("ecc_uncorrected_aggregate", tr("Depth", "not corrected ever"), tr("Depth", "The same in the GPU's life.")),
        ("rows_remapped_correctable", tr("Depth", "rows replaced"),
         tr("Depth", "{0}, after errors that ECC put right.").format(replaced)),
        ("rows_remapped_uncorrectable", tr("Depth", "after bad errors"),
         tr("Depth", "{0}, after errors that ECC could not put right.").format(replaced)),
        ("row_remap_pending", tr("Depth", "row waits"), tr("Depth", "A row is replaced at the next reset of the GPU.")),
        ("row_remap_failed", tr("Depth", "no spare row"),
         tr("Depth", "No spare row was left: the GPU should be replaced.")),
        ("pages_retired_corrected", tr("Depth", "pages retired"),
         tr("Depth", "{0}, after errors that ECC put right.").format(retired)),
        ("pages_retired_uncorrected", tr("Depth", "after bad errors"),
         tr("Depth", "{0}, after errors that ECC could not put right.").format(retired)),
        ("pages_retired_pending", tr("Depth", "page waits"),
         tr("Depth", "A page is taken out of use at the next reset of the GPU.")),
    )  # fmt: skip
    yes_or_no = {"row_remap_pending", "row_remap_failed", "pages_retired_pending"}
    return Group(
        tr("Depth", "Memory errors"),
        tuple(
            DepthFigure(field, label, figures.yes_or_no if field in yes_or_no else count, meaning)
            for field, label, meaning in entries
        ),
    )


def device_facts() -> tuple[Fact, ...]:
    """What does not change while a GPU is watched."""
    tr = translate
    return (
        Fact("driver_version", tr("Depth", "driver"), lambda device: device.driver_version,
             tr("Depth", "Version of NVIDIA's driver.")),
        Fact("cuda_version", "CUDA", lambda device: device.cuda_version,
             tr("Depth", "Highest CUDA version that the driver supports.")),
        Fact("compute_capability", tr("Depth", "compute capability"), lambda device: device.compute_capability,
             tr("Depth", "Which instructions the chip has.")),
        Fact("pci_bus_id", tr("Depth", "bus"), lambda device: device.pci_bus_id,
             tr("Depth", "Where the GPU sits: as lspci writes it.")),
        Fact("ecc_enabled", "ECC", lambda device: _on_off(device.ecc_enabled),
             tr("Depth", "Whether device memory corrects errors; without it more memory may be free.")),
        Fact("mig_enabled", "MIG", lambda device: _on_off(device.mig_enabled),
             tr("Depth", "Whether the GPU can be split into instances.")),
        Fact("persistence_mode", tr("Depth", "persistence"), lambda device: _on_off(device.persistence_mode),
             tr("Depth", "Whether the driver stays loaded without clients; off, the first start of a job is slow.")),
        Fact("compute_mode", tr("Depth", "compute mode"), lambda device: device.compute_mode,
             tr("Depth", "How many processes may compute on the GPU at once.")),
        Fact("driver_model", tr("Depth", "driver model"), lambda device: device.driver_model,
             tr("Depth", "Windows only: under WDDM the memory of each process is hidden.")),
        Fact("virtualization", tr("Depth", "virtual"), lambda device: device.virtualization,
             tr("Depth", "Whether the GPU is seen from inside a virtual machine, whole or in part.")),
    )  # fmt: skip


def _on_off(value: bool | None) -> str | None:
    if value is None:
        return None
    return translate("Depth", "on") if value else translate("Depth", "off")
