"""Terminal output becomes plain lines, however it is cut into pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.ui.terminal_text import LONGEST_LINE, TerminalText


def _read(*pieces: bytes) -> tuple[list[str], str]:
    terminal = TerminalText()
    lines = [line for piece in pieces for line in terminal.feed(piece)]
    return lines, terminal.current


@pytest.mark.parametrize(
    ("data", "lines", "current"),
    [
        (b"one\ntwo\r\nthree", ["one", "two"], "three"),
        (b"\x1b[31mred\x1b[0m\n", ["red"], ""),
        (b"\x1b]0;title\x07text\n", ["text"], ""),
        (b" 10%\r 50%\r100%\n", ["100%"], ""),
        (b"long line\rshort\n", ["shortline"], ""),
        (b"abc\b\bX\n", ["aXc"], ""),
        ("größer ▓\n".encode(), ["größer ▓"], ""),
        (b"bad \xff byte\n", ["bad � byte"], ""),
        (b"nul\x00bell\x07\n", ["nulbell"], ""),
    ],
)
def test_lines(data: bytes, lines: list[str], current: str) -> None:
    assert _read(data) == (lines, current)


TEXT = st.lists(
    st.sampled_from(["a", "é", "▓", "\n", "\r\n", "\r", "\x1b[1;32m", "\x1b[K", "\x1b]8;;x\x07", "\b", " "]),
    max_size=40,
).map("".join)


@given(TEXT, st.lists(st.integers(0, 200), max_size=8))
def test_how_the_output_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    data = (text + "\n").encode()
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[a:b] for a, b in itertools.pairwise(places)]
    assert _read(*pieces) == _read(data)


def test_an_endless_line_and_an_endless_sequence_stay_bounded() -> None:
    terminal = TerminalText()
    for _ in range(50):
        terminal.feed(b"x" * 1000)
    assert len(terminal.current) == LONGEST_LINE
    terminal = TerminalText()
    terminal.feed(b"\x1b]" + b"y" * 10_000)
    assert len(terminal.current) <= LONGEST_LINE
    assert terminal.feed(b"\nnext\n")[-1] == "next"
