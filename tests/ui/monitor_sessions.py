"""Sessions of very different machines: eight H100 that count everything, a laptop that tells little, a container."""

from __future__ import annotations

import math
from pathlib import Path

from msgspec import structs

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, HostSample
from gpuscope.domain.topology import Distance, NumaNode, Topology, TopologyLink, TopologyPart
from gpuscope.store.writer import SessionWriter
from tests.ui import sessions

GIB = sessions.GIB
SECONDS = 60
XID = "A row of device memory is bad: the driver stopped using it, a reset replaces it."


def topology(gpus: int = 8, *, nvlinks: int = 18) -> Topology:
    """Two NUMA nodes, a switch for each two GPUs and their network card, every GPU linked to every other."""
    parts = [_part(f"GPU{number}", "gpu", number // 2, number // (gpus // 2 or 1)) for number in range(gpus)]
    parts += [_part(f"mlx5_{number}", "network", number, number // (gpus // 4 or 1)) for number in range(gpus // 2)]
    links = []
    for first in range(len(parts)):
        for second in range(first + 1, len(parts)):
            both_gpus = second < gpus
            links.append(
                TopologyLink(
                    first=first,
                    second=second,
                    distance=_distance(parts[first], parts[second]),
                    nvlinks=nvlinks if both_gpus else 0,
                )
            )
    nodes = tuple(
        NumaNode(
            number=number, cpus=cpus, memory_total_bytes=1024 * GIB, distances=(10, 21) if number == 0 else (21, 10)
        )
        for number, cpus in enumerate(("0-55,112-167", "56-111,168-223"))
    )
    return Topology(parts=tuple(parts), links=tuple(links), numa_nodes=nodes)


def _part(name: str, kind: str, switch: int, node: int) -> TopologyPart:
    return TopologyPart(
        name=name,
        kind=kind,
        pci_bus_id=f"0000:{0x18 + 8 * switch:02x}:00.0",
        numa_node=node,
        cpus="0-55,112-167" if node == 0 else "56-111,168-223",
        pcie_path=(f"pci0000:{switch:02x}",),
    )


def _distance(first: TopologyPart, second: TopologyPart) -> Distance:
    if first.pcie_path == second.pcie_path:
        return Distance.PIX
    return Distance.NODE if first.numa_node == second.numa_node else Distance.SYS


def h100_session(path: Path, seconds: int = SECONDS) -> Path:
    """Eight H100 with GPM, NVLink, all counters, an Xid in the middle."""
    writer = sessions.start_session(path)
    devices = [
        structs.replace(
            device, pcie_generation_max=5, pcie_width_max=16, nvlink_links=18, nvlink_version="4.0",
            clock_sm_max_mhz=1980, clock_memory_max_mhz=2619, temperature_slowdown_c=87, temperature_memory_max_c=95,
            ecc_enabled=True, mig_enabled=False, persistence_mode=True, compute_capability="9.0", cuda_version="12.8",
            compute_mode="default", power_averaged=True, pci_bus_id="0000:18:00.0",
        )
        for device in sessions.devices(8)
    ]  # fmt: skip
    for number in range(seconds * 10 + 1):
        frame = sessions.frame(number, gpus=8)
        gpus = tuple(_counted(gpu, index, number) for index, gpu in enumerate(frame.gpus or ()))
        host = frame.host and _whole_host(frame.host, number)
        told = tuple(devices) if number == 0 else None
        writer.add_frame(structs.replace(frame, gpus=gpus, host=host, devices=told))
    sessions.add_steps(writer, 1, 450)
    data = {"uuid": sessions.uuid_of(0), "code": 63, "sentence": XID}
    writer.add_event(sessions.ZERO_S + seconds * 2 / 3, "xid", data, "supervisor")
    writer.put_document("topology", topology())
    return _finish(writer, seconds)


def _counted(gpu: GpuSample, index: int, number: int) -> GpuSample:
    t = number / 10
    wave = math.sin(t / 3 + index)
    if number % 10:
        return structs.replace(gpu, power_instant_w=(gpu.power_w or 0.0) + 40 * math.sin(number))
    return structs.replace(
        gpu,
        utilization_memory_percent=47.0, power_instant_w=540.0, energy_j=3.1e9 + 520 * t, performance_state=0,
        sm_activity_percent=71 + 6 * wave, sm_occupancy_percent=33 + wave, tensor_activity_percent=42 + 5 * wave,
        dram_bandwidth_percent=55 + 4 * wave, fp64_activity_percent=0.0, fp32_activity_percent=9.0,
        fp16_activity_percent=1.0, gpm_graphics_percent=94.0, encoder_percent=0.0, decoder_percent=0.0,
        pcie_generation=5, pcie_width=16, pcie_limit_bytes_per_s=63e9, pcie_replays=0,
        nvlink_rx_bytes_per_s=1.1e11 + 2e10 * wave, nvlink_tx_bytes_per_s=1.05e11 + 2e10 * wave,
        nvlink_limit_bytes_per_s=4.5e11, nvlink_links_active=18, temperature_memory_c=74 + 2 * wave,
        temperature_margin_c=26 - 3 * wave, throttle_power_s=40 + 0.3 * t, throttle_thermal_s=0.0,
        throttle_hardware_thermal_s=0.0, throttle_power_brake_s=0.0, clock_graphics_mhz=1980.0,
        ecc_corrected_volatile=2, ecc_uncorrected_volatile=0 if t < SECONDS / 2 else 1, ecc_corrected_aggregate=14,
        ecc_uncorrected_aggregate=1, rows_remapped_correctable=0, rows_remapped_uncorrectable=0, row_remap_pending=0,
        row_remap_failed=0, memory_free_bytes=round(80 * GIB - (gpu.memory_used_bytes or 0)),
        processes=tuple(structs.replace(process, sm_percent=68.0, started_wall_s=sessions.WALL_S)
                        for process in gpu.processes or ()),
        unavailable={"fan_percent": Reason.NOT_SUPPORTED, "power_module_w": Reason.NOT_SUPPORTED},
    )  # fmt: skip


def _whole_host(host: HostSample, number: int) -> HostSample:
    wave = math.sin(number / 70)
    return structs.replace(
        host,
        cpu_iowait_percent=3 + 2 * wave, cpu_steal_percent=0.0, cpu_frequency_mhz=3240.0,
        cpu_frequency_limit_mhz=3700.0, load_1min=14.2, load_5min=12.0, load_15min=9.7, cpu_pressure_some_percent=1.0,
        memory_pressure_some_percent=0.0, memory_pressure_full_percent=0.0, io_pressure_some_percent=8 + 4 * wave,
        io_pressure_full_percent=5.0, memory_cached_bytes=140 * GIB, memory_dirty_bytes=GIB // 8,
        swap_total_bytes=8 * GIB, swap_used_bytes=GIB // 2, swap_in_bytes_per_s=0.0, cpu_temperature_c=58.0,
        disk_busy_percent=22.0, rdma_receive_bytes_per_s=2.1e9, rdma_send_bytes_per_s=2.0e9,
        unavailable={"memory_bandwidth_bytes_per_s": Reason.MEMORY_TRAFFIC_UNCOUNTED,
                     "cgroup_memory_limit_bytes": Reason.NO_LIMIT, "cgroup_cpu_limit_cores": Reason.NO_LIMIT},
    )  # fmt: skip


def laptop_session(path: Path, seconds: int = SECONDS) -> Path:
    """A small card under a desktop, whose driver tells utilisation, memory and temperature and nothing else."""
    writer = sessions.start_session(path)
    refused = dict.fromkeys(
        (
            "power_w", "power_limit_w", "power_instant_w", "energy_j", "temperature_memory_c", "fan_percent",
            "nvlink_rx_bytes_per_s", "nvlink_tx_bytes_per_s", "throttle_power_s", "ecc_corrected_volatile",
        ),
        Reason.NOT_SUPPORTED,
    ) | dict.fromkeys(("sm_activity_percent", "tensor_activity_percent"), Reason.GPM_CHIP)  # fmt: skip
    device = Device(
        uuid=sessions.uuid_of(0), index=0, name="NVIDIA GeForce MX450", memory_total_bytes=2 * GIB,
        driver_version="535.183.01",
    )  # fmt: skip
    for number in range(0, seconds * 10 + 1, 2):
        frame = sessions.frame(number, gpus=1)
        gpu = GpuSample(
            uuid=device.uuid, utilization_gpu_percent=61 + 20 * math.sin(number / 30), memory_total_bytes=2 * GIB,
            memory_used_bytes=GIB + number * 2**20 // 8, memory_reserved_bytes=200 * 2**20, unavailable=refused,
            temperature_c=66.0 if number % 10 == 0 else None,
        )  # fmt: skip
        told = (device,) if number == 0 else None
        writer.add_frame(structs.replace(frame, gpus=(gpu,), devices=told))
    return _finish(writer, seconds)


def container_session(path: Path, seconds: int = SECONDS) -> Path:
    """One H100 in a container with 8 cores and 48 GiB."""
    writer = sessions.start_session(path)
    for number in range(seconds * 10 + 1):
        frame = sessions.frame(number, gpus=1)
        host = frame.host and structs.replace(
            _whole_host(frame.host, number),
            cgroup_memory_limit_bytes=48 * GIB, cgroup_memory_used_bytes=round((30 + number / 60) * GIB),
            cgroup_cpu_limit_cores=8.0, cgroup_cpu_percent=620 + 100 * math.sin(number / 40),
            cgroup_throttled_percent=12.0, cgroup_throttled_s_per_s=0.3, unavailable={},
        )  # fmt: skip
        writer.add_frame(structs.replace(frame, host=host))
    return _finish(writer, seconds)


def _finish(writer: SessionWriter, seconds: int) -> Path:
    writer.put_document("outcome", sessions.finished(seconds))
    writer.commit()
    writer.close()
    return writer.path


def later(number: int, **figures: object) -> Frame:
    """A frame with one GPU sample of these figures, at `number` intervals."""
    gpu = GpuSample(uuid=sessions.uuid_of(0), **figures)  # type: ignore[arg-type]  # figures by name
    t = number * sessions.INTERVAL_S
    return Frame(monotonic_s=sessions.ZERO_S + t, wall_s=sessions.WALL_S + t, gpus=(gpu,))
