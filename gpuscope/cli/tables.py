"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate, Recommendation
from gpuscope.domain.units import format_duration_range, format_money_range

UNKNOWN = "—"
MARKS = "> recommended   * alternate   basis: what the step time rests on"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns as wide as their widest cell; those in `right` are right-aligned."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    lines = []
    for row in [headings, *rows]:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def candidate_table(recommendation: Recommendation, shown: int | None) -> str:
    """The candidates, best first, with the marks of `MARKS`."""
    rows = []
    for number, candidate in enumerate(recommendation.candidates[:shown]):
        mark = ">" if number == recommendation.recommended else "*" if number in recommendation.alternates else ""
        rows.append([mark, *_cells(candidate)])
    headings = ["", "configuration", "how", "fits", "step", "finished in", "cost", "per hour", "basis"]
    return table(headings, rows, right=(4, 5, 6, 7))


def _cells(candidate: Candidate) -> list[str]:
    name = candidate.gpu_name or candidate.cpu or "CPU"
    fits = {True: "yes", False: "no", None: "perhaps"}[candidate.fits]
    return [
        f"{candidate.count} × {name}" if candidate.count else f"{name} (CPU only)",
        f"rent {candidate.offer.provider}" if candidate.offer else candidate.acquisition,
        fits,
        _duration(candidate.step_time_s),
        _duration(candidate.time_to_finish_s),
        _money(candidate.cost_usd),
        _money(candidate.cost_usd_per_hour),
        candidate.confidence,
    ]


def _duration(value: Range | None) -> str:
    return UNKNOWN if value is None else format_duration_range(value)


def _money(value: Range | None) -> str:
    return UNKNOWN if value is None else format_money_range(value)
