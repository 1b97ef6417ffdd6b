"""Steps of which only the time is known."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.timing.model_kind import (
    ANY,
    CONVOLUTIONAL,
    KINDS,
    LOOKUP,
    RECURRENT,
    SEPARABLE,
    TRANSFORMER,
    kind_of,
    kind_of_name,
    step_flops,
)
from gpuscope.advisor.timing.whole_step import Ratio, whole_step_ratio
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Batch, Footprint, FootprintSource, Op, Workload
from tests.unit.advisor.advisor_jobs import shipped


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return load_calibration(paths.resources_dir() / "calibration")


def ratio(
    kind: str, source: tuple[str, str], target: tuple[str, str], calibration: Calibration, reached: float | None = None
) -> Ratio:
    gpus: list[GpuSpec] = []
    for gpu_id, _ in (source, target):
        found = shipped().gpu(gpu_id)
        assert found is not None
        gpus.append(found)
    answer = whole_step_ratio(kind, (gpus[0], source[1]), (gpus[1], target[1]), calibration, reached)
    assert answer is not None
    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_card_in_the_same_precision_changes_nothing(kind: str, calibration: Calibration) -> None:
    same = ratio(kind, ("v100-sxm2-16gb", "float16"), ("v100-sxm2-16gb", "float16"), calibration)
    assert (same.low, same.mid, same.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back_is_once(kind: str, calibration: Calibration) -> None:
    one, other = ("rtx-3090", "float16"), ("h100-sxm5-80gb", "float16")
    assert ratio(kind, one, other, calibration).mid * ratio(kind, other, one, calibration).mid == pytest.approx(1.0)


def test_an_a100_is_about_twice_a_v100_in_16_bits(calibration: Calibration) -> None:
    # NVIDIA's own examples: 1.6 to 2.9 times, most of them 2.0 to 2.2.
    for kind in (CONVOLUTIONAL, TRANSFORMER):
        assert 0.4 < ratio(kind, ("v100-sxm2-16gb", "float16"), ("a100-sxm4-80gb", "float16"), calibration).mid < 0.6


def test_tensor_cores_help_what_computes_more_than_what_looks_up(calibration: Calibration) -> None:
    change = (("v100-sxm2-16gb", "float32"), ("v100-sxm2-16gb", "float16"))
    transformer, lookup = (ratio(kind, *change, calibration) for kind in (TRANSFORMER, LOOKUP))
    assert transformer.mid < lookup.mid < 1.0
    assert transformer.low < transformer.mid < transformer.high


def test_what_the_run_reached_says_how_much_of_it_computes(calibration: Calibration) -> None:
    change = (("a100-sxm4-80gb", "bfloat16"), ("a100-pcie-40gb", "bfloat16"))
    # The cards compute about alike, and the second one moves bytes at two thirds of the rate.
    busy = ratio(TRANSFORMER, *change, calibration, reached=150e12)
    waiting = ratio(TRANSFORMER, *change, calibration, reached=15e12)
    assert 1.0 < busy.mid < waiting.mid
    assert ratio(TRANSFORMER, *change, calibration, reached=1e20).mid >= 1.0  # more than any card: not believed


def test_unknown_rates_have_no_ratio(calibration: Calibration) -> None:
    gpu = shipped().gpu("v100-sxm2-16gb")
    assert gpu is not None
    assert whole_step_ratio(ANY, (gpu, "float16"), (gpu, "bfloat16"), calibration) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bert_large_squad", TRANSFORMER),
        ("resnet50", CONVOLUTIONAL),
        ("vit_base_patch16_224", TRANSFORMER),
        ("GNMT", RECURRENT),
        ("DLRM", LOOKUP),
        ("EfficientNet-B4", SEPARABLE),
        ("SE3Transformer", LOOKUP),
        ("my experiment 7", ANY),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


def footprint(**workload: Any) -> Footprint:
    return Footprint(source=FootprintSource(kind="measured"), workload=Workload(**workload))


def test_an_architecture_and_operators_go_before_the_name() -> None:
    assert kind_of(footprint(model="resnet", architecture=Architecture(layers=2, hidden_size=64))) == TRANSFORMER
    ops = (Op(kind="conv_kxk", class_="convolution", flops=1e9), Op(kind="gemm", class_="gemm", flops=1e6))
    run = Footprint(source=FootprintSource(kind="measured"), workload=Workload(model="bert"), ops=ops)
    assert kind_of(run) == CONVOLUTIONAL


def test_flops_of_a_transformer_follow_from_parameters_and_tokens() -> None:
    batch = Batch(per_device=8.0, unit="samples")
    known = footprint(stage="training", model="gpt", parameters=10**9, batch=batch, sequence_length=1024)
    assert step_flops(known) == 6e9 * 8 * 1024
    tokens = footprint(stage="inference", model="gpt", parameters=10**9, batch=Batch(per_device=512.0, unit="tokens"))
    assert step_flops(tokens) == 2e9 * 512
    assert step_flops(footprint(model="resnet50", parameters=10**7, batch=batch, sequence_length=1)) is None
    assert step_flops(footprint(model="gpt", parameters=10**9, batch=batch)) is None
