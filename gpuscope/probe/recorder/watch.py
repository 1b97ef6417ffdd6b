"""Waits until the script itself imports a module, then calls back."""

from __future__ import annotations

import sys

# The typing module is not loaded at interpreter start: it would bring half the standard library along.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class ImportWatcher:
    """A finder that finds nothing itself: it has the module's own loader call back after it ran.

    It goes away after the first successful import. Asking for the module's spec without importing it changes nothing.
    """

    def __init__(self, name: str, callback: Callable[[Any], None]) -> None:
        self._name = name
        self._callback = callback
        self._searching = False

    def install(self) -> None:
        """Start waiting; call back at once where the module is there already."""
        module = sys.modules.get(self._name)
        if module is not None:
            self._callback(module)
        else:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Stop waiting."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, its loader told to call back; None for every other module."""
        if name != self._name or self._searching:
            return None
        self._searching = True
        try:
            spec = self._ask_others(name, path, target)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader)
        return spec

    def _ask_others(self, name: str, path: Any, target: Any) -> Any:
        for finder in list(sys.meta_path):
            find_spec = getattr(finder, "find_spec", None)
            if finder is self or find_spec is None:
                continue
            spec = find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _wrap(self, loader: Any) -> None:
        run_module = getattr(loader, "exec_module", None)
        if run_module is None:
            return

        def exec_module(module: Any) -> None:
            run_module(module)
            try:  # noqa: SIM105  # contextlib is not imported at interpreter start
                del loader.exec_module
            except AttributeError:
                pass
            self.remove()
            self._callback(module)

        try:  # noqa: SIM105  # as above
            loader.exec_module = exec_module
        except AttributeError:  # a loader that takes no attributes: this module stays unwatched
            pass
