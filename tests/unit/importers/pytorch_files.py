"""The shipped files of PyTorch, and traces made up event by event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpuscope.domain.imported import AllocatorDetails, TraceDetails
from gpuscope.importers.reading import Reading
from gpuscope.importers.recognise import read

FOLDER = Path(__file__).parents[2] / "data" / "imports" / "pytorch"
Event = dict[str, Any]


def read_case(name: str) -> Reading:
    """Read a file of `tests/data/imports/pytorch` by what it holds."""
    return read((FOLDER / name).read_bytes(), name)


def trace_of(reading: Reading) -> TraceDetails:
    """What a trace told."""
    assert isinstance(reading.details, TraceDetails)
    return reading.details


def allocators_of(reading: Reading) -> tuple[AllocatorDetails, ...]:
    """What a snapshot or a summary told."""
    assert isinstance(reading.details, tuple)
    return reading.details


def rows_of(reading: Reading) -> list[dict[str, Any]]:
    """The operators of a trace, as the probe would have told them."""
    (event,) = [event for event in reading.events if event.kind == "ops"]
    rows: list[dict[str, Any]] = event.data["rows"]
    return rows


def event(category: str, name: str, start: float, duration: float, **fields: Any) -> Event:
    """A complete event of the process 1, thread 1, unless said otherwise."""
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, **fields}


def kernel(name: str, start: float, duration: float, correlation: int, device: int = 0, stream: int = 7) -> Event:
    """A kernel, in the form of torch 2."""
    arguments = {"device": device, "stream": stream, "correlation": correlation}
    return event("kernel", name, start, duration, pid=device, tid=stream, args=arguments)


def launch(start: float, correlation: int, **fields: Any) -> Event:
    """A call that launches a kernel."""
    return event("cuda_runtime", "cudaLaunchKernel", start, 5, args={"correlation": correlation}, **fields)


def operator(name: str, start: float, duration: float, dims: Any = None, types: Any = None, **fields: Any) -> Event:
    """An operator on the CPU, with shapes where they are given."""
    arguments = {} if dims is None else {"Input Dims": dims, "Input type": types}
    return event("cpu_op", name, start, duration, args=arguments, **fields)


def trace(events: list[Event], **beside: Any) -> bytes:
    """A trace with one event a line, as Kineto writes it."""
    head = "".join(f'"{name}": {json.dumps(value)},\n' for name, value in beside.items())
    body = ",\n".join(json.dumps(each) for each in events)
    return f'{{\n"schemaVersion": 1,\n{head}"traceEvents": [\n{body}\n],\n"traceName": "t.json"\n}}\n'.encode()


def read_trace(events: list[Event], **beside: Any) -> Reading:
    """Read a made-up trace."""
    return read(trace(events, **beside), "trace.json")


def sentences(reading: Reading, code: str) -> list[str]:
    """What was noted under a code."""
    return [note.sentence for note in reading.notes if note.code == code]
