"""Steps of an inference engine against arithmetic done by hand."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.job.architecture import KnownArchitecture
from gpuscope.advisor.serving.device import Device, Wire
from gpuscope.advisor.serving.engine import Request, decode, operate, operate_at_rate, prefill
from gpuscope.advisor.serving.model import ServedModel, served_model
from gpuscope.advisor.serving.split import Split
from gpuscope.advisor.serving.weights import cache_bytes, weight_format
from gpuscope.domain.architecture import Architecture
from gpuscope.errors import UsageError

_DENSE = Architecture(
    layers=10, hidden_size=1000, attention_heads=10, key_value_heads=5, feed_forward_size=4000, vocabulary_size=1000,
    tied_embeddings=False,
)  # fmt: skip
_MIXTURE = msgspec.structs.replace(_DENSE, experts=4, experts_per_token=1)


def _model(architecture: Architecture = _DENSE) -> ServedModel:
    return served_model(KnownArchitecture(architecture, assumed=False, how="given"), None, weight_format("fp16"), 2.0)


def _device(count: int = 1, **changes: object) -> Device:
    device = Device(
        products_flops_per_s=1e12, weights_bytes_per_s=1e9, cache_bytes_per_s=1e9, layer_s=1e-3, prompt_layer_s=2e-3,
        mixture_share=0.5, request_s=0.0, split=Split(count), wire=None, network=None, how="",
    )  # fmt: skip
    return device._replace(**changes)  # type: ignore[arg-type] # any field


def test_a_dense_model_reads_all_but_its_input_table() -> None:
    model = _model()
    attention = 10 * (2 * 1000 * 1000 + 1000 * 1000)
    feed_forward, table = 10 * 2 * 1000 * 4000, 1000 * 1000
    assert model.weights_bytes == 2 * (attention + feed_forward + 2 * table)
    assert model.read_bytes(1) == 2 * (attention + feed_forward + table)
    assert model.flops_per_token == 2 * (attention + feed_forward + table)
    assert model.cache_bytes_per_token == 2 * 5 * 100 * 10 * 2


def test_a_decode_step_is_weights_cache_and_starts() -> None:
    model = _model()
    step = decode(model, _device(), 4, 50)
    assert step.weights_s == model.read_bytes(4) / 1e9
    assert step.cache_s == 4 * 50 * model.cache_bytes_per_token / 1e9
    assert step.starts_s == pytest.approx(10e-3)
    assert step.messages_s == 0


def test_two_gpus_halve_the_reading_and_add_messages() -> None:
    model = _model()
    wire = Wire(start_s=1e-5, bytes_per_s=1e9, ramp_s=0.0)
    one, two = decode(model, _device(), 1, 50), decode(model, _device(2, wire=wire), 1, 50)
    assert two.weights_s == one.weights_s / 2
    assert two.cache_s == one.cache_s / 2
    assert two.messages_s == pytest.approx(2 * 10 * (1e-5 + 1000 * 2 / 1e9))


def test_more_tokens_touch_more_experts() -> None:
    model = _model(_MIXTURE)
    one = model.read_bytes(1) - model.shared_read_bytes
    assert one == pytest.approx(model.expert_bytes)
    assert model.read_bytes(1000) - model.shared_read_bytes == pytest.approx(4 * model.expert_bytes)
    assert model.flops_per_token == _model().flops_per_token


def test_a_prompt_is_products_and_attention() -> None:
    model = _model()
    parts = prefill(model, _device(), 100)
    attention = 2 * 2 * 100 * 100 / 2 * 1000 * 10
    assert parts.products_s == pytest.approx((100 * model.flops_per_token + attention) / 1e12)
    assert parts.starts_s == pytest.approx(20e-3)


def test_a_full_batch_answers_more_but_later() -> None:
    model, device, request = _model(), _device(), Request(100.0, 50.0)
    alone, full = operate(model, device, 1, request), operate(model, device, 32, request)
    assert alone.requests_per_s == pytest.approx(1 / alone.latency_s)
    assert full.requests_per_s > alone.requests_per_s
    assert full.inter_token_s > alone.inter_token_s
    assert full.first_token_s > alone.first_token_s


def test_the_batch_follows_from_the_load() -> None:
    model, device, request = _model(), _device(), Request(100.0, 50.0)
    full = operate(model, device, 64, request)
    half = operate_at_rate(model, device, full.requests_per_s / 2, request, 64)
    assert half is not None
    assert half.requests_per_s == pytest.approx(full.requests_per_s / 2, rel=0.01)
    assert half.latency_s < full.latency_s
    assert operate_at_rate(model, device, full.requests_per_s * 1.01, request, 64) is None


def test_caches_are_not_kept_in_four_bits() -> None:
    assert cache_bytes("fp8") == 1.0
    with pytest.raises(UsageError, match="Cache format 'int4'"):
        cache_bytes("int4")
