"""What was predicted for a job, and what its later runs made of it.

`remember` keeps the step times that a piece of advice promised; `compare` holds a later run of the same job on one of
those GPUs against them. Both are quiet when nothing can be kept or there is nothing to compare.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from gpuscope.advisor.job.precision import precision_of
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Candidate, Recommendation
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.domain.units import format_duration, format_duration_range
from gpuscope.engine.prediction_ledger import (
    Comparison,
    JobIdentity,
    PredictedStep,
    Prediction,
    add_entries,
    read_ledger,
)
from gpuscope.errors import UsageError

MOST_STEPS = 150
"""Configurations that are kept of one piece of advice, best first."""
_MEASURED = "measured"
"""A candidate that is the run itself predicts nothing."""


def remember(manifest: Manifest, footprint: Footprint, recommendation: Recommendation) -> None:
    """Keep what a recommendation for a session promises, as far as that is new.

    A session without a command line is no job to come back to.
    """
    job = identity_of(manifest.run, footprint, recommendation.constraints.stage)
    if job is None:
        return
    batch_kept = not recommendation.constraints.keep_global_batch
    counts = None if batch_kept else len(footprint.devices)  # else a GPU's batch changes with their number
    known = {
        (step.gpu, step.count, step.precision): step.step_time_s
        for old in read_ledger().predictions
        if old.job == job and old.session == manifest.session_id
        for step in old.steps
    }
    steps = tuple(
        step
        for step in itertools.islice(_promised(recommendation.candidates, counts), MOST_STEPS)
        if known.get((step.gpu, step.count, step.precision)) != step.step_time_s
    )
    if steps:
        add_entries([Prediction(made_wall_s=time.time(), session=manifest.session_id, job=job, steps=steps)])


def compare(manifest: Manifest, footprint: Footprint) -> Comparison | None:
    """Hold a run against the latest prediction that was made for its job and GPU before it started, and keep that.

    Returns:
        None when nobody had predicted it, or the run does not tell its GPU, precision or step time.
    """
    job = identity_of(manifest.run, footprint)
    time_s = footprint.steps.time_s
    measured_s = time_s.mid if time_s.mid is not None else time_s.p50
    key = _configuration(footprint)
    if job is None or measured_s is None or key is None:
        return None
    ledger = read_ledger()
    for prediction in reversed(ledger.predictions):
        earlier = prediction.made_wall_s <= manifest.created_wall_s and prediction.session != manifest.session_id
        step = next((s for s in prediction.steps if (s.gpu, s.count, s.precision) == key), None)
        if prediction.job == job and earlier and step is not None:
            comparison = Comparison(
                run_wall_s=manifest.created_wall_s,
                session=manifest.session_id,
                job=job,
                predicted=step,
                predicted_wall_s=prediction.made_wall_s,
                measured_s=measured_s,
            )
            if comparison not in ledger.comparisons:
                add_entries([comparison])
            return comparison
    return None


def sentence_of(comparison: Comparison) -> str:
    """The comparison for a person: `train.py on 1 × rtx-4090 in float16: predicted ..., measured ...: inside.`"""
    step = comparison.predicted
    outside = "slower" if comparison.measured_s > step.step_time_s.high else "faster"
    return (
        f"{comparison.job.name} on {step.count} × {step.gpu} in {step.precision}: "
        f"predicted {format_duration_range(step.step_time_s)} a step, "
        f"measured {format_duration(comparison.measured_s)}: {'inside' if comparison.inside else outside}."
    )


def identity_of(run: RunSpec | None, footprint: Footprint, stage: str | None = None) -> JobIdentity | None:
    """What makes another run the same job.

    Args:
        run: how it was started; None (a recording of something else's process) has no identity.
        footprint: its size.
        stage: training or inference, where it is another one than the footprint's.
    """
    if run is None or not run.argv:
        return None
    words = _script_and_arguments(run)
    if not words:
        return None
    workload = footprint.workload
    return JobIdentity(
        name=PurePath(words[0]).name,
        arguments=_hash_of(words[1:]),
        stage=stage or workload.stage,
        parameters=workload.parameters,
        batch_per_device=workload.batch.per_device,
    )


def _script_and_arguments(run: RunSpec) -> tuple[str, ...]:
    """The job's own part of the command line: neither interpreter nor launcher (torchrun, accelerate launch)."""
    words = run.argv if run.target == "command" else run.argv[1:]
    if words[:1] == ("-m",):
        words = words[1:]
    if run.target == "script":
        return words
    # How many processes a launcher starts is the configuration, which is not what makes the job.
    script = next((index for index, word in enumerate(words) if word.endswith(".py")), 0)
    return words[script:]


def _hash_of(arguments: Sequence[str]) -> str:
    """A hash of the arguments; places of files differ from machine to machine and do not make another job."""
    kept = [word.partition("=")[0] if _is_path(word.rpartition("=")[2]) else word for word in arguments]
    text = "\0".join(word for word in kept if not _is_path(word))
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:16]


def _is_path(word: str) -> bool:
    return word.startswith(("/", "./", "../", "~", ".\\", "..\\")) or word[1:3] in {":\\", ":/"}


def _promised(candidates: Sequence[Candidate], only_count: int | None) -> Iterator[PredictedStep]:
    """Each configuration once: ways of paying for it do not change its speed."""
    seen = set()
    for candidate in candidates:
        key = (candidate.gpu, candidate.count, candidate.precision)
        wanted = only_count is None or candidate.count == only_count
        if candidate.gpu is None or candidate.precision is None or candidate.step_time_s is None or key in seen:
            continue
        if wanted and candidate.confidence != _MEASURED:
            seen.add(key)
            yield PredictedStep(
                gpu=candidate.gpu,
                count=candidate.count,
                precision=candidate.precision,
                step_time_s=candidate.step_time_s,
            )


def _configuration(footprint: Footprint) -> tuple[str, int, str] | None:
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
    return None if gpu is None else (gpu, len(footprint.devices), precision)
