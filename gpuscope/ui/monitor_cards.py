"""The devices of the Monitor at a glance: a card for each GPU and for the host, or a map of very many GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.device import Device, Host
from gpuscope.ui.cards import fill_gpu_card, fill_host_card, new_gpu_card, new_host_card
from gpuscope.ui.figures import device_labels
from gpuscope.ui.fleet.fleet_map import FleetMap
from gpuscope.ui.monitor_model import MonitorModel
from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.card_grid import CardGrid
from gpuscope.ui.widgets.device_card import DeviceCard

MOST_FULL_CARDS = 4
"""More GPUs than this have compact cards, so that the plots stay in sight."""
MOST_CARDS = 16
"""More GPUs than this are cells of a map."""


class MonitorCards(QWidget):
    """Cards, and the map where there are too many for cards.

    Attributes:
        gpu_cards: by UUID; none where there are so many GPUs that `fleet` shows them.
        host_card: None before a session is open.
    """

    chosen = Signal(str)
    """UUID of a GPU, or `host`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self.gpu_cards: dict[str, DeviceCard] = {}
        self.host_card: DeviceCard | None = None
        self._count = 0
        self.grid = CardGrid(self)
        self.fleet = FleetMap(self)
        self.fleet.hide()
        self.fleet.chosen.connect(self.chosen)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.grid)
        layout.addWidget(self.fleet)

    @property
    def is_fleet(self) -> bool:
        """Whether the map stands in for the cards of GPUs."""
        return self._count > MOST_CARDS

    def start(self, host: Host) -> None:
        """Another session: no GPUs are known yet."""
        self.gpu_cards, self._count = {}, 0
        self.fleet.hide()
        self.host_card = new_host_card(host, self)
        self._show_cards()

    def set_devices(self, devices: Sequence[Device]) -> None:
        """The GPUs there are."""
        self._count = len(devices)
        for card in self.gpu_cards.values():
            card.deleteLater()
        shown = [] if self.is_fleet else devices
        labels = device_labels(shown)
        self.gpu_cards = {device.uuid: new_gpu_card(device, labels[device.uuid], self) for device in shown}
        for card in self.gpu_cards.values():
            card.clicked.connect(self.chosen)
        self.fleet.set_devices(devices)
        self.fleet.setVisible(self.is_fleet)
        self._show_cards()

    def draw(self, model: MonitorModel, chosen: str | None) -> None:
        """Show the newest readings."""
        for card in self.gpu_cards.values():
            fill_gpu_card(card, model)
        if self.host_card is not None:
            fill_host_card(self.host_card, model)
        if self.is_fleet:
            self.fleet.draw(model, chosen)

    def show_choice(self, chosen: str | None) -> None:
        """Mark the GPU that the plots are about."""
        several = len(self.gpu_cards) > 1
        for uuid, card in self.gpu_cards.items():
            card.set_selected(selected=several and uuid == chosen)

    def _show_cards(self) -> None:
        host = [self.host_card] if self.host_card is not None else []
        cards = [*self.gpu_cards.values(), *host]
        for card in cards:
            card.set_compact(compact=len(self.gpu_cards) > MOST_FULL_CARDS)
        self.grid.show_cards(cards)
