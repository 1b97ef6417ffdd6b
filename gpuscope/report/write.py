"""Write a report in the format that the file's name asks for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpuscope.errors import ReportError
from gpuscope.report.json_file import json_bytes
from gpuscope.report.model import Report
from gpuscope.report.pdf import pdf_bytes

FORMATS: dict[str, Callable[[Report], bytes]] = {".pdf": pdf_bytes, ".json": json_bytes}
"""File name suffix → renderer."""


def write_report(report: Report, path: Path, *, overwrite: bool = False) -> None:
    """Write the report; the file appears whole or not at all. It gets mode 0600, like a session.

    Args:
        report: what to write.
        path: file to make; its suffix chooses the format.
        overwrite: replace a file that is there already, which may be one that somebody signed.

    Raises:
        ReportError: the suffix is unknown, the file exists, or it cannot be written.
    """
    render = FORMATS.get(path.suffix.lower())
    if render is None:
        raise ReportError(f"A report cannot be written as {path.name!r}: end its name in {' or '.join(FORMATS)}.")
    if path.is_dir():
        raise ReportError(f"{path} is a folder: name a file in it.")
    if path.exists() and not overwrite:
        raise ReportError(f"{path} exists already: choose another name, nothing was overwritten.")
    content = render(report)
    try:
        _write_whole(path, content)
    except OSError as error:
        raise ReportError(f"{path} cannot be written ({error.strerror}): choose another file.") from error


def _write_whole(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
