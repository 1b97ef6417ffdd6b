"""The footprint of a session that was imported from another program's recording: the GPUs' side alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from gpuscope.domain.base import Range
from gpuscope.domain.device import Device
from gpuscope.domain.footprint import (
    Finding,
    Footprint,
    FootprintDevice,
    FootprintSource,
    Memory,
    Provenance,
    Utilization,
    Workload,
)
from gpuscope.domain.series import Timeline
from gpuscope.engine import measures
from gpuscope.engine.advise import catalogue
from gpuscope.engine.footprint_framework import with_framework_files
from gpuscope.store.reader import SessionReader

IMPORTED = "imported"
"""Kind of the event that names a file's kind; `import_note` events say what was lost or assumed in it."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_IDLE_PERCENT = 1.0
"""A GPU whose utilisation never passes this, and whose memory never moves, did nothing."""
_MOVED_BYTES = 64 * 1024**2

_HELD_BYTES = 1024**3
"""More than a desktop and the contexts of idle programs hold."""

_NO_WORK = Finding(
    code="gpus_idle",
    sentence="No GPU worked at any moment of the file.",
    evidence=f"Utilisation never passes {_IDLE_PERCENT:g}%, and the memory in use stays the same.",
    remedy="Record while the job works: utilisation, power and energy of these moments are not the job's.",
)
_NO_JOB = Finding(
    code="job_not_seen",
    sentence="The file shows the GPUs, not the job: step time, batch size and parameters are not in it.",
    evidence="It is a monitor's log.",
    remedy="Put step time and batch size into the footprint by hand (`gpuscope footprint --json`, docs/json.md), or "
    "run the job under `gpuscope run` once.",
)


def imported_footprint(reader: SessionReader) -> Footprint:
    """Devices in use, memory, utilisation and energy; what the file does not hold is null."""
    timeline = reader.timeline()
    used, findings = _used(timeline, reader.devices())
    uuids = [device.uuid for device in used]
    energy, how = measures.energy(timeline, uuids, 0.0, timeline.end_s, 0)
    provenance = {} if energy.mean_power_w is None else {"/energy": Provenance(kind="measured", how=how, source="file")}
    memory = _memory(timeline, uuids)
    if memory.peak_device_bytes is not None:
        provenance["/memory/peak_device_bytes"] = Provenance(
            kind="derived",
            how="highest use; of it, what an idle moment of the file shows may be others'",
            source="file",
        )
    footprint = Footprint(
        source=_source(reader),
        workload=Workload(),
        devices=tuple(_device(device) for device in used if device.parent_uuid not in uuids),
        memory=memory,
        utilization=Utilization(gpu=measures.gpu_spread(timeline, uuids, 0.0, timeline.end_s)),
        energy=energy,
        findings=findings,
        provenance={**provenance, "/workload/stage": Provenance(kind="assumed", how="a monitor's log does not say")},
    )
    return with_framework_files(footprint, reader)


def _source(reader: SessionReader) -> FootprintSource:
    files = {str(event.data.get("file")) for event in reader.events() if event.kind == IMPORTED}
    when = (_EPOCH + timedelta(seconds=reader.manifest.created_wall_s)).replace(tzinfo=None).isoformat()
    return FootprintSource(kind="imported", session=reader.manifest.session_id, files=tuple(sorted(files)), when=when)


def _used(timeline: Timeline, devices: Sequence[Device]) -> tuple[list[Device], tuple[Finding, ...]]:
    """The devices of the job, and what the file does not say.

    Where none worked, as in a single look between two steps, those that held memory stand for it; else all of them.
    """
    working = [device for device in devices if _was_used(timeline, device)]
    if working or not devices:
        return working, (_NO_JOB,)
    holding = [device for device in devices if _highest_bytes(timeline, device.uuid) >= _HELD_BYTES]
    return holding or list(devices), (_NO_WORK, _NO_JOB)


def _highest_bytes(timeline: Timeline, uuid: str) -> float:
    used = timeline.get(uuid, "memory_used_bytes").known
    return float(np.max(used)) if len(used) else 0.0


def _was_used(timeline: Timeline, device: Device) -> bool:
    """Unknown counts as used: a GPU in MIG mode has no utilisation."""
    utilization = timeline.get(device.uuid, "utilization_gpu_percent").known
    memory = timeline.get(device.uuid, "memory_used_bytes").known
    idle = len(utilization) > 0 and float(np.max(utilization)) <= _IDLE_PERCENT
    still = len(memory) == 0 or float(np.ptp(memory)) < _MOVED_BYTES
    return not (idle and still)


def _device(device: Device) -> FootprintDevice:
    gpu = catalogue().match_gpu(device.name, device.memory_total_bytes)
    return FootprintDevice(
        gpu=gpu.id if gpu else None, name=device.name, uuid=device.uuid, memory_bytes=device.memory_total_bytes
    )


def _memory(timeline: Timeline, uuids: list[str]) -> Memory:
    """The highest use of any GPU; less what was in use while it was idle, where the file shows such a moment."""
    peaks = []
    for uuid in uuids:
        used = timeline.get(uuid, "memory_used_bytes").known
        if len(used):
            highest = float(np.max(used))
            peaks.append(Range(low=highest - _idle_bytes(timeline, uuid), mid=highest, high=highest))
    return Memory(peak_device_bytes=max(peaks, key=lambda peak: peak.mid) if peaks else None)


def _idle_bytes(timeline: Timeline, uuid: str) -> float:
    """Lowest memory use at a moment without any work.

    0 where there was none, or nothing else: then all of it counts as the job's.
    """
    memory, utilization = timeline.get(uuid, "memory_used_bytes"), timeline.get(uuid, "utilization_gpu_percent")
    idle_at = utilization.t[utilization.values <= _IDLE_PERCENT]
    if len(idle_at) == len(utilization.known):
        return 0.0
    idle = memory.values[np.isin(memory.t, idle_at) & ~np.isnan(memory.values)]
    return float(np.min(idle)) if len(idle) else 0.0
