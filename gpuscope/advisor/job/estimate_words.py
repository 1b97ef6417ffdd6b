"""An estimate in plain words."""

from __future__ import annotations

from gpuscope.advisor.job.number_formats import format_of_footprint
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.units import GB, GIB, format_count


def estimate_sentence(footprint: Footprint) -> str:
    """The answer of `estimate` in plain words: what holding it takes, and what training or serving it takes."""
    workload, memory = footprint.workload, footprint.memory
    weights, peak = memory.breakdown.parameters_bytes, memory.peak_allocated_bytes
    if weights is None or peak is None or workload.parameters is None:
        return "This footprint does not hold an estimate."
    format_ = format_of_footprint(workload.precision.parameters)
    holding = f"{format_count(workload.parameters)} parameters in {format_.label}: {_gigabytes(weights)} of weights"
    batch = "" if workload.batch.per_device is None else (
        f" with {workload.batch.per_device:g} sequences of {workload.sequence_length} tokens"
    )  # fmt: skip
    if workload.stage == "inference":
        cache = memory.breakdown.kv_cache_bytes
        if cache is not None:
            source = footprint.provenance.get("/memory/breakdown/kv_cache_bytes")
            assumed = " (as published models of that size keep)" if source and source.kind == "assumed" else ""
            return (
                f"{holding} and {_gigabytes(cache)} of KV cache{assumed}{batch}; inference takes {_range_words(peak)}."
            )
        return f"{holding}; inference takes {_range_words(peak)}{batch}, before its KV cache."
    without = "" if batch else ", before activations"
    return f"{holding}; training with {workload.optimizer} takes {_range_words(peak)} at the peak{batch}{without}."


def _gigabytes(value: float) -> str:
    """In vendors' decimal units, three figures, with the binary ones beside them."""
    if value < GB:
        return f"{_three(value / 1e6)} MB"
    return f"{_three(value / GB)} GB ({_three(value / GIB)} GiB)"


def _three(value: float) -> str:
    """Three significant figures, thousands in full: `26.1`, `1,400`."""
    return f"{float(f'{value:.3g}'):,g}" if value < 1e6 else f"{value:,.0f}"


def _range_words(value: Range) -> str:
    unit, size = ("GB", GB) if value.mid >= GB else ("MB", 10**6)
    low, mid, high = (_three(end / size) for end in (value.low, value.mid, value.high))
    return _gigabytes(value.mid) if low == high else f"about {mid} {unit} ({low}–{high} {unit})"
