"""Sizes as frameworks print them."""

from __future__ import annotations

import re

from gpuscope.domain.units import GIB, KIB, MIB

_UNITS = {
    "": 1, "b": 1, "byte": 1, "bytes": 1,
    "k": KIB, "kb": KIB, "kib": KIB,
    "m": MIB, "mb": MIB, "mib": MIB,
    "g": GIB, "gb": GIB, "gib": GIB,
    "t": KIB * GIB, "tb": KIB * GIB, "tib": KIB * GIB,
}  # fmt: skip
"""All frameworks count in powers of 1024, whether they write MB or MiB."""

SIZE = r"([0-9][0-9,]{0,25}(?:\.[0-9]{1,25})?) ?((?:[KMGT]i?B|[KMGTB]|bytes?)(?![A-Za-z]))"
"""Two groups: number and unit. The number may have thousands marks."""

WHOLE_BYTES = r"([0-9][0-9,]{0,25})()"
"""A number of bytes that is printed without a unit, in the same two groups."""

_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")
"""`1900,00`, as programs print it that follow the person's locale; thousands marks stand before three digits."""
_IMPOSSIBLE_BYTES = 2.0**60
"""Drivers print "not available" as 2^64 bytes or close to it; no device has an exbibyte."""


def size_bytes(number: str, unit: str) -> int | None:
    """The size in bytes; None for a number so large that it stands for "not available"."""
    plain = number.replace(",", "." if _DECIMAL_COMMA.fullmatch(number) else "")
    if plain.count(".") > 1:
        return None
    value = float(plain) * _UNITS[unit.lower()]
    return plausible_bytes(value)


def plausible_bytes(value: float) -> int | None:
    """A size as a whole number; None where no device can have it."""
    return None if value >= _IMPOSSIBLE_BYTES else round(value)


def search_size(pattern: str, text: str) -> tuple[bool, int | None]:
    """Whether the pattern (with `SIZE` or `WHOLE_BYTES` in it, perhaps several alternatives) is there, and its size."""
    match = re.search(pattern, text)
    if match is None:
        return False, None
    groups = [group for group in match.groups() if group is not None]
    return True, size_bytes(groups[0], groups[1])
