"""What the window remembers between starts: one ini file in the state folder."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings

from gpuscope import paths
from gpuscope.ui.theme import Mode


class WindowSettings:
    """Geometry, panels, theme and the like; a damaged entry counts as not there."""

    def __init__(self) -> None:
        """Opens `window.ini` in the state folder."""
        self._settings = QSettings(str(paths.state_dir() / "window.ini"), QSettings.Format.IniFormat)

    @property
    def mode(self) -> Mode:
        """Light, dark or as the system."""
        value = self._settings.value("theme")
        return Mode(value) if value in {mode.value for mode in Mode} else Mode.SYSTEM

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._settings.setValue("theme", mode.value)

    def bytes(self, key: str) -> QByteArray | None:
        """A remembered geometry or layout."""
        value = self._settings.value(key)
        return value if isinstance(value, QByteArray) else None

    def set_bytes(self, key: str, value: QByteArray) -> None:
        """Remember a geometry or layout."""
        self._settings.setValue(key, value)

    def text(self, key: str, default: str = "") -> str:
        """A remembered text, such as the last folder."""
        value = self._settings.value(key)
        return value if isinstance(value, str) else default

    def set_text(self, key: str, value: str) -> None:
        """Remember a text."""
        self._settings.setValue(key, value)

    def flush(self) -> None:
        """Write the file now."""
        self._settings.sync()
