"""Whether a script imports torch, seen without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.runner.imports import torch_import


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch", "torch"),
        ("import os, torch.nn as nn", "torch"),
        ("from torch.optim import AdamW", "torch"),
        ("if True:\n    import torch", "torch"),
        ("with open('x'):\n    import torch", "torch"),
        ("class A:\n    import torch", "torch"),
        ("from lightning import Trainer", "lightning"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", None),
        ("try:\n    pass\nfinally:\n    import torch", "torch"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", None),
        ("def f():\n    import torch", None),
        ("import torchinfo", None),
        ("from .torch import x", None),
        ("x = '\\d'\nimport torch", "torch"),
        ("import torch\nthis is no Python", None),
        ("import torch\x00", None),
        ("", None),
    ],
)
def test_imports(tmp_path: Path, text: str, found: str | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert torch_import(script) == found


def test_files_beside_the_script_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from model import Net\nimport data.loader\n")
    (tmp_path / "model.py").write_text("import train\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "__init__.py").write_text("")
    (tmp_path / "data" / "loader.py").write_text("import torch\n")
    assert torch_import(tmp_path / "train.py") == "torch"


def test_link_to_a_script_and_a_folder_with_a_main(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "__main__.py").write_text("import model")
    (tmp_path / "real" / "model.py").write_text("import torch")
    (tmp_path / "train.py").symlink_to("real/__main__.py")
    assert torch_import(tmp_path / "train.py") == "torch"
    assert torch_import(tmp_path / "real") == "torch"


def test_file_that_is_not_there(tmp_path: Path) -> None:
    assert torch_import(tmp_path / "none.py") is None
