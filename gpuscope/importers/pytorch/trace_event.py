"""One event of a profiler trace, with the few of its arguments that are used: the rest is dropped while decoding."""

from __future__ import annotations

from typing import Any

import msgspec


class Arguments(
    msgspec.Struct,
    gc=False,
    rename={
        "external": "External id", "external_old": "external id", "device_id": "Device Id",
        "device_type": "Device Type", "allocated": "Total Allocated", "reserved": "Total Reserved",
        "size": "Bytes", "dims": "Input Dims", "dims_old": "Input dims", "types": "Input type",
        "concrete": "Concrete Inputs", "collective": "Collective name",
        "message_in": "In msg nelems", "message_out": "Out msg nelems", "message_dtype": "dtype",
        "group_size": "Group size",
    },
):  # fmt: skip
    """`args` of an event. Names as torch 1.8 to 2.13 write them; values may be of any type in a damaged file."""

    external: Any = None
    external_old: Any = None
    correlation: Any = None
    device: Any = None
    device_id: Any = None
    device_type: Any = None
    allocated: Any = None
    reserved: Any = None
    size: Any = None
    dims: msgspec.Raw = msgspec.Raw(b"")
    dims_old: msgspec.Raw = msgspec.Raw(b"")
    types: msgspec.Raw = msgspec.Raw(b"")
    concrete: msgspec.Raw = msgspec.Raw(b"")
    collective: Any = None
    message_in: Any = None
    message_out: Any = None
    message_dtype: Any = None
    group_size: Any = None


class TraceEvent(msgspec.Struct, gc=False):
    """One object of `traceEvents`: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU."""

    ph: str | None = None
    cat: str | None = None
    name: str = ""
    pid: int | float | str | None = None
    tid: int | float | str | None = None
    ts: float | None = None
    dur: float | None = None
    args: Arguments = msgspec.field(default_factory=Arguments)


CATEGORIES = {
    "cpu_op": "operator", "operator": "operator", "user_annotation": "annotation",
    "gpu_user_annotation": "gpu_annotation", "kernel": "kernel", "concurrent_kernel": "kernel",
    "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "set", "memset": "set",
    "cuda_runtime": "launch", "cuda_driver": "launch", "runtime": "launch", "hip_runtime": "launch",
    "xpu_runtime": "launch", "xpu_driver": "launch", "privateuse1_runtime": "launch", "privateuse1_driver": "launch",
    "mtia_runtime": "launch", "glow_runtime": "launch", "python_function": "python", "python function": "python",
    "cpu_instant_event": "instant", "memory": "instant",
}  # fmt: skip
"""By the lower-case category: what an event is. torch 1.8 to 1.10 wrote them with capitals."""


def kind_of(event: TraceEvent) -> str:
    """operator, annotation, gpu_annotation, kernel, copy, set, launch, python, instant, gpu_range, or "" (not used).

    The profiler of torch 1.0 to 1.7 wrote no category: its tracks are called `CPU functions` and `CUDA functions`,
    where the latter are ranges between two CUDA events, not kernels.
    """
    category = event.cat
    if category is not None:
        return CATEGORIES.get(category) or CATEGORIES.get(category.lower(), "")
    if event.pid == "CPU functions":
        return "operator"
    return "gpu_range" if event.pid == "CUDA functions" else ""
