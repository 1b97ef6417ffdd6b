"""The layout that a training job gets: known answers and properties."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.memory.memory_model import fits, job_memory
from gpuscope.advisor.parallel.memory import Run, needs_of
from gpuscope.advisor.parallel.search import Plan, plan
from gpuscope.advisor.parallel.subject import subject_of
from gpuscope.advisor.parallel.table import table_of
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import llm_foundry, megatron_multi_node
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Batch, Footprint, Framework
from gpuscope.domain.recommendation import Constraints, Layout
from tests.unit.advisor.advisor_jobs import cpu_footprint, gpu_footprint, shipped, with_data_wait
from tests.unit.advisor.parallel.test_topology import known

CALIBRATION = load_calibration(paths.resources_dir() / "calibration")
B = 10**9
INFINIBAND = "InfiniBand NDR 400 Gb/s per GPU"


def job_of(footprint: Footprint, **limits: Any) -> Job:
    return prepare(footprint, Constraints(**limits), shipped(), CALIBRATION)


def planned(
    job: Job, gpu_id: str, count: int, link: str = "", network: str = INFINIBAND, *, keep_global_batch: bool = False
) -> Plan:
    gpu = known(gpu_id)
    topology = topology_at_counts(gpu, count, link, gpus_per_node=8, network=network)
    return plan(job, job_memory(job), gpu, topology, step_on_gpu(job, gpu), keep_global_batch=keep_global_batch)


def seconds(found: Plan) -> float:
    assert found.scaled.seconds is not None
    return found.scaled.seconds.mid


# Known answers


@pytest.mark.parametrize("gpu_id", ["a100-sxm4-80gb", "h100-sxm5-80gb", "h200-sxm5-141gb"])
@pytest.mark.parametrize("batch", [None, 1, 4])
@pytest.mark.parametrize("count", [64, 256, 512])
def test_175b_parameters_have_tensor_parallelism_in_a_machine_and_a_pipeline_across(
    gpu_id: str, batch: int | None, count: int
) -> None:
    job = job_of(estimate(175 * B, "bf16", "training", batch=batch))
    found = planned(job, gpu_id, count)
    assert found.fits is True
    assert 1 < found.layout.tensor_parallel <= 8
    assert found.layout.pipeline_parallel > 1


def test_175b_parameters_fit_no_single_gpu() -> None:
    job = job_of(estimate(175 * B, "bf16", "training", batch=1))
    for gpu in shipped().gpus:
        assert planned(job, gpu.id, 1).fits is False


def test_small_models_are_replicated() -> None:
    job = job_of(cpu_footprint())
    assert planned(job, "l4", 4).layout == Layout(data_parallel=4, micro_batch=32)


def test_sharding_is_used_where_a_copy_does_not_fit() -> None:
    job = job_of(estimate(7 * B, "fp32", "training"))
    assert planned(job, "a100-sxm4-80gb", 1).fits is False
    eight = planned(job, "a100-sxm4-80gb", 8)
    assert eight.fits is True
    assert eight.layout.zero_stage > 0 or eight.layout.tensor_parallel > 1


def test_activations_of_an_estimate_are_as_wide_as_its_precision() -> None:
    activations = {}
    for dtype in ("fp32", "bf16"):
        found = planned(job_of(estimate(B, dtype, "training", batch=1)), "b300-sxm-288gb", 1)
        parts = {name: need for name, need, _ in found.need.parts}
        assert not found.layout.activation_checkpointing
        activations[dtype] = parts["activations and temporaries"].mid
    assert 1.5 * activations["bf16"] < activations["fp32"] <= 2 * activations["bf16"]


def test_a_batch_that_does_not_fit_is_accumulated_over_smaller_ones() -> None:
    footprint = gpu_footprint()
    memory = msgspec.structs.replace(footprint.memory, peak_allocated_bytes=Range.exact(40e9))
    found = planned(job_of(msgspec.structs.replace(footprint, memory=memory)), "rtx-3090", 1)
    assert found.layout.micro_batch is not None
    assert (found.fits, found.layout.micro_batch * found.layout.gradient_accumulation) == (True, 32)
    assert found.layout.gradient_accumulation > 1


def test_fast_links_help_what_communicates_and_not_what_does_not() -> None:
    large = msgspec.structs.replace(
        cpu_footprint().memory.breakdown, gradients_bytes=10 * B, parameters_bytes=10 * B
    )  # fmt: skip
    footprint = cpu_footprint()
    talkative = msgspec.structs.replace(footprint, memory=msgspec.structs.replace(footprint.memory, breakdown=large))
    steps = {
        (name, link): seconds(planned(job_of(document), "h100-sxm5-80gb", 8, link))
        for name, document in (("quiet", footprint), ("talkative", talkative))
        for link in ("NVSwitch 900 GB/s per GPU", "PCIe")
    }
    assert steps["talkative", "PCIe"] > 3 * steps["talkative", "NVSwitch 900 GB/s per GPU"]
    assert steps["quiet", "PCIe"] < 1.5 * steps["quiet", "NVSwitch 900 GB/s per GPU"]


def test_the_tensor_split_follows_the_links() -> None:
    """Without NVLink a layer's sums take longer than it gains: the layers stay whole where memory allows it."""
    job = job_of(estimate(7 * B, "bf16", "training", batch=4))
    assert planned(job, "a100-sxm4-80gb", 8, "PCIe").layout.tensor_parallel == 1


def test_small_layers_stay_whole() -> None:
    for count in (8, 64):
        found = planned(job_of(estimate(1_000_000, "fp32", "training", batch=16)), "a100-sxm4-80gb", count)
        assert found.layout.tensor_parallel == 1


def test_long_sequences_may_be_split() -> None:
    footprint = estimate(8 * B, "bf16", "training", batch=1, sequence_length=131072)
    found = planned(job_of(footprint), "h100-sxm5-80gb", 64)
    assert found.fits is not False
    assert found.layout.context_parallel * found.layout.tensor_parallel > 1


def test_experts_are_spread() -> None:
    architecture = Architecture(
        layers=32, hidden_size=4096, attention_heads=32, key_value_heads=8, feed_forward_size=14336,
        gated_feed_forward=True, vocabulary_size=32000, experts=8, experts_per_token=2,
    )  # fmt: skip
    footprint = estimate(47 * B, "bf16", "training", batch=4)
    workload = msgspec.structs.replace(footprint.workload, architecture=architecture)
    found = planned(job_of(msgspec.structs.replace(footprint, workload=workload)), "h100-sxm5-80gb", 64)
    dense = planned(job_of(footprint), "h100-sxm5-80gb", 64)
    assert found.fits is True
    # Two of eight experts work on a token: far less than in a dense model of as many parameters.
    assert seconds(found) < 0.6 * seconds(dense)


def test_adapters_have_few_gradients_to_send() -> None:
    footprint = estimate(7 * B, "bf16", "training", batch=1)
    workload = msgspec.structs.replace(footprint.workload, trainable_parameters=10_000_000)
    whole, adapters = (
        planned(job_of(each), "h200-sxm5-141gb", 8, "PCIe")
        for each in (footprint, msgspec.structs.replace(footprint, workload=workload))
    )
    assert adapters.scaled.communication_s < whole.scaled.communication_s / 3


def test_libraries_tuned_for_the_gpu_are_known_by_the_frameworks_name() -> None:
    footprint = estimate(70 * B, "bf16", "training", batch=2)
    workload = msgspec.structs.replace(footprint.workload, framework=Framework(name="Megatron-LM"))
    usual = planned(job_of(footprint), "h100-sxm5-80gb", 64)
    tuned = planned(job_of(msgspec.structs.replace(footprint, workload=workload)), "h100-sxm5-80gb", 64)
    assert usual.scaled.seconds is not None
    # Where nobody says so, the range allows for them.
    assert usual.scaled.seconds.low < seconds(tuned) < seconds(usual)


def test_published_runs_are_not_refused_for_memory() -> None:
    tables = Tables(paths.resources_dir() / "calibration", shipped())
    for cells, row in [*list(llm_foundry(tables))[::5], *megatron_multi_node(tables)]:
        dtype = "fp32" if cells.get("gradient_bytes") == "4" else "bf16"
        memory = job_memory(job_of(estimate(int(row.shape.parameters), dtype, "training", batch=1)))
        ran = Run(None, checkpointing=False)
        needs = needs_of(memory, table_of([row.layout]), row.shape, None, training=True, ran=ran)
        assert fits(needs.of(0, row.gpu), row.gpu.memory_bytes) is not False, cells


# How it scales


def test_one_gpu_takes_as_long_as_predicted_for_it() -> None:
    job = job_of(gpu_footprint("a100-sxm4-80gb"))
    single = step_on_gpu(job, known("h100-sxm5-80gb"))
    found = planned(job, "h100-sxm5-80gb", 1)
    assert single.seconds is not None
    assert found.scaled.seconds is not None
    assert found.scaled.seconds.mid == pytest.approx(single.seconds.mid)
    assert found.scaled.seconds.high == pytest.approx(single.seconds.high)


def test_more_gpus_cost_messages_and_width() -> None:
    job = job_of(cpu_footprint())
    one, eight = planned(job, "l4", 1), planned(job, "l4", 8)
    assert one.scaled.seconds is not None
    assert eight.scaled.seconds is not None
    assert eight.scaled.batches == 8
    assert seconds(eight) >= seconds(one)
    assert eight.scaled.seconds.high / eight.scaled.seconds.low > one.scaled.seconds.high / one.scaled.seconds.low


def test_ranges_grow_with_thousands_of_gpus() -> None:
    job = job_of(estimate(70 * B, "bf16", "training", batch=2))
    widths = []
    for count in (64, 1024, 8192):
        found = planned(job, "h100-sxm5-80gb", count).scaled.seconds
        assert found is not None
        widths.append(math.log(found.high / found.low))
    assert widths[0] < widths[1] < widths[2]


def test_a_shared_batch_is_another_question_than_a_kept_one() -> None:
    job = job_of(gpu_footprint("a100-sxm4-80gb", step_s=0.8))
    weak = planned(job, "a100-sxm4-80gb", 8)
    strong = planned(job, "a100-sxm4-80gb", 8, keep_global_batch=True)
    assert (weak.scaled.batches, strong.scaled.batches) == (8, 1)
    assert strong.layout.micro_batch == 4
    assert seconds(strong) < seconds(weak) / 4


def test_a_batch_that_cannot_be_shared_is_refused_in_words() -> None:
    job = job_of(gpu_footprint("a100-sxm4-80gb"))
    found = planned(job, "a100-sxm4-80gb", 64, keep_global_batch=True)
    assert (found.fits, found.scaled.seconds) == (False, None)
    assert "32 samples cannot be shared by 64 GPUs" in found.scaled.how


def test_an_uneven_share_waits_for_the_largest() -> None:
    job = job_of(gpu_footprint("a100-sxm4-80gb", step_s=0.8))
    three = planned(job, "a100-sxm4-80gb", 3, keep_global_batch=True)
    four = planned(job, "a100-sxm4-80gb", 4, keep_global_batch=True)
    assert three.layout.micro_batch == 11
    assert seconds(four) < seconds(three) < seconds(planned(job, "a100-sxm4-80gb", 2, keep_global_batch=True))


@settings(deadline=None, max_examples=25)
@given(count=st.sampled_from([2, 4, 8, 16, 64, 256, 1024]), step=st.floats(0.01, 5.0))
def test_what_does_not_communicate_scales_linearly(count: int, step: float) -> None:
    footprint = gpu_footprint("a100-sxm4-80gb", step_s=step)
    nothing = msgspec.structs.replace(footprint.memory.breakdown, gradients_bytes=0)
    memory = msgspec.structs.replace(footprint.memory, breakdown=nothing)
    workload = msgspec.structs.replace(footprint.workload, parameters=None, trainable_parameters=None)
    job = job_of(msgspec.structs.replace(footprint, memory=memory, workload=workload))
    one, many = planned(job, "a100-sxm4-80gb", 1), planned(job, "a100-sxm4-80gb", count)
    rates = CALIBRATION.parallel
    waiting = rates.host_per_doubling * 3 + rates.straggler_per_doubling * math.log2(max(1.0, count / 8))
    assert seconds(one) <= seconds(many) <= seconds(one) * (1 + waiting) + 1e-3


@settings(deadline=None, max_examples=25)
@given(
    billions=st.sampled_from([1, 7, 13, 70, 175]),
    count=st.sampled_from([8, 16, 64, 256]),
    more=st.sampled_from([2, 4, 8]),
    stage=st.sampled_from([1, 2, 3]),
)
def test_more_gpus_never_need_more_memory_on_each_in_the_same_kind_of_layout(
    billions: int, count: int, more: int, stage: int
) -> None:
    job = job_of(estimate(billions * B, "bf16", "training", batch=1))
    subject = subject_of(job, job_memory(job), timed=True)
    table = table_of([Layout(data_parallel=n, zero_stage=stage, micro_batch=1) for n in (count, count * more)])
    needs = needs_of(subject.memory, table, subject.shape, 1.0, training=True, ran=Run(1.0, checkpointing=False))
    for end in (needs.low, needs.mid, needs.high, needs.least):
        assert end[1] <= end[0]


@settings(deadline=None, max_examples=25)
@given(count=st.sampled_from([1, 2, 8, 32]), wait=st.floats(0, 0.05), batch=st.sampled_from([1.0, 6.0, 32.0, 48.0]))
def test_plans_are_whole(count: int, wait: float, batch: float) -> None:
    footprint = with_data_wait(gpu_footprint("a100-sxm4-80gb"), wait)
    workload = msgspec.structs.replace(footprint.workload, batch=Batch(per_device=batch, global_=batch, unit="samples"))
    found = planned(job_of(msgspec.structs.replace(footprint, workload=workload)), "h100-sxm5-80gb", count)
    layout = found.layout
    degrees = layout.data_parallel * layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel
    assert degrees == count
    assert layout.micro_batch is not None
    assert layout.micro_batch * layout.gradient_accumulation == batch
    range_ = found.scaled.seconds
    assert range_ is not None
    assert 0 < range_.low <= range_.mid <= range_.high


def test_an_unstated_network_widens_what_waits_for_it() -> None:
    job = job_of(estimate(7 * B, "bf16", "training", batch=1))
    widths = []
    for network in ("Ethernet 25 Gb/s", ""):
        found = planned(job, "a100-sxm4-80gb", 64, network=network).scaled.seconds
        assert found is not None
        widths.append(found.high / found.low)
    assert widths[1] > widths[0]


# Explanation


def test_a_step_unfolds_into_its_parts_and_the_others_have_reasons() -> None:
    found = planned(job_of(estimate(175 * B, "bf16", "training", batch=1)), "a100-sxm4-80gb", 256)
    names = {part.name for part in found.scaled.parts}
    assert {"Computing", "Pipeline bubble", "Sums of tensor parallelism", "Sum of gradients", "Layout"} <= names
    reasons = " ".join(found.passed_over)
    assert "Replicas: needs" in reasons
    assert "GB/s" in found.scaled.communication_how


def test_an_estimate_without_a_batch_is_laid_out_but_not_timed() -> None:
    found = planned(job_of(estimate(7 * B, "bf16", "training")), "a100-sxm4-80gb", 8)
    assert found.layout.micro_batch is None
    assert found.scaled.seconds is None
    assert "without a batch size" in found.scaled.how
