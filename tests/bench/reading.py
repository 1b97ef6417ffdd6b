"""What opening a profiler trace of 500 MB costs, beside what scripts begin with today.

The trace is one real step (tests/data/imports) again and again. Each reading has a process of its own, so that the
peak of its memory can be told. `json.load` only decodes the file; Holistic Trace Analysis makes a data frame of its
events, Perfetto's trace processor a database.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.measure import Comparison, interleave
from tests.bench.separately import Separate, report

TRACE_BYTES = 500_000_000
ANALYSED_BYTES = 5_000_000
"""For programs that analyse what they read: HTA had not finished 50 MB of such steps after eight minutes."""
_STEP = Path(__file__).parents[1] / "data" / "imports" / "pytorch" / "kineto-rocm-device-2.json"
_STEP_US = 10_000
_NAMES = {"json": "json.load", "hta": "HTA's TraceAnalysis", "perfetto": "Perfetto's TraceProcessor"}


def run(rounds: int, beside: str = "json") -> Comparison:
    """Wall seconds of reading a trace, and of what is done with it today.

    Args:
        rounds: how often.
        beside: json, hta or perfetto.

    Raises:
        NotInstalledError: that is not there.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, TRACE_BYTES if beside == "json" else ANALYSED_BYTES)
        ours, other = Separate(__name__, "ours", path), Separate(__name__, beside, path)
        comparison = interleave(
            f"reading a {path.stat().st_size / 1e6:.0f} MB trace",
            f"{_NAMES[beside]} of it",
            "s",
            ours=ours,
            baseline=other,
            rounds=rounds,
        )
    print(f"Most memory: {max(ours.peaks_mb):.0f} MB, {_NAMES[beside]} {max(other.peaks_mb):.0f} MB.")
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


def _ours(path: Path) -> Callable[[], object]:
    from gpuscope.engine.import_files import read_file

    return lambda: read_file(path)


def _json(path: Path) -> Callable[[], object]:
    def load() -> object:
        with path.open(encoding="utf-8") as file:
            return json.load(file)

    return load


def _hta(path: Path) -> Callable[[], object]:
    from hta.trace_analysis import TraceAnalysis

    return lambda: TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent))


def _perfetto(path: Path) -> Callable[[], object]:
    from perfetto.trace_processor import TraceProcessor

    return lambda: TraceProcessor(trace=str(path)).close()


if __name__ == "__main__":
    _WAYS = {"ours": _ours, "json": _json, "hta": _hta, "perfetto": _perfetto}
    report(lambda: _WAYS[sys.argv[1]](Path(sys.argv[2])))
