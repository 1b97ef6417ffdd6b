"""Footprints and small catalogues for the advisor's tests."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any

import msgspec

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec
from gpuscope.advisor.choice.recommend import recommend
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Footprint,
    FootprintDevice,
    FootprintHost,
    FootprintSource,
    Memory,
    Op,
    Precision,
    Steps,
    StepTime,
    TimePerStep,
    Workload,
)
from gpuscope.domain.recommendation import Candidate, Constraints, Recommendation

TODAY = date(2026, 11, 30)
GIB = 1024**3
PARAMETERS = 25_000_000


@cache
def shipped() -> Catalogue:
    """The catalogue in resources/."""
    return load_catalogue(paths.resources_dir() / "catalogue")


def ops(scale: float = 1.0) -> tuple[Op, ...]:
    """A convolutional training step of 1 TFLOP and 10 GB moved, times `scale`."""
    return (
        Op(kind="conv_kxk", class_="convolution", dtype="float32", flops=0.3e12 * scale, bytes_read=1e9 * scale,
           bytes_written=1e9 * scale, kernels=50, n=256, k=2304),
        Op(kind="conv_kxk_backward", class_="convolution", dtype="float32", flops=0.7e12 * scale,
           bytes_read=2e9 * scale, bytes_written=2e9 * scale, kernels=100, n=256, k=2304),
        Op(kind="elementwise", class_="elementwise", dtype="float32", bytes_read=2e9 * scale,
           bytes_written=1e9 * scale, kernels=100),
        Op(kind="optimizer", class_="optimizer", dtype="float32", bytes_read=1e9, bytes_written=5e8, kernels=1000),
    )  # fmt: skip


def step_time(mid: float) -> StepTime:
    return StepTime(p50=mid, p95=mid * 1.1, low=mid * 0.98, mid=mid, high=mid * 1.02)


def cpu_footprint(step_s: float = 2.0, **changes: Any) -> Footprint:
    """A profiled training run on a known CPU."""
    footprint = Footprint(
        source=FootprintSource(kind="measured"),
        workload=Workload(
            stage="training",
            parameters=PARAMETERS,
            trainable_parameters=PARAMETERS,
            precision=Precision(compute="float32", parameters="float32"),
            optimizer="AdamW",
            batch=Batch(per_device=32.0, global_=32.0, unit="samples"),
        ),
        host=FootprintHost(cpu="xeon-8259cl", name="Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", cores=24),
        steps=Steps(count=100, steady_count=90, time_s=step_time(step_s)),
        memory=Memory(
            breakdown=Breakdown(
                parameters_bytes=4 * PARAMETERS, gradients_bytes=4 * PARAMETERS, optimizer_state_bytes=8 * PARAMETERS
            ),
            host_rss_bytes=6 * GIB,
        ),
        ops=ops(),
    )
    return msgspec.structs.replace(footprint, **changes)


def gpu_footprint(gpu: str = "rtx-3090", step_s: float = 0.1, count: int = 1, **changes: Any) -> Footprint:
    """A training run on a GPU, with its CUDA peak and no operators."""
    spec = shipped().gpu(gpu)
    name = spec.device_name if spec is not None else gpu
    device = FootprintDevice(gpu=gpu if spec else None, name=name, memory_bytes=24 * GIB)
    base = cpu_footprint(step_s)
    memory = msgspec.structs.replace(base.memory, peak_allocated_bytes=Range.exact(6e9), host_rss_bytes=None)
    replaced = {"devices": (device,) * count, "memory": memory, "ops": (), **changes}
    return msgspec.structs.replace(base, **replaced)


def with_host_memory(footprint: Footprint, resident_bytes: int | None) -> Footprint:
    memory = msgspec.structs.replace(footprint.memory, host_rss_bytes=resident_bytes)
    return msgspec.structs.replace(footprint, memory=memory)


def with_data_wait(footprint: Footprint, seconds: float) -> Footprint:
    return msgspec.structs.replace(footprint, time_per_step_s=TimePerStep(data_loader=seconds))


def gpu(id_: str = "test-24", **changes: Any) -> GpuSpec:
    """A made-up data-centre GPU of 24 GB."""
    spec = GpuSpec(
        id=id_,
        name=id_.upper(),
        vendor="NVIDIA",
        segment="datacenter",
        status="current",
        architecture="Ampere",
        compute_capability="8.6",
        device_name=f"NVIDIA {id_.upper()}",
        sm_count=72,
        memory_gb=24,
        memory_bandwidth_gbs=600,
        fp32_tflops=30,
        tf32_tensor_tflops=60,
        fp16_tensor_tflops=120,
        bf16_tensor_tflops=120,
        nvlink_gbs=0,
        pcie_gen=4,
        tdp_w=150,
        form_factor="PCIe dual-slot",
    )
    return msgspec.structs.replace(spec, **changes)


def offer(gpu_id: str = "test-24", count: int = 1, price: float = 1.0, **changes: Any) -> CatalogueOffer:
    """A made-up price."""
    made = CatalogueOffer(
        provider="alpha",
        kind="vm",
        instance_type=f"{gpu_id}-{count}",
        gpu_id=gpu_id,
        gpu_count=count,
        region="us-east-1",
        on_demand_usd_per_hour=price,
        price_date="2026-11-20",
        price_status="list",
        source="a price list",
    )
    return msgspec.structs.replace(made, **changes)


def advise(footprint: Footprint, catalogue: Catalogue | None = None, **limits: Any) -> Recommendation:
    return recommend(footprint, Constraints(**limits), catalogue or shipped(), today=TODAY)


def best(found: Recommendation) -> Candidate:
    assert found.recommended is not None
    return found.candidates[found.recommended]


def usd(candidate: Candidate) -> float:
    assert candidate.cost_usd is not None
    return candidate.cost_usd.mid


def job_of(footprint: Footprint, **limits: object) -> Job:
    return prepare(footprint, msgspec.convert(limits, Constraints), shipped())


def known(gpu_id: str) -> GpuSpec:
    spec = shipped().gpu(gpu_id)
    assert spec is not None
    return spec


def seconds(job: Job, spec: GpuSpec) -> Range:
    predicted = step_on_gpu(job, spec).seconds
    assert predicted is not None
    assert 0 < predicted.low <= predicted.mid <= predicted.high
    return predicted
