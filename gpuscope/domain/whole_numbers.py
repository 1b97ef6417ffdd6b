"""Whole numbers as files write them."""

from __future__ import annotations

_MOST_DIGITS = 18
"""More are no index, process id or size of anything, and do not fit into 64 bits."""


def whole_number(text: str | None) -> int | None:
    """A number that is written with plain digits alone: an index, a process id; None for anything else.

    `str.isdigit` alone would let through what `int` fails on: `²`, and digits by the thousand.
    """
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if text is not None and is_number else None
