"""Open session files that lost their end."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO

from gpuscope.errors import SessionError

_PAGE_SIZE_AT = slice(16, 18)
_PAGE_COUNT_AT = slice(28, 32)
_WRITE_VERSION_AT = 18
_READ_VERSION_AT = 19


def page_size(header: bytes) -> int:
    """SQLite's page size in bytes (file format, offset 16; 1 stands for 65536)."""
    size = int.from_bytes(header[_PAGE_SIZE_AT], "big")
    return 65536 if size == 1 else size


def missing_share(path: Path, header: bytes) -> float:
    """Share of the file that its own header promises and that is not there, 0 to 1."""
    promised = int.from_bytes(header[_PAGE_COUNT_AT], "big") * page_size(header)
    actual = path.stat().st_size
    return max(0.0, 1 - actual / promised) if promised else 0.0


def padded_copy(path: Path) -> Path:
    """A temporary copy filled up with zero pages, out of WAL mode, so that SQLite reads the pages that are left.

    The caller deletes it.

    Raises:
        SessionError: there is no room for the copy, or the file cannot be read.
    """
    copy: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(prefix="gpuscope-salvage-", suffix=path.suffix, delete=False) as target:
            copy = Path(target.name)
            _fill(target, path)
    except OSError as error:
        if copy is not None:
            copy.unlink(missing_ok=True)
        raise SessionError(f"{path} is damaged and could not be copied for repair ({error.strerror}).") from error
    return copy


def _fill(target: IO[bytes], path: Path) -> None:
    with path.open("rb") as source:
        header = bytearray(source.read(100))
        source.seek(0)
        shutil.copyfileobj(source, target)
    target.seek(0)
    promised = int.from_bytes(header[_PAGE_COUNT_AT], "big") * page_size(bytes(header))
    header[_WRITE_VERSION_AT] = header[_READ_VERSION_AT] = 1
    target.write(header)
    size = max(promised, target.seek(0, 2))
    target.truncate(size + -size % page_size(bytes(header)))
