"""Undo and redo of the whole form: every state is an unchanging value, so the history is a list of them."""

from __future__ import annotations

from gpuscope.ui.advisor.form.texts import ConstraintTexts

KEPT = 200
"""States; older ones are forgotten."""


class FormHistory:
    """States of the form with a place in between."""

    def __init__(self, first: ConstraintTexts) -> None:
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

    def note(self, state: ConstraintTexts) -> None:
        """Remember a state, unless it is the present one; what was undone is forgotten."""
        if state != self._states[self._place]:
            self._states = [*self._states[: self._place + 1], state][-KEPT:]
            self._place = len(self._states) - 1

    def undo(self) -> ConstraintTexts:
        """The state before; the present one when there is none."""
        self._place = max(self._place - 1, 0)
        return self._states[self._place]

    def redo(self) -> ConstraintTexts:
        """The state that was undone; the present one when there is none."""
        self._place = min(self._place + 1, len(self._states) - 1)
        return self._states[self._place]
