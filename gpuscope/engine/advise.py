"""From a footprint to a recommendation, with the catalogue and the calibration that come with gpuscope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.own_rates import rates_in, read_rates, with_own_rates
from gpuscope.advisor.calibration.recalibration import TargetRun, recalibrated
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.mix.advising import recommend_mix
from gpuscope.advisor.mix.jobs import AskedJob
from gpuscope.domain.base import from_json
from gpuscope.domain.footprint import SCHEMA, Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.domain.units import MIB
from gpuscope.engine.input_file import read_bounded
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


class Own(NamedTuple):
    """What the person knows better than the catalogue and the calibration that come with gpuscope."""

    offers: tuple[CatalogueOffer, ...] = ()
    """Looked at besides the catalogue's."""
    rates: tuple[Path, ...] = ()
    """Documents of measured rates, besides those that are kept on this machine."""
    target_runs: tuple[Footprint, ...] = ()
    """Runs on GPUs that are considered, of this job or of others: a handful corrects what is predicted for a card."""


NOTHING = Own()
_LARGEST_DOCUMENT = 256 * MIB
_LARGEST_FIGURE = 1e30
"""Above the operations of any job; what is reckoned from it stays far from infinity."""
"""A trace's footprint of very many operators takes a few MiB; devices that never end are not read."""


def calibration(own: Own = NOTHING, job: Footprint | None = None) -> Calibration:
    """What comes with gpuscope, and before it what this person measured.

    Args:
        own: measured rates and runs.
        job: what is advised on: of a target run of the same job, it is the run elsewhere.

    Raises:
        CatalogueError: a file that comes with gpuscope is damaged; names the line.
        UsageError: a document of measured rates is damaged; names it.
    """
    try:
        kept = rates_in(paths.state_dir() / "rates")
    except OSError:  # nobody can have kept anything there
        kept = ()
    documents = [*kept, *(read_rates(path) for path in own.rates)]
    known = shipped_calibration()
    if documents:
        known = with_own_rates(known, documents, catalogue())
    runs = [TargetRun(run, job if job is not None and _same_job(run, job) else None) for run in own.target_runs]
    return recalibrated(known, runs, catalogue()) if runs else known


def target_run(footprint: Footprint, name: str) -> Footprint:
    """The footprint, if it is a run that corrects what is predicted for its card.

    Args:
        footprint: that somebody gave as such a run.
        name: of its file.

    Raises:
        UsageError: it is not; the text says what is missing.
    """
    time_s = footprint.steps.time_s
    if len(footprint.devices) != 1 or catalogue().gpu_of(footprint.devices[0]) is None:
        found = "none" if not footprint.devices else str(len(footprint.devices))
        missing = f"ran on one GPU of the catalogue (it names {'one that is not in it' if found == '1' else found})"
    elif not (time_s.mid or time_s.p50):
        missing = "has timed steps"
    else:
        return footprint
    raise UsageError(f"{name} cannot correct predictions as a target run: give a run that {missing}.")


def _same_job(run: Footprint, job: Footprint) -> bool:
    """The same model, optimizer and batch for each GPU, on another GPU than the run."""
    ours, theirs = run.workload, job.workload
    same = (
        ours.parameters is not None
        and (ours.stage, ours.parameters, ours.optimizer) == (theirs.stage, theirs.parameters, theirs.optimizer)
        and ours.batch.per_device == theirs.batch.per_device
    )
    return same and bool(job.devices) and [d.gpu for d in job.devices] != [d.gpu for d in run.devices]


def advisor_of(footprint: Footprint, own: Own = NOTHING) -> Advisor:
    """The advisor of one job, to be kept while the person changes what is allowed.

    Args:
        footprint: what the job uses.
        own: what the person knows better.

    Raises:
        UsageError: the footprint is absurd, or a document of rates is damaged.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    today = datetime.now(UTC).date()
    return Advisor(footprint, _with(own.offers), today=today, calibration=calibration(own, footprint))


def advise(footprint: Footprint, constraints: Constraints, own: Own = NOTHING) -> Recommendation:
    """What to get for this job under these constraints, by today's date.

    Args:
        footprint: what the job uses.
        constraints: what the person allows.
        own: what the person knows better.

    Raises:
        UsageError: the constraints contradict each other or name something unknown.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    return advisor_of(footprint, own).recommend(constraints)


def advise_mix(
    jobs: Sequence[tuple[str, Footprint, float]],
    constraints: Constraints,
    *,
    growth_per_year: float = 0.0,
    own: Own = NOTHING,
) -> MixRecommendation:
    """What to get for several jobs together.

    Args:
        jobs: of each its name, what it uses, and how often it runs in a month.
        constraints: hold for each run.
        growth_per_year: 0.2: each year a fifth more runs than the year before.
        own: what the person knows better.

    Raises:
        UsageError: the constraints contradict each other, or a job's work is not known.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    asked = [AskedJob(*job) for job in jobs]
    advisors = [advisor_of(job.footprint, own) for job in asked]
    return recommend_mix(asked, advisors, constraints, growth_per_year)


def _with(offers: tuple[CatalogueOffer, ...]) -> Catalogue:
    known = catalogue()
    return Catalogue(known.gpus, known.cpus, (*known.offers, *offers), known.systems) if offers else known


def _largest(document: Any) -> float:
    """The largest number in a document, without its sign."""
    if isinstance(document, Mapping):
        return max(map(_largest, document.values()), default=0.0)
    if isinstance(document, (list, tuple)):
        return max(map(_largest, document), default=0.0)
    return abs(document) if isinstance(document, (int, float)) else 0.0


def read_footprint(path: Path) -> Footprint:
    """Read a footprint document from a JSON file, or from standard input for `-`.

    Raises:
        UsageError: it cannot be read or is not such a document.
    """
    try:
        footprint = from_json(read_bounded(path, _LARGEST_DOCUMENT), Footprint)
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is not a footprint: {error}.") from error
    if _largest(msgspec.to_builtins(footprint)) > _LARGEST_FIGURE:
        raise UsageError(f"{path} is not a footprint: a number in it is larger than any figure of a job.")
    if footprint.schema != SCHEMA:
        raise UsageError(f"{path} has the schema {footprint.schema!r}; this gpuscope reads {SCHEMA!r}.")
    return footprint
