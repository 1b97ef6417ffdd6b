"""What a GPU sustains in a transformer's training, from a calibration or from its specifications."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import BFLOAT16, halves_activations, is_8_bit
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.transformer import MatrixDevice
from gpuscope.advisor.timing.sustained import matmul_rate, vector_rate

NEWER = frozenset({"Hopper", "Blackwell", "Blackwell Ultra"})
"""Their power limits lower clocks under a load that lasts, and most attention kernels were written for Ampere."""


def element_bytes_of(precision: str) -> float:
    """Bytes of an element of activations and gathered parameters."""
    return 2.0 if halves_activations(precision) else 4.0


def matrix_device(gpu: GpuSpec, precision: str, calibration: Calibration, rates: ParallelRates) -> MatrixDevice | None:
    """Rates of a GPU under a load that lasts; None when the catalogue lacks a figure that is needed."""
    matrix, vector = matmul_rate(gpu, precision, calibration), vector_rate(gpu, calibration)
    if matrix is None or vector is None:
        return None
    newer = gpu.architecture in NEWER
    # In 8 bits only the layers' products are; attention stays in 16.
    wide = matmul_rate(gpu, BFLOAT16, calibration) if is_8_bit(precision) else matrix
    attention = 1.0 if wide is None else wide.value / matrix.value
    return MatrixDevice(
        flops_per_s=matrix.value * (rates.hopper_share if newer else 1.0),
        bytes_per_s=vector.value,
        element_bytes=element_bytes_of(precision),
        attention_share=attention * rates.attention_share * (rates.hopper_attention_share if newer else 1.0),
        expert_wait=1.0 if is_8_bit(precision) else 1 / element_bytes_of(precision),
        how=f"{matrix.value / 1e12:.0f} TFLOPS ({matrix.source}) and {vector.value / 1e9:.0f} GB/s ({vector.source})",
    )
