"""Read the figures in the text of an out-of-memory error (PyTorch 1.0 to 2.x on CUDA, HIP, XPU, MPS, the host)."""

from __future__ import annotations

import re

_UNITS = {
    "bytes": 1, "B": 1,
    "KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4,
    "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4,
}  # fmt: skip
"""PyTorch counts in powers of 1024 under either name."""
_SIZE = r"([0-9]+(?:\.[0-9]+)?) (bytes|[KMGT]i?B|B)\b"
_FIGURES = {
    "tried": rf"[Tt]ried to allocate {_SIZE}",
    "total": rf"(?:{_SIZE} total capacity|total capac(?:i)?ty of {_SIZE})",
    "free": rf"(?:of which {_SIZE} is free|{_SIZE} free\b)",
    "allocated": rf"(?:{_SIZE} already allocated|{_SIZE} is allocated by PyTorch|MPS allocated: {_SIZE})",
    "reserved": rf"{_SIZE} reserved in total by PyTorch",
    "reserved_unallocated": rf"(?:{_SIZE} is reserved by PyTorch but unallocated|{_SIZE} cached)",
    "this_process": rf"this process has {_SIZE} memory in use",
    "allowed": rf"(?:{_SIZE} allowed|max allowed: {_SIZE})",
    "other": rf"other allocations: {_SIZE}",
}
"""`total capacty` is how PyTorch 2.0 and 2.1 spell it. `cached` (1.0 to 1.3) is what is held beyond `allocated`."""
_IMPOSSIBLE_BYTES = 2.0**63
"""Some drivers print "not available" as 2^64 bytes."""


def parse_out_of_memory(text: str) -> dict[str, float]:
    """The figures of the last out-of-memory message in `text`, bytes by name; those that it does not give are absent.

    Names: tried, total, free, allocated, reserved, reserved_unallocated, this_process, allowed, other (of other
    programs, on MPS). `reserved` is also worked out from its parts. Sizes in the text have two decimals, so they are
    good to half a percent.
    """
    start = max((match.start() for match in re.finditer(_FIGURES["tried"], text)), default=None)
    if start is None:
        return {}
    message = text[text.rfind("\n", 0, start) + 1 :]
    found: dict[str, float] = {}
    for name, pattern in _FIGURES.items():
        match = re.search(pattern, message)
        if match is not None:
            number, unit = (group for group in match.groups() if group is not None)
            size_bytes = float(number) * _UNITS[unit]
            if size_bytes < _IMPOSSIBLE_BYTES:
                found[name] = size_bytes
    if "reserved" not in found and "allocated" in found and "reserved_unallocated" in found:
        found["reserved"] = found["allocated"] + found["reserved_unallocated"]
    return found
