"""Which of the predicted steps a run can be held against, and why not where it cannot.

A run on one GPU is compared when GPU and precision are those of the prediction. On several GPUs more has to be the
same, and a session does not tell all of it: it holds the processes of one machine, what each rank had as a batch and
how long its steps took, but not how parameters or layers were spread. So a prediction counts for which every GPU works
through a batch of its own in one machine, and a run of which one rank was seen on each GPU, in step with the others.
Whether parameters were sharded over them is not seen; the sentence says what had been predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuscope.advisor.job.precision import precision_of
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Candidate
from gpuscope.engine.prediction_ledger import PredictedStep
from gpuscope.errors import UsageError

_MEASURED = "measured"
"""A candidate that is the run itself predicts nothing."""
_TOGETHER = 0.02
"""Ranks that train together have made as many steps, but for the last ones before the end."""
_ALIKE = 0.01
"""Ranges that differ by less are the same prediction."""


class Configuration(NamedTuple):
    """Hardware and precision of a run."""

    gpu: str
    """Catalogue id."""
    gpus: int
    precision: str


class Match(NamedTuple):
    """The prediction for a run, or why there is none to hold it against."""

    step: PredictedStep | None
    reason: str = ""
    """Empty where nothing had been predicted for that hardware at all, too."""


def promised(candidates: Sequence[Candidate], only_count: int | None) -> Iterator[PredictedStep]:
    """Each configuration once, best first: ways of paying for it do not change its speed.

    Args:
        candidates: of a recommendation.
        only_count: the number of GPUs whose step is comparable; None: any.
    """
    seen: set[tuple[object, ...]] = set()
    for candidate in candidates:
        if candidate.gpu is None or candidate.precision is None or candidate.step_time_s is None:
            continue
        wanted = only_count is None or candidate.count == only_count
        step = PredictedStep(
            gpu=candidate.gpu,
            count=candidate.count,
            precision=candidate.precision,
            step_time_s=candidate.step_time_s,
            nodes=candidate.nodes,
            data_parallel=candidate.layout.data_parallel,
            zero_stage=candidate.layout.zero_stage,
            interconnect=candidate.interconnect,
        )
        if wanted and candidate.confidence != _MEASURED and step_key(step) not in seen:
            seen.add(step_key(step))
            yield step


def step_key(step: PredictedStep) -> tuple[object, ...]:
    """What tells two configurations of one piece of advice apart."""
    alone = step.count == 1
    return (
        step.gpu,
        step.count,
        step.precision,
        step.nodes,
        *(() if alone else (step.data_parallel, step.interconnect)),
    )


def configuration_of(footprint: Footprint) -> Configuration | None:
    """GPU, count and precision of a run; None where it does not tell them or mixes GPUs."""
    gpus = {device.gpu for device in footprint.devices}
    compute = footprint.workload.precision.compute
    if len(gpus) != 1 or compute is None:
        return None
    gpu = gpus.pop()
    try:
        precision = precision_of(compute)
    except UsageError:
        return None
    return None if gpu is None else Configuration(gpu, len(footprint.devices), precision)


def match(steps: Sequence[PredictedStep], run: Configuration, footprint: Footprint) -> Match:
    """The predicted step that a run can be held against.

    Args:
        steps: predicted for its job.
        run: its hardware and precision.
        footprint: of the run.
    """
    same = [step for step in steps if (step.gpu, step.count, step.precision) == run]
    if not same:
        return Match(None)
    if run.gpus == 1:
        return Match(same[0])
    reason = _why_not_together(footprint, run.gpus)
    if reason:
        return Match(None, reason)
    fitting = [step for step in same if step.nodes == 1 and step.data_parallel == run.gpus]
    if all(step.data_parallel is None for step in same):
        return Match(None, "an older gpuscope had predicted it and did not keep how the GPUs were to be used")
    if not fitting:
        return Match(None, "what had been predicted was several machines, or a model split over the GPUs")
    if any(not _alike(step, fitting[0]) for step in fitting):
        return Match(None, "it had been predicted for several kinds of links, and the run does not tell which it had")
    return Match(fitting[0])


def _why_not_together(footprint: Footprint, count: int) -> str:
    """Why it is not known that each of a run's GPUs worked through a batch of its own, in step; empty: it is."""
    if len(footprint.ranks) != count:
        return "how its GPUs shared the work was not seen: there was no process with steps of its own for each"
    batch = footprint.workload.batch
    if not batch.per_device or not batch.global_:
        return "the batch of all GPUs together was not seen"
    replicas = batch.global_ / (batch.per_device * (batch.gradient_accumulation or 1))
    if round(replicas) != count:
        return f"its batch is that of {replicas:.0f} GPUs, of which {count} were in this machine"
    counts = [rank.steps.count or 0 for rank in footprint.ranks]
    if max(counts) - min(counts) > max(1.0, _TOGETHER * max(counts)):
        return "its processes made different numbers of steps, so they did not train together"
    return ""


def _alike(one: PredictedStep, other: PredictedStep) -> bool:
    return abs(one.step_time_s.mid / other.step_time_s.mid - 1) < _ALIKE if other.step_time_s.mid else True
