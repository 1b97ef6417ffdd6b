"""Frames to columns and back: what is a number goes into columns, the rest of a frame stays a (small) frame."""

from __future__ import annotations

import types
import typing
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from gpuscope.domain.base import Compact
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, HostSample, SamplerSample
from gpuscope.domain.series import HOST_KEY, SAMPLER_KEY
from gpuscope.store.codec import LARGEST_WHOLE
from gpuscope.store.figures import FIRST_REASON, MAX_PARTS, PRESENT, Column, StateArray, is_time

Sample = GpuSample | HostSample | SamplerSample

_NO_FIGURES = frozenset({"uuid", "unavailable"})
_IN_COLUMNS = frozenset({"monotonic_s", "wall_s", "gpus", "host", "sampler"})


class Remainder(msgspec.Struct, frozen=True, array_like=True):
    """What of a frame is no column: process lists, disks, networks, devices, states and the like."""

    row: int
    """Of the block."""
    frame: Frame
    """Without its times, unless it is whole."""
    whole: bool = False
    """The frame is all there is of it: it could not be taken apart."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The samples of one device in a block, in columns."""

    rows: list[int]
    columns: dict[str, Column]
    reasons: list[Reason]


def type_of(key: str) -> type[Sample]:
    """The kind of sample that a device key stands for."""
    if key == HOST_KEY:
        return HostSample
    return SamplerSample if key == SAMPLER_KEY else GpuSample


@cache
def _kinds(sample_type: type[Compact]) -> dict[str, type]:
    """The figures of a kind of sample: int, float, or tuple for several floats at once."""
    kinds: dict[str, type] = {}
    for name, hint in typing.get_type_hints(sample_type).items():
        options = set(typing.get_args(hint)) if isinstance(hint, types.UnionType) else {hint}
        (kind,) = options - {type(None)} if len(options - {type(None)}) == 1 else (None,)
        if name not in _NO_FIGURES and (kind in (int, float) or kind == tuple[float, ...]):
            kinds[name] = kind if kind in (int, float) else tuple
    return kinds


@cache
def _defaults(sample_type: type[msgspec.Struct]) -> dict[str, Any]:
    return {
        field.name: field.default if field.default is not msgspec.NODEFAULT else {}
        for field in msgspec.structs.fields(sample_type)
        if not field.required
    }


def _samples(frame: Frame) -> list[tuple[str, Sample]]:
    found: list[tuple[str, Sample]] = [(gpu.uuid, gpu) for gpu in frame.gpus or ()]
    if frame.host is not None:
        found.append((HOST_KEY, frame.host))
    if frame.sampler is not None:
        found.append((SAMPLER_KEY, frame.sampler))
    return found


class Splitter:
    """Takes the frames of a block apart, one device at a time, so that no step takes long."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        """Sort the samples by device."""
        self._frames = frames
        self._samples: dict[str, tuple[list[int], list[Sample]]] = defaultdict(lambda: ([], []))
        self._left: dict[tuple[int, str], dict[str, Any]] = defaultdict(dict)
        self._whole: list[int] = []
        for row, frame in enumerate(frames):
            samples = _samples(frame)
            twice = len({key for key, _ in samples}) < len(samples)
            if twice or not (is_time(frame.monotonic_s) and is_time(frame.wall_s)):
                self._whole.append(row)
                continue
            for key, sample in samples:
                rows, of_device = self._samples[key]
                rows.append(row)
                of_device.append(sample)

    @property
    def devices(self) -> list[str]:
        """Keys of the devices in these frames, in the order in which they appear."""
        return list(self._samples)

    def readings(self, key: str) -> Readings:
        """The figures of one device; what is no figure is kept for `remainders`."""
        rows, samples = self._samples[key]
        sample_type = type_of(key)
        unavailable = [sample.unavailable if not isinstance(sample, SamplerSample) else {} for sample in samples]
        names = dict.fromkeys(name for missing in unavailable for name in missing)
        reasons = list(dict.fromkeys(reason for missing in unavailable for reason in missing.values()))
        codes = {reason: FIRST_REASON + index for index, reason in enumerate(reasons)}
        columns: dict[str, Column] = {}
        kinds = _kinds(sample_type)
        for name in dict.fromkeys((*sample_type.__struct_fields__, *names)):
            if name in _NO_FIGURES:
                continue
            values = list(map(attrgetter(name), samples)) if name in _defaults(sample_type) else [None] * len(rows)
            column = _column(values, kinds.get(name))
            if column is None:  # no figure, or one that cannot be stored as such
                self._leave(key, name, rows, values, _defaults(sample_type).get(name))
                column = Column(np.zeros(len(rows), dtype=np.uint8), np.empty(0))
            if name in names:
                column = self._with_reasons(key, name, column, rows, unavailable, codes)
            if column.states.any():
                columns[name] = column
        return Readings(rows, columns, reasons)

    def remainders(self) -> list[Remainder]:
        """What `readings` did not take, of the frames that have something left; asked for after all devices."""
        left = [Remainder(row, self._frames[row], whole=True) for row in self._whole]
        whole = set(self._whole)
        order = [key for key in self._samples if key not in (HOST_KEY, SAMPLER_KEY)]
        left += filter(
            None, (self._remainder(row, frame, order) for row, frame in enumerate(self._frames) if row not in whole)
        )
        return sorted(left, key=lambda remainder: remainder.row)

    def _leave(self, key: str, name: str, rows: list[int], values: list[Any], default: Any) -> None:
        for row, value in zip(rows, values, strict=True):
            if value is not None and value != default:
                self._left[row, key][name] = value

    def _with_reasons(
        self,
        key: str,
        name: str,
        column: Column,
        rows: list[int],
        unavailable: list[dict[str, Reason]],
        codes: dict[Reason, int],
    ) -> Column:
        states = column.states.copy()
        for index, missing in enumerate(unavailable):
            reason = missing.get(name)
            if reason is None:
                continue
            if states[index] == PRESENT:
                self._left[rows[index], key].setdefault("unavailable", {})[name] = reason
            else:
                states[index] = codes[reason]
        return Column(states, column.values, column.parts)

    def _remainder(self, row: int, frame: Frame, order: list[str]) -> Remainder | None:
        others = {
            name: value
            for name, default in _defaults(Frame).items()
            if name not in _IN_COLUMNS and (value := getattr(frame, name)) != default
        }
        gpus = self._left_gpus(row, frame, order)
        if gpus is not None:
            others["gpus"] = gpus
        for key, name in ((HOST_KEY, "host"), (SAMPLER_KEY, "sampler")):
            if (row, key) in self._left:
                others[name] = type_of(key)(**self._left[row, key])
        return Remainder(row, Frame(monotonic_s=0.0, wall_s=0.0, **others)) if others else None

    def _left_gpus(self, row: int, frame: Frame, order: list[str]) -> tuple[GpuSample, ...] | None:
        if frame.gpus is None:
            return None
        keys = [gpu.uuid for gpu in frame.gpus]
        in_order = keys == [key for key in order if key in set(keys)]
        if keys and in_order:
            keys = [key for key in keys if (row, key) in self._left]
            if not keys:
                return None
        return tuple(GpuSample(uuid=key, **self._left.get((row, key), {})) for key in keys)


def _column(values: list[Any], kind: type | None) -> Column | None:
    """One figure of some samples; None where it is none that columns hold."""
    if kind is None:
        return None
    if None not in values:
        states: StateArray = np.full(len(values), PRESENT, dtype=np.uint8)
        present = values
    else:
        present = [value for value in values if value is not None]
        states = np.fromiter((value is not None for value in values), dtype=np.uint8, count=len(values))
    if not present:
        return Column(states, np.empty(0))
    if kind is tuple:
        return _vectors(states, present)
    if kind is float:
        return Column(states, np.array(present, dtype=np.float64))
    if max(present) >= LARGEST_WHOLE or min(present) <= -LARGEST_WHOLE:
        return None
    return Column(states, np.array(present, dtype=np.int64))


def _vectors(states: StateArray, present: list[tuple[float, ...]]) -> Column | None:
    parts = len(present[0])
    if not 1 < parts <= MAX_PARTS or any(len(value) != parts for value in present):
        return None
    return Column(states, np.array(present, dtype=np.float64).reshape(-1), parts)


def samples_of(key: str, count: int, columns: dict[str, Column], reasons: Sequence[Reason]) -> list[dict[str, Any]]:
    """The figures of each reading of a device, by name, and `unavailable`: what its sample is built from."""
    kinds = _kinds(type_of(key))
    fields: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, column in columns.items():
        values = _values(column, kinds[name]) if name in kinds else []
        for index, value in zip(np.flatnonzero(column.states == PRESENT).tolist(), values, strict=False):
            fields[index][name] = value
    lacking = {name: column.states for name, column in columns.items() if (column.states >= FIRST_REASON).any()}
    if lacking and key != SAMPLER_KEY:
        _add_reasons(fields, lacking, reasons)
    return fields


def _values(column: Column, kind: type) -> list[Any]:
    if kind is tuple:
        return [tuple(values) for values in column.values.reshape(-1, column.parts).tolist()]
    values = np.rint(column.values).astype(np.int64) if kind is int else column.values.astype(np.float64)
    return list(values.tolist())


def _add_reasons(fields: list[dict[str, Any]], lacking: dict[str, StateArray], reasons: Sequence[Reason]) -> None:
    names = list(lacking)
    known: dict[bytes, dict[str, Reason]] = {}
    for index, states in enumerate(np.stack(list(lacking.values()), axis=1)):
        pattern = states.tobytes()
        if pattern not in known:
            found = ((name, int(state) - FIRST_REASON) for name, state in zip(names, states, strict=True))
            known[pattern] = {
                name: reasons[place] if place < len(reasons) else Reason.UNKNOWN_ERROR
                for name, place in found
                if place >= 0
            }
        if known[pattern]:
            fields[index]["unavailable"] = known[pattern]


def joined_frame(
    monotonic_s: float, wall_s: float, figures: dict[str, dict[str, Any]], left: Remainder | None
) -> Frame:
    """A frame from the figures of its devices (in their order) and what was left of it."""
    if left is not None and left.whole:
        return left.frame
    rest = left.frame if left is not None else None
    left_gpus = None if rest is None or rest.gpus is None else {gpu.uuid: gpu for gpu in rest.gpus}
    keys = [key for key in figures if key not in (HOST_KEY, SAMPLER_KEY)]
    if left_gpus is not None and set(keys) <= set(left_gpus):
        keys = list(left_gpus)
    gpus = tuple(_sample(GpuSample, figures.get(key, {}), (left_gpus or {}).get(key), uuid=key) for key in keys)
    singles = {
        name: _sample(type_of(key), figures.get(key, {}), None if rest is None else getattr(rest, name))
        for key, name in ((HOST_KEY, "host"), (SAMPLER_KEY, "sampler"))
        if key in figures or (rest is not None and getattr(rest, name) is not None)
    }
    others = {} if rest is None else {name: getattr(rest, name) for name in _defaults(Frame) if name not in _IN_COLUMNS}
    return Frame(
        monotonic_s=monotonic_s,
        wall_s=wall_s,
        gpus=gpus if gpus or left_gpus is not None else None,
        **singles,
        **others,
    )


def _sample(make: Callable[..., Any], figures: dict[str, Any], left: Sample | None, **key: str) -> Any:
    if left is None:
        return make(**key, **figures)
    defaults = _defaults(type(left))
    kept = {name: value for name in defaults if (value := getattr(left, name)) != defaults[name]}
    if "unavailable" in kept and "unavailable" in figures:
        kept["unavailable"] = {**figures["unavailable"], **kept["unavailable"]}
    return make(**key, **{**figures, **kept})
