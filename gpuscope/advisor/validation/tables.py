"""What studies read: the published measurements that come with gpuscope, the catalogue and the fitted constants."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.errors import CatalogueError

T = TypeVar("T")

PUBLISHED = "published"
"""Folder of the measurements, inside that of the calibration."""

Cells = dict[str, str]
"""One row of a table by column; an empty cell is the empty text."""


class Tables:
    """Reads each table when it is first asked for, and once.

    Args:
        folder: resources/calibration.
        catalogue: GPUs and CPUs that the rows' ids belong to.
    """

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self._rows: dict[str, tuple[Cells, ...]] = {}
        self._made: dict[str, Any] = {}

    @cached_property
    def calibration(self) -> Calibration:
        """The fitted constants as they ship: for what no published row of the study was fitted to.

        Raises:
            CatalogueError: a file is damaged.
        """
        return load_calibration(self.folder)

    def rows(self, name: str) -> tuple[Cells, ...]:
        """The rows of published/NAME.csv in the file's order.

        Raises:
            CatalogueError: the table is missing or damaged.
        """
        if name not in self._rows:
            self._rows[name] = tuple(_read(self.folder / PUBLISHED / f"{name}.csv"))
        return self._rows[name]

    def once(self, key: str, make: Callable[[], T]) -> T:
        """What `make` makes of these tables, made when it is first asked for: fits that several studies need.

        Args:
            key: names what is made; equal keys have to mean equal things.
            make: makes it.
        """
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


def _read(path: Path) -> list[Cells]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CatalogueError(f"The published table {path} cannot be read: {error}. Reinstall gpuscope.") from error
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise CatalogueError(f"{path}, row {number}: another number of cells than the header. Reinstall gpuscope.")
    return rows
