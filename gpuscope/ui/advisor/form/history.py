"""Undo and redo of a whole form: every state is an unchanging value, so the history is a list of them."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")

KEPT = 200
"""States; older ones are forgotten."""


NOTE_MS = 500
"""Changes that follow each other faster are undone together."""


class FormHistory(Generic[T]):
    """States of a form with a place in between."""

    def __init__(self, first: T) -> None:
        """Begins with one state; nothing can be undone."""
        self._states = [first]
        self._place = 0

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier state."""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """Whether something undone can be done again."""
        return self._place < len(self._states) - 1

    def note(self, state: T) -> None:
        """Remember a state, unless it is the present one; what was undone is forgotten."""
        if state != self._states[self._place]:
            self._states = [*self._states[: self._place + 1], state][-KEPT:]
            self._place = len(self._states) - 1

    def undo(self) -> T:
        """The state before; the present one when there is none."""
        self._place = max(self._place - 1, 0)
        return self._states[self._place]

    def redo(self) -> T:
        """The state that was undone; the present one when there is none."""
        self._place = min(self._place + 1, len(self._states) - 1)
        return self._states[self._place]
