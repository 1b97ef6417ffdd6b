"""What the fields of events can hold. A session file or a probe's file may come from anybody and say anything.

A field is checked by its name, which means the same in every kind of event (domain/events.py); null is always allowed,
and names that are not listed here are left as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

MOST_STEPS = 100_000
"""One event never covers more: the probe puts steps together only within 20 ms."""


def plausible(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those whose value cannot be what the name says, as if they had never been written."""
    return {
        name: value for name, value in fields.items() if value is None or name not in _CHECKS or _CHECKS[name](value)
    }


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_step_count(value: Any) -> bool:
    return _is_count(value) and 1 <= value <= MOST_STEPS


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _is_sizes(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value)) and all(map(_is_count, value.values()))


def _is_rows(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(row, dict) and all(_is_number(row.get(name) or 0.0) for name in _ROW_NUMBERS) for row in value
    )


_ROW_NUMBERS = ("count", "cpu_time_s", "device_time_s", "kernels")
_BY_CHECK: dict[Callable[[Any], bool], str] = {
    _is_count: "n parameters trainable_parameters parameter_bytes gradient_bytes state_bytes buffer_bytes rank "
    "local_rank world_size allocated_bytes reserved_bytes peak_allocated_bytes peak_reserved_bytes alloc_retries ooms "
    "after_step",
    _is_step_count: "steps",
    _is_number: "duration_s probe_s samples batches wait_s cost_s",
    _is_flag: "skipped profiled dominant compiled checkpointing grad_scaler tf32",
    _is_text: "optimizer key class_name name version cuda_version type uuid python executable script autocast message "
    "reason sentence",
    _is_texts: "class_names traceback",
    _is_sizes: "parameter_dtypes",
    _is_rows: "rows",
}
_CHECKS = {name: check for check, names in _BY_CHECK.items() for name in names.split()}
