"""The Monitor shows what the session holds, gaps as gaps, and draws only when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.engine.follow import Follower, Update
from gpuscope.ui.monitor_panel import REDRAW_INTERVAL_MS, MonitorPanel
from gpuscope.ui.theme import DARK, LIGHT, Mode, apply_theme
from tests.ui import sessions

GPU_CURVE = "gpu:utilization_gpu_percent"


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[MonitorPanel]:
    apply_theme(QApplication.instance(), Mode.LIGHT)
    made = MonitorPanel()
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    return made


def _fill(panel: MonitorPanel, path: Path, **session: object) -> None:
    follower = Follower(sessions.write_session(path, **session))  # type: ignore[arg-type]  # arguments by name
    panel.on_session_opened(follower.manifest)
    panel.on_update(follower.poll())
    panel.on_loaded()
    follower.close()
    panel.redraw()


def _settle(qtbot: QtBot) -> None:
    qtbot.wait(3 * REDRAW_INTERVAL_MS)


def test_hardware_counters_are_curves_where_the_chip_has_them(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=2, gpus=2)
    shown = panel.plots._values("utilization", panel.model, None)
    assert not any("tensor" in key for key in shown)  # of a chip without them nothing is said
    counted = GpuSample(uuid=sessions.uuid_of(0), tensor_activity_percent=41.0, nvlink_rx_bytes_per_s=9e9)
    frame = Frame(monotonic_s=sessions.ZERO_S + 3, wall_s=sessions.WALL_S + 3, gpus=(counted,))
    panel.on_update(Update(frames=[frame]))
    panel.redraw()
    assert panel.plots._values("utilization", panel.model, None)["gpu:tensor_activity_percent"].number == "41"
    assert "gpu:nvlink_rx_bytes_per_s" in panel.plots._values("bandwidth", panel.model, None)


def test_cards_show_the_newest_readings(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=20, gpus=2)
    card = panel.cards.gpu_cards[sessions.uuid_of(0)]
    last = sessions.frame(200, gpus=2)
    assert last.gpus is not None
    assert card.busy.plain_text() == f"{last.gpus[0].utilization_gpu_percent:.0f} %"
    assert card.memory.plain_text().endswith("of 80 GiB")
    assert "the driver keeps 614 MiB for itself" in card.memory.toolTip()
    assert card.details["clock"].plain_text() in {"1,980 MHz", "1,845 MHz"}
    assert "700 W" in card.details["power"].toolTip()
    assert card.name.toolTip() == f"NVIDIA H100 80GB HBM3\n{sessions.uuid_of(0)}"


def test_a_figure_that_is_not_there_is_a_dash_with_its_reason(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=2)
    lost = GpuSample(
        uuid=sessions.uuid_of(0),
        utilization_gpu_percent=0.0,
        unavailable={"power_w": Reason.NOT_SUPPORTED, "memory_used_bytes": Reason.NO_PERMISSION},
    )
    panel.on_update(Update(frames=[Frame(monotonic_s=sessions.ZERO_S + 2.1, wall_s=0.0, gpus=(lost,))]))
    panel.redraw()
    card = panel.cards.gpu_cards[sessions.uuid_of(0)]
    assert card.busy.plain_text() == "0 %"
    assert card.details["power"].plain_text() == "–"
    assert card.details["power"].toolTip() == REASON_SENTENCES[Reason.NOT_SUPPORTED]
    assert card.memory.plain_text() == "–"


def test_old_readings_are_not_shown_as_the_present(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=2)
    later = sessions.frame(400, gpus=0)
    panel.on_update(Update(frames=[later]))
    panel.redraw()
    busy = panel.cards.gpu_cards[sessions.uuid_of(0)].busy
    assert busy.plain_text() == "–"
    assert "0:02" in busy.toolTip()


def test_a_gap_is_drawn_as_a_gap(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=40, gap=(20, 25))
    t, values = panel.plots.plots["utilization"].points(GPU_CURVE)
    missing = t[np.isnan(values)]
    assert len(missing) == 1
    assert 20 < missing[0] < 25
    assert not ((t > 20.1) & (t < 24.9) & ~np.isnan(values)).any()


def test_the_values_are_those_of_the_session(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=20)
    panel.zoom_to(5.0, 8.0)
    panel.redraw()
    t, values = panel.plots.plots["power"].points("gpu:power_w")
    for moment, value in zip(t, values, strict=True):
        gpus = sessions.frame(round(moment * 10)).gpus
        assert gpus is not None
        assert value == pytest.approx(gpus[0].power_w)


def test_all_plots_share_one_stretch_of_time(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=90)
    panel.plots.plots["host"].scaled.emit(0.5, 60.0)
    panel.redraw()
    spans = {plot.view_span() for plot in panel.plots.plots.values()}
    assert spans == {(45.0, 75.0)}
    panel.plots.plots["power"].moved.emit(0.1)
    panel.redraw()
    assert panel.plots.plots["memory"].view_span() == pytest.approx((48.0, 78.0))
    panel.plots.plots["memory"].reset_requested.emit()
    panel.redraw()
    assert panel.plots.plots["host"].view_span() == pytest.approx((30.0, 90.0))


def test_ctrl_and_the_wheel_zoom_and_the_plain_wheel_does_not(
    panel: MonitorPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=90)
    canvas = panel.plots.plots["utilization"].canvas
    middle = QPointF(canvas.width() / 2, canvas.height() / 2)

    def turn(keys: Qt.KeyboardModifier) -> None:
        event = QWheelEvent(
            middle, canvas.mapToGlobal(middle), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, keys,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(canvas.viewport(), event)

    turn(Qt.KeyboardModifier.NoModifier)
    assert not panel.view.zoomed
    turn(Qt.KeyboardModifier.ControlModifier)
    assert panel.view.zoomed
    start, end = panel.view.span(0.0)
    assert end - start == pytest.approx(60 * 0.8)


def test_the_cursor_shows_every_value_at_its_moment(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=40)
    panel.plots.plots["host"].cursor_moved.emit(12.34)
    panel.redraw()
    at = sessions.frame(123).gpus
    assert at is not None
    assert f"{at[0].utilization_gpu_percent:.0f}" in panel.plots.plots["utilization"].values.text()
    assert f"{at[0].power_w:.0f}" in panel.plots.plots["power"].values.text()
    assert panel.bar.moment.text() == "at 0:12"
    panel.plots.plots["host"].cursor_moved.emit(None)
    panel.redraw()
    assert panel.bar.moment.text() == ""


def test_the_cursor_stays_under_the_pointer_while_time_goes_on(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=70)
    panel.plots.plots["host"].cursor_moved.emit(25.0)
    panel.redraw()
    assert panel.bar.moment.text() == "at 0:25"
    panel.on_update(Update(frames=[sessions.frame(number) for number in range(701, 801)]))
    panel.redraw()
    assert panel.bar.moment.text() == "at 0:35"


def test_the_time_before_a_session_is_not_called_its_start(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=40)
    panel.plots.plots["host"].cursor_moved.emit(-5.0)
    panel.redraw()
    assert panel.bar.moment.text() == "before the session"


def test_pause_holds_the_view_while_time_goes_on(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=70)
    panel.toggle_pause()
    panel.on_update(Update(frames=[sessions.frame(number) for number in range(701, 801)]))
    panel.redraw()
    assert panel.plots.plots["host"].view_span() == pytest.approx((10.0, 70.0))
    assert panel.bar.moment.text() == "paused"
    panel.toggle_pause()
    panel.redraw()
    assert panel.plots.plots["host"].view_span() == pytest.approx((20.0, 80.0))


def test_every_window_can_be_chosen(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=70)
    for seconds, button in panel.bar.windows.items():
        button.click()
        panel.redraw()
        start, end = panel.plots.plots["host"].view_span()
        assert end == pytest.approx(70.0)
        assert end - start == pytest.approx(seconds or 70.0)
        assert button.isChecked()


def test_nothing_is_drawn_when_nothing_changed_or_nobody_looks(
    panel: MonitorPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5)
    _settle(qtbot)
    drawn = panel.redraws
    _settle(qtbot)
    assert panel.redraws == drawn
    panel.on_update(Update(frames=[sessions.frame(51)]))
    qtbot.waitUntil(lambda: panel.redraws == drawn + 1)
    panel.hide()
    panel.on_update(Update(frames=[sessions.frame(52)]))
    _settle(qtbot)
    assert panel.redraws == drawn + 1
    panel.show()
    qtbot.waitUntil(lambda: panel.redraws == drawn + 2)
    panel.showMinimized()
    panel.on_update(Update(frames=[sessions.frame(53)]))
    _settle(qtbot)
    assert panel.redraws == drawn + 2
    panel.showNormal()
    qtbot.waitUntil(lambda: panel.redraws == drawn + 3)


def test_the_next_gpu_becomes_the_subject_and_the_others_pale(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=20, gpus=3)
    assert panel.chosen == sessions.uuid_of(0)
    panel.next_device()
    assert panel.chosen == sessions.uuid_of(1)
    panel.redraw()
    styles = panel.plots.plots["power"].styles
    assert [style.key for style in styles if style.faint] == [
        f"{sessions.uuid_of(0)}:power_w",
        f"{sessions.uuid_of(2)}:power_w",
    ]
    _, values = panel.plots.plots["power"].points("gpu:power_w")
    at = sessions.frame(200, gpus=3).gpus
    assert at is not None
    assert values[-1] == pytest.approx(at[1].power_w)
    panel.cards.gpu_cards[sessions.uuid_of(2)].clicked.emit(sessions.uuid_of(2))
    assert panel.chosen == sessions.uuid_of(2)
    panel.next_device()
    assert panel.chosen == sessions.uuid_of(0)


def test_without_a_gpu_its_plots_are_gone_and_the_host_stays(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=20, gpus=0, run=False)
    assert panel.problem.isVisible()
    shown = [name for name, plot in panel.plots.plots.items() if plot.isVisible()]
    assert shown == ["utilization", "disks", "host"]
    t, _ = panel.plots.plots["host"].points("host:cpu_percent")
    assert len(t) == 21
    assert panel.processes.processes.rowCount() == 0


def test_the_values_change_colour_with_the_mode_although_nothing_is_new(
    panel: MonitorPanel, tmp_path: Path, qtbot: QtBot
) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5)
    values = panel.plots.plots["host"].values
    assert LIGHT.muted in values.text()
    apply_theme(QApplication.instance(), Mode.DARK)
    qtbot.waitUntil(lambda: DARK.muted in values.text() and LIGHT.muted not in values.text())


def test_tab_leaves_the_table_of_processes(panel: MonitorPanel, tmp_path: Path, qtbot: QtBot) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.processes.setFocus()
    assert panel.processes.hasFocus()
    qtbot.keyClick(panel.processes, Qt.Key.Key_Tab)
    assert not panel.processes.hasFocus()


def test_all_processes_are_in_sight_and_columns_without_room_are_hidden(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5)
    table = panel.processes
    for width in (420, 520, 800, 1400):
        panel.resize(width, 900)
        QApplication.processEvents()
        shown = [column for column in range(table.model().columnCount()) if not table.isColumnHidden(column)]
        assert {0, 1} <= set(shown)
        assert sum(table.columnWidth(column) for column in shown) <= table.viewport().width()
        assert table.viewport().height() >= table.rowHeight(0)
    assert len(shown) == table.model().columnCount()


def test_processes_of_the_gpus_and_of_the_run_are_one_list(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5, gpus=2)
    model = panel.processes.model()
    rows = [[model.index(row, column).data() for column in range(model.columnCount())] for row in range(3)]
    assert rows[0][:6] == ["4242", "python3", "me", "0, 1", "122 GiB", "182 %"]
    assert [row[0] for row in rows] == ["4242", "977", "4301"]
    assert rows[2][4] == "–"


def test_steps_are_ticks_at_their_times(panel: MonitorPanel, tmp_path: Path) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=10)
    panel.zoom_to(2.0, 4.0)
    panel.redraw()
    assert panel.model is not None
    times = panel.model.step_times(2.0, 4.0)
    assert times == pytest.approx(2.0 + 0.12 * np.arange(1, 17))


def test_a_long_session_is_drawn_in_little_time(panel: MonitorPanel, tmp_path: Path) -> None:
    panel.on_session_opened(sessions.manifest())
    for start in range(0, 20_000, 500):
        devices = list(sessions.devices(1)) if start == 0 else None
        frames = [sessions.frame(number) for number in range(start, start + 500)]
        panel.on_update(Update(frames=frames, devices=devices))
    panel.set_window(None)
    panel.redraw()
    plot = panel.plots.plots["utilization"]
    t, values = plot.points(GPU_CURVE)
    assert len(t) <= 3 * (plot.columns + 2)
    assert t[0] == 0.0
    assert t[-1] == pytest.approx(1999.9, abs=2000 / plot.columns)
    assert np.nanmax(values) == pytest.approx(panel.model.between(sessions.uuid_of(0), GPU_CURVE[4:], 0, 2000)[1].max())


def test_many_gpus_have_compact_cards_in_few_rows(panel: MonitorPanel, tmp_path: Path, qtbot: QtBot) -> None:
    _fill(panel, tmp_path / "a.gpuscope", seconds=5, gpus=8)
    qtbot.wait(REDRAW_INTERVAL_MS)
    card = panel.cards.gpu_cards[sessions.uuid_of(7)]
    assert card.busy.isVisible()
    assert not card.details["power"].isVisible()
    assert "of 80 GiB" in card.memory_bar.toolTip()
    rows = {each.y() for each in panel.cards.gpu_cards.values()}
    assert len(rows) <= 3
    _fill(panel, tmp_path / "b.gpuscope", seconds=5, gpus=2)
    assert panel.cards.gpu_cards[sessions.uuid_of(0)].details["power"].isVisible()
