"""What a GPU sustains in one precision: measured where somebody measured it, else its specification × a fitted share.

The order is the user's own measurement, a published one, a fitted one, and then the share of the specification that
GPUs of the same architecture sustain, held down by what the board's power limit allows.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.model import FITTED, MEASURED, PUBLISHED, Calibration, Figure, share_key
from gpuscope.advisor.calibration.power_limits import (
    FLOAT32_WATTS,
    HALF_WATTS,
    IDLE_W,
    TENSOR_OVER_PLAIN_WATTS,
    chip,
    on_the_slot,
)
from gpuscope.advisor.calibration.published import memory
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import (
    BFLOAT16,
    FLOAT8,
    FLOAT16,
    FLOAT32,
    INT8,
    TF32,
    is_8_bit,
    is_16_bit,
    matrix_peak_tflops,
)
from gpuscope.advisor.timing import rates

_GROUPS = {FLOAT32: "fp32", TF32: "tf32", FLOAT16: "16bit", BFLOAT16: "16bit", FLOAT8: "8bit", INT8: "8bit"}
_OF_HALF_WATTS = {"tf32": 2.0, "16bit": 1.0, "8bit": 0.5}
_TERA, _GIGA = 1e12, 1e9

TF32_OVER_HALF = "tf32_over_16bit"
"""Share of the peak that products reach in TF32, over that in 16 bits; without it they are taken to be the same."""
DEFAULT_VECTOR_SHARE = 0.87
"""Of the memory bandwidth, where no calibration is given (fit to published runs on an RTX 3090 and 4090)."""
TF32_CONVOLUTION_SHARE = 1 / 1.5
"""Of the TF32 rate of matrix products: published ones are 1.3 to 1.7 times slower than a model with all of it."""


class Sustained(NamedTuple):
    """Sustained rates of one GPU in one precision."""

    matmul_flops_per_s: Figure
    convolution_flops_per_s: Figure
    vector_bytes_per_s: Figure
    kernel_latency_s: Figure

    @property
    def rated(self) -> bool:
        """Somebody measured this GPU's matrix products or its memory, rather than only specifying them."""
        return MEASURED in self._kinds or PUBLISHED in self._kinds

    @property
    def _kinds(self) -> set[str]:
        return {self.matmul_flops_per_s.kind, self.convolution_flops_per_s.kind, self.vector_bytes_per_s.kind}


def sustained(gpu: GpuSpec, precision: str, calibration: Calibration) -> Sustained | None:
    """Sustained rates of a GPU; None when neither a measurement nor the catalogue has a figure that is needed."""
    matmul = matmul_rate(gpu, precision, calibration)
    vector = vector_rate(gpu, calibration)
    convolution = convolution_rate(gpu, precision, calibration)
    if matmul is None or vector is None or convolution is None:
        return None
    known = calibration.rates.get(gpu.id)
    latency = known.kernel_latency_s if known is not None else None
    usual = Figure(value=rates.KERNEL_LATENCY_S, kind=FITTED, source="as on an RTX 3090 and 4090")
    return Sustained(matmul, convolution, vector, latency or usual)


def matmul_rate(gpu: GpuSpec, precision: str, calibration: Calibration) -> Figure | None:
    """FLOP/s of a large matrix product."""
    known = calibration.rates.get(gpu.id)
    if known is not None:
        found = known.matmul_flops_per_s.get(precision)
        sibling = _sibling(precision)
        if found is None and sibling and matrix_peak_tflops(gpu, sibling) == matrix_peak_tflops(gpu, precision):
            found = known.matmul_flops_per_s.get(sibling)
        if found is not None:
            return found
    peak = matrix_peak_tflops(gpu, precision)
    return None if not peak else _of_specification(gpu, precision, peak, calibration)


def convolution_rate(gpu: GpuSpec, precision: str, calibration: Calibration) -> Figure | None:
    """FLOP/s of a large convolution: like matrix products, with TF32 where the framework takes it by itself.

    cuDNN has no 8-bit convolutions in PyTorch: those stay in 16 bits. In FP32 PyTorch lets cuDNN use TF32.
    """
    if is_8_bit(precision):
        precision = BFLOAT16
    known = calibration.rates.get(gpu.id)
    if known is not None and precision in known.convolution_flops_per_s:
        return known.convolution_flops_per_s[precision]
    plain = matmul_rate(gpu, precision, calibration)
    if precision not in {FLOAT32, TF32}:
        return plain
    tensor = matmul_rate(gpu, TF32, calibration)
    if tensor is not None:
        value = tensor.value * TF32_CONVOLUTION_SHARE
        tensor = Figure(value=value, kind=tensor.kind, source=f"TF32 matrix products × 2/3 ({tensor.source})")
    single = matmul_rate(gpu, FLOAT32, calibration)
    return max((each for each in (tensor, single) if each is not None), key=lambda each: each.value, default=None)


def vector_rate(gpu: GpuSpec, calibration: Calibration) -> Figure | None:
    """Bytes read and written a second by a large elementwise operator."""
    known = calibration.rates.get(gpu.id)
    if known is not None and known.vector_bytes_per_s is not None:
        return known.vector_bytes_per_s
    if not gpu.memory_bandwidth_gbs:
        return None
    share = calibration.shares.get(share_key("vector", memory(gpu))) or Figure(
        value=DEFAULT_VECTOR_SHARE, kind=FITTED, source="usual share"
    )
    return Figure(
        value=gpu.memory_bandwidth_gbs * _GIGA * share.value,
        kind=FITTED,
        source=f"{gpu.memory_bandwidth_gbs:g} GB/s × {share.value:.2f} ({share.source})",
    )


def memory_unseen(gpu: GpuSpec, calibration: Calibration) -> bool:
    """Nobody published what large operators reach of such memory: the usual share, that of GDDR6X, stands for it."""
    known = calibration.rates.get(gpu.id)
    if known is not None and known.vector_bytes_per_s is not None:
        return False
    kind = memory(gpu)
    return kind != "GDDR6X" and share_key("vector", kind) not in calibration.shares


def power_capped(gpu: GpuSpec, precision: str, calibration: Calibration) -> bool:
    """The board's power limit, not its silicon, sets the rate of matrix products, or may: it lives on the slot's."""
    peak = matrix_peak_tflops(gpu, precision)
    limit = _power_limit(gpu, _GROUPS[precision], peak, calibration) if peak else None
    if limit is None:
        known = calibration.rates.get(gpu.id)
        return known is None and on_the_slot(gpu)
    return limit.value < _silicon_share(gpu, _GROUPS[precision], calibration).value


def _of_specification(gpu: GpuSpec, precision: str, peak_tflops: float, calibration: Calibration) -> Figure:
    group = _GROUPS[precision]
    share = _silicon_share(gpu, group, calibration)
    limit = _power_limit(gpu, group, peak_tflops, calibration)
    if limit is not None and limit.value < share.value:
        share = limit
    basis = f" ({gpu.peak_basis})" if gpu.peak_basis else ""
    return Figure(
        value=peak_tflops * _TERA * share.value,
        kind=FITTED,
        source=f"{peak_tflops:g} TFLOPS{basis} × {share.value:.2f} ({share.source})",
    )


def _silicon_share(gpu: GpuSpec, group: str, calibration: Calibration) -> Figure:
    if group == "tf32":
        half, less = _silicon_share(gpu, "16bit", calibration), calibration.shares.get(TF32_OVER_HALF)
        # The same tensor cores are fed operands of twice the size.
        return half if less is None else msgspec.structs.replace(half, value=half.value * less.value)
    found = _share(calibration, f"matmul_{group}", gpu)
    if found is not None:
        return found
    if gpu.segment == "consumer" and gpu.vendor == "NVIDIA":
        return Figure(value=rates.GEFORCE_SHARE, kind=FITTED, source="a GeForce clocks above its specification")
    usual = rates.SUSTAINED_SHARE.get(gpu.architecture, rates.DEFAULT_SUSTAINED_SHARE)
    return Figure(value=usual, kind=FITTED, source="usual share")


def _power_limit(gpu: GpuSpec, group: str, peak_tflops: float, calibration: Calibration) -> Figure | None:
    """Share of the peak that the board's watts can feed, at what a TFLOPS of that architecture takes."""
    watts = _watts_per_tflops(gpu, group, calibration)
    if watts is None or not gpu.tdp_w:
        return None
    value = max(0.0, gpu.tdp_w - IDLE_W) / (watts.value * peak_tflops)
    return Figure(value=value, kind=FITTED, source=f"{gpu.tdp_w:g} W at {watts.value:.3g} W a TFLOPS: {watts.source}")


def _watts_per_tflops(gpu: GpuSpec, group: str, calibration: Calibration) -> Figure | None:
    plain = _share(calibration, FLOAT32_WATTS, gpu)
    if group == "fp32":
        return plain
    half = _share(calibration, HALF_WATTS, gpu)
    if half is None and plain is not None:
        said = f"{plain.source}; tensor cores take {TENSOR_OVER_PLAIN_WATTS:g} of it"
        half = Figure(value=plain.value * TENSOR_OVER_PLAIN_WATTS, kind=FITTED, source=said)
    if half is None:
        return None
    # The same tensor cores at the same power do half as many operations in TF32, and twice as many in 8 bits.
    return msgspec.structs.replace(half, value=half.value * _OF_HALF_WATTS[group])


def _share(calibration: Calibration, figure: str, gpu: GpuSpec) -> Figure | None:
    """The share of the chip in its segment, else of NVIDIA's segment, else of the chip, else of all."""
    segment = gpu.segment if gpu.vendor == "NVIDIA" else ""
    keys = (share_key(figure, chip(gpu), segment), share_key(figure, "", segment), share_key(figure, chip(gpu)), figure)
    return next((calibration.shares[key] for key in keys if key in calibration.shares), None)


def _sibling(precision: str) -> str | None:
    """float16 and bfloat16 run at the same rate where the specification says so."""
    if not is_16_bit(precision):
        return None
    return BFLOAT16 if precision == FLOAT16 else FLOAT16
