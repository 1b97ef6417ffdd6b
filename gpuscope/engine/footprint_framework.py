"""What an import tells of the job itself, where it holds files of the framework: traces, snapshots, statistics."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from gpuscope.domain.base import Range
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Footprint,
    FootprintDevice,
    InputOutput,
    Memory,
    Op,
    PeakAt,
    Provenance,
    RankFootprint,
    Spread,
    Steps,
    TimePerStep,
    Utilization,
    Workload,
)
from gpuscope.domain.imported import NSIGHT, ImportedDetails, TraceDetails
from gpuscope.domain.ops import classify
from gpuscope.engine.advise import catalogue
from gpuscope.engine.footprint_steps import steps_summary, time_per_step
from gpuscope.engine.footprint_workload import workload_of
from gpuscope.engine.framework_findings import framework_findings
from gpuscope.engine.ran_on import with_known_card
from gpuscope.engine.run_facts import ProcessFacts, process_facts
from gpuscope.importers.pytorch.trace_memory import HOST
from gpuscope.store.reader import SessionReader

DETAILS = "import_details"
_TRACE, _ALLOCATOR = "profiler trace", "PyTorch's caching allocator, as the file shows it"
_DRIVER = "what the program took from the driver, added up"
_MATRIX_CLASSES = frozenset({"gemm", "convolution", "depthwise_convolution", "attention"})


def with_framework_files(footprint: Footprint, reader: SessionReader) -> Footprint:
    """A footprint of an import with everything that files of the framework add; without such files as it was.

    Args:
        footprint: of the samples alone.
        reader: the session.
    """
    details = reader.document(DETAILS, ImportedDetails)
    processes = process_facts(reader.events())
    if details is None or not processes:
        return with_known_card(footprint, reader)
    main = processes[0]
    trace = _trace_of(main, details)
    rows = main.last("ops").get("rows") or []
    ops = classify(rows) if rows else ()
    devices = _devices(details) or footprint.devices
    steps = steps_summary(main.steps, Batch())
    extended = msgspec.structs.replace(
        footprint,
        workload=_workload(main, ops, devices, trace) if trace is not None else footprint.workload,
        devices=devices,
        steps=steps if main.steps else Steps(),
        time_per_step_s=_time_per_step(main, trace),
        memory=_memory(footprint.memory, processes, details),
        ops=ops,
        communication=trace.communication if trace is not None else (),
        utilization=_utilization(footprint.utilization, details),
        io=InputOutput(host_to_device_bytes_per_step=trace.host_to_device_bytes if trace is not None else None),
        ranks=_ranks(processes, details),
    )
    findings = tuple(framework_findings(extended, details))
    whole = msgspec.structs.replace(
        extended, findings=findings, provenance={**footprint.provenance, **_provenance(extended, trace)}
    )
    return with_known_card(whole, reader)


def _trace_of(facts: ProcessFacts, details: ImportedDetails) -> TraceDetails | None:
    """The trace that a process's events are from: traces tell their rank, or there is only one."""
    if not facts.last("framework"):
        return None
    same = [trace for trace in details.traces if trace.rank == facts.rank]
    return same[0] if same else None


def _workload(
    facts: ProcessFacts, ops: Sequence[Op], devices: Sequence[FootprintDevice], trace: TraceDetails
) -> Workload:
    """The job by its operators: it trains if it goes backward, and computes in the type of most of its matrix work."""
    workload = workload_of(facts, Batch(), devices, catalogue())
    backward = any(op.kind.endswith("_backward") or op.class_ == "optimizer" for op in ops)
    trains = backward or trace.optimizer is not None
    sums: dict[str, float] = defaultdict(float)
    for op in ops:
        if op.class_ in _MATRIX_CLASSES and op.dtype is not None:
            sums[op.dtype] += op.flops or 0.0
    compute = max(sums, key=lambda name: sums[name], default=None)
    return msgspec.structs.replace(
        workload,
        stage="training" if trains else "inference",
        precision=msgspec.structs.replace(workload.precision, compute=compute),
    )


def _utilization(samples: Utilization, details: ImportedDetails) -> Utilization:
    """With the counters that were sampled: of the GPU that was busiest by them."""
    best: dict[str, Spread] = {}
    for metric in (metric for trace in details.traces for metric in trace.metrics):
        known = best.get(metric.name)
        if known is None or metric.percent.mean > known.mean:
            best[metric.name] = metric.percent
    return msgspec.structs.replace(
        samples,
        gpu=best.get("graphics_engine", samples.gpu),
        sm=best.get("sm"),
        tensor=best.get("tensor"),
        dram=best.get("dram"),
    )


def _devices(details: ImportedDetails) -> tuple[FootprintDevice, ...]:
    """The GPUs that did something; where not all ranks' traces are there, the others' are taken to be alike."""
    found = []
    for trace in details.traces:
        for device in trace.devices:
            gpu = catalogue().match_gpu(device.name, device.memory_bytes) if device.name else None
            found.append(
                FootprintDevice(gpu=gpu.id if gpu else None, name=device.name, memory_bytes=device.memory_bytes)
            )
    world = max((trace.world_size or 1 for trace in details.traces), default=1)
    return tuple(itertools.islice(itertools.cycle(found), max(world, len(found)))) if found else ()


def _time_per_step(facts: ProcessFacts, trace: TraceDetails | None) -> TimePerStep:
    """As of a measured run, but with idle time from when work overlapped, and with communication."""
    parts = time_per_step(facts)
    if trace is not None and trace.data_loader_s is not None:
        parts = msgspec.structs.replace(parts, data_loader=trace.data_loader_s)
    complete = [step for step in trace.steps if step.complete] if trace is not None else []
    if trace is None or not complete or not trace.devices:
        return parts
    idle = sum(max(0.0, step.duration_s - step.busy_s) for step in complete) / len(complete)
    communication = max(device.communication_time_s for device in trace.devices) / len(complete)
    return msgspec.structs.replace(parts, idle=idle, communication=communication or None)


def _memory(samples: Memory, processes: Sequence[ProcessFacts], details: ImportedDetails) -> Memory:
    allocated, reserved = (_peak(processes, f"peak_{name}_bytes") for name in ("allocated", "reserved"))
    return msgspec.structs.replace(
        samples,
        peak_allocated_bytes=allocated,
        peak_reserved_bytes=reserved,
        breakdown=_breakdown(details),
        peak_at=_peak_at(details),
    )


def _peak(processes: Sequence[ProcessFacts], name: str) -> Range | None:
    values = [int(event[name]) for facts in processes for event in facts.all("memory") if event.get(name)]
    return Range.exact(max(values)) if values else None


def _breakdown(details: ImportedDetails) -> Breakdown:
    """By category where a memory timeline tells it, of the device with the highest peak."""
    parts: dict[str, int] = max(
        (told.categories_at_peak for told in details.allocators), key=lambda told: sum(told.values()), default={}
    )
    if not parts:
        return Breakdown(fragmentation_bytes=_fragmentation(details))
    return Breakdown(
        parameters_bytes=parts.get("parameters"),
        gradients_bytes=parts.get("gradients"),
        optimizer_state_bytes=parts.get("optimizer_state"),
        activations_bytes=parts.get("activations"),
        temporaries_bytes=parts.get("temporaries"),
        other_bytes=sum(parts.get(name, 0) for name in ("inputs", "autograd", "unknown")),
        fragmentation_bytes=_fragmentation(details),
    )


def _fragmentation(details: ImportedDetails) -> int | None:
    """Free parts of segments in use; where only sums are known, what is reserved and not allocated at the peak."""
    split = [told.inactive_split_bytes for told in details.allocators if told.inactive_split_bytes is not None]
    if split:
        return max(split)
    apart = [
        memory.reserved_at_peak_bytes - memory.peak_allocated_bytes
        for trace in details.traces
        for memory in trace.memory
        if memory.device != HOST and memory.reserved_at_peak_bytes and memory.peak_allocated_bytes is not None
    ]
    return max(0, *apart) if apart else None


def _peak_at(details: ImportedDetails) -> PeakAt | None:
    """The line that held most at the peak, else the operator that made it."""
    for told in sorted(details.allocators, key=lambda told: -(told.peak_allocated_bytes or 0)):
        holders = told.holders_at_peak or told.holders
        if holders:
            return holders[0].place
    memories = [memory for trace in details.traces for memory in trace.memory if memory.device != HOST]
    return next((memory.peak_at for memory in memories if memory.peak_at), None)


def _ranks(processes: Sequence[ProcessFacts], details: ImportedDetails) -> tuple[RankFootprint, ...]:
    ranked = {facts.rank: facts for facts in processes if facts.rank is not None and facts.steps}
    if len(ranked) < 2:
        return ()
    return tuple(
        RankFootprint(
            rank=rank,
            steps=steps_summary(facts.steps, Batch()),
            time_per_step_s=_time_per_step(facts, _trace_of(facts, details)),
            memory=Memory(
                peak_allocated_bytes=_peak([facts], "peak_allocated_bytes"),
                peak_reserved_bytes=_peak([facts], "peak_reserved_bytes"),
            ),
        )
        for rank, facts in sorted(ranked.items())
    )


def _provenance(footprint: Footprint, trace: TraceDetails | None) -> dict[str, Provenance]:
    taken = _DRIVER if trace is not None and trace.source == NSIGHT else _ALLOCATOR
    figures: dict[str, tuple[object, str, str]] = {
        "/memory/peak_allocated_bytes": (footprint.memory.peak_allocated_bytes, "measured", _ALLOCATOR),
        "/memory/peak_reserved_bytes": (footprint.memory.peak_reserved_bytes, "measured", taken),
    }
    if trace is not None:
        marked = f"ranges that {trace.steps_marked_by} marks; at least the GPU's busy time; slowed by the profiler"
        figures |= {
            "/workload/stage": (True, "derived", "training when operators of a backward pass or an optimizer ran"),
            "/steps/time_s": (footprint.steps.count, "measured", marked),
            "/time_per_step_s/idle": (footprint.time_per_step_s.idle, "derived", "step less the GPU's busy time"),
            "/ops": (footprint.ops or None, "derived", "operators of a mean step; FLOPs and bytes from their shapes"),
        }
    return {
        pointer: Provenance(kind=kind, how=how, source=_TRACE if trace is not None else "file")
        for pointer, (value, kind, how) in figures.items()
        if value is not None
    }
