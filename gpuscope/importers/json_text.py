"""JSON as people save it from a terminal: with the prompt or a tool's warnings before it, several texts in a row."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_LINES_BEFORE = re.compile(r"(?:(?![ \t]*[\[{])[^\n]{0,500}\n){1,20}?(?=[ \t]*[\[{])")
_BLANKS = re.compile(r"\s*")
_MOST_VALUES = 100_000
MALFORMED = (msgspec.DecodeError, RecursionError, AttributeError, KeyError, TypeError, ValueError, OverflowError)
"""What comes up where a document is no JSON, or its parts are of other types than expected."""


def without_lines_before(text: str) -> str:
    """The text from its first line that begins with a bracket, where at most 20 short lines stand before it."""
    match = _LINES_BEFORE.match(text)
    return text if match is None else text[match.end() :]


def values_of(text: str) -> tuple[list[Any], bool]:
    """All JSON values that follow each other, and whether the text ends with the last of them.

    Raises:
        RecursionError: a value is nested too deeply.
    """
    decoder, position = json.JSONDecoder(), _end_of_blanks(text, 0)
    values: list[Any] = []
    while position < len(text) and len(values) < _MOST_VALUES:
        try:
            value, position = decoder.raw_decode(text, position)
        except ValueError:
            return values, False
        values.append(value)
        position = _end_of_blanks(text, position)
    return values, position >= len(text)


def _end_of_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return position if match is None else match.end()
