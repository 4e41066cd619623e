"""Pointing at a drawing to plot: what a press, a drag and a click on it mean, and how the pointer looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject, QPointF, Qt, QTimer
from PyQt6.QtGui import QCursor
from PyQt6.QtWidgets import QApplication

from presentation.panels.schematic.hit import Hit
from presentation.ui.signals import Signal, signal
from presentation.ui.workspace import Probed

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from presentation.ui.workspace import WindowServices

_POWER = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
_ICONS = {"voltage": "pipette", "current": "magnet", "power": "thermometer"}
_PIXELS = 20


class Drawn(Protocol):
    """What the drawing tells of itself."""

    @property
    def widget(self) -> QWidget: ...
    def hit(self, at: QPointF) -> Hit: ...
    def is_subcircuit(self, element: str) -> bool: ...
    def update(self) -> None: ...


class Pointing(QObject):
    """Of one drawing. Nothing is plotted while `is_on` is false."""

    probed: Signal[str, str, Probed] = signal(str, str, str)
    """element, net, what of it"""
    compared: Signal[str, str] = signal(str, str)
    """a net, and the one its voltage is measured against"""

    def __init__(self, services: WindowServices, drawn: Drawn) -> None:
        super().__init__(drawn.widget)
        self._services, self._drawn = services, drawn
        self.is_on = False
        self.start = ""
        """The net a difference begins at."""
        self.line: tuple[QPointF, QPointF] | None = None
        """From where it was begun to the pointer."""
        self._meant: tuple[str, Probed] | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._plot_element)

    def press(self, at: QPointF) -> bool:
        """Whether a difference may begin here; else the drawing is moved."""
        if self.start:  # begun from the menu: this click ends it
            return True
        net = self._drawn.hit(at).net
        if self.is_on and net:
            self.begin(net, at)
        return bool(self.start)

    def begin(self, net: str, at: QPointF) -> None:
        """Begin a difference at a net."""
        self.start, self.line = net, (at, at)

    def move(self, at: QPointF) -> None:
        """The pointer is elsewhere while a difference is drawn."""
        if self.line is not None:
            self.line = (self.line[0], at)
            self._drawn.update()

    def release(self, at: QPointF) -> None:
        """The other net, if one is there."""
        begun, net = self.start, self._drawn.hit(at).net
        self.drop()
        if net and net != begun:
            self.compared.emit(begun, net)

    def drop(self) -> bool:
        """No difference after all; whether there was one."""
        had = bool(self.start)
        self.start, self.line = "", None
        self._drawn.update()
        return had

    def click(self, hit: Hit, held: Qt.KeyboardModifier) -> None:
        """Plot what was clicked. An element waits whether a second click follows, which goes to its value."""
        if not self.is_on:
            return
        wants_power = bool(held & _POWER)
        if hit.net:
            self.probed.emit("", hit.net, "voltage")
        elif hit.element and (wants_power or not self._drawn.is_subcircuit(hit.element)):
            self._meant = (hit.element, "power" if wants_power else "current")
            self._later.start(QApplication.doubleClickInterval())

    def click_twice(self, hit: Hit) -> bool:
        """A second click: only this net is plotted. False where it means something else."""
        self._later.stop()
        if not self.is_on or not hit.net:
            return False
        self.probed.emit("", hit.net, "alone")
        return True

    def _plot_element(self) -> None:
        if self._meant is not None:
            element, what = self._meant
            self._meant = None
            self.probed.emit(element, "", what)

    def cursor(self, hit: Hit, held: Qt.KeyboardModifier) -> QCursor:
        """How the pointer looks over something: a probe, a clamp, a thermometer where a click plots."""
        if not (hit.net or hit.element):
            return QCursor(Qt.CursorShape.ArrowCursor)
        is_box = bool(hit.element) and self._drawn.is_subcircuit(hit.element) and not held & _POWER
        if not self.is_on or is_box:
            return QCursor(Qt.CursorShape.PointingHandCursor)
        what = "voltage" if hit.net else "power" if held & _POWER else "current"
        ratio = self._drawn.widget.devicePixelRatioF()
        picture = self._services.icons.pixmap(_ICONS[what], "text.primary", _PIXELS, ratio=ratio)
        # The probe's tip, the clamp's jaw, the thermometer's bulb.
        tip = {"voltage": (2, 18), "current": (10, 3), "power": (10, 17)}[what]
        return QCursor(picture, *tip)
