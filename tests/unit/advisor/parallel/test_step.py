"""The arithmetic of a transformer's step: work, bubble, messages, and published steps that nothing was fitted on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gpuscope import paths
from gpuscope.advisor.calibration.parallel_files import load_parallel
from gpuscope.advisor.parallel.collectives import fabric_of
from gpuscope.advisor.parallel.device import matrix_device
from gpuscope.advisor.parallel.memory import transformer_activations
from gpuscope.advisor.parallel.rates import LinkRate, ParallelRates
from gpuscope.advisor.parallel.step import Steps, prepare_steps, transformer_steps
from gpuscope.advisor.parallel.table import table_of
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.parallel.transformer import Shape, local_parameters, shape_of, work_of
from gpuscope.advisor.validation.collective_fit import Timed, fit_links
from gpuscope.advisor.validation.parallel_fit import write_fitted_parallel
from gpuscope.advisor.validation.studies import collectives, megatron_multi_node
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import llm_foundry
from gpuscope.advisor.validation.transformer_fit import (
    CONSTANTS,
    EXPERT_CONSTANTS,
    Trained,
    fit_transformers,
    predict,
)
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.recommendation import Layout
from tests.unit.advisor.advisor_jobs import shipped
from tests.unit.advisor.parallel.test_plan import CALIBRATION
from tests.unit.advisor.parallel.test_topology import known

GPT3 = Architecture(layers=96, hidden_size=12288, attention_heads=96, vocabulary_size=51200, tied_embeddings=True)
TABLES = Tables(paths.resources_dir() / "calibration", shipped())


def gpt3(**changes: Any) -> Shape:
    return shape_of(GPT3, 2048)._replace(**changes)


def steps_of(layout: Layout, shape: Shape, rates: ParallelRates = CALIBRATION.parallel) -> Steps:
    gpu = known("a100-sxm4-80gb")
    gpus = layout.data_parallel * layout.tensor_parallel * layout.pipeline_parallel
    topology = topology_at_counts(gpu, gpus, gpus_per_node=8, network="InfiniBand HDR 200 Gb/s per GPU")
    device = matrix_device(gpu, "bfloat16", CALIBRATION, rates)
    assert device is not None
    prepared = prepare_steps(
        shape, table_of([layout]), fabric_of(topology, rates), rates, element_bytes=2.0, gradient_bytes=2.0
    )
    return transformer_steps(prepared, device)


def test_gpt3_has_175_billion_parameters_and_six_flops_for_each_and_token() -> None:
    shape = gpt3()
    assert shape.parameters == pytest.approx(174.6e9, rel=0.005)
    full = ParallelRates(matrix_share=1.0, half_width=1e-9, half_tokens=1e-9)
    work = work_of(shape, table_of([Layout(micro_batch=1)]), full, 2.0)
    assert float((work.matrix_flops + work.logits_flops)[0]) == pytest.approx(6 * shape.parameters * 2048, rel=0.005)


def test_narrow_experts_lose_as_much_time_in_16_bits_as_in_8() -> None:
    gpu, rates = known("h100-sxm5-80gb"), CALIBRATION.parallel
    found = matrix_device(gpu, "bfloat16", CALIBRATION, rates), matrix_device(gpu, "float8", CALIBRATION, rates)
    assert found[0] is not None
    assert found[1] is not None
    lost_s = [device.expert_wait / device.flops_per_s for device in found if device is not None]
    assert lost_s[0] == pytest.approx(lost_s[1], rel=0.15)
    mixture = msgspec.structs.replace(GPT3, experts=16, experts_per_token=2)
    table = table_of([Layout(micro_batch=1)])
    assert float(work_of(shape_of(mixture, 2048), table, rates, 2.0).expert_wait_flops[0]) > 0
    assert float(work_of(gpt3(), table, rates, 2.0).expert_wait_flops[0]) == 0


def test_activations_are_those_of_the_published_formula() -> None:
    # arXiv 2205.05198: s·b·h·34 bytes a layer with selective recomputation, logits apart.
    shape = gpt3(vocabulary=0)
    whole = float(transformer_activations(shape, table_of([Layout(micro_batch=1)]), 2.0)[0])
    assert whole == pytest.approx(34 * 2048 * 12288 * 96)
    assert float(transformer_activations(shape, table_of([Layout(micro_batch=1)]), 4.0)[0]) == pytest.approx(2 * whole)
    split = Layout(micro_batch=1, tensor_parallel=8, pipeline_parallel=8, gradient_accumulation=64)
    assert float(transformer_activations(shape, table_of([split]), 2.0)[0]) == pytest.approx(whole / 8)
    saved = Layout(micro_batch=1, activation_checkpointing=True)
    assert float(transformer_activations(shape, table_of([saved]), 2.0)[0]) < whole / 10


@pytest.mark.parametrize(("stages", "count"), [(2, 4), (8, 8), (8, 64)])
def test_the_bubble_is_the_published_share(stages: int, count: int) -> None:
    found = steps_of(Layout(pipeline_parallel=stages, micro_batch=1, gradient_accumulation=count), gpt3())
    busy = found.computing_s + found.pipeline_s
    share = float((found.bubble_s / (found.bubble_s + busy))[0])
    assert share == pytest.approx((stages - 1) / (count + stages - 1))


def test_checkpointing_costs_a_part_of_the_forward_pass() -> None:
    plain, again = (
        float(steps_of(Layout(micro_batch=1, activation_checkpointing=flag), gpt3()).computing_s[0])
        for flag in (False, True)
    )
    assert 1.15 < again / plain < 1.40


def test_narrow_matrices_lose_more_than_their_share() -> None:
    small = shape_of(Architecture(layers=12, hidden_size=768, attention_heads=12, vocabulary_size=50257), 1024)
    one, eight = (
        float(steps_of(Layout(tensor_parallel=split, micro_batch=32), small).computing_s[0]) for split in (1, 8)
    )
    assert one / 8 < eight < one


def test_experts_are_divided_apart_from_the_rest() -> None:
    mixture = shape_of(
        Architecture(layers=32, hidden_size=4096, attention_heads=32, key_value_heads=8, feed_forward_size=14336,
                     gated_feed_forward=True, vocabulary_size=32000, experts=8, experts_per_token=2), 4096,
    )  # fmt: skip
    assert mixture.parameters == pytest.approx(46.7e9, rel=0.02)
    alone, spread = (
        float(local_parameters(mixture, table_of([Layout(data_parallel=8, expert_parallel=degree)]))[0])
        for degree in (1, 8)
    )
    assert alone == pytest.approx(mixture.parameters)
    assert spread == pytest.approx(mixture.dense_parameters + mixture.expert_parameters / 8)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "pipeline", "gpus", "published_s"),
    # arXiv 2205.05198, table 5: selective recomputation and sequence parallelism, unfused attention, micro batch 1.
    [(96, 12288, 96, 8, 64, 13.75), (105, 20480, 128, 35, 280, 37.83)],
)
def test_published_steps_of_huge_models(
    layers: int, hidden: int, heads: int, pipeline: int, gpus: int, published_s: float
) -> None:
    architecture = Architecture(layers=layers, hidden_size=hidden, attention_heads=heads, vocabulary_size=51200)
    shape = shape_of(architecture, 2048, fused_attention=False)
    layout = Layout(tensor_parallel=8, pipeline_parallel=pipeline, micro_batch=1, gradient_accumulation=gpus)
    assert float(steps_of(layout, shape).seconds[0]) == pytest.approx(published_s, rel=0.25)


# Fits


def test_a_links_fit_finds_what_made_the_times() -> None:
    topology = topology_at_counts(known("a100-sxm4-80gb"), 8, "NVSwitch 600 GB/s per GPU")
    bus, start, ramp = 240e9, 30e-6, 8e-6
    rows = []
    for size in np.geomspace(1e5, 1e10, 40):
        wire = size * 1.75 / bus
        seconds = start + wire + 2 * np.sqrt(ramp * wire)
        rows.append(Timed({"source": "made up"}, topology, "all_reduce", 8, float(size), float(seconds)))
    (found,) = fit_links(rows)
    assert (found.kind, found.nominal_gbs) == ("nvswitch", 300)
    assert (found.share, found.start_us, found.ramp_us) == pytest.approx((0.8, 30, 8), rel=0.02)


def test_a_fit_finds_constants_that_made_the_steps() -> None:
    true = msgspec.structs.replace(
        CALIBRATION, parallel=msgspec.structs.replace(CALIBRATION.parallel, matrix_share=0.8, attention_share=0.3)
    )
    rows = [row for _, row in llm_foundry(TABLES)][::4]
    made = [row._replace(measured_s=float(s)) for row, s in zip(rows, predict(rows, true), strict=True)]
    found = fit_transformers(made, CALIBRATION)
    errors = np.abs(predict(made, found) / np.array([row.measured_s for row in made]) - 1)
    assert float(np.quantile(errors, 0.9)) < 0.03
    assert isinstance(made[0], Trained)


def test_rows_that_nothing_was_fitted_on_are_predicted() -> None:
    errors = [each.error for each in megatron_multi_node.outcomes(TABLES)]
    known_errors = [error for error in errors if error is not None]
    assert len(known_errors) == len(errors) == 24
    assert float(np.median(known_errors)) < 0.12


def test_collectives_of_other_payloads_are_predicted() -> None:
    errors = [each.error or 0.0 for each in collectives.outcomes(TABLES) if each.family == "all_reduce"]
    assert float(np.median(errors)) < 0.12


def test_a_link_without_a_row_falls_back_to_its_kind() -> None:
    from gpuscope.advisor.parallel.collectives import link_rate
    from gpuscope.advisor.parallel.topology import Link

    rates = ParallelRates(
        links=(LinkRate(kind="nvswitch", nominal_gbs=300, share=0.7, start_us=1), *ParallelRates().links)
    )
    assert link_rate(Link("a", "nvswitch", 300e9, ""), rates).share == 0.7
    assert link_rate(Link("a", "nvswitch", 500e9, ""), rates).share == 0.8
    assert link_rate(Link("a", "carrier pigeon", 1e9, ""), rates).kind == "pcie"


def test_shipped_constants_are_those_of_the_fit(tmp_path: Path) -> None:
    write_fitted_parallel(TABLES, tmp_path)
    shipped_, fitted_ = load_parallel(TABLES.folder), load_parallel(tmp_path)
    for name in (*CONSTANTS, *EXPERT_CONSTANTS):
        assert getattr(fitted_, name) == pytest.approx(getattr(shipped_, name), rel=0.02), name
    assert fitted_.tuned == pytest.approx(shipped_.tuned, rel=0.02)
    for found, known_link in zip(fitted_.links, shipped_.links, strict=True):
        assert (found.kind, found.share) == (known_link.kind, pytest.approx(known_link.share, rel=0.02))
