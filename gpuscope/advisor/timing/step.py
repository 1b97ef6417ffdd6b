"""A predicted step, put together from its device part, its host part and waiting for data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import is_8_bit
from gpuscope.advisor.timing import rates
from gpuscope.advisor.timing.class_constants import layout_variant
from gpuscope.advisor.timing.uncertainty import Doubt, combined, doubt
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Op
from gpuscope.domain.recommendation import Explanation

MEASURED, CALIBRATED, SPECIFICATION = "measured", "calibrated", "specification"

LOADER_SHARE = 0.2
"""A data loader that takes this share of a step may be what sets the pace; a faster GPU then gains nothing."""


class StepTime(NamedTuple):
    """A predicted step of one device."""

    seconds: Range | None
    device_s: float | None
    """Device part of `seconds.mid`."""
    doubts: tuple[Doubt, ...]
    confidence: str
    how: str
    """One sentence: where the number comes from, or why there is none."""
    unfold: Callable[[], tuple[Explanation, ...]] | None = None
    """Makes the parts of the number; called when somebody looks."""

    def unfolded(self) -> tuple[Explanation, ...]:
        """The parts of the number; none where it was measured or is not known."""
        return self.unfold() if self.unfold is not None else ()


class HostTime(NamedTuple):
    """What the host needs for a step: low, usual, high."""

    low: float
    usual: float
    high: float

    def plus(self, other: HostTime) -> HostTime:
        """Both, one after the other."""
        return HostTime(self.low + other.low, self.usual + other.usual, self.high + other.high)


NO_HOST = HostTime(0.0, 0.0, 0.0)


def unknown(why: str) -> StepTime:
    """No prediction, and why."""
    return StepTime(None, None, (), SPECIFICATION, why)


def assembled(
    job: Job, device_s: float, host: HostTime, doubts: Sequence[Doubt], confidence: str, how: str
) -> StepTime:
    """Device and host overlap, so the longer one counts; waiting for data comes on top, and may set the pace."""
    factor = combined(doubts)
    wait = job.data_wait_s
    # Loading data is work of the host's CPU, which is another one where the GPU is another one.
    other_loader = doubt("cpu_to_cpu", job.calibration).factor
    device_s = max(device_s, rates.KERNEL_LATENCY_S)
    low = max(device_s / factor, host.low) + wait / other_loader
    mid = max(device_s, host.usual) + wait
    high = max(device_s * factor, host.high) + wait * other_loader
    if host.usual > device_s:
        how += "; launching kernels from the host sets the pace, not the GPU"
    if wait:
        how += f"; {wait:.2g} s of waiting for data, ×/÷ {other_loader:g} on another host"
    if job.step_time_s is not None and wait > LOADER_SHARE * job.step_time_s.mid:
        high = max(high, job.step_time_s.mid)
        how += "; the data loader may set the pace"
    return StepTime(Range(low=low, mid=mid, high=high), device_s, tuple(doubts), confidence, how)


def change_doubts(job: Job) -> tuple[Doubt, ...]:
    """Reasons for doubt in what is wanted otherwise than it ran."""
    trained = job.stage_changed and job.stage == TRAINING
    changes = {
        "precision_change": job.precision != job.source_precision,
        "eight_bit": is_8_bit(job.precision) and not (job.ran and job.precision == job.source_precision),
        "stage_change": trained,
        "compile_change": job.compiled != job.source_compiled,
        "grouped_channels_last": trained and any(_is_grouped_channels_last(op) for op in job.source_ops),
    }
    return tuple(doubt(code, job.calibration) for code, changed in changes.items() if changed)


def _is_grouped_channels_last(op: Op) -> bool:
    return op.kind == "grouped" and layout_variant(op) is not None
