"""Figures of a file that contradict each other, or what a GPU can be: said, never mended."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuscope.domain.units import MIB
from gpuscope.importers.reading import ImportedProcess, Note, Reading, Track

_HOTTEST_C = 120.0
"""GPUs shut down at 95 to 110 °C (GPU and memory)."""
_COLDEST_C = -20.0
_OVER = 1.02
"""Clocks and sizes are rounded: what is above its highest by less is none."""
_BUSY_PERCENT = 99.0
_SEVERAL = 3
"""Samples: one alone may lie between two pieces of work."""
_ENGINE_COUNTERS = frozenset({"gpm_graphics_percent", "sm_activity_percent", "GRACT", "SMACT"})
"""Shares of time in which the GPU's engine or its multiprocessors worked, as DCGM's profiling fields give them, in the
names of the readers."""
_TRAFFIC = ("utilization_memory_percent", "pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s")
_PERCENTS = ("utilization_gpu_percent", "utilization_memory_percent", "encoder_percent", "decoder_percent")
_UNACCOUNTED_BYTES = 640 * MIB
"""What the driver keeps for itself (up to some 600 MiB on data-center GPUs) is in use without a process."""
_LISTS_PROCESSES = frozenset({"smi_table", "smi_q_xml", "smi_q_text"})
_LEAST_W = 5.0
"""Of the mean power: what draws less may gather less energy than the counter's steps show."""


def add_contradictions(reading: Reading) -> None:
    """Add a note for each device and kind of contradiction, with the number of samples."""
    whole = not any(note.code == "lost" for note in reading.notes)
    for key, track in reading.tracks.items():
        name = f"{track.device.name} {track.device.index}"
        found = [*_time(track), *_ranges(track), *_over_highest(track), *_no_traffic(track), *_no_energy(track)]
        found += _counters_stand_still(track)
        reading.notes += [
            Note(code="contradiction", sentence=f"{name}: {sentence}", count=count) for sentence, count in found
        ]
        if whole and reading.kind in _LISTS_PROCESSES:
            reading.notes += _unaccounted(name, track, [each for each in reading.processes if each.device == key])
    _add_mixed_instances(reading)


def _add_mixed_instances(reading: Reading) -> None:
    """DCGM has scaled the activity of all instances of a GPU by the smallest (github.com/NVIDIA/DCGM, issue 248)."""
    profiles: dict[tuple[str | None, int], set[str]] = {}
    for track in reading.tracks.values():
        device = track.device
        if device.kind == "mig" and " MIG " in device.name and not _ENGINE_COUNTERS.isdisjoint(track.columns):
            profiles.setdefault((device.hostname, device.index), set()).add(device.name.rpartition(" MIG ")[2])
    for (_, index), sizes in profiles.items():
        if len(sizes) > 1:
            sentence = (
                f"GPU {index} is split into instances of several sizes ({', '.join(sorted(sizes))}): DCGM may show the "
                "activity of the larger ones too low. A low figure does not mean that one is not used."
            )
            reading.notes.append(Note(code="finding", sentence=sentence))


_Found = Iterator[tuple[str, int]]
"""Sentences, and how many samples each is about."""


def _time(track: Track) -> _Found:
    back = np.diff(track.times())
    back = back[back < 0]
    if len(back):
        yield (
            f"the time goes back by up to {-back.min():g} s: the clock was set, or files were put together.",
            len(back),
        )


def _ranges(track: Track) -> _Found:
    for name, what in (("temperature_c", "temperature"), ("temperature_memory_c", "temperature of the memory")):
        values = track.values(name)
        wrong = values[(values > _HOTTEST_C) | (values < _COLDEST_C)]
        if len(wrong):
            yield f"a {what} of {wrong[np.abs(wrong).argmax()]:g} °C cannot be.", len(wrong)
    for name in _PERCENTS:
        values = track.values(name)
        wrong = values[(values > 100) | (values < 0)]
        if len(wrong):
            yield f"{wrong[np.abs(wrong).argmax()]:g}% ({name.removesuffix('_percent')}) cannot be.", len(wrong)


def _over_highest(track: Track) -> _Found:
    used, total = track.values("memory_used_bytes"), track.values("memory_total_bytes")
    if len(used) and len(used) == len(total):
        over = (total > 0) & (used > total * _OVER)
        if over.any():
            at = int(np.argmax(np.where(over, used, 0)))
            yield f"{used[at] / MIB:.0f} MiB in use are more than its {total[at] / MIB:.0f} MiB.", int(over.sum())
    device = track.device
    clocks = (("clock_sm_mhz", device.clock_sm_max_mhz), ("clock_memory_mhz", device.clock_memory_max_mhz))
    for name, highest in clocks:
        values = track.values(name)
        above = values[values > highest * _OVER] if highest else values[:0]
        if len(above):
            yield f"{above.max():g} MHz ({name.removesuffix('_mhz')}) are above its highest, {highest} MHz.", len(above)


def _no_traffic(track: Track) -> _Found:
    """Work without any data being moved: the counters stand still, or the utilisation is another's."""
    load = track.values("utilization_gpu_percent")
    traffic = [track.values(name) for name in _TRAFFIC if name in track.columns]
    if not len(load) or len(traffic) < len(_TRAFFIC):
        return
    still = (load >= _BUSY_PERCENT) & np.all([values == 0 for values in traffic], axis=0)
    if still.sum() >= _SEVERAL:
        yield (
            "utilisation is 100% while the counters of memory and PCIe read 0: one of them is wrong.",
            int(still.sum()),
        )


def _counters_stand_still(track: Track) -> _Found:
    """After an Xid error DCGM's counters may read 0 until its service is started again (github.com/NVIDIA/DCGM,
    issue 303)."""
    load = track.values("utilization_gpu_percent")
    counters = [track.values(name) for name in track.columns if name in _ENGINE_COUNTERS]
    if not len(load) or not counters:
        return
    still = (load >= _BUSY_PERCENT) & np.all([values == 0 for values in counters], axis=0)
    if still.sum() >= _SEVERAL:
        sentence = (
            f"utilisation is {_BUSY_PERCENT:.0f}% and more while all profiling counters read 0: a fault of measuring, "
            "as after an Xid error, not an idle GPU. Start the DCGM service again (systemctl restart nvidia-dcgm)."
        )
        yield sentence, int(still.sum())


def _no_energy(track: Track) -> _Found:
    energy, power, times = track.values("energy_j"), track.values("power_w"), track.times()
    if len(energy) < 2 or len(energy) != len(power) or np.isnan(energy).any():
        return
    span_s, drawn_w = float(times[-1] - times[0]), power[~np.isnan(power)]
    if span_s <= 0 or np.ptp(energy) > 0 or not len(drawn_w) or drawn_w.mean() < _LEAST_W:
        return
    expected_j = float(drawn_w.mean()) * span_s
    if expected_j > 1:
        sentence = (
            f"the energy stays at {energy[0]:g} J while {drawn_w.mean():.0f} W are drawn (about {expected_j:.0f} J): "
        )
        yield f"{sentence}the energy is not known.", len(energy)


def _unaccounted(name: str, track: Track, processes: list[ImportedProcess]) -> list[Note]:
    """Memory in use that belongs to no process that is listed; at the last moment of the file."""
    used, reserved = track.values("memory_used_bytes"), track.values("memory_reserved_bytes")
    now = [each for each in processes if each.wall_s is None or not len(used) or each.wall_s == track.wall_s[-1]]
    if not len(used) or np.isnan(used[-1]) or any(process.memory_bytes is None for process in now):
        return []
    listed = sum(process.memory_bytes or 0 for process in now)
    kept = float(reserved[-1]) if len(reserved) and not np.isnan(reserved[-1]) else 0.0
    rest = float(used[-1]) - listed
    if rest <= max(_UNACCOUNTED_BYTES, kept * _OVER):
        return []
    held = f"the processes that are listed hold {listed / MIB:.0f} MiB" if now else "no process is listed"
    sentence = f"{name}: unaccounted {rest / MIB:.0f} MiB of the {used[-1] / MIB:.0f} MiB in use: {held}."
    return [Note(code="contradiction", sentence=sentence)]
