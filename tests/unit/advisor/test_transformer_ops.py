"""Operators of a transformer from its dimensions."""

from __future__ import annotations

import pytest

from gpuscope.advisor.job.transformer_ops import transformer_ops
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Op

BERT_LARGE = Architecture(layers=24, hidden_size=1024, attention_heads=16, feed_forward_size=4096)


def flops(ops: tuple[Op, ...]) -> float:
    return sum(op.flops or 0.0 for op in ops)


def moved(ops: tuple[Op, ...]) -> float:
    return sum((op.bytes_read or 0.0) + (op.bytes_written or 0.0) for op in ops)


def test_flops_are_two_for_each_weight_and_token_and_those_of_attention() -> None:
    batch, tokens = 16, 512
    weights = 24 * (4 * 1024**2 + 2 * 1024 * 4096)
    attention = 24 * 4 * batch * tokens**2 * 1024
    ops = transformer_ops(BERT_LARGE, batch, tokens, training=False)
    assert flops(ops) == pytest.approx(2.0 * weights * batch * tokens + attention)


def test_training_is_three_times_the_matrix_work() -> None:
    forward, both = (transformer_ops(BERT_LARGE, 2, 128, training=training) for training in (False, True))
    assert flops(both) == pytest.approx(3 * flops(forward))
    assert moved(both) == pytest.approx(3 * moved(forward))
    assert {op.kind for op in both} == {kind + end for kind in {op.kind for op in forward} for end in ("", "_backward")}


def test_fused_attention_computes_the_same_and_moves_less() -> None:
    eager, fused = (transformer_ops(BERT_LARGE, 4, 2048, training=False, fused_attention=f) for f in (False, True))
    assert flops(eager) == pytest.approx(flops(fused))
    assert moved(fused) < 0.5 * moved(eager)


def test_half_precision_moves_half() -> None:
    single, half = (transformer_ops(BERT_LARGE, 4, 128, training=True, dtype=name) for name in ("float32", "bfloat16"))
    assert moved(half) == pytest.approx(moved(single) / 2)


def test_grouped_queries_gates_and_experts_count() -> None:
    dense = Architecture(layers=2, hidden_size=256, attention_heads=8, feed_forward_size=1024)
    grouped = Architecture(layers=2, hidden_size=256, attention_heads=8, key_value_heads=2, feed_forward_size=1024)
    gated = Architecture(layers=2, hidden_size=256, attention_heads=8, feed_forward_size=1024, gated_feed_forward=True)
    mixture = Architecture(
        layers=2, hidden_size=256, attention_heads=8, feed_forward_size=1024, experts=8, experts_per_token=2
    )
    work = {name: transformer_ops(each, 1, 64, training=False) for name, each in (
        ("dense", dense), ("grouped", grouped), ("gated", gated), ("mixture", mixture)
    )}  # fmt: skip
    feed_forward = 2 * 2 * 64 * 2 * 256 * 1024
    assert flops(work["grouped"]) < flops(work["dense"])
    assert flops(work["gated"]) - flops(work["dense"]) == pytest.approx(feed_forward / 2)
    assert flops(work["mixture"]) - flops(work["dense"]) == pytest.approx(feed_forward)
    assert moved(work["mixture"]) > moved(work["dense"]) + 4 * 7 * 2 * 2 * 256 * 1024  # every expert's weights
