"""How wide the ranges of a service are."""

from __future__ import annotations

import math

from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.generative import Option

_ASSUMED_SHAPE = 1.15
"""Other shapes of the same size: fewer key-value heads shrink the cache, more layers start more kernels (assumed)."""
_MAY_NOT_FIT = 1.25
"""Memory that only may be enough leaves fewer requests in a batch (assumed)."""


def spread_of(best: Option, constants: ServingConstants) -> float:
    """The factor within which 90% of true values lie: what published rows showed, and what is assumed of the model."""
    factors = [constants.spread]
    if best.model.assumed:
        factors.append(_ASSUMED_SHAPE)
    if best.fits is None:
        factors.append(_MAY_NOT_FIT)
    return math.exp(math.sqrt(sum(math.log(factor) ** 2 for factor in factors)))
