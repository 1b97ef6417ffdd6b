"""Typed-in language models and plans for the tests of serving."""

from __future__ import annotations

from typing import Any

from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.serve import serve
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from tests.unit.advisor.advisor_jobs import shipped

SEVEN_B = 6_738_000_000


def language_model(parameters: int = SEVEN_B, dtype: str = "fp16") -> Job:
    """A model known by its size alone."""
    return prepare(estimate(parameters, dtype, "inference"), Constraints(), shipped())


def plan(job: Job, gpu_id: str, count: int = 1, **wanted: Any) -> ServingPlan:
    """Serve a job on GPUs of the shipped catalogue."""
    gpu = shipped().gpu(gpu_id)
    assert gpu is not None
    request = {"prompt_tokens": 500.0, "output_tokens": 200.0, **wanted}
    return serve(job, job_memory(job), gpu, topology_at_counts(gpu, count), ServingTarget(**request))
