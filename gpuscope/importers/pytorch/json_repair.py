"""Mending of trace JSON that profilers wrote wrongly: never a guess at values, only at quoting.

Known kinds: Windows paths with single backslashes (torch 2.0, pytorch/pytorch#98432), bare `nan` and `inf` for
bandwidths, control characters and bytes that are no UTF-8 in names, a key without its first quote (torch 1.4,
pytorch/pytorch#33961).
"""

from __future__ import annotations

import re

_NO_ESCAPE = re.compile(rb'\\(?<!\\\\)(?:\\\\)*+(?:(?!["\\/bfnrtu])|[bfnrt]\w*\.py\()')
"""A backslash that JSON does not know, or one before the name of a Python file and its line, as in `\\train.py(12)`."""
_DRIVE = re.compile(rb':\\(?<=\b[A-Za-z]:\\)(?![\\/"])')
"""One right behind a drive letter. Both patterns begin with what is rare, which makes their search fast."""
_SINGLE_BACKSLASH = re.compile(rb'(?<!\\)\\(?![\\"]|u[0-9a-fA-F]{4})')
_BARE_NUMBER = re.compile(rb"(?<=[:,\[])(\s*)-?(?:nan|inf|infinity)(?=\s*[,}\]])", re.IGNORECASE)
_KEY_WITHOUT_QUOTE = re.compile(rb'([{,]\s*)([A-Za-z_][\w ]*)"(?=\s*:)')
_CONTROLS = bytes(range(32))
_TO_BLANKS = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))


def writes_bare_backslashes(text: bytes) -> bool:
    """Whether a piece of JSON holds a backslash that cannot be an escape: then it writes all as they are."""
    return b"\\" in text and (_NO_ESCAPE.search(text) is not None or _DRIVE.search(text) is not None)


def with_backslashes_escaped(text: bytes) -> bytes:
    r"""The same with each single backslash doubled, also before letters that would be escapes: `C:\new` is a path."""
    return _SINGLE_BACKSLASH.sub(rb"\\\\", text)


def repaired(text: bytes) -> bytes:
    """Mended so far as that cannot change what was right."""
    text = text.translate(_TO_BLANKS)
    lowered = text.lower()
    if b"nan" in lowered or b"inf" in lowered:  # the pattern alone is slow
        text = _BARE_NUMBER.sub(rb"\1null", text)
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode(errors="replace").encode()
    return text


def with_keys_quoted(text: bytes) -> bytes:
    """Mended where a key lacks its first quote; only for single events that cannot be decoded otherwise."""
    return _KEY_WITHOUT_QUOTE.sub(rb'\1"\2"', text)
