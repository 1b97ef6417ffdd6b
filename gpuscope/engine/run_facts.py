"""What the probe's events of a run say, picked out for the footprint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gpuscope.domain.events import SUPERVISOR, Event
from gpuscope.domain.steps import StepRecord, steps_of


@dataclass(slots=True)
class ProcessFacts:
    """One process of the workload that had something to say.

    Attributes:
        source: `probe:PID`.
        by_kind: its events by kind, in order.
        steps: its training steps.
    """

    source: str
    by_kind: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    steps: list[StepRecord] = field(default_factory=list)

    def last(self, kind: str) -> dict[str, Any]:
        """Fields of the last event of a kind; empty when there was none."""
        events = self.by_kind.get(kind)
        return events[-1].data if events else {}

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Fields of all events of a kind."""
        return [event.data for event in self.by_kind.get(kind, [])]

    @property
    def rank(self) -> int | None:
        """Rank in a distributed run."""
        rank = self.last("process_start").get("rank")
        return None if rank is None else int(rank)

    @property
    def dominant_optimizer(self) -> dict[str, Any]:
        """The last census of the optimizer whose steps are counted; empty when there is none."""
        censuses = self.all("optimizer")
        dominant = [census for census in censuses if census.get("dominant")]
        return (dominant or censuses or [{}])[-1]

    def optimizers(self) -> list[dict[str, Any]]:
        """The last census of each optimizer."""
        return list({str(census.get("key")): census for census in self.all("optimizer")}.values())


def process_facts(events: Iterable[Event]) -> list[ProcessFacts]:
    """The workload's processes, the one with the most steps first, then by rank and order of appearance."""
    by_source: dict[str, ProcessFacts] = {}
    ordered: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.source != SUPERVISOR:
            facts = by_source.setdefault(event.source, ProcessFacts(event.source))
            facts.by_kind[event.kind].append(event)
            ordered[event.source].append(event)
    for source, facts in by_source.items():
        facts.steps = steps_of(ordered[source])
    return sorted(by_source.values(), key=lambda f: (-len(f.steps), f.rank if f.rank is not None else 0))
