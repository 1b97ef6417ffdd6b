"""Real training scripts that know nothing of gpuscope: steps, step times and bytes against what they print."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest

from gpuscope import paths
from gpuscope.domain.steps import StepRecord, steps_of

from .conftest import Outcome, Runner, to_events

# What scripts measure themselves and what the probe measured of the same steps may differ by this share.
TOLERANCE = 0.02


def _check(outcome: Outcome) -> list[StepRecord]:
    assert outcome.status == 0, outcome.errors
    assert not outcome.all("probe_off")
    result, steps = outcome.result, steps_of(outcome.domain_events)
    assert len(steps) == result["steps"]
    census = [event for event in outcome.all("optimizer") if event["dominant"]][-1]
    assert census["parameter_bytes"] == result["parameter_bytes"]
    assert census["state_bytes"] == result["optimizer_bytes"]
    assert outcome.last("exit")["reason"] == "normal"
    return steps


def _run_until_medians_agree(run_probed: Runner, script: str, epoch: int) -> Outcome:
    """Run a script and compare step times; a machine busy with other things may spoil one run, but not three.

    The script's first step of an epoch holds what it does between epochs, so it is not compared.
    """
    for attempt in range(3):
        outcome = run_probed(script, probe_folder_name=f"events{attempt}")
        times = outcome.result["times"]
        steps = _check(outcome)
        same = [i for i, step in enumerate(steps) if i % epoch and step.duration_s and not step.profiled]
        assert len(same) > len(times) / 2
        seen, own = median(steps[i].duration_s or 0.0 for i in same), median(times[i] for i in same)
        if seen == pytest.approx(own, rel=TOLERANCE):
            break
    else:
        pytest.fail(f"{script} measured {own} s a step, the probe {seen} s")
    return outcome


def test_gpt_loop(run_probed: Runner) -> None:
    outcome = _run_until_medians_agree(run_probed, "gpt_loop.py", epoch=1000)
    model = outcome.last("model")
    assert model["parameter_bytes"] == outcome.result["parameter_bytes"]  # tied weights once
    assert model["buffer_bytes"] == outcome.result["buffer_bytes"]
    assert model["class_names"] == ["GPT"]
    assert outcome.last("optimizer")["gradient_bytes"] == outcome.result["parameter_bytes"]


def test_gradient_accumulation_is_one_step_an_update(run_probed: Runner) -> None:
    _check(run_probed("gpt_loop.py", "--accumulate", "3", "--steps", "8"))


def test_resnet_loop_with_worker_processes(run_probed: Runner) -> None:
    outcome = _run_until_medians_agree(run_probed, "resnet_loop.py", epoch=8)
    assert len(outcome.events_by_pid) == 1  # data-loader workers stay quiet
    batches = outcome.all("batch")
    assert sum(batch["samples"] for batch in batches) == outcome.result["samples"] * outcome.result["steps"]
    assert all(0 <= batch["wait_s"] < 60 for batch in batches)
    assert outcome.last("model")["buffer_bytes"] == outcome.result["buffer_bytes"]


def test_lbfgs_closures_are_no_steps(run_probed: Runner) -> None:
    _check(run_probed("lbfgs.py"))


@pytest.mark.parametrize("arguments", [("--n-critic", "3"), ("--one-backward",)])
def test_two_optimizers_are_one_step_an_iteration(run_probed: Runner, arguments: tuple[str, ...]) -> None:
    outcome = run_probed("gan.py", *arguments)
    _check(outcome)
    assert {event["key"] for event in outcome.all("optimizer")} == {"optimizer1", "optimizer2"}


def test_optimizers_that_step_inside_backward_are_one(run_probed: Runner) -> None:
    outcome = run_probed("in_backward.py")
    _check(outcome)
    assert {event["key"] for event in outcome.all("optimizer")} == {"in_backward"}


@pytest.mark.parametrize("arguments", [(), ("--unscale",), ("--fused",)])
def test_iterations_that_a_grad_scaler_skips_are_steps(run_probed: Runner, arguments: tuple[str, ...]) -> None:
    outcome = run_probed("grad_scaler.py", *arguments)
    steps = _check(outcome)
    assert [i for i, step in enumerate(steps) if step.skipped] == [0, 4, 5, 11]
    assert all(step.skipped is not None for step in steps)
    precision = outcome.last("precision")
    assert precision["autocast"] == "bfloat16"
    assert precision["grad_scaler"] is True


def test_sharded_optimizers_on_two_ranks(run_probed: Runner) -> None:
    outcome = run_probed("zero_redundancy.py")
    assert outcome.status == 0, outcome.errors
    results: list[dict[str, Any]] = [json.loads(line) for line in outcome.output.splitlines()]
    assert len(results) == 2
    for result in results:
        events = outcome.events_by_pid[result["pid"]]
        assert len(steps_of(to_events(events))) == result["steps"]
        census = [event for event in events if event["kind"] == "optimizer"][-1]
        assert census["class_name"] == "ZeroRedundancyOptimizer"
        assert census["parameter_bytes"] == result["parameter_bytes"]
        assert census["state_bytes"] == result["optimizer_bytes"]
        assert not [event for event in events if event["kind"] == "probe_off"]


def test_frozen_base_of_lora_is_in_the_model(run_probed: Runner) -> None:
    outcome = run_probed("lora.py")
    _check(outcome)
    model = outcome.last("model")
    assert model["parameter_bytes"] == outcome.result["model_bytes"]
    assert model["trainable_parameters"] == outcome.result["trainable"]
    assert set(model["parameter_dtypes"]) == {"float32", "bfloat16"}


def test_compiled_model_and_compiled_optimizer(run_probed: Runner) -> None:
    outcome = run_probed("compiled.py")
    _check(outcome)
    precision = outcome.last("precision")
    assert precision["compiled"] is True
    assert precision["checkpointing"] is True
    assert precision["autocast"] == "bfloat16"


@pytest.mark.parametrize("script", ["train_gpt.py", "train_resnet.py"])
def test_bundled_workloads(run_probed: Runner, script: str) -> None:
    path = paths.resources_dir() / "workloads" / script
    assert "gpuscope" not in path.read_text()
    outcome = run_probed(str(path), "--steps", "7", "--batch-size", "2")
    assert outcome.status == 0, outcome.errors
    assert len(steps_of(outcome.domain_events)) == 7
    assert "step    7/7" in outcome.output
    assert outcome.last("batch")["samples"] == 2
