"""Writing a report: by suffix, whole or not at all, with one sentence when it cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.errors import ReportError
from gpuscope.report.model import Report
from gpuscope.report.write import write_report

MakeReport = Callable[..., Report]


@pytest.fixture
def report(make_report: MakeReport) -> Report:
    return make_report(steps=5)


@pytest.mark.parametrize(("name", "start"), [("a.pdf", b"%PDF-"), ("a.PDF", b"%PDF-"), ("a.json", b"{\n")])
def test_suffix_chooses_the_format(report: Report, tmp_path: Path, name: str, start: bytes) -> None:
    write_report(report, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_only_the_user_can_read_it(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path / "a.json")
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["a.docx", "a", "pdf"])
def test_other_suffixes(report: Report, tmp_path: Path, name: str) -> None:
    with pytest.raises(ReportError, match=r"end its name in \.pdf or \.json"):
        write_report(report, tmp_path / name)


def test_existing_files_are_kept_unless_told(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "signed.json"
    path.write_text("signed")
    with pytest.raises(ReportError, match="exists already"):
        write_report(report, path)
    assert path.read_text() == "signed"
    write_report(report, path, overwrite=True)
    assert path.read_bytes().startswith(b"{")


def test_folders_that_are_not_there_or_are_files(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nowhere" / "a.pdf", tmp_path / "file" / "a.json"):
        with pytest.raises(ReportError, match="cannot be written"):
            write_report(report, path)
    (tmp_path / "folder.pdf").mkdir()
    with pytest.raises(ReportError, match="is a folder"):
        write_report(report, tmp_path / "folder.pdf", overwrite=True)


def test_nothing_is_left_of_a_failed_write(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ReportError, match="No space left on device"):
        write_report(report, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())
