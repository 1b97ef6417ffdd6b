"""Numbers that drivers, DCGM and their tools print where there is no value."""

from __future__ import annotations

from typing import Any

BLANK_FROM = 2.0**62
"""Everything from here on: DCGM's 64-bit blanks, and all bits set."""
BLANKS = (4294967295.0, 140737488355328.0, 2147483632.0, 17179869184.0 * 1024)
"""All bits of 32 set; DCGM_FP64_BLANK and DCGM_INT32_BLANK of dcgm_fields.h; 16 TiB, DCGM's memory of nobody."""


def is_blank(values: Any) -> Any:
    """Whether a number, or each of an array, stands for "no value"."""
    found = abs(values) >= BLANK_FROM
    for blank in BLANKS:
        found = found | (values == blank)
    return found
