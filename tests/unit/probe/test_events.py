"""What the probe writes: the fields that the contract names, the profiled step, and what profiling must not disturb."""

from __future__ import annotations

import re

import pytest

from gpuscope.domain import events
from gpuscope.domain.ops import classify
from gpuscope.domain.steps import steps_of

from .conftest import Outcome, Runner

TRAINING = """
import torch
from torch import nn
model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, bias=False), nn.Flatten(), nn.Linear(8 * 7 * 7, 10, bias=False))
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
data = torch.utils.data.TensorDataset(torch.randn(64, 3, 16, 16))
steps = 0
def train():
    global steps
    for (x,) in torch.utils.data.DataLoader(data, batch_size=4):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
        yield steps
"""


def _contract() -> dict[str, set[str]]:
    """Field names by kind, as the docstring of domain/events.py lists them."""
    text = (events.__doc__ or "").split("besides `kind`", 1)[1].split("Supervisor kinds", 1)[0]
    found: dict[str, set[str]] = {}
    kind = ""
    for line in text.splitlines()[1:]:
        head = re.match(r"([a-z_]+) +", line)
        if head:
            kind = head.group(1)
            line = line[head.end() :]
        found.setdefault(kind, set()).update(re.findall(r"[a-z_0-9]+", line))
    return found


@pytest.fixture(scope="module")
def _outcomes() -> dict[str, Outcome]:
    return {}


@pytest.fixture
def trained(run_probed: Runner, _outcomes: dict[str, Outcome]) -> Outcome:
    """One training run that all tests of this file look at."""
    if "trained" not in _outcomes:
        _outcomes["trained"] = run_probed(
            TRAINING + "for _ in train(): pass\nraise RuntimeError('CUDA out of memory')\n"
        )
    return _outcomes["trained"]


def test_fields_are_those_of_the_contract(trained: Outcome) -> None:
    contract = _contract()
    kinds = {event["kind"] for event in trained.events}
    wanted = "process_start framework device step optimizer model batch precision ops out_of_memory exception exit"
    assert kinds == set(wanted.split())
    for event in trained.events:
        named = contract[event["kind"]]
        assert set(event) - {"kind", "t", "pid"} <= named, event["kind"]
    for row in trained.last("ops")["rows"]:
        assert set(row) <= contract["ops"]


def test_times_never_go_back(trained: Outcome) -> None:
    times = [event["t"] for event in trained.events]
    assert times == sorted(times)


def test_one_step_is_profiled_and_marked(trained: Outcome) -> None:
    (ops,) = trained.all("ops")
    assert ops["step"] == 5
    assert [step["n"] for step in trained.all("step") if step["profiled"]] == [5, 6]
    assert 0 < ops["cost_s"] < 5
    # The person's output holds nothing of it, though the framework's profiler likes to announce itself.
    assert trained.errors.splitlines()[-1] == "RuntimeError: CUDA out of memory"
    assert "profiler" not in trained.errors


def test_rows_hold_what_the_step_did(trained: Outcome) -> None:
    rows = trained.last("ops")["rows"]
    convolution = next(row for row in rows if row["name"] == "aten::convolution")
    assert convolution["shapes"][:2] == [[4, 3, 16, 16], [8, 3, 3, 3]]
    assert convolution["args"][3] == [2, 2]
    assert (convolution["count"], convolution["phase"], convolution["backward"]) == (1, "forward", False)
    products = {row["phase"]: row for row in rows if row["name"] == "aten::mm" and row["backward"]}
    assert products["backward"]["shapes"] in ([[10, 4], [4, 392]], [[4, 10], [10, 392]])
    updates = [row for row in rows if row["name"].startswith("aten::_foreach")]
    assert updates
    assert {row["phase"] for row in updates} == {"optimizer"}
    assert {row["phase"] for row in rows} == {"forward", "backward", "optimizer", "data_loader"}
    assert all(row["cpu_time_s"] >= 0 and row["count"] >= 1 for row in rows)


def test_own_times_add_up_to_no_more_than_the_step(trained: Outcome) -> None:
    step = next(step for step in trained.all("step") if step["n"] == 5)
    total = sum(row["cpu_time_s"] for row in trained.last("ops")["rows"])
    assert 0 < total <= step["duration_s"] * 1.05


def test_rows_are_understood_by_the_advisors_classes(trained: Outcome) -> None:
    classes = {op.class_: op for op in classify(trained.last("ops")["rows"])}
    # Forward of the linear layer (4 × 392 × 10 multiply-adds), and its two gradients.
    assert sum(op.flops or 0 for op in classify(trained.last("ops")["rows"]) if op.class_ == "gemm") == 6 * 4 * 392 * 10
    assert "convolution" in classes
    assert "optimizer" in classes


def test_profile_is_off_when_asked(run_probed: Runner) -> None:
    outcome = run_probed(TRAINING + "for _ in train(): pass\n", GPUSCOPE_PROBE_PROFILE="0")
    assert not outcome.all("ops")
    assert not [step for step in outcome.all("step") if step["profiled"]]
    assert outcome.errors == ""


def test_script_with_a_profiler_of_its_own_in_the_profiled_step(run_probed: Runner) -> None:
    source = TRAINING + (
        "from torch.profiler import profile, ProfilerActivity\n"
        "for step in train():\n"
        "    if step == 4:\n"
        "        with profile(activities=[ProfilerActivity.CPU]) as mine:\n"
        "            torch.ones(3).mul(2)\n"
        "print(sorted(e.key for e in mine.key_averages() if e.key.startswith('aten::m')), steps)\n"
    )
    outcome = run_probed(source)
    assert outcome.status == 0, outcome.errors
    assert outcome.output == "['aten::mul'] 16\n"
    assert len(outcome.all("step")) == 16
    assert not outcome.all("ops")
    assert not outcome.all("probe_off")


def test_script_that_profiles_already(run_probed: Runner) -> None:
    source = TRAINING + (
        "with torch.profiler.profile() as mine:\n    for _ in train(): pass\n"
        "print(sum(e.count for e in mine.key_averages() if e.key == 'aten::conv2d'))\n"
    )
    outcome = run_probed(source)
    assert outcome.output == "16\n"
    assert not outcome.all("ops")
    assert not outcome.all("probe_off")


def test_error_of_ours_turns_the_probe_off_and_takes_the_hooks_out(run_probed: Runner) -> None:
    source = TRAINING + (
        "class Odd(dict):\n    def values(self):\n        raise LookupError('not in this optimizer')\n"
        "optimizer.state = Odd()\n"
        "before = torch.autograd.backward\n"
        "x = torch.ones(4, 3, 16, 16)\n"
        "class Own(torch.optim.Optimizer):\n    def step(self): pass\n"
        "own = Own(model.parameters(), {})\nown.state = Odd()\n"
        "for _ in range(3):\n    model(x).sum().backward(); own.step()\n"
        "import sys\n"
        "hooks = sys.modules['torch.optim.optimizer']._global_optimizer_pre_hooks\n"
        "print(torch.autograd.backward is before, len(hooks))\n"
    )
    outcome = run_probed(source)
    assert (outcome.status, outcome.errors) == (0, "")
    assert outcome.output == "False 0\n"
    assert outcome.last("probe_off")["reason"] == "LookupError: not in this optimizer"


def test_cost_of_a_step_is_small(run_probed: Runner) -> None:
    source = (
        "import torch\nfrom statistics import median\n"
        "p = torch.nn.Parameter(torch.ones(4)); o = torch.optim.SGD([p], lr=0.1)\n"
        "import time\n"
        "for _ in range(60):\n    p.sum().backward(); o.step(); o.zero_grad(); time.sleep(0.002)\n"
    )
    outcome = run_probed(source, GPUSCOPE_PROBE_PROFILE="0")
    # Meant to be 20 µs; a busy machine may be several times slower, and the quickest steps tell.
    costs = sorted(step["probe_s"] for step in outcome.all("step") if step["n"] > 12)
    assert costs[len(costs) // 10] < 60e-6


def test_the_compiler_leaves_our_code_out(run_probed: Runner) -> None:
    source = (
        "import torch\n"
        "p = torch.nn.Parameter(torch.ones(4)); o = torch.optim.SGD([p], lr=0.1)\n"
        "@torch.compile(backend='eager')\ndef update():\n    o.step()\n"
        "for _ in range(3):\n    p.sum().backward(); update()\n"
        "from torch._dynamo.convert_frame import input_codes\n"
        "codes = [seen() for seen in input_codes.seen]\n"
        "files = [code.co_filename for code in codes if code is not None]\n"
        "print(any('optimizer.py' in file for file in files), any('recorder' in file for file in files))\n"
    )
    outcome = run_probed(source, GPUSCOPE_PROBE_PROFILE="0")
    assert outcome.output == "True False\n"
    assert len(steps_of(outcome.domain_events)) == 3


def test_profile_of_a_step_that_does_not_end_is_given_up(run_probed: Runner) -> None:
    source = TRAINING + (
        "import time\nimport _gpuscope_probe.ops as ops\nops._LATE_AFTER_S = 0.2\nops._LATE_AFTER_STEPS = 0\n"
        "for step in train():\n"
        "    if step == 4:\n"
        "        before = torch.autograd._profiler_enabled()\n"
        "        model(torch.ones(1, 3, 16, 16)); time.sleep(0.3); model(torch.ones(1, 3, 16, 16))\n"
        "        hooks = torch.nn.modules.module._global_forward_pre_hooks\n"
        "        print(before, torch.autograd._profiler_enabled(), len(hooks))\n"
    )
    outcome = run_probed(source)
    assert (outcome.output, outcome.errors) == ("True False 0\n", "")
    assert not outcome.all("ops")
    assert len(outcome.all("step")) == 16


def test_short_steps_are_written_together_but_skips_stay_apart(run_probed: Runner) -> None:
    source = (
        "import torch\n"
        "p = torch.nn.Parameter(torch.ones(4)); o = torch.optim.SGD([p], lr=0.1)\n"
        "scaler = torch.amp.GradScaler('cpu', init_scale=2.0)\n"
        "for i in range(400):\n"
        "    scaler.scale(p.sum()).backward()\n"
        "    if i in (150, 151, 399): p.grad[0] = float('nan')\n"
        "    scaler.step(o); scaler.update(); o.zero_grad()\n"
    )
    outcome = run_probed(source, GPUSCOPE_PROBE_PROFILE="0")
    steps = steps_of(outcome.domain_events)
    assert len(outcome.all("step")) < 300
    assert [i for i, step in enumerate(steps) if step.skipped] == [150, 151, 399]
    assert len(steps) == 400
    assert outcome.all("step")[-1]["n"] == 400
