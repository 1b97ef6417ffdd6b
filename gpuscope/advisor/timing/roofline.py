"""Time of operators on a device: the larger of computing and moving data, smoothly joined, plus a fixed time a kernel.

    t = √(compute² + bandwidth²) + latency × kernels
    compute = FLOPs / (matrix rate × share × N/(N+n₀) × K/(K+k₀)),  bandwidth = bytes / (memory rate × share)

Shares and widths are in `rates.py`. This is a plain roofline: it knows nothing of caches or of a library's tile choice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.job.precision import FLOAT32, convolution_peak_tflops, halves_activations, matrix_peak_tflops
from gpuscope.advisor.timing import rates
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

# Under autocast these stay in FP32, so that their bytes do not shrink (torch.amp's list of operators).
_KEEPS_FLOAT32 = frozenset({"layer_norm", "softmax", "reduction", "embedding", "optimizer"})

# Bytes of the others in 16 bits: half, and what autocast's casts and cuDNN's changes of layout add. With 0.5 the
# published ResNet-50 training rates (FP16, seven GPUs) come out 1.2 to 1.8 times too high.
_HALF_BYTES = 0.65


class DeviceRates(NamedTuple):
    """What one device sustains in one precision. Measured rates can take the place of these."""

    matrix_flops_per_s: float
    convolution_flops_per_s: float
    bytes_per_s: float
    kernel_latency_s: float
    class_shares: bool
    """Whether `rates.KIND_RATES` apply on top; a CPU's shares are in its rates already."""
    how: str
    """Where the rates come from, for the explanation."""


def gpu_rates(gpu: GpuSpec, precision: str) -> DeviceRates | None:
    """Rates of a GPU from its specifications; None when the catalogue lacks a figure that is needed."""
    matrix = matrix_peak_tflops(gpu, precision)
    convolution = convolution_peak_tflops(gpu, precision)
    if not matrix or not convolution or not gpu.memory_bandwidth_gbs:
        return None
    share = sustained_share(gpu, precision)
    return DeviceRates(
        matrix_flops_per_s=matrix * 1e12 * share,
        convolution_flops_per_s=convolution * 1e12 * share,
        bytes_per_s=gpu.memory_bandwidth_gbs * 1e9,
        kernel_latency_s=rates.KERNEL_LATENCY_S,
        class_shares=True,
        how=f"specifications of {gpu.name}: {matrix:g} TFLOPS in {precision} × {share:.2f} sustained, "
        f"{gpu.memory_bandwidth_gbs:g} GB/s",
    )


def cpu_rates(cpu: CpuSpec, cores: float | None = None) -> DeviceRates | None:
    """Rates of `cores` cores of a CPU in FP32 (None: all of one socket); None when the catalogue lacks its peak."""
    if not cpu.fp32_tflops or not cpu.memory_bandwidth_gbs or not cpu.cores:
        return None
    share = (cores or cpu.cores) / cpu.cores
    flops = cpu.fp32_tflops * 1e12 * share * rates.CPU_COMPUTE_SHARE
    return DeviceRates(
        matrix_flops_per_s=flops,
        convolution_flops_per_s=flops,
        bytes_per_s=cpu.memory_bandwidth_gbs * 1e9 * share * rates.CPU_BANDWIDTH_SHARE,
        kernel_latency_s=rates.CPU_S_PER_OPERATOR,
        class_shares=False,
        how=f"specifications of {cpu.name}: {cores or cpu.cores:g} cores",
    )


def sustained_share(gpu: GpuSpec, precision: str) -> float:
    """Sustained matrix rate relative to the specified peak, in units of a GeForce's: silicon, clocks and power."""
    if gpu.segment == "consumer" and gpu.vendor == "NVIDIA":
        share = rates.GEFORCE_SHARE
    else:
        share = rates.SUSTAINED_SHARE.get(gpu.architecture, rates.DEFAULT_SUSTAINED_SHARE)
    power = _power_share(gpu)
    if precision == FLOAT32:
        share = min(share, power)
    elif power < rates.POWER_SHARE[1][1] + 1e-9:
        share = min(share, rates.POWER_SHARE[1][1])
    return share / rates.GEFORCE_SHARE


def _power_share(gpu: GpuSpec) -> float:
    if not gpu.tdp_w or not gpu.fp32_tflops:
        return 1.0
    watts = gpu.tdp_w / gpu.fp32_tflops
    points = rates.POWER_SHARE
    if watts <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if watts <= x1:
            return y0 + (y1 - y0) * (watts - x0) / (x1 - x0)
    return 1.0


def op_seconds(op: Op, device: DeviceRates, byte_scale: float = 1.0) -> float:
    """Time of one class of operators in one step.

    Args:
        op: the class, with FLOPs and bytes of a step.
        device: where it runs.
        byte_scale: bytes relative to those in `op`, for another precision.
    """
    share = rates.KIND_RATES.get(base_kind(op), rates.OTHER_RATE)
    compute_share, bandwidth_share = (share.compute, share.bandwidth) if device.class_shares else (1.0, 1.0)
    rate = device.convolution_flops_per_s if "convolution" in op.class_ else device.matrix_flops_per_s
    filled = compute_share * _filled(op.n, share.half_n) * _filled(op.k, share.half_k)
    compute_s = (op.flops or 0.0) / (rate * filled)
    moved = ((op.bytes_read or 0.0) + (op.bytes_written or 0.0)) * byte_scale
    bandwidth_s = moved / (device.bytes_per_s * bandwidth_share)
    return math.hypot(compute_s, bandwidth_s) + (op.kernels or 0.0) * device.kernel_latency_s


def ops_seconds(ops: Iterable[Op], device: DeviceRates, source_precision: str, precision: str) -> float:
    """Time of all classes of a step, when the run was in `source_precision` and the device computes in `precision`."""
    return sum(op_seconds(op, device, byte_scale(op, source_precision, precision)) for op in ops)


def byte_scale(op: Op, source_precision: str, precision: str) -> float:
    """Bytes of a class in another precision, relative to the run's: fewer in 16 bits, unless it stays in FP32."""
    halved = halves_activations(precision)
    if halves_activations(source_precision) == halved or base_kind(op) in _KEEPS_FLOAT32:
        return 1.0
    return _HALF_BYTES if halved else 1 / _HALF_BYTES


def base_kind(op: Op) -> str:
    """Kind without the mark of the backward pass."""
    return op.kind.removesuffix(BACKWARD_SUFFIX)


def _filled(width: int | None, half: float) -> float:
    return width / (width + half) if width and half else 1.0
