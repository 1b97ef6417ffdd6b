"""How many copies of a model a load needs.

Little's law: requests in work = requests a second × seconds that each takes. Requests arrive by chance, so that their
number in work varies like a Poisson figure: n ± √n. Slots for n + 1.645·√n requests take in 95% of arrivals at once
(the normal approximation of M/G/∞; A. K. Erlang's square-root rule of staffing). Where the number of users at the same
time is given, that is the busiest moment already and needs no margin.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.domain.serving import ServingTarget

_MARGIN_95 = 1.645
"""Standard deviations of a normal figure that 95% lie below."""
MARGIN_HOW = "requests/s × latency (Little's law), and 1.645 × √ of that, so that 95% of arrivals find a free slot"


class Demand(NamedTuple):
    """Copies that the busiest hour needs, and why."""

    replicas: int
    slots: float
    """Requests that all copies together must take at the same time."""
    how: str


def slots_for(requests_per_s: float, latency_s: float) -> float:
    """Slots so that 95% of requests start at once."""
    in_work = requests_per_s * latency_s
    return in_work + _MARGIN_95 * math.sqrt(in_work)


def demand(target: ServingTarget, batch: float, latency_s: float, load_share: float = 1.0) -> Demand | None:
    """Copies for the load of the target; None when no load is given.

    Args:
        target: with requests a second, users at the same time, or both: the larger need counts.
        batch: requests that one copy takes.
        latency_s: of a request in a full batch.
        load_share: of the busiest hour's load.
    """
    needs = []
    if target.requests_per_second is not None:
        slots = slots_for(target.requests_per_second * load_share, latency_s)
        needs.append((slots, f"{target.requests_per_second * load_share:.3g} {MARGIN_HOW}"))
    if target.concurrent_users is not None:
        users = target.concurrent_users * load_share
        needs.append((users, f"{math.ceil(users):,} users at the same time"))
    if not needs:
        return None
    slots, how = max(needs)
    replicas = max(1, math.ceil(slots / batch - 1e-9))
    return Demand(replicas, slots, f"{math.ceil(slots):,} slots ({how}) ÷ {batch:.0f} in a batch")
