"""Interleaved measuring: ours and the baseline take turns, so that a busy machine slows both alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """What one benchmark found: paired values of ours and of the baseline, in the same unit."""

    name: str
    baseline_name: str
    unit: str
    ours: tuple[float, ...]
    baseline: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median of the paired ratios: steadier than the ratio of the medians when the machine's load drifts."""
        return statistics.median(mine / bare for mine, bare in zip(self.ours, self.baseline, strict=True))

    @property
    def spread(self) -> tuple[float, float]:
        """Smallest and largest paired ratio."""
        ratios = [mine / bare for mine, bare in zip(self.ours, self.baseline, strict=True)]
        return min(ratios), max(ratios)

    def row(self) -> str:
        """A line of the table."""
        low, high = self.spread
        return (
            f"{self.name:34} {statistics.median(self.ours):9.3f} {self.unit:14} "
            f"{self.baseline_name:34} {statistics.median(self.baseline):9.3f} "
            f"{self.ratio:7.2f} ({low:.2f}-{high:.2f}, {len(self.ours)} rounds)"
        )


HEADING = f"{'what':34} {'ours':>9} {'':14} {'beside':34} {'':9} {'ratio':>7}"


def interleave(
    name: str,
    baseline_name: str,
    unit: str,
    *,
    ours: Callable[[], float],
    baseline: Callable[[], float],
    rounds: int,
) -> Comparison:
    """Measure in turns; who goes first alternates. One unmeasured round warms both up."""
    mine: list[float] = []
    bare: list[float] = []
    ours()
    baseline()
    for number in range(rounds):
        order = ((ours, mine), (baseline, bare)) if number % 2 == 0 else ((baseline, bare), (ours, mine))
        for measure, values in order:
            values.append(measure())
    return Comparison(name, baseline_name, unit, tuple(mine), tuple(bare))
