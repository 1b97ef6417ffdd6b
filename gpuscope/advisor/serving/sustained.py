"""The matrix rate that a GPU keeps up in one precision: measured where it was, else specified × a share."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import matrix_peak_tflops
from gpuscope.advisor.timing import rates


class MatrixRate(NamedTuple):
    """Of large products."""

    flops_per_s: float
    how: str


def sustained_matrix(gpu: GpuSpec, precision: str, calibration: Calibration) -> MatrixRate | None:
    """What large products reach; None: the catalogue does not know the peak."""
    known = calibration.rates.get(gpu.id)
    measured = known.matmul_flops_per_s.get(precision) if known is not None else None
    if measured is not None:
        return MatrixRate(measured.value, f"{measured.value / 1e12:.3g} TFLOPS in {precision} ({measured.kind})")
    peak = matrix_peak_tflops(gpu, precision)
    if not peak:
        return None
    share = rates.SUSTAINED_SHARE.get(gpu.architecture, rates.DEFAULT_SUSTAINED_SHARE)
    if gpu.segment == "consumer" and gpu.vendor == "NVIDIA":
        share = 1.0
    return MatrixRate(peak * 1e12 * share, f"{peak:g} TFLOPS in {precision} × {share:.2f} sustained")
