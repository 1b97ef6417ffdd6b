"""Guides and rules for the files of the source tree: sizes, leftovers, notices, nothing of the machine they grew on."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
"""The guides are 350 and 40; past these numbers a file or function has to be split."""

THIS_FILE = Path(__file__).resolve()

FORBIDDEN = {
    "a path of somebody's machine": re.compile(
        r"(?<![\w.-])(?:/work/|/home/[a-z]+/|/root/|/Users/[A-Za-z]+/|C:\\Users\\)"
    ),
    "the host of a package registry": re.compile(
        r"pypi\.org|pythonhosted|index-url|download\.pytorch\.org|registry\.npmjs|deb\.debian\.org", re.IGNORECASE
    ),
    "a reminder instead of the work": re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
}

EXAMPLE_PATHS = ("/home/user/", "/home/me/", "/home/ada/", "/root/secret")
"""Made-up paths that tests of redaction and redirection may name."""


def python_files(files: list[Path], *folders: str) -> list[Path]:
    """The Python files in these folders at the top of the checkout, whatever the checkout itself is called."""
    top = THIS_FILE.parents[2]
    return [path for path in files if path.suffix == ".py" and path.relative_to(top).parts[0] in folders]


@pytest.mark.parametrize("what", list(FORBIDDEN))
def test_nothing_of_the_workshop_is_left(text_files: dict[Path, str], what: str) -> None:
    found = []
    for path, text in text_files.items():
        if path == THIS_FILE:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            for example in EXAMPLE_PATHS:
                line = line.replace(example, "")
            if FORBIDDEN[what].search(line):
                found.append(f"{path}:{number}: {line.strip()[:120]}")
    assert not found, f"{what}:\n" + "\n".join(found)


def test_files_are_small(tracked_files: list[Path]) -> None:
    sizes = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(tracked_files, "gpuscope")
    }
    large = {str(path): size for path, size in sizes.items() if size > MOST_LINES_OF_A_FILE}
    assert not large


def test_functions_are_small(tracked_files: list[Path]) -> None:
    large = [
        f"{path}:{function.lineno}: {function.name} has {lines_of(function)} lines"
        for path in python_files(tracked_files, "gpuscope")
        for function in functions_of(path)
        if lines_of(function) > MOST_LINES_OF_A_FUNCTION
    ]
    assert not large, "\n".join(large)


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def test_modules_say_what_they_hold(tracked_files: list[Path]) -> None:
    silent = [
        str(path)
        for path in python_files(tracked_files, "gpuscope", "tests")
        if path.read_text(encoding="utf-8").strip()
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_exemptions_give_a_reason(text_files: dict[Path, str]) -> None:
    bare = re.compile(r"#\s*(?:noqa(?!:)|noqa: [A-Z0-9, ]+$|type: ignore(?!\[)|type: ignore\[[a-z, -]+\]$)")
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in text_files.items()
        if path.suffix == ".py" and path != THIS_FILE
        for number, line in enumerate(text.splitlines(), start=1)
        if bare.search(line.rstrip())
    ]
    assert not found, "\n".join(found)


def test_licence_is_there_and_named(root: Path) -> None:
    text = (root / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License")
    assert "MIT" in (root / "README.md").read_text(encoding="utf-8")


def test_every_price_has_its_source(root: Path) -> None:
    with (root / "resources" / "catalogue" / "cloud_offers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert [row["provider"] for row in rows if not row["source"]] == []
