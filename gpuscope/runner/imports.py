"""Whether a Python file will import torch, without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

TORCH_PACKAGES = frozenset(
    {"torch", "torchvision", "torchaudio", "lightning", "pytorch_lightning", "accelerate", "timm", "torchtune"}
)
"""torch, and packages that cannot be imported without it."""
MAX_FILES = 60
MAX_FILE_BYTES = 2_000_000


def torch_import(script: Path) -> str | None:
    """The first package of `TORCH_PACKAGES` that the script imports at once, itself or through files beside it.

    Imports inside functions, under TYPE_CHECKING and in a `try` that catches their failure do not count: the script
    may run without them. None also when the file cannot be read or parsed.
    """
    if script.is_dir():
        script = script / "__main__.py"
    folder = script.resolve().parent  # Python, too, looks beside the file that a link leads to
    waiting, seen = [script], {script}
    while waiting and len(seen) <= MAX_FILES:
        file = waiting.pop(0)
        for name in _imports_at_once(file):
            if name.partition(".")[0] in TORCH_PACKAGES:
                return name.partition(".")[0]
            beside = _file_beside(folder, name)
            if beside is not None and beside not in seen:
                seen.add(beside)
                waiting.append(beside)
    return None


def _imports_at_once(file: Path) -> list[str]:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's own text, such as odd escapes
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the interpreter will say it better
        return []
    return list(_names(tree.body))


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            if statement.level == 0 and statement.module:
                yield statement.module
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_optional(statement):
            for field in ("body", "orelse", "finalbody"):
                yield from _names(getattr(statement, field, []))


def _is_optional(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Try):
        return bool(statement.handlers)
    return isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)


def _file_beside(folder: Path, module: str) -> Path | None:
    base = folder.joinpath(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
