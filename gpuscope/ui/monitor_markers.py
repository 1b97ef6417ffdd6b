"""Moments that somebody should know of: errors that the driver reports, memory that goes bad, a person's notes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.events import Event
from gpuscope.domain.sample import Frame, GpuSample

translate = QCoreApplication.translate

MOST_MARKERS = 2000
"""A GPU that fails a thousand times an hour must not fill the memory: the oldest go."""
_WORSENING = (
    "ecc_uncorrected_volatile", "rows_remapped_uncorrectable", "rows_remapped_correctable", "row_remap_pending",
    "row_remap_failed", "pages_retired_corrected", "pages_retired_uncorrected", "pages_retired_pending",
)  # fmt: skip
"""Counts and flags of device memory that only rise when something has gone wrong."""


@dataclass(frozen=True, slots=True, order=True)
class Marker:
    """One moment."""

    t: float
    """Session time."""
    text: str
    uuid: str | None = None
    """The GPU; None: the whole session."""
    own: bool = False
    """The person set it."""


class Markers:
    """All markers of a session in the order of their time."""

    def __init__(self) -> None:
        """None."""
        self._all: list[Marker] = []
        self._health: dict[tuple[str, str], int] = {}

    def take(self, frames: Iterable[Frame], events: Iterable[Event], zero_s: float) -> None:
        """Add what new frames and events tell; `zero_s` is session time 0 on the frames' clock."""
        for frame in frames:
            for gpu in frame.gpus or ():
                self._take_health(gpu, frame.monotonic_s - zero_s)
        for event in events:
            text = _event_text(event)
            if text:
                uuid = event.data.get("uuid")
                self.add(Marker(event.t, text, str(uuid) if uuid else None))

    def add(self, marker: Marker) -> None:
        """Add one."""
        bisect.insort(self._all, marker)
        del self._all[:-MOST_MARKERS]

    def between(self, start_s: float, end_s: float) -> list[Marker]:
        """Those in a stretch of time."""
        return [marker for marker in self._all if start_s <= marker.t <= end_s]

    def next_after(self, t: float, *, backwards: bool = False) -> Marker | None:
        """The nearest one after (or before) a moment."""
        if backwards:
            return next((marker for marker in reversed(self._all) if marker.t < t), None)
        return next((marker for marker in self._all if marker.t > t), None)

    def _take_health(self, gpu: GpuSample, t: float) -> None:
        for name in _WORSENING:
            value = getattr(gpu, name)
            if value is None:
                continue
            before = self._health.get((gpu.uuid, name))
            self._health[gpu.uuid, name] = value
            if before is not None and value > before:
                self.add(Marker(t, _health_text(name, value - before), gpu.uuid))


def _event_text(event: Event) -> str:
    """What an event says to a person; empty for those that are no markers."""
    tr, data = translate, event.data
    match event.kind:
        case "xid":
            return tr("Markers", "Xid {0}: {1}").format(data.get("code", "?"), data.get("sentence", ""))
        case "out_of_memory":
            return tr("Markers", "Out of memory: {0}").format(str(data.get("message", "")).partition("\n")[0])
        case "sampler_replaced":
            return tr("Markers", "The sampler was replaced, there is a gap before: {0}").format(data.get("reason", ""))
    return ""


def _health_text(name: str, more: int) -> str:
    tr = translate
    return {
        "ecc_uncorrected_volatile": tr("Markers", "{0} memory errors that ECC could not put right."),
        "rows_remapped_uncorrectable": tr("Markers", "{0} rows of device memory replaced after bad errors."),
        "rows_remapped_correctable": tr("Markers", "{0} rows of device memory replaced after errors put right."),
        "row_remap_pending": tr("Markers", "A row of device memory is replaced at the next reset of the GPU."),
        "row_remap_failed": tr("Markers", "No spare row of device memory was left: the GPU should be replaced."),
        "pages_retired_corrected": tr("Markers", "{0} pages of device memory retired after errors put right."),
        "pages_retired_uncorrected": tr("Markers", "{0} pages of device memory retired after bad errors."),
        "pages_retired_pending": tr("Markers", "A page of device memory is taken out of use at the next reset."),
    }[name].format(more)
