"""Power: of GPUs by what they do, of CPUs, of whole machines; against published measurements."""

from __future__ import annotations

import math
import statistics
from functools import cache

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope import paths
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.cost.configuration import Configuration
from gpuscope.advisor.cost.energy import cpu_power_watts, energy_kwh, power_watts
from gpuscope.advisor.cost.machine import machine_power, overhead_w
from gpuscope.advisor.cost.power import POWER, Load, load_of, mean_watts
from gpuscope.advisor.cost.service import service_watts
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.timing.step import StepTime
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies import energy
from gpuscope.advisor.validation.studies._power_fit import fit, power_rows
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Energy, Footprint
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import Serving, ServingTarget
from tests.unit.advisor.advisor_jobs import cpu_footprint, gpu, gpu_footprint, ops, shipped


def known(id_: str) -> GpuSpec:
    found = shipped().gpu(id_)
    assert found is not None
    return found


def job_of(footprint: Footprint) -> Job:
    return prepare(footprint, Constraints(), shipped())


def step(seconds: float, device_s: float) -> StepTime:
    return StepTime(Range.exact(seconds), device_s, (), "measured", "")


@cache
def tables() -> Tables:
    return Tables(paths.resources_dir() / "calibration", shipped())


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(energy.outcomes(tables()))


# One GPU


def test_power_by_hand() -> None:
    """A 150 W board at half of its bandwidth and a tenth of its FP32 rate."""
    watts = mean_watts(Load(1.0, 3e12, 300e9, "float32"), gpu())
    assert watts is not None
    assert watts.mid == pytest.approx(150 * (POWER.busy + POWER.memory * 0.5 + POWER.vector * 0.1))
    assert watts.low == pytest.approx(watts.mid / POWER.spread)


def test_what_computes_at_full_rate_takes_the_whole_board() -> None:
    for id_, tflops in (("a100-sxm4-80gb", 270.0), ("h100-sxm5-80gb", 790.0)):
        watts = mean_watts(Load(1.0, tflops * 1e12, 2e11, "bfloat16"), known(id_))
        assert watts is not None
        assert watts.mid == watts.high == known(id_).tdp_w


def test_a_waiting_gpu_takes_little_and_a_limit_is_kept() -> None:
    idle = mean_watts(Load(0.0, 0.0, 0.0, "bfloat16"), known("h100-sxm5-80gb"))
    assert idle is not None
    assert 70 < idle.mid < 140
    limited = mean_watts(Load(1.0, 1e15, 3e12, "bfloat16", limit_w=350.0), known("h100-sxm5-80gb"))
    assert limited is not None
    assert limited.high == 350


def test_what_is_not_known_has_no_power() -> None:
    assert mean_watts(Load(1.0, 0.0, 0.0, "float32"), gpu(tdp_w=None)) is None
    assert mean_watts(Load(1.0, 0.0, 0.0, "float8"), gpu()) is None
    assert load_of((), 1.0, None, "float32") is None
    assert load_of(ops(), 0.0, None, "float32") is None


@given(
    busy=st.floats(0, 1), more=st.floats(0, 1), flops=st.floats(0, 1e16), moved=st.floats(0, 1e13),
    limit=st.floats(1, 1000),
)  # fmt: skip
def test_more_work_never_takes_less_power(busy: float, more: float, flops: float, moved: float, limit: float) -> None:
    little = mean_watts(Load(busy, flops, moved, "bfloat16", limit), gpu())
    much = mean_watts(Load(min(1.0, busy + more), flops * 2, moved * 2, "bfloat16", limit), gpu())
    assert little is not None
    assert much is not None
    assert little.low <= little.mid <= little.high <= min(150, limit)
    assert much.mid >= little.mid - 1e-9


# A job


def test_a_job_bound_by_bandwidth_takes_less_than_one_bound_by_computing() -> None:
    job = job_of(cpu_footprint())
    card = known("l40s")
    bandwidth, _ = power_watts(msgspec.structs.replace(job, ops=tuple(o for o in job.ops if not o.flops)), card, 1,
                               step(0.02, 0.02))  # fmt: skip
    computing, how = power_watts(job, card, 1, step(0.02, 0.02))
    assert bandwidth is not None
    assert computing is not None
    assert bandwidth.mid < computing.mid <= 350
    assert "from what a step computes and moves" in how


def test_gaps_in_a_step_lower_its_power() -> None:
    job = job_of(cpu_footprint())
    full, _ = power_watts(job, known("a40"), 1, step(0.1, 0.1))
    gaps, _ = power_watts(job, known("a40"), 1, step(0.4, 0.1))
    assert full is not None
    assert gaps is not None
    assert gaps.mid < full.mid
    assert 4 * gaps.mid > full.mid


def test_measured_power_goes_before_prediction_and_is_scaled_to_other_cards() -> None:
    footprint = msgspec.structs.replace(gpu_footprint(step_s=0.08, ops=ops()), energy=Energy(mean_power_w=300.0))
    job = job_of(footprint)
    assert power_watts(job, known("rtx-3090"), 2) == (Range.exact(600.0), "measured in the run")
    target = known("l40s")
    scaled, how = power_watts(job, target, 1, step_on_gpu(job, target))
    assert scaled is not None
    assert scaled.high <= 350
    assert "measured 300 W on another GPU" in how
    without_operators, _ = power_watts(job, known("rtx-4090"), 1)
    assert without_operators is not None
    assert without_operators.mid == pytest.approx(300 * 450 / 350)


def test_an_energy_counter_tells_the_power_too() -> None:
    footprint = msgspec.structs.replace(gpu_footprint(step_s=0.1), energy=Energy(per_step_j=30.0))
    watts, how = power_watts(job_of(footprint), known("rtx-3090"), 1)
    assert watts is not None
    assert watts.mid == pytest.approx(300)
    assert how == "measured in the run"


def test_without_operators_and_measurement_it_is_a_share_of_the_board() -> None:
    watts, how = power_watts(job_of(gpu_footprint()), known("l4"), 2)
    assert watts is not None
    assert (watts.low, watts.high) == (36, 144)
    assert "assumed" in how
    assert power_watts(job_of(cpu_footprint()), gpu(tdp_w=None), 1)[0] is None


def test_power_of_a_service() -> None:
    """Llama 3.1 70B in 16 bits on four H100, 64 requests at a time: 266 W a GPU were measured (power.csv)."""
    serving = Serving(
        replicas=2,
        concurrent_per_replica=64.0,
        requests_per_second=Range.exact(2 * 811.45 / 461.2),
        weights_bytes=141_200_000_000,
        cache_bytes_per_token=327_680.0,
    )
    target = ServingTarget(output_tokens=461.2)
    watts, _ = service_watts(serving, target, known("h100-sxm5-80gb"), 4, "bfloat16", 70.6e9)
    assert watts is not None
    assert watts.low < 8 * 266.9 < watts.high
    assert service_watts(serving, target, gpu(tdp_w=None), 4, "bfloat16", 70.6e9)[0] is None
    assert service_watts(Serving(replicas=1), target, known("l4"), 1, "bfloat16", 7e9)[0] is None


def test_power_of_a_cpu() -> None:
    cpu = CpuSpec(id="c", name="C", vendor="Intel", cores=32, tdp_w=320.0)
    half, _ = cpu_power_watts(cpu, 16)
    assert half == Range(low=80.0, mid=128.0, high=160.0)
    assert cpu_power_watts(msgspec.structs.replace(cpu, tdp_w=None))[0] is None


def test_energy_is_time_times_power() -> None:
    energy = energy_kwh(Range(low=1800, mid=3600, high=7200), Range(low=500, mid=1000, high=2000))
    assert energy is not None
    assert (energy.low, energy.mid, energy.high) == pytest.approx((0.25, 1.0, 4.0))
    assert energy_kwh(None, Range.exact(1)) is None


# Machines


def test_the_rest_of_an_eight_gpu_machine_is_as_measured() -> None:
    """2.2 to 2.8 kW besides eight H100 (Latif et al. 2025, Newkirk et al. 2025)."""
    rest = overhead_w(Configuration(gpu=known("h100-sxm5-80gb"), count=8))
    assert rest.low < 2_200 < rest.mid < 2_800 < rest.high
    two = overhead_w(Configuration(gpu=known("h100-sxm5-80gb"), count=16, nodes=2))
    assert two.mid == pytest.approx(2 * rest.mid)


def test_a_rating_of_the_gpus_alone_does_not_limit_the_machine() -> None:
    platform = next(system for system in shipped().systems if system.id == "mi300x-8")
    power = machine_power(Configuration(gpu=known("mi300x"), count=8, system=platform), Range.exact(6_000.0), "")
    assert power is not None
    assert power.load_w.mid > 8_000


def test_a_desk_machine_may_be_switched_off() -> None:
    power = machine_power(Configuration(gpu=known("rtx-4090"), count=1), Range.exact(400.0), "given")
    assert power is not None
    assert power.idle_w.low == power.idle_w.mid == 0 < power.idle_w.high
    assert machine_power(Configuration(gpu=known("rtx-4090"), count=1), None, "") is None


# Published measurements


def test_the_shares_are_those_of_the_fit() -> None:
    assert tuple(fit(power_rows(tables()))) == pytest.approx(tuple(POWER), abs=0.006)


def test_power_of_gpus_that_were_left_out_of_the_fit() -> None:
    errors = sorted(outcome.error for outcome in outcomes() if outcome.error is not None)
    assert len(errors) >= 20
    assert len(errors) == len(tables().rows("power"))
    assert statistics.median(errors) < 0.10
    assert errors[math.ceil(0.9 * len(errors)) - 1] < 0.25
    assert sum(bool(outcome.covered) for outcome in outcomes()) / len(errors) > 0.85
