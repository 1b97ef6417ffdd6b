"""Names that somebody else chose, as text that steers nothing: no terminal, no order of reading, no line of its own."""

from __future__ import annotations

import re

MOST_CHARACTERS = 300
_BREAKS = re.compile(r"[\t\n\r\x0b\x0c\x85\u2028\u2029]+")
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Control characters (of which escape begins what a terminal obeys) and marks that turn the order of reading or that
nobody sees; tabs and ends of lines are not among them."""


def plain_name(text: str, most_characters: int = MOST_CHARACTERS) -> str:
    """The same in one line, without what steers, and cut where nobody reads on."""
    plain = STEERING.sub("", _BREAKS.sub(" ", text)).strip()
    return plain if len(plain) <= most_characters else f"{plain[: most_characters - 1]}…"
