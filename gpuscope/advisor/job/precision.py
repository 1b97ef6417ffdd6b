"""Number formats: their names, their sizes, and which peak of a GPU counts for each."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.errors import UsageError

FLOAT32, TF32, FLOAT16, BFLOAT16 = "float32", "tf32", "float16", "bfloat16"
FLOAT8, INT8 = "float8", "int8"
PRECISIONS = (FLOAT32, TF32, FLOAT16, BFLOAT16, FLOAT8, INT8)

_NAMES = {
    "float32": FLOAT32, "fp32": FLOAT32, "float": FLOAT32, "32": FLOAT32, "tf32": TF32, "float16": FLOAT16,
    "fp16": FLOAT16, "half": FLOAT16, "16": FLOAT16, "bfloat16": BFLOAT16, "bf16": BFLOAT16,
    "float8": FLOAT8, "fp8": FLOAT8, "float8_e4m3fn": FLOAT8, "float8_e5m2": FLOAT8, "int8": INT8,
}  # fmt: skip

# CUDA compute capability from which NVIDIA's GPUs have the format in tensor cores (float16 also plain on 6.0 and 7.5).
_NEEDED_CAPABILITY = {TF32: 8.0, BFLOAT16: 8.0, FLOAT16: 7.0, FLOAT8: 8.9, INT8: 7.5}


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


def is_8_bit(precision: str) -> bool:
    """float8 or int8: only matrix products compute in 8 bits, everything else stays in bfloat16."""
    return precision in {FLOAT8, INT8}


def halves_activations(precision: str) -> bool:
    """What lies between the operators takes 16 bits instead of 32: in 16 bits, and in 8 bits too."""
    return is_16_bit(precision) or is_8_bit(precision)


def supports(gpu: GpuSpec, precision: str) -> bool | None:
    """Whether the GPU computes in that precision at a useful rate; None: the catalogue does not say."""
    if precision == FLOAT32:
        return True
    if matrix_peak_tflops(gpu, precision) is not None:
        return True
    known_absent = gpu.vendor == "NVIDIA" and gpu.compute_capability is not None
    return False if known_absent and _capability(gpu) < _NEEDED_CAPABILITY[precision] else None


def matrix_peak_tflops(gpu: GpuSpec, precision: str) -> float | None:
    """Peak of matrix products in TFLOPS (TOPS for int8), dense; floats accumulate in FP32. None: unknown or absent."""
    if precision == TF32:
        return gpu.tf32_tensor_tflops
    if precision == BFLOAT16:
        return gpu.bf16_tensor_tflops
    if precision == FLOAT16:
        return gpu.fp16_tensor_tflops or _plain_half_tflops(gpu)
    if precision == FLOAT8:
        return gpu.fp8_tensor_tflops
    if precision == INT8:
        return gpu.int8_tensor_tops
    return gpu.fp32_tflops


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
