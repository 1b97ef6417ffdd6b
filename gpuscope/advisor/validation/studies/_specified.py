"""Calibrations in which a GPU is known by its specifications alone."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.validation.float32_fit import with_float32_kernels
from gpuscope.advisor.validation.rates_fit import fitted_rates
from gpuscope.advisor.validation.tables import Tables


def without_chip(tables: Tables, held: str) -> Calibration:
    """Rates, shares and mixes fitted without any published row of a GPU with this chip (`published.chip`)."""
    like = {gpu.id for gpu in tables.catalogue.gpus if chip(gpu) == held}
    return tables.once(f"without chip {held}", lambda: _without_gpus(tables, like))


def _without_gpus(tables: Tables, like: set[str]) -> Calibration:
    rated = fitted_rates(tables, tables.calibration, lambda unit: unit.gpu not in like, without_gpus=like)
    return with_float32_kernels(tables, rated, like)
