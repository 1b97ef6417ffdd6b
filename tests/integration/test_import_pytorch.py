"""`gpuscope import` of PyTorch's files: a trace becomes a footprint that the advisor takes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.cli import main
from gpuscope.engine.session import open_session
from tests.unit.importers.pytorch_files import FOLDER, event, kernel, launch, operator, trace

SHAPES = [[4096, 1024], [1024, 4096]]
HALF = ["c10::Half", "c10::Half"]


def training_trace(rank: int | None = None, world_size: int = 1, kernel_us: float = 400) -> bytes:
    events = []
    for step in range(12):
        start = 1000.0 * step
        events += [
            event("user_annotation", f"ProfilerStep#{step + 3}", start, 1000),
            operator("aten::mm", start + 10, 20, SHAPES, HALF),
            launch(start + 15, 10 * step),
            kernel("gemm", start + 100, kernel_us, 10 * step),
            operator("autograd::engine::evaluate_function: MmBackward0", start + 40, 30, tid=2),
            operator("aten::mm", start + 45, 20, SHAPES, HALF, tid=2),
            launch(start + 50, 10 * step + 1, tid=2),
            kernel("gemm", start + 550, 200, 10 * step + 1),
        ]
    device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85899345920}
    beside: dict[str, Any] = {"deviceProperties": [device]}
    if rank is not None:
        beside["distributedInfo"] = {"rank": rank, "world_size": world_size}
    return trace(events, **beside)


def imported(session: Path, capfd: pytest.CaptureFixture[str], *files: Path) -> dict[str, Any]:
    assert main(["import", *map(str, files), "-o", str(session), "--json"]) == 0
    footprint: dict[str, Any] = json.loads(capfd.readouterr().out)
    return footprint


def test_a_trace_becomes_a_footprint_that_the_advisor_takes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, session = tmp_path / "trace.json.gz", tmp_path / "x.gpuscope"
    file.write_bytes(gzip.compress(training_trace()))
    footprint = imported(session, capfd, file)
    assert footprint["workload"]["stage"] == "training"
    assert footprint["workload"]["precision"]["compute"] == "float16"
    assert [device["gpu"] for device in footprint["devices"]] == ["a100-sxm4-80gb"]
    assert footprint["steps"]["count"] == 12
    assert footprint["steps"]["time_s"]["p50"] == pytest.approx(1e-3)
    assert footprint["time_per_step_s"]["idle"] == pytest.approx(0.4e-3)
    forward = next(op for op in footprint["ops"] if op["kind"] == "gemm")
    assert forward["flops"] == 2 * 4096 * 1024 * 4096
    assert forward["time_s"] == pytest.approx(400e-6)
    assert footprint["utilization"]["gpu"]["mean"] == pytest.approx(60, abs=3)
    assert main(["advise", str(session)]) == 0
    assert "configuration" in capfd.readouterr().out


def test_files_of_two_ranks_of_four(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"rank{rank}.json" for rank in range(2)]
    for rank, file in enumerate(files):
        file.write_bytes(training_trace(rank, 4, kernel_us=400 if rank == 0 else 100))
    footprint = imported(tmp_path / "x.gpuscope", capfd, *files)
    assert [rank["rank"] for rank in footprint["ranks"]] == [0, 1]
    assert [rank["time_per_step_s"]["idle"] for rank in footprint["ranks"]] == pytest.approx([0.4e-3, 0.7e-3])
    assert len(footprint["devices"]) == 4


def test_a_trace_and_a_snapshot_of_one_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, session = tmp_path / "trace.json", tmp_path / "x.gpuscope"
    file.write_bytes(training_trace())
    footprint = imported(session, capfd, file, FOLDER / "snapshot-oom-event-pools-two-devices.pickle")
    assert footprint["steps"]["count"] == 12
    assert footprint["memory"]["peak_reserved_bytes"]["mid"] == 1342177280
    assert footprint["memory"]["peak_at"] == {"op": "forward", "file": "/proj/model.py", "line": 41}
    assert footprint["memory"]["breakdown"]["fragmentation_bytes"] == 469762048
    with open_session(session) as reader:
        assert [found.kind for found in reader.events()].count("out_of_memory") == 1


def test_a_summary_alone_shows_the_memory_and_says_what_is_missing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    footprint = imported(tmp_path / "x.gpuscope", capfd, FOLDER / "memory-summary-1.4-mb.txt")
    assert footprint["memory"]["peak_allocated_bytes"]["mid"] == 4877 * 1024**2
    assert [finding["code"] for finding in footprint["findings"]] == ["job_not_seen"]
    assert footprint["ops"] == []


def test_a_hostile_pickle_leaves_no_session(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    session = tmp_path / "x.gpuscope"
    assert main(["import", str(FOLDER / "snapshot-hostile-os-system.pickle"), "-o", str(session)]) == 2
    assert "wants to call os.system" in capfd.readouterr().err
    assert not session.exists()
