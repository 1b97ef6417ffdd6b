"""From a footprint to a recommendation, with the catalogue that comes with gpuscope."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.choice.recommend import recommend
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


def advise(footprint: Footprint, constraints: Constraints) -> Recommendation:
    """What to get for this job under these constraints, by today's date.

    Raises:
        UsageError: the constraints contradict each other or name something unknown.
        CatalogueError: the catalogue is damaged.
    """
    return recommend(footprint, constraints, catalogue(), today=datetime.now(UTC).date())


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
