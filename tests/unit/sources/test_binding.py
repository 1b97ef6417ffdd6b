"""The right binding, the wrong one, none."""

from __future__ import annotations

import importlib.metadata
import sys
import types

import pytest

from gpuscope.errors import SourceError
from gpuscope.sources import binding


def test_the_installed_one_is_nvidias() -> None:
    loaded = binding.load_binding()
    assert loaded.package == "nvidia-ml-py"
    assert loaded.version == importlib.metadata.version("nvidia-ml-py")


def test_another_package_called_pynvml(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = types.ModuleType("pynvml")
    wrong.__file__ = "/somewhere/pynvml/__init__.py"
    wrong.nvmlInitWithFlags = lambda _: None  # type: ignore[attr-defined] # what an old copy would have
    monkeypatch.setitem(sys.modules, "pynvml", wrong)
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: {"pynvml": ["pynvml"]})
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "11.0.0")
    with pytest.raises(SourceError) as raised:
        binding.load_binding()
    sentence = str(raised.value)
    assert "the package pynvml 11.0.0" in sentence
    assert "/somewhere/pynvml/__init__.py" in sentence
    assert "pip uninstall -y pynvml" in sentence
    assert "\n" not in sentence


def test_no_binding_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # makes the import fail
    with pytest.raises(SourceError, match="pip install nvidia-ml-py"):
        binding.load_binding()


def test_the_frozen_app_may_lack_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert binding.load_binding().package is None
