"""Published comparisons of CPUs and GPUs, through the product's own path."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path

import msgspec
import pytest

from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.time_model import step_on_cpu, step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Op
from tests.unit.advisor.timing.timing_jobs import dry_run, gpu, job_of, op_tables, shipped_catalogue

_SMALL_MODELS = Path(__file__).resolve().parents[3] / "data" / "advisor" / "known_models.json"
_I5 = ("core-i5-9300h", "core-i5-9400")
_GTX_1650 = ("gtx-1650-gddr5", "gtx-1650-gddr6", "gtx-1650-mobile-gddr6")


def on_cpu(job: Job, cpu_id: str, cores: float | None = None) -> Range:
    seconds = step_on_cpu(job, shipped_catalogue().cpu(cpu_id), cores).seconds
    assert seconds is not None
    return seconds


def on_gpu(job: Job, gpu_id: str) -> Range:
    seconds = step_on_gpu(job, gpu(gpu_id)).seconds
    assert seconds is not None
    return seconds


def small_model(name: str) -> Job:
    """A training step of one of the small models, traced by tests/accuracy/trace_known.py."""
    entry = json.loads(_SMALL_MODELS.read_text())["models"][name]
    return job_of(dry_run(msgspec.convert(entry["ops"], tuple[Op, ...]), entry["parameters"], stage="training"))


@pytest.mark.parametrize("batch", [1, 8, 32])
def test_efficientnet_b2_on_a_t4_is_about_three_times_a_cascade_lake_server(batch: int) -> None:
    # Deci, 2022: 3×.
    table = op_tables()["tf_efficientnet_b2", 260]
    job = job_of(dry_run(table.ops("float32", batch), table.parameters))
    assert 2 < on_cpu(job, "xeon-8259cl").mid / on_gpu(job, "t4").mid < 4.5


@pytest.mark.parametrize(("model", "published"), [("cnn", 8.8), ("rnn", 4.9)])
def test_gtx_1650_against_a_ninth_generation_i5(model: str, published: float) -> None:
    # Nishanth et al., 2022: training on a GTX 1650 against an "Intel i5 9th gen", without saying which of either.
    job = small_model(model)
    ratios = [on_cpu(job, cpu_id).mid / on_gpu(job, gpu_id).mid for cpu_id in _I5 for gpu_id in _GTX_1650]
    assert min(ratios) < published * 1.2
    assert max(ratios) > published / 1.2
    assert 0.6 < math.exp(statistics.fmean(math.log(ratio / published) for ratio in ratios)) < 1.6


@pytest.mark.parametrize("cpu_id", _I5)
@pytest.mark.parametrize("gpu_id", [*_GTX_1650, "h100-sxm5-80gb"])
def test_small_dense_network_on_tables_is_not_faster_on_a_gpu(cpu_id: str, gpu_id: str) -> None:
    # The same article: 1.2 times faster on the CPU. Launching kernels takes as long on the fastest GPU.
    job = small_model("mlp")
    assert on_gpu(job, gpu_id).mid >= on_cpu(job, cpu_id).mid


def test_fewer_cores_are_slower() -> None:
    job = small_model("cnn")
    assert on_cpu(job, "xeon-8259cl", 4).mid > 3 * on_cpu(job, "xeon-8259cl").mid
