"""How many measurements ranges hold whose widths were taken from other rows: without the row's family, GPU or study."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.widths import Need, left_open, width_of_all, width_of_devices

Rule = Callable[[Sequence[Need]], float]


class Width(NamedTuple):
    """One width that is taken from rows of studies, as `timm_widths` and `suite_widths` take it."""

    code: str
    """Of the doubt (`timing.uncertainty`)."""
    studies: tuple[str, ...]
    rule: Rule
    floor: float = 1.02
    """It is never narrower than this factor, whatever the rows say."""


WIDTHS = (
    Width("no_gpu_run", ("timm-no-run", "timm-dry-run"), width_of_devices),
    Width("gpu_to_gpu_rated", ("timm-inference",), width_of_devices, 1.18),
    Width("stage_change", ("timm-training", "timm-training-nhwc"), width_of_devices),
    Width("compile_change", ("timm-compiled",), width_of_devices),
    Width("no_cpu_run", ("timm-cpu",), width_of_devices),
    Width("cpu_to_cpu", ("timm-other-cpu",), width_of_devices),
    Width("gpu_to_gpu", ("new-card-images",), width_of_all, 1.30),
    Width(
        "gpu_to_gpu_whole",
        ("lambda-training", "nvidia-examples", "new-generation-suites", "v100-to-a100"),
        width_of_all,
    ),
    Width("precision_change_whole", ("to-16-bit", "to-tf32"), width_of_all),
    Width("specified_only", ("neusight-models",), width_of_all, 1.25),
    Width("many_gpus", ("scaling-1-to-8",), width_of_all),
)


class Coverage(NamedTuple):
    """Shares of rows inside ranges; None: there is only one family, GPU or study."""

    width: Width
    rows: int
    own: float
    """With the width that ships, which these rows are in."""
    without_family: float | None
    without_gpu: float | None
    without_study: float | None


def coverages(outcomes: Mapping[str, Sequence[Outcome]], calibration: Calibration) -> Iterator[Coverage]:
    """Of each width whose studies are all there.

    Args:
        outcomes: by name of the study.
        calibration: what the ranges were made with.
    """
    for width in WIDTHS:
        if all(outcomes.get(name) for name in width.studies):
            needs = list(_needs(width, outcomes, calibration))
            shipped = math.log(doubt(width.code, calibration).factor)
            yield Coverage(
                width,
                len(needs),
                sum(need.width <= shipped for need in needs) / len(needs),
                _left_out(width, needs, lambda need: need.family),
                _left_out(width, needs, lambda need: need.gpu),
                _left_out(width, needs, lambda need: need.stratum),
            )


def _needs(width: Width, outcomes: Mapping[str, Sequence[Outcome]], calibration: Calibration) -> Iterator[Need]:
    shipped = math.log(doubt(width.code, calibration).factor) ** 2
    for name in width.studies:
        for outcome in outcomes[name]:
            if outcome.predicted is not None and outcome.log_ratio is not None:
                whole = math.log(outcome.predicted.high / outcome.predicted.mid) ** 2
                yield Need(name, outcome.gpu, outcome.family, left_open(outcome.log_ratio, whole - shipped))


def _left_out(width: Width, needs: Sequence[Need], part_of: Callable[[Need], str]) -> float | None:
    """Share of rows inside when each part's width comes from the others."""
    parts = {part_of(need) for need in needs}
    if len(parts) < 2:
        return None
    inside = 0
    for part in parts:
        factor = max(width.floor, math.exp(width.rule([need for need in needs if part_of(need) != part])))
        inside += sum(need.width <= math.log(factor) for need in needs if part_of(need) == part)
    return inside / len(needs)
