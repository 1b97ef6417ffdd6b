"""Energy that the GPUs of a configuration take: time × power. The rest of the machine is not counted."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing import rates
from gpuscope.domain.base import Range

_JOULES_PER_KWH = 3.6e6


def power_watts(job: Job, gpu: GpuSpec, count: int) -> tuple[Range | None, str]:
    """Mean power of all GPUs and where it comes from: measured on this GPU, else a share of its board power."""
    measured = job.footprint.energy.mean_power_w
    if measured and job.source_gpu is not None and job.source_gpu.id == gpu.id and job.source_count:
        return Range.exact(measured / job.source_count * count), "measured in the run"
    if not gpu.tdp_w:
        return None, "the catalogue does not know its board power"
    low, mid, high = (gpu.tdp_w * count * share for share in rates.POWER_FRACTION)
    return Range(low=low, mid=mid, high=high), f"40 to 100% of {gpu.tdp_w:g} W × {count}, assumed"


def energy_kwh(seconds: Range | None, watts: Range | None) -> Range | None:
    """Energy over that time; None when either is not known."""
    if seconds is None or watts is None:
        return None
    return Range(
        low=seconds.low * watts.low / _JOULES_PER_KWH,
        mid=seconds.mid * watts.mid / _JOULES_PER_KWH,
        high=seconds.high * watts.high / _JOULES_PER_KWH,
    )
