"""Decimal digits as numbers, eight characters of many cells in a few operations on 64-bit words.

The three multiplications that add up eight digits are the well-known ones for little-endian words (D. Lemire, "Quickly
parsing eight digits", 2018): pairs of digits become numbers below 100, pairs of these numbers below 10,000, and so on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuscope.importers.tabular.blocks import Mask, Positions

Words = NDArray[np.uint64]

WORD_BYTES = 8


def _word(pattern: int) -> np.uint64:
    return np.uint64(pattern)


_ZEROS = _word(0x3030303030303030)
_HIGH_BITS = _word(0x8080808080808080)
_TO_HIGH_FROM_NINE = _word(0x4646464646464646)
"""Added to a byte, it sets the high bit from `:` on, the character behind `9`."""
_KEPT = np.array([(2**64 - 1) ^ (2 ** (8 * (8 - count)) - 1) for count in range(9)], np.uint64)
"""Of the eight bytes before a position, the last `count`."""
_FILLED = np.array([0x3030303030303030 & (2 ** (8 * (8 - count)) - 1) for count in range(9)], np.uint64)
"""Zeros for the others."""
_FIRST = np.array([2 ** (8 * count) - 1 for count in range(9)], np.uint64)
"""Of the eight bytes from a position on, the first `count`."""


def number_before(words: Words, ends: Positions, counts: Positions | int) -> tuple[Words, Mask]:
    """The number that the last characters before positions write, and whether all of them are digits.

    Args:
        words: eight bytes from each position of a block on.
        ends: positions behind the last digits.
        counts: how many characters, 0 to 8, for each or for all of them.
    """
    word = (words[ends - WORD_BYTES] & _KEPT[counts]) | _FILLED[counts]
    return added_up(word)


def added_up(word: Words) -> tuple[Words, Mask]:
    """The number that eight characters write, the highest digit in the lowest byte, and whether all are digits."""
    are_digits: Mask = ((word + _TO_HIGH_FROM_NINE) | (word - _ZEROS)) & _HIGH_BITS == 0
    word = word - _ZEROS
    word = (word * _word(10) + (word >> _word(8))) & _word(0x00FF00FF00FF00FF)
    word = (word * _word(100) + (word >> _word(16))) & _word(0x0000FFFF0000FFFF)
    return (word * _word(10_000) + (word >> _word(32))) & _word(0xFFFFFFFF), are_digits


def first_bytes(words: Words, starts: Positions, counts: Positions) -> Words:
    """The first bytes from positions on, at most eight, as words; what is behind them is zero."""
    return words[starts] & _FIRST[np.clip(counts, 0, WORD_BYTES)]


def ends_with(words: Words, ends: Positions, suffix: bytes) -> Mask:
    """Whether the characters before positions are those of a suffix of at most eight bytes."""
    kept = _KEPT[len(suffix)]
    wanted = _word(int.from_bytes(suffix.rjust(WORD_BYTES, b"\0"), "little"))
    found: Mask = (words[ends - WORD_BYTES] & kept) == wanted
    return found
