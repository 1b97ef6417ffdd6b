"""Language models on GPUs: known answers, and the reasons when a target is missed."""

from __future__ import annotations

import pytest

from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.serving.serve import serve
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import shipped
from tests.unit.advisor.serving.serving_jobs import SEVEN_B, language_model, plan


@pytest.mark.parametrize(("dtype", "gigabytes"), [("fp32", 27.0), ("fp16", 13.5)])
def test_the_weights_are_parameters_times_bytes(dtype: str, gigabytes: float) -> None:
    served = plan(language_model(dtype=dtype), "a100-sxm4-80gb").serving
    assert served is not None
    assert served.weights_bytes is not None
    assert served.weights_bytes / 1e9 == pytest.approx(gigabytes, rel=0.01)


def test_four_bits_hold_scales_and_tables_besides() -> None:
    served = plan(language_model(), "rtx-4090", weight_dtypes=("int4",)).serving
    assert served is not None
    assert served.weights_bytes is not None
    # 6.48e9 weights × 4.156 bits, and two tables of 32000 × 4096 in 16 bits.
    assert served.weights_bytes / 1e9 == pytest.approx(3.37 + 0.52, rel=0.01)


def test_a_model_that_fits_no_single_gpu_is_split_within_the_machine() -> None:
    job = language_model(174_600_000_000)
    alone = plan(job, "h100-sxm5-80gb")
    assert alone.fits is False
    assert alone.serving is None
    assert "GiB" in alone.missed[0]
    split = plan(job, "h100-sxm5-80gb", 8)
    assert split.layout.tensor_parallel == 8
    assert split.fits


def test_a_model_that_fits_no_machine_is_cut_over_two_of_them() -> None:
    gpu, job = shipped().gpu("h100-sxm5-80gb"), language_model(405_900_000_000, "bf16")
    assert gpu is not None
    target = ServingTarget(prompt_tokens=500.0, output_tokens=200.0)
    machines = topology_at_counts(gpu, 16, gpus_per_node=8, network="InfiniBand")
    assert serve(job, job_memory(job), gpu, topology_at_counts(gpu, 8), target).fits is False
    found = serve(job, job_memory(job), gpu, machines, target)
    assert found.fits
    assert (found.layout.tensor_parallel, found.layout.pipeline_parallel, found.layout.data_parallel) == (8, 2, 1)
    assert found.gpus_needed == 16


def test_a_missed_latency_says_by_how_much() -> None:
    found = plan(language_model(), "l4", inter_token_latency_s=0.01)
    assert not found.meets
    assert "even alone a token takes" in found.missed[0]
    assert "times the 10 ms wanted" in found.missed[0]


def test_a_load_beyond_the_gpus_says_how_many_copies_it_needs() -> None:
    found = plan(language_model(), "l4", 2, inter_token_latency_s=0.08, requests_per_second=20)
    assert found.serving is not None
    assert found.serving.replicas > 2
    assert found.gpus_needed == found.serving.replicas * found.layout.tensor_parallel
    assert any("and there is room for" in clause for clause in found.missed)


def test_a_slice_is_enough_for_a_small_load() -> None:
    found = plan(language_model(1_100_000_000), "a100-sxm4-80gb", requests_per_second=0.5, inter_token_latency_s=0.05)
    assert found.serving is not None
    assert found.serving.gpu_share == pytest.approx(1 / 7)
    assert found.gpus_needed == pytest.approx(1 / 7)


def test_a_card_without_the_precision_says_so() -> None:
    found = plan(language_model(dtype="bf16"), "t4")
    assert found.serving is None
    assert "does not compute in bfloat16" in found.missed[0]
    packed = plan(language_model(dtype="bf16"), "t4", weight_dtypes=("int4",)).serving
    assert packed is not None
    assert packed.weight_dtype == "int4"


def test_targets_and_formats_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="above zero"):
        plan(language_model(), "l4", latency_s=0.0)
    with pytest.raises(UsageError, match="Weight format 'int3'"):
        plan(language_model(), "l4", weight_dtypes=("int3",))


def test_every_figure_unfolds() -> None:
    tree = plan(language_model(), "l4", requests_per_second=0.2, hourly_load=tuple([1.0] * 24)).explanation
    names = {part.name for part in tree.inputs}
    assert {"Batch", "Time to first token", "Inter-token latency", "Throughput", "Weights", "Copies"} <= names


def test_the_busiest_hour_is_quicker_than_a_full_batch() -> None:
    """Copies have slots to spare, so that a request of the busiest hour meets fewer others than in a full batch."""
    job = language_model()
    full = plan(job, "l4", inter_token_latency_s=0.1).serving
    busy = plan(job, "l4", inter_token_latency_s=0.1, requests_per_second=0.3).serving
    assert full is not None
    assert busy is not None
    assert full.inter_token_latency_s is not None
    assert busy.inter_token_latency_s is not None
    assert busy.inter_token_latency_s.mid < full.inter_token_latency_s.mid
    assert busy.concurrent_per_replica == full.concurrent_per_replica


def test_a_target_near_the_end_of_a_range_is_a_risk() -> None:
    found = plan(language_model(), "l4", inter_token_latency_s=0.06)
    assert found.meets
    assert any("a token may take up to" in clause and "60 ms are wanted" in clause for clause in found.risks)
    assert plan(language_model(), "l4", inter_token_latency_s=10.0).risks == ()


def test_four_bits_of_llama_cpp_are_those_of_its_files() -> None:
    footprint = estimate(SEVEN_B, "fp16", "inference", engine="llama.cpp")
    served = plan(prepare(footprint, Constraints(), shipped()), "rtx-4090", weight_dtypes=("int4",)).serving
    assert served is not None
    assert served.weights_bytes is not None
    # The published file of LLaMA 7B in Q4_K_M has 4.08 GB: its tables are quantised, too.
    assert served.weights_bytes / 1e9 == pytest.approx(4.08, rel=0.03)


def test_four_bit_floats_are_multiplied_as_they_are_where_the_gpu_can() -> None:
    def full(gpu_id: str, weights: str) -> float:
        served = plan(language_model(70_000_000_000), gpu_id, weight_dtypes=(weights,)).serving
        assert served is not None
        assert served.tokens_per_second is not None
        return served.tokens_per_second.mid

    assert full("b200-sxm-180gb", "float4") > 1.3 * full("b200-sxm-180gb", "int4")
    assert full("h100-sxm5-80gb", "float4") == pytest.approx(full("h100-sxm5-80gb", "int4"), rel=0.1)
