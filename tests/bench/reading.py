"""What opening a profiler trace of 500 MB costs, beside `json.load` of the same file, which is where scripts begin.

The trace is one real step (tests/data/imports) again and again. Each reading has a process of its own, so that the
peak of its memory can be told.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.measure import Comparison, interleave

TRACE_BYTES = 500_000_000
_STEP = Path(__file__).parents[1] / "data" / "imports" / "pytorch" / "kineto-rocm-device-2.json"
_STEP_US = 10_000


def run(rounds: int) -> Comparison:
    """Wall seconds of reading a trace, and of decoding its JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, TRACE_BYTES)
        peaks: dict[str, list[float]] = {"ours": [], "json": []}
        comparison = interleave(
            f"reading a {path.stat().st_size / 1e6:.0f} MB trace",
            "json.load of it",
            "s",
            ours=lambda: _measured("ours", path, peaks["ours"]),
            baseline=lambda: _measured("json", path, peaks["json"]),
            rounds=rounds,
        )
    print(f"Most memory: {max(peaks['ours']):.0f} MB, json.load {max(peaks['json']):.0f} MB.")
    return comparison


def write_trace(path: Path, size_bytes: int) -> None:
    """Write a trace of at least a size: the shipped step, each time later and with correlations of its own."""
    source = json.loads(_STEP.read_text(encoding="utf-8"))
    events = [event for event in source.pop("traceEvents") if event["ph"] == "X" and event["name"] != "ProfilerStep#2"]
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(source)[:-1] + ',\n"traceEvents": [\n')
        step = 0
        while file.tell() < size_bytes:
            file.write(",\n".join(json.dumps(_at_step(event, step)) for event in events) + ",\n")
            step += 1
        file.write(json.dumps(_at_step(events[0], step)) + "\n]}\n")


def _at_step(event: dict[str, object], step: int) -> dict[str, object]:
    arguments = dict(event.get("args") or {})  # type: ignore[call-overload]  # JSON
    if "correlation" in arguments:
        arguments["correlation"] += 1000 * step
    name = f"ProfilerStep#{step}" if event["name"] == "ProfilerStep#1" else event["name"]
    return {**event, "name": name, "ts": float(str(event["ts"])) + _STEP_US * step, "args": arguments}


def _measured(how: str, path: Path, peaks: list[float]) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.reading", how, str(path)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    peaks.append(megabytes)
    return seconds


def _read(how: str, path: Path) -> None:
    """In a process of its own: seconds and the peak of memory in MB."""
    if how == "ours":
        from gpuscope.engine.import_files import read_file

        began_s = time.perf_counter()
        read_file(path)
    else:
        began_s = time.perf_counter()
        with path.open(encoding="utf-8") as file:
            json.load(file)
    print(time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _read(sys.argv[1], Path(sys.argv[2]))
