"""The source tree, as the architecture tests look at it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tracked_files() -> list[Path]:
    """Files under version control that are still there, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def text_files(tracked_files: list[Path]) -> dict[Path, str]:
    """Tracked files that are text, with their content."""
    found = {}
    for path in tracked_files:
        data = path.read_bytes()
        if b"\0" not in data[:4096]:
            found[path] = data.decode("utf-8", errors="replace")
    return found
