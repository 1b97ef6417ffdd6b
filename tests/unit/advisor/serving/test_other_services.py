"""Pictures in batches, CPUs, slices, the day, and the engine that a footprint names."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuscope.advisor.calibration.model import MEASURED, Figure, SustainedRates
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.serving.constants import Engines
from gpuscope.advisor.serving.cpu import serve_cpu
from gpuscope.advisor.serving.load_curve import over_the_day
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.serve import serve
from gpuscope.advisor.serving.slices import slice_for_share, sliced, slices_of
from gpuscope.advisor.timing.sustained import vector_rate
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import cpu_footprint, gpu, shipped
from tests.unit.advisor.serving.serving_jobs import SEVEN_B, language_model, plan


def _pictures() -> Job:
    """A profiled training run on a CPU, to be served."""
    return prepare(cpu_footprint(), Constraints(stage="inference"), shipped())


def _pictures_on(gpu_id: str, count: int = 1, **wanted: Any) -> ServingPlan:
    spec, job = shipped().gpu(gpu_id), _pictures()
    assert spec is not None
    return serve(job, job_memory(job), spec, topology_at_counts(spec, count), ServingTarget(**wanted))


def test_pictures_are_served_in_batches_within_their_latency() -> None:
    found = _pictures_on("l4", latency_s=0.1)
    assert found.serving is not None
    assert found.serving.latency_s is not None
    assert found.serving.latency_s.mid <= 0.1
    assert found.serving.time_to_first_token_s is None
    looser = _pictures_on("l4", latency_s=1.0)
    assert looser.serving is not None
    assert (looser.serving.concurrent_per_replica or 0) >= (found.serving.concurrent_per_replica or 0)


def test_pictures_too_late_say_so() -> None:
    found = _pictures_on("l4", latency_s=1e-6)
    assert not found.meets
    assert "a batch of 1 takes" in found.missed[0]


def test_a_cpu_gives_tokens_as_fast_as_its_memory() -> None:
    job = language_model(SEVEN_B)
    cpu = shipped().cpu("xeon-8259cl")
    assert cpu is not None
    assert cpu.memory_bandwidth_gbs is not None
    target = ServingTarget(prompt_tokens=100.0, output_tokens=100.0, weight_dtypes=("int4",))
    found = serve_cpu(job, cpu, None, 64 * 2**30, target)
    assert found.serving is not None
    assert found.serving.weights_bytes is not None
    token = next(part for part in found.explanation.inputs if part.name == "One request alone")
    assert "a token" in token.value
    fastest = found.serving.weights_bytes / (cpu.memory_bandwidth_gbs * 1e9)
    assert found.serving.inter_token_latency_s is not None
    assert found.serving.inter_token_latency_s.mid > fastest
    assert found.gpus_needed == 1
    busy = serve_cpu(job, cpu, None, 64 * 2**30, msgspec.structs.replace(target, concurrent_users=1000.0))
    assert busy.serving is not None
    assert busy.gpus_needed == busy.serving.replicas > 1
    assert busy.meets


def test_a_cpu_with_too_little_memory_says_so() -> None:
    job = language_model(SEVEN_B)
    target = ServingTarget(prompt_tokens=100.0, output_tokens=100.0)
    found = serve_cpu(job, shipped().cpu("xeon-8259cl"), None, 8 * 2**30, target)
    assert found.fits is False
    assert "the machine has 8" in found.missed[0]
    assert serve_cpu(job, None, None, None, target).missed == ("the CPU of this offer is not known",)


def test_pictures_on_the_cpu_they_ran_on() -> None:
    job = _pictures()
    found = serve_cpu(job, shipped().cpu("xeon-8259cl"), 24, 64 * 2**30, ServingTarget())
    assert found.serving is not None
    assert found.serving.latency_s is not None
    assert found.serving.latency_s.mid < 2.0  # the training step took that long


def test_slices_have_their_share_of_everything() -> None:
    card = gpu(mig_max_instances=7, memory_gb=80, memory_bandwidth_gbs=2000)
    smallest = slices_of(card)[0]
    part = sliced(card, smallest)
    assert part.memory_gb == 10
    assert part.memory_bandwidth_gbs == 250
    assert part.fp16_tensor_tflops == pytest.approx(120 / 7)
    assert slices_of(gpu()) == ()
    assert slice_for_share(card, 1 / 7) == smallest
    assert slice_for_share(gpu(), 0.25).memory_share == 0.25


def test_a_fraction_of_a_gpu_serves_its_fraction() -> None:
    spec, job = shipped().gpu("a100-sxm4-80gb"), language_model(1_100_000_000)
    assert spec is not None
    target = ServingTarget(prompt_tokens=100.0, output_tokens=100.0)
    whole = serve(job, job_memory(job), spec, topology_at_counts(spec, 1), target)
    seventh = serve(job, job_memory(job), spec, topology_at_counts(spec, 1), target, share=1 / 7)
    assert seventh.serving is not None
    assert whole.serving is not None
    assert seventh.serving.gpu_share == pytest.approx(1 / 7)
    assert seventh.serving.requests_per_second is not None
    assert whole.serving.requests_per_second is not None
    assert seventh.serving.requests_per_second.mid < whole.serving.requests_per_second.mid / 2


def test_a_day_with_a_quiet_night() -> None:
    night_and_day = tuple([0.25] * 12 + [1.0] * 12)
    found = plan(
        language_model(), "l4", 64, requests_per_second=20.0, inter_token_latency_s=0.08, hourly_load=night_and_day
    )
    assert found.serving is not None
    hours = found.serving.replica_hours_per_day
    assert hours is not None
    assert hours < 24 * found.serving.replicas
    assert found.serving.autoscaling_saving_share == pytest.approx(1 - hours / (24 * found.serving.replicas))
    assert len(found.serving.replicas_by_hour) == 24


def test_a_day_has_24_figures() -> None:
    assert over_the_day((), lambda _: 1) is None
    for load in ((1.0,) * 23, (0.0,) * 24, (-1.0,) * 24):
        with pytest.raises(UsageError, match="24 figures"):
            over_the_day(load, lambda _: 1)


def test_each_start_and_stop_is_paid_for() -> None:
    curve = over_the_day((0.5,) * 12 + (1.0,) * 12, lambda share: round(2 * share))
    assert curve is not None
    assert curve.replica_hours == pytest.approx(12 + 24 + 10 / 60 + 5 / 60)


def test_llama_cpp_is_known_by_its_name() -> None:
    engines = Engines()
    assert engines.of("llama.cpp") == engines.of("Ollama") == engines.llama_cpp
    assert engines.of(None) == engines.of("vllm") == engines.graphs
    named = prepare(estimate(SEVEN_B, "fp16", "inference", engine="llama.cpp"), Constraints(), shipped())
    slow, fast = plan(named, "rtx-4090"), plan(language_model(), "rtx-4090")
    assert slow.serving is not None
    assert fast.serving is not None
    assert slow.explanation != fast.explanation
    assert any("No engine is named" in note for note in fast.assumptions)
    assert not any("No engine is named" in note for note in slow.assumptions)


def test_a_cache_of_eight_bits_takes_half() -> None:
    job = language_model()
    usual, small = plan(job, "l4"), plan(job, "l4", cache_dtype="float8")
    assert usual.serving is not None
    assert small.serving is not None
    assert small.serving.cache_bytes_per_token == (usual.serving.cache_bytes_per_token or 0) / 2
    assert (small.serving.concurrent_per_replica or 0) >= (usual.serving.concurrent_per_replica or 0)


def test_a_measured_memory_goes_before_its_specification() -> None:
    """The person's card gives 20% less than usual: reading the weights takes a quarter longer."""
    job, card = language_model(), shipped().gpu("l4")
    assert card is not None
    usual = vector_rate(card, job.calibration)
    assert usual is not None
    measured = Figure(value=usual.value * 0.8, kind=MEASURED, source="gpuscope bench")
    rates = {"l4": SustainedRates(vector_bytes_per_s=measured)}
    own = msgspec.structs.replace(job, calibration=msgspec.structs.replace(job.calibration, rates=rates))
    fast, slow = (plan(each, "l4", concurrent_users=1.0).serving for each in (job, own))
    assert fast is not None
    assert slow is not None
    assert fast.inter_token_latency_s is not None
    assert slow.inter_token_latency_s is not None
    assert 1.15 < slow.inter_token_latency_s.mid / fast.inter_token_latency_s.mid < 1.25


def test_an_unknown_model_cannot_be_served() -> None:
    footprint = cpu_footprint()
    workload = msgspec.structs.replace(footprint.workload, parameters=None)
    job = prepare(msgspec.structs.replace(footprint, workload=workload), Constraints(stage="inference"), shipped())
    found = plan(job, "l4")
    assert found.serving is None
    assert "neither the architecture nor the number of parameters" in found.missed[0]


@pytest.mark.parametrize("wanted", [{"weight_dtypes": ("int3",)}, {"cache_dtype": "int3"}])
def test_a_format_that_is_not_known_is_refused_even_where_no_model_has_one(wanted: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="int3"):
        _pictures_on("l4", **wanted)
