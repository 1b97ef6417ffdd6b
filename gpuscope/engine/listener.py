"""What a use case tells whoever started it while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listener:
    """Called by a recording or a run; everything is ignored unless a function is given."""

    on_start: Callable[[], None] = lambda: None
    """The session exists; the workload has not been started yet."""
    on_output: Callable[[bytes], None] = _ignore
    """A piece of the workload's output, already on disk."""
    on_notice: Callable[[str], None] = _ignore
    """A sentence about a source of figures that does not work, or works again."""
