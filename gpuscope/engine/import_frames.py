"""Devices and processes of files as those of a session; figures go into columns (import_tracks.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gpuscope.domain.device import Device
from gpuscope.domain.sample import Frame, GpuSample, ProcessSample
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.importers.reading import ImportedProcess, Reading

_MOST = 2.0**62
"""No figure of a GPU is larger, and the whole numbers of a session are not."""


def devices_of(readings: Sequence[Reading]) -> dict[str, Device]:
    """The devices of all files by every name that a file calls them: UUID, bus id, index, key of a track."""
    known: dict[str, Device] = {}
    for reading in readings:
        for key, track in reading.tracks.items():
            device = track.device
            for name in (key, device.uuid, device.pci_bus_id, str(device.index)):
                if name is not None:
                    known.setdefault(name, device)
    for reading in readings:
        for process in reading.processes:
            name = process.device or "unknown"
            if name not in known:
                index = whole_number(name)
                position = len({device.uuid for device in known.values()})
                known[name] = Device(uuid=name, index=position if index is None else index, name="unknown GPU")
    return known


def start_of(readings: Sequence[Reading]) -> float | None:
    """The earliest time of any sample, seconds since 1970 by the files' clock; None: there is no sample."""
    times = [float(track.times().min()) for reading in readings for track in reading.tracks.values() if track.wall_s]
    times += [process.wall_s for reading in readings for process in reading.processes if process.wall_s is not None]
    times += [event.wall_s for reading in readings for event in reading.events]
    if times:
        return min(times)
    return 0.0 if any(reading.processes for reading in readings) else None


def frames_of(readings: Sequence[Reading], devices: dict[str, Device], start_s: float) -> Iterator[Frame]:
    """The processes that the files list, in the order of their time; those of one moment share a frame."""
    rows: dict[float, list[GpuSample]] = defaultdict(list)
    for (wall_s, uuid), processes in _processes(readings, devices, start_s).items():
        rows[wall_s].append(GpuSample(uuid=uuid, processes=processes))
    for wall_s in sorted(rows):
        yield Frame(monotonic_s=wall_s - start_s, wall_s=wall_s, gpus=tuple(rows[wall_s]))


def _processes(
    readings: Sequence[Reading], devices: dict[str, Device], start_s: float
) -> dict[tuple[float, str], tuple[ProcessSample, ...]]:
    """Processes by moment and device; those without a time belong to the beginning."""
    found: dict[tuple[float, str], list[ProcessSample]] = defaultdict(list)
    for reading in readings:
        for process in reading.processes:
            device = devices[process.device or "unknown"]
            moment = start_s if process.wall_s is None else process.wall_s
            found[moment, device.uuid].append(_process(process))
    return {key: tuple(processes) for key, processes in found.items()}


def _process(process: ImportedProcess) -> ProcessSample:
    memory_bytes = process.memory_bytes
    return ProcessSample(
        pid=process.pid or 0,
        name=process.name,
        kind=process.kind,
        gpu_memory_bytes=memory_bytes if memory_bytes is not None and 0 <= memory_bytes < _MOST else None,
    )
