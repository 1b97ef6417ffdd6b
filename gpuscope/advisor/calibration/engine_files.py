"""Read and write the constants of inference engines.

    engines.csv  engine, name, value, source: constants of `serving.constants.ServingConstants`

Constants that the file lacks keep the values of the code.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gpuscope.advisor.catalogue.table import Row, read_rows
from gpuscope.advisor.serving.constants import Engines, ServingConstants

ENGINES_FILE = "engines.csv"
_COLUMNS = ("engine", "name", "value", "source")
_NAMES = tuple(name for name in ServingConstants.__struct_fields__ if name not in {"most_concurrent", "memory_share"})


def load_engines(folder: Path) -> Engines:
    """Constants from engines.csv of a folder; those of the code where it is missing.

    Raises:
        CatalogueError: the file is damaged; the message names the file and the line.
    """
    engines = Engines()
    path = folder / ENGINES_FILE
    if not path.exists():
        return engines
    for row in read_rows(path, _COLUMNS):
        engine, name = _names(row)
        constants = msgspec.structs.replace(getattr(engines, engine), **{name: row.positive("value")})
        engines = msgspec.structs.replace(engines, **{engine: constants})
    return engines


def write_engines(path: Path, engines: Engines, fitted: Mapping[str, Sequence[str]], source: str) -> None:
    """Write engines.csv: of each engine the constants that were fitted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for engine, names in fitted.items():
            constants = getattr(engines, engine)
            writer.writerows((engine, name, f"{getattr(constants, name):.4g}", source) for name in names)


def _names(row: Row) -> tuple[str, str]:
    engine, name = row.required("engine"), row.required("name")
    if engine not in Engines.__struct_fields__:
        raise row.error(f"the engine {engine} is none of {', '.join(Engines.__struct_fields__)}")
    if name not in _NAMES:
        raise row.error(f"the constant {name} is none of {', '.join(_NAMES)}")
    return engine, name
