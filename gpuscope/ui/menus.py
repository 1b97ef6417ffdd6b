"""Menus and keys of the window: what a person does most is one key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gpuscope.ui.help import explain_under_pointer
from gpuscope.ui.theme import Mode

if TYPE_CHECKING:
    from gpuscope.ui.main_window import MainWindow

translate = QCoreApplication.translate

ZOOM_STEP = 0.6
MOVE_STEP = 0.25
"""Share of the stretch of time that is shown."""


@dataclass(frozen=True, slots=True)
class SessionActions:
    """The actions that are only there for some sessions."""

    save: QAction
    report: QAction
    stop: QAction


class _Menus:
    """Creates the actions of a window; their texts, keys and what they call are given one by one."""

    def __init__(self, window: QMainWindow) -> None:
        """The actions become children of the window."""
        self._window = window

    def menu(self, title: str) -> QMenu:
        """A new menu in the menu bar."""
        return self._window.menuBar().addMenu(title)

    def action(
        self,
        menu: QMenu,
        text: str,
        called: Callable[[], object],
        key: str | QKeySequence.StandardKey = "",
    ) -> QAction:
        """A new entry that calls a function."""
        action = QAction(text, self._window)
        if key:
            action.setShortcut(QKeySequence(key))
        action.triggered.connect(lambda _checked=False: called())
        menu.addAction(action)
        return action

    def modes(self, menu: QMenu, current: Mode, chosen: Callable[[Mode], None]) -> QActionGroup:
        """The three looks, of which one is checked."""
        group = QActionGroup(self._window)
        for mode, text in (
            (Mode.SYSTEM, translate("Menus", "As the &system")),
            (Mode.LIGHT, translate("Menus", "Li&ght")),
            (Mode.DARK, translate("Menus", "&Dark")),
        ):
            action = QAction(text, self._window)
            action.setCheckable(True)
            action.setChecked(mode is current)
            action.setData(mode.value)
            action.triggered.connect(lambda _checked=False, mode=mode: chosen(mode))
            group.addAction(action)
            menu.addAction(action)
        return group


def create_menus(window: MainWindow) -> SessionActions:
    """Fill the window's menu bar."""
    menus = _Menus(window)
    session = menus.menu(translate("Menus", "&Session"))
    menus.action(session, translate("Menus", "&Open…"), window.open_dialog, QKeySequence.StandardKey.Open)
    menus.action(session, translate("Menus", "&Import a log…"), window.log_import.ask, "Ctrl+I")
    cluster = translate("Menus", "&Machines of a Prometheus server…")
    menus.action(session, cluster, window.cluster.show, "Ctrl+Shift+M")
    save = menus.action(
        session, translate("Menus", "&Save a copy…"), window.save_copy_dialog, QKeySequence.StandardKey.Save
    )
    report = menus.action(session, translate("Menus", "Export the &report…"), window.export_report, "F9")
    menus.action(session, translate("Menus", "&Live view"), window.show_live, "Ctrl+L")
    session.addSeparator()
    menus.action(session, translate("Menus", "&Quit"), window.close, QKeySequence.StandardKey.Quit)
    run = menus.menu(translate("Menus", "&Run"))
    menus.action(run, translate("Menus", "&Run"), window.run_panel.run, "F5")
    stop = menus.action(run, translate("Menus", "&Stop"), window.session.stop_run, "F6")
    _fill_advisor(menus, window)
    _fill_view(menus, window)
    help_menu = menus.menu(translate("Menus", "&Help"))
    menus.action(help_menu, translate("Menus", "What is this?"), partial(explain_under_pointer, window), "F1")
    menus.action(help_menu, translate("Menus", "&About gpuscope"), window.show_about)
    return SessionActions(save, report, stop)


def _fill_advisor(menus: _Menus, window: MainWindow) -> None:
    menu = menus.menu(translate("Menus", "Advis&or"))
    menus.action(menu, translate("Menus", "&Advisor alone, or with the others"), window.advice.toggle_alone, "F3")
    menu.addSeparator()
    menus.action(menu, translate("Menus", "&Type in a model"), window.advice.show_estimate, "Ctrl+T")
    menus.action(menu, translate("Menus", "Advise on several &jobs"), window.advice.show_jobs, "Ctrl+J")
    menu.addSeparator()
    menus.action(menu, translate("Menus", "&How good are the predictions?"), window.advice.show_validation, "Ctrl+H")
    menus.action(menu, translate("Menus", "&Out of memory: why?"), window.advice.show_out_of_memory, "Ctrl+M")


def _fill_view(menus: _Menus, window: MainWindow) -> None:
    view, monitor, keys = menus.menu(translate("Menus", "&View")), window.monitor_panel, QKeySequence.StandardKey
    menus.action(view, translate("Menus", "&Pause or go on"), monitor.toggle_pause, "F7")
    menus.action(view, translate("Menus", "&Next GPU"), monitor.next_device, "F8")
    menus.action(view, translate("Menus", "&Zoom to the steady state"), window.zoom_to_steady, "F4")
    menus.action(view, translate("Menus", "Zoom &in"), partial(monitor.zoom, ZOOM_STEP), keys.ZoomIn)
    menus.action(view, translate("Menus", "Zoom &out"), partial(monitor.zoom, 1 / ZOOM_STEP), keys.ZoomOut)
    menus.action(view, translate("Menus", "&Earlier"), partial(monitor.go, -MOVE_STEP), "Alt+Left")
    menus.action(view, translate("Menus", "&Later"), partial(monitor.go, MOVE_STEP), "Alt+Right")
    menus.action(view, translate("Menus", "&Back to now"), monitor.reset_zoom, "Esc")
    view.addSeparator()
    _fill_monitor(menus, view, window)
    view.addSeparator()
    view.addActions(window.panels.toggle_actions())
    view.addSeparator()
    menus.modes(view, window.settings.mode, window.set_mode)


def _fill_monitor(menus: _Menus, view: QMenu, window: MainWindow) -> None:
    actions = window.monitoring
    menus.action(view, translate("Menus", "GPU and host in dept&h"), window.monitor_panel.toggle_depth, "Ctrl+D")
    menus.action(view, translate("Menus", "&Topology…"), actions.show_topology, "Ctrl+Shift+T")
    menus.action(view, translate("Menus", "Set a &marker…"), actions.set_marker, "Ctrl+B")
    menus.action(view, translate("Menus", "Next ma&rker"), actions.next_marker, "Alt+Down")
    menus.action(view, translate("Menus", "Pre&vious marker"), actions.previous_marker, "Alt+Up")
    menus.action(view, translate("Menus", "Save the plots as a picture…"), actions.save_picture, "Ctrl+Shift+P")
    menus.action(view, translate("Menus", "E&xport the readings shown…"), actions.export_table, "Ctrl+Shift+E")
