"""How much there is to do: samples of a step, however its batch is written."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.work import Work, work_of
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Batch
from gpuscope.domain.recommendation import Constraints
from tests.unit.advisor.advisor_jobs import gpu_footprint, shipped

STEP = Range(low=1.0, mid=1.0, high=1.0)


def work(batch: Batch, samples: float, count: int = 1) -> Work:
    footprint = gpu_footprint("l4", 1.0, count=count)
    workload = msgspec.structs.replace(footprint.workload, batch=batch)
    constraints = Constraints(total_samples=samples)
    return work_of(prepare(msgspec.structs.replace(footprint, workload=workload), constraints, shipped()), constraints)


@pytest.mark.parametrize(
    "batch",
    [
        Batch(per_device=32.0, unit="samples"),
        Batch(per_device=32.0, global_=32.0, unit="samples"),
        Batch(per_device=8.0, global_=32.0, gradient_accumulation=4, unit="samples"),
        Batch(per_device=8.0, gradient_accumulation=4, unit="samples"),
        Batch(global_=32.0, gradient_accumulation=4, unit="samples"),
    ],
)
def test_a_step_works_through_all_its_passes(batch: Batch) -> None:
    found = work(batch, 3200)
    whole = found.seconds(STEP, 1.0)
    assert whole is not None
    assert whole.mid == 100.0
    assert found.throughput(STEP, 1.0).mid == 32.0


def test_replicas_share_the_global_batch() -> None:
    batch = Batch(per_device=8.0, global_=64.0, gradient_accumulation=4, unit="samples")
    found = work(batch, 6400, count=2)
    assert (found.batches_per_step, found.per_batch, found.batches) == (2.0, 32.0, 200.0)
