"""How long a recommendation takes, beside reading the catalogue's files and doing nothing with them."""

from __future__ import annotations

import csv
import time
from datetime import date

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.advisor.choice.recommend import recommend
from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.recommendation import Constraints
from tests.bench.measure import Comparison, interleave

TODAY = date(2026, 11, 30)


def run(rounds: int) -> Comparison:
    """Milliseconds for loading the catalogue and ranking everything in it."""
    folder = paths.resources_dir() / "catalogue"
    footprint = estimate(7_000_000_000, "fp16", "training", "adamw")

    def ours() -> float:
        started = time.perf_counter()
        recommend(footprint, Constraints(total_steps=100_000), load_catalogue(folder), today=TODAY)
        return 1000 * (time.perf_counter() - started)

    def baseline() -> float:
        started = time.perf_counter()
        for path in folder.glob("*.csv"):
            with path.open(encoding="utf-8", newline="") as file:
                list(csv.DictReader(file))
        return 1000 * (time.perf_counter() - started)

    return interleave("recommend", "read the catalogue's CSV files", "ms", ours=ours, baseline=baseline, rounds=rounds)
