"""Follow files that other processes write, in bounded memory, from offsets that can be kept and restored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

READ_LIMIT_BYTES = 1024 * 1024
"""A flood of output is drained in pieces of this size."""
MAX_LINE_BYTES = 4 * 1024 * 1024
"""A longer line is no event of the probe's; it is skipped."""


class FileTail:
    """The bytes added to one file.

    The file need not exist yet. When it got shorter (truncated, replaced) reading starts again at its beginning.

    Attributes:
        offset: bytes handed out so far; keep it to go on from there in another process.
    """

    def __init__(self, path: Path, offset: int = 0) -> None:
        """Read from `offset` on."""
        self.path = path
        self.offset = offset

    def read(self, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """What is new, at most `limit_bytes`; empty when nothing is."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, 2) < self.offset:
                    self.offset = 0
                file.seek(self.offset)
                data = file.read(limit_bytes)
        except OSError:
            return b""  # not there yet, or taken away: the next read tries again
        self.offset += len(data)
        return data


Record = tuple[str, dict[str, Any]]
"""Where an object comes from (`probe:1234` for probe-1234.jsonl), and the object."""


class JsonLinesTail:
    """The objects added to a folder's JSON-lines files; new files are found as they appear.

    The last line of a file is held back until it is complete. Lines that are no JSON object, or are longer than
    `MAX_LINE_BYTES`, are skipped and counted.

    Attributes:
        offsets: bytes dealt with, by file name; keep them to go on from there in another process.
        skipped_lines: how many lines could not be read.
    """

    def __init__(self, folder: Path, pattern: str = "probe-*.jsonl", offsets: dict[str, int] | None = None) -> None:
        """Follow the files of `folder` whose name matches `pattern`."""
        self._folder = folder
        self._pattern = pattern
        self.offsets: dict[str, int] = dict(offsets or {})
        self.skipped_lines = 0
        self._inside_long_line: set[str] = set()

    def read(self, *, final: bool = False) -> list[Record]:
        """What is new, at most `MAX_LINE_BYTES` of each file; in the order of each file.

        Args:
            final: the writers are gone: a last line without its end is read too, or counted as skipped.
        """
        found: list[Record] = []
        for path in sorted(self._folder.glob(self._pattern)):
            tail = FileTail(path, self.offsets.get(path.name, 0))
            chunk = tail.read(MAX_LINE_BYTES)
            whole, used = self._whole_lines(path.name, chunk, final=final)
            self.offsets[path.name] = tail.offset - len(chunk) + used
            found.extend(self._decode(path.stem.replace("-", ":", 1), whole))
        return found

    def _whole_lines(self, name: str, chunk: bytes, *, final: bool) -> tuple[list[bytes], int]:
        """The complete lines at the beginning of `chunk`, and how many of its bytes are dealt with."""
        end = chunk.rfind(b"\n") + 1
        full = len(chunk) >= MAX_LINE_BYTES
        if end == 0 and full:
            self.skipped_lines += name not in self._inside_long_line
            self._inside_long_line.add(name)
            return [], len(chunk)
        if end == 0 and not final:
            return [], 0
        used = len(chunk) if final and not full else end
        lines = chunk[:used].split(b"\n")
        if name in self._inside_long_line:
            self._inside_long_line.discard(name)
            lines = lines[1:]
        return lines, used

    def _decode(self, source: str, lines: list[bytes]) -> list[Record]:
        found: list[Record] = []
        for line in lines:
            if not line.strip():
                continue
            try:
                data = json.loads(line, parse_int=_storable)
            except (ValueError, RecursionError):
                data = None
            if isinstance(data, dict):
                found.append((source, data))
            else:
                self.skipped_lines += 1
        return found


def _storable(digits: str) -> int | float:
    """A whole number as a session can hold it, in 64 bits; a larger one, which nobody counts to, as a float."""
    return int(digits) if len(digits) < 19 else float(digits)
