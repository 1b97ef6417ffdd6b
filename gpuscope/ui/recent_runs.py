"""The sessions made lately: open one again, or run it again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QStyle, QStyledItemDelegate, QWidget
from PySide6.QtWidgets import QStyleOptionViewItem as Option

from gpuscope.engine.registry import SessionSummary
from gpuscope.store.reader import SessionState
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.range_delegate import Index
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.session_header import state_text
from gpuscope.ui.theme import GRID, Size
from gpuscope.ui.titles import short_title

_SUMMARY = Qt.ItemDataRole.UserRole
ROW_HEIGHT = 5 * GRID


class RecentRuns(QListWidget):
    """Newest first; Return or a double click opens, the context menu also runs again."""

    open_requested = Signal(object)
    """Path of a session."""
    again_requested = Signal(object)
    """Path of a session whose settings are to be filled in."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_sessions`."""
        super().__init__(parent)
        self.setAccessibleName(self.tr("Recent sessions"))
        self.setItemDelegate(_RowDelegate(self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemActivated.connect(lambda item: self.open_requested.emit(item.data(_SUMMARY).path))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)

    def show_sessions(self, sessions: list[SessionSummary]) -> None:
        """Replace the list; the same session stays chosen."""
        chosen = self.chosen_path()
        self.clear()
        for summary in sessions:
            item = QListWidgetItem(summary.title)
            item.setData(_SUMMARY, summary)
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, note(summary))
            item.setToolTip(as_plain(f"{summary.title}\n{note(summary)}\n{summary.path}"))
            self.addItem(item)
            if summary.path == chosen:
                self.setCurrentItem(item)

    def chosen_path(self) -> Path | None:
        """The session that is chosen."""
        summary = self._chosen()
        return None if summary is None else summary.path

    def chosen_is_run(self) -> bool:
        """Whether the chosen session was a run, and so can be run again."""
        summary = self._chosen()
        return summary is not None and summary.kind == "run"

    def paintEvent(self, event: QPaintEvent) -> None:
        """While there are none, say what will be here."""
        super().paintEvent(event)
        if self.count():
            return
        painter = QPainter(self.viewport())
        painter.setFont(theme.font(Size.SMALL))
        painter.setPen(QColor(theme.colours_of(self).muted))
        box = self.viewport().rect().adjusted(GRID, GRID, -GRID, -GRID)
        flags = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(box, flags, self.tr("Runs and recordings appear here, to be opened or run again."))

    def _chosen(self) -> SessionSummary | None:
        item = self.currentItem()
        summary: SessionSummary | None = None if item is None else item.data(_SUMMARY)
        return summary

    def _show_menu(self, position: QPoint) -> None:
        path = self.chosen_path()
        if path is None:
            return
        menu = QMenu(self)
        menu.addAction(self.tr("&Open"), lambda: self.open_requested.emit(path))
        if self.chosen_is_run():
            menu.addAction(self.tr("Fill in its &settings"), lambda: self.again_requested.emit(path))
        menu.exec(self.viewport().mapToGlobal(position))
        menu.deleteLater()


def note(summary: SessionSummary, now: datetime | None = None) -> str:
    """`today 14:05 · running`: when it began and what it is."""
    translate = QCoreApplication.translate
    now = now or datetime.now().astimezone()
    began = datetime.fromtimestamp(summary.created_wall_s, tz=now.tzinfo)
    days = (now.date() - began.date()).days
    if days == 0:
        when = translate("RecentRuns", "today {0}").format(f"{began:%H:%M}")
    elif days == 1:
        when = translate("RecentRuns", "yesterday {0}").format(f"{began:%H:%M}")
    else:
        when = f"{began:%Y-%m-%d %H:%M}"
    parts = [when]
    if summary.kind != "run":
        parts.append(translate("RecentRuns", "recording"))
    if summary.state is SessionState.LIVE:
        parts.append(translate("RecentRuns", "still going on"))
    elif summary.state is SessionState.INTERRUPTED:
        parts.append(translate("RecentRuns", "interrupted"))
    elif summary.outcome is not None and summary.kind == "run":
        parts.append(state_text(summary.outcome.value))
    return " · ".join(parts)


class _RowDelegate(QStyledItemDelegate):
    """A title over a small grey line."""

    def sizeHint(self, option: Option, index: Index) -> QSize:  # noqa: ARG002 - Qt's signature
        return QSize(10 * GRID, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: Option, index: Index) -> None:
        summary: SessionSummary = index.data(_SUMMARY)
        colours = theme.colours_of(option.widget) if isinstance(option.widget, QWidget) else theme.LIGHT
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        box = option.rect.adjusted(GRID, 4, -GRID, -4)
        upper = box.adjusted(0, 0, 0, -box.height() * 45 // 100)
        lower = box.adjusted(0, box.height() * 55 // 100, 0, 0)
        for size, colour, area, text in (
            (Size.BODY, colours.text, upper, short_title(summary.title)),
            (Size.SMALL, colours.muted, lower, note(summary)),
        ):
            painter.setFont(theme.font(size))
            painter.setPen(QColor(colour))
            shown = QFontMetrics(theme.font(size)).elidedText(text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
