"""Hooks into torch: optimizer calls, backward passes, gradient scaling, data loading, autocast, checkpointing.

Public extension points where there are any, else wrappers of Python-level functions, which only call through once the
switch is off.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import Any, Callable

from .compiler import not_followed, shield_from_compiler
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
    _hook_optimizers(recorder, switch)
    _hook_backward(torch, recorder, switch)
    _hook_grad_scaler(recorder, switch)
    _hook_data_loader(recorder, switch)
    _hook_autocast(recorder, switch)
    _hook_checkpointing(recorder, switch)
    switch.on_off(recorder.profile.abandon)
    shield_from_compiler(switch)
    return recorder


def _hook_optimizers(recorder: TrainingRecorder, switch: Switch) -> None:
    begins, ends = switch.guarded(recorder.step_begins), switch.guarded(recorder.step_ends)

    @not_followed
    def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        begins(optimizer, sys._getframe(1))

    @not_followed
    def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        ends(optimizer)

    module = sys.modules["torch.optim.optimizer"]
    if hasattr(module, "register_optimizer_step_pre_hook"):
        for handle in (
            module.register_optimizer_step_pre_hook(before),
            module.register_optimizer_step_post_hook(after),
        ):
            switch.on_off(handle.remove)
    else:
        _hook_optimizers_before_2_0(module.Optimizer, before, after, switch)


def _hook_optimizers_before_2_0(optimizer_type: Any, before: Any, after: Any, switch: Switch) -> None:
    """Without global hooks: wrap each optimizer class's step when the first object of the class is made."""

    def wrap_step(step: Any) -> Any:
        @functools.wraps(step)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before(optimizer, args, kwargs)
            result = step(optimizer, *args, **kwargs)
            after(optimizer, args, kwargs)
            return result

        wrapper._gpuscope_wrapped = True  # type: ignore[attr-defined]  # a mark on a function
        return not_followed(wrapper)

    def wrap_init(init: Any) -> Any:
        @functools.wraps(init)
        def wrapper(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            kind = type(optimizer)
            if not getattr(kind.step, "_gpuscope_wrapped", False):
                kind.step = wrap_step(kind.step)

        return not_followed(wrapper)

    _replace(optimizer_type, "__init__", wrap_init, switch)


def _hook_backward(torch: Any, recorder: TrainingRecorder, switch: Switch) -> None:
    begins, ends = switch.guarded(recorder.backward_begins), switch.guarded(recorder.tracker.backward_ends)

    def wrap(backward: Any) -> Any:
        @functools.wraps(backward)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            begins()
            try:
                return backward(*args, **kwargs)
            finally:
                ends()

        return not_followed(wrapper)

    _replace(torch.autograd, "backward", wrap, switch)


def _hook_grad_scaler(recorder: TrainingRecorder, switch: Switch) -> None:
    optimizer_type = sys.modules["torch.optim.optimizer"].Optimizer
    used, withheld = switch.guarded(recorder.scaler_used), switch.guarded(recorder.tracker.step_skipped)
    tracker = recorder.tracker

    def wrap(step: Any) -> Any:
        @functools.wraps(step)
        def wrapper(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            calls_before = tracker.ended_calls
            used(scaler)
            result = step(scaler, optimizer, *args, **kwargs)
            # Calls of other classes are not seen, so nothing can be said of them.
            if tracker.ended_calls == calls_before and isinstance(optimizer, optimizer_type):
                withheld(optimizer)
            return result

        return not_followed(wrapper)

    for module_name, class_name in (
        ("torch.amp.grad_scaler", "GradScaler"),
        ("torch.cuda.amp.grad_scaler", "GradScaler"),
    ):
        scaler_type = getattr(sys.modules.get(module_name), class_name, None)
        if scaler_type is not None and "step" in vars(scaler_type):
            _replace(scaler_type, "step", wrap, switch)


def _hook_data_loader(recorder: TrainingRecorder, switch: Switch) -> None:
    note = switch.guarded(recorder.batch_arrived)
    clock = time.monotonic

    def wrap(next_batch: Any) -> Any:
        @functools.wraps(next_batch)
        def wrapper(iterator: Any) -> Any:
            began_s = clock()
            batch = next_batch(iterator)
            note(batch, began_s)
            return batch

        return not_followed(wrapper)

    iterator_type = getattr(sys.modules.get("torch.utils.data.dataloader"), "_BaseDataLoaderIter", None)
    if iterator_type is not None:
        _replace(iterator_type, "__next__", wrap, switch)


def _hook_autocast(recorder: TrainingRecorder, switch: Switch) -> None:
    def seen(autocast: Any, *_args: Any) -> bool:
        if not getattr(autocast, "_enabled", False):
            return False
        recorder.autocast = str(autocast.fast_dtype).replace("torch.", "")
        return True

    autocast_type = getattr(sys.modules.get("torch.amp.autocast_mode"), "autocast", None)
    if autocast_type is not None:
        _watch_once(autocast_type, "__enter__", seen, switch)


def _hook_checkpointing(recorder: TrainingRecorder, switch: Switch) -> None:
    def seen(*_args: Any) -> bool:
        recorder.checkpointing = True
        return True

    module = sys.modules.get("torch.utils.checkpoint")
    frame_type = getattr(module, "_CheckpointFrame", None)
    function_type = getattr(module, "CheckpointFunction", None)
    if frame_type is not None:
        _watch_once(frame_type, "__init__", seen, switch)
    if function_type is not None:
        _watch_once(function_type, "backward", seen, switch)


def _watch_once(owner: Any, name: str, seen: Callable[..., bool], switch: Switch) -> None:
    """Look at calls of a method until `seen` has what it wants, then put the original back."""
    note = switch.guarded(seen)

    def wrap(method: Any) -> Any:
        @functools.wraps(method)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if note(*args):
                restore()
            return method(*args, **kwargs)

        return not_followed(wrapper)

    restore = _replace(owner, name, wrap, switch)


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any], switch: Switch) -> Callable[[], None]:
    """Put a wrapper in place of an attribute; returns what puts the original back unless somebody else wrapped ours."""
    original = vars(owner)[name]
    is_static = isinstance(original, staticmethod)
    wrapper = wrap(original.__func__ if is_static else original)
    replacement = staticmethod(wrapper) if is_static else wrapper

    def restore() -> None:
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)

    setattr(owner, name, replacement)
    switch.on_off(restore)
    return restore
