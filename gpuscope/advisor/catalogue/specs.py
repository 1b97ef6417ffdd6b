"""What the catalogue knows of GPUs, CPUs, offers and systems. None is "not known", never 0."""

from __future__ import annotations

from gpuscope.domain.base import Value
from gpuscope.domain.units import GIB


class GpuSpec(Value, frozen=True, kw_only=True):
    """One GPU variant. Peaks are dense, in TFLOPS; 16-bit and FP8 ones accumulate in FP32, as PyTorch does."""

    id: str
    name: str
    vendor: str
    segment: str
    """datacenter, workstation or consumer"""
    status: str
    architecture: str
    compute_capability: str | None = None
    device_name: str | None = None
    """What the driver calls it."""
    launch_date: str | None = None
    launch_price_usd: float | None = None
    launch_price_source: str = ""
    sm_count: int | None = None
    boost_clock_mhz: float | None = None
    l2_cache_mb: float | None = None
    memory_type: str = ""
    memory_gb: float
    """The vendor's decimal figure."""
    memory_bandwidth_gbs: float | None = None
    fp32_tflops: float | None = None
    tf32_tensor_tflops: float | None = None
    fp16_tensor_tflops: float | None = None
    bf16_tensor_tflops: float | None = None
    fp8_tensor_tflops: float | None = None
    int8_tensor_tops: float | None = None
    fp4_tensor_tflops: float | None = None
    tensor_core_count: int | None = None
    """0: it has none."""
    nvlink_gbs: float | None = None
    """Both directions together; 0: no NVLink."""
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    tdp_w: float | None = None
    form_factor: str = ""
    mig_max_instances: int | None = None
    ecc: bool | None = None
    peak_basis: str = ""
    """Where the peaks come from: published, derived (units × rate × clock), both, or unverified; empty: not stated."""
    source: str = ""
    notes: str = ""

    @property
    def memory_bytes(self) -> int:
        """Memory that a job can surely count on.

        The vendor's decimal gigabytes: cards of 24 "GB" show 22.5 to 24 GiB to the driver (ECC and the driver's own
        reservation take the difference), so 24 × 10⁹ bytes = 22.4 GiB is there on all of them.
        """
        return round(self.memory_gb * 1e9)

    @property
    def is_datacenter(self) -> bool:
        """Whether it is made for data centres, rather than for desks."""
        return self.segment == "datacenter"


class CpuSpec(Value, frozen=True, kw_only=True):
    """One CPU; figures are for one socket."""

    id: str
    name: str
    vendor: str
    cores: int | None = None
    threads: int | None = None
    fp32_tflops: float | None = None
    fp32_flop_per_cycle: float | None = None
    """Of one core: 64 where it has two 512-bit multiply-add units."""
    peak_clock_kind: str = ""
    """Which clock the peak was derived from: base, all-core, ..."""
    bf16_tflops: float | None = None
    memory_bandwidth_gbs: float | None = None
    tdp_w: float | None = None
    peak_formula: str = ""
    source: str = ""


class CatalogueOffer(Value, frozen=True, kw_only=True):
    """One published price of one instance type. `gpu_id` None: an instance without GPU."""

    provider: str
    kind: str
    """vm, bare-metal, marketplace or serverless"""
    instance_type: str
    gpu_id: str | None = None
    gpu_count: float
    """A fraction is a slice of a GPU."""
    virtual_cpus: float | None = None
    memory_gib: float | None = None
    intra_node: str = ""
    inter_node: str = ""
    network_gbps: float | None = None
    region: str = ""
    region_scope: str = ""
    on_demand_usd_per_hour: float | None = None
    spot_usd_per_hour: float | None = None
    price_date: str | None = None
    price_status: str = ""
    source: str = ""
    source_url: str = ""
    notes: str = ""
    cpu_id: str | None = None

    @property
    def memory_bytes(self) -> int | None:
        """Memory of the instance, not of its GPUs; None: not published."""
        return None if self.memory_gib is None else round(self.memory_gib * GIB)


class SystemSpec(Value, frozen=True, kw_only=True):
    """A machine that is sold as one."""

    id: str
    name: str
    kind: str
    gpu_id: str
    gpu_count: int
    scale_up: str = ""
    """How the GPUs inside are connected."""
    scale_up_total_tbs: float | None = None
    """TB/s of all GPUs together over that."""
    scale_out: str = ""
    """How it is connected to others."""
    cpu: str = ""
    system_memory_gb: float | None = None
    storage: str = ""
    cooling: str = ""
    rack_units: float | None = None
    max_power_kw: float | None = None
    price_usd: float | None = None
    price_source: str = ""
    source: str = ""
