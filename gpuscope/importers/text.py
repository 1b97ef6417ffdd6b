"""Files from other machines as text: whatever their encoding, with nothing in it that acts on a terminal."""

from __future__ import annotations

import codecs
import re

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NUL_SHARE = 0.2
"""Of the first bytes: more NULs than this at every second place are UTF-16 without a byte order mark."""


def decode(data: bytes) -> tuple[str, str]:
    """The text and the encoding that it was in: by its byte order mark, else UTF-8, else UTF-16, else Latin-1.

    Runs of NUL (files that were cut off by a crash hold them), terminal escapes and control characters are taken out.
    """
    text, encoding = _decoded(data)
    return without_controls(text).replace("\r\n", "\n").replace("\r", "\n"), encoding


def without_controls(text: str) -> str:
    """The text without terminal escapes and control characters; ends of lines and tabs stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text)) if _CONTROLS.search(text) else text


def encoding_of(head: bytes) -> tuple[int, str | None]:
    """How many bytes the mark at the beginning of a file takes, and the encoding; None: UTF-8, else Latin-1."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return len(mark), encoding
    head = head[:4096]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        nuls, others = head[start::2].count(0), head[1 - start :: 2].count(0)
        if nuls > len(head) // 2 * (1 - _NUL_SHARE) and others < len(head) // 2 * _NUL_SHARE:
            return 0, encoding
    return 0, None


def decode_line(line: bytes) -> tuple[str, str]:
    """A line, or more of them, without a byte order mark: in UTF-8, else in Latin-1. Cleaned as by `decode`."""
    text, encoding = _in_utf8_or_latin1(line)
    return without_controls(text), encoding


def _decoded(data: bytes) -> tuple[str, str]:
    mark_bytes, encoding = encoding_of(data)
    if encoding is not None:
        return data[mark_bytes:].decode(encoding, errors="replace"), encoding
    return _in_utf8_or_latin1(data)


def _in_utf8_or_latin1(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"
