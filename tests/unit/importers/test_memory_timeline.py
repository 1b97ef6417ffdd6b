"""Memory timelines of PyTorch's profiler in the three forms that hold figures, and in the one that holds a picture."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import FOLDER, allocators_of, read_case, sentences

PARAMETERS = (64 * 128 + 128 + 128 * 8 + 8) * 4
"""Bytes of the two layers of the program that was profiled."""


@pytest.mark.parametrize("name", ["memory-timeline-2.13.json.gz", "memory-timeline-2.13.raw.json.gz"])
def test_both_forms_tell_the_same(name: str) -> None:
    (told,) = allocators_of(read_case(name))
    assert told.peak_allocated_bytes == sum(told.categories_at_peak.values()) == 223392
    assert told.categories_at_peak["gradients"] == PARAMETERS
    assert told.categories_at_peak["optimizer_state"] == pytest.approx(2 * PARAMETERS, abs=64)


def test_times_are_of_one_clock_whatever_their_unit() -> None:
    coalesced, raw = (read_case(f"memory-timeline-2.13.{form}") for form in ("json.gz", "raw.json.gz"))
    (first,), (second,) = coalesced.tracks.values(), raw.tracks.values()
    assert first.wall_s[0] == pytest.approx(second.wall_s[0], abs=1e-4)
    assert first.wall_s[-1] == pytest.approx(second.wall_s[-1], abs=1e-4)
    assert max(first.columns["allocated_bytes"]) == max(second.columns["allocated_bytes"]) == 223392


def test_what_was_there_before_counts_from_the_first_moment() -> None:
    events = [[-1, 1, 1000, 0], [10**18, 2, 500, 4], [10**18 + 10**9, 4, -500, 4]]
    (told,) = allocators_of(reading := read(json.dumps(events).encode(), "m.raw.json"))
    assert told.peak_allocated_bytes == 1500
    assert told.allocated_bytes == 1000
    (track,) = reading.tracks.values()
    assert list(track.wall_s) == pytest.approx([1e9, 1e9, 1e9 + 1])


def test_a_cut_file_is_read_up_to_there() -> None:
    text = gzip.decompress((FOLDER / "memory-timeline-2.13.json.gz").read_bytes())
    reading = read(text[: len(text) * 3 // 4], "m.json")
    assert 0 < reading.rows < 381
    assert "cut off" in sentences(reading, "lost")[0]


def test_a_picture_is_no_figures() -> None:
    html = (
        b'<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>\n<body>\n  <img src=\''
    )
    with pytest.raises(UsageError, match=r"raw\.json\.gz"):
        read(html + b"data:image/png;base64,iVBORw0KGgo='>", "m.html")


@pytest.mark.parametrize(
    "text", ["[[1796078062695393, 1796078062695393, 1796078062695393, ", "[[-1, 1, 32768, 0], [1,"]
)
def test_damage_ends_in_a_sentence_or_in_what_is_left(text: str) -> None:
    try:
        assert read(text.encode(), "m.json").rows
    except UsageError as error:
        assert "damaged" in str(error)  # noqa: PT017 - either outcome is right


def test_the_parts_of_the_peak_reach_the_footprint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = FOLDER / "memory-timeline-2.13.raw.json.gz"
    assert main(["import", str(file), "-o", str(tmp_path / "out.gpuscope"), "--json"]) == 0
    memory = json.loads(capsys.readouterr().out)["memory"]
    assert memory["breakdown"]["gradients_bytes"] == PARAMETERS
    parts = [value for name, value in memory["breakdown"].items() if value is not None]
    assert sum(parts) == memory["peak_allocated_bytes"]["mid"] == 223392
