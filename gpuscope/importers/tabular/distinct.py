"""Different cells among many: monitors print the same few again and again, and each is read once."""

from __future__ import annotations

import numpy as np

from gpuscope.importers.tabular.blocks import Block, Positions
from gpuscope.importers.tabular.digits import WORD_BYTES, Words, first_bytes

_MOST_WORDS = 16
"""Cells of more bytes than this many words are looked at one by one."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: a multiplication by it spreads the bits of a word (Knuth, vol. 3, 6.4)."""
_SHIFT = np.uint64(29)


def distinct_texts(block: Block, starts: Positions, ends: Positions) -> tuple[Positions, list[str]]:
    """For each cell the place of its text in a list, in which every text stands once."""
    lengths = ends - starts
    if not len(lengths):
        return lengths, []
    if int(lengths.max()) > _MOST_WORDS * WORD_BYTES:
        return _one_by_one(block, starts, ends)
    words = words_of_cells(block, starts, lengths)
    keys = mixed(words)
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    if any((word != word[first][codes]).any() for word in words):  # two texts with one key
        return _one_by_one(block, starts, ends)
    return codes, [text_of(block, int(starts[row]), int(ends[row])) for row in first]


def words_of_cells(block: Block, starts: Positions, lengths: Positions) -> list[Words]:
    """The bytes of cells, eight at a time; behind a cell's end there are zeros, which no cell holds."""
    count = max(1, -(-int(lengths.max()) // WORD_BYTES)) if len(lengths) else 1
    last = len(block.words) - 1
    return [
        first_bytes(block.words, np.minimum(starts + at * WORD_BYTES, last), lengths - at * WORD_BYTES)
        for at in range(count)
    ]


def mixed(words: list[Words]) -> Words:
    """One word for the words of each cell; different cells have different ones, but for chance."""
    key = words[0]
    for word in words[1:]:
        key = (key ^ (key >> _SHIFT)) * _MIX + word
    return key


def text_of(block: Block, start: int, end: int) -> str:
    """A cell without blanks around it; a grid's cells are UTF-8."""
    return block.text_bytes(start, end).decode(errors="replace").strip()


def _one_by_one(block: Block, starts: Positions, ends: Positions) -> tuple[Positions, list[str]]:
    places: dict[str, int] = {}
    codes = [
        places.setdefault(text_of(block, start, end), len(places))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return np.array(codes, np.intp), list(places)


class TextColumn:
    """The texts of one column, block by block, each by its place in `texts`."""

    def __init__(self) -> None:
        """No text is known."""
        self.texts: list[str] = []
        self._places: dict[str, int] = {}
        self._keys = np.empty(0, np.uint64)
        self._words: list[Words] = []
        self._known = np.empty(0, np.intp)

    def read(self, block: Block, starts: Positions, ends: Positions) -> Positions:
        """For each cell the place of its text."""
        lengths = ends - starts
        if not len(lengths):
            return lengths
        if int(lengths.max()) > _MOST_WORDS * WORD_BYTES:
            return self._learn(*_one_by_one(block, starts, ends))
        words = words_of_cells(block, starts, lengths)
        found = self._found(words)
        if found is None:
            codes, texts = distinct_texts(block, starts, ends)
            found = self._learn(codes, texts)
            self._remember(words, found)
        return found

    def _found(self, words: list[Words]) -> Positions | None:
        """By what was seen before; None where a cell is new."""
        if len(words) != len(self._words):
            return None
        keys = mixed(words)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        if any((known[at] != word).any() for known, word in zip(self._words, words, strict=True)):
            return None
        return self._known[at]

    def _learn(self, codes: Positions, texts: list[str]) -> Positions:
        for text in texts:
            if text not in self._places:
                self._places[text] = len(self.texts)
                self.texts.append(text)
        return np.array([self._places[text] for text in texts], np.intp)[codes]

    def _remember(self, words: list[Words], places: Positions) -> None:
        """What this block held is what the next one is compared with."""
        self._keys, first = np.unique(mixed(words), return_index=True)
        self._words = [word[first] for word in words]
        self._known = places[first]
