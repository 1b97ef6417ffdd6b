"""Decimals of more digits than a 64-bit word's arithmetic keeps exact, such as means of collectors write."""

from __future__ import annotations

import math

import numpy as np

from gpuscope.domain.sentinels import is_blank
from gpuscope.domain.series import FloatArray
from gpuscope.importers.tabular.blocks import Block, Mask, Positions
from gpuscope.importers.tabular.digits import WORD_BYTES
from gpuscope.importers.tabular.distinct import words_of_cells

_MOST_CHARACTERS = 32
_DOT, _ZERO, _NINE = ord("."), ord("0"), ord("9")


def long_decimals(block: Block, starts: Positions, ends: Positions) -> tuple[FloatArray, Mask]:
    """The numbers of cells like `12.333333333333334`, and which cells are such: digits with one dot between them."""
    lengths = ends - starts
    fits = (lengths > 0) & (lengths <= _MOST_CHARACTERS)
    values = np.full(len(lengths), math.nan)
    chosen = np.flatnonzero(fits)
    if not len(chosen):
        return values, fits
    words = np.stack(words_of_cells(block, starts[chosen], lengths[chosen]), axis=1)
    characters = words.astype("<u8").view(np.uint8)
    are_dots = characters == _DOT
    are_digits = (characters >= _ZERO) & (characters <= _NINE)
    plain = (are_dots.sum(axis=1) == 1) & ((are_dots | are_digits).sum(axis=1) == lengths[chosen])
    plain &= are_digits[:, 0] & are_digits[np.arange(len(chosen)), lengths[chosen] - 1]
    texts = np.ascontiguousarray(characters[plain]).view(f"S{words.shape[1] * WORD_BYTES}").reshape(-1)
    numbers = texts.astype(np.float64)  # correctly rounded, as Python's own
    fits[:] = False
    fits[chosen[plain]] = ~is_blank(numbers)
    values[chosen[plain]] = numbers
    return values, fits
