"""The map of many GPUs in the Monitor."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent, QTextDocument
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gpuscope.domain.device import Device, Host
from gpuscope.domain.run import CLUSTER, Manifest
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.engine.follow import Update
from gpuscope.ui.fleet.heat_map import Block, Cell, HeatMap
from gpuscope.ui.monitor_cards import MOST_CARDS
from gpuscope.ui.monitor_panel import MonitorPanel
from gpuscope.ui.theme import Mode, apply_theme

HOSTS, GPUS = 6, 8
DEVICES = [
    Device(uuid=f"{host}-{gpu}", index=gpu, name="NVIDIA H100", hostname=f"node{host}")
    for host in range(HOSTS)
    for gpu in range(GPUS)
]


@pytest.fixture
def panel(qtbot: QtBot) -> MonitorPanel:
    """A cluster in which node4's first GPU is idle and node5's last says nothing."""
    manifest = Manifest(
        session_id="1", kind=CLUSTER, created_wall_s=0.0, created_monotonic_s=0.0, gpuscope_version="0",
        host=Host(hostname="http://prometheus:9090", os="unknown"), interval_s=15.0,
    )  # fmt: skip
    values: dict[str, float | None] = {device.uuid: 90.0 + device.index for device in DEVICES}
    values |= {"4-0": 0.0, "5-7": None}
    samples = tuple(GpuSample(uuid=uuid, utilization_gpu_percent=value) for uuid, value in values.items())
    apply_theme(QApplication.instance(), Mode.LIGHT)
    panel = MonitorPanel()
    qtbot.addWidget(panel)
    panel.resize(900, 900)
    panel.on_session_opened(manifest)
    panel.on_update(Update(frames=[Frame(monotonic_s=1.0, wall_s=1.0, gpus=samples)], devices=DEVICES))
    panel.on_loaded()
    panel.show()
    panel.redraw()
    return panel


def _colour(map_: HeatMap, key: str) -> QColor:
    centre = map_.place_of(key).center()
    return map_.grab().toImage().pixelColor(centre + QPoint(2, 2))


def test_many_gpus_are_cells_not_cards(panel: MonitorPanel) -> None:
    assert len(DEVICES) > MOST_CARDS
    assert panel.cards.gpu_cards == {}
    assert panel.cards.fleet.isVisible()
    assert all(not panel.cards.fleet.map.place_of(device.uuid).isEmpty() for device in DEVICES)


def test_the_machine_that_stands_out_is_on_top(panel: MonitorPanel) -> None:
    tops = {device.uuid: panel.cards.fleet.map.place_of(device.uuid).top() for device in DEVICES}
    assert tops["4-0"] == min(tops.values())
    assert panel.cards.fleet.map.place_of("4-0").left() <= panel.cards.fleet.map.place_of("5-0").left()


def test_colours_tell_busy_idle_and_unknown_apart(panel: MonitorPanel) -> None:
    busy, idle, unknown = (_colour(panel.cards.fleet.map, key) for key in ("3-7", "4-0", "5-7"))
    assert busy.lightness() < idle.lightness()  # on a light surface
    assert len({busy.name(), idle.name(), unknown.name()}) == 3


def test_the_mouse_and_the_keys_choose_a_gpu(panel: MonitorPanel, qtbot: QtBot) -> None:
    map_ = panel.cards.fleet.map
    qtbot.mouseClick(map_, Qt.MouseButton.LeftButton, pos=map_.place_of("2-3").center())
    assert panel.chosen == "2-3"
    panel.redraw()
    qtbot.keyClick(map_, Qt.Key.Key_Right)
    assert panel.chosen == "2-4"
    panel.redraw()
    qtbot.keyClick(map_, Qt.Key.Key_Left)
    assert panel.chosen == "2-3"
    panel.next_device()
    assert panel.chosen == "2-4"


def test_a_few_gpus_have_cards_again(panel: MonitorPanel) -> None:
    panel.on_update(Update(devices=DEVICES[:2]))
    assert list(panel.cards.gpu_cards) == ["0-0", "0-1"]
    assert not panel.cards.fleet.isVisible()


def test_names_from_other_machines_are_no_markup(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: shown.append(text))
    map_ = HeatMap(QColor("blue"))
    qtbot.addWidget(map_)
    hostile = "<img src=x><b>node</b>\n100 %"
    map_.show_blocks([Block(hostile, (Cell("a", 0.5, hostile),))], None)
    place = map_.place_of("a").center()
    QApplication.sendEvent(map_, QHelpEvent(QEvent.Type.ToolTip, place, map_.mapToGlobal(place)))
    document = QTextDocument()
    document.setHtml(shown[0])
    assert document.toPlainText() == hostile


@pytest.mark.parametrize("width", [1, 150, 400, 5000])
def test_every_cell_has_a_place_of_its_own_at_any_width(qtbot: QtBot, width: int) -> None:
    map_ = HeatMap(QColor("blue"))
    qtbot.addWidget(map_)
    blocks = [
        Block(str(number), tuple(Cell(f"{number}-{place}", None, "") for place in range(number)))
        for number in range(12)
    ]
    map_.show_blocks(blocks, None)
    map_.resize(width, 100)
    height = map_.heightForWidth(width)
    places = [map_.place_of(cell.key) for block in blocks for cell in block.cells]
    assert all(not one.intersects(other) for number, one in enumerate(places) for other in places[:number])
    assert max(place.bottom() for place in places) < height
