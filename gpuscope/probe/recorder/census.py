"""Counts the bytes of tensors exactly: every storage once, however many tensors share it."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any, Iterable, Iterator

_NAMED_MODELS = 20


class Tally:
    """Bytes of distinct storages, by dtype and by device type.

    Attributes:
        bytes: of all storages.
        elements: of all tensors.
        uncounted: tensors that could not be looked into; with any, the other figures are too small.
        by_dtype, by_device: bytes.
    """

    def __init__(self, seen: set[Any] | None = None) -> None:
        """Storages in `seen` are not counted; those counted here are added to it."""
        self._seen: set[Any] = set() if seen is None else seen
        self._elements_seen: set[Any] = set()
        self.bytes = 0
        self.elements = 0
        self.uncounted = 0
        self.by_dtype: dict[str, int] = {}
        self.by_device: dict[str, int] = {}

    def add(self, tensor: Any) -> None:
        """Count one tensor, or the plain tensors that a wrapper (DTensor, quantized ...) is made of.

        There are tensor classes that nobody has heard of: one that cannot be counted is noted, and costs no more than
        the byte figures.
        """
        try:
            for part in _plain_parts(tensor):
                self._add_plain(part)
        except Exception:
            self.uncounted += 1

    def _add_plain(self, tensor: Any) -> None:
        device = tensor.device.type
        if device == "meta":
            return
        storage, size = _storage(tensor)
        place = (device, storage, tensor.storage_offset(), tensor.numel())
        if place not in self._elements_seen:
            self._elements_seen.add(place)
            self.elements += tensor.numel()
        if (device, storage) in self._seen:
            return
        self._seen.add((device, storage))
        dtype = str(tensor.dtype).replace("torch.", "")
        self.bytes += size
        self.by_dtype[dtype] = self.by_dtype.get(dtype, 0) + size
        self.by_device[device] = self.by_device.get(device, 0) + size


def parameters_of(optimizers: Iterable[Any]) -> list[Any]:
    """All parameters of some optimizers, each object once."""
    by_id = {}
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                by_id[id(parameter)] = parameter
    return list(by_id.values())


def parameter_bytes(optimizers: Iterable[Any]) -> int:
    """Bytes of the parameters of some optimizers."""
    tally = Tally()
    for parameter in parameters_of(optimizers):
        tally.add(parameter)
    return tally.bytes


def optimizer_census(optimizers: list[Any], inner: list[Any], torch: Any) -> dict[str, Any]:
    """Exact bytes of what some optimizers, taken as one, hold.

    Args:
        optimizers: the optimizer objects.
        inner: objects that do the work for them (the local part of a sharded optimizer); their state counts too.
        torch: the script's own torch module.
    """
    seen: set[Any] = set()
    parameters, gradients, state = Tally(seen), Tally(seen), Tally(seen)
    for parameter in parameters_of(optimizers):
        parameters.add(parameter)
    for parameter in parameters_of(optimizers):
        if parameter.grad is not None:
            gradients.add(parameter.grad)
    for optimizer in optimizers + inner:
        optimizer_state = getattr(optimizer, "state", None)
        for value in list(optimizer_state.values()) if isinstance(optimizer_state, Mapping) else []:
            for tensor in _tensors_in(value, torch.Tensor):
                state.add(tensor)
    first_group = optimizers[0].param_groups[0] if optimizers and optimizers[0].param_groups else {}
    return {
        "class_name": type(optimizers[0]).__name__ if optimizers else None,
        "parameters": parameters.elements,
        "parameter_bytes": parameters.bytes,
        "gradient_bytes": gradients.bytes,
        "state_bytes": state.bytes,
        "uncounted_tensors": parameters.uncounted + gradients.uncounted + state.uncounted,
        "parameter_dtypes": parameters.by_dtype,
        "devices": parameters.by_device,
        "foreach": first_group.get("foreach"),
        "fused": first_group.get("fused"),
    }


def model_census(torch: Any) -> dict[str, Any] | None:
    """Exact bytes of all live modules, frozen ones included; None where there is no module."""
    modules = _live_modules(torch.nn.Module)
    if not modules:
        return None
    parameters, trainable, buffers = Tally(), Tally(), Tally()
    held: set[int] = set()
    for module in modules:
        held.update(id(child) for child in module._modules.values())
        for parameter in module._parameters.values():
            if parameter is not None:
                parameters.add(parameter)
                if parameter.requires_grad:
                    trainable.add(parameter)
        for buffer in module._buffers.values():
            if buffer is not None:
                buffers.add(buffer)
    outermost = [type(module).__name__ for module in modules if id(module) not in held]
    return {
        "parameters": parameters.elements,
        "trainable_parameters": trainable.elements,
        "parameter_bytes": parameters.bytes,
        "buffer_bytes": buffers.bytes,
        "uncounted_tensors": parameters.uncounted + buffers.uncounted,
        "parameter_dtypes": parameters.by_dtype,
        "class_names": sorted(set(outermost))[:_NAMED_MODELS],
    }


def _live_modules(module_type: Any) -> list[Any]:
    """All modules that the garbage collector knows, told by their real type: asking an object may run its code."""
    verdicts: dict[type, bool] = {}
    modules = []
    for candidate in gc.get_objects():
        kind = type(candidate)
        verdict = verdicts.get(kind)
        if verdict is None:
            verdict = verdicts[kind] = module_type in kind.__mro__
        if verdict and "_parameters" in vars(candidate):
            modules.append(candidate)
    return modules


def _plain_parts(tensor: Any) -> Iterator[Any]:
    if hasattr(tensor, "cls_to_become"):  # a parameter of a lazy module that has no size yet
        return
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None:
        for name in flatten()[0]:
            inner = getattr(tensor, name)
            if hasattr(inner, "element_size"):  # a DTensor names its device mesh among its parts, too
                for part in _plain_parts(inner):
                    yield part
    elif str(tensor.layout) == "torch.sparse_coo":
        yield tensor._indices()
        yield tensor._values()
    else:
        yield tensor


def _storage(tensor: Any) -> tuple[Any, int]:
    """What identifies a tensor's storage, and the storage's bytes."""
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (AttributeError, NotImplementedError, RuntimeError):  # torch before 2.0, or a tensor without real storage
        return id(tensor), tensor.numel() * tensor.element_size()


def _tensors_in(value: Any, tensor_type: Any) -> Iterator[Any]:
    if isinstance(value, tensor_type):
        yield value
    elif isinstance(value, Mapping):
        for one in list(value.values()):
            for tensor in _tensors_in(one, tensor_type):
                yield tensor
    elif isinstance(value, (list, tuple)):
        for one in value:
            for tensor in _tensors_in(one, tensor_type):
                yield tensor
