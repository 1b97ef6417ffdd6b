"""What the commands print on: a terminal, a pipe, a stream of an old code page, or nothing at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any, TextIO

from gpuscope.domain.base import to_json
from gpuscope.domain.plain_names import STEERING

LOST_OUTPUT = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF})
"""What printing fails with: no reader, a full disk, a terminal that went away, a stream that is not for writing."""


def prepare_streams() -> None:
    """Make the standard streams such that printing does not fail for what they are.

    A stream that the caller closed goes nowhere, and its number cannot fall to a file of ours; a terminal or pipe of
    an old code page shows `?` for the characters that it lacks.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def drop_output() -> None:
    """Let what is still to be printed go nowhere: Python would fail on it once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def shown(text: str) -> str:
    r"""The text as it may go to a terminal: what would steer it, which names in files can hold, as `\x1b`, `\u202e`."""
    return STEERING.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def say(sentence: str) -> None:
    """Tell the person something, on standard error; a terminal that went away is no fault."""
    with contextlib.suppress(OSError):
        print(f"gpuscope: {shown(sentence)}", file=sys.stderr, flush=True)


def print_document(value: Any, stream: TextIO) -> None:
    """Print a document as one line of JSON, in UTF-8 whatever the stream's code page is: it is for scripts.

    Raises:
        OSError: nobody reads the stream any more, or the disk behind it is full.
    """
    stream.flush()
    stream.buffer.write(to_json(value) + b"\n")
    stream.buffer.flush()
