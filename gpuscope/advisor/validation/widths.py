"""How wide a range has to be, from errors of predictions of its kind: split conformal prediction in the logarithm.

A range is made of several doubts whose squares add up in the logarithm. Of each published row it is known how far the
prediction was off and what its other doubts allow for: the width that one doubt needs there is what they leave open.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuscope.advisor.validation.goals import STRATUM_ROWS

COVERED = 0.9
_COVERED_OF_A_FAMILY = 0.85
"""Of a family with many rows: it is to be covered too, if less than all of them together."""
_COVERED_OF_A_PART = 0.82


class Need(NamedTuple):
    """What one row needs of the doubt."""

    stratum: str
    """Rows that are to be covered on their own, such as those of a study."""
    gpu: str
    family: str
    width: float
    """In the logarithm."""


def left_open(log_ratio: float, others_squared: float) -> float:
    """What is left of an error when other doubts allow for `others_squared` (of their widths in the logarithm)."""
    return math.sqrt(max(0.0, log_ratio**2 - max(0.0, others_squared)))


def conformal_quantile(errors: Iterable[float], share: float = COVERED) -> float:
    """The smallest of the errors that is to cover `share` of new ones: with n of them, the ⌈share × (n + 1)⌉-th.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(errors)
    if not ordered:
        raise ValueError("a width needs errors")
    return ordered[min(len(ordered), math.ceil(share * (len(ordered) + 1))) - 1]


def width_of_devices(needs: Sequence[Need]) -> float:
    """The widest that a device of a stratum needs for 90% of its rows, or a large family of models for 85%.

    Raises:
        ValueError: there are no rows.
    """
    by_device, by_family = _grouped(needs)
    widths = [conformal_quantile(each) for each in by_device.values()]
    widths += [conformal_quantile(each, _COVERED_OF_A_FAMILY) for each in by_family.values() if _many(each)]
    if not widths:
        raise ValueError("a width needs errors")
    return max(widths)


def width_of_all(needs: Sequence[Need]) -> float:
    """What holds 90% of all rows, and 82% of every GPU's and every family's in each stratum with enough rows.

    Raises:
        ValueError: there are no rows.
    """
    by_device, by_family = _grouped(needs)
    parts = [each for each in (*by_device.values(), *by_family.values()) if _many(each)]
    widths = [conformal_quantile(each, _COVERED_OF_A_PART) for each in parts]
    return max([conformal_quantile(need.width for need in needs), *widths])


def _many(widths: Sequence[float]) -> bool:
    return len(widths) >= STRATUM_ROWS


def _grouped(needs: Sequence[Need]) -> tuple[dict[tuple[str, str], list[float]], dict[tuple[str, str], list[float]]]:
    by_device: dict[tuple[str, str], list[float]] = defaultdict(list)
    by_family: dict[tuple[str, str], list[float]] = defaultdict(list)
    for need in needs:
        by_device[need.stratum, need.gpu].append(need.width)
        by_family[need.stratum, need.family].append(need.width)
    return by_device, by_family
