"""Adds up what the data loader hands over between two steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NESTING = 3


class BatchSum:
    """Batches, samples and waiting time since the last event."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._clear()

    def _clear(self) -> None:
        self._samples = 0
        self._samples_known = True
        self._wait_s = 0.0
        self.batches = 0

    def add(self, batch: Any, wait_s: float) -> None:
        """One more batch, which took `wait_s` to come."""
        self.batches += 1
        self._wait_s += wait_s
        samples = samples_in(batch, self._torch.Tensor)
        if samples is None:
            self._samples_known = False
        else:
            self._samples += samples

    def take(self, steps: int) -> dict[str, Any]:
        """Fields of a `batch` event that covers so many steps; begins anew."""
        fields = {
            "samples": self._samples / steps if self._samples_known else None,
            "batches": self.batches / steps,
            "wait_s": round(self._wait_s / steps, 6),
            "steps": steps,
        }
        self._clear()
        return fields


def samples_in(batch: Any, tensor_type: Any, depth: int = _NESTING) -> int | None:
    """Length of the first tensor found in a batch (1 for a scalar); None where there is none."""
    if isinstance(batch, tensor_type):
        return int(batch.shape[0]) if batch.dim() else 1
    if not depth:
        return None
    if isinstance(batch, Mapping):
        parts = list(batch.values())
    else:
        parts = list(batch) if isinstance(batch, (list, tuple)) else []
    for part in parts:
        samples = samples_in(part, tensor_type, depth - 1)
        if samples is not None:
            return samples
    return None
