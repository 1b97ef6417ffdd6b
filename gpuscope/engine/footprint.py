"""From a session to the footprint of its job."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from gpuscope.domain.footprint import (
    Batch,
    Footprint,
    FootprintSource,
    InputOutput,
    Provenance,
    RankFootprint,
    Utilization,
)
from gpuscope.domain.ops import classify
from gpuscope.domain.run import CLUSTER, IMPORT, Manifest
from gpuscope.domain.series import HOST_KEY, Timeline
from gpuscope.engine import measures
from gpuscope.engine.advise import catalogue
from gpuscope.engine.findings import findings_of
from gpuscope.engine.footprint_import import imported_footprint
from gpuscope.engine.footprint_memory import memory_of
from gpuscope.engine.footprint_steps import batch_of, steady_steps, steps_summary, time_per_step
from gpuscope.engine.footprint_workload import ProcessSightings, devices_of, host_of, workload_of
from gpuscope.engine.run_facts import ProcessFacts, process_facts
from gpuscope.store.reader import SessionReader

PHASE_SOURCE = "operator times of one profiled step; on a CPU their shares of the median step"
PROVENANCE = {
    "/workload/stage": ("derived", "training when an optimizer stepped", "probe"),
    "/workload/parameters": ("measured", "all live modules, each tensor once", "probe"),
    "/workload/batch": ("measured", "median samples of the DataLoader batches of a step", "probe"),
    "/steps/count": ("measured", "steps of the dominant optimizer, at most one for each backward pass", "probe"),
    "/steps/time_s": ("measured", "time between the ends of successive steps in steady state", "probe"),
    "/time_per_step_s/data_loader": ("measured", "share of the steady steps inside the DataLoader's next", "probe"),
    "/time_per_step_s/forward": ("derived", PHASE_SOURCE, "probe"),
    "/time_per_step_s/backward": ("derived", PHASE_SOURCE, "probe"),
    "/time_per_step_s/optimizer": ("derived", PHASE_SOURCE, "probe"),
    "/time_per_step_s/idle": ("derived", "median step less its kernels' time", "probe"),
    "/memory/peak_allocated_bytes": ("measured", "PyTorch's caching allocator", "probe"),
    "/memory/peak_reserved_bytes": ("measured", "PyTorch's caching allocator", "probe"),
    "/memory/peak_device_bytes": ("measured", "highest use of a GPU above its first reading", "NVML"),
    "/memory/breakdown": ("measured", "tensors of modules and optimizers, each storage once", "probe"),
    "/memory/host_rss_bytes": ("measured", "resident memory of the process tree, once a second", "host"),
    "/ops": ("derived", "operators of one profiled step; FLOPs and bytes from their shapes", "probe"),
    "/utilization/gpu": ("measured", "mean over the steady steps", "NVML"),
    "/utilization/cpu": ("measured", "mean over the steady steps", "host"),
}
"""How each figure of a measured footprint is come by; only those that are there are listed in it."""


def footprint_of(reader: SessionReader) -> Footprint:
    """The stored footprint of a finished session, else one computed from what is there now."""
    return reader.document("footprint", Footprint) or compute_footprint(reader)


def compute_footprint(reader: SessionReader) -> Footprint:
    """The footprint of whatever a session holds so far; what it does not hold is null."""
    if reader.manifest.kind in {IMPORT, CLUSTER}:
        return imported_footprint(reader)
    timeline, sightings = reader.timeline(), ProcessSightings()
    for frame in reader.remainders():  # process lists are no figures over time
        sightings.add(frame)
    processes = process_facts(reader.events())
    main = processes[0] if processes else ProcessFacts("none")
    start_s, end_s = _steady_window(main, timeline)
    batch = batch_of(main)
    gpus = reader.devices()
    seen_by_probe = any(facts.all("device") for facts in processes)
    devices = devices_of(processes, gpus, catalogue()) if seen_by_probe else sightings.devices(gpus, catalogue())
    uuids = [device.uuid for device in devices if device.uuid]
    energy, how = measures.energy(timeline, uuids, start_s, end_s, _steps_between(main, start_s, end_s))
    rows = main.last("ops").get("rows", [])
    steps = steps_summary(main.steps, batch)
    footprint = Footprint(
        source=_source(reader.manifest),
        workload=workload_of(main, batch, devices, catalogue()),
        devices=devices,
        host=host_of(reader.manifest.host, catalogue()),
        steps=steps if processes else msgspec.structs.replace(steps, count=None, skipped_updates=None),
        time_per_step_s=time_per_step(main),
        # Only a run is watched from before its beginning: elsewhere the first reading is not that of an idle GPU.
        memory=memory_of(main, timeline, uuids if reader.manifest.kind == "run" else ()),
        ops=classify(rows) if rows else (),
        utilization=Utilization(
            gpu=measures.gpu_spread(timeline, uuids, start_s, end_s),
            cpu=measures.spread(timeline.get(HOST_KEY, "cpu_percent"), start_s, end_s),
        ),
        energy=energy,
        io=InputOutput(
            disk_read_bytes_per_s=measures.host_mean(timeline, "disk_read_bytes_per_s", start_s, end_s),
            network_bytes_per_s=measures.host_mean(timeline, "network_receive_bytes_per_s", start_s, end_s),
        ),
        ranks=_ranks(processes, timeline),
        extra=_extra(main),
    )
    provenance = {**_provenance(footprint), **_stage_provenance(main), **_energy_provenance(energy.mean_power_w, how)}
    return msgspec.structs.replace(
        footprint,
        provenance=provenance,
        findings=findings_of(
            footprint, has_probe=bool(processes), device_known=bool(devices) or seen_by_probe or not gpus
        ),
    )


def _source(manifest: Manifest) -> FootprintSource:
    when = datetime.fromtimestamp(manifest.created_wall_s, UTC).isoformat(timespec="seconds")
    return FootprintSource(kind="measured", session=manifest.session_id, when=when)


def _steady_window(facts: ProcessFacts, timeline: Timeline) -> tuple[float, float]:
    """Session times between which the steady steps lie; the whole session when there are none."""
    steady = steady_steps(facts.steps)
    if not steady:
        return 0.0, timeline.end_s
    return steady[0].t - (steady[0].duration_s or 0.0), steady[-1].t


def _steps_between(facts: ProcessFacts, start_s: float, end_s: float) -> int:
    return sum(1 for step in facts.steps if start_s < step.t <= end_s)


def _ranks(processes: list[ProcessFacts], timeline: Timeline) -> tuple[RankFootprint, ...]:
    ranked = {facts.rank: facts for facts in processes if facts.rank is not None and facts.steps}
    if len(ranked) < 2:
        return ()
    return tuple(
        RankFootprint(
            rank=rank,
            steps=steps_summary(facts.steps, Batch()),
            time_per_step_s=time_per_step(facts),
            memory=msgspec.structs.replace(memory_of(facts, timeline, ()), host_rss_bytes=None),
        )
        for rank, facts in sorted(ranked.items())
    )


def _extra(facts: ProcessFacts) -> dict[str, Any]:
    durations = [step.duration_s for step in facts.steps if step.duration_s is not None]
    figures = {
        "buffer_bytes": facts.last("model").get("buffer_bytes"),
        "all_steps_p50_s": measures.step_time(durations).p50,
        "first_step_at_s": facts.steps[0].t if facts.steps else None,
    }
    return {name: value for name, value in figures.items() if value is not None}


def _stage_provenance(facts: ProcessFacts) -> dict[str, Provenance]:
    if facts.last("framework"):
        return {}
    return {"/workload/stage": Provenance(kind="assumed", how="nobody saw what the job does")}


def _energy_provenance(mean_power_w: float | None, how: str) -> dict[str, Provenance]:
    return {} if mean_power_w is None else {"/energy": Provenance(kind="measured", how=how, source="NVML")}


def _provenance(footprint: Footprint) -> dict[str, Provenance]:
    document = msgspec.to_builtins(footprint)
    return {
        pointer: Provenance(kind=kind, how=how, source=source)
        for pointer, (kind, how, source) in PROVENANCE.items()
        if _is_known(_at(document, pointer))
    }


def _at(document: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        document = document.get(part)
    return document


def _is_known(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_known(part) for part in value.values())
    return value not in (None, [], ())
