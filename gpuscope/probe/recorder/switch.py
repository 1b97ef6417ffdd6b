"""One switch for all hooks: an error of ours turns every one of them off, and the script never sees it."""

from __future__ import annotations

# The typing module is not loaded at interpreter start: it would bring half the standard library along.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Switch:
    """On until an error of ours; `undo` actions then take the hooks out again."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """`report` is told, once, why the probe is off."""
        self.on = True
        self._report = report
        self._undo: list[Callable[[], None]] = []

    def on_off(self, undo: Callable[[], None]) -> None:
        """Have `undo` called when the switch goes off."""
        self._undo.append(undo)

    def off(self, error: BaseException) -> None:
        """Go off for good, say why, and take the hooks out."""
        if not self.on:
            return
        self.on = False
        for undo in reversed(self._undo):
            try:  # noqa: SIM105  # contextlib is not imported at interpreter start
                undo()
            except Exception:  # a hook that cannot be taken out sees the switch and does nothing
                pass
        try:  # noqa: SIM105  # as above
            self._report(type(error).__name__ + ": " + str(error)[:500])
        except Exception:  # the reason could not be written either: stay silent
            pass

    def guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, doing nothing once the switch is off and turning it off instead of raising."""

        def call(*arguments: Any) -> Any:
            if not self.on:
                return None
            try:
                return function(*arguments)
            except Exception as error:
                self.off(error)
                return None

        return call
