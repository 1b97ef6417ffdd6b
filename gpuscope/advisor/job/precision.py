"""Number formats: their names, their sizes, and which peak of a GPU counts for each."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.errors import UsageError

FLOAT32, TF32, FLOAT16, BFLOAT16 = "float32", "tf32", "float16", "bfloat16"
PRECISIONS = (FLOAT32, TF32, FLOAT16, BFLOAT16)

_NAMES = {
    "float32": FLOAT32, "fp32": FLOAT32, "float": FLOAT32, "32": FLOAT32, "tf32": TF32, "float16": FLOAT16,
    "fp16": FLOAT16, "half": FLOAT16, "16": FLOAT16, "bfloat16": BFLOAT16, "bf16": BFLOAT16,
}  # fmt: skip

# Share of the FP32 tensor peak that convolutions in TF32 keep: published rows are 1.3 to 1.7 times slower than a model
# that gives them the whole of it.
_TF32_CONVOLUTION_SHARE = 1 / 1.5


def precision_of(name: str) -> str:
    """The precision that a person calls `name` (`fp16`, `bf16`, ...).

    Raises:
        UsageError: there is no such precision.
    """
    found = _NAMES.get(name.strip().lower())
    if found is None:
        raise UsageError(f"Precision {name!r} is not known: use one of {', '.join(PRECISIONS)}.")
    return found


def is_16_bit(precision: str) -> bool:
    """float16 or bfloat16."""
    return precision in {FLOAT16, BFLOAT16}


def supports(gpu: GpuSpec, precision: str) -> bool | None:
    """Whether the GPU computes in that precision at a useful rate; None: the catalogue does not say."""
    if precision == FLOAT32:
        return True
    if matrix_peak_tflops(gpu, precision) is not None:
        return True
    known_absent = gpu.vendor == "NVIDIA" and gpu.compute_capability is not None
    return False if known_absent and _capability(gpu) < _NEEDED_CAPABILITY[precision] else None


def matrix_peak_tflops(gpu: GpuSpec, precision: str) -> float | None:
    """Peak of matrix products in TFLOPS (dense, FP32 accumulation); None: unknown or not supported."""
    if precision == TF32:
        return gpu.tf32_tensor_tflops
    if precision == BFLOAT16:
        return gpu.bf16_tensor_tflops
    if precision == FLOAT16:
        return gpu.fp16_tensor_tflops or _plain_half_tflops(gpu)
    return gpu.fp32_tflops


def convolution_peak_tflops(gpu: GpuSpec, precision: str) -> float | None:
    """Peak of convolutions: PyTorch lets cuDNN use TF32 for FP32 convolutions where the GPU has it."""
    peak = matrix_peak_tflops(gpu, precision)
    if precision == FLOAT32 and gpu.tf32_tensor_tflops is not None:
        return max(peak or 0.0, gpu.tf32_tensor_tflops * _TF32_CONVOLUTION_SHARE)
    return peak


# CUDA compute capability from which NVIDIA's GPUs have the format in tensor cores (float16 also plain on 6.0 and 7.5).
_NEEDED_CAPABILITY = {TF32: 8.0, BFLOAT16: 8.0, FLOAT16: 7.0}


def _capability(gpu: GpuSpec) -> float:
    try:
        return float(gpu.compute_capability or "")
    except ValueError:
        return 0.0


def _plain_half_tflops(gpu: GpuSpec) -> float | None:
    """P100 and GTX 16xx run plain FP16 at twice their FP32 rate; other Pascal cards at 1/64, which nobody wants."""
    if gpu.tensor_core_count == 0 and gpu.fp32_tflops is not None and _capability(gpu) in {6.0, 7.5}:
        return 2 * gpu.fp32_tflops
    return None
