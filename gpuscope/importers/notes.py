"""Notes that several readers have to make."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.importers.content import Content
from gpuscope.importers.reading import Note, Reading

NOT_ROWS = "Lines that are no rows of this table were left out."
OTHER_WIDTH = "Rows have another number of columns than their heading and were left out."
NO_TIMES = Note(code="missing", sentence="The rows have no time stamps: they are in order, a second apart.")

_USUAL_ENCODINGS = frozenset({"utf-8", "ascii"})


class LostLines:
    """Lines of a large file that are left out, of which the first and the number are told."""

    def __init__(self) -> None:
        """None yet."""
        self.count = 0
        self.first: int | None = None

    def add(self, line: int, count: int = 1) -> None:
        """Some more, in any order."""
        self.count += count
        self.first = line if self.first is None else min(self.first, line)

    def note(self, reading: Reading, sentence: str = NOT_ROWS) -> None:
        """Say it, where there are any."""
        if self.count:
            reading.notes.append(Note(code="lost", sentence=sentence, line=self.first, count=self.count))


def add_lost(reading: Reading, lines: Sequence[int], sentence: str = NOT_ROWS) -> None:
    """Note the lines that were left out, by their numbers; none is no note."""
    if lines:
        reading.notes.append(Note(code="lost", sentence=sentence, line=lines[0], count=len(lines)))


def add_encoding(reading: Reading, encoding: str) -> None:
    """Note an encoding that nobody expects."""
    if encoding not in _USUAL_ENCODINGS:
        reading.notes.append(Note(code="encoding", sentence=f"The file is in {encoding}."))


def one_moment(what: str) -> Note:
    """A file without a time: `nvtop's JSON has no time: it counts as one moment.`"""
    return Note(code="missing", sentence=f"{what} has no time: it counts as one moment.")


_SAID = ("The last ", "cut there", "ends early")
"""Words of notes that tell it already."""


def add_open_end(reading: Reading, data: Content) -> None:
    """Say that a file of lines ends within one, where its reader did not: what that line tells may be cut."""
    ends = data[max(0, len(data) - 2) : len(data)]
    if not ends or ends.rstrip(b"\0")[-1:] in {b"\n", b"\r"}:  # NUL: the second half of an end of line in UTF-16
        return
    if not any(note.code == "lost" and any(word in note.sentence for word in _SAID) for note in reading.notes):
        reading.notes.append(Note(code="lost", sentence="The file ends within a line: its last figures may be cut."))
