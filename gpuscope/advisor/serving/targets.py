"""Which targets a point of operation misses, and by how much."""

from __future__ import annotations

from collections.abc import Callable

from gpuscope.advisor.serving.engine import Point
from gpuscope.advisor.serving.weights import cache_bytes, weight_format
from gpuscope.domain.serving import Serving, ServingTarget
from gpuscope.domain.units import format_duration
from gpuscope.errors import UsageError

# Field of a target → field of a point of operation.
_LATENCIES: tuple[tuple[str, str], ...] = (
    ("time_to_first_token_s", "first_token_s"),
    ("inter_token_latency_s", "inter_token_s"),
    ("latency_s", "latency_s"),
)
_WORDS = {
    "time_to_first_token_s": "the first token comes after",
    "inter_token_latency_s": "a token takes",
    "latency_s": "a request takes",
}
"""Of what is missed for sure."""
_MAY = {
    "time_to_first_token_s": "the first token may take",
    "inter_token_latency_s": "a token may take",
    "latency_s": "a request may take",
}
"""Of what is missed at the unlucky end of a range."""


def check_target(target: ServingTarget) -> None:
    """Refuse targets that no service can have, also those that this one would not look at.

    Raises:
        UsageError: a figure is zero or below, or a format is not known.
    """
    for weights in target.weight_dtypes:
        weight_format(weights)
    if target.cache_dtype:
        cache_bytes(target.cache_dtype)
    for name in target.__struct_fields__:
        value = getattr(target, name)
        if isinstance(value, int | float) and not value > 0:
            words = name.removesuffix("_s").replace("_", " ")
            raise UsageError(f"The target for {words} must be above zero, not {value:g}.")


def meets(point: Point, target: ServingTarget) -> bool:
    """Whether every latency target holds."""
    return (
        (target.time_to_first_token_s is None or point.first_token_s <= target.time_to_first_token_s)
        and (target.inter_token_latency_s is None or point.inter_token_s <= target.inter_token_latency_s)
        and (target.latency_s is None or point.latency_s <= target.latency_s)
    )


def misses(point: Point, target: ServingTarget) -> tuple[str, ...]:
    """A clause for each latency target that is missed: what it is, what was wanted, how many times too slow."""
    found = []
    for wanted_name, is_name in _LATENCIES:
        wanted, value = getattr(target, wanted_name), getattr(point, is_name)
        if wanted is not None and value > wanted:
            alone = "even alone " if point.batch <= 1 else ""
            found.append(
                f"{alone}{_WORDS[wanted_name]} {format_duration(value)}, {value / wanted:.2g} times the "
                f"{format_duration(wanted)} wanted"
            )
    return tuple(found)


def risks_of(serving: Serving, target: ServingTarget) -> tuple[str, ...]:
    """A clause for each target that the unlucky end of a range misses."""
    found = []
    for name, words in _MAY.items():
        wanted, expected = getattr(target, name), getattr(serving, name)
        if wanted is not None and expected is not None and expected.high > wanted:
            found.append(f"{words} up to {format_duration(expected.high)}, {format_duration(wanted)} are wanted")
    wanted, capacity = target.requests_per_second, serving.requests_per_second
    if wanted is not None and capacity is not None and capacity.low < wanted:
        found.append(f"it may answer only {capacity.low:.3g} of the {wanted:g} requests/s")
    return tuple(found)


def largest_batch(most: int, point_at: Callable[[int], Point], target: ServingTarget) -> int:
    """The most requests in a batch with which every latency target holds; 1 where none does.

    Latencies grow with the batch, so that halving finds it.
    """
    low, high = 1, max(1, most)
    if meets(point_at(high), target):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if meets(point_at(middle), target):
            low = middle
        else:
            high = middle - 1
    return low
