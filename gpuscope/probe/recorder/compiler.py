"""Keeps torch.compile from looking into our hooks, without importing its machinery before the script does.

Where a compiled region calls a hook, the compiler would otherwise try to compile the hook too. Two marks prevent it:
one on the function that the region calls, so that it is not compiled as part of the region, and one on the code of all
of ours that the function calls in turn. Both are for the compiler to read; neither costs anything at a call.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any, Iterator

from .switch import Switch
from .watch import ImportWatcher

_COMPILER = "torch._dynamo"
_FOLDER = os.path.dirname(__file__)  # noqa: PTH120  # pathlib could hide a module of the script's own


def not_followed(function: Any) -> Any:
    """Mark a function that the framework or the script calls; what it wraps is compiled as before."""
    function._torchdynamo_disable = True
    return function


def shield_from_compiler(switch: Switch) -> None:
    """Take our code out of compiling from the moment on when the script imports the compiler."""
    watcher = ImportWatcher(_COMPILER, switch.guarded(_leave_out_our_code))
    switch.on_off(watcher.remove)
    watcher.install()


def _leave_out_our_code(compiler: Any) -> None:
    for code in _our_code():
        compiler.eval_frame.skip_code(code)


def _our_code() -> Iterator[CodeType]:
    """The code of every function, method and nested function of this package that is loaded."""
    for module in list(sys.modules.values()):
        if os.path.dirname(getattr(module, "__file__", None) or "") == _FOLDER:  # noqa: PTH120  # as above
            for value in list(vars(module).values()):
                for member in vars(value).values() if isinstance(value, type) else (value,):
                    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                    for code in _with_nested(getattr(function, "__code__", None)):
                        yield code


def _with_nested(code: Any) -> Iterator[CodeType]:
    if isinstance(code, CodeType) and os.path.dirname(code.co_filename) == _FOLDER:  # noqa: PTH120  # as above
        yield code
        for constant in code.co_consts:
            for nested in _with_nested(constant):
                yield nested
