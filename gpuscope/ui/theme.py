"""How the window looks: surfaces in light and dark, data colours by metric, three text sizes, an 8-pixel grid."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QWidget

GRID = 8
"""Pixels; margins and gaps are multiples (or a half) of it."""
RADIUS = 4


class Mode(StrEnum):
    """What the person chose; SYSTEM follows the desktop."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Size(StrEnum):
    """The three text sizes of the window."""

    SMALL = "small"
    BODY = "body"
    LARGE = "large"


POINT_SIZES = {Size.SMALL: 9, Size.BODY: 10, Size.LARGE: 15}


@dataclass(frozen=True, slots=True)
class Colours:
    """Surface and text colours of one mode; every text colour has a contrast of at least 4.5 on both surfaces."""

    window: str
    surface: str
    border: str
    grid: str
    text: str
    muted: str
    accent: str
    accent_text: str
    trouble: str
    """Red, for trouble only."""
    warning: str
    warning_surface: str
    selection: str
    reserved: str
    """What is taken but is nobody's data: the driver's reservation in a memory bar."""


LIGHT = Colours(
    window="#f4f6f8", surface="#ffffff", border="#d0d7de", grid="#e6eaee", text="#1b1f24", muted="#57606a",
    accent="#0b5cad", accent_text="#ffffff", trouble="#b3261e", warning="#704300", warning_surface="#fff3d1",
    selection="#dbeafa", reserved="#8c959f",
)  # fmt: skip
DARK = Colours(
    window="#15171b", surface="#1d2025", border="#363c45", grid="#2b3037", text="#e6e8eb", muted="#a3abb5",
    accent="#6cb2ff", accent_text="#0b1c2e", trouble="#ff8a80", warning="#ffd479", warning_surface="#382e15",
    selection="#22405e", reserved="#78818c",
)  # fmt: skip

# The palette of Okabe and Ito (2008), "Color Universal Design": told apart by people with any colour vision.
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
BLUISH_GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
REDDISH_PURPLE = "#CC79A7"

METRIC_COLOURS: dict[str, str] = {
    "utilization_gpu": BLUE,
    "cpu": ORANGE,
    "gpu_memory": BLUISH_GREEN,
    "host_memory": REDDISH_PURPLE,
    "power": VERMILLION,
    "temperature": ORANGE,
    "temperature_memory": REDDISH_PURPLE,
    "slowed_power": VERMILLION,
    "slowed_heat": BLUE,
    "clock_sm": SKY_BLUE,
    "sm_activity": SKY_BLUE,
    "tensor_activity": VERMILLION,
    "dram_bandwidth": BLUISH_GREEN,
    "nvlink": ORANGE,
    "clock_memory": BLUISH_GREEN,
    "pcie": BLUE,
    "disk": BLUISH_GREEN,
    "iowait": SKY_BLUE,
    "memory_pressure": VERMILLION,
    "swap": BLUE,
    "network": REDDISH_PURPLE,
    "rdma": ORANGE,
    "step": BLUE,
    "parameters": BLUE,
    "gradients": ORANGE,
    "optimizer_state": BLUISH_GREEN,
    "activations": SKY_BLUE,
    "temporaries": REDDISH_PURPLE,
    "time": BLUE,
    "cost": ORANGE,
}
"""The same metric has the same colour wherever it is drawn, in light and in dark."""


def metric_colour(metric: str) -> QColor:
    """The colour of a metric named in `METRIC_COLOURS`."""
    return QColor(METRIC_COLOURS[metric])


def colours_of(widget: QWidget) -> Colours:
    """The colours that fit the palette a widget has now; ask again in `changeEvent` on `PaletteChange`."""
    return DARK if widget.palette().color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def font(size: Size, *, bold: bool = False) -> QFont:
    """The window's font in one of its three sizes, with figures of equal width."""
    result = QFont(QApplication.font())
    result.setPointSize(POINT_SIZES[size])
    result.setBold(bold)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def set_role(widget: QWidget, role: str) -> None:
    """Give a label or button one of the looks in the style sheet.

    Labels: `title` (bold), `figure` (large), `small`, `muted` (small and grey), `trouble`, `warning`,
    `flag` (a small warning).
    Buttons: `primary` (the one main action of a panel), `danger`, `large` (the empty state's actions), `compact`
    (less room around the text), `segment` (small).
    Frames: `card`, `banner`.
    """
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def is_dark(app: QApplication, mode: Mode) -> bool:
    """Whether a mode means dark now."""
    if mode is Mode.SYSTEM:
        return app.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return mode is Mode.DARK


def apply_theme(app: QApplication, mode: Mode) -> None:
    """Give the whole application its style, palette, font and style sheet; widgets get a `PaletteChange` event."""
    colours = DARK if is_dark(app, mode) else LIGHT
    if app.style().objectName() != "fusion":
        app.setStyle("Fusion")
    base = QFont(app.font())
    base.setPointSize(POINT_SIZES[Size.BODY])
    base.setFeature(QFont.Tag("tnum"), 1)
    app.setFont(base)
    app.setPalette(_palette(colours))
    app.setStyleSheet(_style_sheet(colours))


def _palette(colours: Colours) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for roles, colour in (
        ((role.Window, role.AlternateBase, role.Button), colours.window),
        ((role.Base, role.ToolTipBase), colours.surface),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.HighlightedText), colours.text),
        ((role.Highlight,), colours.selection),
        ((role.Accent, role.Link), colours.accent),
        ((role.PlaceholderText,), colours.muted),
        ((role.Mid, role.Dark), colours.border),
    ):
        for each in roles:
            palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(colours.muted))
    return palette


def _style_sheet(c: Colours) -> str:
    small, body, large = (POINT_SIZES[size] for size in (Size.SMALL, Size.BODY, Size.LARGE))
    return f"""
    QLabel[role="title"] {{ font-weight: bold; }}
    QLabel[role="figure"] {{ font-size: {large}pt; }}
    QLabel[role="small"] {{ font-size: {small}pt; }}
    QLabel[role="muted"] {{ font-size: {small}pt; color: {c.muted}; }}
    QLabel[role="trouble"] {{ color: {c.trouble}; }}
    QLabel[role="warning"] {{ color: {c.warning}; }}
    QLabel[role="flag"] {{ font-size: {small}pt; color: {c.warning}; }}
    QFrame[role="card"] {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: {RADIUS}px; }}
    QFrame[role="card"][selected="true"] {{ border: 1px solid {c.accent}; }}
    QFrame[role="banner"] {{ background: {c.warning_surface}; border: 1px solid {c.border};
                             border-radius: {RADIUS}px; }}
    QFrame[role="banner"] QLabel {{ color: {c.warning}; }}
    QPushButton {{ padding: 4px 12px; border: 1px solid {c.border}; border-radius: {RADIUS}px;
                   background: {c.surface}; color: {c.text}; }}
    QPushButton:hover {{ border-color: {c.muted}; }}
    QPushButton:focus {{ border-color: {c.accent}; }}
    QPushButton:pressed, QPushButton:checked {{ background: {c.selection}; border-color: {c.accent}; }}
    QPushButton:disabled {{ color: {c.muted}; background: {c.window}; }}
    QPushButton[role="primary"] {{ background: {c.accent}; border-color: {c.accent}; color: {c.accent_text};
                                   font-weight: bold; }}
    QPushButton[role="primary"]:focus {{ border-color: {c.text}; }}
    QPushButton[role="primary"]:disabled {{ background: {c.window}; border-color: {c.border}; color: {c.muted}; }}
    QPushButton[role="danger"] {{ color: {c.trouble}; border-color: {c.trouble}; }}
    QPushButton[role="danger"]:disabled {{ color: {c.muted}; border-color: {c.border}; }}
    QPushButton[role="large"] {{ padding: 12px 16px; font-size: {body}pt; font-weight: bold; text-align: left; }}
    QPushButton[role="compact"] {{ padding: 4px 6px; }}
    QPushButton[role="segment"] {{ padding: 2px 8px; font-size: {small}pt; }}
    QToolTip {{ background: {c.surface}; color: {c.text}; border: 1px solid {c.border}; padding: 4px;
                font-size: {body}pt; }}
    QDockWidget::title {{ padding: 4px 8px; background: {c.window}; }}
    QDockWidget {{ font-weight: bold; }}
    QMainWindow::separator {{ background: {c.window}; width: 6px; height: 6px; }}
    QMainWindow::separator:hover {{ background: {c.accent}; }}
    QHeaderView::section {{ background: {c.window}; color: {c.muted}; border: none; padding: 4px 6px;
                            border-bottom: 1px solid {c.border}; font-size: {small}pt; }}
    QHeaderView::up-arrow, QHeaderView::down-arrow {{ subcontrol-position: center left; width: 7px; height: 7px; }}
    QTableView::item {{ padding: 0 4px; }}
    QTableView {{ background: {c.surface}; gridline-color: {c.grid}; border: 1px solid {c.border};
                  selection-background-color: {c.selection}; selection-color: {c.text}; }}
    QProgressBar {{ border: 1px solid {c.border}; border-radius: {RADIUS}px; background: {c.window};
                    text-align: center; color: {c.text}; max-height: 14px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: {RADIUS}px; }}
    """
