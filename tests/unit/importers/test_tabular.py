"""Large tables: what is read in blocks of columns is what is read line by line, whatever stands in the lines."""

from __future__ import annotations

import gzip
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuscope.importers.reading import Reading
from gpuscope.importers.smi import dmon, query_csv
from gpuscope.importers.tabular import blocks
from gpuscope.importers.times import parse_time
from tests.unit.importers.row_by_row import PlainRow, read_plainly

_HEADINGS = {
    "utilization.gpu [%]": "%",
    "memory.used [MiB]": "MiB",
    "power.draw [W]": "W",
    "power.draw.average [W]": "W",
    "total_energy_consumption [mJ]": "mJ",
    "clocks.current.sm [MHz]": "MHz",
    "clocks_event_reasons.active": "",
    "clocks_event_reasons.hw_slowdown": "",
    "pstate": "",
    "power.default_limit": "W",
    "mig.mode.current": "",
}
_odd_cells = st.sampled_from(
    ["", "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "ERR!", "P0", "P8", "Active", "Not Active", "-1", "+3",
     "0x0000000000000004", "0xA", "1e3", "1e", "5 %", "5%", "12,5", "1.", ".5", "1..2", "4294967295",
     "9223372036854775807",
     "2147483632", "140737488355328", "17592186044416 MiB", "123456789012345", "1234567890123456", "12345678.12345678",
     "0.1", "00012", "  7  ", "3 GiB", "3 kW", "7 x", "N/A %", "9" * 40, "1" * 140, "Disabled", "\u00b57", "7\t"]
)  # fmt: skip
_numbers = st.one_of(
    st.integers(0, 10**9).map(str),
    st.decimals(0, 99999, places=2).map(str),
    st.floats(0, 1e6, allow_nan=False).map(repr),
)


@st.composite
def _cells(draw: st.DrawFn, unit: str) -> str:
    if draw(st.integers(0, 3)) == 0:
        return draw(_odd_cells)
    number = draw(_numbers)
    return f"{number} {unit}" if unit and draw(st.booleans()) else number


@st.composite
def _logs(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(sorted(_HEADINGS)), min_size=1, max_size=5, unique=True))
    heading = ", ".join(["timestamp", "index", "name", *names, "utilization.memory [%]"])
    lines = [heading]
    for second in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["row"] * 8 + ["heading", "blank", "error", "short", "quoted"]))
        cells = [draw(_cells(_HEADINGS[name])) for name in names]
        gpu = draw(st.integers(0, 2))
        time = draw(st.sampled_from([f"2026/01/01 00:00:{second:02}.{gpu}50", f"2026-01-01T00:00:{second:02}",
                                     f"Thu Jan  1 00:00:{second:02} 2026", str(1767225600 + second)]))  # fmt: skip
        row = [time, str(gpu), "Tesla T4", *cells, f"{second} %"]
        lines += {
            "row": [", ".join(row)],
            "heading": [heading],
            "blank": ["", "   "],
            "error": ["Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error"],
            "short": ["2026/01/01 00:00:00.000, 1"],
            "quoted": [",".join(f'"{cell}"' for cell in row)],
        }[kind]
    return "\n".join(lines) + "\n"


def _flat(reading: Reading) -> dict[str, tuple[list[float], dict[str, list[float | None]], dict[str, str]]]:
    return {
        key: (track.wall_s.tolist(), {name: track.known(name) for name in track.columns}, dict(track.reasons))
        for key, track in reading.tracks.items()
    }


def _flat_plainly(rows: list[PlainRow]) -> dict[str, tuple[list[float], dict[str, list[float | None]], dict[str, str]]]:
    found = {}
    for key in sorted({row.facts["index"] for row in rows}):
        own = [row for row in rows if row.facts["index"] == key]
        names = {name for row in own for name in (*row.figures, *row.reasons)}
        columns = {name: [row.figures.get(name) for row in own] for name in names}
        reasons = {name: str(reason) for row in own for name, reason in row.reasons.items()}
        found[key] = ([row.wall_s for row in own], columns, reasons)
    return found


@given(_logs(), st.sampled_from([40, 97, 300, 10_000]), st.sampled_from(["\n", "\r\n", "\r"]))
@example("timestamp, index, power.draw [W]\n2026/01/01 00:00:00.000, 0, 12345678.12 W\n", 40, "\n")
@example(
    "timestamp, index, memory.used [MiB]\n2026/01/01 00:00:00.000, 0, 5\n2026/01/01 00:00:01.000, 0, 4294967295\n",
    10_000,
    "\n",
)
def test_blocks_of_columns_give_what_single_cells_give(text: str, piece_bytes: int, newline: str) -> None:
    with mock.patch.object(blocks, "_PIECE_BYTES", piece_bytes):
        reading = query_csv.read(text.replace("\n", newline).encode())
    plain = read_plainly(text)
    assert _flat(reading) == _flat_plainly(plain.rows)
    assert reading.rows == len(plain.rows)
    assert sum(note.count for note in reading.notes if note.code in {"lost", "driver_error"} and plain.rows) == (
        len(plain.lost) if plain.rows else 0
    )


@given(
    st.lists(
        st.one_of(
            st.floats(0, allow_nan=False, allow_infinity=False).map(repr),
            st.sampled_from(
                [".5", "5.", "1.2.3", "4611686018427387904.0", "4294967295.0", "1" * 33, "12.5 W", "", "-1.5"]
            ),
            st.decimals(0, 10**6, places=12).map(str),
        ),
        min_size=13,
        max_size=40,
    )
)
def test_decimals_of_many_digits_are_those_of_single_cells(cells: list[str]) -> None:
    rows = [f"2026/01/01 00:00:{at:02}.000, 0, {cell}" for at, cell in enumerate(cells)]
    text = "\n".join(["timestamp, index, power.draw [W]", *rows]) + "\n"
    assert _flat(query_csv.read(text.encode())) == _flat_plainly(read_plainly(text).rows)


@given(_logs(), st.sampled_from(["utf-8-sig", "utf-16", "gzip"]))
def test_encodings_and_gzip_change_nothing(text: str, how: str) -> None:
    packed = gzip.compress(text.encode()) if how == "gzip" else text.encode(how)
    with mock.patch.object(blocks, "_PIECE_BYTES", 131):
        assert _flat(query_csv.read(packed)) == _flat(query_csv.read(text.encode()))


@given(st.lists(st.tuples(st.integers(0, 99999), st.integers(0, 99)), min_size=1, max_size=9))
def test_decimal_commas(values: list[tuple[int, int]]) -> None:
    rows = [f"2026/01/03 15:36:{at:02},507; 0; {whole},{part:02} W" for at, (whole, part) in enumerate(values)]
    text = "\n".join(["timestamp; index; power.draw [W]", *rows]) + "\n"
    plain = read_plainly(text, ";", decimal_comma=True)
    assert _flat(query_csv.read(text.encode())) == _flat_plainly(plain.rows)


@given(st.text(alphabet="0123456789/:. TZ-,", max_size=30), st.integers(0, 86_399), st.integers(0, 999))
def test_times_in_columns_are_those_of_single_stamps(other: str, second: int, milliseconds: int) -> None:
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    stamps = [f"2026/02/28 {clock}.{milliseconds:03}", f"2026/03/01 {clock}", "2026/02/30 10:00:00", other,
              "2026/03/01 24:00:00", "2026/03/01 10:00:00.1234567890"]  # fmt: skip
    rows = [f"{stamp}; 0; 7 W" for stamp in stamps]
    reading = query_csv.read(("timestamp; index; power.draw [W]\n" + "\n".join(rows) + "\n").encode())
    known = [time[0] for stamp in stamps if (time := parse_time(stamp.strip())) is not None]
    assert reading.tracks["0"].wall_s.tolist() == known
    assert sum(note.count for note in reading.notes) == len(stamps) - len(known)


def test_dmon_with_dates_repeated_headings_and_dashes() -> None:
    heading = "#Date       Time        gpu     pwr  gtemp     sm    mem\n"
    heading += "#YYYYMMDD   HH:MM:SS    Idx       W      C      %      %\n"
    row = "20260301   10:00:{0:02}      {1}     {2}     40      -      {0}\n"
    text = "".join(
        (heading if second % 3 == 0 else "") + row.format(second, 0, 70) + row.format(second, 1, 80 + second)
        for second in range(12)
    )
    whole = dmon.read(text.encode())
    with mock.patch.object(blocks, "_PIECE_BYTES", 100):
        assert _flat(dmon.read(text.encode())) == _flat(whole)
    first, second = whole.tracks.values()
    assert first.wall_s[3] - first.wall_s[0] == 3
    assert first.known("utilization_memory_percent") == list(range(12))
    assert second.known("power_w") == [80 + at for at in range(12)]
    assert first.known("utilization_gpu_percent") == [None] * 12
    assert not whole.notes


def test_a_line_without_end_takes_no_memory_and_no_other_line_with_it() -> None:
    row = b"2026/01/01 00:00:00.000, 0, 7 W\n"
    with mock.patch.object(blocks, "_PIECE_BYTES", 65536):
        reading = query_csv.read(b"timestamp, index, power.draw [W]\n" + row + b"x" * 9_000_000 + b"\n" + row)
    assert reading.tracks["0"].known("power_w") == [7, 7]
    assert [(note.code, note.line) for note in reading.notes] == [("lost", 3)]


@pytest.mark.parametrize("count", [1, 5])
def test_headings_in_turns_cost_no_more_than_their_lines(count: int) -> None:
    headings = ["timestamp, index, power.draw [W]\n", "timestamp, index, temperature.gpu\n"]
    text = "".join(headings[at % 2] + f"2026/01/01 00:00:{at % 60:02}.000, 0, {at}\n" * count for at in range(50))
    track = query_csv.read(text.encode()).tracks["0"]
    assert len(track.wall_s) == 50 * count
    assert np.isnan(track.values("power_w")).sum() == 25 * count
    assert [value for value in track.known("temperature_c") if value is not None][: count + 1] == [1.0] * count + [3.0]


def test_progress_goes_from_nothing_to_all_and_cancels_where_it_raises() -> None:
    text = "timestamp, index, power.draw [W]\n" + "2026/01/01 00:00:00.000, 0, 7 W\n" * 100
    shares: list[float] = []
    with mock.patch.object(blocks, "_PIECE_BYTES", 500):
        query_csv.read(text.encode(), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert not math.isclose(shares[0], 1.0)

    def cancel(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        query_csv.read(text.encode(), cancel)
