"""Menus and keys of the window: what a person does most is one key."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gpuscope.ui.theme import Mode


class Menus:
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
        translate = QCoreApplication.translate
        group = QActionGroup(self._window)
        for mode, text in (
            (Mode.SYSTEM, translate("Menus", "As the &system")),
            (Mode.LIGHT, translate("Menus", "&Light")),
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
