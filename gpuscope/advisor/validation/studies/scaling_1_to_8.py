"""Training on two to eight GPUs of one machine, from the step on one of them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.search import plan
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.scaling_rows import ScaledRun, scaled_runs
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints

NAME = "scaling-1-to-8"
DESCRIPTION = (
    "From a training step on one GPU to two, four and eight in one machine, the batch of each GPU kept, on two suites; "
    "no row of theirs was fitted."
)
CASE = "one-to-eight"
GOAL = None
TRIED = (
    "The median is within the goal. The tail is training that one host feeds (MaskRCNN: a few large images in a "
    "batch) or that is mostly tables (NCF), of which a step on one GPU does not tell how it scales."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every task that ran on one GPU and on several with the same batch for each."""
    for run in scaled_runs(tables):
        yield _outcome(run, tables)


def _outcome(run: ScaledRun, tables: Tables) -> Outcome:
    gpu = tables.catalogue.gpu(run.gpu)
    assert gpu is not None
    footprint = run_on_gpu(gpu, run.single_step_s, run.precision, model=run.task, batch=run.batch)
    parameters = round(run.parameters)
    workload = msgspec.structs.replace(footprint.workload, parameters=parameters, trainable_parameters=parameters)
    job = prepare(
        msgspec.structs.replace(footprint, workload=workload), Constraints(), tables.catalogue, tables.calibration
    )
    found = plan(job, job_memory(job), gpu, topology_at_counts(gpu, run.gpus, ""), step_on_gpu(job, gpu))
    return Outcome(
        study=NAME,
        family=run.family,
        gpu=run.gpu,
        precision=run.precision,
        label=f"{run.task}, batch {run.batch:g} each, {run.gpus} GPUs",
        predicted=found.scaled.seconds,
        measured=run.step_s,
        held_out="everything: constants of links and layouts come from other rows",
        source=run.source,
        refusal="" if found.scaled.seconds is not None else found.scaled.how,
    )
