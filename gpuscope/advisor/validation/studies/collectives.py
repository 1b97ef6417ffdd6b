"""Collectives: constants of a link fitted to every other published payload, held against the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from gpuscope.advisor.parallel.collectives import Group, all_reduce_s, fabric_of, send_s
from gpuscope.advisor.parallel.rates import DEFAULT_LINKS, ParallelRates
from gpuscope.advisor.validation.collective_fit import ALL_REDUCE, Timed, fit_links, timed_of
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.base import Range

NAME = "collectives"
DESCRIPTION = (
    "Time of collectives by payload: links fitted to every other payload of all-reduces, held against the rest."
)
CASE = ""
GOAL = None
TRIED = ""

_RANGE = 1.35
"""Factor of the range; payloads at which the library changes its algorithm are the widest."""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """All-reduces of the payloads that were left out, and all sends, on which nothing was fitted."""
    fitted, rest = _halves(list(timed_of(tables.rows("collectives"), tables.catalogue)))
    rates = ParallelRates(links=(*fit_links(fitted), *DEFAULT_LINKS))
    for timed in rest:
        yield _outcome(timed, rates)


def _halves(rows: list[Timed]) -> tuple[list[Timed], list[Timed]]:
    """Every other payload of each system's all-reduces, and all the rest."""
    series: dict[tuple[Any, ...], list[Timed]] = defaultdict(list)
    rest = []
    for row in rows:
        if row.collective == ALL_REDUCE:
            series[row.row["system"], row.gpus].append(row)
        else:
            rest.append(row)
    fitted = []
    for key in sorted(series):
        ordered = sorted(series[key], key=lambda row: row.bytes)
        fitted += ordered[::2]
        rest += ordered[1::2]
    return fitted, rest


def _outcome(timed: Timed, rates: ParallelRates) -> Outcome:
    fabric = fabric_of(timed.topology, rates)
    reduced = timed.collective == ALL_REDUCE
    stride = 1 if timed.topology.inter is None else timed.topology.gpus_per_node
    seconds = all_reduce_s(timed.bytes, Group(timed.gpus), fabric) if reduced else send_s(timed.bytes, stride, fabric)
    mid = float(seconds)
    return Outcome(
        study=NAME,
        family=timed.collective,
        gpu=timed.row["gpu_id"],
        precision="bytes",
        label=f"{timed.collective} of {timed.bytes / 1e6:.3g} MB, {timed.gpus} GPUs, {timed.row['system']}",
        predicted=Range(low=mid / _RANGE, mid=mid, high=mid * _RANGE),
        measured=timed.seconds,
        held_out="every other payload" if reduced else "all sends",
        source=timed.row["source"],
    )
