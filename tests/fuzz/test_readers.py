"""A short run of `make fuzz`: no reader fails on damaged files other than with a sentence."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers.recognise import READERS
from tests.fuzz import running
from tests.fuzz.mutating.binaries import GZIP, SQLITE
from tests.fuzz.mutations import mutated
from tests.fuzz.running import fuzzed
from tests.fuzz.seeds import logs, sessions
from tests.fuzz.targets import Target, outcome, targets

INPUTS = 40
SLOW = {"import of any file": 12, "footprint documents": 12}
"""What goes through a whole command takes longer for each file."""


@pytest.fixture(autouse=True)
def failures_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_OUT", tmp_path)


@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
def test_damaged_files_are_read_or_refused(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    tally = fuzzed(target, range(SLOW.get(target.name, INPUTS)))
    assert tally.failures == 0, capsys.readouterr().out
    assert tally.grown_bytes < running.MOST_BYTES


def test_every_reader_is_fuzzed() -> None:
    assert {reader.description for reader in READERS} <= {target.name for target in targets()}


def test_a_number_always_makes_the_same_file() -> None:
    seeds = (b"a, b\n1, 2\n", b"c", b'{"a": [1, 2]}', sessions()[2], *(data for data in logs() if data[:2] == GZIP))
    assert [mutated(seeds, number) for number in range(200)] == [mutated(seeds, number) for number in range(200)]


def test_damage_that_keeps_the_form_gets_past_the_first_bytes() -> None:
    whole = sessions()[2]
    damaged = [data for data in (mutated((whole,), number) for number in range(60)) if data != whole]
    assert sum(data.startswith(SQLITE) for data in damaged) > len(damaged) // 2


def _wait(_: bytes) -> None:
    while True:
        time.process_time()


def _grow(_: bytes) -> int:
    return len(bytearray(running.MOST_BYTES + 200_000_000))


def _refuse_with_everything(data: bytes) -> None:
    raise UsageError("")


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (lambda data: data[10_000_000], "IndexError"),
        (_wait, "took for ever"),
        (_grow, "MB"),
        (_refuse_with_everything, "UsageError"),
    ],
)
def test_what_fails_is_told_and_kept(
    read: object, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "_STOPPED_AFTER_S", 0.1)
    target = Target("broken", read, (b"x",))  # type: ignore[arg-type]  # each is a reader
    assert fuzzed(target, range(7, 8)).failures == 1
    assert what in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["broken-7"]
    assert (tmp_path / "broken-7").read_bytes() == mutated((b"x",), 7)


def _crash(_: bytes) -> None:
    os._exit(9)


def test_a_crash_is_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    crashing = [Target("crashes", _crash, (b"x",))]
    monkeypatch.setattr(running, "targets", lambda: crashing)
    monkeypatch.setattr(running, "_CONTEXT", "fork")
    assert running.run("crashes", 0, 2) == 2
    assert "ended the process with 9" in capfd.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crashes-0", "crashes-1"]


def test_a_refusal_is_no_failure() -> None:
    def refuse(_: bytes) -> Iterator[None]:
        raise UsageError("The file is empty: save it again.")

    assert outcome(Target("refuses", refuse, (b"x",)), b"x") is None
