"""The source tree, as the architecture tests look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MADE = frozenset(
    {".git", ".venv", "build", "dist", "out", "__pycache__"}
    | {f".{tool}_cache" for tool in ("pytest", "mypy", "ruff", "import_linter")}
    | {".hypothesis"}
)
"""Folders that version control ignores."""


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tracked_files() -> list[Path]:
    """Files of the checkout without what is made from them; needs no git, so that a downloaded archive passes too."""
    return [path for part in ROOT.iterdir() if part.name not in MADE for path in _files_in(part)]


def _files_in(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir() and path.name not in MADE and not path.name.endswith(".egg-info"):
        for part in path.iterdir():
            yield from _files_in(part)


@pytest.fixture(scope="session")
def text_files(tracked_files: list[Path]) -> dict[Path, str]:
    """Those files that are text, with their content."""
    found = {}
    for path in tracked_files:
        data = path.read_bytes()
        if b"\0" not in data[:4096]:
            found[path] = data.decode("utf-8", errors="replace")
    return found
