"""What was predicted for a job, and what its later runs made of it.

`remember` keeps the step times that a piece of advice promised; `compare` holds a later run of the same job on those
GPUs against them, one or several in a machine, and `why_not_compared` says what speaks against it. All are quiet when
nothing can be kept or nothing had been predicted.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Recommendation, Verdict
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.domain.units import format_duration, format_duration_range
from gpuscope.engine.prediction_ledger import (
    Comparison,
    JobIdentity,
    Prediction,
    add_entries,
    read_ledger,
)
from gpuscope.engine.prediction_matching import Configuration, Match, configuration_of, match, promised, step_key

MOST_STEPS = 150
"""Configurations that are kept of one piece of advice, best first."""


def remember(manifest: Manifest, footprint: Footprint, recommendation: Recommendation) -> None:
    """Keep what a recommendation for a session promises, as far as that is new.

    A session without a command line is no job to come back to; what holds only after mending the job is no promise.
    """
    job = identity_of(manifest.run, footprint, recommendation.constraints.stage)
    if job is None or recommendation.verdict is Verdict.FIX_FIRST:
        return
    batch_kept = not recommendation.constraints.keep_global_batch
    counts = None if batch_kept else len(footprint.devices)  # else a GPU's batch changes with their number
    known = {
        step_key(step): step.step_time_s
        for old in read_ledger().predictions
        if old.job == job and old.session == manifest.session_id
        for step in old.steps
    }
    steps = tuple(
        step
        for step in itertools.islice(promised(recommendation.candidates, counts), MOST_STEPS)
        if known.get(step_key(step)) != step.step_time_s
    )
    if steps:
        add_entries([Prediction(made_wall_s=time.time(), session=manifest.session_id, job=job, steps=steps)])


def compare(manifest: Manifest, footprint: Footprint) -> Comparison | None:
    """Hold a run against the latest prediction that was made for its job and GPUs before it started, and keep that.

    Returns:
        None when nobody had predicted it, or the run does not tell enough (`why_not_compared`).
    """
    found = _latest(manifest, footprint)
    measured_s = _step_s(footprint)
    if found is None or found.match.step is None or measured_s is None:
        return None
    comparison = Comparison(
        run_wall_s=manifest.created_wall_s,
        session=manifest.session_id,
        job=found.prediction.job,
        predicted=found.match.step,
        predicted_wall_s=found.prediction.made_wall_s,
        measured_s=measured_s,
    )
    if comparison not in read_ledger().comparisons:
        add_entries([comparison])
    return comparison


def why_not_compared(manifest: Manifest, footprint: Footprint) -> str:
    """A sentence on why a run whose job and hardware had been predicted is not held against that; empty: it is, or
    nothing had been predicted."""
    found = _latest(manifest, footprint)
    if found is None or not found.match.reason:
        return ""
    run = found.run
    return (
        f"{found.prediction.job.name} on {run.gpus} × {run.gpu} in {run.precision} had been predicted, "
        f"but this run cannot be compared: {found.match.reason}."
    )


class _Found(NamedTuple):
    """A prediction of a run's job, for its hardware."""

    prediction: Prediction
    run: Configuration
    match: Match


def _latest(manifest: Manifest, footprint: Footprint) -> _Found | None:
    """The latest prediction before a run that speaks of its job and hardware; None: there is none."""
    job, run = identity_of(manifest.run, footprint), configuration_of(footprint)
    if job is None or run is None or _step_s(footprint) is None:
        return None
    for prediction in reversed(read_ledger().predictions):
        earlier = prediction.made_wall_s <= manifest.created_wall_s and prediction.session != manifest.session_id
        if prediction.job == job and earlier:
            found = match(prediction.steps, run, footprint)
            if found.step is not None or found.reason:
                return _Found(prediction, run, found)
    return None


def _step_s(footprint: Footprint) -> float | None:
    time_s = footprint.steps.time_s
    return time_s.mid if time_s.mid is not None else time_s.p50


def sentence_of(comparison: Comparison) -> str:
    """The comparison for a person: `train.py on 1 × rtx-4090 in float16: predicted ..., measured ...: inside.`"""
    step = comparison.predicted
    layout = "" if step.count == 1 else f" as data parallel{', sharded' if step.zero_stage else ''}"
    outside = "slower" if comparison.measured_s > step.step_time_s.high else "faster"
    return (
        f"{comparison.job.name} on {step.count} × {step.gpu} in {step.precision}: "
        f"predicted{layout} {format_duration_range(step.step_time_s)} a step, "
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
    accumulation = workload.batch.gradient_accumulation
    return JobIdentity(
        name=PurePath(words[0]).name,
        arguments=_hash_of(words[1:]),
        stage=stage or workload.stage,
        parameters=workload.parameters,
        batch_per_device=workload.batch.per_device,
        gradient_accumulation=accumulation if accumulation and accumulation > 1 else None,
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
