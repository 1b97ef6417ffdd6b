"""What `profiler.key_averages().table()` prints, alone or inside a log: operators with their times, torch 1.0 to 2.13.

Columns lie under the rule of dashes; names and shapes that were too long end in `...`. Times are sums over the whole
profile; a row `ProfilerStep*` says how many steps that was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gpuscope.domain.imported import TracedDevice, TraceDetails, TracedName
from gpuscope.errors import UsageError
from gpuscope.importers.reading import ImportedEvent, Note, Reading
from gpuscope.importers.text import decode

KIND = "torch_key_averages"
DESCRIPTION = "PyTorch key_averages() table"

_HEADING = re.compile(r"^ *Name  .*Self CPU.*# of Calls", re.MULTILINE)
_RULE = re.compile(r" *-{5,}(?: +-{5,}){3,} *")
_COLUMN = re.compile(r"-{5,}")
_TIME = re.compile(r"(-?\d+(?:\.\d+)?)(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_NO_DEVICE = ("CPU", "KINETO")
_SELF_DEVICE = re.compile(r"Self (\w+)(?: time)?")
_STEP = "ProfilerStep"
_OPTIMIZER = re.compile(r"Optimizer\.step#(\w+)\.step")
_OPERATOR = re.compile(r"[\w.]+::\w+")
_NOT_OPERATORS = re.compile(
    r"\(\d+\): |^<built-in|^autograd::engine|^enumerate\(|^Optimizer\.|^cuda[A-Z]|^hip[A-Z]|\.{3}$"
)
_MOST_LINE = 20_000
_MOST_ROWS = 100_000


@dataclass(slots=True)
class _Row:
    """One line: text by heading."""

    cells: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.cells.get("Name", "")

    @property
    def calls(self) -> int:
        text = self.cells.get("# of Calls", "")
        return int(text) if text.isdecimal() and len(text) < 16 else 0

    def seconds(self, heading: str) -> float:
        match = _TIME.fullmatch(self.cells.get(heading, ""))
        return max(0.0, float(match.group(1)) * _SECONDS[match.group(2)]) if match else 0.0


def recognises(head: str) -> bool:
    """Whether the beginning of a text holds such a table."""
    return _HEADING.search(head) is not None


def read(data: bytes) -> Reading:
    """Read the last table of a text: earlier ones are of other profiles.

    Raises:
        UsageError: it has no rows.
    """
    text, _ = decode(data)
    tables = list(_tables(text.split("\n")))
    rows = tables[-1] if tables else []
    if not rows:
        raise UsageError("The table of operators has no rows: copy it with its heading and its lines of dashes.")
    device = _device_heading(rows[0])
    steps = next((row for row in rows if row.name.startswith(_STEP)), None)
    count = max(1, steps.calls) if steps is not None else 1
    operators = [row for row in rows if _OPERATOR.match(row.name) and not _NOT_OPERATORS.search(row.name)]
    reading = Reading(KIND, DESCRIPTION, rows=len(rows))
    reading.details = details = _details(rows, operators, steps, device)
    reading.notes = _notes(tables, rows, steps)
    add = reading.events.append
    add(ImportedEvent(wall_s=0.0, kind="process_start", data={"rank": None, "world_size": None}))
    add(ImportedEvent(wall_s=0.0, kind="framework", data={"name": "pytorch", "version": None}))
    if steps is not None and steps.calls:
        mean = {"n": count, "steps": count, "duration_s": steps.seconds("CPU total") / count, "skipped": None}
        add(ImportedEvent(wall_s=steps.seconds("CPU total"), kind="step", data={**mean, "optimizer": "table"}))
    if details.optimizer is not None:
        told = {"key": "table", "class_name": details.optimizer, "dominant": True}
        add(ImportedEvent(wall_s=0.0, kind="optimizer", data=told))
    ops = [_operator(row, device, 1.0 / count) for row in operators]
    add(
        ImportedEvent(wall_s=0.0, kind="ops", data={"step": 0, "device_type": "cuda" if device else "cpu", "rows": ops})
    )
    return reading


def _tables(lines: list[str]) -> Iterator[list[_Row]]:
    """The rows of each table: heading between two rules, rows up to the third."""
    spans: list[tuple[int, int]] = []
    heading: list[str] = []
    rows: list[_Row] = []
    state = "outside"
    for line in lines:
        if len(line) > _MOST_LINE:
            continue
        if _RULE.fullmatch(line):
            if state == "rows":
                yield rows
            state, rows = {"outside": "heading", "heading": "rows", "rows": "outside"}[state], []
            spans = _spans(line) if state == "heading" else spans
        elif state == "heading":
            heading = [line[begin:end].strip() for begin, end in spans]
            state = "heading" if "Name" in heading else "outside"
        elif state == "rows" and len(rows) < _MOST_ROWS and line.strip("- "):  # a rule that is cut is no row
            cells = [line[begin:end].strip() for begin, end in spans]
            rows.append(_Row(dict(zip(heading, cells, strict=False))))
    if rows:
        yield rows


def _spans(rule: str) -> list[tuple[int, int]]:
    """Where columns begin and end; each takes the blanks before it, for numbers may be wider than their rule."""
    ends = [match.end() for match in _COLUMN.finditer(rule)]
    return [(begin, end) for begin, end in zip([0, *ends], [*ends[:-1], _MOST_LINE], strict=False)]


def _device_heading(row: _Row) -> str | None:
    """Heading of the operators' own time on the GPU: `Self CUDA`, `Self XPU`, `CUDA total` in old versions."""
    for heading in row.cells:
        match = _SELF_DEVICE.fullmatch(heading)
        if match and match.group(1) not in _NO_DEVICE:
            return heading
    return None


def _details(rows: list[_Row], operators: list[_Row], steps: _Row | None, device: str | None) -> TraceDetails:
    longest = sorted(operators, key=lambda row: -row.seconds(device or "Self CPU"))[:50]
    busy_s = sum(row.seconds(device) for row in operators) if device else 0.0
    optimizers = [match.group(1) for row in rows if (match := _OPTIMIZER.match(row.name))]
    return TraceDetails(
        devices=(TracedDevice(index=0, busy_s=busy_s, work_sum_s=busy_s),) if busy_s else (),
        optimizer=optimizers[0] if optimizers else None,
        events=sum(row.calls for row in operators),
        operators=len(operators),
        has_shapes=any(_shapes(row) for row in operators),
        steps_marked_by=_STEP if steps is not None else None,
        functions=tuple(
            TracedName(name=row.name, count=row.calls, time_s=row.seconds(device or "Self CPU")) for row in longest
        ),
    )


def _operator(row: _Row, device: str | None, share: float) -> dict[str, Any]:
    backward = "backward" in row.name.lower()
    return {
        "name": row.name,
        "shapes": _shapes(row),
        "dtypes": [],
        "args": [],
        "phase": "",
        "backward": backward,
        "count": row.calls * share,
        "cpu_time_s": row.seconds("Self CPU") * share,
        "device_time_s": row.seconds(device) * share if device else 0.0,
    }


def _shapes(row: _Row) -> list[Any]:
    try:
        found = msgspec.json.decode(row.cells.get("Input Shapes", ""))
    except (msgspec.DecodeError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _notes(tables: list[list[_Row]], rows: list[_Row], steps: _Row | None) -> list[Note]:
    notes = [Note(code="missing", sentence="A table of operators has no time: it counts as one moment.")]
    if len(tables) > 1:
        sentence = "The text holds several tables of operators: the last was read."
        notes.append(Note(code="assumed", sentence=sentence, count=len(tables)))
    cut = sum(row.name.endswith("...") for row in rows)
    if cut:
        sentence = "Names that end in ... were cut when the table was printed (max_name_column_width), and left out."
        notes.append(Note(code="lost", sentence=sentence, count=cut))
    if steps is None:
        sentence = "The table names no steps: the whole profile counts as one; rows that were not printed are missing."
        notes.append(Note(code="missing", sentence=sentence))
    if not any(_shapes(row) for row in rows):
        sentence = "The table has no shapes, so no FLOPs: print it with key_averages(group_by_input_shape=True)."
        notes.append(Note(code="missing", sentence=sentence))
    return notes
