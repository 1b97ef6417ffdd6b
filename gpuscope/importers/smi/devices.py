"""Which GPU each row of a log is about, and what its rows say of the GPU itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.device import Device
from gpuscope.domain.series import FloatArray
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.errors import UsageError
from gpuscope.importers.reading import Note, Reading, Track
from gpuscope.importers.smi.fields import IDENTITIES
from gpuscope.importers.tabular.blocks import Positions

FACTS = frozenset(
    {*IDENTITIES, "driver_version", "compute_cap", "mig.mode.current", "pcie.link.gen.max", "pcie.link.width.max"}
)
"""Columns that say something of the GPU, not of a moment."""
_SAME_TICK_SHARE = 0.25
"""Of the usual time between ticks: rows closer together than this belong to one tick."""
_USUAL_SHARE = 0.95
"""Of the gaps between rows: the time between ticks is longer than most, and shorter than a pause."""
_MOST_GPUS = 4096
_NO_IDENTITY = {True: frozenset({"", "N/A"}), False: frozenset({"", "N/A", "0"})}
"""What stands in an identity's column where there is none; an index, unlike a serial number, may be 0."""


class Facts(NamedTuple):
    """A column of texts."""

    texts: list[str]
    codes: NDArray[np.int32]
    """For each row its place in `texts`; -1: the row has no such column."""

    def first(self, rows: Positions) -> str | None:
        """What the first of some rows that has the column says."""
        known = self.codes[rows]
        known = known[known >= 0]
        return self.texts[int(known[0])] if len(known) else None


def rows_by_key(
    reading: Reading, facts: Mapping[str, Facts], wall_s: FloatArray, chosen: Positions | None
) -> dict[str, Positions]:
    """The rows of each GPU by what names it: the surest name that all rows have, else their place among the others.

    Args:
        reading: gets a note where the GPUs could not be told apart for sure.
        facts: the rows' texts by column.
        wall_s: the rows' times, NaN where they have none.
        chosen: the rows that count; None: all.

    Raises:
        UsageError: there are more GPUs than any machine has: that column names something else.
    """
    if chosen is not None:
        facts = {name: Facts(column.texts, column.codes[chosen]) for name, column in facts.items()}
        wall_s = wall_s[chosen]
    keys, codes = _keys(reading, facts, wall_s)
    if len(keys) > _MOST_GPUS:
        raise UsageError(
            f"The rows name {len(keys)} different GPUs, as no machine has: leave out the column of {keys[0]}, "
            f"{keys[1]}, or say what the columns are with --map COLUMN=FIELD."
        )
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    own = np.split(order, np.cumsum(np.bincount(codes, minlength=len(keys)))[:-1])
    own = own if chosen is None else [chosen[rows] for rows in own]
    found = {key: rows for key, rows in zip(keys, own, strict=True) if len(rows)}
    return {key: found[key] for key in sorted(found, key=_place)}


def _place(key: str) -> tuple[int, int, str]:
    index = whole_number(key)
    return (1, 0, key) if index is None else (0, index, "")


def _keys(reading: Reading, facts: Mapping[str, Facts], wall_s: FloatArray) -> tuple[list[str], NDArray[np.int32]]:
    for name in IDENTITIES[:-1]:
        column = facts.get(name)
        if column is not None and _names_all(column, may_be_zero=name == "index"):
            return column.texts, column.codes
    ticks = _rows_per_tick(wall_s)
    names = facts.get("name")
    if ticks == 1:
        if names is None:
            return ["GPU"], np.zeros(len(wall_s), np.int32)
        texts = [text or "GPU" for text in names.texts]
        return _without_doubles([*texts, "GPU"], np.where(names.codes < 0, len(texts), names.codes))
    reading.notes.append(
        Note(
            code="assumed",
            sentence=f"Nothing in the rows names the GPU, and {ticks} rows belong to each moment: they are taken "
            "to come in the same order each time. Check that, or log with --query-gpu=index or uuid.",
        )
    )
    positions = _positions(wall_s)
    same = set() if names is None else {names.texts[code] if code >= 0 else "" for code in np.unique(names.codes)}
    label = f"{next(iter(same))} at position" if len(same) == 1 and "" not in same else "position"
    return [f"{label} {index}" for index in range(int(positions.max()) + 1)], positions.astype(np.int32)


def _names_all(column: Facts, *, may_be_zero: bool) -> bool:
    used = np.unique(column.codes)
    nameless = _NO_IDENTITY[may_be_zero]
    return bool(used[0] >= 0) and all(column.texts[code].strip("[] ").upper() not in nameless for code in used)


def _without_doubles(texts: list[str], codes: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int32]]:
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return list(places), np.array([places[text] for text in texts], np.int32)[codes]


def _rows_per_tick(wall_s: FloatArray) -> int:
    """How many rows usually belong to one moment; 1 when all rows are about equally far apart."""
    if len(wall_s) < 2 or np.isnan(wall_s).all():
        return 1
    if (wall_s == wall_s[0]).all():
        return len(wall_s)
    sizes: list[int] = np.diff(np.append(_tick_starts(wall_s), len(wall_s))).tolist()
    return Counter(sizes).most_common(1)[0][0]


def _tick_starts(wall_s: FloatArray) -> Positions:
    """The first row of each moment."""
    gaps = np.diff(wall_s)
    usual = np.sort(gaps)[int(len(gaps) * _USUAL_SHARE)]
    return np.concatenate(([0], np.flatnonzero(gaps >= usual * _SAME_TICK_SHARE) + 1))


def _positions(wall_s: FloatArray) -> Positions:
    """For each row how many of its moment came before it."""
    if (wall_s == wall_s[0]).all():
        return np.arange(len(wall_s))
    starts = _tick_starts(wall_s)
    return np.arange(len(wall_s)) - np.repeat(starts, np.diff(np.append(starts, len(wall_s))))


def track_of(key: str, position: int, facts: Mapping[str, Facts], rows: Positions, wall_s: FloatArray) -> Track:
    """A track without figures of the GPU that some rows are about."""
    said = {name: text for name, column in facts.items() if (text := column.first(rows)) is not None}
    index = whole_number(said.get("index", key))
    mode = said.get("mig.mode.current", "").strip("[]").lower()
    track = Track(
        Device(
            uuid=said.get("uuid") or key,
            index=position if index is None else index,
            name=said.get("name") or "unknown GPU",
            pci_bus_id=said.get("pci.bus_id"),
            driver_version=said.get("driver_version"),
            compute_capability=said.get("compute_cap"),
            pcie_generation_max=whole_number(said.get("pcie.link.gen.max")),
            pcie_width_max=whole_number(said.get("pcie.link.width.max")),
            mig_enabled={"enabled": True, "disabled": False}.get(mode),
        )
    )
    track.extend(wall_s, {})
    return track


def with_sizes(track: Track) -> Device:
    """The track's device with the size of its memory and its power limit, as its first rows say."""
    total, limit = _first(track.values("memory_total_bytes")), _first(track.values("power_limit_w"))
    return msgspec.structs.replace(
        track.device, memory_total_bytes=None if total is None else round(total), power_limit_w=limit
    )


def _first(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known[0]) if len(known) else None
