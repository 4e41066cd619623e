"""Python's cyclic garbage is collected on the window's thread only.

Python collects on whichever thread happens to allocate, as one that imports a library does. Qt's objects that
lie in a cycle (graphics items, pixmaps, rows of lists) would be destroyed there, beside the thread that draws
them: Qt's classes for the screen are to be used on one thread alone (Qt's page "Thread Support in GUI
Modules"), anything else is a fault now and then.
"""

from __future__ import annotations

import gc

from PyQt6.QtCore import QObject, QTimer

LOOK_MS = 500
"""So often it is looked whether there is something to collect."""


class GarbageCollector(QObject):
    """Collects in place of Python, by Python's own thresholds, from now until `end`."""

    def __init__(self) -> None:
        super().__init__()
        self._was_python_collecting = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation that is due, and with it the younger ones."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation] > 0:
                gc.collect(generation)
                return

    def end(self) -> None:
        """Collect no more; Python does again if it did before.

        Where the window is the program (`application.run`) it did not, and does not to the last moment: while
        the loop waits for the end of the pool's threads, those work on, and the widgets are still there.
        """
        self._timer.stop()
        if self._was_python_collecting:
            gc.enable()
