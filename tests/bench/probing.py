"""What the probe adds to a training step: the same script with and without it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from gpuscope.runner.command import plan_launch
from tests.bench.measure import Comparison, interleave

STEPS = 300

SCRIPT = f"""
import statistics, time, torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
optimizer = torch.optim.AdamW(model.parameters())
data = torch.randn(32, 64)
times = []
for step in range({STEPS}):
    started = time.perf_counter()
    loss = model(data).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    times.append(time.perf_counter() - started)
print(1e6 * statistics.median(times[{STEPS} // 2:]))
"""


def run(rounds: int) -> Comparison:
    """Microseconds a step of a tiny model: the worst case, since the probe's cost does not grow with the model."""
    with tempfile.TemporaryDirectory(prefix="gpuscope-bench-") as name:
        folder = Path(name)
        script = folder / "tiny.py"
        script.write_text(SCRIPT, encoding="utf-8")
        plan = plan_launch([str(script)], target="script", python=sys.executable, cwd=str(folder))

        def probed() -> float:
            return _median_us(list(plan.argv), {**plan.environment, "GPUSCOPE_PROBE_DIR": str(folder)})

        def bare() -> float:
            return _median_us([sys.executable, str(script)], dict(os.environ))

        return interleave(
            "a tiny training step, probed",
            "the same, without the probe",
            "µs",
            ours=probed,
            baseline=bare,
            rounds=rounds,
        )


def _median_us(command: list[str], environment: dict[str, str]) -> float:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
