"""What a configuration does as a service: the answer of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuscope.advisor.memory.memory_model import MemoryNeed
from gpuscope.domain.recommendation import Explanation, Layout
from gpuscope.domain.serving import Serving


class ServingPlan(NamedTuple):
    """A way of serving on given hardware."""

    serving: Serving | None
    """None: it cannot be served there, see `missed`."""
    layout: Layout
    """Copies here are its data parallel degree."""
    need: MemoryNeed | None
    """Of one GPU."""
    fits: bool | None
    missed: tuple[str, ...]
    """Targets that are not met, each a clause that says by how much; empty: all are."""
    risks: tuple[str, ...]
    """Targets that are met in the middle of the range and may be missed, each a clause."""
    gpus_needed: float
    """For the whole load (of machines, where they have no GPU); below one where a slice is enough."""
    explain: Callable[[], Explanation]
    """Unfolds the figures; only for who looks at them."""
    assumptions: tuple[str, ...] = ()
    utilisation: float | None = None
    """Of the copies at the busiest hour; None: no load is given."""

    @property
    def explanation(self) -> Explanation:
        """The figures unfolded."""
        return self.explain()

    @property
    def meets(self) -> bool:
        """It fits and every target is met."""
        return self.fits is not False and not self.missed


def cannot(reason: str, *, fits: bool | None = None, need: MemoryNeed | None = None) -> ServingPlan:
    """Nothing can be served, for the reason in a clause."""
    tree = Explanation(name="Serving", value="not possible", formula=reason)
    return ServingPlan(None, Layout(), need, fits, (reason,), (), 0.0, lambda: tree)
