"""A predicted step unfolded into its parts, for whoever asks where the number comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.device_rates import DeviceRates
from gpuscope.advisor.timing.roofline import op_seconds
from gpuscope.advisor.timing.step import HostTime
from gpuscope.domain.footprint import Op
from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.units import format_bytes, format_count, format_duration

_CLASS_NAMES = {
    "gemm": "Matrix products",
    "convolution": "Convolutions",
    "depthwise_convolution": "Depthwise convolutions",
    "attention": "Attention",
    "normalization": "Norms",
    "elementwise": "Elementwise operators",
    "reduction": "Reductions",
    "embedding": "Embeddings",
    "optimizer": "Update of the parameters",
    "copy": "Copies and casts",
}
_FORMULA = "√((FLOPs ÷ FLOP/s)² + (bytes ÷ bytes/s)²) + kernels × latency, added up by kind and width"


def work_parts(
    ops: Sequence[Op], device: DeviceRates, calibration: Calibration, *, compiled: bool
) -> tuple[Explanation, ...]:
    """Time of each class of operators on a device by the roofline, longest first."""
    by_class: dict[str, list[Op]] = defaultdict(list)
    for op in ops:
        by_class[op.class_].append(op)
    seconds = {
        name: sum(op_seconds(op, device, calibration, compiled=compiled) for op in group)
        for name, group in by_class.items()
    }
    total = sum(seconds.values())
    ordered = sorted((name for name in seconds if seconds[name] > 0), key=lambda name: (-seconds[name], name))
    return tuple(_class_part(name, seconds[name], total, by_class[name]) for name in ordered)


def model_part(name: str, ops: Sequence[Op], device: DeviceRates, job: Job, *, compiled: bool) -> Explanation:
    """The roofline's time for a whole step on one device, by class of operators."""
    parts = work_parts(ops, device, job.calibration, compiled=compiled)
    total = sum(op_seconds(op, device, job.calibration, compiled=compiled) for op in ops)
    return Explanation(
        name=name, value=format_duration(total), formula="sum of its classes", provenance=f"derived: {device.how}",
        inputs=parts,
    )  # fmt: skip


def transfer_parts(job: Job, source: DeviceRates, target: DeviceRates, own: float) -> tuple[Explanation, ...]:
    """The measured step, the two models whose ratio it is multiplied with, and what is the run's own error (`own`)."""
    measured = Explanation(name="Measured step", value=format_duration(job.busy_s), provenance="measured in the run")
    models = (
        model_part("Model of the target", job.ops, target, job, compiled=job.compiled),
        model_part("Model of the run's GPU", job.source_ops, source, job, compiled=job.source_compiled),
    )
    if own == 1.0:
        return (measured, *models)
    remainder = Explanation(
        name="The run's own error",
        value=f"× {own:.3f}",
        formula="(model of the run's GPU ÷ measured step)^(1 − shared), at most 10% either way",
        provenance="fitted: how much of a run's distance from the model comes back, from pairs of published runs",
    )
    return (measured, *models, remainder)


def host_part(host: HostTime) -> Explanation:
    """What launching kernels and moving the batch takes on the host."""
    return Explanation(
        name="Host",
        value=format_duration(host.usual),
        formula="kernels × time to launch one + the batch's way to the GPU; the step takes no less",
        provenance=f"assumed: between {format_duration(host.low)} and {format_duration(host.high)}",
    )


def _class_part(name: str, seconds: float, total: float, ops: Sequence[Op]) -> Explanation:
    flops = sum(op.flops or 0.0 for op in ops)
    moved = sum((op.bytes_read or 0.0) + (op.bytes_written or 0.0) for op in ops)
    kernels = sum(op.kernels or 0.0 for op in ops)
    share = seconds / total if total else 0.0
    inputs = (
        Explanation(name="Work", value=f"{format_count(flops)} FLOPs", provenance="the footprint's operators"),
        Explanation(name="Memory traffic", value=format_bytes(moved), provenance="the footprint's operators"),
        Explanation(name="Kernels", value=format_count(kernels), provenance="the footprint's operators"),
    )
    return Explanation(
        name=_CLASS_NAMES.get(name, "Other operators"),
        value=f"{format_duration(seconds)} ({share:.0%})",
        formula=_FORMULA,
        provenance="derived",
        inputs=inputs if flops else inputs[1:],
    )
