"""When nothing meets every constraint: which one would have to give, and by how much; found by trying each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.limits import broken as is_broken
from gpuscope.advisor.choice.limits import enough, measures, relaxed_words
from gpuscope.advisor.choice.naming import title
from gpuscope.advisor.choice.options import Option, closeness
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate, Constraints, Rejected
from gpuscope.domain.serving import Serving
from gpuscope.domain.units import format_bytes, format_duration

Search = Callable[[Constraints], Sequence[Option]]
"""Candidates that break none of these constraints, best first."""

_AMOUNTS = (
    "deadline_s", "budget_usd", "budget_usd_per_hour", "minimum_throughput", "power_limit_w", "rack_power_w",
)  # fmt: skip
_CHOICES = (
    "gpus", "counts", "vendors", "providers", "regions", "residency", "form_factors", "interconnects", "networks",
    "ecc", "datacenter_licence", "max_nodes", "acquisition", "precision", "keep_global_batch",
)  # fmt: skip
_CHOICE_EXCESS = 2.0
"""To allow another kind of hardware or place counts as much as to double an amount."""
_MOST_SUGGESTIONS = 2
_MOST_NAMED = 2
"""Of more GPUs by name the reasons are in the list of rejections."""
_OUT_OF_REACH = {"no_offer", "not_on_sale", "memory", "precision"}
"""Reasons for which a GPU by name cannot be had or used at all."""
EMPTY_CATALOGUE = "The catalogue is empty: put its files back."


class Relaxation(NamedTuple):
    """One constraint that has to give so that something is left."""

    constraints: Constraints
    """With that one changed, and no more than needed."""
    words: str
    """What to allow: `a deadline of 3 d instead of 36 h`."""
    excess: float
    """How much it gives: 2 is twice the amount."""
    option: Option
    """What is then the best."""


def relaxations(constraints: Constraints, search: Search, broken: Sequence[Option] = ()) -> list[Relaxation]:
    """Every single constraint that alone makes the others possible, that which has to give least first.

    Args:
        constraints: that nothing meets.
        search: ranks under other constraints.
        broken: candidates that break a limit, also with numbers of GPUs that are not tried under looser ones.
    """
    found = [
        *_targets(constraints, search),
        *_amounts(constraints, search, broken),
        *_memory(constraints, search),
        *_choices(constraints, search),
    ]
    return sorted(found, key=lambda each: (each.excess, each.words))


def what_to_allow(constraints: Constraints, search: Search, broken: Sequence[Option]) -> str:
    """`allow a deadline of 3 d instead of 36 h: then 2× L4 will do. Or allow ...`; empty: no single constraint helps.

    Args:
        constraints: that nothing meets.
        search: ranks under other constraints.
        broken: candidates that break a limit.
    """
    ways = relaxations(constraints, search, broken)
    if not ways:
        return ""
    text = f"allow {ways[0].words}: then {title(ways[0].option.candidate)} will do."
    others = [way.words for way in ways[1:_MOST_SUGGESTIONS]]
    return f"{text} Or allow {' or '.join(others)}." if others else text


def impossible_sentence(
    constraints: Constraints,
    search: Search,
    broken: Sequence[Option],
    rejected: Sequence[Rejected],
    catalogue: Catalogue,
) -> str:
    """Why nothing is left, and what to change.

    Args:
        constraints: that nothing meets.
        search: ranks under other constraints.
        broken: candidates that break a limit.
        rejected: configurations that are out for other reasons.
        catalogue: for the size of what was rejected.
    """
    allowed = what_to_allow(constraints, search, broken)
    if allowed:
        why = _why_not_the_named(constraints, rejected)
        return f"{why or 'Nothing in the catalogue meets every constraint.'} A{allowed[1:]}"
    if broken:
        closest = min(broken, key=lambda option: (closeness(option), title(option.candidate)))
        sentences = "; ".join(breach.sentence for breach in closest.breaches)
        relaxed = " and ".join(breach.relax for breach in closest.breaches if breach.relax)
        unknown = (_ADVICE[breach.code] for breach in closest.breaches if breach.code in _ADVICE)
        advice = f" Allow {relaxed}." if relaxed else f" {next(unknown, '')}".rstrip()
        name = title(closest.candidate)
        return f"Nothing in the catalogue meets every constraint. Closest is {name}: {sentences}.{advice}"
    return _commonest(rejected, catalogue)


def _why_not_the_named(constraints: Constraints, rejected: Sequence[Rejected]) -> str:
    """Why the GPUs that were asked for by name are out, where each is out whatever is done with it; else empty."""
    named = {gpu_id.lower() for gpu_id in constraints.gpus}
    of_named = [entry for entry in rejected if (entry.gpu or "").lower() in named]
    reasons: dict[str | None, str] = {}
    for entry in of_named:
        reasons.setdefault(entry.gpu, entry.reason)
    if not reasons or len(reasons) > _MOST_NAMED or any(entry.reason_code not in _OUT_OF_REACH for entry in of_named):
        return ""
    return " ".join(reasons.values())


def _amounts(constraints: Constraints, search: Search, broken: Sequence[Option]) -> Iterator[Relaxation]:
    for field in _AMOUNTS:
        limit = getattr(constraints, field)
        if limit is None:
            continue
        without = _changed(constraints, field, None)
        left = [*search(without), *(option for option in broken if not is_broken(option.figures, without))]
        known = [entry for option in left if (entry := _excess(option, constraints, field)) is not None]
        if not known:
            continue
        excess, reached = min(known)
        needed = enough(field, reached, constraints.economics)
        relaxed = _changed(constraints, field, needed)
        best = search(relaxed)
        if best:
            yield Relaxation(relaxed, relaxed_words(field, needed, limit, constraints.economics), excess, best[0])


def _excess(option: Option, constraints: Constraints, field: str) -> tuple[float, float] | None:
    """By how much an option breaks one limit, and what it reaches; None: that is not known."""
    for measure in measures(option.figures, constraints):
        if measure.field == field and measure.mid is not None:
            return measure.excess, measure.mid
    return None


def _targets(constraints: Constraints, search: Search) -> Iterator[Relaxation]:
    """Targets of a service, one after the other."""
    wanted = constraints.serving
    if wanted is None:
        return
    for field, (words, show) in _TARGETS.items():
        limit = getattr(wanted, field)
        if limit is None:
            continue
        left = search(_changed(constraints, "serving", msgspec.structs.replace(wanted, **{field: None})))
        reached = [mid for option in left if (mid := _served(option.candidate.serving, field)) is not None]
        if not reached:
            continue
        more = field in _MORE_IS_BETTER
        needed = max(reached) / _ROOM if more else min(reached) * _ROOM
        relaxed = _changed(constraints, "serving", msgspec.structs.replace(wanted, **{field: needed}))
        best = search(relaxed)
        if best:
            text = f"{words} of {show(needed)} instead of {show(limit)}"
            yield Relaxation(relaxed, text, limit / needed if more else needed / limit, best[0])


def _served(serving: Serving | None, field: str) -> float | None:
    reached = None if serving is None else getattr(serving, field, None)
    return reached.mid if isinstance(reached, Range) else None


_ROOM = 1.02
"""Over what was reached, so that a target that is typed in as shown is met."""
_MORE_IS_BETTER = {"requests_per_second"}
_TARGETS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time_to_first_token_s": ("a time to the first token", format_duration),
    "inter_token_latency_s": ("a time between tokens", format_duration),
    "latency_s": ("a latency", format_duration),
    "requests_per_second": ("a load", lambda rate: f"{rate:.3g} requests/s"),
}


def _memory(constraints: Constraints, search: Search) -> Iterator[Relaxation]:
    least = constraints.minimum_memory_bytes
    if least is None:
        return
    left = search(_changed(constraints, "minimum_memory_bytes", None))
    on_gpus = (option.candidate for option in left if option.candidate.gpu is not None)
    largest = max((candidate.memory.available_bytes or 0 for candidate in on_gpus), default=0)
    if not largest:
        return
    relaxed = _changed(constraints, "minimum_memory_bytes", largest)
    best = search(relaxed)
    if best:
        words = f"{format_bytes(largest)} of memory instead of {format_bytes(least)}"
        yield Relaxation(relaxed, words, least / largest, best[0])


def _choices(constraints: Constraints, search: Search) -> Iterator[Relaxation]:
    for field in _CHOICES:
        value = getattr(constraints, field)
        if not value:
            continue
        free: Any = () if isinstance(value, tuple) else False if isinstance(value, bool) else None
        best = search(_changed(constraints, field, free))
        if best:
            words = _choice_words(field, value, best[0].candidate)
            yield Relaxation(_changed(constraints, field, free), words, _CHOICE_EXCESS, best[0])


def _choice_words(field: str, value: Any, candidate: Candidate) -> str:
    offer = candidate.offer
    words = {
        "gpus": f"the GPU {candidate.gpu_name}",
        "counts": f"{candidate.count} {'GPU' if candidate.count == 1 else 'GPUs'}",
        "vendors": f"another vendor than {_listed(value)}",
        "providers": f"the provider {offer.provider}" if offer else f"another provider than {_listed(value)}",
        "regions": f"the region {offer.region}" if offer else f"another region than {_listed(value)}",
        "residency": f"data in the region {offer.region}" if offer else f"data outside {_listed(value)}",
        "form_factors": f"another form factor than {_listed(value)}",
        "interconnects": f"GPUs connected by {candidate.interconnect or 'something else'}",
        "networks": f"machines connected by {candidate.network or 'another network'}",
        "ecc": "memory without ECC",
        "datacenter_licence": "a place that is no data centre",
        "max_nodes": f"{candidate.nodes} machines instead of {value}",
        "acquisition": "renting" if value == "buy" else "buying",
        "precision": f"another precision than {value}",
        "keep_global_batch": "a batch that grows with the number of GPUs",
    }
    return words[field]


def _listed(value: Any) -> str:
    return " or ".join(str(each) for each in value) if isinstance(value, tuple) else str(value)


def _changed(constraints: Constraints, field: str, value: Any) -> Constraints:
    return msgspec.structs.replace(constraints, **{field: value})


_ADVICE = {
    "memory": "Allow more GPUs, a smaller batch or a 16-bit precision.",
    "no_offer": "Allow buying, or other GPUs and counts.",
    "provider": "Allow other providers.",
    "region": "Allow other regions.",
    "residency": "Allow the data to be elsewhere.",
    "vendor": "Allow other vendors.",
    "precision": "Allow another precision.",
    "unknown_time": "Run the job once under gpuscope as it is wanted, so that its operators are known.",
    "unknown_cost": "Ask for a quote and give it, or leave the budget out.",
    "not_on_sale": "Allow renting, or other GPUs and counts.",
}


def _commonest(rejected: Sequence[Rejected], catalogue: Catalogue) -> str:
    relevant = [entry for entry in rejected if entry.reason_code not in {"not_asked", "vendor"}] or list(rejected)
    if not relevant:
        return f"Nothing can be recommended. {EMPTY_CATALOGUE}"
    code, _ = max(Counter(entry.reason_code for entry in relevant).items(), key=lambda item: (item[1], item[0]))

    def memory(entry: Rejected) -> tuple[float, str]:
        gpu = catalogue.gpu(entry.gpu)
        return (0.0 if gpu is None else gpu.memory_gb * entry.count), entry.reason

    largest = max((entry for entry in relevant if entry.reason_code == code), key=memory)
    return f"No configuration is left. Even {largest.reason} {_ADVICE.get(code, 'Relax the constraints.')}"
