"""The JSON report: stable, the very figures of footprint and recommendation, and as the golden file has it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from gpuscope.domain.base import from_json
from gpuscope.report.json_file import json_bytes
from gpuscope.report.model import Report
from tests.builders import build_footprint

MakeReport = Callable[..., Report]

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "report.json"


def frozen(report: Report) -> str:
    """The report without what changes from one writing of the session to the next, or with every version."""
    content = json.loads(json_bytes(report))
    digest = content["session"]["sha256"]
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return text.replace(digest, "<sha256>") + "\n"


def test_golden(make_report: MakeReport) -> None:
    """Write it anew with GPUSCOPE_WRITE_GOLDEN=1 after a wanted change, and read the difference."""
    text = frozen(make_report(gpus=2, steps=12, gap=(2.5, 3.1), footprint=build_footprint(gpus=2, steps=12)))
    if os.environ.get("GPUSCOPE_WRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_reads_back_as_the_same_report(make_report: MakeReport) -> None:
    report = make_report(steps=20)
    assert from_json(json_bytes(report), Report) == report


def test_gaps_are_nulls(make_report: MakeReport) -> None:
    content = json.loads(json_bytes(make_report(steps=100, gap=(5.0, 8.0))))
    busy = next(plot for plot in content["evidence"]["plots"] if plot["key"] == "plot.utilization")
    line = busy["lines"][0]
    gaps = [t for t, mean in zip(line["t_s"], line["mean"], strict=True) if mean is None]
    assert len(gaps) == 1
    assert 5.0 < gaps[0] < 8.0
