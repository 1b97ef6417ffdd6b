"""What a GPU and a host are, once: the facts that do not change during a session."""

from __future__ import annotations

from gpuscope.domain.base import Value
from gpuscope.domain.reasons import Reason


class Device(Value, frozen=True, kw_only=True):
    """A GPU or a MIG instance, keyed by its UUID.

    A figure that is None has its reason in `unavailable`, keyed by field name.
    """

    uuid: str
    index: int
    """NVML index at the time of reading: for display, never for matching."""
    name: str
    vendor: str = "NVIDIA"
    kind: str = "gpu"
    """gpu or mig"""
    parent_uuid: str | None = None
    """The GPU that a MIG instance is part of."""
    memory_total_bytes: int | None = None
    pci_bus_id: str | None = None
    hostname: str | None = None
    """The machine that it is in, where figures of several are together; null: the session's own."""
    rack: str | None = None
    """Where that machine stands, if the source says so."""
    driver_version: str | None = None
    cuda_version: str | None = None
    """Highest CUDA version that the driver supports, as "13.0"."""
    compute_capability: str | None = None
    power_limit_w: float | None = None
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    pcie_limit_bytes_per_s: float | None = None
    """What the link carries in each direction at its maximum generation and width, after line coding."""
    nvlink_links: int | None = None
    """Links that the chip has, connected or not."""
    nvlink_version: str | None = None
    """As "4.0"."""
    nvlink_limit_bytes_per_s: float | None = None
    """What the links that were active at this reading carry together in each direction."""
    clock_sm_max_mhz: int | None = None
    clock_memory_max_mhz: int | None = None
    clock_graphics_max_mhz: int | None = None
    power_averaged: bool | None = None
    """`GpuSample.power_w` is a mean over a second; false: of the moment."""
    power_limit_default_w: float | None = None
    power_limit_min_w: float | None = None
    power_limit_max_w: float | None = None
    temperature_slowdown_c: int | None = None
    """At which the hardware lowers clocks."""
    temperature_shutdown_c: int | None = None
    temperature_max_c: int | None = None
    """Up to which the GPU is meant to work."""
    temperature_memory_max_c: int | None = None
    temperature_margin_slowdown_c: int | None = None
    """The same by `GpuSample.temperature_margin_c`, which newer chips tell instead: they slow down when it falls to
    this."""
    temperature_margin_shutdown_c: int | None = None
    ecc_enabled: bool | None = None
    mig_enabled: bool | None = None
    compute_mode: str | None = None
    """default, exclusive_process or prohibited"""
    persistence_mode: bool | None = None
    """The driver stays loaded without clients (Linux)."""
    driver_model: str | None = None
    """wddm, tcc or mcdm (Windows)"""
    virtualization: str | None = None
    """none, passthrough, vgpu (a part of a GPU, seen inside a virtual machine), host_vgpu or host_vsga"""
    gpu_instance_id: int | None = None
    """Of a MIG instance."""
    xid_reported: bool | None = None
    """The driver reports Xid errors of this GPU as they happen."""
    generation: int = 0
    """Counts how often the driver had to be initialised again before this reading."""
    unavailable: dict[str, Reason] = {}


class Host(Value, frozen=True, kw_only=True):
    """The machine: facts read once at the start of a session."""

    hostname: str
    os: str
    cpu_name: str | None = None
    cores: int | None = None
    """Physical cores."""
    threads: int | None = None
    memory_total_bytes: int | None = None
    swap_total_bytes: int | None = None
