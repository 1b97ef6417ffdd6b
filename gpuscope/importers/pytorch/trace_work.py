"""What each GPU did in a trace: kernels, copies and sets, when it was busy, and who launched what."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from gpuscope.domain.footprint import Communication
from gpuscope.domain.imported import TracedDevice, TracedName
from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.intervals import Floats, Integers
from gpuscope.importers.pytorch.trace_columns import Spans, TraceColumns, is_communication
from gpuscope.importers.pytorch.trace_nesting import NOBODY, Nesting
from gpuscope.importers.pytorch.trace_steps import Launched

WORK = ("kernel", "copy", "set")
_MOST_NAMES = 50
_BYTES = {"float": 4, "float32": 4, "double": 8, "long": 8, "int64": 8, "half": 2, "bfloat16": 2, "int": 4, "byte": 1}
_COLLECTIVES = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all", "broadcast": "broadcast", "reduce": "reduce", "send": "send_recv", "recv": "send_recv",
}  # fmt: skip


@dataclass(slots=True)
class Work:
    """Kernels, copies and sets of all GPUs in one row, each with its launch."""

    launched: Launched
    name: Integers
    device: Integers
    is_kernel: np.ndarray[tuple[int], np.dtype[np.bool_]]
    correlation: Integers
    launch: Integers
    """Number of the launch in the columns; NOBODY: it is not in the trace."""
    operator: Integers
    """The operator that launched it; NOBODY: none."""


def work_of(columns: TraceColumns, nesting: Nesting) -> Work:
    """Find the launch of all work by its correlation, and the innermost operator that ran there and then."""
    parts = [(key, spans) for key, spans in sorted(columns.device_work.items()) if key[1] in WORK]
    start, duration = (_joined([getattr(spans, name) for _, spans in parts]) for name in ("start_us", "duration_us"))
    correlation, external, name = (
        _joined([getattr(spans, field) for _, spans in parts]).astype(np.int64)
        for field in ("correlation", "external", "key")
    )
    launch = _launches(columns.launches, correlation)
    found = launch != NOBODY
    at, operator = start.copy(), np.full(len(start), NOBODY, dtype=np.int64)
    at[found] = np.array(columns.launches.start_us)[launch[found]]
    threads = np.array(columns.launches.thread, dtype=np.int64)[launch[found]]
    operator[found] = nesting.at_all(threads, at[found])
    operator[~found] = _by_external(columns.operators, external[~found])
    return Work(
        launched=Launched(at, start, duration),
        name=name,
        device=_joined([[key[0]] * len(spans.key) for key, spans in parts]).astype(np.int64),
        is_kernel=_joined([[key[1] == "kernel"] * len(spans.key) for key, spans in parts]).astype(bool),
        correlation=correlation,
        launch=launch,
        operator=operator,
    )


def _joined(parts: list[object]) -> Floats:
    return np.concatenate([np.asarray(part, dtype=float) for part in parts]) if parts else np.empty(0)


def _launches(launches: Spans, correlation: Integers) -> Integers:
    """For each correlation the launch that has it."""
    return _looked_up(np.array(launches.correlation, dtype=np.int64), correlation)


def _by_external(operators: Spans, external: Integers) -> Integers:
    """Where the launch is not in the trace: the operator with the same "External id"."""
    return _looked_up(np.array(operators.external, dtype=np.int64), external)


def _looked_up(known: Integers, wanted: Integers) -> Integers:
    """Places of values among others; NOBODY for those that are not there or are no numbers."""
    if not len(known) or not len(wanted):
        return np.full(len(wanted), NOBODY, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)
    return np.where((known[order[places]] == wanted) & (wanted >= 0), order[places], NOBODY)


def devices_of(columns: TraceColumns, properties: dict[int, tuple[str | None, int | None]]) -> tuple[TracedDevice, ...]:
    """The GPUs that did something.

    Args:
        columns: the trace.
        properties: name and bytes of memory by device index.
    """
    by_device: dict[int, dict[str, Spans]] = defaultdict(dict)
    for (index, kind), spans in columns.device_work.items():
        by_device[index][kind] = spans
    return tuple(_device(columns, index, kinds, properties) for index, kinds in sorted(by_device.items()))


def _device(
    columns: TraceColumns, index: int, kinds: dict[str, Spans], properties: dict[int, tuple[str | None, int | None]]
) -> TracedDevice:
    kernels, copies, sets, ranges = (kinds.get(kind, Spans()) for kind in ("kernel", "copy", "set", "gpu_range"))
    start, duration = _all(kernels, copies, sets)
    begin, end = intervals.union(start, duration)
    name, memory = properties.get(index, (None, None))
    return TracedDevice(
        index=index,
        name=name,
        memory_bytes=memory,
        kernels=len(kernels.key),
        kernel_time_s=_length_s(kernels),
        copies=len(copies.key),
        copy_time_s=_length_s(copies),
        sets=len(sets.key),
        set_time_s=_length_s(sets),
        busy_s=intervals.length(start, duration) * 1e-6,
        work_sum_s=float(np.sum(duration)) * 1e-6,
        communication_time_s=_communication_s(columns, kernels),
        span_s=float(end[-1] - begin[0]) * 1e-6 if len(begin) else 0.0,
        longest_gap_s=intervals.longest_gap(begin, end) * 1e-6,
        annotations=len(kinds.get("gpu_annotation", Spans()).key),
        ranges=len(ranges.key),
        range_time_s=_length_s(ranges),
    )


def _all(*spans: Spans) -> tuple[Floats, Floats]:
    return _joined([part.start_us for part in spans]), _joined([part.duration_us for part in spans])


def _length_s(spans: Spans) -> float:
    return intervals.length(spans.start_us, spans.duration_us) * 1e-6


def _communication_s(columns: TraceColumns, kernels: Spans) -> float:
    names = columns.names.in_order
    wanted = {number for number in set(kernels.key) if is_communication(names[number])}
    mine = [at for at, key in enumerate(kernels.key) if key in wanted] if wanted else []
    return 1e-6 * intervals.length([kernels.start_us[at] for at in mine], [kernels.duration_us[at] for at in mine])


def kernels_of(columns: TraceColumns, work: Work) -> tuple[TracedName, ...]:
    """The kernels that took longest, by name."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0, 0.0, NOBODY])
    for at in np.flatnonzero(work.is_kernel).tolist():
        total = sums[int(work.name[at])]
        total[0] += 1
        total[1] += work.launched.duration_us[at]
        if work.launch[at] != NOBODY:
            total[2] += 1
            total[3] += work.launched.start_us[at] - work.launched.at_us[at]
            total[4] = work.launch[at]
    names = columns.names.in_order
    return tuple(
        TracedName(
            name=names[name],
            count=int(count),
            time_s=float(time_us) * 1e-6,
            launched_by=names[columns.launches.key[int(launch)]] if launched else None,
            launch_delay_s=float(delay_us) * 1e-6 / launched if launched else None,
        )
        for name, (count, time_us, launched, delay_us, launch) in heapq.nlargest(
            _MOST_NAMES, sums.items(), key=lambda item: item[1][1]
        )
    )


def functions_of(columns: TraceColumns) -> tuple[TracedName, ...]:
    """The Python functions that took longest, what they called included."""
    longest = heapq.nlargest(_MOST_NAMES, columns.python.items(), key=lambda item: item[1][1])
    return tuple(TracedName(name=name, count=int(count), time_s=us * 1e-6) for name, (count, us) in longest)


def communication_of(columns: TraceColumns, work: Work, steps: list[tuple[float, float]]) -> tuple[Communication, ...]:
    """Collectives whose messages the trace tells (torch 2.2 and later), of one mean step."""
    sums: dict[tuple[str, int | None], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    if not columns.collectives:
        return ()
    for at in np.flatnonzero(work.is_kernel & intervals.inside(work.launched.at_us, steps)).tolist():
        fields = columns.collectives.get((int(work.device[at]), int(work.correlation[at])))
        if fields is None:
            continue
        name, message_in, message_out, dtype, group = fields
        sizes = [size for size in (message_in, message_out) if isinstance(size, int)]
        width = _BYTES.get(str(dtype).lower())
        if isinstance(name, str) and sizes and width:
            key = _COLLECTIVES.get(name.lower().replace("_", "").split("into")[0].removesuffix("base"), name)
            total = sums[key, group if isinstance(group, int) else None]
            total[0] += max(sizes) * width
            total[1] += 1
            total[2] += work.launched.duration_us[at] * 1e-6
    share = 1.0 / max(1, len(steps))
    return tuple(
        Communication(
            collective=name, bytes=size * share, count=count * share, time_s=float(time_s) * share, group_size=group
        )
        for (name, group), (size, count, time_s) in sorted(sums.items(), key=lambda item: -item[1][2])
    )
