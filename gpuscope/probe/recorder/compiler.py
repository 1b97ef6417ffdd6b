"""Keeps torch.compile from looking into our hooks, without importing its machinery before the script does.

Where a compiled region calls a hook, the compiler would otherwise try to compile the hook too.
"""

from __future__ import annotations

from typing import Any, Callable

from .switch import Switch
from .watch import ImportWatcher

_COMPILER = "torch._dynamo"


class Hidden:
    """Calls a function that the compiler does not follow, nor anything that the function calls."""

    __slots__ = ("call",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.call = function


class CompilerShield:
    """Hides hooks from the compiler from the moment on when the script imports it."""

    def __init__(self, switch: Switch) -> None:
        self._hidden: list[Hidden] = []
        self._wrappers: list[Any] = []
        watcher = ImportWatcher(_COMPILER, switch.guarded(self._compiler_is_there))
        switch.on_off(watcher.remove)
        self._watcher = watcher

    def watch(self) -> None:
        """Start waiting for the compiler; all hooks are known by now."""
        self._watcher.install()

    def hidden(self, function: Callable[..., Any]) -> Hidden:
        """A call to our own code."""
        hidden = Hidden(function)
        self._hidden.append(hidden)
        return hidden

    def wrapper(self, function: Any) -> Any:
        """A wrapper of the framework's code: itself not followed, what it wraps as before."""
        function._torchdynamo_disable = True
        self._wrappers.append(function)
        return function

    def _compiler_is_there(self, compiler: Any) -> None:
        for hidden in self._hidden:
            hidden.call = compiler.disable(hidden.call)
        skip = getattr(compiler.decorators, "skip", None)
        if skip is not None:
            for wrapper in self._wrappers:
                skip(wrapper)
