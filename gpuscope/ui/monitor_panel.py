"""The Monitor: what the machine does, live or recorded; cards, plots over one time axis, processes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from gpuscope.domain.run import Manifest
from gpuscope.engine.follow import Update
from gpuscope.ui.background import Newest
from gpuscope.ui.cards import fill_gpu_card, fill_host_card, new_gpu_card, new_host_card
from gpuscope.ui.details import Details
from gpuscope.ui.figures import device_labels, number_ranges
from gpuscope.ui.fleet.fleet_map import FleetMap
from gpuscope.ui.monitor_bar import MonitorBar
from gpuscope.ui.monitor_model import MonitorModel
from gpuscope.ui.monitor_plots import MonitorPlots
from gpuscope.ui.process_table import ProcessTable
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.time_view import TimeView
from gpuscope.ui.widgets.card_grid import CardGrid
from gpuscope.ui.widgets.device_card import DeviceCard

REDRAW_INTERVAL_MS = 100
MOST_FULL_CARDS = 4
"""More GPUs than this have compact cards, so that the plots stay in sight."""
MOST_CARDS = 16
"""More GPUs than this are cells of a map."""
MOST_PALE_CURVES = 32
"""Of more GPUs the plots show the chosen one alone: nobody could tell their curves apart."""


class MonitorPanel(QWidget):
    """Redraws at most ten times a second, only when something changed and somebody can see it.

    Attributes:
        redraws: how often it has drawn; for tests and the self-test.
        view: the stretch of time that is shown.
        model: what is known of the session.
        chosen: UUID of the GPU that the plots are about.
        gpu_cards: by UUID; none where there are so many GPUs that `fleet` shows them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self.redraws = 0
        self.view = TimeView()
        self.model: MonitorModel | None = None
        self.chosen: str | None = None
        self._cursor: float | None = None
        self._drawn_span = (0.0, 1.0)
        self._dirty = False
        self._loading = False
        self._host_card: DeviceCard | None = None
        self.gpu_cards: dict[str, DeviceCard] = {}
        self._uuids: list[str] = []
        self.bar = MonitorBar(self)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.problem, "warning")
        self.problem.hide()
        self.cards = CardGrid(self)
        self.fleet = FleetMap(self)
        self.fleet.hide()
        self.plots = MonitorPlots(self)
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
        self.gpu_cards, self._uuids = {}, []
        self.fleet.hide()
        self._host_card = new_host_card(manifest.host, self)
        self._show_cards()
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

    # -- drawing -----------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Draw from now on."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: draw nothing."""
        super().hideEvent(event)
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        """Other colours: also what does not change otherwise is drawn again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_dirty"):
            self._mark()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Rest while the window is minimised."""
        if event.type() == QEvent.Type.WindowStateChange and watched is self.window():
            if self.window().isMinimized():
                self._timer.stop()
            elif self.isVisible():
                self._timer.start()
        return False

    def redraw(self) -> None:
        """Draw now."""
        if self.model is None:
            return
        self._dirty = False
        self.redraws += 1
        for card in self.gpu_cards.values():
            fill_gpu_card(card, self.model)
        if self._host_card is not None:
            fill_host_card(self._host_card, self.model)
        if self._is_fleet():
            self.fleet.draw(self.model, self.chosen)
        self._show_problem()
        self._drawn_span = start_s, end_s = self.view.span(self.model.end_s)
        cursor_s = None if self._cursor is None else start_s + self._cursor * (end_s - start_s)
        self.plots.draw(self.model, self._drawn_span, cursor_s)
        self._ask_for_detail()
        self.bar.show_view(self.view, self.model.end_s, cursor_s)
        processes = [(process, self._places(uuids)) for process, uuids in self.model.processes()]
        self.processes.processes.show_processes(processes)
        self.processes.setVisible(bool(processes))

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

    def _places(self, uuids: list[str]) -> str:
        found = [device for device in self.model.devices if device.uuid in uuids] if self.model else []
        labels = device_labels(self.model.devices) if self.model else {}
        instances = [labels[device.uuid] for device in found if device.kind == "mig"]
        gpus = number_ranges([device.index for device in found if device.kind != "mig"])
        return ", ".join([*([gpus] if gpus else []), *instances])

    # -- devices -----------------------------------------------------------------------------------------------

    def _is_fleet(self) -> bool:
        return len(self._uuids) > MOST_CARDS

    def _take_devices(self) -> None:
        if self.model is None:
            return
        uuids = [device.uuid for device in self.model.devices]
        if uuids != self._uuids:
            self._uuids = uuids
            self._make_cards(self.model)
            self.fleet.set_devices(self.model.devices)
            self.fleet.setVisible(self._is_fleet())
            if self.chosen not in uuids:
                self.chosen = next(iter(uuids), None)
            self._show_cards()
        self._show_choice()

    def _make_cards(self, model: MonitorModel) -> None:
        for card in self.gpu_cards.values():
            card.deleteLater()
        shown = [] if self._is_fleet() else model.devices
        labels = device_labels(shown)
        self.gpu_cards = {device.uuid: new_gpu_card(device, labels[device.uuid], self) for device in shown}
        for card in self.gpu_cards.values():
            card.clicked.connect(self.choose)

    def _show_cards(self) -> None:
        host = [self._host_card] if self._host_card is not None else []
        cards = [*self.gpu_cards.values(), *host]
        for card in cards:
            card.set_compact(compact=len(self.gpu_cards) > MOST_FULL_CARDS)
        self.cards.show_cards(cards)
        self._show_choice()

    def _show_choice(self) -> None:
        if self.model is None:
            return
        several = len(self.gpu_cards) > 1
        for uuid, card in self.gpu_cards.items():
            card.set_selected(selected=several and uuid == self.chosen)
        device = next((device for device in self.model.devices if device.uuid == self.chosen), None)
        gpu_memory = device.memory_total_bytes if device is not None else None
        host_memory = self.model.host.memory_total_bytes
        compared = self._uuids if len(self._uuids) <= MOST_PALE_CURVES else []
        self.plots.set_devices(compared, self.chosen, gpu_memory, host_memory)

    # -- construction ------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.fleet.chosen.connect(self.choose)
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
        content = QWidget()
        inside = QVBoxLayout(content)
        inside.setContentsMargins(0, 0, GRID // 2, 0)
        inside.setSpacing(GRID)
        inside.addWidget(self.cards)
        inside.addWidget(self.fleet)
        inside.addWidget(self.plots, 1)
        inside.addWidget(self.processes)
        scroll = QScrollArea(self)
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
