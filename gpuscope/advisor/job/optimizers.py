"""State that optimizers keep for each trainable parameter."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.errors import UsageError


class OptimizerState(NamedTuple):
    """What one optimizer keeps."""

    name: str
    tensors: int
    """Tensors as large as the parameter."""
    bytes_each: float | None
    """Bytes of an element; None: as the parameter's own."""
    formula: str


_TABLE: dict[str, OptimizerState] = {
    "adamw": OptimizerState("AdamW", 2, None, "two moments"),
    "adam": OptimizerState("Adam", 2, None, "two moments"),
    "adam8bit": OptimizerState("8-bit Adam", 2, 1.0, "two moments in 8 bits"),
    "sgd": OptimizerState("SGD", 0, None, "no state"),
    "sgd-momentum": OptimizerState("SGD with momentum", 1, None, "a momentum buffer"),
    "rmsprop": OptimizerState("RMSprop", 1, None, "a mean of squares"),
    "adagrad": OptimizerState("Adagrad", 1, None, "a sum of squares"),
    "lion": OptimizerState("Lion", 1, None, "a momentum buffer"),
}
_ALIASES = {"momentum": "sgd-momentum", "sgd_momentum": "sgd-momentum", "adamw8bit": "adam8bit", "nag": "sgd-momentum"}

OPTIMIZERS = tuple(_TABLE)


def optimizer_state(name: str) -> OptimizerState:
    """The state of the optimizer that a person calls `name`.

    Raises:
        UsageError: it is not known; the text lists those that are.
    """
    key = name.strip().lower()
    found = _TABLE.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"Optimizer {name!r} is not known: use one of {', '.join(OPTIMIZERS)}.")
    return found
