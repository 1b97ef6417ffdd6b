"""Build rates, shares and mixes from the published rows, all of them or without those that are held out."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.published import fitted_shares, published_rates
from gpuscope.advisor.calibration.writing import write_mixes, write_rates, write_shares
from gpuscope.advisor.validation.mix_fit import fit_values, with_values
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import UnitTime, dle_units, lambda_units


def with_published_rates(
    tables: Tables, base: Calibration, without_gpus: AbstractSet[str] = frozenset()
) -> Calibration:
    """The calibration with published rates and the shares that follow from them.

    Args:
        tables: with matmul_achievable, neusight_gemm and neusight_vector.
        base: whose other parts are kept.
        without_gpus: catalogue ids of GPUs of which nothing may be known.
    """
    rates = published_rates(
        tables.rows("matmul_achievable"), tables.rows("neusight_gemm"), tables.rows("neusight_vector")
    )
    rates = {gpu_id: known for gpu_id, known in rates.items() if gpu_id not in without_gpus}
    return msgspec.structs.replace(base, rates=rates, shares=fitted_shares(rates, tables.catalogue))


def fitted_rates(
    tables: Tables,
    base: Calibration,
    seen: Callable[[UnitTime], bool],
    *,
    without_gpus: AbstractSet[str] = frozenset(),
    start: dict[str, float] | None = None,
) -> Calibration:
    """The calibration with rates, shares and mixes from what may be seen.

    Args:
        tables: published rows.
        base: whose other parts are kept.
        seen: which rows of the training suites the fit may use.
        without_gpus: catalogue ids of GPUs of which no published rate may be used.
        start: values of a fit to almost the same rows, which saves time.
    """
    known = with_published_rates(tables, base, without_gpus)
    units = [unit for unit in all_units(tables) if seen(unit)]
    return with_values(known, fit_values(known, units, tables.catalogue, start))


def all_units(tables: Tables) -> list[UnitTime]:
    """Rows of both training suites."""
    return [*lambda_units(tables), *dle_units(tables)]


def write_fitted_rates(tables: Tables, folder: Path) -> None:
    """Fit to all rows and write gpu_rates.csv, shares.csv and mixes.csv."""
    fitted = fitted_rates(tables, Calibration(), lambda _: True)
    write_rates(folder / "gpu_rates.csv", fitted.rates)
    write_shares(folder / "shares.csv", fitted.shares)
    write_mixes(folder / "mixes.csv", fitted.mixes)
