"""The report as JSON, for scripts (docs/report-json.md)."""

from __future__ import annotations

from gpuscope.domain.base import to_json
from gpuscope.report.model import Report


def json_bytes(report: Report) -> bytes:
    """The report as indented UTF-8 JSON; equal reports give equal bytes."""
    return to_json(report, indent=2) + b"\n"
