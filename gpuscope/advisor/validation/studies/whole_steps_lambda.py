"""A run without a profile: only its step time is known on one GPU, and predicted for another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gpuscope.advisor.calibration.model import EMPTY
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.suites import LAMBDA_SOURCE, SuiteTask, lambda_at_equal_batch
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints

NAME = "whole-steps-lambda"
DESCRIPTION = "From a step time on one GPU, without a profile, to the same task at the same batch size on another."
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every ordered pair of GPUs on which the suite ran a task at one batch size; specifications alone."""
    for task in lambda_at_equal_batch(tables):
        for source, target in itertools.permutations(task.runs, 2):
            yield _outcome(task, source, target, tables)


def _outcome(task: SuiteTask, source: str, target: str, tables: Tables) -> Outcome:
    source_gpu, target_gpu = tables.catalogue.gpu(source), tables.catalogue.gpu(target)
    assert source_gpu is not None
    assert target_gpu is not None
    here, there = task.runs[source], task.runs[target]
    run = run_on_gpu(source_gpu, here.batch / here.per_second, here.precision, model=task.name, batch=here.batch)
    predicted = step_on_gpu(prepare(run, Constraints(), tables.catalogue, EMPTY), target_gpu)
    return Outcome(
        study=NAME,
        family=task.family,
        gpu=target,
        precision=there.precision,
        label=f"{task.name}, batch {here.batch:g}, from {source_gpu.name} to {target_gpu.name}",
        predicted=predicted.seconds,
        measured=there.batch / there.per_second,
        held_out="everything: specifications alone",
        source=LAMBDA_SOURCE,
        refusal="" if predicted.seconds is not None else predicted.how,
    )
