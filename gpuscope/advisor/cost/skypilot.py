"""Offers from SkyPilot's catalogue files (`catalogs/v*/PROVIDER/vms.csv`), with what could not be used.

Their rows differ by provider. Names of GPUs are short and often leave the variant open; memory is in MiB, in GiB or
missing; the files have no date. Google Cloud prices hosts and GPUs in rows of their own: a host row alone would look
like a whole machine at a quarter of its price, so both are added up where the host's name says which GPUs it has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.matching import memory_agrees
from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec
from gpuscope.advisor.catalogue.table import GIVEN, Row, read_rows
from gpuscope.domain.units import GIB, MIB

COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "Price", "SpotPrice", "Region")

# SkyPilot's name → catalogue ids that it may mean, the likeliest first.
_NAMES: dict[str, tuple[str, ...]] = {
    "A10": ("a10",), "A10G": ("a10g",), "A40": ("a40",), "A30": ("a30",), "A16": ("a16-per-gpu",),
    "A100": ("a100-sxm4-40gb", "a100-pcie-40gb", "a100-sxm4-80gb", "a100-pcie-80gb"),
    "A100-40GB": ("a100-sxm4-40gb", "a100-pcie-40gb"),
    "A100-80GB": ("a100-sxm4-80gb", "a100-pcie-80gb"), "A100-80GB-SXM": ("a100-sxm4-80gb",),
    "A4000": ("rtx-a4000",), "RTXA4000": ("rtx-a4000",), "RTXA4500": ("rtx-a4500",), "RTXA5000": ("rtx-a5000",),
    "A6000": ("rtx-a6000",), "RTXA6000": ("rtx-a6000",),
    "H100": ("h100-sxm5-80gb", "h100-pcie-80gb", "h100-nvl-94gb"), "H100-SXM": ("h100-sxm5-80gb",),
    "H100-MEGA": ("h100-sxm5-80gb",), "H100-NVL": ("h100-nvl-94gb",),
    "H200": ("h200-sxm5-141gb", "h200-nvl-141gb"), "H200-SXM": ("h200-sxm5-141gb",), "H200-NVL": ("h200-nvl-141gb",),
    "GH200": ("gh200-96gb", "gh200-144gb"), "B200": ("b200-sxm-180gb",), "B300": ("b300-sxm-288gb",),
    "GB200": ("gb200-186gb",), "GB300": ("gb300-288gb",),
    "L4": ("l4",), "L40": ("l40",), "L40S": ("l40s",), "T4": ("t4",), "T4g": ("t4g",), "P4": ("p4",),
    "P100": ("p100-pcie-16gb",),
    "V100": ("v100-sxm2-16gb", "v100-pcie-16gb", "v100-sxm2-32gb", "v100-pcie-32gb"),
    "V100-32GB": ("v100-sxm2-32gb", "v100-pcie-32gb"),
    "RTX6000": ("quadro-rtx-6000",), "RTX6000-Ada": ("rtx-6000-ada",), "RTX5000-Ada": ("rtx-5000-ada",),
    "RTX4000-Ada": ("rtx-4000-ada",), "RTX2000-Ada": ("rtx-2000-ada",),
    "RTX3060": ("rtx-3060-12gb",), "RTX3070": ("rtx-3070",), "RTX3080": ("rtx-3080-10gb",), "RTX3090": ("rtx-3090",),
    "RTX4060": ("rtx-4060",), "RTX4070": ("rtx-4070",), "RTX4080": ("rtx-4080",), "RTX4090": ("rtx-4090",),
    "RTX5060": ("rtx-5060",), "RTX5070": ("rtx-5070",), "RTX5080": ("rtx-5080",), "RTX5090": ("rtx-5090",),
    "MI300X": ("mi300x",), "MI325X": ("mi325x",), "MI350X": ("mi350x",), "MI355X": ("mi355x",), "MI250": ("mi250",),
    "RTXPRO6000": ("rtx-pro-6000-server", "rtx-pro-6000-ws"),
}  # fmt: skip

# Hosts of Google Cloud whose GPUs are priced apart: beginning of the type → name of the GPU; the number is in the type.
_GCP_HOSTS = {
    "a2-highgpu-": "A100", "a2-megagpu-": "A100", "a2-ultragpu-": "A100-80GB",
    "a3-highgpu-": "H100", "a3-megagpu-": "H100-MEGA", "a3-ultragpu-": "H200", "a4-highgpu-": "B200",
}  # fmt: skip
_GCP_HOST = re.compile(r"(a\d-[a-z]+-)(\d{1,6})g")
_G2_HOST = re.compile(r"g2-standard-(\d{1,6})")
_G2_GPUS = {"4": 1, "8": 1, "12": 1, "16": 1, "32": 1, "24": 2, "48": 4, "96": 8}
_MEMORY = re.compile(r"'SizeInMiB':\s*(\d{1,12})")
_TPU_SIZE = re.compile(r"^(tpu-\w+)-\d+$")
_SMALLEST_MIB = 1024
"""Figures below it are GiB under the name of MiB, as RunPod's rows have them."""
_PCIE_TYPE = re.compile(r"pcie|Standard_NC.*A100", re.IGNORECASE)
_SXM_TYPE = re.compile(r"sxm|nvlink|Standard_ND", re.IGNORECASE)


class Imported(NamedTuple):
    """Offers of a file, and sentences about what was left out or had to be guessed."""

    offers: tuple[CatalogueOffer, ...]
    notes: tuple[str, ...]


class _Line(NamedTuple):
    """What one row says of a whole machine."""

    instance_type: str
    words: str
    """All that it says of the GPU, for the form."""
    name: str
    """SkyPilot's name of the GPU."""
    gpus: float
    memory_bytes: int | None
    """Of one GPU."""
    region: str
    usd: float | None
    spot_usd: float | None
    virtual_cpus: float | None
    memory_gib: float | None


def read_skypilot(path: Path, catalogue: Catalogue, price_date: str | None = None) -> Imported:
    """Read one provider's file; the provider is the name of its folder.

    Args:
        path: such as `…/catalogs/v8/lambda/vms.csv`.
        catalogue: whose ids the GPUs get.
        price_date: the day of the file, which is not in it; None: the prices count as undated, and so as stale.

    Raises:
        CatalogueError: the file is damaged; names the line.
    """
    provider = path.resolve().parent.name if path.stem in {"vms", "instances"} else path.stem
    rows = list(read_rows(path, COLUMNS, GIVEN))
    hosts = [row for row in rows if row.optional("AcceleratorName") is None]
    parts = {_part_key(row): row for row in rows if row.optional("InstanceType") is None}
    lines = [_line(row) for row in rows if row.optional("InstanceType") and row.optional("AcceleratorName")]
    joined = [line for row in hosts if (line := _with_gpus(row, parts)) is not None]
    offers: dict[tuple[str, str, str | None], CatalogueOffer] = {}
    unknown: Counter[str] = Counter()
    guessed: set[str] = set()
    for line in (*lines, *joined):
        gpu, sure = _gpu_of(line, catalogue)
        if gpu is None:
            unknown[_family(line.name)] += 1
            continue
        if not sure:
            guessed.add(f"{line.name} was taken as {gpu.id}")
        _keep_cheapest(offers, _offer(line, gpu, provider, path, price_date))
    notes = _notes(path, unknown, guessed, {line.name for line in joined}, parts.values(), len(hosts) - len(joined))
    return Imported(tuple(offers.values()), notes)


def _line(row: Row) -> _Line:
    return _Line(
        instance_type=row.required("InstanceType"),
        words=f"{row.text('InstanceType')} {_info(row)}",
        name=row.required("AcceleratorName"),
        gpus=row.positive("AcceleratorCount"),
        memory_bytes=_memory_bytes(row),
        region=row.text("Region"),
        usd=row.number("Price") or None,
        # Some files have 0 where there is no spot price.
        spot_usd=row.number("SpotPrice") or None,
        virtual_cpus=row.number("vCPUs"),
        memory_gib=row.number("MemoryGiB"),
    )


def _memory_bytes(row: Row) -> int | None:
    found = _MEMORY.search(_info(row))
    if found is None:
        return None
    size = int(found.group(1))
    return size * (GIB if size < _SMALLEST_MIB else MIB) or None


def _info(row: Row) -> str:
    return row.text("GpuInfo") if row.has("GpuInfo") else ""


def _part_key(row: Row) -> tuple[str, float, str]:
    return row.text("AcceleratorName"), row.number("AcceleratorCount") or 0.0, _place(row)


def _place(row: Row) -> str:
    return (row.text("AvailabilityZone") if row.has("AvailabilityZone") else "") or row.text("Region")


def _with_gpus(row: Row, parts: dict[tuple[str, float, str], Row]) -> _Line | None:
    """A host of Google Cloud with the price of its GPUs added; None: it has none, or they are not in the file."""
    kind = row.text("InstanceType")
    found = _gpus_of_host(kind)
    if found is None:
        return None
    name, count = found
    part = parts.get((name, count, _place(row)))
    if part is None:
        return None
    return _Line(
        instance_type=kind,
        words=kind,
        name=name,
        gpus=count,
        memory_bytes=_memory_bytes(part),
        region=row.text("Region"),
        usd=_sum(row.number("Price"), part.number("Price")),
        spot_usd=_sum(row.number("SpotPrice"), part.number("SpotPrice")),
        virtual_cpus=row.number("vCPUs"),
        memory_gib=row.number("MemoryGiB"),
    )


def _gpus_of_host(kind: str) -> tuple[str, float] | None:
    if match := _GCP_HOST.fullmatch(kind):
        name = _GCP_HOSTS.get(match.group(1))
        return None if name is None else (name, float(match.group(2)))
    if (match := _G2_HOST.fullmatch(kind)) and match.group(1) in _G2_GPUS:
        return "L4", float(_G2_GPUS[match.group(1)])
    return None


def _sum(host: float | None, gpus: float | None) -> float | None:
    return host + gpus if host and gpus else None


def _gpu_of(line: _Line, catalogue: Catalogue) -> tuple[GpuSpec | None, bool]:
    """The GPU that a line means, and whether nothing else is possible."""
    named = [gpu for id_ in _NAMES.get(line.name, ()) if (gpu := catalogue.gpu(id_)) is not None]
    memory = line.memory_bytes
    fitting = [gpu for gpu in named if memory is not None and memory_agrees(gpu, memory)] or named
    form = "PCIe" if _PCIE_TYPE.search(line.words) else "SXM" if _SXM_TYPE.search(line.words) else ""
    fitting = [gpu for gpu in fitting if gpu.form_factor.startswith(form)] or fitting
    if not fitting:
        return catalogue.match_gpu(line.name, memory), True
    return fitting[0], len(fitting) == 1


def _offer(line: _Line, gpu: GpuSpec, provider: str, path: Path, price_date: str | None) -> CatalogueOffer:
    return CatalogueOffer(
        provider=provider,
        kind="vm",
        instance_type=line.instance_type,
        gpu_id=gpu.id,
        gpu_count=line.gpus,
        virtual_cpus=line.virtual_cpus,
        memory_gib=line.memory_gib,
        region=line.region,
        region_scope="named" if line.region else "provider-wide",
        on_demand_usd_per_hour=line.usd,
        spot_usd_per_hour=line.spot_usd,
        price_date=price_date,
        price_status="list" if price_date else "undated",
        source=f"SkyPilot catalogue file {path.name}",
    )


def _keep_cheapest(offers: dict[tuple[str, str, str | None], CatalogueOffer], offer: CatalogueOffer) -> None:
    """One offer for a type and region: zones differ in nothing else; each price is the lowest of them."""
    key = (offer.instance_type, offer.region, offer.gpu_id)
    known = offers.get(key)
    if known is not None:
        offer = msgspec.structs.replace(
            known,
            on_demand_usd_per_hour=_lower(known.on_demand_usd_per_hour, offer.on_demand_usd_per_hour),
            spot_usd_per_hour=_lower(known.spot_usd_per_hour, offer.spot_usd_per_hour),
        )
    offers[key] = offer


def _lower(left: float | None, right: float | None) -> float | None:
    return min((price for price in (left, right) if price is not None), default=None)


def _notes(
    path: Path,
    unknown: Counter[str],
    guessed: set[str],
    joined: set[str],
    parts: Iterable[Row],
    hosts: int,
) -> tuple[str, ...]:
    notes = []
    if unknown:
        names = ", ".join(f"{name} ({_rows(count)})" for name, count in sorted(unknown.items()))
        notes.append(f"{path}: these accelerators are not in gpuscope's catalogue and were left out: {names}.")
    alone = sorted({_family(row.text("AcceleratorName")) for row in parts} - joined)
    if alone:
        notes.append(f"{path}: these accelerators are priced without a machine and were left out: {', '.join(alone)}.")
    if guessed:
        notes.append(f"{path} does not say which variant it means: {', '.join(sorted(guessed))}.")
    if hosts:
        notes.append(f"{path}: {_rows(hosts)} without an accelerator left out.")
    return tuple(notes)


def _family(name: str) -> str:
    """Sizes of a TPU are one name: there are hundreds of them."""
    return _TPU_SIZE.sub(r"\1", name)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
