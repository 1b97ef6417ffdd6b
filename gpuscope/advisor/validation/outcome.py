"""One comparison: what was predicted for a measurement that the prediction had not seen, and what was measured."""

from __future__ import annotations

import math

from gpuscope.domain.base import Range, Value


class Outcome(Value, frozen=True, kw_only=True):
    """A prediction beside a measurement. `predicted` and `measured` have the same unit."""

    study: str
    """Name of the study that made it."""
    family: str
    """Family of models (or of collectives, ...) that the row belongs to: resnet, vit, llm, ..."""
    gpu: str
    """Catalogue id of the device that was predicted for, a CPU's where it is one."""
    precision: str
    """Compute precision that was predicted for: float32, tf32, float16, bfloat16."""
    label: str
    """What tells the row from others to a person, such as `resnet50 224 px, batch 256, 8 GPUs`."""
    predicted: Range | None
    """90% range; None: the product has no answer, and `refusal` says why."""
    measured: float
    """Above zero."""
    unit: str = "s"
    held_out: str
    """What the constants behind the prediction were not fitted on, such as `rtx-4090` or `family resnet`."""
    source: str
    """Who published the measurement."""
    refusal: str = ""
    """Why there is no prediction."""

    @property
    def log_ratio(self) -> float | None:
        """Logarithm of predicted over measured; None without a prediction."""
        return None if self.predicted is None else math.log(self.predicted.mid / self.measured)

    @property
    def error(self) -> float | None:
        """Relative error, |predicted ÷ measured − 1|; None without a prediction."""
        return None if self.predicted is None else abs(self.predicted.mid / self.measured - 1)

    @property
    def covered(self) -> bool | None:
        """Whether the measurement lies in the range; None without a prediction."""
        return None if self.predicted is None else self.predicted.low <= self.measured <= self.predicted.high
