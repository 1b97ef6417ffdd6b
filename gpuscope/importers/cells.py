"""Single values as monitors print them: numbers with units, words for "not there", numbers that mean "not there"."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sentinels import is_blank


class Cell(NamedTuple):
    """A number, or NaN with the reason why it is not there."""

    value: float
    reason: Reason | None = None


_MOST_WHOLE = 2.0**62
"""What is larger does not fit into a session's integers, and is no size of anything."""


def rounded(cell: Cell | None) -> int | None:
    """A whole number of bytes or the like; None where it is not there, or is larger than anything can be."""
    known = cell is not None and cell.reason is None and abs(cell.value) < _MOST_WHOLE
    return round(cell.value) if cell is not None and known else None


_WORDS: dict[str, Reason] = {
    "": Reason.NO_DATA,
    "-": Reason.NOT_SUPPORTED,
    "--": Reason.NOT_SUPPORTED,
    "n/a": Reason.NOT_SUPPORTED,
    "na": Reason.NOT_SUPPORTED,
    "nan": Reason.NO_DATA,
    "none": Reason.NO_DATA,
    "null": Reason.NO_DATA,
    "not supported": Reason.NOT_SUPPORTED,
    "not available": Reason.NOT_SUPPORTED,
    "not active": Reason.NO_DATA,
    "requested functionality has been deprecated": Reason.FUNCTION_NOT_FOUND,
    "function not found": Reason.FUNCTION_NOT_FOUND,
    "unknown error": Reason.UNKNOWN_ERROR,
    "err!": Reason.UNKNOWN_ERROR,
    "err": Reason.UNKNOWN_ERROR,
    "gpu is lost": Reason.GPU_LOST,
    "gpu requires reset": Reason.RESET_REQUIRED,
    "insufficient permissions": Reason.NO_PERMISSION,
    "no permission": Reason.NO_PERMISSION,
    "timeout": Reason.TIMEOUT,
}
_NUMBER = re.compile(r"([+-]?\d[\d.,]*(?:[eE][+-]?\d+)?)\s*([^\d\s].*)?")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")


def parse_cell(text: str, *, decimal_comma: bool = False) -> tuple[Cell, str]:
    """A printed value and the unit behind it (empty: none).

    Args:
        text: such as `92 %`, `25073 MiB`, `[N/A]`, `0x0000000000000004`, `33,09`.
        decimal_comma: the file writes `1.129,5` for one thousand one hundred twenty-nine and a half.
    """
    text = text.strip().strip("[]").strip()
    reason = _WORDS.get(text.lower())
    if reason is not None:
        return Cell(math.nan, reason), ""
    if _HEXADECIMAL.fullmatch(text):
        return Cell(float(int(text, 16))), ""
    match = _NUMBER.fullmatch(text)
    value = None if match is None else _number(match.group(1), decimal_comma=decimal_comma)
    if match is None or value is None:
        return Cell(math.nan, Reason.IMPLAUSIBLE), ""
    if is_blank(value):
        return Cell(math.nan, Reason.IMPLAUSIBLE), match.group(2) or ""
    return Cell(value), (match.group(2) or "").strip()


def _number(text: str, *, decimal_comma: bool) -> float | None:
    if decimal_comma:
        text = text.replace(".", "") if "," in text or _THOUSANDS.fullmatch(text) else text
        text = text.replace(",", ".")
    else:
        text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None
