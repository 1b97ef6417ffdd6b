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
    driver_version: str | None = None
    cuda_version: str | None = None
    """Highest CUDA version that the driver supports, as "13.0"."""
    compute_capability: str | None = None
    power_limit_w: float | None = None
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    clock_sm_max_mhz: int | None = None
    clock_memory_max_mhz: int | None = None
    mig_enabled: bool | None = None
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
