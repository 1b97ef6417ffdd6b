"""How long a recommendation takes, at first and when constraints change, beside reading the catalogue's files."""

from __future__ import annotations

import csv
import time
from datetime import date
from itertools import count

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.recommendation import Constraints
from tests.bench.measure import Comparison, interleave

TODAY = date(2026, 11, 30)
FOOTPRINT = estimate(7_000_000_000, "fp16", "training", "adamw", batch=1, sequence_length=2048)


def run(rounds: int) -> Comparison:
    """Milliseconds for ranking the whole catalogue × counts × layouts for a footprint that was never seen."""
    catalogue = load_catalogue(paths.resources_dir() / "catalogue")
    calibration = load_calibration(paths.resources_dir() / "calibration")

    def ours() -> float:
        started = time.perf_counter()
        advisor = Advisor(FOOTPRINT, catalogue, today=TODAY, calibration=calibration)
        advisor.recommend(Constraints(total_steps=100_000))
        return 1000 * (time.perf_counter() - started)

    return interleave(
        "recommend", "read the catalogue's CSV files", "ms", ours=ours, baseline=_read_files, rounds=rounds
    )


def run_again(rounds: int) -> Comparison:
    """Milliseconds for ranking again under a budget that was not asked for before."""
    catalogue = load_catalogue(paths.resources_dir() / "catalogue")
    calibration = load_calibration(paths.resources_dir() / "calibration")
    advisor = Advisor(FOOTPRINT, catalogue, today=TODAY, calibration=calibration)
    advisor.recommend(Constraints(total_steps=100_000))
    budgets = count(1000)

    def ours() -> float:
        started = time.perf_counter()
        advisor.recommend(Constraints(total_steps=100_000, budget_usd=next(budgets)))
        return 1000 * (time.perf_counter() - started)

    return interleave(
        "rank again", "read the catalogue's CSV files", "ms", ours=ours, baseline=_read_files, rounds=rounds
    )


def _read_files() -> float:
    started = time.perf_counter()
    for path in (paths.resources_dir() / "catalogue").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            list(csv.DictReader(file))
    return 1000 * (time.perf_counter() - started)
