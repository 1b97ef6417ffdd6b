"""Constants that saw nothing of a part of the published rows; each is fitted once, whichever studies need it."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.validation.rates_fit import fitted_rates
from gpuscope.advisor.validation.tables import Tables


def without_family(tables: Tables, family: str) -> Calibration:
    """Rates, shares and mixes fitted without any row of one family of models in the training suites."""
    return tables.once(
        f"without family {family}",
        lambda: fitted_rates(tables, tables.calibration, lambda unit: unit.family != family),
    )
