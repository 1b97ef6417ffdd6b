"""How wide the ranges of a service are."""

from __future__ import annotations

import math

_ASSUMED_SHAPE = 1.15
"""Other shapes of the same size: fewer key-value heads shrink the cache, more layers start more kernels (assumed)."""
_MAY_NOT_FIT = 1.25
"""Memory that only may be enough leaves fewer requests in a batch (assumed)."""
_OTHER_VENDOR = 2.0
"""Constants come from NVIDIA's GPUs; four published rows of an MI300X are 1.4 to 2.7 times slower than they say."""
_CPU = 1.5
"""Constants come from GPUs; CPUs differ in their caches and in how many cores the memory needs (assumed)."""


def spread_of(published: float, vendor: str | None, *, assumed: bool = False, fits: bool | None = True) -> float:
    """The factor within which 90% of true values lie: what published rows showed, and what is assumed of the model.

    Args:
        published: factor of the rows that the constants were fitted to.
        vendor: of the GPU; None: it is a CPU.
        assumed: the model's dimensions are assumed.
        fits: None where the memory only may be enough.
    """
    factors = [published]
    if vendor is None:
        factors.append(_CPU)
    elif vendor != "NVIDIA":
        factors.append(_OTHER_VENDOR)
    if assumed:
        factors.append(_ASSUMED_SHAPE)
    if fits is None:
        factors.append(_MAY_NOT_FIT)
    return math.exp(math.sqrt(sum(math.log(factor) ** 2 for factor in factors)))
