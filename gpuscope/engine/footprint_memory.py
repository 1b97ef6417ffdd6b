"""Memory of a footprint: the allocator's counters, the device's, and what the tensors are for."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Breakdown, Memory
from gpuscope.domain.series import HOST_KEY, Timeline
from gpuscope.engine import measures
from gpuscope.engine.run_facts import ProcessFacts


def memory_of(facts: ProcessFacts, timeline: Timeline, uuids: Sequence[str]) -> Memory:
    """Peaks of one process and of the GPUs that it used.

    Args:
        facts: the process.
        timeline: the session's samples.
        uuids: its GPUs; empty on the CPU.
    """
    return Memory(
        peak_allocated_bytes=_counter_peak(facts, "peak_allocated_bytes"),
        peak_reserved_bytes=_counter_peak(facts, "peak_reserved_bytes"),
        peak_device_bytes=_device_peak(timeline, uuids),
        breakdown=_breakdown(facts),
        host_rss_bytes=measures.peak(timeline.get(HOST_KEY, "workload_rss_bytes")),
    )


def _counter_peak(facts: ProcessFacts, name: str) -> Range | None:
    values = [int(counters[name]) for counters in facts.all("memory") if counters.get(name) is not None]
    return Range.exact(max(values)) if values else None


def _device_peak(timeline: Timeline, uuids: Sequence[str]) -> Range | None:
    """The highest use of any of the GPUs above its first reading, which was taken before the job began."""
    known = [timeline.get(uuid, "memory_used_bytes").known for uuid in uuids]
    rises = [float(values.max() - values[0]) for values in known if len(values)]
    return Range.exact(max(rises)) if rises else None


def _breakdown(facts: ProcessFacts) -> Breakdown:
    model, optimizers = facts.last("model"), facts.optimizers()
    uncounted = sum(int(census.get("uncounted_tensors") or 0) for census in [model, *optimizers])
    if uncounted or not (optimizers or model):
        return Breakdown()  # sums that lack parts are no figures
    in_optimizers = sum(int(census.get("parameter_bytes") or 0) for census in optimizers)
    parameters = model.get("parameter_bytes")
    return Breakdown(
        parameters_bytes=int(parameters if parameters is not None else in_optimizers),
        # 0: nobody saw them, because each is freed in the backward pass as soon as its parameter is updated.
        gradients_bytes=_peak_sum(facts, "gradient_bytes") or None,
        optimizer_state_bytes=_peak_sum(facts, "state_bytes") if optimizers else None,
    )


def _peak_sum(facts: ProcessFacts, name: str) -> int:
    """Sum over optimizers of the highest value that each was seen with."""
    highest: dict[str, int] = {}
    for census in facts.all("optimizer"):
        key = str(census.get("key"))
        highest[key] = max(highest.get(key, 0), int(census.get(name) or 0))
    return sum(highest.values())
