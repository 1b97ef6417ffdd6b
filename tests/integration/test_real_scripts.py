"""Training scripts that know nothing of gpuscope, through `gpuscope run`: steps, times and bytes as they say."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.jobs import environment, gpuscope

SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"
TOLERANCE = 0.02
ATTEMPTS = 3
"""A machine that is busy with other things may spoil one comparison of times, not three."""


def run(folder: Path, script: str, *arguments: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What the script says of itself (its last line), the footprint and the recommendation."""
    path = folder / "job.gpuscope"
    env = environment(folder, {"OMP_NUM_THREADS": "1"})
    done = gpuscope("run", "-o", path, "--", SCRIPTS / script, *arguments, cwd=folder, env=env)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    said = json.loads(done.stdout.strip().splitlines()[-1])
    footprint = json.loads(gpuscope("footprint", path, "--json", cwd=folder, env=env).stdout)
    advice = gpuscope("advise", path, "--total-steps", "100000", "--json", cwd=folder, env=env)
    assert advice.returncode == 0, advice.stderr
    return said, footprint, json.loads(advice.stdout)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("gpt_loop.py", ["--steps", "60"]),
        ("resnet_loop.py", []),
        ("gpt_loop.py", ["--steps", "30", "--accumulate", "2"]),
    ],
)
def test_common_training_loops(tmp_path: Path, script: str, arguments: list[str]) -> None:
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        said, footprint, advice = run(folder, script, *arguments)
        steps = footprint["steps"]
        assert steps["count"] == said["steps"]
        assert steps["skipped_updates"] == 0
        ours, theirs = footprint["extra"]["all_steps_p50_s"], statistics.median(said["times"][1:])
        if ours == pytest.approx(theirs, rel=TOLERANCE):
            break
    else:
        pytest.fail(f"the script measured {theirs} s a step, gpuscope {ours} s")
    parts = footprint["memory"]["breakdown"]
    assert parts["parameters_bytes"] == said["parameter_bytes"]
    assert parts["optimizer_state_bytes"] == said["optimizer_bytes"]
    assert parts["gradients_bytes"] == said["parameter_bytes"]
    assert footprint["workload"]["stage"] == "training"
    assert sum(op["flops"] or 0 for op in footprint["ops"]) > 0
    assert advice["recommended"] is not None
    best = advice["candidates"][advice["recommended"]]
    assert best["time_to_finish_s"]["low"] < best["time_to_finish_s"]["high"]


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("gan.py", []),
        ("in_backward.py", []),
        ("grad_scaler.py", []),
        ("grad_scaler.py", ["--fused"]),
        ("lbfgs.py", []),
        ("zero_redundancy.py", []),
    ],
)
def test_steps_that_are_not_single_optimizer_calls(tmp_path: Path, script: str, arguments: list[str]) -> None:
    said, footprint, _ = run(tmp_path, script, *arguments)
    assert footprint["steps"]["count"] == said["steps"]
    if "skipped" in said:
        assert footprint["steps"]["skipped_updates"] == said["skipped"]


def test_fully_sharded_ranks_under_torchrun(tmp_path: Path) -> None:
    path = tmp_path / "job.gpuscope"
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", SCRIPTS / "fully_sharded.py"]
    done = gpuscope("run", "-o", path, "--command", "--", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    said = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    footprint = json.loads(gpuscope("footprint", path, "--json", cwd=tmp_path).stdout)
    assert [(rank["rank"], rank["steps"]["count"]) for rank in footprint["ranks"]] == [(0, 12), (1, 12)]
    parts = footprint["ranks"][0]["memory"]["breakdown"]
    assert parts["parameters_bytes"] == said["parameter_bytes"]
    assert parts["optimizer_state_bytes"] == said["optimizer_bytes"]
