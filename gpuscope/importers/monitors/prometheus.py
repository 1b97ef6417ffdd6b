"""Prometheus: what an exporter's page says, and what a server's API answers (instant and range queries)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from gpuscope.domain.gpu_labels import gpu_device, gpu_key
from gpuscope.domain.gpu_metrics import METRICS, PREFIXES, PROFILING_FIELDS
from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.json_text import MALFORMED
from gpuscope.importers.notes import add_lost
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode

TEXT_KIND, API_KIND = "prometheus_text", "prometheus_api"
TEXT_DESCRIPTION = "Prometheus metrics (dcgm-exporter, nvidia_gpu_exporter)"
API_DESCRIPTION = "answer of a Prometheus server"

_LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?(?:[ \t]+(.*))?")
_METRIC = re.compile(rf"(?:# (?:HELP|TYPE) )?(?:{'|'.join(PREFIXES)})\w")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]{0,200})="((?:[^"\\]|\\.)*)"')
_MOST_LINE = 100_000


class _Point(NamedTuple):
    name: str
    labels: dict[str, str]
    wall_s: float | None
    cell: Cell


def recognises_text(head: str) -> bool:
    """Whether the beginning of a text is an exporter's page with metrics of GPUs."""
    return any(_METRIC.match(line) for line in head.splitlines()[:2000])


def read_text(data: bytes) -> Reading:
    """Read an exporter's page; lines that are no metrics, as Prometheus itself would refuse, are noted."""
    text, _ = decode(data)
    reading = Reading(TEXT_KIND, TEXT_DESCRIPTION)
    points: list[_Point] = []
    bad: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        point = _point(line) if len(line) < _MOST_LINE else None
        if point is None or point.cell.reason not in {None, Reason.IMPLAUSIBLE}:
            bad.append(number)
        if point is not None:
            points.append(point)
    add_lost(reading, bad, "Lines have no number for a value; they count as missing.")
    _fill(reading, points)
    return reading


def recognises_api(head: str) -> bool:
    """Whether the beginning of a text is the JSON of a query."""
    return '"resultType"' in head and '"status"' in head


def read_api(data: bytes) -> Reading:
    """Read the answer of `/api/v1/query` or `/api/v1/query_range`.

    Raises:
        UsageError: it is no such JSON, or the server reports an error.
    """
    reading = Reading(API_KIND, API_DESCRIPTION, zone_known=True)
    try:
        answer = msgspec.json.decode(decode(data)[0].encode())
        if answer.get("status") != "success":
            raise UsageError(f"The Prometheus server answered: {str(answer.get('error', 'no result'))[:200]}.")
        _fill(reading, _series(answer["data"]["result"]))
    except MALFORMED as error:
        raise UsageError("The file is no complete answer of a Prometheus server: save it again.") from error
    return reading


def _point(line: str) -> _Point | None:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    name, labels, rest = match.groups()
    parts = (rest or "").split()
    if not parts:
        return None  # a line that is cut, before its labels end or behind them
    time = parse_cell(parts[1])[0] if len(parts) > 1 else Cell(math.nan, Reason.NO_DATA)
    wall_s = None if time.reason else time.value / 1000
    return _Point(name, _labels(labels or ""), wall_s, parse_cell(parts[0])[0])


def _labels(text: str) -> dict[str, str]:
    return {name: value.replace('\\"', '"').replace("\\\\", "\\") for name, value in _LABEL.findall(text)}


def _series(result: Any) -> Iterator[_Point]:
    for series in result:
        labels = {str(name): str(value) for name, value in series["metric"].items()}
        for time, value in series.get("values") or [series["value"]]:
            yield _Point(labels.get("__name__", ""), labels, float(time), parse_cell(str(value))[0])


def _fill(reading: Reading, points: Iterable[_Point]) -> None:
    """Points by GPU and moment make samples."""
    cells: dict[tuple[str, float], dict[str, Cell]] = defaultdict(dict)
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for point in points:
        if not point.name.startswith(PREFIXES):
            continue
        key = gpu_key(point.labels)
        labels[key].update(point.labels)
        metric = METRICS.get(point.name)
        value = point.cell if metric is None else point.cell._replace(value=point.cell.value * metric.scale)
        cells[key, 0.0 if point.wall_s is None else point.wall_s][metric.field if metric else point.name] = value
    order = {key: position for position, key in enumerate(sorted(labels))}
    for key, wall_s in sorted(cells):
        total_bytes = rounded(cells[key, wall_s].get("memory_total_bytes"))
        reading.add(key, gpu_device(labels[key], order[key], total_bytes), wall_s, cells[key, wall_s])
    for key, track in reading.tracks.items():
        _idle_counters(reading, key, {name: track.known(name) for name in track.columns})


def _idle_counters(reading: Reading, key: str, known: dict[str, list[float | None]]) -> None:
    """Profiling counters that stay at 0 on a busy GPU have stopped (seen after an Xid 31 fault)."""
    busy = [index for index, value in enumerate(known.get("utilization_gpu_percent", [])) if value and value >= 99]
    counters = [values for name, values in known.items() if name in PROFILING_FIELDS]
    stopped = [index for index in busy if counters and all(values[index] == 0 for values in counters)]
    if stopped:
        sentence = f"{key}: utilisation is 100% while every profiling counter is 0: the counters have stopped. Restart "
        sentence += "the DCGM service."
        reading.notes.append(Note(code="contradiction", sentence=sentence, count=len(stopped)))
