"""A run without a profile: only its step time is known on one GPU, and predicted for another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gpuscope.advisor.calibration.model import EMPTY
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.suites import LAMBDA_SOURCE, SuiteJob, lambda_jobs
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints

NAME = "whole-steps-lambda"
DESCRIPTION = "From a step time on one GPU, without a profile, to the same task at the same batch size on another."
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every ordered pair of GPUs on which the suite ran a task at one batch size; specifications alone."""
    for job in lambda_jobs(tables):
        for source, target in itertools.permutations(sorted(job.per_second), 2):
            yield _outcome(job, source, target, tables)


def _outcome(suite: SuiteJob, source: str, target: str, tables: Tables) -> Outcome:
    # A unit of work that takes a second on the source: whatever the task counts, its rate sets the time.
    source_gpu, target_gpu = tables.catalogue.gpu(source), tables.catalogue.gpu(target)
    assert source_gpu is not None
    assert target_gpu is not None
    run = run_on_gpu(source_gpu, 1.0, suite.precision, batch=suite.batch)
    predicted = step_on_gpu(prepare(run, Constraints(), tables.catalogue, EMPTY), target_gpu)
    return Outcome(
        study=NAME,
        family=suite.family,
        gpu=target,
        precision=suite.precision,
        label=f"{suite.task}, batch {suite.batch:g}, from {source_gpu.name} to {target_gpu.name}",
        predicted=predicted.seconds,
        measured=suite.per_second[source] / suite.per_second[target],
        unit="× the source's time",
        held_out="everything: specifications alone",
        source=LAMBDA_SOURCE,
        refusal="" if predicted.seconds is not None else predicted.how,
    )
