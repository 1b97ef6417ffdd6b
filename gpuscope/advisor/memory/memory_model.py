"""The parts of the memory that a job needs on one GPU, as ranges; `parallel.memory` shares them out over many.

needed = parameters (counted) + gradients + optimizer state (counted, or assumed for a job that was not trained where it
ran) + activations and temporaries + the allocator's rounding + the process's context on the GPU. Activations come from
a measured CUDA peak where there is one, else from the bytes that the forward operators write, else they are at most
what the run held on its GPU or in main memory, else they are unknown. A job that has run on a GPU fits into as much
memory.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.job.job import TRAINING, Job, halves_memory
from gpuscope.advisor.memory.run_memory import HeldByRun, Room, most_held_by_run, most_of_inference, room_of_run
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Breakdown, Footprint
from gpuscope.domain.ops import BACKWARD_SUFFIX, dtype_bytes

# Saved activations as a share of what the forward operators of a training step write: 0.37 to 0.49 counted with
# saved-tensor hooks on a ResNet-50, small GPTs with and without dropout and an MLP; the peak also holds short-lived
# tensors, at most all that was written.
_SAVED_SHARE = Range(low=0.35, mid=0.55, high=1.0)
# Without a backward pass only what the next operators read is alive: a few of the largest results.
_LIVE_SHARE = Range(low=0.02, mid=0.10, high=0.5)
# Activations under autocast relative to FP32: half for what is in 16 bits; norms, softmax and losses stay in FP32.
_HALVED = Range(low=0.5, mid=0.65, high=1.0)
# Reserved over allocated bytes of the caching allocator, where no reserved peak was measured (assumed).
_FRAGMENTATION = Range(low=1.0, mid=1.06, high=1.2)
# How much higher than its samples a process's resident memory may have been (assumed).
_MISSED_PEAKS = 1.25


class MemoryNeed(NamedTuple):
    """What one GPU has to hold."""

    needed_bytes: Range | None
    """None: the activations are not known."""
    surely_bytes: float
    """What is needed in any case."""
    parts: tuple[tuple[str, Range, str], ...]
    """Name, bytes, and where it comes from."""


class JobMemory(NamedTuple):
    """The parts of a job's memory, the same for all GPUs. None: unknown."""

    parameters: float | None
    gradients: Range
    optimizer_state: Range
    state_how: str
    """Where gradients and optimizer state come from."""
    cast_copies: Range
    temporaries: Range
    """Of the optimizer's update, where a breakdown tells them; sharded like the parameters."""
    activations: Range | None
    activations_how: str
    fragmentation: tuple[Range, str]
    """Reserved over allocated bytes, and where that comes from."""
    holds_all: bool = False
    """The activations are all that the run held, for its parameters are not known."""
    room: Room | None = None
    """In which the job has run."""


def job_memory(job: Job) -> JobMemory:
    """Take a footprint's memory apart, for the wanted stage and precision."""
    breakdown = job.footprint.memory.breakdown
    parameters = _parameter_bytes(job.footprint)
    copies = Range.exact(0.0)
    if halves_memory(job) and parameters is not None:
        # Autocast keeps the FP32 parameters and caches their 16-bit copies.
        copies = Range(low=0.0, mid=parameters / 2, high=parameters / 2)
    gradients, state, update, state_how = _training_state(job, parameters)
    temporaries = Range(low=0.0, mid=update, high=update)
    activations, how = _activations(job, breakdown, parameters)
    held = _held_by_run(job, parameters)
    whole_known = held is not None or job.footprint.memory.peak_allocated_bytes is not None
    return JobMemory(
        parameters,
        gradients,
        state,
        state_how,
        copies,
        temporaries,
        activations,
        how,
        (Range.exact(1.0), "in what the run held")
        if held is not None and held.slack_included
        else _fragmentation(job.footprint),
        holds_all=parameters is None and activations is not None and whole_known,
        room=room_of_run(job),
    )


def _training_state(job: Job, parameters: float | None) -> tuple[Range, Range, float, str]:
    """Gradients, optimizer state, the temporary of the update, and where they come from.

    A job that was not trained where it ran has none of them. Then all parameters are taken to be trained: a gradient
    for each is sure, and the state is anything from none (plain SGD) to Adam's two moments.
    """
    nothing = Range.exact(0.0)
    if job.stage != TRAINING:
        return nothing, nothing, 0.0, ""
    if job.stage_changed and parameters is not None:
        state = Range(low=0.0, mid=2 * parameters, high=2 * parameters)
        return Range.exact(parameters), state, parameters, "assumed: all parameters trained, at most with Adam"
    breakdown = job.footprint.memory.breakdown
    counted = (float(breakdown.gradients_bytes or 0), float(breakdown.optimizer_state_bytes or 0))
    return Range.exact(counted[0]), Range.exact(counted[1]), float(breakdown.temporaries_bytes or 0), "counted"


FITS, MAY_FIT, TOO_LARGE = 0, 1, 2
"""How sure it is that something fits: numbers to sort by, the best first."""


def fit_rank(fit: bool | None) -> int:
    """`FITS`, `MAY_FIT` or `TOO_LARGE` for an answer of `fits`."""
    return {True: FITS, None: MAY_FIT, False: TOO_LARGE}[fit]


def fits(need: MemoryNeed, available_bytes: float) -> bool | None:
    """True or False when the whole range says so, None when it may or may not fit.

    Monotonic: with less memory the answer never gets better.
    """
    if need.surely_bytes > available_bytes:
        return False
    if need.needed_bytes is None:
        return None
    if need.needed_bytes.high <= available_bytes:
        return True
    return False if need.needed_bytes.low > available_bytes else None


def _fragmentation(footprint: Footprint) -> tuple[Range, str]:
    allocated, reserved = footprint.memory.peak_allocated_bytes, footprint.memory.peak_reserved_bytes
    if allocated is None or reserved is None or not 0 < allocated.mid <= reserved.mid:
        return _FRAGMENTATION, "assumed, 0 to 20%"
    share = reserved.mid / allocated.mid
    return Range(low=1.0, mid=share, high=max(share, _FRAGMENTATION.high)), "reserved over allocated bytes of the run"


def _activations(job: Job, breakdown: Breakdown, parameters: float | None) -> tuple[Range | None, str]:
    found, how = _activations_of_run(job, breakdown, parameters)
    if found is None:
        return None, how
    if halves_memory(job):
        return found.times(_HALVED), f"{how}; 50 to 100% of it in {job.precision}"
    return found, how


def _activations_of_run(job: Job, breakdown: Breakdown, parameters: float | None) -> tuple[Range | None, str]:
    peak = job.footprint.memory.peak_allocated_bytes
    if peak is not None and not job.stage_changed:
        origin = f"{_peak_origin(job.footprint)} peak"
        how = f"{origin} less what is counted above" if parameters is not None else f"all of the {origin}"
        return _beyond_counted(peak, job, breakdown, parameters), how
    held = _held_by_run(job, parameters)
    if held is not None:
        if job.stage_changed:
            return held.bytes, held.how
        return _beyond_counted(held.bytes, job, breakdown, parameters), held.how
    written = _forward_written(job)
    if written > 0:
        share = _SAVED_SHARE if job.stage == TRAINING else _LIVE_SHARE
        how = f"{share.low:.0%} to {share.high:.0%} of the bytes that the forward operators write"
        return _capped(share.scaled(written), job, breakdown, parameters), how
    resident = _resident_rest(job, breakdown, parameters)
    if resident is not None:
        return Range(low=0.0, mid=resident / 2, high=resident * _MISSED_PEAKS), "at most the CPU run's resident memory"
    return None, "neither a GPU peak nor an operator profile was recorded"


def _held_by_run(job: Job, parameters: float | None) -> HeldByRun | None:
    """What the run held as a whole, where nothing tells more of its activations."""
    if parameters is not None and _forward_written(job) > 0:
        return None
    if job.footprint.memory.peak_allocated_bytes is not None:
        return most_of_inference(job, parameters)
    return most_held_by_run(job)


def _beyond_counted(peak: Range, job: Job, breakdown: Breakdown, parameters: float | None) -> Range:
    """What a peak holds besides parameters, gradients and optimizer state."""
    held = parameters or 0.0
    if job.stage == TRAINING:
        held += (breakdown.gradients_bytes or 0) + (breakdown.optimizer_state_bytes or 0)
        held += breakdown.temporaries_bytes or 0
    return Range(low=max(0.0, peak.low - held), mid=max(0.0, peak.mid - held), high=max(0.0, peak.high - held))


def _capped(value: Range, job: Job, breakdown: Breakdown, parameters: float | None) -> Range:
    """A run on the CPU cannot have held more than its resident memory, which is sampled: short peaks may be missed."""
    cap = _resident_rest(job, breakdown, parameters)
    if cap is None or cap <= value.low:
        return value
    return Range(low=value.low, mid=min(value.mid, cap), high=min(value.high, cap * _MISSED_PEAKS))


def _resident_rest(job: Job, breakdown: Breakdown, parameters: float | None) -> float | None:
    """Resident memory of a run on the CPU beyond what is counted; interpreter and libraries are still in it."""
    resident = job.footprint.memory.host_rss_bytes
    if resident is None or parameters is None or job.source_count or job.stage_changed:
        return None
    rest = resident - parameters - (breakdown.gradients_bytes or 0) - (breakdown.optimizer_state_bytes or 0)
    return rest if rest > 0 else None


def _peak_origin(footprint: Footprint) -> str:
    return {"measured": "measured", "estimated": "estimated"}.get(footprint.source.kind, "recorded")


def _forward_written(job: Job) -> float:
    return sum(
        op.bytes_written or 0.0
        for op in job.footprint.ops
        if not op.kind.endswith(BACKWARD_SUFFIX) and op.class_ not in {"optimizer", "other"}
    )


def _parameter_bytes(footprint: Footprint) -> float | None:
    known = footprint.memory.breakdown.parameters_bytes
    if known is not None:
        return float(known)
    parameters = footprint.workload.parameters
    size = dtype_bytes(footprint.workload.precision.parameters) or 4
    return None if parameters is None else float(parameters * size)
