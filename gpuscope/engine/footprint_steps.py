"""Steps of a footprint: how many, how fast, in steady state."""

from __future__ import annotations

from gpuscope.domain.footprint import Batch, Steps, Throughput, TimePerStep
from gpuscope.domain.steps import StepRecord
from gpuscope.engine import measures
from gpuscope.engine.run_facts import ProcessFacts


def steady_steps(steps: list[StepRecord]) -> list[StepRecord]:
    """The steps whose durations count: warm-up and profiled steps are left out, if any others are there."""
    timed = [step for step in steps[measures.warm_up_steps(len(steps)) :] if step.duration_s and not step.profiled]
    return timed or [step for step in steps if step.duration_s and not step.profiled]


def steps_summary(steps: list[StepRecord], batch: Batch) -> Steps:
    """Count, step time and throughput."""
    steady = steady_steps(steps)
    time_s = measures.step_time([step.duration_s for step in steady if step.duration_s])
    skipped = [step.skipped for step in steps]
    return Steps(
        count=len(steps),
        skipped_updates=None if None in skipped else sum(1 for value in skipped if value),
        steady_count=len(steady),
        time_s=time_s,
        throughput=_throughput(time_s.p50, batch),
    )


def time_per_step(facts: ProcessFacts) -> TimePerStep:
    """The parts of a step's time that the probe saw; the others are unknown."""
    waits = [float(batch["wait_s"]) for batch in facts.all("batch") if batch.get("wait_s") is not None]
    if not waits or not facts.steps:
        return TimePerStep()
    return TimePerStep(data_loader=sum(waits) / len(facts.steps))


def batch_of(facts: ProcessFacts) -> Batch:
    """Samples of a step: the median of what the DataLoader handed out between steps."""
    samples = sorted(float(batch["samples"]) for batch in facts.all("batch") if batch.get("samples"))
    if not samples or not facts.steps:
        return Batch()
    per_device = samples[len(samples) // 2]
    world_size = int(facts.last("process_start").get("world_size") or 1)
    return Batch(per_device=per_device, global_=per_device * world_size, unit="samples")


def _throughput(step_time_s: float | None, batch: Batch) -> Throughput | None:
    if not step_time_s:
        return None
    if batch.global_:
        return Throughput(value=batch.global_ / step_time_s, unit=f"{batch.unit}/s")
    return Throughput(value=1 / step_time_s, unit="steps/s")
