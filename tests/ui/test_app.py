"""Starting the window: with and without a display, with and without a session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.ui.app import has_display, main
from gpuscope.ui.figures import UNKNOWN, megahertz, memory, number_ranges, percent, rate, watts
from gpuscope.ui.help import explanation_for
from gpuscope.ui.widgets.axes import Scale, time_label, time_spacing, value_spacing


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"QT_QPA_PLATFORM": "offscreen"}, True),
        ("linux", {"QT_QPA_PLATFORM": "minimal:x=1"}, True),
        ("linux", {"QT_QPA_PLATFORM": "xcb"}, False),
        ("win32", {}, True),
        ("darwin", {}, True),
    ],
)
def test_whether_there_is_a_display(platform: str, environment: dict[str, str], expected: bool) -> None:
    assert has_display(platform, environment) is expected


def test_without_a_display_it_says_what_to_use_instead() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}}
    code = "import sys; from gpuscope.ui.app import main; sys.exit(main([]))"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "gpuscope record" in ended.stderr
    assert "gpuscope run" in ended.stderr


def test_without_a_folder_to_write_to_it_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(occupied / "state"))
    assert main([]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "GPUSCOPE_STATE_DIR" in error


def test_an_explanation_is_found_from_the_inside_out(qtbot: QtBot) -> None:
    outer = QWidget()
    qtbot.addWidget(outer)
    inner = QLabel("87 %", outer)
    outer.setWhatsThis("About the card.")
    assert explanation_for(inner) == "About the card."
    inner.setWhatsThis("About the figure.")
    assert explanation_for(inner) == "About the figure."
    assert explanation_for(None) == ""


def test_figures() -> None:
    assert percent(None) == UNKNOWN
    assert (percent(0.0).number, memory(0).number) == ("0", "0")
    assert [" ".join(figure) for figure in (watts(38.04), watts(520.4), megahertz(1980), rate(2.1e9))] == [
        "38.0 W",
        "520 W",
        "1,980 MHz",
        "2.1 GB/s",
    ]
    assert [number_ranges(n) for n in ([], [3], [1, 0], [0, 1, 2, 5], [7, 6, 5, 1])] == [
        "",
        "3",
        "0, 1",
        "0–2, 5",
        "1, 5–7",
    ]


def test_ticks_are_round_and_far_enough_apart() -> None:
    assert value_spacing(106, 100, 24) == 50
    assert value_spacing(106, 400, 24) == 10
    assert value_spacing(0, 100, 24) == 1
    assert time_spacing(60, 600, 72) == 10
    assert time_spacing(3600, 600, 72) == 600
    assert time_spacing(90 * 86400, 600, 72) == 11 * 86400
    assert [time_label(t, step) for t, step in ((-10, 10), (70, 10), (3600, 600), (4.5, 0.5), (59.999999, 1))] == [
        "", "1:10", "1:00:00", "0:04.5", "1:00",
    ]  # fmt: skip


def test_an_axis_leaves_room_above_its_limit() -> None:
    assert Scale(label=str, top=100.0).highest(3.0) > 100
    assert Scale(label=str, least_top=10.0).highest(0.0) > 10
    assert Scale(label=str).highest(50.0) > 50
