"""Questions that a buyer asked, and that were answered badly once."""

from __future__ import annotations

import pytest

from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.recommendation import Verdict
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import GIB, advise, best, cpu_footprint, gpu_footprint, with_host_memory


def test_a_network_without_tokens_is_not_served_by_the_token() -> None:
    with pytest.raises(UsageError, match="writes none: ask for a latency"):
        advise(cpu_footprint(), serving=ServingTarget(time_to_first_token_s=0.5))


def test_the_memory_of_machines_without_gpu_is_not_offered_for_that_of_gpus() -> None:
    found = advise(cpu_footprint(), minimum_memory_bytes=1000 * GIB)
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "of memory instead of 1,000 GiB" in found.sentence


def test_why_a_gpu_by_name_is_out_is_said_before_what_else_would_do() -> None:
    found = advise(cpu_footprint(), gpus=("titan-v",))
    assert found.sentence.startswith("1× TITAN V: the catalogue has no offer")
    assert "Allow the GPU" in found.sentence


def test_too_little_memory_of_a_gpu_by_name_is_said_and_how_many_would_do() -> None:
    found = advise(estimate(7 * 10**9, "bf16", "training", "adamw"), gpus=("l4",), counts=(1,))
    assert found.sentence.startswith("1× L4: training needs at least")
    assert "GPUs" in found.sentence.split("Allow")[1]


@pytest.mark.parametrize(("keeps_batch", "said"), [(False, True), (True, False)])
def test_thousands_of_batches_in_a_step_are_no_sure_gain(keeps_batch: bool, said: bool) -> None:
    found = advise(cpu_footprint(), gpus=("h100-sxm5-80gb",), counts=(64,), keep_global_batch=keeps_batch)
    assert any("whether it learns as much" in note for note in found.assumptions) is said


def test_small_batches_are_not_warned_of() -> None:
    found = advise(cpu_footprint(), gpus=("h100-sxm5-80gb",), counts=(8,))
    assert not any("whether it learns as much" in note for note in found.assumptions)


@pytest.mark.parametrize("resident", [None, 6 * GIB])
def test_a_traced_job_fits_a_machine_without_gpu_by_its_parts(resident: int | None) -> None:
    found = advise(with_host_memory(cpu_footprint(), resident), acquisition="rent")
    on_cpus = [each for each in found.candidates if each.count == 0 and each.acquisition == "rent"]
    assert on_cpus
    assert all(each.fits for each in on_cpus)
    assert all("for each GPU" not in each.reason for each in on_cpus)
    assert best(found).cost_usd_per_hour is not None


def test_where_the_speed_is_not_known_what_would_tell_it_is_said() -> None:
    found = advise(gpu_footprint("mystery"), minimum_throughput=5.0, acquisition="rent")
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "its speed is not known" in found.sentence
    assert found.sentence.endswith("Run the job once under gpuscope as it is wanted, so that its operators are known.")
