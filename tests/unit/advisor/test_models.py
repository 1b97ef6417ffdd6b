"""The models on their own: step time, several GPUs, memory, energy, estimates; known answers and directions."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.cost.energy import power_watts
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.estimate_words import estimate_sentence
from gpuscope.advisor.job.precision import supports
from gpuscope.advisor.memory.context_memory import context_bytes
from gpuscope.advisor.memory.memory_model import fits, job_memory
from gpuscope.advisor.parallel.memory import memory_need
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout
from gpuscope.domain.units import MIB
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import GIB, cpu_footprint, gpu, gpu_footprint, job_of, known, seconds

B = 10**9


# Step time


def test_precision_needs_hardware() -> None:
    assert supports(known("t4"), "bfloat16") is False
    assert supports(known("a100-sxm4-80gb"), "bfloat16") is True
    assert supports(known("gtx-1080-ti"), "float16") is False
    assert supports(known("p100-pcie-16gb"), "float16") is True
    assert supports(known("mi355x"), "tf32") is None


# Tokens a second and GPU that mosaicml/llm-foundry published for H100s (BF16, sequences of 2048, one step of FSDP).
@pytest.mark.parametrize(("parameters", "batch", "published"), [(6_658_859_008, 6, 10475), (1_315_950_592, 12, 44123)])
def test_published_language_model_training_lies_in_the_range(parameters: int, batch: int, published: int) -> None:
    job = job_of(estimate(parameters, "bf16", "training", batch=batch, sequence_length=2048))
    step = seconds(job, known("h100-sxm5-80gb"))
    assert step.low < batch * 2048 / published < step.high


# Memory


@pytest.mark.parametrize(
    ("gpu_id", "published_mib"), [("rtx-3090", 256), ("rtx-4060-ti-16gb", 107), ("rtx-6000-ada", 426)]
)
def test_context_is_near_what_was_published(gpu_id: str, published_mib: int) -> None:
    value, _ = context_bytes(known(gpu_id))
    assert value.low <= (published_mib + 25) * MIB <= value.high


def test_context_of_other_vendors_has_the_published_range() -> None:
    value, how = context_bytes(known("mi300x"))
    assert (value.low, value.high) == (0.1 * GIB, 1.9 * GIB)
    assert "published" in how


def test_counted_parts_are_exact_and_activations_a_range() -> None:
    memory = job_memory(job_of(cpu_footprint()))
    assert (memory.parameters, memory.gradients.mid, memory.optimizer_state.mid) == (1e8, 1e8, 2e8)
    assert memory.optimizer_state.low == memory.optimizer_state.high
    assert memory.activations is not None
    # The forward operators write 2 GB.
    assert memory.activations.low == pytest.approx(0.35 * 2e9)
    assert memory.activations.high == pytest.approx(2e9)


def test_training_of_what_was_only_inferred_holds_gradients_and_optimizer_state() -> None:
    job = job_of(estimate(7 * B, "fp16", "inference", batch=1), stage="training")
    need = memory_need(job_memory(job), known("h200-sxm5-141gb"), Layout())
    trained = memory_need(
        job_memory(job_of(estimate(7 * B, "fp16", "training", batch=1))), known("h200-sxm5-141gb"), Layout()
    )
    assert need.needed_bytes is not None
    assert trained.needed_bytes is not None
    assert need.surely_bytes >= 2 * 14e9, "weights and gradients"
    assert need.needed_bytes.high >= trained.needed_bytes.mid
    assert any("All parameters are taken to be trained" in sentence for sentence in job.assumptions)


def test_cuda_peak_is_taken_as_measured() -> None:
    job = job_of(gpu_footprint())
    need = memory_need(job_memory(job), known("rtx-3090"), Layout())
    assert need.needed_bytes is not None
    assert 6e9 < need.needed_bytes.low < need.needed_bytes.high < 8.5e9


def test_resident_memory_bounds_a_cpu_run_without_operators() -> None:
    memory = job_memory(job_of(cpu_footprint(ops=())))
    assert memory.activations is not None
    assert memory.activations.low == 0
    assert memory.activations.high < 1.3 * 6 * GIB


def test_nothing_recorded_is_unknown_and_too_much_is_known() -> None:
    bare = msgspec.structs.replace(cpu_footprint().memory, host_rss_bytes=None)
    need = memory_need(job_memory(job_of(cpu_footprint(ops=(), memory=bare))), known("l4"), Layout())
    assert need.needed_bytes is None
    assert fits(need, 24 * GIB) is None
    assert fits(need, 100 * MIB) is False


def test_sixteen_bits_need_no_more_activations() -> None:
    full, half = (job_memory(job_of(cpu_footprint(), precision=name)).activations for name in ("fp32", "bf16"))
    assert full is not None
    assert half is not None
    assert (half.low, half.high) == (full.low / 2, full.high)


# Energy


def test_power_is_measured_where_it_ran_and_a_share_of_the_board_elsewhere() -> None:
    footprint = gpu_footprint()
    footprint = msgspec.structs.replace(footprint, energy=msgspec.structs.replace(footprint.energy, mean_power_w=300.0))
    job = job_of(footprint)
    measured, _ = power_watts(job, known("rtx-3090"), 2)
    assert measured == Range.exact(600)
    assumed, _ = power_watts(job, known("l4"), 1)
    assert assumed is not None
    assert assumed.high == 72
    assert power_watts(job, gpu(tdp_w=None), 1)[0] is None


# Estimates


@pytest.mark.parametrize(
    ("dtype", "weights"), [("fp32", 28 * B), ("float32", 28 * B), ("fp16", 14 * B), ("int4", 7 * B // 2)]
)
def test_weights_of_a_7b_model(dtype: str, weights: int) -> None:
    footprint = estimate(7 * B, dtype, "inference")
    assert footprint.memory.breakdown.parameters_bytes == weights
    assert footprint.memory.peak_allocated_bytes is not None
    assert footprint.memory.peak_allocated_bytes.mid == weights
    assert footprint.source.kind == "estimated"


def test_training_a_7b_model_with_adamw_takes_140_gb() -> None:
    footprint = estimate(7 * B, "fp32", "training", "adamw")
    peak, parts = footprint.memory.peak_allocated_bytes, footprint.memory.breakdown
    assert peak is not None
    assert peak.mid == 140 * B
    assert peak.low < 140 * B < peak.high
    assert (parts.gradients_bytes, parts.optimizer_state_bytes, parts.temporaries_bytes) == (28 * B, 56 * B, 28 * B)
    assert "28 GB" in estimate_sentence(footprint)
    assert "about 140 GB" in estimate_sentence(footprint)


def test_estimates_carry_their_formulas() -> None:
    provenance = estimate(7 * B, "fp32", "training").provenance
    assert provenance["/memory/breakdown/parameters_bytes"].how == "parameters × 4 bytes"
    assert set(provenance) >= {"/memory/peak_allocated_bytes", "/memory/breakdown/optimizer_state_bytes"}


def test_batch_adds_activations_and_work() -> None:
    plain = estimate(7 * B, "bf16", "training")
    full = estimate(7 * B, "bf16", "training", batch=8, sequence_length=2048)
    assert plain.ops == ()
    assert sum(op.flops or 0 for op in full.ops) == 6 * 7 * B * 8 * 2048
    assert full.memory.peak_allocated_bytes is not None
    assert plain.memory.peak_allocated_bytes is not None
    assert full.memory.peak_allocated_bytes.mid > plain.memory.peak_allocated_bytes.mid


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((7 * B, "fp5", "inference"), "use one of fp32, fp16, bf16"),
        ((7 * B, "fp32", "training", "adamax9"), "use one of adamw, adam"),
        ((7 * B, "fp32", "inference", "adamax9"), "use one of adamw, adam"),
        ((7 * B, "int8", "training"), "cannot be trained"),
        ((10**18, "fp32", "inference"), "more than any machine"),
        ((7 * B, "fp32", "serving"), "use training or inference"),
        ((0, "fp32", "inference"), "1 or more"),
    ],
)
def test_estimates_refuse_what_is_not_known(arguments: tuple[int, str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        estimate(*arguments)


def test_big_models_are_told_in_whole_numbers() -> None:
    sentence = estimate_sentence(estimate(70 * 10**9, "fp32", "training"))
    assert "about 1,400 GB" in sentence
    assert "e+" not in sentence
