"""Write a report in the format that the file's name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpuscope.errors import ReportFormatError
from gpuscope.report.json_file import json_bytes
from gpuscope.report.model import Report
from gpuscope.report.pdf import pdf_bytes
from gpuscope.report.whole_file import new_file

FORMATS: dict[str, Callable[[Report], bytes]] = {".pdf": pdf_bytes, ".json": json_bytes}
"""File name suffix → renderer."""


def write_report(report: Report, path: Path, *, overwrite: bool = False) -> None:
    """Write the report; the file appears whole or not at all.

    Args:
        report: what to write.
        path: file to make; its suffix chooses the format.
        overwrite: replace a file that is there already, which may be one that somebody signed.

    Raises:
        ReportFormatError: the suffix is unknown.
        ReportError: the file exists or cannot be written.
    """
    render = FORMATS.get(path.suffix.lower())
    if render is None:
        raise ReportFormatError(f"A report cannot be written as {path.name!r}: end its name in {' or '.join(FORMATS)}.")
    with new_file(path, overwrite=overwrite) as file:
        file.write(render(report))
