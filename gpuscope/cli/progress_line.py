"""One line on a terminal that says how far something is; a pipe or a file gets nothing of it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from gpuscope.cli.streams import shown

_FIRST_AFTER_S = 0.5
"""What is done sooner needs no line."""
_EVERY_S = 0.1
_MOST_CHARACTERS = 60
"""Of a file's name: the line has to fit into one of a terminal."""
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Shows how far something is while it is entered, then clears it."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is shown before half a second has passed.

        Args:
            stream: where to; by default standard error.
            clock: seconds, for tests.
        """
        self._stream = stream if stream is not None else sys.stderr
        self._clock = clock
        self._next_s = clock() + _FIRST_AFTER_S
        self._shown = False

    def __call__(self, path: Path | None, share: float) -> None:
        """Show the share of a file that was read, or with None of the session that was written.

        It is an engine.import_files.ImportProgress.
        """
        name = "" if path is None else shown(path.name)
        short = name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 1]}…"
        self.tell("writing the session" if path is None else f"reading {short}", share)

    def tell(self, what: str, share: float) -> None:
        """Show the share of what is being done, in a few words."""
        if not self._stream.isatty() or self._clock() < self._next_s:
            return
        self._next_s = self._clock() + _EVERY_S
        self._write(f"{_CLEAR}gpuscope: {what} … {share:.0%} (Ctrl-C cancels)")
        self._shown = True

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        if self._shown:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that went away is no fault
            self._stream.write(text)
            self._stream.flush()
