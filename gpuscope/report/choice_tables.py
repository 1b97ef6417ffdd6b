"""The PDF's tables of candidates and rejections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportlab.platypus import Flowable, Spacer

from gpuscope.domain.recommendation import Candidate, Rejected
from gpuscope.report.choice import counted_names, fit_text
from gpuscope.report.format import optional
from gpuscope.report.model import RankedCandidate, RejectionGroup
from gpuscope.report.styles import CONTENT_WIDTH, GREY, TROUBLE, paragraph, style
from gpuscope.report.tables import Cell, grid, number_cell, text_cell
from gpuscope.report.text import Texts

_CANDIDATE_COLUMNS = (
    ("column.rank", 28.0),
    ("column.configuration", 118.0),
    ("column.memory", 100.0),
    ("column.step", 60.0),
    ("column.finish", 54.0),
    ("column.rate", 48.0),
    ("column.cost", 62.0),
    ("column.energy", 46.0),
)
_FIRST_NUMBER = 2
MAX_CANDIDATES = 24
"""Rows in the table; nobody reads on, and the JSON report has them all."""
_NAMES_A_ROW = 10
"""A row of a table cannot be broken over pages; more names than these are a paragraph."""


def candidate_table(candidates: Sequence[RankedCandidate], texts: Texts) -> list[Flowable]:
    """All candidates, best first: a row of figures and below it offer and reason; the recommended one is stressed.

    A reason that several share is said once.
    """
    shown = [ranked for ranked in candidates if _is_shown(ranked)]
    columns = [index for index, (key, _) in enumerate(_CANDIDATE_COLUMNS) if _is_needed(key, shown)]
    rows: list[list[Cell]] = []
    said: set[str] = set()
    for ranked in shown:
        figures = _figures_row(ranked, texts)
        reason = ranked.candidate.reason
        rows += [
            [figures[index] for index in columns],
            _reason_row(ranked, len(columns), texts, reason="" if reason in said else reason),
        ]
        said.add(reason)
    stressed = [index for index, ranked in enumerate(shown) if ranked.role == "recommended"]
    table = grid(
        [texts(_CANDIDATE_COLUMNS[index][0]) for index in columns],
        rows,
        _widths(columns),
        right=range(_FIRST_NUMBER, len(columns)),
        shaded=[row for index in stressed for row in (2 * index, 2 * index + 1)],
        joined=range(0, len(rows), 2),
        wide=range(1, len(rows), 2),
    )
    more = len(candidates) - len(shown)
    return [table, paragraph(texts("candidate.more", count=more), style(colour=GREY, before=4))] if more else [table]


def _is_shown(ranked: RankedCandidate) -> bool:
    return ranked.rank <= MAX_CANDIDATES or bool(ranked.role) or ranked.candidate.acquisition == "keep"


def _is_needed(key: str, shown: Sequence[RankedCandidate]) -> bool:
    """False for a column of figures that no candidate has, as those of the whole work when its amount is not given."""
    if key == "column.cost" and any(_unpriced(ranked.candidate) for ranked in shown):
        return True
    field = {"column.finish": "time_to_finish_s", "column.cost": "cost_usd", "column.energy": "energy_kwh"}.get(key)
    return field is None or any(getattr(ranked.candidate, field) is not None for ranked in shown)


def _widths(columns: Sequence[int]) -> list[float]:
    """Points; what is left of the page's width goes to the name."""
    widths = [_CANDIDATE_COLUMNS[index][1] for index in columns]
    widths[1] += CONTENT_WIDTH - sum(widths)
    return widths


def _figures_row(ranked: RankedCandidate, texts: Texts) -> list[Cell]:
    candidate = ranked.candidate
    price = texts("candidate.needs_quote") if _unpriced(candidate) else optional(candidate.cost_usd, "usd")
    role = texts.or_else(f"role.{ranked.role}", "")
    name = texts("candidate.role", name=ranked.name, role=role) if role else ranked.name
    return [
        text_cell(str(ranked.rank), colour=GREY),
        text_cell(name, bold=ranked.role == "recommended"),
        number_cell(fit_text(candidate, texts), TROUBLE if candidate.fits is False else style().textColor),
        number_cell(optional(candidate.step_time_s, "s_per_step")),
        number_cell(optional(candidate.time_to_finish_s, "s")),
        number_cell(optional(candidate.cost_usd_per_hour, "usd_per_hour").removesuffix("/h")),
        number_cell(price),
        number_cell(optional(candidate.energy_kwh, "kwh").removesuffix(" kWh")),
    ]


def _unpriced(candidate: Candidate) -> bool:
    return candidate.cost_usd is None and candidate.cost_usd_per_hour is None and candidate.acquisition != "keep"


def _reason_row(ranked: RankedCandidate, columns: int, texts: Texts, *, reason: str) -> list[Cell]:
    candidate, offer = ranked.candidate, ranked.candidate.offer
    acquisition = texts.or_else(f"acquisition.{candidate.acquisition}", candidate.acquisition)
    parts = [acquisition, *([f"{offer.provider} {offer.instance_type}", offer.region] if offer else [])]
    parts += [texts("candidate.basis", confidence=candidate.confidence), reason]
    line = " · ".join(part for part in parts if part)
    return [text_cell(""), text_cell(line, colour=GREY), *([text_cell("")] * (columns - 2))]


def alternates(candidates: Sequence[RankedCandidate], texts: Texts) -> Iterator[Flowable]:
    """The alternates, each by what is different from the recommended one; their reasons stand in the table."""
    found = [ranked for ranked in candidates if ranked.role == "alternate"]
    chosen = next((ranked.candidate for ranked in candidates if ranked.role == "recommended"), None)
    if found:
        yield paragraph(texts("section.alternates"), style(bold=True, before=8))
    for ranked in found:
        candidate = ranked.candidate
        how = texts.or_else(f"acquisition.{candidate.acquisition}", candidate.acquisition)
        if candidate.offer is not None:
            how = f"{how}, {candidate.offer.provider}"
        difference = "; ".join(_differences(candidate, chosen, texts)) or candidate.reason.rstrip(".")
        line = texts("difference.row", rank=ranked.rank, name=ranked.name, how=how, difference=difference)
        yield paragraph(line, style(before=1.5))


def _differences(candidate: Candidate, chosen: Candidate | None, texts: Texts) -> Iterator[str]:
    if chosen is None:
        return
    new_s, old_s = candidate.time_to_finish_s, chosen.time_to_finish_s
    unit = "s"
    if new_s is None or old_s is None:
        new_s, old_s, unit = candidate.step_time_s, chosen.step_time_s, "s_per_step"
    if new_s is not None and old_s is not None:
        yield texts("difference.time", new=optional(new_s, unit), old=optional(old_s, unit))
    if _unpriced(candidate):
        yield texts("difference.quote")
    elif candidate.cost_usd is not None and candidate.acquisition != chosen.acquisition:
        key = "difference.purchase" if candidate.acquisition == "buy" else "difference.cost"
        yield texts(key, new=optional(candidate.cost_usd, "usd"), old=optional(chosen.cost_usd, "usd"))
    elif candidate.cost_usd is not None and chosen.cost_usd is not None:
        yield texts("difference.cost", new=optional(candidate.cost_usd, "usd"), old=optional(chosen.cost_usd, "usd"))
    elif candidate.cost_usd_per_hour is not None and chosen.cost_usd_per_hour is not None:
        new, old = candidate.cost_usd_per_hour, chosen.cost_usd_per_hour
        yield texts("difference.rate", new=optional(new, "usd_per_hour"), old=optional(old, "usd_per_hour"))


def rejections(groups: Sequence[RejectionGroup], texts: Texts) -> Iterator[Flowable]:
    """Each kind of reason with its configurations; a reason that many share is said once."""
    if not groups:
        return
    yield paragraph(texts("rejected.largest"), style(colour=GREY))
    for group in groups:
        title = texts.or_else(f"rejected.{group.reason_code}", texts("rejected.other"))
        heading = texts("rejected.count", title=title, count=len(group.rejected))
        yield paragraph(heading, style(bold=True, before=8).clone("minor", keepWithNext=1))
        merged = _merged(group.rejected, texts)
        for reason, names in merged.items():
            if len(names) > _NAMES_A_ROW:
                yield paragraph(reason, style(before=3).clone("reason", keepWithNext=1))
                yield paragraph(f"{', '.join(names)}.", style(colour=GREY, before=1))
        rows = [
            [text_cell(", ".join(names)), text_cell(reason, colour=GREY)]
            for reason, names in merged.items()
            if len(names) <= _NAMES_A_ROW
        ]
        if rows:
            yield Spacer(1, 3)
            widths = [CONTENT_WIDTH * 0.5, CONTENT_WIDTH * 0.5]
            yield grid([texts("column.configuration"), texts("column.reason")], rows, widths)


def _merged(rejected: Sequence[Rejected], texts: Texts) -> dict[str, list[str]]:
    """Names by reason: one name a GPU, with the reason of its largest number."""
    by_gpu: dict[str, list[Rejected]] = {}
    for item in rejected:
        by_gpu.setdefault(item.gpu_name or item.gpu or "", []).append(item)
    names: dict[str, list[str]] = {}
    for members in by_gpu.values():
        largest = max(members, key=lambda item: item.count)
        names.setdefault(bare_reason(largest), []).extend(counted_names(members, texts))
    return names


def bare_reason(rejected: Rejected) -> str:
    """The reason without the name of the configuration before it, which has its own column."""
    name, colon, rest = rejected.reason.partition(": ")
    is_name = colon and rejected.gpu_name is not None and name.endswith(rejected.gpu_name)
    return rest[:1].upper() + rest[1:] if is_name else rejected.reason
