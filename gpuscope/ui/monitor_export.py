"""What is seen, as a file: a picture of the plots, and the readings behind them as a table."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QPoint, QRect, QSize, Signal
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuscope.engine.session import read_session
from gpuscope.errors import GpuscopeError, ReportError
from gpuscope.report.export.readings import Stretch
from gpuscope.report.export.write import export_readings
from gpuscope.report.whole_file import new_file
from gpuscope.ui.background import Newest
from gpuscope.ui.report_export import with_suffix_of

PICTURE_SUFFIXES = (".png", ".svg")


class MonitorExport(QObject):
    """One file at a time."""

    started = Signal(str)
    """A sentence."""
    written = Signal(object)
    """Path of the file."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, window: QWidget) -> None:
        """The window is what file dialogs belong to."""
        super().__init__(window)
        self._window = window
        self._work = Newest(self)
        self._work.finished.connect(self.written)
        self._work.failed.connect(self.failed)

    def ask_for_picture(self, widget: QWidget, session: Path | None) -> None:
        """Ask for a name, and save there what a widget shows now."""
        kinds = self.tr("Picture (*.png);;Drawing (*.svg)")
        target = self._ask(self.tr("Save the plots as a picture"), session, ".png", kinds)
        if target is not None:
            self.save_picture(widget, target)

    def save_picture(self, widget: QWidget, target: Path) -> None:
        """Save what a widget shows; the name says whether as pixels (PNG) or as lines (SVG)."""
        try:
            write_picture(widget, target)
        except GpuscopeError as error:
            self.failed.emit(str(error))
        else:
            self.written.emit(target)

    def ask_for_table(self, session: Path, span: tuple[float, float]) -> None:
        """Ask for a name, and write there the readings of a stretch of session time."""
        kinds = self.tr("Table (*.csv);;Prometheus text (*.prom);;Parquet (*.parquet)")
        target = self._ask(self.tr("Export the readings that are shown"), session, ".csv", kinds)
        if target is not None:
            self.write_table(session, span, target)

    def write_table(self, session: Path, span: tuple[float, float], target: Path) -> None:
        """Write the readings beside the window; a file that is there is replaced: the dialog has asked."""
        self.started.emit(self.tr("Writing {0}…").format(target.name))
        self._work.submit(lambda: _write_table(session, span, target))

    def _ask(self, title: str, session: Path | None, suffix: str, kinds: str) -> Path | None:
        name = str(session.with_suffix(suffix)) if session is not None else f"gpuscope{suffix}"
        chosen, kind = QFileDialog.getSaveFileName(self._window, title, name, kinds)
        return with_suffix_of(Path(chosen), kind) if chosen else None


def write_picture(widget: QWidget, target: Path) -> None:
    """Save what a widget shows now.

    Raises:
        ReportError: the name ends in neither .png nor .svg, or the file cannot be written.
    """
    suffix = target.suffix.lower()
    if suffix not in PICTURE_SUFFIXES:
        raise ReportError(f"{target.name} says no kind of picture: end the name in {' or '.join(PICTURE_SUFFIXES)}.")
    data = _svg_of(widget) if suffix == ".svg" else _png_of(widget)
    with new_file(target, overwrite=True) as file:
        file.write(data)


def _png_of(widget: QWidget) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    return bytes(data.data())


def _svg_of(widget: QWidget) -> bytes:
    from PySide6.QtSvg import QSvgGenerator

    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    size: QSize = widget.size()
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle("gpuscope")
    painter = QPainter(generator)
    painter.fillRect(widget.rect(), widget.palette().color(QPalette.ColorRole.Window))
    widget.render(painter, QPoint())
    painter.end()
    return bytes(data.data())


def _write_table(session: Path, span: tuple[float, float], target: Path) -> Path:
    with read_session(session) as reader:
        export_readings(reader, target, Stretch(max(0.0, span[0]), span[1]), overwrite=True)
    return target
