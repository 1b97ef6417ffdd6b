"""How a typed-in model's parameters are held."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.errors import UsageError


class NumberFormat(NamedTuple):
    """How the parameters are held."""

    name: str
    """As in a footprint."""
    label: str
    """As people say it."""
    bytes: float
    trainable: bool = True
    most_bytes: float | None = None
    """With the scales of the finest usual groups; None: there are none."""


_FORMATS = {
    "fp32": NumberFormat("float32", "FP32", 4),
    "fp16": NumberFormat("float16", "FP16", 2),
    "bf16": NumberFormat("bfloat16", "BF16", 2),
    "fp8": NumberFormat("float8_e4m3fn", "FP8", 1, trainable=False, most_bytes=1.03),
    "int8": NumberFormat("int8", "INT8", 1, trainable=False, most_bytes=1.07),
    "int4": NumberFormat("int4", "INT4", 0.5, trainable=False, most_bytes=0.625),
}
"""Scales of 8 bits: one for a matrix or row, at most 16 bits for 32 values in llama.cpp; of 4 bits: 20 bits for 128
values in GPTQ and AWQ, at most 32 bits for 32."""
_ALIASES = {
    "float32": "fp32", "float": "fp32", "32": "fp32", "tf32": "fp32", "float16": "fp16", "half": "fp16", "16": "fp16",
    "bfloat16": "bf16", "float8": "fp8", "8bit": "int8", "4bit": "int4",
}  # fmt: skip

DTYPES = tuple(_FORMATS)


def number_format(dtype: str) -> NumberFormat:
    """The number format that a person calls `dtype`.

    Raises:
        UsageError: it is not known; the text lists those that are.
    """
    key = dtype.strip().lower()
    found = _FORMATS.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"Number format {dtype!r} is not known: use one of {', '.join(DTYPES)}.")
    return found


def format_of_footprint(dtype: str | None) -> NumberFormat:
    """The number format that a footprint calls `dtype`.

    Raises:
        UsageError: it is not known.
    """
    short = next((key for key, value in _FORMATS.items() if value.name == dtype), dtype or "")
    return number_format(short)
