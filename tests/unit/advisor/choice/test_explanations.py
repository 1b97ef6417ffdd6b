"""Every figure of a candidate unfolds, down to where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.economics import Economics
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Candidate, Explanation
from gpuscope.domain.serving import ServingTarget
from tests.unit.advisor.advisor_jobs import advise, cpu_footprint, gpu_footprint, ops

B = 10**9


def nodes(tree: Explanation) -> Iterator[Explanation]:
    yield tree
    for part in tree.inputs:
        yield from nodes(part)


def names(candidate: Candidate) -> set[str]:
    assert candidate.explanation is not None
    return {node.name for node in nodes(candidate.explanation)}


@pytest.mark.parametrize(
    ("footprint", "limits"),
    [
        (cpu_footprint(), {"total_steps": 1e6}),
        (gpu_footprint(ops=ops()), {"total_steps": 1e6, "precisions": ("bf16",)}),
        (estimate(7 * B, "fp16", "training", "adamw", batch=1, sequence_length=2048), {"total_steps": 1e5}),
        (cpu_footprint(), {"total_steps": 1e6, "economics": Economics(hours_per_month=300)}),
        (
            estimate(7 * B, "fp16", "inference"),
            {"serving": ServingTarget(prompt_tokens=512, output_tokens=128, requests_per_second=3)},
        ),
    ],
)
def test_every_figure_has_its_tree(footprint: Footprint, limits: dict[str, Any]) -> None:
    found = advise(footprint, **limits)
    assert found.candidates
    for candidate in found.candidates:
        known = names(candidate)
        assert "Cost" in known
        if candidate.time_to_finish_s is not None:
            assert {"Time to finish", "Time of a step"} <= known
        if candidate.memory.needed_bytes is not None and candidate.gpu is not None and candidate.acquisition != "keep":
            assert "Memory of one GPU" in known
        if candidate.cost_usd_per_hour is not None:
            assert "Price an hour" in known
        if candidate.cost_over_years is not None:
            assert any(name.startswith("Own or rent") for name in known)


def test_leaves_say_where_they_come_from() -> None:
    found = advise(cpu_footprint(), total_steps=1e6)
    for candidate in found.candidates[:20]:
        assert candidate.explanation is not None
        for node in nodes(candidate.explanation):
            if not node.inputs and node.name not in {"Passed over"}:
                assert node.provenance or node.formula, node


def test_price_names_its_source_and_date() -> None:
    found = advise(cpu_footprint(), total_steps=1e6)
    for candidate in found.candidates:
        if candidate.offer is None or candidate.explanation is None:
            continue
        price = next(node for node in nodes(candidate.explanation) if node.name == "Price an hour")
        assert candidate.offer.source in price.provenance
        assert (candidate.offer.price_date or "undated") in price.provenance
