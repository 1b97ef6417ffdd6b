"""A step on another GPU from a step on the one where the job ran.

    time on the target = measured time × model(target) / model(source) × (model(source) / measured time)^(1 − shared)

Most errors of the model are the same on both cards and cancel out: the fitted share `shared` of how far the run was off
the model comes back, the rest was that run's own. Where the profile timed the operators, the ratio is
taken class by class and only the device's part of the step changes; each class's ratio lies between those of the two
devices' compute rates, memory rates and kernel latencies, since all its terms do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing import rates
from gpuscope.advisor.timing.class_constants import factor
from gpuscope.advisor.timing.device_rates import DeviceRates
from gpuscope.advisor.timing.roofline import compiled_kernel_share, op_seconds, ops_seconds
from gpuscope.advisor.timing.step import LOADER_SHARE, NO_HOST, HostTime
from gpuscope.domain.footprint import Op

# A run so much slower than the model of its GPU was bound by its host, if launching its kernels can take that long.
_HOST_BOUND = 2.0
_LEAST_S = 1e-12
_MOST_OWN = 0.1
"""In the logarithm: a run that is further off does what the model does not know of, which it will do elsewhere, too."""

_CALLS_THAT_WAIT = HostTime(20e-6, 60e-6, 150e-6)
"""Two copies to the device and one answer from it; each call that waits for the device takes about 20 µs (assumed)."""
_LANE_BYTES_PER_S = 0.985e9
"""Of a PCIe 3.0 lane in one direction; each generation doubles it."""
_USUAL_GENERATION, _USUAL_LANES = 3, 16
_PAGEABLE_SHARE = 0.5
"""What copies from ordinary memory reach, which the driver first copies to pinned memory (assumed)."""


class Transfer(NamedTuple):
    """The device's and the host's part of a step on the target."""

    device_s: float
    host: HostTime
    ratio: float
    """Of the device's time on the target to that on the source."""
    own: float = 1.0
    """Factor of it: what the run was off the model and will not be elsewhere."""


def transfer(job: Job, source: DeviceRates, target: DeviceRates) -> Transfer:
    """From the measured step of the job on `source` to one on `target`."""
    step_s = job.busy_s
    if job.device_time_known and not job.stage_changed:
        busy_s, ratio = _class_ratio(job, source, target)
        if busy_s:
            # A GPU that waited in the run for the host will wait again: the step takes no less than the host took.
            host_s = step_s if step_s - busy_s > LOADER_SHARE * step_s else 0.0
            return Transfer(min(busy_s, step_s) * ratio, HostTime(host_s * 0.5, host_s, host_s * 1.2), ratio)
    before = model_seconds(job.source_ops, source, job, compiled=job.source_compiled)
    after = model_seconds(job.ops, target, job, compiled=job.compiled)
    own = _own_error(job, before)
    ratio = after / max(before, _LEAST_S) * own
    host = host_time(job.source_ops, job, compiled=job.source_compiled)
    if step_s > _HOST_BOUND * before and host.low <= step_s <= host.high:
        return Transfer(after, HostTime(step_s * 0.5, step_s, step_s * 1.2), ratio / own)
    return Transfer(step_s * ratio, NO_HOST, ratio, own)


def model_seconds(ops: Sequence[Op], device: DeviceRates, job: Job, *, compiled: bool) -> float:
    """The roofline's time for a step."""
    return ops_seconds(ops, device, job.calibration, compiled=compiled)


def host_time(ops: Sequence[Op], job: Job, *, compiled: bool) -> HostTime:
    """Time in which the host launches the kernels of a step."""
    kernels = sum((op.kernels or 0.0) * (compiled_kernel_share(op, job.calibration) if compiled else 1.0) for op in ops)
    return HostTime(*(kernels * each for each in rates.HOST_S_PER_KERNEL))


def input_time(job: Job, gpu: GpuSpec) -> HostTime:
    """Time in which a batch reaches a GPU on which the job has not run, and its loss or answer comes back."""
    moved = job.footprint.io.host_to_device_bytes_per_step or 0.0
    lanes, generation = gpu.pcie_lanes or _USUAL_LANES, gpu.pcie_gen or _USUAL_GENERATION
    one_way = lanes * _LANE_BYTES_PER_S * 2.0 ** (generation - _USUAL_GENERATION) * _PAGEABLE_SHARE
    copying = max(0.0, moved) / one_way
    return HostTime(*(each + copying for each in _CALLS_THAT_WAIT))


def _own_error(job: Job, before_s: float) -> float:
    """By what factor a step elsewhere differs from the plain ratio of models: not all of the model's error comes back.

    Args:
        job: the run.
        before_s: the model's time of it.
    """
    shared = factor(job.calibration, "transfer", "shared" if job.compiled == job.source_compiled else "compiled")
    if shared is None or not before_s or not job.busy_s:
        return 1.0
    return math.exp(max(-_MOST_OWN, min(_MOST_OWN, (shared - 1) * math.log(job.busy_s / before_s))))


def _class_ratio(job: Job, source: DeviceRates, target: DeviceRates) -> tuple[float, float]:
    """Device time that the run's profile measured (0: none), and by what factor it changes on the target.

    The time of a class may lie on other operators of a call chain than its work, so they are brought together by class.
    Time of operators without any modelled work changes like the rest; classes that only the target has are added.
    """
    before_model = _by_group(job.source_ops, source, job, compiled=job.source_compiled)
    after_model = _by_group(job.ops, target, job, compiled=job.compiled)
    measured: dict[str, float] = defaultdict(float)
    for op in job.source_ops:
        measured[_group(op)] += op.time_s or 0.0
    known = [group for group, seconds in measured.items() if seconds > 0 and before_model.get(group, 0.0) > 0]
    before = sum(measured[group] for group in known)
    modelled = sum(before_model[group] for group in known)
    if not before or not modelled:
        return 0.0, 1.0
    after = sum(measured[group] * after_model.get(group, 0.0) / before_model[group] for group in known)
    added = sum(seconds for group, seconds in after_model.items() if not before_model.get(group))
    return sum(measured.values()), (after + added * before / modelled) / before


def _by_group(ops: Sequence[Op], device: DeviceRates, job: Job, *, compiled: bool) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    for op in ops:
        seconds[_group(op)] += op_seconds(op, device, job.calibration, compiled=compiled)
    return seconds


def _group(op: Op) -> str:
    return "convolution" if "convolution" in op.class_ else op.class_
