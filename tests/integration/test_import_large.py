"""A large import: cancelled anywhere it leaves nothing, and its footprint is that of the rows."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.import_files import import_files
from gpuscope.engine.session import open_session

MIB = 1024**2
ROWS = 40_000
"""More than a block of lines holds, and than one of a session."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two GPUs for hours: 0 works in the second half, 1 never does."""
    path = tmp_path_factory.mktemp("log") / "long.csv"
    lines = ["timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W]"]
    for second in range(ROWS // 2):
        stamp = f"2026/03/01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000"
        load = 80 + second % 20 if second >= ROWS // 4 else 0
        lines += [f"{stamp}, 0, NVIDIA H100 80GB HBM3, {load} %, {60_000 if load else 10} MiB, {load * 5}.50 W",
                  f"{stamp}, 1, NVIDIA H100 80GB HBM3, 0 %, 10 MiB, 70.00 W"]  # fmt: skip
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("call", [0, 1, -2, -1])
def test_cancelled_anywhere_it_leaves_nothing(log: Path, tmp_path: Path, call: int) -> None:
    told: list[tuple[Path | None, float]] = []
    import_files([log], tmp_path / "whole.gpuscope", progress=lambda path, share: told.append((path, share)))
    assert [path for path, _ in told] == sorted((path for path, _ in told), key=lambda path: path is None)
    assert {path for path, _ in told} == {log, None}
    calls = iter(range(len(told)))

    def cancel(path: Path | None, share: float) -> None:
        if next(calls) == range(len(told))[call]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_files([log], tmp_path / "cut.gpuscope", progress=cancel)
    assert [each.name for each in tmp_path.iterdir()] == ["whole.gpuscope"]


def test_the_footprint_is_that_of_the_rows(log: Path, tmp_path: Path) -> None:
    session = tmp_path / "log.gpuscope"
    (reading,) = import_files([log], session)
    assert reading.rows == ROWS
    with open_session(session) as reader:
        footprint = footprint_of(reader)
        assert len(reader.timeline().get(next(iter(reading.tracks)), "power_w").t) == ROWS // 2
    assert [device.name for device in footprint.devices] == ["NVIDIA H100 80GB HBM3"]
    assert footprint.memory.peak_device_bytes is not None
    assert footprint.memory.peak_device_bytes.high == 60_000 * MIB
    assert footprint.memory.peak_device_bytes.low == 59_990 * MIB
    assert footprint.utilization.gpu is not None
    assert footprint.utilization.gpu.mean == pytest.approx(89.5 / 2, rel=1e-6)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_and_gzip_give_the_same(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], packed: bool
) -> None:
    data = gzip.compress(log.read_bytes()) if packed else log.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["import", "-", "-o", str(tmp_path / "log.gpuscope")]) == 0
    assert f"{ROWS} rows of 2 GPUs" in capfd.readouterr().err


def test_clocks_that_go_back_are_put_in_order(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = ["02:59:59.000, 0, 1 W", "02:00:00.000, 0, 2 W", "03:00:00.000, 0, 3 W"]
    text = "timestamp, index, power.draw [W]\n" + "".join(f"2026/10/25 {row}\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    import_files([path], tmp_path / "log.gpuscope")
    with open_session(tmp_path / "log.gpuscope") as reader:
        series = reader.timeline().get("0", "power_w")
    assert series.t.tolist() == [0, 3599, 3600]
    assert series.values.tolist() == [2, 1, 3]
