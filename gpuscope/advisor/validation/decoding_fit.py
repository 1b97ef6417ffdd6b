"""Fit the constants of the serving model to published rows: few of them, with priors, by the median of errors.

Each constant is moved on its own, by the factors that lower the mean of |log(predicted / measured)| and a weak prior;
three rounds settle them. Engines that start a step at once and llama.cpp are fitted apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.validation.decoding_rows import (
    DECODE,
    FIRST_TOKEN,
    LOAD_FIRST_TOKEN,
    LOAD_INTER_TOKEN,
    SATURATED,
    Row,
    predicted,
)

PRIOR = ServingConstants(
    bandwidth_share=0.90, hbm_share=0.90, packed_share=0.90, cache_share=0.85, layer_cycles=120e3, prompt_cycles=150e3,
    products_share=0.80, float8_share=0.85, mixture_share=0.75, message_latency_s=15e-6, request_s=8e-3,
)  # fmt: skip
"""Where a fit starts, and where it stays without rows."""
_SHARES = frozenset(
    {"bandwidth_share", "packed_share", "cache_share", "products_share", "float8_share", "mixture_share", "hbm_share"}
)
_ENGINE = (
    "products_share", "cache_share", "bandwidth_share", "hbm_share", "layer_cycles", "prompt_cycles", "float8_share",
    "mixture_share", "message_latency_s", "packed_share",
)  # fmt: skip
_LLAMA_CPP = ("bandwidth_share", "hbm_share", "layer_cycles", "packed_share", "cache_share")
_FITTED_KINDS = frozenset({DECODE, FIRST_TOKEN, SATURATED, LOAD_INTER_TOKEN})
_ROUNDS = 3
_PRIOR_WEIGHT = 0.02
"""A constant that is 2.7 times off its prior costs as much as 2% of error."""
_STEPS = (1.16, 1.05, 1.015)
"""Factors by which a constant is moved in each round."""
_COVERED = 0.9


def fitted_engines(rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration) -> ServingConstants:
    """Constants of engines that start a whole step at once.

    Rows of static batches are left out: they come from a release whose attention kernels were replaced since.
    """
    used = [row for row in rows if row.kind in _FITTED_KINDS and not row.llama_cpp]
    constants = _fitted(PRIOR, used, _ENGINE, catalogue, calibration)
    online = [row for row in rows if row.kind == LOAD_FIRST_TOKEN]
    constants = _fitted(constants, online, ("request_s",), catalogue, calibration)
    return with_spread(constants, [*used, *online], catalogue, calibration)


def fitted_llama_cpp(rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration) -> ServingConstants:
    """Constants of llama.cpp."""
    used = [row for row in rows if row.llama_cpp]
    start = msgspec.structs.replace(PRIOR, layer_cycles=220e3, prompt_cycles=220e3)
    return with_spread(_fitted(start, used, _LLAMA_CPP, catalogue, calibration), used, catalogue, calibration)


def with_spread(
    constants: ServingConstants, rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration
) -> ServingConstants:
    """The factor within which 90% of the rows lie; one of so few rows that nothing can be said keeps the prior's."""
    errors = sorted(abs(error) for error in _errors(constants, rows, catalogue, calibration))
    if len(errors) < 1 / (1 - _COVERED):
        return constants
    rank = min(len(errors) - 1, math.ceil(_COVERED * (len(errors) + 1)) - 1)
    return msgspec.structs.replace(constants, spread=math.exp(errors[rank]))


def _fitted(
    start: ServingConstants, rows: Sequence[Row], names: Sequence[str], catalogue: Catalogue, calibration: Calibration
) -> ServingConstants:
    def loss(constants: ServingConstants) -> float:
        errors = [abs(error) for error in _errors(constants, rows, catalogue, calibration)]
        off = sum(math.log(getattr(constants, name) / getattr(start, name)) ** 2 for name in names)
        return sum(errors) / max(1, len(errors)) + _PRIOR_WEIGHT * off

    best, lowest = start, loss(start)
    for step in _STEPS[:_ROUNDS]:
        for name in names:
            best, lowest = _moved(best, lowest, name, step, loss)
    return best


def _moved(
    best: ServingConstants, lowest: float, name: str, step: float, loss: Callable[[ServingConstants], float]
) -> tuple[ServingConstants, float]:
    """Move one constant up or down as long as that helps."""
    for factor in (step, 1 / step):
        while True:
            value = getattr(best, name) * factor
            if name in _SHARES and value > 1.0:
                break
            tried = msgspec.structs.replace(best, **{name: value})
            found = loss(tried)
            if found >= lowest:
                break
            best, lowest = tried, found
    return best, lowest


def _errors(
    constants: ServingConstants, rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration
) -> list[float]:
    """log(predicted / measured) of the rows that the product has an answer for."""
    errors = []
    for row in rows:
        value, _ = predicted(row, constants, catalogue, calibration)
        if value is not None:
            errors.append(math.log(value / row.value))
    return errors
