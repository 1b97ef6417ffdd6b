"""Models typed in by their dimensions: parameters, caches, experts, and what cannot be."""

from __future__ import annotations

import pytest

from gpuscope.advisor.job.architecture import (
    architecture_of,
    assumed_architecture,
    cached_tokens,
    count_parameters,
    key_value_width,
)
from gpuscope.advisor.job.estimate import Requests, estimate
from gpuscope.advisor.job.estimate_words import estimate_sentence
from gpuscope.domain.architecture import Architecture
from gpuscope.errors import UsageError

LLAMA_3_8B = Architecture(
    layers=32, hidden_size=4096, attention_heads=32, key_value_heads=8, feed_forward_size=14336,
    gated_feed_forward=True, vocabulary_size=128256, tied_embeddings=False,
)  # fmt: skip
MIXTRAL = Architecture(
    layers=32, hidden_size=4096, attention_heads=32, key_value_heads=8, feed_forward_size=14336,
    gated_feed_forward=True, vocabulary_size=32000, tied_embeddings=False, experts=8, experts_per_token=2,
)  # fmt: skip


def test_the_dimensions_make_the_published_number_of_parameters() -> None:
    assert count_parameters(LLAMA_3_8B).total == pytest.approx(8.03e9, rel=0.001)
    assert count_parameters(MIXTRAL).total == pytest.approx(46.7e9, rel=0.001)
    assert estimate(None, "bf16", "inference", architecture=LLAMA_3_8B).workload.parameters == 8_029_995_008


def test_the_cache_of_a_token_is_the_published_one() -> None:
    """LLaMA 3 8B keeps 128 KiB a token in 16 bits; LLaMA 7B, without grouped-query attention, 512 KiB."""
    assert key_value_width(LLAMA_3_8B) * 32 * 2 == 128 * 1024
    seven = assumed_architecture(6_738_000_000).architecture
    assert key_value_width(seven) * seven.layers * 2 == 512 * 1024


def test_requests_fill_the_cache() -> None:
    footprint = estimate(
        None, "bf16", "inference", architecture=LLAMA_3_8B, requests=Requests(2000.0, 500.0, concurrent=16.0)
    )
    assert footprint.memory.breakdown.kv_cache_bytes == 16 * 2500 * 128 * 1024
    assert "5.24 GB" in estimate_sentence(footprint)


def test_an_assumed_cache_is_said_to_be() -> None:
    sentence = estimate_sentence(estimate(7 * 10**9, "fp16", "inference", requests=Requests(100.0, 100.0)))
    assert "published models of that size" in sentence


def test_a_latent_and_a_window_shrink_the_cache() -> None:
    latent = Architecture(layers=60, hidden_size=5120, attention_heads=128, key_value_latent_size=576)
    assert key_value_width(latent) == 576
    windowed = Architecture(layers=10, hidden_size=100, sliding_window=1000, full_attention_layers=5)
    assert cached_tokens(windowed, 500) == 500
    assert cached_tokens(windowed, 5000) == 3000


def test_a_token_passes_through_its_experts_alone() -> None:
    work = estimate(None, "bf16", "inference", architecture=MIXTRAL, batch=1, sequence_length=1).ops[0].flops
    assert work is not None
    assert work / 2 == pytest.approx(12.9e9, rel=0.01)  # published: 12.9B active parameters


def test_only_language_models_are_given_an_assumed_shape() -> None:
    typed = estimate(8_030_000_000, "bf16", "inference")
    known = architecture_of(typed)
    assert known is not None
    assert known.assumed
    assert known.architecture.key_value_heads == 8
    given = architecture_of(estimate(None, "bf16", "inference", architecture=MIXTRAL))
    assert given is not None
    assert not given.assumed


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        (Architecture(layers=0, hidden_size=8), "layers of a model must be 1 or more"),
        (Architecture(layers=1, hidden_size=8, attention_heads=8, key_value_heads=3), "must divide"),
        (Architecture(layers=1, hidden_size=8, key_value_heads=3), "give both"),
        (Architecture(layers=1, hidden_size=8, experts=2, experts_per_token=3), "not be more than the experts"),
        (Architecture(layers=1, hidden_size=8), "Without the vocabulary"),
        (None, "Give the number of parameters"),
    ],
)
def test_dimensions_that_cannot_be_are_refused(architecture: Architecture | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        estimate(None, "bf16", "inference", architecture=architecture)


def test_requests_belong_to_inference() -> None:
    with pytest.raises(UsageError, match="belong to inference"):
        estimate(10**9, "bf16", "training", requests=Requests(1.0, 1.0))
    with pytest.raises(UsageError, match="above zero"):
        estimate(10**9, "bf16", "inference", requests=Requests(1.0, 0.0))
