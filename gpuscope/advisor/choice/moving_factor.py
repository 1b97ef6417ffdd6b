"""How far an input may move before a choice changes: the smallest factor, found by trying and halving."""

from __future__ import annotations

import math
from collections.abc import Callable

MOST_FACTOR = 10.0
"""Factors beyond it are not looked at."""
_STEPS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, MOST_FACTOR)
_BISECTIONS = 6
"""Halvings in the logarithm of the bracket: within 1% of the factor at which the choice changes."""


def first_change(changed: Callable[[float], bool], *, falls: bool) -> float | None:
    """The factor nearest to 1 at which the choice changes.

    Args:
        changed: whether it is another one with the input scaled by a factor.
        falls: try factors below 1, not above.

    Returns:
        None: it stays up to `MOST_FACTOR`, or down to 1 / `MOST_FACTOR`.
    """

    def changed_by(step: float) -> bool:
        return changed(1 / step if falls else step)

    low = 1.0
    for step in _STEPS:
        if not changed_by(step):
            low = step
            continue
        high = step
        for _ in range(_BISECTIONS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if changed_by(middle) else (middle, high)
        return 1 / high if falls else high
    return None
