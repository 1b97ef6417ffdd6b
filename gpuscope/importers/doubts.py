"""Figures that a source itself gets wrong: counters that stand still on a busy GPU, memory that is not there."""

from __future__ import annotations

import msgspec
import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.domain.series import FloatArray
from gpuscope.importers.reading import Note, Reading, Track

_BUSY_PERCENT = 99.0
_SEVERAL = 3
"""Samples: one alone may lie between two kernels."""
_ENGINE_COUNTERS = frozenset({"gpm_graphics_percent", "sm_activity_percent", "GRACT", "SMACT"})
"""Shares of time in which the GPU's engine or its multiprocessors worked, as DCGM's profiling fields give them, in the
names of the readers."""
_MEMORY = ("memory_total_bytes", "memory_used_bytes", "memory_free_bytes")


def add_doubts(reading: Reading) -> None:
    """Say what cannot be, and take impossible zeros out."""
    for track in reading.tracks.values():
        _counters_stand_still(reading, track)
        _memory_of_nothing(reading, track)


def _counters_stand_still(reading: Reading, track: Track) -> None:
    """After an Xid error DCGM's counters may read 0 until its service is started again (github.com/NVIDIA/DCGM,
    issue 303)."""
    load = track.values("utilization_gpu_percent")
    counters = [track.values(name) for name in track.columns if name in _ENGINE_COUNTERS]
    if not len(load) or not counters:
        return
    still = (load >= _BUSY_PERCENT) & np.all([values == 0 for values in counters], axis=0)
    count = int(still.sum())
    if count < _SEVERAL:
        return
    sentence = (
        f"{track.device.name} {track.device.index}: utilisation is {_BUSY_PERCENT:.0f}% and more while all profiling "
        "counters read 0: a fault of measuring, as after an Xid error, not an idle GPU. Start the DCGM service again "
        "(systemctl restart nvidia-dcgm)."
    )
    reading.notes.append(Note(code="contradiction", sentence=sentence, count=count))


def _memory_of_nothing(reading: Reading, track: Track) -> None:
    """Chips that share the system's memory give "not supported" or a total of 0, whatever they are called."""
    total = track.values("memory_total_bytes")
    if not len(total) or track.device.mig_enabled or track.device.kind != "gpu":
        return
    if not (_missing(total) and track.reasons.get("memory_total_bytes") is Reason.NOT_SUPPORTED) and total.any():
        return
    for name in _MEMORY:
        if name in track.columns:
            track.columns[name][:] = type(track.wall_s)("d", [np.nan]) * len(track.wall_s)
            track.reasons[name] = Reason.UNIFIED_MEMORY
    track.device = msgspec.structs.replace(track.device, memory_total_bytes=None)
    sentence = (
        f"{track.device.name} {track.device.index} reports no memory of its own: it shares the system's (unified "
        "memory), whose size is not in the file."
    )
    reading.notes.append(Note(code="missing", sentence=sentence))


def _missing(values: FloatArray) -> bool:
    return bool(np.isnan(values).all())
