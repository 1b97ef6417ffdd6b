"""From a footprint to a recommendation, with the catalogue and the calibration that come with gpuscope."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.domain.base import from_json
from gpuscope.domain.footprint import SCHEMA, Footprint
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
def calibration() -> Calibration:
    """What was measured and fitted.

    Raises:
        CatalogueError: a file is damaged; names the line.
    """
    return load_calibration(paths.resources_dir() / "calibration")


def advisor_of(footprint: Footprint, rates: Calibration | None = None) -> Advisor:
    """The advisor of one job, to be kept while the person changes what is allowed.

    Args:
        footprint: what the job uses.
        rates: instead of the calibration that comes with gpuscope.

    Raises:
        UsageError: the footprint is absurd.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    today = datetime.now(UTC).date()
    return Advisor(footprint, catalogue(), today=today, calibration=rates or calibration())


def advise(footprint: Footprint, constraints: Constraints) -> Recommendation:
    """What to get for this job under these constraints, by today's date.

    Raises:
        UsageError: the constraints contradict each other or name something unknown.
        CatalogueError: the catalogue or the calibration is damaged.
    """
    return advisor_of(footprint).recommend(constraints)


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
