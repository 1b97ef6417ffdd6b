"""Rates that a person measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import EMPTY, MEASURED, PUBLISHED, Calibration, Figure, SustainedRates
from gpuscope.advisor.calibration.own_rates import rates_in, read_rates, with_own_rates
from gpuscope.advisor.timing.sustained import sustained
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import shipped


def written(path: Path, **changes: Any) -> Path:
    document: dict[str, Any] = {
        "schema": "gpuscope.rates/1",
        "gpu": "t4",
        "when": "2026-11-30T12:00:00+00:00",
        "torch_version": "2.9.0",
        "figures": [
            {"figure": "matmul", "precision": "fp16", "value": 22.0, "unit": "TFLOP/s", "how": "8192³"},
            {"figure": "vector", "value": 240.0, "unit": "GB/s"},
            {"figure": "kernel_latency", "value": 4.0, "unit": "us"},
        ],
    } | changes
    path.write_text(json.dumps(document))
    return path


def test_measured_figures_go_before_published_ones(tmp_path: Path) -> None:
    published = Figure(value=2e11, kind=PUBLISHED, source="somebody")
    before = Calibration(rates={"t4": SustainedRates(vector_bytes_per_s=published)})
    after = with_own_rates(before, [read_rates(written(tmp_path / "a.json"))], shipped())
    gpu = shipped().gpu("t4")
    assert gpu is not None
    rates = sustained(gpu, "float16", after)
    assert rates is not None
    assert rates.matmul_flops_per_s.value == 22e12
    assert rates.matmul_flops_per_s.source == "measured here (2026-11-30, 8192³, torch 2.9.0)"
    assert (rates.vector_bytes_per_s.value, rates.vector_bytes_per_s.kind) == (240e9, MEASURED)
    assert rates.kernel_latency_s.value == pytest.approx(4e-6)
    assert rates.rated


def test_the_latest_of_equal_figures_counts_whatever_the_order(tmp_path: Path) -> None:
    old = read_rates(written(tmp_path / "b.json", when="2026-01-01T00:00:00+00:00", figures=[
        {"figure": "vector", "value": 100.0, "unit": "GB/s"}
    ]))  # fmt: skip
    new = read_rates(written(tmp_path / "a.json"))
    first, second = (with_own_rates(EMPTY, order, shipped()) for order in ([old, new], [new, old]))
    assert first == second
    assert first.rates["t4"].vector_bytes_per_s is not None
    assert first.rates["t4"].vector_bytes_per_s.value == 240e9


def test_a_gpu_is_found_by_what_its_driver_calls_it(tmp_path: Path) -> None:
    document = read_rates(written(tmp_path / "a.json", gpu=None, gpu_name="Tesla T4"))
    assert set(with_own_rates(EMPTY, [document], shipped()).rates) == {"t4"}


def test_an_unknown_gpu_is_said(tmp_path: Path) -> None:
    document = read_rates(written(tmp_path / "a.json", gpu=None, gpu_name="Quantum 9000"))
    with pytest.raises(UsageError, match="does not know the GPU of measured rates \\(Quantum 9000\\)"):
        with_own_rates(EMPTY, [document], shipped())


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        ({"figure": "speed", "value": 1.0, "unit": "GB/s"}, "figure 'speed' is none of"),
        ({"figure": "vector", "value": 1.0, "unit": "TFLOP/s"}, "vector is given in GB/s"),
        ({"figure": "vector", "value": -1.0, "unit": "GB/s"}, "makes no sense"),
        ({"figure": "matmul", "value": 1.0, "unit": "TFLOP/s"}, "needs a precision"),
        ({"figure": "matmul", "precision": "fp99", "value": 1.0, "unit": "TFLOP/s"}, "'fp99' is not known"),
    ],
)
def test_a_figure_that_cannot_be_is_refused(tmp_path: Path, figure: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_rates(written(tmp_path / "a.json", figures=[figure]))


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "gpuscope.rates/2"}', '{"figures": [{"value": "fast"}]}'])
def test_what_is_no_such_document_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rates.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"rates\.json"):
        read_rates(path)


def test_a_folder_that_is_not_there_has_no_rates(tmp_path: Path) -> None:
    assert rates_in(tmp_path / "none") == ()
    written(tmp_path / "b.json")
    written(tmp_path / "a.json", gpu="l4")
    assert [document.gpu for document in rates_in(tmp_path)] == ["l4", "t4"]
    assert load_calibration(tmp_path).rates == {}
