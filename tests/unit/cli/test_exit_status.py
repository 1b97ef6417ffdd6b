"""One rule for all commands: 2 and one line of why where the command line, or a file that it reads, cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.cli.parser import build_parser

MISSING, JUNK, FOOTPRINT = "missing.gpuscope", "junk.gpuscope", "footprint.json"
ADVISE = f"advise --footprint {FOOTPRINT}"
BAD = [
    *(f"{command} {file}" for command in ("open", "footprint", "advise") for file in (MISSING, JUNK)),
    *(f"report {file} -o report.pdf" for file in (MISSING, JUNK)),
    *(f"explain-oom {file}" for file in (MISSING, "folder")),
    *(f"import {file} -o new.gpuscope" for file in (MISSING, JUNK)),
    *(f"advise --footprint {file}" for file in (MISSING, JUNK)),
    *(f"{ADVISE} {option} {file}" for option in ("--prices", "--rates", "--target-run") for file in (MISSING, JUNK)),
    f"{ADVISE} --gpus nonsense",
    f"{ADVISE} --deadline yesterday",
    f"{ADVISE} --currency EUR",
    f"{ADVISE} --runs-per-month 1,2",
    "estimate --params nonsense",
    "estimate",
    "validate --study nonsense",
    "run -- missing.py",
    "run",
    "record --pid 999999999",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Where the commands look: a good footprint, a file that is nothing, a folder."""
    monkeypatch.chdir(tmp_path)
    assert main(["estimate", "--params", "1B", "--json"]) == 0
    (tmp_path / FOOTPRINT).write_text(capsys.readouterr().out, encoding="utf-8")
    (tmp_path / JUNK).write_bytes(b"neither this \x00 nor that")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("line", BAD)
def test_what_cannot_be_used_ends_with_2_and_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(line.split())
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1, said.err
    assert said.err.startswith("gpuscope: ")


def commands() -> list[str]:
    parser = build_parser()
    return sorted(next(action.choices for action in parser._actions if action.dest == "command_name"))  # type: ignore[arg-type]  # argparse types choices loosely


@pytest.mark.parametrize("command", commands())
def test_every_command_refuses_an_unknown_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--no-such-option"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_result_that_cannot_be_written_ends_with_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "there.gpuscope").write_bytes(b"")
    log = folder / "log.csv"
    log.write_text("timestamp, index, name, utilization.gpu [%]\n2026/01/01 00:00:00.000, 0, NVIDIA L4, 5 %\n", "utf-8")
    assert main(["import", str(log), "-o", "there.gpuscope"]) == 1
    assert "exists already" in capsys.readouterr().err
