"""Runs first on the far machine: makes modules out of the texts that came through the pipe, without any file."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any


class TextFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from their source texts."""

    def __init__(self, sources: dict[str, str]) -> None:
        """Take the texts by the full names of the modules; a name that others begin with is a package."""
        self._sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's description, if its text has been sent."""
        del path, target
        if fullname not in self._sources:
            return None
        is_package = any(name.startswith(fullname + ".") for name in self._sources)
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's text."""
        code = compile(self._sources[module.__name__], f"<gpuscope: {module.__name__}>", "exec")
        exec(code, module.__dict__)  # noqa: S102 # this is what importing a module is


def run(parcel: dict[str, Any]) -> None:
    """Make the modules of a parcel importable and run its entry."""
    sys.meta_path.insert(0, TextFinder(parcel["sources"]))
    importlib.import_module(parcel["entry"]).main(parcel["options"])
