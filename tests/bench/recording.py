"""What recording eight GPUs at 10 Hz costs: CPU time of supervisor and sampler beside a bare loop of driver calls."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import Comparison, interleave
from tests.nvml.build import build_library
from tests.nvml.scenario import H100, Scenario

GPUS = 8
SHORT_S, LONG_S = 1.0, 5.0
INTERVAL_S = 0.1

BARE_LOOP = """
import sys, time, pynvml as n
seconds, interval = float(sys.argv[1]), float(sys.argv[2])
n.nvmlInit()
gpus = [n.nvmlDeviceGetHandleByIndex(index) for index in range(n.nvmlDeviceGetCount())]
end = time.monotonic() + seconds
due = time.monotonic()
while due < end:
    for gpu in gpus:
        n.nvmlDeviceGetUtilizationRates(gpu)
        n.nvmlDeviceGetMemoryInfo(gpu, version=n.nvmlMemory_v2)
        n.nvmlDeviceGetPowerUsage(gpu)
        n.nvmlDeviceGetClockInfo(gpu, n.NVML_CLOCK_SM)
        n.nvmlDeviceGetClockInfo(gpu, n.NVML_CLOCK_MEM)
    due += interval
    time.sleep(max(0.0, due - time.monotonic()))
"""


def run(rounds: int) -> Comparison:
    """Percent of one core in the steady state, start-up taken out by subtracting a short recording from a long one."""
    with tempfile.TemporaryDirectory(prefix="gpuscope-bench-") as name:
        folder = Path(name)
        environment = _environment(folder)
        count = 0

        def record(seconds: float) -> list[str]:
            nonlocal count
            count += 1
            target = str(folder / f"{count}.gpuscope")
            options = ["--seconds", str(seconds), "--interval", str(INTERVAL_S)]
            return [sys.executable, "-m", "gpuscope", "record", "-o", target, *options]

        def bare(seconds: float) -> list[str]:
            return [sys.executable, "-c", BARE_LOOP, str(seconds), str(INTERVAL_S)]

        def percent(command: object) -> float:
            make = record if command is record else bare
            spent_s = _cpu_seconds(make(LONG_S), environment) - _cpu_seconds(make(SHORT_S), environment)
            return 100 * spent_s / (LONG_S - SHORT_S)

        return interleave(
            f"record {GPUS} GPUs at 10 Hz",
            "bare loop, five calls a GPU",
            "% of a core",
            ours=lambda: percent(record),
            baseline=lambda: percent(bare),
            rounds=rounds,
        )


def _environment(folder: Path) -> dict[str, str]:
    scenario = Scenario()
    for _ in range(GPUS):
        scenario.add_gpu(H100)
    path = folder / "eight.scenario"
    scenario.write(path)
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(build_library()),
        "NVML_STANDIN_SCENARIO": str(path),
        "GPUSCOPE_STATE_DIR": str(folder / "state"),
    }


def _cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """User and system time of a command and of the children that it waited for."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    assert process.stderr is not None
    with process.stderr:
        if status != 0:
            raise RuntimeError(f"{command[:4]} failed: {process.stderr.read().decode()}")
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime
