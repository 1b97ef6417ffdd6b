"""Steps of a job by the ranges that its program marks with NVTX: the same name again and again, one after the other."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

from gpuscope.importers.pytorch.trace_columns import TraceColumns

MARKED_BY = "NVTX ranges"
_NUMBERS = re.compile(r"\d+")
_STEP_WORDS = re.compile(r"(?<![a-z])(?:steps?|iter(?:ation)?s?|batch|minibatch|train_?step|training_step)(?![a-z])")
_NO_STEP_WORDS = re.compile(r"micro|sub_?step|accum|optimizer|lr_|scheduler|zero_grad|next|load|fetch|prepare")
_FEWEST = 2
"""What comes once is no step of a loop."""

Named = list[tuple[str, float, float]]


def steps_by_ranges(columns: TraceColumns) -> Named:
    """Name, beginning and end (µs) of each step: of the ranges whose name speaks of steps those that cover most time.

    Numbers in names count the steps (`step 12`, `iteration_3`), so names that differ in them alone are one. Ranges
    that overlap on one thread, or come once only, are no steps.
    """
    groups: dict[tuple[int, str], Named] = defaultdict(list)
    for start_us, duration_us, name, thread in columns.annotated():
        pattern = _NUMBERS.sub("#", name).lower()
        if _STEP_WORDS.search(pattern) and not _NO_STEP_WORDS.search(pattern):
            groups[thread, pattern].append((name, start_us, start_us + duration_us))
    candidates = [sorted(ranges, key=lambda each: each[1]) for ranges in groups.values() if len(ranges) >= _FEWEST]
    return max(filter(_one_after_the_other, candidates), key=_covered_us, default=[])


def _one_after_the_other(ranges: Named) -> bool:
    return all(after[1] >= before[2] for before, after in itertools.pairwise(ranges))


def _covered_us(ranges: Named) -> float:
    return sum(end - start for _, start, end in ranges)
