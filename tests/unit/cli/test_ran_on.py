"""The GPU of a recording that does not name it, as the person says it: asked for, taken, remembered, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.cli import main
from tests.unit.importers.pytorch_files import FOLDER, kernel, launch, operator, trace


@pytest.fixture
def nameless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A session of a trace without deviceProperties: two steps of 10 ms with a matrix product of 8 ms each."""
    events = []
    for number in range(8):
        start = 10_000.0 * number
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": start,
             "dur": 9_999},
            operator("aten::mm", start + 10, 50, [[4096, 4096], [4096, 4096]], ["float", "float"]),
            launch(start + 20, number),
            kernel("ampere_sgemm_128x64_tn", start + 100, 8_000, number),
        ]  # fmt: skip
    file = tmp_path / "trace.json"
    file.write_bytes(trace(events))
    session = tmp_path / "trace.gpuscope"
    assert main(["import", str(file), "-o", str(session)]) == 0
    capsys.readouterr()
    return session


def footprint_of(session: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["footprint", str(session), "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_it_is_asked_for_where_advice_needs_it(nameless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(nameless), "--rent"]) == 0
    assert "--ran-on" in capsys.readouterr().err


def test_what_is_said_is_taken_and_remembered(nameless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(nameless), "--rent", "--ran-on", "NVIDIA A10", "--json"]) == 0
    told = capsys.readouterr()
    assert "--ran-on" not in told.err
    document = footprint_of(nameless, capsys)
    assert document["devices"][0]["gpu"] == "a10"
    assert document["devices"][0]["memory_bytes"] == pytest.approx(24e9, rel=0.1)
    assert document["provenance"]["/devices"]["kind"] == "assumed"
    assert "card_not_named" not in {finding["code"] for finding in document["findings"]}


def test_it_can_be_said_again(nameless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a10", "l4"):
        assert main(["advise", str(nameless), "--rent", "--ran-on", name]) == 0
    capsys.readouterr()
    (device,) = footprint_of(nameless, capsys)["devices"]
    assert (device["gpu"], device["name"]) == ("l4", "L4")


def test_a_name_that_nobody_knows_is_refused(nameless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(nameless), "--ran-on", "a100-sxm9"]) != 0
    assert "a100-sxm4-80gb" in capsys.readouterr().err


def test_a_recording_that_names_its_gpu_is_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = tmp_path / "named.gpuscope"
    assert main(["import", str(FOLDER / "kineto-triton-one-kernel-long-step.json"), "-o", str(session)]) == 0
    assert main(["advise", str(session), "--ran-on", "a10"]) != 0
    assert "tells what it ran on itself" in capsys.readouterr().err
