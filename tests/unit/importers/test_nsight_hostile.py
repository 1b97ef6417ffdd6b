"""Databases that are damaged or made to harm: read as far as they go, or refused in a sentence, in bounded time."""

from __future__ import annotations

import sqlite3
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuscope.errors import GpuscopeError, UsageError
from gpuscope.importers.nsight.database import Database
from gpuscope.importers.recognise import read
from tests.unit.importers.nsight_exports import MS, Export, training
from tests.unit.importers.pytorch_files import sentences, trace_of


def test_a_view_in_place_of_a_table_is_not_asked() -> None:
    export = Export("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE GPU_METRICS (x INT);")
    export.connection.executescript(
        """
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
          WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end FROM n;
        CREATE TRIGGER t INSTEAD OF INSERT ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN SELECT 1; END;
        """
    )
    start = time.monotonic()
    reading = read(export.data, "report.sqlite")
    assert time.monotonic() - start < 1
    assert any("views, triggers" in sentence for sentence in sentences(reading, "lost"))


def test_times_and_numbers_that_make_no_sense_are_counted_and_left_out() -> None:
    export = training(2)
    export.kernel("backwards", 50 * MS, 40 * MS)
    export.kernel("for ever", 0, 2**62)
    export.connection.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = 'soon' WHERE rowid = 1")
    export.connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 9e300, globalPid = -3 WHERE rowid = 1")
    reading = read(export.data, "report.sqlite")
    assert trace_of(reading).lost_events == 3


def test_a_file_without_its_end_gives_what_was_before() -> None:
    data = training(2000).data
    reading = read(data[: len(data) * 3 // 4], "report.sqlite")
    told = trace_of(reading)
    assert told.cut
    assert told.devices[0].kernels > 0
    assert any("cut off" in sentence for sentence in sentences(reading, "lost"))


def test_pages_that_were_overwritten_lose_their_table_alone() -> None:
    data = bytearray(training(2000).data)
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    reading = read(bytes(data), "report.sqlite")
    assert trace_of(reading).cut
    assert any("Damaged tables" in sentence for sentence in sentences(reading, "lost"))


def test_a_header_that_promises_terabytes_is_refused() -> None:
    data = bytearray(training(1).data)
    data[28:32] = b"\xff\xff\xff\xff"
    with pytest.raises(UsageError, match="cut off"):
        read(bytes(data), "report.sqlite")


def test_a_file_out_of_write_ahead_mode_is_read() -> None:
    data = bytearray(training(1).data)
    data[18:20] = b"\x02\x02"
    assert trace_of(read(bytes(data), "report.sqlite")).devices


def test_a_database_of_another_program_is_named_as_such() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(UsageError, match="neither a session of gpuscope nor an export of Nsight Systems"):
        read(connection.serialize(), "places.sqlite")


def test_reading_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuscope.importers.nsight.database._MOST_SECONDS", -1.0)
    with pytest.raises(UsageError):
        read(training(2000).data, "report.sqlite")


def test_a_computed_column_is_never_computed() -> None:
    export = Export("CREATE TABLE GPU_METRICS (value INT, timestamp INT GENERATED ALWAYS AS (value * 2));")
    export.insert("GPU_METRICS", value=1)
    database = Database(export.data)
    assert not database.has("GPU_METRICS", "timestamp")
    database.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=30))
def test_damaged_bytes_never_end_in_anything_but_a_sentence(places: list[tuple[float, int]]) -> None:
    data = bytearray(_EXPORT)
    for place, value in places:
        data[100 + int(place * (len(data) - 101))] = value
    try:
        read(bytes(data), "report.sqlite")
    except GpuscopeError as error:
        assert str(error).endswith(".")  # noqa: PT017 - either outcome is right


_EXPORT = training(20).data
