"""The job as the models see it: a footprint in the stage and precision that the person wants, with what was assumed."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.job.autocast import in_precision
from gpuscope.advisor.job.precision import FLOAT32, halves_activations, precision_of
from gpuscope.advisor.job.stage import to_stage
from gpuscope.advisor.timing import rates
from gpuscope.domain.base import Range, Value
from gpuscope.domain.footprint import Footprint, Op, StepTime
from gpuscope.domain.ops import dtype_bytes
from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError

TRAINING, INFERENCE = "training", "inference"
_IDLE_PERCENT = 1.0
"""Up to this utilisation, in 95 of 100 readings, a GPU shows a desktop or nothing."""


class Job(Value, frozen=True, kw_only=True):
    """What has to be done, and what is known from where it was run."""

    footprint: Footprint
    stage: str
    precision: str
    """Wanted on the target."""
    source_precision: str
    ops: tuple[Op, ...] = ()
    """Of one step of one device, in the wanted stage and precision, as an eager run has them."""
    source_ops: tuple[Op, ...] = ()
    """The same as they were in the run."""
    cpu_ops: tuple[Op, ...] = ()
    """Of one step in the wanted stage, in float32."""
    compiled: bool = False
    """Whether a compiler is to join operators on the target."""
    source_compiled: bool = False
    step_time_s: Range | None = None
    """Measured, in the stage of the run."""
    data_wait_s: float = 0.0
    """Of a step, measured; 0 where it is not known (then an assumption says so)."""
    source_gpu: GpuSpec | None = None
    source_cpu: CpuSpec | None = None
    source_count: int = 0
    """GPUs that it ran on; 0: it ran on the CPU, or not at all."""
    device_time_known: bool = False
    """Whether the operators' times are a GPU's."""
    assumptions: tuple[str, ...] = ()
    calibration: Calibration = EMPTY
    """What the models know of real devices."""

    @property
    def stage_changed(self) -> bool:
        """The run was training and inference is wanted, or the other way round."""
        return self.stage != self.footprint.workload.stage

    @property
    def changed(self) -> bool:
        """Anything is wanted otherwise than it ran."""
        return self.stage_changed or self.precision != self.source_precision or self.compiled != self.source_compiled

    @property
    def busy_gpus(self) -> int:
        """GPUs that it ran on, without those of a record in which none ever worked."""
        busiest = None if self.footprint.utilization.gpu is None else self.footprint.utilization.gpu.p95
        return 0 if busiest is not None and busiest <= _IDLE_PERCENT else self.source_count

    @property
    def ran(self) -> bool:
        """There is a measured step time."""
        return self.step_time_s is not None

    @property
    def busy_s(self) -> float:
        """Measured step without waiting for data; 0 when nothing was measured."""
        return 0.0 if self.step_time_s is None else max(0.0, self.step_time_s.mid - self.data_wait_s)

    @property
    def gradient_bytes(self) -> float | None:
        """Bytes that data parallel training reduces each step; None: unknown."""
        known = self.footprint.memory.breakdown.gradients_bytes
        if known is not None:
            return float(known)
        workload = self.footprint.workload
        parameters = workload.trainable_parameters or workload.parameters
        size = dtype_bytes(workload.precision.parameters) or 4
        return None if parameters is None else float(parameters * size)

    @property
    def kernels(self) -> float:
        """Kernels of a step."""
        return sum(op.kernels or 0.0 for op in self.ops)


def prepare(
    footprint: Footprint, constraints: Constraints, catalogue: Catalogue, calibration: Calibration = EMPTY
) -> Job:
    """Put a footprint into the wanted stage and precision.

    Args:
        footprint: what the job uses.
        constraints: which stage and precision are wanted.
        catalogue: where its GPU and CPU are looked up.
        calibration: what the models are to know of real devices.

    Raises:
        UsageError: stage or precision is not known.
    """
    stage = constraints.stage or footprint.workload.stage
    if stage not in {TRAINING, INFERENCE}:
        raise UsageError(f"Stage {stage!r} is not known: use training or inference.")
    assumptions: list[str] = []
    source_precision = _source_precision(footprint, assumptions)
    precision = precision_of(constraints.precision) if constraints.precision else source_precision
    if halves_activations(precision) and not halves_activations(source_precision):
        assumptions.append(f"In {precision} the parameters stay in float32 and autocast casts them for each step.")
    source_gpu = _source_gpu(footprint, catalogue, assumptions)
    ops, stage_note = to_stage(footprint.ops, footprint.workload.stage, stage, calibration)
    if stage_note:
        assumptions.append(stage_note)
    if stage == TRAINING and footprint.workload.stage != TRAINING:
        assumptions.append("All parameters are taken to be trained, at most with Adam: the run had no optimizer.")
    cpu_ops = ops
    if stage == TRAINING and ops:
        ops = _with_optimizer(ops, footprint, assumptions)
        cpu_ops = cpu_ops if any(op.class_ == "optimizer" for op in cpu_ops) else ops
    source_compiled = bool(footprint.workload.compiled)
    return Job(
        footprint=footprint,
        stage=stage,
        precision=precision,
        source_precision=source_precision,
        ops=in_precision(ops, source_precision, precision, _parameters(footprint)),
        source_ops=footprint.ops,
        cpu_ops=in_precision(cpu_ops, source_precision, FLOAT32, _parameters(footprint)),
        compiled=source_compiled if constraints.compiled is None else constraints.compiled,
        source_compiled=source_compiled,
        step_time_s=None if footprint.device_unknown else _measured_step(footprint.steps.time_s),
        data_wait_s=max(0.0, footprint.time_per_step_s.data_loader or 0.0),
        source_gpu=source_gpu,
        source_cpu=catalogue.cpu(footprint.host.cpu) or catalogue.match_cpu(footprint.host.name),
        source_count=len(footprint.devices),
        device_time_known=bool(footprint.devices) and any(op.time_s for op in footprint.ops),
        assumptions=tuple(assumptions),
        calibration=calibration,
    )


def _source_gpu(footprint: Footprint, catalogue: Catalogue, assumptions: list[str]) -> GpuSpec | None:
    """The GPU of the run; None, with what follows from that, where it is not known or there was none."""
    if not footprint.devices:
        if footprint.device_unknown:
            assumptions.append("What the run ran on is not known, so its step time tells nothing about other machines.")
        return None
    device = footprint.devices[0]
    found = catalogue.gpu_of(device)
    if found is None:
        name = device.gpu or device.name or "no name"
        assumptions.append(
            f"The catalogue does not know the GPU of the run ({name}): its speed tells nothing about other GPUs, so "
            "times come from the operators' work alone."
        )
    return found


def _parameters(footprint: Footprint) -> float | None:
    known = footprint.workload.parameters
    return None if known is None else float(known)


def _source_precision(footprint: Footprint, assumptions: list[str]) -> str:
    name = footprint.workload.precision.compute or footprint.workload.precision.parameters
    if name is None:
        assumptions.append("The precision of the run is not known: float32 is assumed.")
        return FLOAT32
    try:
        return precision_of(name)
    except UsageError:
        assumptions.append(f"No GPU rates are known for {name}: those of float32 are used.")
        return FLOAT32


def _measured_step(time_s: StepTime) -> Range | None:
    mid = time_s.mid if time_s.mid is not None else time_s.p50
    if mid is None or mid <= 0:
        return None
    low = time_s.low if time_s.low is not None and time_s.low > 0 else mid
    high = time_s.high if time_s.high is not None else max(mid, time_s.p95 or mid)
    return Range(low=min(low, mid), mid=mid, high=max(high, mid))


def _with_optimizer(ops: tuple[Op, ...], footprint: Footprint, assumptions: list[str]) -> tuple[Op, ...]:
    """Replace a CPU run's optimizer operators by those of a GPU, which updates many tensors at once; add them to a run
    that was inference."""
    workload = footprint.workload
    parameters = workload.trainable_parameters or workload.parameters
    updated = any(op.class_ == "optimizer" for op in ops)
    if parameters is None or (footprint.devices and (updated or footprint.workload.stage == TRAINING)):
        return ops
    name = optimizer_key(workload.optimizer, footprint.memory.breakdown.optimizer_state_bytes)
    passes = rates.OPTIMIZER_PASSES[name]
    if workload.optimizer and name not in workload.optimizer.lower():
        assumptions.append(f"The update of {workload.optimizer} is counted like that of {name}.")
    moved = float(parameters * 4 * passes)
    update = Op(
        kind="optimizer", class_="optimizer", dtype=FLOAT32, bytes_read=moved, bytes_written=0.0,
        kernels=float(rates.OPTIMIZER_KERNELS),
    )  # fmt: skip
    return (*(op for op in ops if op.class_ != "optimizer"), update)


def optimizer_key(name: str | None, state_bytes: int | None) -> str:
    """Which row of `rates.OPTIMIZER_PASSES` an optimizer's class name belongs to; Adam's when it is not known."""
    text = (name or "").lower()
    if text == "sgd":
        return "momentum" if state_bytes else "sgd"
    return next((key for key in rates.OPTIMIZER_PASSES if key in text), "adam")


def halves_memory(job: Job) -> bool:
    """The target keeps activations in 16 bits and the run did not."""
    return halves_activations(job.precision) and not halves_activations(job.source_precision)
