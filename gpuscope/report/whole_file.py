"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gpuscope.errors import ReportError


@contextlib.contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """A file to write into, which gets its name at the end of the with-block, and mode 0600, like a session.

    Args:
        path: file to make.
        overwrite: replace a file that is there already, which may be one that somebody signed.

    Raises:
        ReportError: the file exists, is a folder, or cannot be written. Nothing is left then.
    """
    if path.is_dir():
        raise ReportError(f"{path} is a folder: name a file in it.")
    if path.exists() and not overwrite:
        raise ReportError(f"{path} exists already: choose another name, nothing was overwritten.")
    try:
        with _part_file(path) as file:
            yield file
    except OSError as error:
        raise ReportError(f"{path} cannot be written ({error.strerror}): choose another file.") from error


@contextlib.contextmanager
def _part_file(path: Path) -> Iterator[IO[bytes]]:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
