"""The catalogue of GPUs, CPUs, offers and systems: loaded with checks, looked up by what drivers call things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from gpuscope.advisor.catalogue.matching import find_cpu, find_gpu
from gpuscope.advisor.catalogue.specs import CatalogueOffer, CpuSpec, GpuSpec, SystemSpec
from gpuscope.advisor.catalogue.table import GIVEN, Row, read_rows
from gpuscope.domain.footprint import FootprintDevice

_GPU_COLUMNS = (
    "id", "name", "vendor", "segment", "status", "architecture", "compute_capability", "device_name", "launch_date",
    "launch_price_usd", "launch_price_source", "sm_count", "tensor_core_count", "memory_gb", "memory_bandwidth_gbs",
    "fp32_tflops", "tf32_tensor_tflops", "fp16_tensor_tflops", "bf16_tensor_tflops", "fp8_tensor_tflops", "nvlink_gbs",
    "pcie_gen", "tdp_w", "form_factor", "spec_source", "notes",
    "boost_clock_mhz", "l2_cache_mb", "memory_type", "int8_tensor_tops", "fp4_tensor_tflops", "pcie_lanes",
    "mig_max_instances", "ecc", "peak_basis",
)  # fmt: skip
_CPU_COLUMNS = (
    "id", "name", "vendor", "cores", "threads", "fp32_tflops", "bf16_tflops", "memory_bandwidth_gbs", "tdp_w",
    "peak_formula", "spec_source",
)  # fmt: skip
_OFFER_COLUMNS = (
    "provider", "offer_kind", "instance_type", "gpu_id", "gpu_count", "vcpu", "ram_gib", "intra_node", "inter_node",
    "network_gbps", "region", "region_scope", "on_demand_usd_h", "spot_usd_h", "price_date", "price_status", "source",
    "source_url", "notes", "cpu_id",
)  # fmt: skip
_SYSTEM_COLUMNS = (
    "id", "name", "kind", "gpu_id", "gpu_count", "scale_up", "scale_up_total_tbs", "scale_out", "cpu",
    "system_memory_gb", "storage", "cooling", "rack_units", "max_power_kw", "price_usd", "price_source", "source",
)  # fmt: skip


T = TypeVar("T")


class Catalogue:
    """All that is known of what can be rented or bought. Entries are in order of their ids, whatever the files' order.

    Args:
        gpus: GPU variants; ids are unique.
        cpus: CPUs; ids are unique.
        offers: prices; their `gpu_id` and `cpu_id` are in `gpus` and `cpus`.
        systems: machines; their `gpu_id` is in `gpus`.
    """

    def __init__(
        self,
        gpus: tuple[GpuSpec, ...],
        cpus: tuple[CpuSpec, ...] = (),
        offers: tuple[CatalogueOffer, ...] = (),
        systems: tuple[SystemSpec, ...] = (),
    ) -> None:
        self.gpus = tuple(sorted(gpus, key=lambda gpu: gpu.id))
        self.cpus = tuple(sorted(cpus, key=lambda cpu: cpu.id))
        self.offers = tuple(sorted(offers, key=_offer_order))
        self.systems = tuple(sorted(systems, key=lambda system: system.id))
        self._gpu_by_id = {gpu.id: gpu for gpu in self.gpus}
        self._cpu_by_id = {cpu.id: cpu for cpu in self.cpus}

    @property
    def newest_price_date(self) -> str | None:
        """Day of the newest price (YYYY-MM-DD), which tells how old the catalogue is; None: it has no dated price."""
        return max((offer.price_date for offer in self.offers if offer.price_date), default=None)

    def gpu(self, gpu_id: str | None) -> GpuSpec | None:
        """The GPU of that id, or None."""
        return self._gpu_by_id.get(gpu_id or "")

    def cpu(self, cpu_id: str | None) -> CpuSpec | None:
        """The CPU of that id, or None."""
        return self._cpu_by_id.get(cpu_id or "")

    def match_gpu(self, name: str | None, memory_bytes: int | None) -> GpuSpec | None:
        """The GPU that a driver calls `name`; None when the catalogue does not know it or cannot tell variants apart.

        Args:
            name: as NVML or `torch.cuda.get_device_name()` prints it.
            memory_bytes: its memory as the driver says it, which tells variants of one name apart.
        """
        return find_gpu(self.gpus, name, memory_bytes)

    def gpu_of(self, device: FootprintDevice) -> GpuSpec | None:
        """The GPU of a footprint: by its id, else by what its driver calls it; None: it is not known."""
        return self.gpu(device.gpu) or self.match_gpu(device.name, device.memory_bytes)

    def match_cpu(self, name: str | None) -> CpuSpec | None:
        """The CPU that `lscpu` or /proc/cpuinfo calls `name`; None when the catalogue does not know it."""
        return find_cpu(self.cpus, name)


def load_catalogue(folder: Path) -> Catalogue:
    """Load gpus.csv, cpus.csv, cloud_offers.csv and systems.csv.

    Raises:
        CatalogueError: a file is missing or damaged; the message names the file and the line.
    """
    gpus = _unique(folder / "gpus.csv", _GPU_COLUMNS, _gpu)
    cpus = _unique(folder / "cpus.csv", _CPU_COLUMNS, _cpu)
    systems = tuple(_system(row, gpus) for row in read_rows(folder / "systems.csv", _SYSTEM_COLUMNS))
    offers = tuple(_offer(row, gpus, cpus) for row in read_rows(folder / "cloud_offers.csv", _OFFER_COLUMNS))
    return Catalogue(tuple(gpus.values()), tuple(cpus.values()), offers, systems)


def offers_in(path: Path, catalogue: Catalogue) -> tuple[CatalogueOffer, ...]:
    """Offers of a file with the columns of cloud_offers.csv that a person gave.

    Raises:
        CatalogueError: the file is damaged, or names a GPU or CPU that the catalogue does not have.
    """
    gpus = {gpu.id: gpu for gpu in catalogue.gpus}
    cpus = {cpu.id: cpu for cpu in catalogue.cpus}
    return tuple(_offer(row, gpus, cpus) for row in read_rows(path, _OFFER_COLUMNS, GIVEN))


def _unique(path: Path, columns: tuple[str, ...], make: Callable[[Row], T]) -> dict[str, T]:
    entries: dict[str, T] = {}
    for row in read_rows(path, columns):
        key = row.required("id")
        if key in entries:
            raise row.error(f"the id {key} is there twice")
        entries[key] = make(row)
    return entries


def _gpu(row: Row) -> GpuSpec:
    return GpuSpec(
        id=row.required("id"),
        name=row.required("name"),
        vendor=row.required("vendor"),
        segment=row.text("segment"),
        status=row.text("status"),
        architecture=row.text("architecture"),
        compute_capability=row.optional("compute_capability"),
        device_name=row.optional("device_name"),
        launch_date=row.optional("launch_date"),
        launch_price_usd=row.price("launch_price_usd"),
        launch_price_source=row.text("launch_price_source"),
        sm_count=row.whole("sm_count"),
        boost_clock_mhz=row.number("boost_clock_mhz"),
        l2_cache_mb=row.number("l2_cache_mb"),
        memory_type=row.text("memory_type"),
        memory_gb=row.positive("memory_gb"),
        memory_bandwidth_gbs=row.number("memory_bandwidth_gbs"),
        fp32_tflops=row.number("fp32_tflops"),
        tf32_tensor_tflops=row.number("tf32_tensor_tflops"),
        fp16_tensor_tflops=row.number("fp16_tensor_tflops"),
        bf16_tensor_tflops=row.number("bf16_tensor_tflops"),
        fp8_tensor_tflops=row.number("fp8_tensor_tflops"),
        int8_tensor_tops=row.number("int8_tensor_tops"),
        fp4_tensor_tflops=row.number("fp4_tensor_tflops"),
        tensor_core_count=row.whole("tensor_core_count"),
        nvlink_gbs=row.number("nvlink_gbs"),
        pcie_gen=row.whole("pcie_gen"),
        pcie_lanes=row.whole("pcie_lanes"),
        tdp_w=row.number("tdp_w"),
        form_factor=row.text("form_factor"),
        mig_max_instances=row.whole("mig_max_instances"),
        ecc={"yes": True, "no": False}.get(row.text("ecc")),
        peak_basis=row.text("peak_basis"),
        source=row.text("spec_source"),
        notes=row.text("notes"),
    )


def _cpu(row: Row) -> CpuSpec:
    return CpuSpec(
        id=row.required("id"),
        name=row.required("name"),
        vendor=row.text("vendor"),
        cores=row.whole("cores"),
        threads=row.whole("threads"),
        fp32_tflops=row.number("fp32_tflops"),
        fp32_flop_per_cycle=row.number("fp32_flop_per_cycle_core"),
        peak_clock_kind=row.text("peak_clock_kind"),
        bf16_tflops=row.number("bf16_tflops"),
        memory_bandwidth_gbs=row.number("memory_bandwidth_gbs"),
        tdp_w=row.number("tdp_w"),
        peak_formula=row.text("peak_formula"),
        source=row.text("spec_source"),
    )


def _offer(row: Row, gpus: dict[str, GpuSpec], cpus: dict[str, CpuSpec]) -> CatalogueOffer:
    count = row.number("gpu_count")
    if count is None:
        raise row.error("the column gpu_count is empty; it is 0 for an instance without GPU")
    gpu_id = _known(row, "gpu_id", gpus)
    if (gpu_id is None) != (count == 0):
        raise row.error("gpu_id and gpu_count do not agree: 0 GPUs and an empty gpu_id belong together")
    return CatalogueOffer(
        provider=row.required("provider"),
        kind=row.text("offer_kind"),
        instance_type=row.required("instance_type"),
        gpu_id=gpu_id,
        gpu_count=count,
        virtual_cpus=row.number("vcpu"),
        memory_gib=row.number("ram_gib"),
        intra_node=row.text("intra_node"),
        inter_node=row.text("inter_node"),
        network_gbps=row.number("network_gbps"),
        region=row.text("region"),
        region_scope=row.text("region_scope"),
        on_demand_usd_per_hour=row.price("on_demand_usd_h"),
        spot_usd_per_hour=row.price("spot_usd_h"),
        price_date=row.day("price_date"),
        price_status=row.text("price_status"),
        source=row.text("source"),
        source_url=row.text("source_url"),
        notes=row.text("notes"),
        cpu_id=_known(row, "cpu_id", cpus),
    )


def _system(row: Row, gpus: dict[str, GpuSpec]) -> SystemSpec:
    gpu_id = _known(row, "gpu_id", gpus)
    if gpu_id is None:
        raise row.error("the column gpu_id is empty")
    return SystemSpec(
        id=row.required("id"),
        name=row.required("name"),
        kind=row.text("kind"),
        gpu_id=gpu_id,
        gpu_count=int(row.positive("gpu_count")),
        scale_up=row.text("scale_up"),
        scale_up_total_tbs=row.number("scale_up_total_tbs"),
        scale_out=row.text("scale_out"),
        cpu=row.text("cpu"),
        system_memory_gb=row.number("system_memory_gb"),
        storage=row.text("storage"),
        cooling=row.text("cooling"),
        rack_units=row.number("rack_units"),
        max_power_kw=row.number("max_power_kw"),
        price_usd=row.price("price_usd"),
        price_source=row.text("price_source"),
        source=row.text("source"),
    )


def _known(row: Row, column: str, entries: Mapping[str, object]) -> str | None:
    value = row.optional(column)
    if value is not None and value not in entries:
        raise row.error(f"the {column} {value!r} is not in the catalogue")
    return value


def _offer_order(offer: CatalogueOffer) -> tuple[str, str, str, str, float, float]:
    price = offer.on_demand_usd_per_hour or offer.spot_usd_per_hour or 0.0
    return offer.provider, offer.instance_type, offer.region, offer.gpu_id or "", offer.gpu_count, price
