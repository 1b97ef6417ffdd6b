"""Turn a program's terminal output into plain lines: escape sequences out, carriage returns obeyed."""

from __future__ import annotations

import codecs
import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: window titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?$")
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
LONGEST_ESCAPE = 4096
"""A sequence that goes on for longer than this is no sequence: it is shown as it is."""
LONGEST_LINE = 10_000
"""Characters; the rest of a longer line is left out on the screen (the session has it)."""


class TerminalText:
    """Takes output in pieces of any size; gives whole lines and the line that is being written."""

    def __init__(self) -> None:
        """At the start of the first line."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.current = ""
        """The line without its end yet, as a terminal would show it now."""
        self._column = 0

    def feed(self, data: bytes) -> list[str]:
        """Take a piece; returns the lines that it completed, without their ends."""
        text = self._held + self._decoder.decode(data)
        self._held = ""
        unfinished = _UNFINISHED.search(text)
        if unfinished is not None and len(unfinished.group()) < LONGEST_ESCAPE:
            self._held = unfinished.group()
            text = text[: unfinished.start()]
        text = _CONTROL.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
        if text.endswith("\r"):
            self._held, text = "\r" + self._held, text[:-1]  # may be the first half of a line end
        *whole, last = text.split("\n")
        lines = [self._complete(part) for part in whole]
        self._write(last)
        return lines

    def _complete(self, part: str) -> str:
        self._write(part)
        line, self.current, self._column = self.current, "", 0
        return line

    def _write(self, part: str) -> None:
        for number, piece in enumerate(part.split("\r")):
            if number:
                self._column = 0
            for run in _backspaced(piece):
                self._put(run)

    def _put(self, run: str) -> None:
        if run == "\b":
            self._column = max(0, self._column - 1)
            return
        end = self._column + len(run)
        self.current = (self.current[: self._column] + run + self.current[end:])[:LONGEST_LINE]
        self._column = min(end, LONGEST_LINE)


def _backspaced(piece: str) -> list[str]:
    return [run for run in re.split(r"(\x08)", piece) if run]
