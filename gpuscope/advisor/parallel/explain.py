"""A step of a layout unfolded into its parts, and why other kinds of layouts were passed over."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.memory.memory_model import TOO_LARGE
from gpuscope.advisor.parallel.collectives import Fabric
from gpuscope.advisor.parallel.memory import Needs
from gpuscope.advisor.parallel.step import Steps
from gpuscope.advisor.parallel.table import LayoutTable
from gpuscope.domain.recommendation import Explanation, Layout
from gpuscope.domain.units import format_bytes, format_duration

_MUCH_SLOWER = 2.0
"""From here on a layout is said to take so many times as long, not so much per cent longer."""
_ASSUMED = "assumed: fused attention, sequence parallel norms, a pipeline that is not interleaved"
_PARTS = (
    ("computing_s", "Computing", "micro batches × forward and backward of a stage"),
    ("bubble_s", "Pipeline bubble", "(p − 1) ÷ (m + p − 1) of the step"),
    ("tensor_s", "Sums of tensor parallelism", "2 a layer and pass × 2(t − 1)/t × micro batch × width ÷ bus"),
    ("pipeline_s", "Sends between stages", "activations and their gradients ÷ link, for each micro batch"),
    ("context_s", "Keys and values around the ring", "not hidden behind attention"),
    ("expert_s", "Exchange of tokens with experts", "2 a layer and pass, all to all"),
    ("sharded_s", "Gathering parameters, scattering gradients", "3 × (n − 1)/n × bytes ÷ bus, less what is hidden"),
    ("gradients_s", "Sum of gradients", "2(n − 1)/n × bytes ÷ bus, less what is hidden"),
    ("update_s", "Optimizer's update", "bytes of state ÷ memory bandwidth"),
    ("waiting_s", "Waiting for the slowest", "a share for each doubling of machines and of GPUs in one"),
)
_MESSAGES = frozenset({"tensor_s", "pipeline_s", "context_s", "expert_s", "sharded_s", "gradients_s"})
"""Parts that rest on what the links reach."""


class Details(NamedTuple):
    """All layouts that were looked at, and which was chosen."""

    table: LayoutTable
    steps: Steps | None
    needs: Needs
    states: Any
    """For each layout `FITS`, `MAY_FIT` or `TOO_LARGE`."""
    row: int
    """Of the table: the chosen layout."""
    fabric: Fabric
    basis: str
    """Where the time of computing comes from."""
    transformer: bool


def step_parts(details: Details) -> tuple[Explanation, ...]:
    """What the chosen layout's step is made of; parts of no time are left out."""
    words = Explanation(
        name="Layout",
        value=layout_words(details.table.layout(details.row)),
        provenance=f"derived; {_ASSUMED}" if details.transformer else "derived",
    )
    if details.steps is None:
        return (words,)
    parts = []
    for field, name, formula in _PARTS:
        seconds = float(getattr(details.steps, field)[details.row])
        if seconds > 0:
            how = _provenance(field, details)
            parts.append(Explanation(name=name, value=format_duration(seconds), formula=formula, provenance=how))
    return (*parts, words)


def layout_words(layout: Layout) -> str:
    """A layout in words: `8 tensor × 4 pipeline × 2 data, ZeRO stage 1, micro batch 1 × 16, checkpointing`."""
    degrees = [
        (layout.tensor_parallel, "tensor"),
        (layout.pipeline_parallel, "pipeline"),
        (layout.context_parallel, "context"),
        (layout.data_parallel, "data"),
    ]
    words = " × ".join(f"{degree} {name}" for degree, name in degrees if degree > 1) or "one GPU"
    if layout.expert_parallel > 1:
        words += f", experts over {layout.expert_parallel}"
    if layout.zero_stage:
        words += f", ZeRO stage {layout.zero_stage}"
    if layout.micro_batch is not None:
        words += f", micro batch {layout.micro_batch:g}"
        if layout.gradient_accumulation > 1:
            words += f" × {layout.gradient_accumulation}"
    return words + (", checkpointing" if layout.activation_checkpointing else "")


def passed_over(details: Details) -> tuple[str, ...]:
    """For each other kind of layout its best one, and why it was not taken."""
    reasons = []
    for name, rows in _kinds(details.table):
        if not len(rows) or details.row in rows:
            continue
        fitting = rows[details.states[rows] < TOO_LARGE]
        if not len(fitting):
            least = float(details.needs.least[rows].min())
            reasons.append(f"{name}: needs {format_bytes(least)} on each GPU and more.")
            continue
        as_sure = fitting[details.states[fitting] <= details.states[details.row]]
        if not len(as_sure):
            reasons.append(f"{name}: may not fit.")
        elif details.steps is not None:
            steps = details.steps.seconds
            reasons.append(f"{name}: {_slower(float(steps[as_sure].min()), float(steps[details.row]))}.")
    return tuple(reasons)


def _slower(seconds: float, own: float) -> str:
    if seconds <= own:
        return "as fast, and not as simple"
    if seconds > _MUCH_SLOWER * own:
        return f"{format_duration(seconds)} a step, {seconds / own:.1f} times as long"
    return f"{format_duration(seconds)} a step, {seconds / own - 1:.0%} slower"


def _kinds(table: LayoutTable) -> list[tuple[str, Any]]:
    import numpy as np

    alone = (table.tensor == 1) & (table.pipeline == 1)
    kinds = (
        ("Replicas", alone & (table.zero == 0)),
        ("Sharded optimizer state (ZeRO stages 1 and 2)", alone & (table.zero > 0) & (table.zero < 3)),
        ("Sharded parameters (ZeRO stage 3)", alone & (table.zero >= 3)),
        ("Tensor parallelism", (table.tensor > 1) & (table.pipeline == 1)),
        ("A pipeline", (table.tensor == 1) & (table.pipeline > 1)),
        ("Tensor parallelism and a pipeline", (table.tensor > 1) & (table.pipeline > 1)),
    )
    return [(name, np.flatnonzero(mask)) for name, mask in kinds]


def _provenance(field: str, details: Details) -> str:
    if field == "computing_s":
        return f"derived; {details.basis}"
    return f"derived; {details.fabric.how}" if field in _MESSAGES and details.fabric.how else "derived"
