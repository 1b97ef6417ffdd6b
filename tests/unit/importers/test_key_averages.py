"""Tables of operators that PyTorch's profiler prints: real ones of a CPU, and of a GPU in the same form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import read_case, rows_of, sentences, trace_of


def table(headings: list[str], *rows: list[str]) -> str:
    """A table in the printed form: rules between, columns to the right, two blanks apart."""
    widths = [max(12, *(len(row[column]) for row in (headings, *rows))) for column in range(len(headings))]
    rule = "".join(f"{'-' * width}  " for width in widths)
    lines = [
        "".join(f"{cell:>{width}}  " for cell, width in zip(row, widths, strict=True)) for row in (headings, *rows)
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, "Self CPU time total: 1.0ms"])


GPU = ["Name", "Self CPU %", "Self CPU", "CPU total", "Self CUDA", "Self CUDA %", "CUDA total", "# of Calls"]
GPU_TABLE = table(
    GPU,
    ["ProfilerStep*", "10.00%", "1.000ms", "1.200s", "0.000us", "0.00%", "0.000us", "3"],
    ["aten::mm", "10.00%", "1.000ms", "1.000ms", "300.000ms", "60.00%", "300.000ms", "30"],
    ["ampere_sgemm_128x64_tn", "0.00%", "0.000us", "0.000us", "300.000ms", "60.00%", "300.000ms", "30"],
    ["Optimizer.step#AdamW.step", "1.00%", "90.000us", "1.000ms", "0.000us", "0.00%", "0.000us", "3"],
)


def test_a_real_table() -> None:
    reading = read_case("key-averages-2.13-cpu.txt")
    (row,) = rows_of(reading)
    assert (row["name"], row["count"], row["device_time_s"]) == ("aten::mm", 9, 0.0)
    assert row["cpu_time_s"] == pytest.approx(0.114972)
    told = trace_of(reading)
    assert (told.optimizer, told.devices) == ("Adam", ())
    assert "cut when the table was printed" in sentences(reading, "lost")[0]


def test_times_of_a_gpu_are_the_operators_own_and_those_of_a_mean_step() -> None:
    reading = read(f"epoch 1\n{GPU_TABLE}\nepoch 2\n".encode(), "log.txt")
    (row,) = rows_of(reading)
    assert row["device_time_s"] == pytest.approx(0.1)
    assert row["count"] == 10
    (device,) = trace_of(reading).devices
    assert device.busy_s == pytest.approx(0.3)
    (step,) = [event for event in reading.events if event.kind == "step"]
    assert (step.data["steps"], step.data["duration_s"]) == (3, pytest.approx(0.4))


def test_shapes_where_the_table_has_them() -> None:
    text = table(
        ["Name", "Self CPU", "CPU total", "CPU time avg", "# of Calls", "Input Shapes"],
        ["aten::mm", "1.000ms", "1.000ms", "1.000ms", "1", "[[128, 32], [32, 64]]"],
        ["aten::cat", "1.000ms", "1.000ms", "1.000ms", "1", "[[128, 32], [32, ..."],
    )
    first, second = rows_of(read(text.encode(), "t.txt"))
    assert (first["shapes"], second["shapes"]) == ([[128, 32], [32, 64]], [])


def test_the_last_of_several_tables_counts() -> None:
    reading = read(f"{GPU_TABLE}\n{GPU_TABLE.replace('300.000ms', '600.000ms')}\n".encode(), "log.txt")
    assert rows_of(reading)[0]["device_time_s"] == pytest.approx(0.2)
    assert "several tables" in " ".join(sentences(reading, "assumed"))


def test_through_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.txt"
    file.write_text(GPU_TABLE)
    assert main(["import", str(file), "-o", str(tmp_path / "out.gpuscope"), "--json"]) == 0
    footprint = json.loads(capsys.readouterr().out)
    assert footprint["workload"]["stage"] == "training"
    assert footprint["workload"]["optimizer"] == "AdamW"
    assert footprint["steps"]["time_s"]["p50"] == pytest.approx(0.4)
    assert [device["gpu"] for device in footprint["devices"]] == [None]
    assert "card_not_named" in {finding["code"] for finding in footprint["findings"]}
