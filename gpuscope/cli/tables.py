"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount_range
from gpuscope.domain.recommendation import Candidate, Recommendation
from gpuscope.domain.units import format_duration_range

UNKNOWN = "—"
MARKS = "> recommended   * alternate   ? may not fit   basis: what the step time rests on"
_MOST_WIDTH = 100
_NAME_WIDTH = 33
_LEAST_NAME_WIDTH = 16
_HOW_WIDTH = 13
_BASES = {"specification": "spec.", "calibrated": "calibr."}


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
    """The candidates, best first, with the marks of `MARKS`; names are cut where it would be wider than 100 columns."""
    every = recommendation.candidates
    numbers = [n for n in range(len(every)) if shown is None or n < shown or n in recommendation.alternates]
    text = _candidate_table(recommendation, numbers, _NAME_WIDTH)
    rule = text.splitlines()[1]
    beyond = len(rule) - _MOST_WIDTH
    if beyond > 0:
        longest_name = len(rule.split("  ")[1])
        text = _candidate_table(recommendation, numbers, max(_LEAST_NAME_WIDTH, longest_name - beyond))
    return text


def _candidate_table(recommendation: Recommendation, numbers: Sequence[int], name_width: int) -> str:
    every = recommendation.candidates
    serving = any(every[number].serving is not None for number in numbers)
    several = len({every[number].precision for number in numbers}) > 1
    economics = recommendation.constraints.economics
    rows = []
    for number in numbers:
        candidate = every[number]
        mark = ">" if number == recommendation.recommended else "*" if number in recommendation.alternates else ""
        speed = _served(candidate) if serving else _timed(candidate)
        names = _name(candidate, name_width, several=several)
        rows.append([mark, *names, *speed, *_costs(candidate, economics)])
    speeds = ["first token", "a token", "requests/s"] if serving else ["step", "finished in"]
    headings = ["", "configuration", "how", *speeds, "cost", "per hour", "basis"]
    kept = [i for i in range(len(headings)) if i < 3 or any(row[i] != UNKNOWN for row in rows)]
    rows = [[row[i] for i in kept] for row in rows]
    return table([headings[i] for i in kept], rows, right=range(3, len(kept) - 1))


def _name(candidate: Candidate, width: int, *, several: bool) -> list[str]:
    name = candidate.gpu_name or candidate.cpu or "CPU"
    text = f"{candidate.count} × {name}" if candidate.count else f"{name} (CPU only)"
    details = [candidate.precision] if several and candidate.precision else []
    if candidate.fits is None and candidate.acquisition != "keep":
        details.append("?")
    room = width - sum(1 + len(detail) for detail in details)
    how = f"rent {candidate.offer.provider}" if candidate.offer else candidate.acquisition
    return [" ".join([cut(text, room), *details]), cut(how, _HOW_WIDTH)]


def _timed(candidate: Candidate) -> list[str]:
    return [_duration(candidate.step_time_s), _duration(candidate.time_to_finish_s)]


def _served(candidate: Candidate) -> list[str]:
    serving = candidate.serving
    if serving is None:
        return [UNKNOWN] * 3
    rate = serving.requests_per_second
    return [
        _duration(serving.time_to_first_token_s or serving.latency_s),
        _duration(serving.inter_token_latency_s),
        UNKNOWN if rate is None else f"{rate.low:.3g}–{rate.high:.3g}",
    ]


def _costs(candidate: Candidate, economics: Economics) -> list[str]:
    return [
        _money(candidate.cost_usd, economics),
        _money(candidate.cost_usd_per_hour, economics),
        _BASES.get(candidate.confidence, candidate.confidence),
    ]


def cut(text: str, width: int) -> str:
    """At most that many characters, the last a mark where some are left out."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _duration(value: Range | None) -> str:
    return UNKNOWN if value is None else format_duration_range(value)


def _money(value: Range | None, economics: Economics) -> str:
    return UNKNOWN if value is None else format_amount_range(value, economics)
