"""Steps of a footprint: how many, how fast, in steady state."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from statistics import median
from typing import Any

from gpuscope.domain.events import Event
from gpuscope.domain.footprint import Batch, Steps, Throughput, TimePerStep
from gpuscope.domain.steps import StepRecord
from gpuscope.engine import measures
from gpuscope.engine.run_facts import ProcessFacts

PHASES = ("forward", "backward", "optimizer")
UNUSUAL_BATCHES = 1.5
"""A step with so many times the usual number of batches holds an evaluation; an uneven split makes less of it."""
_SAME_TIME_S = 2e-6
"""The probe writes times in microseconds."""


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
    """Where a step's time goes, as far as the probe saw it; other parts are unknown.

    The profiled step tells how its operators' time divides into forward, backward and optimizer. On the CPU these
    shares are applied to the median step less its waiting for data, because profiling makes a step longer. On a GPU
    kernel times stand as they are, and what is left of the median step is idle.
    """
    step_s = measures.step_time([step.duration_s for step in steady_steps(facts.steps) if step.duration_s]).p50
    wait_s = _data_wait(facts, step_s)
    rows = facts.last("ops").get("rows") or []
    device_s = _by_phase(rows, "device_time_s")
    if step_s is None or not rows:
        return TimePerStep(data_loader=wait_s)
    if sum(device_s.values()) > 0:
        return TimePerStep(data_loader=wait_s, idle=max(0.0, step_s - sum(device_s.values())), **_parts(device_s, 1.0))
    cpu_s = _by_phase(rows, "cpu_time_s")
    total_s = sum(cpu_s.values())
    if not total_s:
        return TimePerStep(data_loader=wait_s)
    return TimePerStep(data_loader=wait_s, **_parts(cpu_s, max(0.0, step_s - (wait_s or 0.0)) / total_s))


def batch_of(facts: ProcessFacts) -> Batch:
    """Samples of a step: the median of what the DataLoader handed out between steps."""
    samples = sorted(float(batch["samples"]) for batch in facts.all("batch") if batch.get("samples"))
    if not samples or not facts.steps:
        return Batch()
    per_device = samples[len(samples) // 2]
    world_size = int(facts.last("process_start").get("world_size") or 1)
    return Batch(per_device=per_device, global_=per_device * world_size, unit="samples")


def _data_wait(facts: ProcessFacts, step_s: float | None) -> float | None:
    """How much of a median step of `step_s` is waiting for the DataLoader, by the share of it in the steady steps.

    The shares are those of whole steps, so that a wait is never longer than its step. Steps between which many more
    batches than usual were handed out are left out: they hold an evaluation.
    """
    waits = [event for event in facts.by_kind.get("batch", ()) if event.data.get("wait_s") is not None]
    if not waits or step_s is None:
        return None
    usual = median(_batches(event) for event in waits)
    ends = [event.t for event in waits]
    lasted_s: dict[int, float] = defaultdict(float)
    for step in steady_steps(facts.steps):
        lasted_s[bisect_left(ends, step.t - _SAME_TIME_S)] += step.duration_s or 0.0
    waited = total = 0.0
    for number, seconds in lasted_s.items():
        if number < len(waits) and _batches(waits[number]) <= UNUSUAL_BATCHES * usual:
            waited += float(waits[number].data["wait_s"]) * int(waits[number].data.get("steps") or 1)
            total += seconds
    return step_s * min(1.0, waited / total) if total else None


def _batches(event: Event) -> float:
    """Batches handed out for a step, on average of the steps that the event covers."""
    return float(event.data.get("batches") or 1.0)


def _by_phase(rows: list[dict[str, Any]], time_name: str) -> dict[str, float]:
    """Operator seconds of the profiled step by phase; those of the data loader are its waiting, told elsewhere."""
    seconds = dict.fromkeys(PHASES, 0.0)
    for row in rows:
        phase = str(row.get("phase"))
        if phase in seconds:
            seconds[phase] += float(row.get(time_name) or 0.0)
    return seconds


def _parts(seconds: dict[str, float], scale: float) -> dict[str, float]:
    return {phase: value * scale for phase, value in seconds.items()}


def _throughput(step_time_s: float | None, batch: Batch) -> Throughput | None:
    if not step_time_s:
        return None
    if batch.global_:
        return Throughput(value=batch.global_ / step_time_s, unit=f"{batch.unit}/s")
    return Throughput(value=1 / step_time_s, unit="steps/s")
