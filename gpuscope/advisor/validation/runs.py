"""Published rows as footprints of runs, so that predictions go through the same functions as a person's own run."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.domain.footprint import (
    Batch,
    Footprint,
    FootprintDevice,
    FootprintSource,
    Op,
    Precision,
    Steps,
    StepTime,
    Workload,
)


def run_on_gpu(
    gpu: GpuSpec,
    step_s: float,
    precision: str,
    *,
    model: str | None = None,
    stage: str = "training",
    ops: tuple[Op, ...] = (),
    batch: float | None = None,
    compiled: bool | None = None,
) -> Footprint:
    """The footprint of a published run on one GPU.

    Args:
        gpu: where it ran.
        step_s: seconds of one step, as published.
        precision: compute precision.
        model: its name, which may say what kind of model it is.
        stage: training or inference.
        ops: work of one step, where it is known from the model's shapes.
        batch: samples in a step.
        compiled: whether the model was compiled; None: unknown.
    """
    return Footprint(
        source=FootprintSource(kind="measured"),
        workload=Workload(
            stage=stage,
            model=model,
            precision=Precision(compute=precision, parameters="float32"),
            compiled=compiled,
            batch=Batch(per_device=batch, global_=batch, unit="samples"),
        ),
        devices=(FootprintDevice(gpu=gpu.id, name=gpu.device_name),),
        steps=Steps(time_s=StepTime(p50=step_s, low=step_s, mid=step_s, high=step_s)),
        ops=ops,
    )
