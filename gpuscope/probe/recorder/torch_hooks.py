"""Hooks into torch: optimizer calls, backward passes, gradient scaling, data loading, autocast, checkpointing.

Public extension points where there are any, else wrappers of Python-level functions, which only call through once the
switch is off.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import Any, Callable

from .compiler import CompilerShield, Hidden
from .switch import Switch
from .training import TrainingRecorder
from .writer import EventWriter


def install(torch: Any, writer: EventWriter, switch: Switch, *, quiet: bool) -> TrainingRecorder:
    """Hook into a torch that has just been imported.

    Raises:
        KeyError, AttributeError: this torch has no optimizers or no autograd that could be observed.
    """
    recorder = TrainingRecorder(torch, writer)
    recorder.framework(quiet=quiet)
    hooks = _Hooks(switch)
    _hook_optimizers(recorder, hooks)
    _hook_backward(torch, recorder, hooks)
    _hook_grad_scaler(recorder, hooks)
    _hook_data_loader(recorder, hooks)
    _hook_autocast(recorder, hooks)
    _hook_checkpointing(recorder, hooks)
    switch.on_off(recorder.profile.abandon)
    hooks.shield.watch()
    return recorder


class _Hooks:
    """What every hook needs: the switch, and the shield against the compiler."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self.shield = CompilerShield(switch)

    def guarded(self, function: Callable[..., Any]) -> Hidden:
        """A call to our own code that neither raises nor is followed by the compiler."""
        return self.shield.hidden(self.switch.guarded(function))


def _hook_optimizers(recorder: TrainingRecorder, hooks: _Hooks) -> None:
    begins, ends = hooks.guarded(recorder.step_begins), hooks.guarded(recorder.step_ends)

    @hooks.shield.wrapper
    def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        begins.call(optimizer, sys._getframe(1))

    @hooks.shield.wrapper
    def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        ends.call(optimizer)

    module = sys.modules["torch.optim.optimizer"]
    if hasattr(module, "register_optimizer_step_pre_hook"):
        for handle in (
            module.register_optimizer_step_pre_hook(before),
            module.register_optimizer_step_post_hook(after),
        ):
            hooks.switch.on_off(handle.remove)
    else:
        _hook_optimizers_before_2_0(module.Optimizer, before, after, hooks)


def _hook_optimizers_before_2_0(optimizer_type: Any, before: Any, after: Any, hooks: _Hooks) -> None:
    """Without global hooks: wrap each optimizer class's step when the first object of the class is made."""

    def wrap_step(step: Any) -> Any:
        @functools.wraps(step)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before(optimizer, args, kwargs)
            result = step(optimizer, *args, **kwargs)
            after(optimizer, args, kwargs)
            return result

        wrapper._gpuscope_wrapped = True  # type: ignore[attr-defined]  # a mark on a function
        return hooks.shield.wrapper(wrapper)

    def wrap_init(init: Any) -> Any:
        @functools.wraps(init)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            kind = type(optimizer)
            if not getattr(kind.step, "_gpuscope_wrapped", False):
                kind.step = wrap_step(kind.step)

        return hooks.shield.wrapper(wrapper)

    _replace(optimizer_type, "__init__", wrap_init, hooks)


def _hook_backward(torch: Any, recorder: TrainingRecorder, hooks: _Hooks) -> None:
    begins, ends = hooks.guarded(recorder.backward_begins), hooks.guarded(recorder.tracker.backward_ends)

    def wrap(backward: Any) -> Any:
        @functools.wraps(backward)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            begins.call()
            try:
                return backward(*args, **kwargs)
            finally:
                ends.call()

        return hooks.shield.wrapper(wrapper)

    _replace(torch.autograd, "backward", wrap, hooks)


def _hook_grad_scaler(recorder: TrainingRecorder, hooks: _Hooks) -> None:
    optimizer_type = sys.modules["torch.optim.optimizer"].Optimizer
    used, withheld = hooks.guarded(recorder.scaler_used), hooks.guarded(recorder.tracker.step_skipped)
    tracker = recorder.tracker

    def wrap(step: Any) -> Any:
        @functools.wraps(step)
        def wrapper(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            calls_before = tracker.ended_calls
            used.call(scaler)
            result = step(scaler, optimizer, *args, **kwargs)
            # Calls of other classes are not seen, so nothing can be said of them.
            if tracker.ended_calls == calls_before and isinstance(optimizer, optimizer_type):
                withheld.call(optimizer)
            return result

        return hooks.shield.wrapper(wrapper)

    for module_name, class_name in (
        ("torch.amp.grad_scaler", "GradScaler"),
        ("torch.cuda.amp.grad_scaler", "GradScaler"),
    ):
        scaler_type = getattr(sys.modules.get(module_name), class_name, None)
        if scaler_type is not None and "step" in vars(scaler_type):
            _replace(scaler_type, "step", wrap, hooks)


def _hook_data_loader(recorder: TrainingRecorder, hooks: _Hooks) -> None:
    note = hooks.guarded(recorder.batch_arrived)
    clock = time.monotonic

    def wrap(next_batch: Any) -> Any:
        @functools.wraps(next_batch)
        def wrapper(iterator: Any) -> Any:
            began_s = clock()
            batch = next_batch(iterator)
            note.call(batch, began_s)
            return batch

        return hooks.shield.wrapper(wrapper)

    iterator_type = getattr(sys.modules.get("torch.utils.data.dataloader"), "_BaseDataLoaderIter", None)
    if iterator_type is not None:
        _replace(iterator_type, "__next__", wrap, hooks)


def _hook_autocast(recorder: TrainingRecorder, hooks: _Hooks) -> None:
    def seen(autocast: Any, *_args: Any) -> bool:
        if not getattr(autocast, "_enabled", False):
            return False
        recorder.autocast = str(autocast.fast_dtype).replace("torch.", "")
        return True

    autocast_type = getattr(sys.modules.get("torch.amp.autocast_mode"), "autocast", None)
    if autocast_type is not None:
        _watch_once(autocast_type, "__enter__", seen, hooks)


def _hook_checkpointing(recorder: TrainingRecorder, hooks: _Hooks) -> None:
    def seen(*_args: Any) -> bool:
        recorder.checkpointing = True
        return True

    module = sys.modules.get("torch.utils.checkpoint")
    frame_type = getattr(module, "_CheckpointFrame", None)
    function_type = getattr(module, "CheckpointFunction", None)
    if frame_type is not None:
        _watch_once(frame_type, "__init__", seen, hooks)
    if function_type is not None:
        _watch_once(function_type, "backward", seen, hooks)


def _watch_once(owner: Any, name: str, seen: Callable[..., bool], hooks: _Hooks) -> None:
    """Look at calls of a method until `seen` has what it wants, then put the original back."""
    note = hooks.guarded(seen)

    def wrap(method: Any) -> Any:
        @functools.wraps(method)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if note.call(*args):
                restore()
            return method(*args, **kwargs)

        return hooks.shield.wrapper(wrapper)

    restore = _replace(owner, name, wrap, hooks)


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any], hooks: _Hooks) -> Callable[[], None]:
    """Put a wrapper in place of an attribute; returns what puts the original back unless somebody else wrapped ours."""
    original = vars(owner)[name]
    is_static = isinstance(original, staticmethod)
    wrapper = wrap(original.__func__ if is_static else original)
    replacement = staticmethod(wrapper) if is_static else wrapper

    def restore() -> None:
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)

    setattr(owner, name, replacement)
    hooks.switch.on_off(restore)
    return restore
