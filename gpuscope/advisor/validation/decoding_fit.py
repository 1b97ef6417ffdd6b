"""Fit the constants of the serving model to published rows: few of them, with priors, by the median of errors.

Each constant is moved on its own, by the factors that lower the mean of |log(predicted / measured)| and a weak prior;
three rounds settle them. Engines that start a step at once and llama.cpp are fitted apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.engine_files import ENGINES_FILE, write_engines
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.serving.constants import Engines, ServingConstants
from gpuscope.advisor.validation.decoding_rows import (
    BATCH,
    DECODE,
    FIRST_TOKEN,
    LOAD_FIRST_TOKEN,
    LOAD_INTER_TOKEN,
    SATURATED,
    Row,
    decoding_rows,
    predicted,
)
from gpuscope.advisor.validation.tables import Tables

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
_PRIOR_WEIGHT = 0.02
"""A constant that is 2.7 times off its prior costs as much as 2% of error."""
_STEPS = (1.16, 1.05, 1.015)
"""Factors by which a constant is moved, one for each round."""
_TIMES = 4
"""From the coarse factor to the fine one and again: constants that trade off have to move in turn."""
_COVERED = 0.9
SPREADS = {
    FIRST_TOKEN: "first_token_spread",
    LOAD_FIRST_TOKEN: "first_token_spread",
    DECODE: "token_spread",
    LOAD_INTER_TOKEN: "token_spread",
    BATCH: "throughput_spread",
    SATURATED: "throughput_spread",
}
"""Which width belongs to which kind of row."""


def fitted_engines(rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration) -> ServingConstants:
    """Constants of engines that start a whole step at once.

    Rows of static batches come from a release whose attention kernels were replaced since: no constant is fitted to
    them, but they count for the spread, for nobody says which release will be used.
    """
    used = [row for row in rows if row.kind in _FITTED_KINDS and not row.llama_cpp]
    constants = _fitted(PRIOR, used, _ENGINE, catalogue, calibration)
    online = [row for row in rows if row.kind == LOAD_FIRST_TOKEN]
    constants = _fitted(constants, online, ("request_s",), catalogue, calibration)
    return with_spreads(constants, [row for row in rows if not row.llama_cpp], catalogue, calibration)


def fitted_llama_cpp(rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration) -> ServingConstants:
    """Constants of llama.cpp."""
    used = [row for row in rows if row.llama_cpp]
    start = msgspec.structs.replace(PRIOR, layer_cycles=220e3, prompt_cycles=220e3)
    return with_spreads(_fitted(start, used, _LLAMA_CPP, catalogue, calibration), used, catalogue, calibration)


def write_fitted_engines(tables: Tables, folder: Path) -> None:
    """Fit to all rows and write engines.csv."""
    rows = decoding_rows(tables)
    engines = Engines(
        graphs=fitted_engines(rows, tables.catalogue, tables.calibration),
        llama_cpp=fitted_llama_cpp(rows, tables.catalogue, tables.calibration),
    )
    names = {
        "graphs": (*_ENGINE, "request_s", *dict.fromkeys(SPREADS.values())),
        "llama_cpp": (*_LLAMA_CPP, SPREADS[DECODE]),
    }
    write_engines(folder / ENGINES_FILE, engines, names, "fit to published/decoding.csv")


def with_spreads(
    constants: ServingConstants, rows: Sequence[Row], catalogue: Catalogue, calibration: Calibration
) -> ServingConstants:
    """The factors within which 90% of the rows of a GPU lie that the fit has not seen, by what is measured.

    Rows scatter about the median of their GPU, and these medians scatter about one: both, as independent. Each kind of
    row counts the same, however many there are.
    """
    spreads: dict[str, float] = {}
    for name in dict.fromkeys(SPREADS.values()):
        within: list[_Weighed] = []
        between: list[_Weighed] = []
        for errors in _by_kind_and_gpu(constants, rows, name, catalogue, calibration):
            count = sum(len(each) for each in errors)
            for each in errors:
                middle = median(each)
                within += [_Weighed(abs(error - middle), 1 / count) for error in each]
                between.append(_Weighed(abs(middle), len(each) / count))
        if within:
            spreads[name] = math.exp(math.hypot(_covering(within), _covering(between)))
    return msgspec.structs.replace(constants, **spreads)


class _Weighed(NamedTuple):
    size: float
    weight: float


def _by_kind_and_gpu(
    constants: ServingConstants, rows: Sequence[Row], name: str, catalogue: Catalogue, calibration: Calibration
) -> list[list[list[float]]]:
    """log(predicted / measured) of the rows that a width is for: by kind, then by GPU."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if SPREADS[row.kind] == name:
            value, _ = predicted(row, constants, catalogue, calibration)
            if value is not None:
                found[row.kind][row.gpu.id].append(math.log(value / row.value))
    return [list(by_gpu.values()) for by_gpu in found.values()]


def _covering(weighed: Sequence[_Weighed]) -> float:
    """The size that 90% of the weight does not pass."""
    total, passed = sum(each.weight for each in weighed), 0.0
    for each in sorted(weighed):
        passed += each.weight
        if passed >= _COVERED * total:
            return each.size
    return max(each.size for each in weighed)


def _fitted(
    start: ServingConstants, rows: Sequence[Row], names: Sequence[str], catalogue: Catalogue, calibration: Calibration
) -> ServingConstants:
    def loss(constants: ServingConstants) -> float:
        errors = [abs(error) for error in _errors(constants, rows, catalogue, calibration)]
        off = sum(math.log(getattr(constants, name) / getattr(start, name)) ** 2 for name in names)
        return sum(errors) / max(1, len(errors)) + _PRIOR_WEIGHT * off

    best, lowest = start, loss(start)
    for step in _STEPS * _TIMES:
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
