"""From a footprint to a recommendation, with the catalogue and the calibration that come with gpuscope."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.own_rates import rates_in, read_rates, with_own_rates
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.mix.advising import recommend_mix
from gpuscope.advisor.mix.jobs import AskedJob
from gpuscope.domain.base import from_json
from gpuscope.domain.footprint import SCHEMA, Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.errors import UsageError


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """GPUs, CPUs, offers and systems.

    Raises:
        CatalogueError: a file is damaged; names the line.
    """
    return load_catalogue(paths.resources_dir() / "catalogue")


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """What was measured and fitted before, as it comes with gpuscope.

    Raises:
        CatalogueError: a file is damaged; names the line.
    """
    return load_calibration(paths.resources_dir() / "calibration")


def calibration(rates: Sequence[Path] = ()) -> Calibration:
    """What comes with gpuscope, and before it what this person measured.

    Args:
        rates: documents of measured rates, besides those that are kept on this machine.

    Raises:
        CatalogueError: a file that comes with gpuscope is damaged; names the line.
        UsageError: a document of measured rates is damaged; names it.
    """
    try:
        kept = rates_in(paths.state_dir() / "rates")
    except OSError:  # nobody can have kept anything there
        kept = ()
    documents = [*kept, *(read_rates(path) for path in rates)]
    return with_own_rates(shipped_calibration(), documents, catalogue()) if documents else shipped_calibration()


def advisor_of(footprint: Footprint, offers: tuple[CatalogueOffer, ...] = (), rates: Sequence[Path] = ()) -> Advisor:
    """The advisor of one job, to be kept while the person changes what is allowed.

    Args:
        footprint: what the job uses.
        offers: the person's own, besides the catalogue's.
        rates: documents of measured rates, besides those that are kept on this machine.

    Raises:
        UsageError: the footprint is absurd, or a document of rates is damaged.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    return Advisor(footprint, _with(offers), today=datetime.now(UTC).date(), calibration=calibration(rates))


def advise(
    footprint: Footprint,
    constraints: Constraints,
    offers: tuple[CatalogueOffer, ...] = (),
    rates: Sequence[Path] = (),
) -> Recommendation:
    """What to get for this job under these constraints, by today's date.

    Args:
        footprint: what the job uses.
        constraints: what the person allows.
        offers: the person's own, besides the catalogue's.
        rates: documents of measured rates, besides those that are kept on this machine.

    Raises:
        UsageError: the constraints contradict each other or name something unknown.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    return advisor_of(footprint, offers, rates).recommend(constraints)


def advise_mix(
    jobs: Sequence[tuple[str, Footprint, float]],
    constraints: Constraints,
    *,
    growth_per_year: float = 0.0,
    offers: tuple[CatalogueOffer, ...] = (),
    rates: Sequence[Path] = (),
) -> MixRecommendation:
    """What to get for several jobs together.

    Args:
        jobs: of each its name, what it uses, and how often it runs in a month.
        constraints: hold for each run.
        growth_per_year: 0.2: each year a fifth more runs than the year before.
        offers: the person's own, besides the catalogue's.
        rates: documents of measured rates, besides those that are kept on this machine.

    Raises:
        UsageError: the constraints contradict each other, or a job's work is not known.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    asked = [AskedJob(*job) for job in jobs]
    advisors = [advisor_of(job.footprint, offers, rates) for job in asked]
    return recommend_mix(asked, advisors, constraints, growth_per_year)


def _with(offers: tuple[CatalogueOffer, ...]) -> Catalogue:
    known = catalogue()
    return Catalogue(known.gpus, known.cpus, (*known.offers, *offers), known.systems) if offers else known


def read_footprint(path: Path) -> Footprint:
    """Read a footprint document from a JSON file.

    Raises:
        UsageError: it cannot be read or is not such a document.
    """
    try:
        footprint = from_json(path.read_bytes(), Footprint)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is not a footprint: {error}.") from error
    if footprint.schema != SCHEMA:
        raise UsageError(f"{path} has the schema {footprint.schema!r}; this gpuscope reads {SCHEMA!r}.")
    return footprint
