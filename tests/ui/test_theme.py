"""The look keeps its promises: contrast, one colour a metric, figures of equal width."""

from __future__ import annotations

from dataclasses import fields

import pytest
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import DARK, LIGHT, METRIC_COLOURS, Colours, Mode, Size, apply_theme, colours_of, font, set_role

TEXTS = ["text", "muted", "trouble", "warning"]


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    channels = [QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF()]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize("surface", ["window", "surface"])
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_can_be_read_on_every_surface(colours: Colours, surface: str, text: str) -> None:
    assert _contrast(getattr(colours, text), getattr(colours, surface)) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_marked_surfaces_can_be_read_too(colours: Colours) -> None:
    assert _contrast(colours.accent_text, colours.accent) >= 4.5
    assert _contrast(colours.warning, colours.warning_surface) >= 4.5
    assert _contrast(colours.text, colours.selection) >= 4.5


def test_data_colours_are_those_of_okabe_and_ito() -> None:
    palette = {"#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(METRIC_COLOURS.values()) <= palette


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_the_theme_reaches_widgets_that_are_there_already(qtbot: QtBot, mode: Mode) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.show()
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    apply_theme(application, mode)
    expected = DARK if mode is Mode.DARK else LIGHT
    assert colours_of(label) is expected
    assert label.palette().color(QPalette.ColorRole.WindowText) == QColor(expected.text)


def test_figures_have_equal_width(qtbot: QtBot) -> None:
    metrics = QFontMetrics(font(Size.BODY))
    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1
    assert font(Size.LARGE, bold=True).weight() == QFont.Weight.Bold


def test_a_role_changes_the_look(qtbot: QtBot) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    apply_theme(application, Mode.LIGHT)
    button = QPushButton("Stop")
    qtbot.addWidget(button)
    set_role(button, "danger")
    button.ensurePolished()
    assert button.palette().color(QPalette.ColorRole.ButtonText) == QColor(LIGHT.trouble)


def test_both_modes_name_the_same_colours() -> None:
    assert all(QColor(getattr(colours, f.name)).isValid() for colours in (LIGHT, DARK) for f in fields(Colours))


def test_a_damaged_settings_file_counts_as_empty(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path))
    settings = WindowSettings()
    settings.set_text("theme", "purple")
    settings.set_text("geometry", "not bytes")
    settings.flush()
    again = WindowSettings()
    assert again.mode is Mode.SYSTEM
    assert again.bytes("geometry") is None
