"""The Monitor: what the machine does, live or recorded; cards, plots over one time axis, figures, processes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from gpuscope.domain.host_capacity import HostCapacity
from gpuscope.domain.run import Manifest
from gpuscope.engine.follow import Update
from gpuscope.ui.background import Newest
from gpuscope.ui.details import Details
from gpuscope.ui.figures import device_labels, gpu_places
from gpuscope.ui.monitor_bar import MonitorBar
from gpuscope.ui.monitor_cards import MonitorCards
from gpuscope.ui.monitor_depth import DepthSection
from gpuscope.ui.monitor_marker_strip import MarkerStrip
from gpuscope.ui.monitor_model import MonitorModel
from gpuscope.ui.monitor_plots import MonitorPlots
from gpuscope.ui.process_table import ProcessTable
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.time_view import TimeView

REDRAW_INTERVAL_MS = 100
MOST_PALE_CURVES = 32
"""Of more GPUs the plots show the chosen one alone: nobody could tell their curves apart."""


class MonitorPanel(QWidget):
    """Redraws at most ten times a second, only when something changed and somebody can see it.

    Attributes:
        redraws: how often it has drawn; for tests and the self-test.
        view: the stretch of time that is shown.
        model: what is known of the session.
        chosen: UUID of the GPU that the plots are about.
        pictured: the plots and their markers: what is saved as a picture.
        watched: whether somebody can see it.
    """

    window_shown = Signal(bool)
    """The window is there again, or was minimised."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self.redraws = 0
        self.watched = False
        self.view = TimeView()
        self.model: MonitorModel | None = None
        self.chosen: str | None = None
        self._cursor: float | None = None
        self._drawn_span = (0.0, 1.0)
        self._dirty = False
        self._loading = False
        self._uuids: list[str] = []
        self._capacity: HostCapacity | None = None
        self.bar = MonitorBar(self)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.problem, "warning")
        self.problem.hide()
        self.cards = MonitorCards(self)
        self.pictured = QWidget(self)
        self.strip = MarkerStrip(self)
        self.plots = MonitorPlots(self)
        self.in_depth = DepthSection(self)
        self.processes = ProcessTable(self)
        self._details = Newest(self)
        self._details.finished.connect(self._take_detail)
        self._timer = QTimer(self)
        self._timer.setInterval(REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._redraw_if_needed)
        self._lay_out()
        self._connect()

    # -- the session -------------------------------------------------------------------------------------------

    def on_session_opened(self, manifest: Manifest) -> None:
        """Start over for another session."""
        self._details.forget()
        self.model = MonitorModel(manifest)
        self.view = TimeView()
        self.chosen, self._cursor, self._loading = None, None, True
        self._uuids, self._capacity = [], None
        self.in_depth.forget()
        self.cards.start(manifest.host)
        self._show_choice()
        self._mark()

    def on_update(self, update: Update) -> None:
        """Take in what is new; it is drawn with the next tick."""
        if self.model is None:
            return
        changed = self.model.take(update)
        if update.devices is not None:
            self._take_devices()
        if changed:
            self._mark()

    def on_loaded(self) -> None:
        """Everything that the file held when it was opened is in: draw from now on."""
        self._loading = False
        self._mark()

    def on_session_ended(self) -> None:
        """No more will come: show the whole of it, unless the person chose a part."""
        if not self.view.zoomed and not self.view.paused:
            self.view.window_s = None
        self._mark()

    # -- what the person does ----------------------------------------------------------------------------------

    def toggle_pause(self) -> None:
        """Hold the plots still, or let them move again."""
        if self.view.paused:
            self.view.resume()
        elif self.model is not None:
            self.view.pause(self.model.end_s)
        self._mark()

    def reset_zoom(self) -> None:
        """Back to the newest, moving."""
        self.view.resume()
        self._mark()

    def zoom_to(self, start_s: float, end_s: float) -> None:
        """Show this stretch of session time."""
        self.view.zoom_to(start_s, end_s)
        self._mark()

    def set_window(self, seconds: float | None) -> None:
        """Show the newest so many seconds, or everything."""
        self.view.window_s = seconds
        self.view.reset_zoom()
        self._mark()

    def zoom(self, factor: float) -> None:
        """Show less (factor below 1) or more time around the middle."""
        if self.model is not None:
            self.view.scale(factor, self.model.end_s)
            self._mark()

    def go(self, share: float) -> None:
        """Go back (negative) or on by a share of what is shown."""
        if self.model is not None:
            self.view.move(share, self.model.end_s)
            self._mark()

    def next_device(self) -> None:
        """Let the plots be about the next GPU."""
        if self._uuids:
            place = self._uuids.index(self.chosen) if self.chosen in self._uuids else -1
            self.choose(self._uuids[(place + 1) % len(self._uuids)])

    def choose(self, key: str) -> None:
        """Let the plots be about this GPU."""
        if key in self._uuids:
            self.chosen = key
            self._show_choice()
            self._mark()

    def toggle_depth(self) -> None:
        """Unfold the figures in depth and go there, or fold them."""
        self.in_depth.set_open(not self.in_depth.is_open)
        if self.in_depth.is_open:
            self.redraw()
            QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(self.in_depth))

    def marked_moment_s(self) -> float:
        """Session time of the cursor; where there is none, of the newest reading that is shown."""
        start_s, end_s = self._drawn_span
        if self._cursor is not None:
            return start_s + self._cursor * (end_s - start_s)
        return min(end_s, self.model.end_s) if self.model is not None else end_s

    def refresh(self) -> None:
        """Draw with the next tick, although no reading is new."""
        self._mark()

    @property
    def shown_span(self) -> tuple[float, float]:
        """Session times of the left and right edge of the plots."""
        return self._drawn_span

    # -- drawing -----------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Draw from now on."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._set_watched(watched=True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: draw nothing."""
        super().hideEvent(event)
        self._set_watched(watched=False)

    def changeEvent(self, event: QEvent) -> None:
        """Other colours: also what does not change otherwise is drawn again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_dirty"):
            self._mark()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Rest while the window is minimised."""
        if event.type() == QEvent.Type.WindowStateChange and watched is self.window():
            minimised = self.window().isMinimized()
            self._set_watched(watched=self.isVisible() and not minimised)
            self.window_shown.emit(not minimised)
        return False

    def _set_watched(self, *, watched: bool) -> None:
        if watched == self.watched:
            return
        self.watched = watched
        if watched:
            self._timer.start()
        else:
            self._timer.stop()

    def redraw(self) -> None:
        """Draw now."""
        if self.model is None:
            return
        self._dirty = False
        self.redraws += 1
        self.cards.draw(self.model, self.chosen)
        self._show_problem()
        self._follow_capacity(self.model)
        self._drawn_span = start_s, end_s = self.view.span(self.model.end_s)
        cursor_s = None if self._cursor is None else start_s + self._cursor * (end_s - start_s)
        markers = self.model.markers.between(start_s, end_s)
        self.strip.show_markers(markers, self._drawn_span, device_labels(self.model.devices))
        self.plots.draw(self.model, self._drawn_span, cursor_s, [marker.t for marker in markers])
        self.in_depth.draw(self.model, self.chosen)
        self._ask_for_detail()
        self.bar.show_view(self.view, self.model.end_s, cursor_s)
        processes = [(process, gpu_places(self.model.devices, uuids)) for process, uuids in self.model.processes()]
        self.processes.processes.show_processes(processes)
        self.processes.setVisible(bool(processes))

    def _follow_capacity(self, model: MonitorModel) -> None:
        """A container's limits may become known, or change, while it is watched: they are the ends of axes."""
        capacity = model.capacity()
        before, self._capacity = self._capacity, capacity
        if before is None or _limits_of(before) != _limits_of(capacity):
            self._show_choice()

    def _ask_for_detail(self) -> None:
        """Where the plots could show more of the past than is in memory, read it beside the window."""
        read = self.model.detail_wanted() if self.model is not None else None
        if read is not None:
            self._details.submit(read)

    def _take_detail(self, details: Details) -> None:
        if self.model is not None:
            self.model.take_detail(details)
            self._mark()

    def _redraw_if_needed(self) -> None:
        if self._dirty and not self._loading:
            self.redraw()

    def _mark(self) -> None:
        self._dirty = True

    def _show_problem(self) -> None:
        sentence = self.model.gpu_problem() if self.model is not None else ""
        if sentence != self.problem.text():
            self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    # -- devices -----------------------------------------------------------------------------------------------

    def _take_devices(self) -> None:
        if self.model is None:
            return
        uuids = [device.uuid for device in self.model.devices]
        if uuids != self._uuids:
            self._uuids = uuids
            self.cards.set_devices(self.model.devices)
            if self.chosen not in uuids:
                self.chosen = next(iter(uuids), None)
        self._show_choice()

    def _show_choice(self) -> None:
        if self.model is None:
            return
        self.cards.show_choice(self.chosen)
        device = next((device for device in self.model.devices if device.uuid == self.chosen), None)
        labels = device_labels(self.model.devices)
        self.in_depth.set_summary(
            self.tr("{0} and the host").format(labels[device.uuid]) if device is not None else self.tr("the host")
        )
        compared = self._uuids if len(self._uuids) <= MOST_PALE_CURVES else []
        self.plots.set_devices(compared, device, self._capacity)

    # -- construction ------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.cards.chosen.connect(self.choose)
        self.in_depth.toggled.connect(self._mark)
        self.bar.window_chosen.connect(self.set_window)
        self.bar.pause_toggled.connect(self.toggle_pause)
        self.bar.reset_requested.connect(self.reset_zoom)
        self.plots.moved.connect(self.go)
        self.plots.scaled.connect(self._on_scaled)
        self.plots.reset_requested.connect(self.reset_zoom)
        self.plots.cursor_moved.connect(self._on_cursor_moved)

    def _on_scaled(self, factor: float, centre_s: float) -> None:
        if self.model is not None:
            self.view.scale(factor, self.model.end_s, centre_s)
            self._mark()

    def _on_cursor_moved(self, t: float | None) -> None:
        start_s, end_s = self._drawn_span
        # A share of the width, not a time: the cursor stays under the pointer while time goes on.
        cursor = None if t is None else (t - start_s) / (end_s - start_s)
        if cursor != self._cursor:
            self._cursor = cursor
            self._mark()

    def _lay_out(self) -> None:
        pictured = QVBoxLayout(self.pictured)
        pictured.setContentsMargins(0, 0, 0, 0)
        pictured.setSpacing(0)
        pictured.addWidget(self.strip)
        pictured.addWidget(self.plots, 1)
        content = QWidget()
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, GRID // 2, 0)
        inside.setSpacing(GRID)
        inside.addWidget(self.cards)
        inside.addWidget(self.pictured, 1)
        inside.addWidget(self.in_depth)
        inside.addWidget(self.processes)
        self._scroll = scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.setSpacing(GRID)
        layout.addWidget(self.bar)
        layout.addWidget(self.problem)
        layout.addWidget(scroll, 1)


def _limits_of(capacity: HostCapacity) -> tuple[object, ...]:
    """What of it the plots' axes and lines depend on."""
    cpus = capacity.cpus if capacity.cpus_are_limited else None
    return capacity.memory_total_bytes, capacity.memory_is_limited, cpus
