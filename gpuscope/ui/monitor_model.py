"""What the Monitor shows, without widgets: the newest reading and the history of every figure of every device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from PySide6.QtCore import QCoreApplication

from gpuscope.domain.base import Compact
from gpuscope.domain.device import Device, Host
from gpuscope.domain.events import Event
from gpuscope.domain.host_capacity import HostCapacity, host_capacity
from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame, HostSample, ProcessSample, SourceState
from gpuscope.domain.series import HOST_KEY, Newest, Past
from gpuscope.engine.follow import Update
from gpuscope.ui.details import Details, read_details
from gpuscope.ui.history import History
from gpuscope.ui.monitor_markers import Markers
from gpuscope.ui.overview import Overview
from gpuscope.ui.rings import FloatArray, Ring
from gpuscope.ui.session_status import clock_text

translate = QCoreApplication.translate

PLOTTED_FIELDS = frozenset(
    {
        "utilization_gpu_percent", "memory_used_bytes", "power_w", "clock_sm_mhz", "clock_memory_mhz",
        "sm_activity_percent", "tensor_activity_percent", "dram_bandwidth_percent", "nvlink_rx_bytes_per_s",
        "nvlink_tx_bytes_per_s", "pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "cpu_percent", "disk_read_bytes_per_s",
        "disk_write_bytes_per_s", "network_receive_bytes_per_s", "network_send_bytes_per_s", "workload_rss_bytes",
        "power_instant_w", "temperature_c", "temperature_memory_c", "throttle_power_s", "throttle_thermal_s",
        "throttle_hardware_thermal_s", "throttle_power_brake_s", "cpu_iowait_percent", "io_pressure_some_percent",
        "memory_pressure_some_percent", "swap_used_bytes", "cgroup_cpu_percent", "cgroup_memory_used_bytes",
        "rdma_receive_bytes_per_s", "rdma_send_bytes_per_s",
    }
)  # fmt: skip
"""Figures whose history is kept; of the others only the newest reading. Memory grows with what is read: those that are
read every second or less often take a tenth of the others' room or less."""
CAPACITY_FIELDS = (
    "memory_total_bytes", "memory_used_bytes", "cpu_percent", "cgroup_memory_limit_bytes", "cgroup_memory_used_bytes",
    "cgroup_cpu_limit_cores", "cgroup_cpu_percent",
)  # fmt: skip
STALE_AFTER_S = 15.0
"""A reading that is older than this against the newest frame is no longer shown as the present."""
STEP_TICKS_KEPT = 200_000
NAN = float("nan")

_Pending = dict[tuple[str, str], tuple[list[float], list[float]]]
"""New times and values by device and figure."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The newest reading of a figure."""

    value: float | None
    why_not: str = ""
    """Why there is no value, in a sentence."""
    reason: Reason | None = None
    """The source's own reason, where it gave one."""


class MonitorModel:
    """Grows as updates come; asked by the Monitor's widgets.

    Attributes:
        host: the machine.
        devices: GPUs and MIG instances by index.
        end_s: session time of the newest frame.
        markers: moments that somebody should know of; of a long session's past only what its events tell.
        states: how each source of numbers is, by name.
    """

    def __init__(self, manifest: Manifest) -> None:
        """Nothing has been read yet."""
        self.host: Host = manifest.host
        self.devices: list[Device] = []
        self.end_s = 0.0
        self.states: dict[str, SourceState] = {}
        self.markers = Markers()
        self._zero_s = manifest.created_monotonic_s
        self._interval_s = manifest.interval_s
        self._histories: dict[tuple[str, str], History] = {}
        self._known: set[tuple[str, str]] = set()
        self._newest: dict[tuple[str, str], Newest] = {}
        self._gpu_processes: dict[str, tuple[ProcessSample, ...]] = {}
        self._workload: tuple[ProcessSample, ...] = ()
        self._steps = Ring(1, STEP_TICKS_KEPT)
        self._path: Path | None = None
        self._coarse: set[tuple[str, str]] = set()
        self._coarse_span = (0.0, 0.0)

    def take(self, update: Update) -> bool:
        """Add what is new; True when something was."""
        if update.devices is not None:
            self.devices = update.devices
        if update.past is not None:
            self._path = update.path
            self._take_past(update.past)
        pending: _Pending = defaultdict(lambda: ([], []))
        for frame in update.frames:
            self._take_frame(frame, pending)
        self._take_newest(update.frames)
        for key, (times_s, values) in pending.items():
            if key not in self._histories:
                self._histories[key] = History(self._interval_s)
            history = self._histories[key]
            if history.past is None or times_s[0] > history.past.end_s:  # else it is in the past's curve
                history.extend(times_s, values)
            if key not in self._known and not np.isnan(values).all():
                self._known.add(key)
        self._take_steps(update.events)
        self.markers.take(update.frames, update.events, self._zero_s)
        return bool(update.frames or update.events or update.past or update.devices is not None)

    def detail_wanted(self) -> Callable[[], Details] | None:
        """What reads the past parts that were drawn coarser than the pixels could show; None: there are none.

        It may run in any thread; its result is for `take_detail`.
        """
        wanted, self._coarse = self._coarse, set()
        if self._path is None or not wanted:
            return None
        return partial(read_details, self._path, self._coarse_span, frozenset(wanted))

    def take_detail(self, details: Details) -> None:
        """Add readings of the past."""
        if not details.readings:
            self._path = None  # the session is gone: what is in memory has to do
        for key, readings in details.readings.items():
            history = self._histories.get(key)
            if history is not None and history.past is not None:
                history.past.take_detail(details.span, readings)

    def reading(self, key: str, name: str) -> Reading:
        """The newest value of a figure of a device (UUID or `host`), or why there is none."""
        newest = self._newest.get((key, name))
        if newest is None:
            return Reading(None, translate("MonitorModel", "It has not been read yet."))
        if newest.reason is not None:
            return Reading(None, REASON_SENTENCES[newest.reason], newest.reason)
        if self.end_s - newest.t > STALE_AFTER_S:
            since = translate("MonitorModel", "There is no reading since {0}.").format(clock_text(newest.t))
            return Reading(None, since)
        return Reading(newest.value)

    def capacity(self) -> HostCapacity:
        """What of the host is open to the work: a container's limits stand in for the machine's totals."""
        known: dict[str, Any] = {name: self.reading(HOST_KEY, name).value for name in CAPACITY_FIELDS}
        capacity = host_capacity(HostSample(**known), self.host.threads)
        if capacity.memory_total_bytes is None:
            return structs.replace(capacity, memory_total_bytes=self.host.memory_total_bytes)
        return capacity

    def between(
        self, key: str, name: str, start_s: float, end_s: float, columns: int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Times and values of a figure, in the detail that so many pixels can show; empty when it was never read."""
        history = self._histories.get((key, name))
        if history is None:
            return np.empty(0), np.empty(0)
        past = history.past
        if past is not None and columns is not None and past.is_coarse(start_s, end_s, columns):
            self._coarse.add((key, name))
            self._coarse_span = (start_s, end_s)
        return history.between(start_s, end_s, columns)

    def has_values(self, key: str, name: str) -> bool:
        """Whether a plotted figure of a device was ever there."""
        return (key, name) in self._known

    def at(self, key: str, name: str, t: float) -> float | None:
        """The value of a figure at a moment; None in a gap."""
        history = self._histories.get((key, name))
        return history.at(t) if history else None

    def step_times(self, start_s: float, end_s: float) -> FloatArray:
        """When steps ended."""
        times: FloatArray = self._steps.view()[0]
        low, high = np.searchsorted(times, [start_s, end_s])
        return times[low:high]

    def gpu_problem(self) -> str:
        """What is missing for GPU figures, in one sentence; empty when all is well or nothing is known yet."""
        state = self.states.get("nvml")
        return state.sentence if state is not None and not state.ok else ""

    def processes(self) -> list[tuple[ProcessSample, list[str]]]:
        """Processes on the GPUs and of the workload, each once, with the UUIDs of the GPUs it is on."""
        merged: dict[int, ProcessSample] = {process.pid: process for process in self._workload}
        gpus: dict[int, list[str]] = defaultdict(list)
        for uuid, processes in self._gpu_processes.items():
            for process in processes:
                merged[process.pid] = _joined(merged.get(process.pid), process, again=bool(gpus[process.pid]))
                gpus[process.pid].append(uuid)
        return [(process, gpus[pid]) for pid, process in merged.items()]

    def _take_past(self, past: Past) -> None:
        self.end_s = max(self.end_s, past.end_s)
        for key, envelope in past.curves.items():
            self._histories[key] = History(self._interval_s, Overview(envelope))
            if not np.isnan(envelope.low).all():
                self._known.add(key)
        self._newest.update(past.newest)

    def _take_frame(self, frame: Frame, pending: _Pending) -> None:
        t = frame.monotonic_s - self._zero_s
        self.end_s = max(self.end_s, t)
        for state in frame.states or ():
            self.states[state.source] = state
        for gpu in frame.gpus or ():
            _note_plotted(gpu.uuid, t, gpu, gpu.unavailable, pending)
            if gpu.processes is not None:
                self._gpu_processes[gpu.uuid] = gpu.processes
        if frame.host is not None:
            _note_plotted(HOST_KEY, t, frame.host, frame.host.unavailable, pending)
            if frame.host.workload_processes is not None:
                self._workload = frame.host.workload_processes

    def _take_newest(self, frames: list[Frame]) -> None:
        """Remember the newest reading of every figure: backwards, so that each is looked for only until it is found."""
        wanted: dict[str, set[str]] = {}
        for frame in reversed(frames):
            t = frame.monotonic_s - self._zero_s
            for gpu in frame.gpus or ():
                self._take_sample(gpu.uuid, t, gpu, gpu.unavailable, wanted)
            if frame.host is not None:
                self._take_sample(HOST_KEY, t, frame.host, frame.host.unavailable, wanted)

    def _take_sample(
        self, key: str, t: float, sample: Compact, unavailable: dict[str, Reason], wanted: dict[str, set[str]]
    ) -> None:
        names = wanted.setdefault(key, set(sample.__struct_fields__))
        for name in tuple(names):
            value = getattr(sample, name)
            if isinstance(value, (int, float)):
                self._newest[key, name] = Newest(t, value, None)
            elif name in unavailable:
                self._newest[key, name] = Newest(t, None, unavailable[name])
            else:
                continue
            names.discard(name)

    def _take_steps(self, events: Iterable[Event]) -> None:
        times = sorted(event.t for event in events if event.kind == "step")
        if times:
            self._steps.extend([times])


def _note_plotted(key: str, t: float, sample: Compact, unavailable: dict[str, Reason], pending: _Pending) -> None:
    """Add the figures whose history is kept; one that cannot be had is a gap."""
    for name in _plotted_fields(type(sample)):
        value = getattr(sample, name)
        if value is None:
            if name not in unavailable:
                continue  # it was not asked for this time
            value = NAN
        times_s, values = pending[key, name]
        times_s.append(t)
        values.append(value)


@cache
def _plotted_fields(sample_type: type[Compact]) -> tuple[str, ...]:
    return tuple(name for name in sample_type.__struct_fields__ if name in PLOTTED_FIELDS)


def _joined(known: ProcessSample | None, on_gpu: ProcessSample, *, again: bool) -> ProcessSample:
    """One process as the host and the driver see it; on a further GPU its memory there is added."""
    if known is None:
        return on_gpu
    memory = on_gpu.gpu_memory_bytes
    if again and known.gpu_memory_bytes is not None:
        memory = known.gpu_memory_bytes + (memory or 0)
    return ProcessSample(
        pid=known.pid,
        name=known.name or on_gpu.name,
        user=known.user or on_gpu.user,
        kind=_joined_kind(known, on_gpu),
        started_wall_s=known.started_wall_s or on_gpu.started_wall_s,
        gpu_memory_bytes=memory,
        sm_percent=_sum(known.sm_percent, on_gpu.sm_percent),
        cpu_percent=known.cpu_percent,
        rss_bytes=known.rss_bytes,
        read_bytes_per_s=known.read_bytes_per_s,
        write_bytes_per_s=known.write_bytes_per_s,
        threads=known.threads,
        unavailable={**on_gpu.unavailable, **known.unavailable},
    )


def _sum(first: float | None, second: float | None) -> float | None:
    known = [value for value in (first, second) if value is not None]
    return sum(known) if known else None


def _joined_kind(known: ProcessSample, on_gpu: ProcessSample) -> str | None:
    """Both, when they differ: a workload's process that computes, one that computes here and draws there."""
    kinds = f"{known.kind or ''}, {on_gpu.kind or ''}".split(", ")
    return ", ".join(dict.fromkeys(kind for kind in kinds if kind)) or None
