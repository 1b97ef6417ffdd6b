"""A handful of runs on a card."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope import paths
from gpuscope.advisor.calibration.fitting import Constant, fitted, robust
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.recalibration import TargetRun, bias_of, recalibrated
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint, FootprintDevice, Op
from gpuscope.domain.recommendation import Constraints
from tests.unit.advisor.advisor_jobs import cpu_footprint, shipped, step_time

SOURCE, TARGET = "rtx-3090", "rtx-4090"


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return load_calibration(paths.resources_dir() / "calibration")


def run_on(gpu_id: str, step_s: float, computing: float) -> Footprint:
    """A job of which `computing` TFLOP are convolutions, and 20 GB are moved."""
    ops = (
        Op(kind="conv_kxk", class_="convolution", dtype="float16", flops=computing * 1e12, bytes_read=1e9,
           bytes_written=1e9, kernels=50, n=256, k=2304),
        Op(kind="elementwise", class_="elementwise", dtype="float16", bytes_read=1e10, bytes_written=1e10, kernels=50),
    )  # fmt: skip
    workload = msgspec.structs.replace(
        cpu_footprint().workload, stage="inference", precision=msgspec.convert({"compute": "float16"}, _precision())
    )
    return msgspec.structs.replace(
        cpu_footprint(step_s), workload=workload, devices=(FootprintDevice(gpu=gpu_id),), ops=ops,
        steps=msgspec.structs.replace(cpu_footprint().steps, time_s=step_time(step_s)),
    )  # fmt: skip


def _precision() -> type:
    return type(cpu_footprint().workload.precision)


def predicted(source: Footprint, calibration: Calibration) -> Range:
    gpu = shipped().gpu(TARGET)
    assert gpu is not None
    seconds = step_on_gpu(prepare(source, Constraints(), shipped(), calibration), gpu).seconds
    assert seconds is not None
    return seconds


def test_eight_runs_remove_a_bias_and_narrow_the_range(calibration: Calibration) -> None:
    """The card is in truth 1.3 times slower than its specifications say, give or take 3%."""
    jobs = [run_on(SOURCE, 0.05 * each, float(each)) for each in range(1, 9)]
    runs = []
    for number, job in enumerate(jobs):
        true_s = predicted(job, calibration).mid * 1.3 * (1.03 if number % 2 else 0.97)
        runs.append(TargetRun(run_on(TARGET, true_s, number + 1.0), job))
    after = recalibrated(calibration, runs, shipped())
    new = run_on(SOURCE, 0.33, 5.5)
    truth, was, now = 1.3 * predicted(new, calibration).mid, predicted(new, calibration), predicted(new, after)
    assert now.mid == pytest.approx(truth, rel=0.06)
    assert abs(now.mid - truth) < 0.3 * abs(was.mid - truth)
    assert now.low < truth < now.high
    assert now.high / now.low < was.high / was.low
    assert after.bias[TARGET].runs == 8


def test_runs_of_unknown_cards_and_without_time_say_nothing(calibration: Calibration) -> None:
    job = run_on(SOURCE, 0.1, 1.0)
    unknown = msgspec.structs.replace(job, devices=(FootprintDevice(name="Quantum 9000"),))
    timeless = msgspec.structs.replace(run_on(TARGET, 0.1, 1.0), steps=type(job.steps)())
    two = msgspec.structs.replace(job, devices=(FootprintDevice(gpu=TARGET),) * 2)
    runs = [TargetRun(each, job) for each in (unknown, timeless, two, cpu_footprint())]
    assert recalibrated(calibration, runs, shipped()) == calibration


def test_one_run_moves_predictions_part_of_the_way() -> None:
    bias = bias_of([math.log(1.5)])
    assert 1.0 < bias.factor < 1.5
    assert bias.spread > bias_of([math.log(1.5)] * 20).spread


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_a_bias_lies_between_none_and_the_median(logs: list[float]) -> None:
    bias = bias_of(logs)
    middle = sorted(logs)[len(logs) // 2]
    assert math.log(bias.factor) <= max(0.0, *logs) + 1e-9
    assert math.log(bias.factor) >= min(0.0, *logs) - 1e-9
    assert bias.spread > 1.05
    assert middle <= max(logs)


def test_the_search_finds_what_rows_say_and_keeps_priors_where_they_say_nothing() -> None:
    constants = {"told": Constant(1.0, 2.0), "untold": Constant(3.0, 1.1), "bounded": Constant(1.0, 9.0, high=1.5)}

    def loss(values: dict[str, float]) -> float:
        rows = robust(math.log(values["told"] / 2.0), 0.01) + robust(math.log(values["bounded"] / 4.0), 0.01)
        return 100.0 * rows

    found = fitted(constants, loss)  # type: ignore[arg-type]  # a dict is the mapping that it is called with
    assert found["told"] == pytest.approx(2.0, rel=0.04)
    assert found["untold"] == 3.0
    assert 1.4 < found["bounded"] <= 1.5


def test_outliers_pull_no_harder_than_their_distance() -> None:
    assert robust(0.5, 1.0) == 0.125
    assert robust(10.0, 1.0) == 9.5
