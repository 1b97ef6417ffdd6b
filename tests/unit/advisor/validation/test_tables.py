"""Published tables: read once, damage named, shared results made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.validation.tables import PUBLISHED, Tables
from gpuscope.errors import CatalogueError


@pytest.fixture
def made(tmp_path: Path) -> Tables:
    (tmp_path / PUBLISHED).mkdir()
    return Tables(tmp_path, Catalogue(()))


def write(tables: Tables, text: bytes) -> None:
    (tables.folder / PUBLISHED / "rows.csv").write_bytes(text)


def test_rows_come_in_the_order_of_the_file(made: Tables) -> None:
    write(made, b"gpu,value\nb,1\na,\n")
    assert made.rows("rows") == ({"gpu": "b", "value": "1"}, {"gpu": "a", "value": ""})


def test_a_table_is_read_once(made: Tables) -> None:
    write(made, b"gpu,value\nb,1\n")
    first = made.rows("rows")
    (made.folder / PUBLISHED / "rows.csv").unlink()
    assert made.rows("rows") is first


@pytest.mark.parametrize("line", [b"a\n", b"a,1,2\n"])
def test_a_row_with_another_number_of_cells_is_named(made: Tables, line: bytes) -> None:
    write(made, b"gpu,value\nb,1\n" + line)
    with pytest.raises(CatalogueError, match=r"rows\.csv, row 3: another number of cells"):
        made.rows("rows")


def test_a_table_that_is_no_text_is_named(made: Tables) -> None:
    write(made, b"gpu,value\n\xff\xfe,1\n")
    with pytest.raises(CatalogueError, match=r"rows\.csv cannot be read"):
        made.rows("rows")


def test_without_files_the_calibration_is_empty(made: Tables) -> None:
    assert made.calibration.rates == {}


def test_what_several_studies_need_is_made_once(made: Tables) -> None:
    calls: list[str] = []

    def make(name: str) -> str:
        calls.append(name)
        return name

    assert [made.once(key, lambda key=key: make(key)) for key in ("a", "b", "a")] == ["a", "b", "a"]
    assert calls == ["a", "b"]
