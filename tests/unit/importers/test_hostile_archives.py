"""gzip and zip that swell, hold one another, or are of many members."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.hostile import gpuscope, readings, refusal
from tests.unit.importers.smi_logs import FOLDER

CSV = (FOLDER / "two-gpu-interleaved.csv").read_bytes()
MIB = 1024**2


def _bomb(start: bytes, mebibytes: int) -> bytes:
    """So many mebibytes of blanks behind a beginning, in a thousandth of the size."""
    header, packer = gzip.compress(b"")[:10], zlib.compressobj(9, wbits=-15)
    parts = [packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (start, b" " * MIB)]
    return header + parts[0] + parts[1] * mebibytes + packer.flush()


def test_streams_that_swell_are_refused(tmp_path: Path) -> None:
    starts = (CSV, b'{"traceEvents": [', b'{"gpus": [], "utilization.gpu": "')
    files = [tmp_path / f"{number}.gz" for number in range(len(starts))]
    for path, start in zip(files, starts, strict=True):
        path.write_bytes(_bomb(start, 1000))
        assert path.stat().st_size < 2 * MIB
    for told in readings(files, tmp_path, most_bytes=300_000_000):
        assert "swells more than 200 times" in told


def test_a_bomb_of_many_members_is_one_bomb() -> None:
    member = gzip.compress(b" " * MIB)
    with pytest.raises(UsageError, match="swells"):
        read(gzip.compress(CSV) + member * 100, "log.gz")


def test_archives_in_archives_are_not_unpacked() -> None:
    nested = CSV
    for _ in range(10):
        nested = gzip.compress(nested)
    with pytest.raises(UsageError, match=r"gzip \(twice\): unpack it"):
        read(nested, "nested.gz")


def test_a_million_empty_members_take_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "members.gz"
    path.write_bytes(gzip.compress(CSV) + gzip.compress(b"", 1) * 200_000)
    ended = gpuscope("import", path, "-o", tmp_path / "s.gpuscope", home=tmp_path)
    assert ended.status == 0, ended.errors


def test_a_zip_is_refused_whatever_it_holds(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("log.csv", b" " * (20 * MIB))
        file.writestr("../../escaped.csv", CSV)
    path = tmp_path / "logs.zip"
    path.write_bytes(archive.getvalue())
    assert "ZIP" in refusal(path, tmp_path, most_bytes=200_000_000)
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".csv"] == []


@pytest.mark.parametrize("end", [b"", b"garbage", b"\x1f\x8b", b"\x1f\x8b\x08\x00" + b"\xff" * 20])
def test_what_is_wrong_behind_a_whole_member_loses_nothing_of_it(end: bytes) -> None:
    assert read(gzip.compress(CSV) + end, "log.gz").rows == read(CSV, "log.csv").rows


def test_a_cut_stream_gives_what_was_before_and_says_where() -> None:
    whole = CSV * 300
    packed = gzip.compress(whole, mtime=0)
    reading = read(packed[: len(packed) // 2], "log.gz")
    assert 0 < reading.rows < read(whole, "log.csv").rows
    assert any(f"cut off at byte {len(packed) // 2}" in note.sentence for note in reading.notes)


def test_a_wrong_checksum_is_said() -> None:
    packed = gzip.compress(CSV, mtime=0)
    reading = read(packed[:-8] + bytes(8), "log.gz")
    assert reading.rows == read(CSV, "log.csv").rows
    assert any(note.code == "lost" and "compressed" in note.sentence for note in reading.notes)
