"""Python's cycle collector at moments when it harms no widget.

Left to itself it runs wherever memory is asked for: in a thread beside the window's, or in the middle of a paint event.
A widget that is garbage by then would be destroyed there, which ends the whole process.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 500


class GarbageCollection(QObject):
    """Takes the collector's place from its creation on: collects in the window's thread, between two events."""

    def __init__(self, parent: QObject) -> None:
        """Switch the collector off and look after it from now on."""
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.collect_if_due)
        self._timer.start()

    def collect_if_due(self) -> None:
        """Collect the oldest generation whose time has come by the collector's own thresholds."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                gc.collect(generation)
                return
