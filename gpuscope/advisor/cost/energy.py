"""Energy that the GPUs (or a CPU) of a configuration take: time × power. The rest of the machine is in `machine`."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.cost.power import BOARD_POWER_SHARE, load_of, mean_watts
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.step import StepTime
from gpuscope.domain.base import Range

JOULES_PER_KWH = 3.6e6
_SCALED_SPREAD = 1.2
"""Of measured power that was scaled to another GPU (assumed: below that of a prediction without a measurement)."""
_LOAD_SPREAD = 1.15
"""On top of the power model's own spread, for a load that is predicted itself (assumed)."""
_CPU_SHARE = Range(low=0.5, mid=0.8, high=1.0)
"""Of a CPU's design power, with all of the cores at work (assumed: nothing here reads a CPU's counters)."""


def power_watts(job: Job, gpu: GpuSpec, count: int, step: StepTime | None = None) -> tuple[Range | None, str]:
    """Mean power of all GPUs while the job runs, and where it comes from.

    Measured on this GPU, else measured on another and scaled by board power and by what both do, else from what the
    step computes and moves, else a share of the board power.

    Args:
        job: what runs.
        gpu: where it runs.
        count: of GPUs.
        step: the time of a step on one such GPU; None: not known.
    """
    each = _measured_watts(job)
    if each is not None and job.source_gpu is not None and job.source_gpu.id == gpu.id and not job.changed:
        return Range.exact(each * count), "measured in the run"
    if not gpu.tdp_w:
        return None, "the catalogue does not know its board power"
    predicted = _predicted(job, gpu, step)
    scaled = None if each is None else _scaled(job, gpu, each, predicted)
    if scaled is not None:
        return scaled.scaled(count), f"measured {each:,.0f} W on another GPU × the ratio of what both are predicted"
    if predicted is not None:
        return predicted.scaled(count), f"from what a step computes and moves on a board of {gpu.tdp_w:g} W, × {count}"
    assumed = BOARD_POWER_SHARE.scaled(gpu.tdp_w * count)
    low, high = BOARD_POWER_SHARE.low, BOARD_POWER_SHARE.high
    return assumed, f"{low:.0%} to {high:.0%} of {gpu.tdp_w:g} W × {count}, assumed: its operators are not known"


def cpu_power_watts(cpu: CpuSpec, cores: float | None = None) -> tuple[Range | None, str]:
    """Mean power of `cores` cores of a CPU at work (None: of one socket), and where it comes from."""
    if not cpu.tdp_w:
        return None, f"the catalogue does not know the power of the {cpu.name}"
    share = 1.0 if cores is None or not cpu.cores else cores / cpu.cores
    watts = _CPU_SHARE.scaled(cpu.tdp_w * share)
    return watts, f"{_CPU_SHARE.low:.0%} to {_CPU_SHARE.high:.0%} of {cpu.tdp_w:g} W a socket, assumed"


def energy_kwh(seconds: Range | None, watts: Range | None) -> Range | None:
    """Energy over that time; None when either is not known."""
    if seconds is None or watts is None:
        return None
    return seconds.times(watts).scaled(1 / JOULES_PER_KWH)


def _measured_watts(job: Job) -> float | None:
    """Of one GPU of the run: its mean power, else the energy of a step by its counter over the step's time."""
    energy = job.footprint.energy
    watts = energy.mean_power_w
    if not watts and energy.per_step_j and job.step_time_s is not None:
        watts = energy.per_step_j / job.step_time_s.mid
    return watts / job.source_count if watts and job.source_count else None


def _predicted(job: Job, gpu: GpuSpec, step: StepTime | None) -> Range | None:
    if step is None or step.seconds is None:
        return None
    load = load_of(job.ops, step.seconds.mid, step.device_s, job.precision)
    watts = None if load is None else mean_watts(load, gpu)
    if watts is None or not gpu.tdp_w:
        return None
    return Range(low=watts.low / _LOAD_SPREAD, mid=watts.mid, high=min(gpu.tdp_w, watts.high * _LOAD_SPREAD))


def _scaled(job: Job, gpu: GpuSpec, watts: float, predicted: Range | None) -> Range | None:
    """Measured power × what the model predicts here over what it predicts there; without operators × board powers."""
    source = job.source_gpu
    if source is None or not source.tdp_w or not gpu.tdp_w:
        return None
    ratio = gpu.tdp_w / source.tdp_w
    if predicted is not None and job.step_time_s is not None:
        load = load_of(job.source_ops, job.step_time_s.mid, job.busy_s or None, job.source_precision)
        there = None if load is None else mean_watts(load, source)
        ratio = ratio if there is None else predicted.mid / there.mid
    mid = min(gpu.tdp_w, watts * ratio)
    return Range(low=mid / _SCALED_SPREAD, mid=mid, high=min(gpu.tdp_w, mid * _SCALED_SPREAD))
