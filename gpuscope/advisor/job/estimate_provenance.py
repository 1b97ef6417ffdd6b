"""Where the figures of an estimate come from."""

from __future__ import annotations

from gpuscope.advisor.job.architecture import USUAL_SEQUENCE
from gpuscope.advisor.job.number_formats import NumberFormat
from gpuscope.advisor.job.optimizers import OptimizerState
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Provenance

_FORMULAS = "published memory formulas of PyTorch training (weights, gradients, optimizer state)"
_ACTIVATIONS = "arXiv 2205.05198, s·b·h·34 bytes a layer in 16 bits with fused attention"


def estimate_provenance(
    format_: NumberFormat,
    state: OptimizerState | None,
    batch: float | None,
    architecture: Architecture | None,
    *,
    cached: bool,
) -> dict[str, Provenance]:
    """By JSON pointer.

    Args:
        format_: of the parameters.
        state: of the optimizer; None for inference.
        batch: sequences in a step; None: activations are not counted.
        architecture: None: dimensions are those of published models.
        cached: whether a KV cache is counted.
    """
    pointers = {
        "/workload/parameters": Provenance(kind="assumed", how="given by the person"),
        "/memory/breakdown/parameters_bytes": _derived(f"parameters × {format_.bytes:g} bytes"),
    }
    total = "weights + KV cache" if cached else "weights"
    if state is not None:
        pointers |= _training(format_, state)
        total = "weights + gradients + optimizer state + the larger of temporary and activations"
    shape = "assumed" if architecture is None else "derived"
    where = "as in published language models of that size" if architecture is None else "from the given dimensions"
    if cached:
        how = f"requests × tokens × layers × keys and values × bytes of a value, {where}"
        pointers["/memory/breakdown/kv_cache_bytes"] = Provenance(kind=shape, how=how)
    if batch is not None:
        how = f"layer width {where}"
        pointers["/memory/breakdown/activations_bytes"] = Provenance(kind=shape, how=how, source=_ACTIVATIONS)
        pointers["/ops"] = _derived(
            "2 FLOPs for each active parameter and token forward, 4 backward", "common approximation"
        )
    else:
        total += f"; activations of one sequence of {USUAL_SEQUENCE} tokens only in the high end"
    if format_.most_bytes is not None:
        total += f"; scales of the quantised weights, up to {format_.most_bytes:g} bytes a weight, in the high end"
    pointers["/memory/peak_allocated_bytes"] = _derived(total)
    return pointers


def _training(format_: NumberFormat, state: OptimizerState) -> dict[str, Provenance]:
    each = state.bytes_each or format_.bytes
    return {
        "/memory/breakdown/gradients_bytes": _derived(f"parameters × {format_.bytes:g} bytes"),
        "/memory/breakdown/optimizer_state_bytes": _derived(
            f"{state.name}: {state.formula}, parameters × {state.tensors} × {each:g} bytes"
        ),
        "/memory/breakdown/temporaries_bytes": _derived(
            "multi-tensor update: one temporary as large as the parameters; fused updates have none"
        ),
    }


def _derived(how: str, source: str = _FORMULAS) -> Provenance:
    return Provenance(kind="derived", how=how, source=source)
