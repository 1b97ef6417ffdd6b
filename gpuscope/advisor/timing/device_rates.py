"""What one device sustains, in the form that the roofline takes.

The matrix rate is that of one large product, the vector rate that of a large elementwise operator; shares by kind of
operator (`class_constants`) come on top.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.calibration.model import EMPTY, Calibration, Figure
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.job.precision import FLOAT32, TF32
from gpuscope.advisor.timing.class_constants import factor
from gpuscope.advisor.timing.sustained import matmul_rate, sustained

_WIDE_FLOP_PER_CYCLE = 64.0
"""FP32 operations a clock of a CPU core with two 512-bit multiply-add units."""

_REFERENCE_FLOPS_PER_S = 1e12
"""Of one multiprocessor of an RTX 3090 in 16 bits, the slower of the cards behind the widths of `class_constants`."""


class DeviceRates(NamedTuple):
    """What one device sustains in one precision."""

    matrix_flops_per_s: float
    convolution_flops_per_s: float
    plain_flops_per_s: float
    """Without tensor cores, on which depthwise convolutions do not run."""
    bytes_per_s: float
    kernel_latency_s: float
    is_cpu: bool
    """A CPU's kernels reach other shares."""
    how: str
    """Where the rates come from, for the explanation."""
    light_kernel_latency_s: float | None = None
    """Of operators that are little more than a call to a CPU; None: like the others."""
    plain_float32: bool = False
    """Whether convolutions may as well compute in FP32 without tensor cores."""
    width_scale: float = 1.0
    """How wide an operator has to be to fill the device, relative to one that computes 1 TFLOP/s a multiprocessor."""
    cache_bytes: float = 0.0
    """Of the level-2 cache."""
    cache_saving: float = 0.0
    """Largest share of memory traffic that the cache spares an operator whose tensors it holds."""
    rated: bool = False
    """Whether somebody measured the device, rather than only specifying it."""


def gpu_rates(gpu: GpuSpec, precision: str, calibration: Calibration = EMPTY) -> DeviceRates | None:
    """Rates of a GPU; None when neither a measurement nor the catalogue has a figure that is needed."""
    found = sustained(gpu, precision, calibration)
    if found is None:
        return None
    matrix, vector = found.matmul_flops_per_s, found.vector_bytes_per_s
    plain = matmul_rate(gpu, FLOAT32, calibration) or matrix
    held = factor(calibration, "float32", "gemm") if precision == FLOAT32 else None
    return DeviceRates(
        matrix_flops_per_s=matrix.value * (held or 1.0),
        convolution_flops_per_s=found.convolution_flops_per_s.value,
        plain_flops_per_s=plain.value,
        bytes_per_s=vector.value,
        kernel_latency_s=found.kernel_latency_s.value,
        plain_float32=precision in {FLOAT32, TF32},
        width_scale=_width_scale(gpu, matrix.value),
        cache_bytes=(gpu.l2_cache_mb or 0.0) * 1e6,
        cache_saving=factor(calibration, "cache", "saving") or 0.0,
        is_cpu=False,
        how=f"{gpu.name} at {matrix.value / 1e12:.3g} TFLOP/s in {precision} ({_origin(matrix)}) and "
        f"{vector.value / 1e9:.0f} GB/s ({_origin(vector)})",
        rated=found.rated,
    )


def _width_scale(gpu: GpuSpec, matrix_flops_per_s: float) -> float:
    """A slower unit waits less for its operands, so that narrower operators fill it: a GPU needs less width in FP32
    than with tensor cores. Faster ones than those that the widths were fitted on are taken to need no more."""
    if not gpu.sm_count:
        return 1.0
    return min(1.0, matrix_flops_per_s / (gpu.sm_count * _REFERENCE_FLOPS_PER_S))


def cpu_rates(cpu: CpuSpec, cores: float | None = None, calibration: Calibration = EMPTY) -> DeviceRates | None:
    """Rates of `cores` cores of a CPU in FP32 (None: all of one socket); None when the catalogue lacks its peak."""
    if not cpu.fp32_tflops or not cpu.memory_bandwidth_gbs or not cpu.cores:
        return None
    used = cores if cores and cores > 0 else cpu.cores
    share = used / cpu.cores
    # A core with narrow units holds more than the base clock that its peak was derived from; two 512-bit units do not.
    narrow = (cpu.fp32_flop_per_cycle or 0.0) < _WIDE_FLOP_PER_CYCLE
    above_base = factor(calibration, "cpu", "above_base") if narrow and "base" in cpu.peak_clock_kind else None
    flops = cpu.fp32_tflops * 1e12 * share * (above_base or 1.0)
    return DeviceRates(
        matrix_flops_per_s=flops,
        convolution_flops_per_s=flops,
        plain_flops_per_s=flops,
        bytes_per_s=cpu.memory_bandwidth_gbs * 1e9 * share,
        kernel_latency_s=factor(calibration, "cpu", "s_per_operator") or 0.0,
        light_kernel_latency_s=factor(calibration, "cpu", "s_per_light_operator"),
        is_cpu=True,
        how=f"specifications of {cpu.name}: {used:g} cores",
    )


def _origin(figure: Figure) -> str:
    return f"{figure.kind}: {figure.source}"
