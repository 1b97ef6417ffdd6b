"""What a GPU sustains in a transformer's training, from a calibration or from its specifications."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import halves_activations, matrix_peak_tflops
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.transformer import MatrixDevice
from gpuscope.advisor.timing.rates import DEFAULT_SUSTAINED_SHARE, SUSTAINED_SHARE

_NEWER = frozenset({"Hopper", "Blackwell", "Blackwell Ultra"})
_CONSUMER_SHARE = 1.0
"""GeForce cards clock as high as specified, and their specified tensor peak is low (source B of `timing.rates`)."""


def element_bytes_of(precision: str) -> float:
    """Bytes of an element of activations and gathered parameters."""
    return 2.0 if halves_activations(precision) else 4.0


def matrix_device(gpu: GpuSpec, precision: str, calibration: Calibration, rates: ParallelRates) -> MatrixDevice | None:
    """Rates of a GPU under a load that lasts; None when the catalogue lacks a figure that is needed."""
    peak = matrix_peak_tflops(gpu, precision)
    if not peak or not gpu.memory_bandwidth_gbs:
        return None
    known = calibration.rates.get(gpu.id)
    figure = known.matmul_flops_per_s.get(precision) if known is not None else None
    newer = gpu.architecture in _NEWER
    if figure is not None:
        flops, how = figure.value, f"{figure.value / 1e12:.0f} TFLOPS in matrix products, {figure.kind}"
    else:
        share = _share(gpu)
        flops = peak * 1e12 * share
        how = f"{peak:g} TFLOPS in {precision} × {share:.2f} sustained"
    lasting = rates.hopper_share if newer else 1.0
    attention = rates.attention_share * (rates.hopper_attention_share if newer else 1.0)
    return MatrixDevice(
        flops_per_s=flops * lasting,
        bytes_per_s=gpu.memory_bandwidth_gbs * 1e9,
        element_bytes=element_bytes_of(precision),
        attention_share=attention,
        how=f"{gpu.name}: {how}, {gpu.memory_bandwidth_gbs:g} GB/s",
    )


def _share(gpu: GpuSpec) -> float:
    if gpu.vendor == "NVIDIA" and gpu.segment == "consumer":
        return _CONSUMER_SHARE
    return SUSTAINED_SHARE.get(gpu.architecture, DEFAULT_SUSTAINED_SHARE)
