"""A session's readings as CSV, as Prometheus' text and as Parquet."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuscope.domain.device import Device
from gpuscope.errors import ReportError, UsageError
from gpuscope.report.export.csv_file import write_csv
from gpuscope.report.export.prometheus_text import write_prometheus
from gpuscope.report.export.readings import Readings, Stretch, readings_of
from gpuscope.report.export.write import export_readings
from gpuscope.store.reader import SessionReader
from tests.builders import CREATED_WALL_S, build_session, uuid_of

NAN = math.nan
TABLE = Readings(
    Device(uuid="GPU-1", index=0, name='=cmd|"x"', hostname="node\n1"),
    np.array([1_790_000_000.25, 1_790_000_001.0]),
    {"utilization_gpu_percent": np.array([97.0, NAN]), "memory_used_bytes": np.array([8.0 * 1024**3 + 1, 5.0])},
)


@pytest.fixture
def reader(tmp_path: Path) -> SessionReader:
    path = build_session(tmp_path / "run.gpuscope", gpus=2, steps=50)
    with SessionReader(path) as opened:
        yield opened


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_reading_is_a_row(reader: SessionReader, tmp_path: Path) -> None:
    count = export_readings(reader, tmp_path / "out.csv", Stretch())
    rows = _csv(tmp_path / "out.csv")
    assert len(rows) == count
    own = [row for row in rows if row["device"] == uuid_of(1)]
    series = reader.timeline().get(uuid_of(1), "utilization_gpu_percent")
    assert [
        float(row["utilization_gpu_percent"]) for row in own if row["utilization_gpu_percent"]
    ] == series.known.tolist()
    assert float(own[0]["unix_s"]) == pytest.approx(CREATED_WALL_S + series.t[0])
    assert {row["device"] for row in rows} == {uuid_of(0), uuid_of(1), "host"}


def test_a_part_in_means(reader: SessionReader) -> None:
    stretch = Stretch(2.0, 6.0, 1.0)
    table = next(iter(readings_of(reader, stretch)))
    series = reader.timeline().get(uuid_of(0), "power_w")
    assert (table.wall_s - CREATED_WALL_S).tolist() == pytest.approx([2.0, 3.0, 4.0, 5.0, 6.0][: len(table.wall_s)])
    expected = [series.values[(series.t >= t) & (series.t < t + 1)].mean() for t in (2.0, 3.0, 4.0)]
    assert table.columns["power_w"][:3].tolist() == pytest.approx(expected)


def test_missing_is_empty_and_whole_numbers_have_no_point() -> None:
    file = io.BytesIO()
    write_csv([TABLE], file, lambda _: None)
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
    assert [row["utilization_gpu_percent"] for row in rows] == ["97", ""]
    assert rows[0]["memory_used_bytes"] == "8589934593"
    assert rows[0]["time"] == "2026-09-21T14:13:20.250+00:00"


def test_names_are_no_formulas() -> None:
    file = io.BytesIO()
    write_csv([TABLE], file, lambda _: None)
    assert next(csv.DictReader(io.StringIO(file.getvalue().decode())))["name"] == '\'=cmd|"x"'


def test_prometheus_text_has_families_times_and_an_end() -> None:
    file = io.BytesIO()
    write_prometheus([TABLE], file, lambda _: None)
    lines = file.getvalue().decode().splitlines()
    assert lines[0] == "# TYPE gpuscope_utilization_gpu_percent gauge"
    assert lines[-1] == "# EOF"
    points = [line for line in lines if not line.startswith("#")]
    assert len(points) == 3
    assert points[0].endswith("} 97.0 1790000000.250")
    assert 'hostname="node\\n1"' in points[0]
    assert all(re.fullmatch(r"[a-z0-9_]+\{.*\} \S+ \S+", point) for point in points)


def test_without_pyarrow_a_sentence_and_no_file(
    reader: SessionReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ReportError, match=r"pip install 'gpuscope\[parquet\]'"):
        export_readings(reader, tmp_path / "out.parquet", Stretch())
    assert [path.name for path in tmp_path.iterdir()] == ["run.gpuscope"]


def test_parquet_holds_the_same(reader: SessionReader, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an extra of 180 MB")
    count = export_readings(reader, tmp_path / "out.parquet", Stretch())
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(rows) == count
    known = [row["power_w"] for row in rows if row["device"] == uuid_of(0) and row["power_w"] is not None]
    assert known == reader.timeline().get(uuid_of(0), "power_w").known.tolist()
    assert rows[0]["time"].timestamp() == pytest.approx(
        CREATED_WALL_S + reader.timeline().get(uuid_of(0), "power_w").t[0]
    )


@pytest.mark.parametrize(
    ("stretch", "sentence"), [(Stretch(5, 5), "ends before it starts"), (Stretch(step_s=0), "is no length of time")]
)
def test_what_is_no_part(reader: SessionReader, tmp_path: Path, stretch: Stretch, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        export_readings(reader, tmp_path / "out.csv", stretch)


def test_nothing_in_that_time_another_suffix_and_a_file_that_is_there(reader: SessionReader, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no readings"):
        export_readings(reader, tmp_path / "out.csv", Stretch(start_s=1e6))
    with pytest.raises(ReportError, match=r"\.csv, \.prom, \.parquet"):
        export_readings(reader, tmp_path / "out.txt", Stretch())
    (tmp_path / "out.csv").write_text("signed")
    with pytest.raises(ReportError, match="nothing was overwritten"):
        export_readings(reader, tmp_path / "out.csv", Stretch())
    assert (tmp_path / "out.csv").read_text() == "signed"


def test_cancelling_leaves_nothing(reader: SessionReader, tmp_path: Path) -> None:
    def cancel(_share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_readings(reader, tmp_path / "out.csv", Stretch(), progress=cancel)
    assert [path.name for path in tmp_path.iterdir()] == ["run.gpuscope"]
