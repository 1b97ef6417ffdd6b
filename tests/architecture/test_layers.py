"""The import rules of pyproject.toml hold, and they would catch a breach."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

LINT_IMPORTS = str(Path(sys.executable).parent / "lint-imports")


def run_linter(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINT_IMPORTS, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


def test_contracts_are_kept(root: Path) -> None:
    result = run_linter(root)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_package_has_its_layer(root: Path) -> None:
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["type"] == "layers")
    placed = {name.strip() for line in layers["layers"] for name in line.split("|")} | set(layers["exhaustive_ignores"])
    folder = root / "gpuscope"
    packages = {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert packages | modules == placed


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("gpuscope/engine/breach.py", "import PySide6.QtCore"),
        ("gpuscope/ui/breach.py", "import pynvml"),
        ("gpuscope/report/breach.py", "import sqlite3"),
        ("gpuscope/advisor/breach.py", "from gpuscope.store import reader"),
        ("gpuscope/domain/breach.py", "from gpuscope.engine import follow"),
        ("gpuscope/probe/breach.py", "from gpuscope.domain import units"),
        ("gpuscope/cli/breach.py", "import torch"),
    ],
)
def test_a_breach_is_caught(root: Path, tmp_path: Path, module: str, line: str) -> None:
    for source in (root / "gpuscope").rglob("*.py"):
        copy = tmp_path / source.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((root / "pyproject.toml").read_bytes())
    (tmp_path / module).write_text(f'"""A breach."""\n\n{line}\n', encoding="utf-8")
    result = run_linter(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "breach" in result.stdout
