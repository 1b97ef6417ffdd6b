"""How far an import is: on a terminal, after a moment, and never in a pipe or with control characters of a name."""

from __future__ import annotations

import io
from pathlib import Path

from gpuscope.cli.progress_line import ProgressLine


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_appears_after_half_a_second_and_is_cleared() -> None:
    terminal, now_s = _Terminal(), [10.0]
    with ProgressLine(terminal, lambda: now_s[0]) as line:
        line(Path("a.csv"), 0.1)
        assert not terminal.getvalue()
        now_s[0] = 10.6
        line(Path("logs/a.csv"), 0.25)
        line(Path("logs/a.csv"), 0.26)
        assert terminal.getvalue() == "\r\x1b[Kgpuscope: reading a.csv … 25% (Ctrl-C cancels)"
        now_s[0] = 10.8
        line(None, 0.5)
    assert terminal.getvalue().endswith("writing the session … 50% (Ctrl-C cancels)\r\x1b[K")


def test_a_pipe_gets_nothing() -> None:
    pipe, now_s = io.StringIO(), [0.0]
    with ProgressLine(pipe, lambda: now_s[0]) as line:
        now_s[0] = 5.0
        line(Path("a.csv"), 0.5)
    assert not pipe.getvalue()


def test_names_cannot_steer_the_terminal_or_fill_it() -> None:
    terminal, now_s = _Terminal(), [0.0]
    with ProgressLine(terminal, lambda: now_s[0]) as line:
        now_s[0] = 1.0
        line(Path("\x1b[2Jevil.csv"), 0.5)
        assert "\x1b[2J" not in terminal.getvalue()
        now_s[0] = 2.0
        line(Path("x" * 300), 0.5)
    assert len(terminal.getvalue()) < 300
