"""Fits the time model's class constants to published rows: the same roofline as `timing.roofline`, over arrays.

Constants are fitted in the logarithm with their starting values as priors (`timing.class_constants`), so that a few
rows move them little and many rows move them as far as the rows say. Rows far off weigh less (Huber's weights): some
published runs were throttled or took a slow library path. A test holds this arithmetic against the roofline's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gpuscope.advisor.calibration.model import Calibration, ClassRate
from gpuscope.advisor.timing import roofline
from gpuscope.advisor.timing.class_constants import (
    CPU,
    OTHER,
    STARTING_FACTORS,
    STARTING_RATES,
    is_light,
    known_kind,
)
from gpuscope.advisor.timing.device_rates import DeviceRates
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PRIOR_SPREAD = 0.3
"""Standard deviation of a constant's logarithm before any row was seen."""
_ROW_SPREAD = 0.08
"""Of a row's logarithm around the model; rows further off count less."""
_FIELDS = ("compute", "bandwidth", "half_n", "half_k")
_ROUNDS = 10
_SMALLEST_CHANGE = 0.003
_LARGEST_CHANGE = 0.5


class Sample(NamedTuple):
    """One published step."""

    ops: tuple[Op, ...]
    """As the model has them, before factors."""
    device: DeviceRates
    measured_s: float
    compiled: bool = False
    training: bool = False
    """Whether the operators are those of inference and the step trained."""
    above_base: bool = False
    """Whether the device is a CPU whose clock under load is a constant of the fit (then its rate is at base clock)."""
    fixed_s: float = 0.0
    """What no constant changes, such as the optimizer's update."""


class Constants:
    """Values by name: `rate/KIND[/VARIANT]/FIELD` for the fields of a class rate, `factor/NAME`, and multiples of a
    device's own rates (`device/matrix`, `device/convolution`, `device/vector`)."""

    def __init__(self, calibration: Calibration) -> None:
        rates = {**STARTING_RATES, **calibration.class_rates}
        factors = {**STARTING_FACTORS, **calibration.factors}
        self.values = {"one": 1.0, "device/matrix": 1.0, "device/convolution": 1.0, "device/vector": 1.0}
        for key, rate in rates.items():
            for field in _FIELDS:
                self.values[f"rate/{key}/{field}"] = getattr(rate, field)
        self.values.update({f"factor/{name}": value for name, value in factors.items()})

    def calibration(self, base: Calibration) -> Calibration:
        """`base` with these constants."""
        keys = [
            name.removesuffix("/compute").removeprefix("rate/") for name in self.values if name.endswith("/compute")
        ]
        rates = {key: ClassRate(**{field: self.values[f"rate/{key}/{field}"] for field in _FIELDS}) for key in keys}
        factors = {
            name.removeprefix("factor/"): value for name, value in self.values.items() if name.startswith("factor/")
        }
        return msgspec.structs.replace(base, class_rates=rates, factors=factors)


class Rows:
    """The operators of all samples as columns; each names its constants by their position.

    Args:
        samples: published steps.
        names: of all constants; `one` is 1.
    """

    def __init__(self, samples: Sequence[Sample], names: Sequence[str]) -> None:
        import numpy as np

        position = {name: index for index, name in enumerate(names)}
        figures: list[tuple[float, ...]] = []
        uses: list[tuple[int, ...]] = []
        for index, sample in enumerate(samples):
            for op in sample.ops:
                figures.append((float(index), *_figures(op, sample.device)))
                uses.append(tuple(position[name] for name in _constants_of(op, sample, position)))
        table = np.array(figures, dtype=np.float64)
        self.sample = table[:, 0].astype(np.int64)
        (self.flops, self.matrix, self.moved, self.vector, self.kernels, self.latency, self.n, self.k) = table[:, 1:].T
        self.uses = np.array(uses, dtype=np.int64).T
        self.fixed_s = np.array([sample.fixed_s for sample in samples])
        self.log_measured = np.log([sample.measured_s for sample in samples])

    def log_seconds(self, values: Floats) -> Floats:
        """Logarithm of every sample's predicted step."""
        return self._evaluated(values)[0]

    def slopes(self, values: Floats) -> tuple[Floats, Floats]:
        """`log_seconds`, and how it changes with the logarithm of each constant (a row a sample)."""
        import numpy as np

        logs, compute_part, bandwidth_part, launch_s, half_shares = self._evaluated(values)
        both = compute_part + bandwidth_part
        # In the order of `_constants_of`.
        by_use = (
            -compute_part, -bandwidth_part, compute_part * half_shares[0], compute_part * half_shares[1], both,
            bandwidth_part, -both, launch_s, launch_s, -compute_part, -bandwidth_part,
        )  # fmt: skip
        count = len(values)
        slopes = np.zeros(len(logs) * count)
        for use, change in zip(self.uses, by_use, strict=True):
            slopes += np.bincount(self.sample * count + use, change, len(slopes))
        return logs, slopes.reshape(len(logs), count) / np.exp(logs)[:, None]

    def _evaluated(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats, tuple[Floats, Floats]]:
        """Logarithms of the totals; of each operator the time that computing and moving data account for, that of
        launching, and how much of its width's and depth's share is lost."""
        import numpy as np

        (compute, bandwidth, half_n, half_k, work, joined, efficiency, kernels, latency, matrix, vector) = values[
            self.uses
        ]
        lost_n, lost_k = _lost(self.n, half_n), _lost(self.k, half_k)
        filled = compute * efficiency * (1 - lost_n) * (1 - lost_k)
        compute_s = self.flops * work / (self.matrix * matrix * filled)
        bandwidth_s = self.moved * work * joined / (self.vector * vector * bandwidth * efficiency)
        joined_s = np.maximum(np.hypot(compute_s, bandwidth_s), 1e-300)
        launch_s = self.kernels * kernels * self.latency * latency
        totals = np.bincount(self.sample, joined_s + launch_s, len(self.fixed_s)) + self.fixed_s
        return np.log(totals), compute_s**2 / joined_s, bandwidth_s**2 / joined_s, launch_s, (lost_n, lost_k)


def fit(constants: Constants, samples: Sequence[Sample], free: Sequence[str], spread: float = PRIOR_SPREAD) -> None:
    """Move the constants named in `free` to what the samples say, in place.

    Args:
        constants: their present values are the priors.
        samples: published steps; without any nothing moves.
        free: beginnings of names.
        spread: of the priors, in the logarithm.
    """
    import numpy as np

    if not samples:
        return
    names = list(constants.values)
    values = np.array([constants.values[name] for name in names])
    rows = Rows(samples, names)
    used = set(rows.uses.ravel().tolist())
    moving = [i for i, name in enumerate(names) if i in used and values[i] > 0 and name.startswith(tuple(free))]
    prior = np.log(values[moving])
    at = prior.copy()
    for _ in range(_ROUNDS):
        values[moving] = np.exp(at)
        change = _change(rows, values, moving, at - prior, spread)
        at += np.clip(change, -_LARGEST_CHANGE, _LARGEST_CHANGE)
        if np.abs(change).max(initial=0.0) < _SMALLEST_CHANGE:
            break
    constants.values.update({names[i]: float(np.exp(value)) for i, value in zip(moving, at, strict=True)})


def residuals(constants: Constants, samples: Sequence[Sample]) -> list[float]:
    """Logarithm of measured over modelled time of each sample."""
    import numpy as np

    if not samples:
        return []
    names = list(constants.values)
    rows = Rows(samples, names)
    values = np.array([constants.values[name] for name in names])
    return [float(left) for left in rows.log_measured - rows.log_seconds(values)]


def _change(rows: Rows, values: Floats, moving: list[int], from_prior: Floats, spread: float) -> Floats:
    """One Gauss-Newton step in the logarithms of the moving constants."""
    import numpy as np

    now, all_slopes = rows.slopes(values)
    slopes = all_slopes[:, moving]
    residual = rows.log_measured - now
    weight = np.minimum(1.0, _ROW_SPREAD / np.maximum(np.abs(residual), 1e-12)) / _ROW_SPREAD**2
    precision = slopes.T @ (slopes * weight[:, None]) + np.eye(len(moving)) / spread**2
    change: Floats = np.linalg.solve(precision, slopes.T @ (weight * residual) - from_prior / spread**2).astype(float)
    return change


def _figures(op: Op, device: DeviceRates) -> tuple[float, ...]:
    matrix = roofline.compute_rate(op, device)
    moved = roofline.memory_bytes(op, device)
    # A CPU's fixed time of an operator is a constant of the fit itself.
    kernels, latency = op.kernels or 0.0, 1.0 if device.is_cpu else device.kernel_latency_s
    widths = ((width or 0) / device.width_scale for width in (op.n, op.k))
    return op.flops or 0.0, matrix, moved, device.bytes_per_s, kernels, latency, *widths


def _constants_of(op: Op, sample: Sample, known: dict[str, int]) -> tuple[str, ...]:
    """Names of compute, bandwidth, half_n, half_k, work, joined, efficiency, kernels, latency, matrix and vector."""
    cpu = sample.device.is_cpu
    variant = roofline.rate_variant(op, sample.device)
    base = known_kind(op)
    fallback = [f"{OTHER}/{CPU}"] if cpu else [base, OTHER]
    key = next(key for key in (f"{base}/{variant}", *fallback) if f"rate/{key}/compute" in known)
    work, efficiency, joined, kernels = "one", "one", "one", "one"
    if sample.training:
        work = _first(known, f"factor/training/{base}/{variant}", f"factor/training/{base}", "factor/training/other")
    if op.kind.endswith(BACKWARD_SUFFIX):
        efficiency = _first(
            known, f"factor/backward/{base}/{variant}", f"factor/backward/{base}", "factor/backward/other"
        )
    if sample.compiled:
        joined = _first(known, f"factor/compiled/{roofline.JOINED_CLASSES.get(op.class_)}")
        kernels = "factor/compiled/kernels" if op.class_ in roofline.JOINED_KERNELS else "one"
    rate = [f"rate/{key}/{field}" for field in _FIELDS]
    latency = "one"
    if cpu:
        latency = "factor/cpu/s_per_light_operator" if is_light(op) else "factor/cpu/s_per_operator"
    matrix = {"convolution": "device/convolution", "depthwise_convolution": "one"}.get(op.class_, "device/matrix")
    if sample.above_base:
        matrix = "factor/cpu/above_base"
    return (*rate, work, joined, efficiency, kernels, latency, matrix, "device/vector")


def _first(known: dict[str, int], *names: str) -> str:
    return next((name for name in names if name in known), "one")


def _lost(width: Floats, half: Floats) -> Floats:
    """Share of the rate that a narrow operator loses: half of it at the width `half`; 0 where no width is known."""
    import numpy as np

    lost: Floats = np.where(width > 0, half / np.maximum(width + half, 1e-12), 0.0)
    return lost
