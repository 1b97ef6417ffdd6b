"""Formats in which a served model's weights are held, with what quantisation adds, and how a GPU computes with them."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import BFLOAT16, FLOAT8, FLOAT16, FLOAT32, INT8, TF32, supports
from gpuscope.errors import UsageError

INT4, FLOAT4 = "int4", "float4"

_GROUP = 128
"""Weights that share a scale in the usual four-bit formats (GPTQ, AWQ)."""
_SCALE_BITS, _ZERO_BITS = 16, 4
_FLOAT4_GROUP, _FLOAT4_SCALE_BITS = 16, 8
"""Of NVFP4: a scale of 8 bits for each 16 weights."""


class WeightFormat(NamedTuple):
    """How weights are held."""

    name: str
    bits: float
    """Of a weight with its share of scales."""
    quantised: bool
    how: str
    table_bytes: float = 2.0
    """Of a value in the embedding table and the output head, where the other weights are quantised."""


_FORMATS = {
    FLOAT32: WeightFormat(FLOAT32, 32, quantised=False, how="32 bits a weight"),
    FLOAT16: WeightFormat(FLOAT16, 16, quantised=False, how="16 bits a weight"),
    BFLOAT16: WeightFormat(BFLOAT16, 16, quantised=False, how="16 bits a weight"),
    FLOAT8: WeightFormat(FLOAT8, 8, quantised=True, how="8 bits a weight, one scale a matrix"),
    INT8: WeightFormat(INT8, 8, quantised=True, how="8 bits a weight, one scale a row"),
    INT4: WeightFormat(
        INT4,
        4 + (_SCALE_BITS + _ZERO_BITS) / _GROUP,
        quantised=True,
        how=f"4 bits a weight, and {_SCALE_BITS} + {_ZERO_BITS} bits of scale and zero for each {_GROUP} of them",
    ),
    FLOAT4: WeightFormat(
        FLOAT4,
        4 + _FLOAT4_SCALE_BITS / _FLOAT4_GROUP,
        quantised=True,
        how=f"4 bits a weight, and {_FLOAT4_SCALE_BITS} bits of scale for each {_FLOAT4_GROUP} of them",
    ),
}
_ALIASES = {
    "fp32": FLOAT32, "fp16": FLOAT16, "half": FLOAT16, "bf16": BFLOAT16, "fp8": FLOAT8, "float8_e4m3fn": FLOAT8,
    "float8_e5m2": FLOAT8, "tf32": FLOAT32, "8bit": INT8, "4bit": INT4, "fp4": FLOAT4, "nvfp4": FLOAT4,
}  # fmt: skip

WEIGHT_FORMATS = tuple(_FORMATS)
_FILE_TABLE_BYTES = 6.5625 / 8
"""llama.cpp's files hold the output head in Q6_K where the other weights have four bits."""
FILE_FORMATS = {
    "q4_0": WeightFormat(INT4, 4.5, quantised=True, how="4-bit blocks of 32 (Q4_0)", table_bytes=_FILE_TABLE_BYTES),
    "q4_k_m": WeightFormat(
        INT4, 4.85, quantised=True, how="4-bit blocks of blocks (Q4_K_M)", table_bytes=_FILE_TABLE_BYTES
    ),
    "q8_0": WeightFormat(INT8, 8.5, quantised=True, how="8-bit blocks of 32 (Q8_0)", table_bytes=8.5 / 8),
}
"""Of llama.cpp, which quantises the tables too: bits of a weight with its scales (llama.cpp, tools/quantize)."""
_USUAL_FILES = {INT4: FILE_FORMATS["q4_k_m"], INT8: FILE_FORMATS["q8_0"]}
CACHE_BYTES = {FLOAT32: 4.0, FLOAT16: 2.0, BFLOAT16: 2.0, FLOAT8: 1.0, INT8: 1.0}
"""Of a cached value; scales are one for each tensor."""


def weight_format(name: str, *, llama_cpp: bool = False) -> WeightFormat:
    """The format that a person calls `name`.

    Args:
        name: such as int4.
        llama_cpp: in a file of llama.cpp, where four and eight bits are its usual Q4_K_M and Q8_0.

    Raises:
        UsageError: it is not known; the text lists those that are.
    """
    key = name.strip().lower()
    found = _FORMATS.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"Weight format {name!r} is not known: use one of {', '.join(WEIGHT_FORMATS)}.")
    return _USUAL_FILES.get(found.name, found) if llama_cpp else found


def is_known(name: str) -> bool:
    """Whether `weight_format` knows the name."""
    key = name.strip().lower()
    return _ALIASES.get(key, key) in _FORMATS


def cache_bytes(name: str) -> float:
    """Bytes of a cached value in a format.

    Raises:
        UsageError: caches are not kept in that format.
    """
    key = name.strip().lower()
    found = CACHE_BYTES.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"Cache format {name!r} is not known: use one of {', '.join(CACHE_BYTES)}.")
    return found


class Products(NamedTuple):
    """In what a GPU multiplies activations with weights of a format."""

    precision: str
    """Of the sustained rate that counts."""
    packed: bool
    """Weights are unpacked on the way, at some cost."""
    how: str
    times: float = 1.0
    """Peak over that of `precision`, where products run in fewer bits yet."""

    @property
    def eight_bits(self) -> bool:
        """Products run in eight bits, or fewer."""
        return self.precision == FLOAT8


def products_of(gpu: GpuSpec, format_: WeightFormat, precision: str) -> Products | str:
    """How the GPU computes with such weights; a sentence's end where it cannot.

    Floating point of eight and four bits is multiplied as it is where the GPU has the units; integers are weights
    alone, unpacked to 16 bits for each product, as engines do by default. Of the four-bit peak the same share is taken
    to be sustained as of the eight-bit one.

    Args:
        gpu: which GPU.
        format_: of the weights.
        precision: of the activations, and of the weights where they are not quantised.
    """
    if format_.name == FLOAT32:
        return _plain(gpu, precision if precision in {FLOAT32, TF32} else FLOAT32)
    if not format_.quantised:
        return _plain(gpu, format_.name)
    if format_.name == FLOAT8 and supports(gpu, FLOAT8):
        return Products(FLOAT8, packed=False, how="products in 8 bits")
    if format_.name == FLOAT4 and gpu.fp4_tensor_tflops and gpu.fp8_tensor_tflops:
        times = gpu.fp4_tensor_tflops / gpu.fp8_tensor_tflops
        return Products(FLOAT8, packed=False, how=f"products in 4 bits, {times:.2g} times as fast", times=times)
    wanted = precision if precision in {FLOAT16, BFLOAT16} else BFLOAT16
    sixteen = wanted if supports(gpu, wanted) else FLOAT16
    plain = _plain(gpu, sixteen)
    if isinstance(plain, str):
        return plain
    how = f"{format_.name} weights are unpacked to {sixteen} for each product"
    return Products(sixteen, packed=True, how=how)


def _plain(gpu: GpuSpec, precision: str) -> Products | str:
    able = supports(gpu, precision)
    if able is False:
        return f"{gpu.name} does not compute in {precision} at a useful rate"
    if able is None:
        return f"the catalogue does not know the rate of {gpu.name} in {precision}"
    return Products(precision, packed=False, how=f"products in {precision}")
