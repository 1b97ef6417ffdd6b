"""What a reading's figures say about themselves: contradictions, and figures that cannot be judged."""

from __future__ import annotations

import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.importers.contradictions import add_contradictions
from gpuscope.importers.impossible_times import drop_impossible_times
from gpuscope.importers.neutral import neutralise
from gpuscope.importers.reading import Note, Reading, Track
from gpuscope.importers.unified_memory import drop_memory_of_nothing

_OVER_LIMIT = 1.02
"""Power is averaged and limits are rounded: below this it is no contradiction."""
_LOAD_PERCENT = 10.0
"""Below it a GPU is idle, and what holds its clocks down slows nothing."""
_SLOWDOWNS = {0x8: "hardware slowdown", 0x20: "thermal slowdown by software", 0x40: "thermal slowdown by hardware",
              0x80: "power brake", 0x4: "the power cap"}  # fmt: skip
"""NVML's clock-event bits that cost speed under load."""
_MASK_BITS = 2.0**63
"""A number that is no mask of 64 bits with a sign is damage."""


def add_findings(reading: Reading) -> None:
    """Look at each device's figures, mend the reasons that the file could not know, and add notes."""
    neutralise(reading)
    drop_impossible_times(reading)
    add_contradictions(reading)
    drop_memory_of_nothing(reading)
    for track in reading.tracks.values():
        _mig_mode(reading, track)
        _power_over_limit(reading, track)
        _utilisation_gaps(reading, track)
        _slowed(reading, track)


def _mig_mode(reading: Reading, track: Track) -> None:
    """nvidia-smi has no utilisation of a GPU that is split into MIG instances; that is not an idle GPU."""
    fields = [name for name in ("utilization_gpu_percent", "utilization_memory_percent") if name in track.reasons]
    if not track.device.mig_enabled or not fields:
        return
    for name in fields:
        track.reasons[name] = Reason.MIG_MODE
    reading.notes.append(
        Note(
            code="missing",
            sentence=f"{track.device.name} is split into MIG instances: its utilisation cannot be judged from this "
            "file. DCGM's profiling fields (DCGM_FI_PROF_GR_ENGINE_ACTIVE) have it for each instance.",
        )
    )


def _power_over_limit(reading: Reading, track: Track) -> None:
    power = track.values("power_w") if len(track.values("power_w")) else track.values("power_instant_w")
    limits = track.values("power_limit_w")
    if not len(power) or not len(limits):
        return
    over = (limits > 0) & (power > limits * _OVER_LIMIT)
    if not over.any():
        return
    power, limits = power[over], limits[over]
    with np.errstate(over="ignore"):  # a limit next to nothing
        at = int(np.argmax(power / limits))
    worst, limit = float(power[at]), float(limits[at])
    reading.notes.append(
        Note(
            code="contradiction",
            sentence=f"{track.device.name} draws {worst:g} W, above its limit of {limit:g} W ({worst / limit:.0%}).",
            count=len(power),
        )
    )


def _utilisation_gaps(reading: Reading, track: Track) -> None:
    """A mean over the few samples that are there would look like one over all of them."""
    column = track.values("utilization_gpu_percent")
    missing = int(np.isnan(column).sum())
    if not missing or missing == len(column):
        return
    reading.notes.append(
        Note(
            code="missing",
            sentence=f"{track.device.name} {track.device.index}: {missing} of {len(column)} samples have no "
            "utilisation: averages are over the rest.",
            count=missing,
        )
    )


def _slowed(reading: Reading, track: Track) -> None:
    """Clocks held down under load. In an idle GPU a set bit means nothing, and without utilisation it stays open."""
    masks, loads = track.values("clock_event_reasons"), track.values("utilization_gpu_percent")
    if not len(masks) or not len(loads):
        return
    loaded = masks[(masks > 0) & (masks < _MASK_BITS) & (loads >= _LOAD_PERCENT)].astype(np.int64)
    for bit, words in _SLOWDOWNS.items():
        count = int(((loaded & bit) != 0).sum())
        if count:
            sentence = f"{track.device.name} {track.device.index}: its clocks are held down under load by {words}."
            reading.notes.append(Note(code="finding", sentence=sentence, count=count))
