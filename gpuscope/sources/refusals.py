"""What a device does not offer is remembered, and asked for again from time to time."""

from __future__ import annotations

from collections.abc import Hashable

from gpuscope.domain.reasons import Reason, field_state
from gpuscope.sources.driver import LASTING_STATES

PROBE_AGAIN_S = 60.0
"""Somebody may have changed a permission or a mode meanwhile."""


def lasts(reason: object) -> bool:
    """True of reasons that will hold for a while."""
    return isinstance(reason, Reason) and field_state(reason) in LASTING_STATES


class Refusals:
    """Reasons by key, each kept for `PROBE_AGAIN_S`."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Reason, float]] = {}

    def reason(self, key: Hashable, now_s: float) -> Reason | None:
        """Why not to ask now; None: ask."""
        kept = self._kept.get(key)
        return kept[0] if kept is not None and now_s < kept[1] else None

    def note(self, key: Hashable, answer: object, now_s: float) -> None:
        """Remember an answer if it is a lasting refusal, else forget the earlier one."""
        if isinstance(answer, Reason) and lasts(answer):
            self._kept[key] = (answer, now_s + PROBE_AGAIN_S)
        else:
            self._kept.pop(key, None)
