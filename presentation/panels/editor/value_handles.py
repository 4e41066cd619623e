"""A bar under the number the pointer rests on: dragged, it tunes the number as its slider would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PyQt6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QApplication, QWidget

from application.groups.project import Project
from domain.circuit.quantity_at import NumberPlace, number_at
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.examination import has_title
from presentation.ui.parts import once_after
from presentation.ui.workspace import DragPhase, WindowServices
from shared.message import msg

_REST_MS = 300
_LEAVE_MS = 200
"""How long the bar waits for a pointer that is on its way from the number to it."""
_BAR = 4
_AREA = 8
"""Height of what can be taken, in pixels: the bar and some room below it."""
_LEAST_WIDTH = 14
_STILL = 3
"""Pixels that a click may go astray."""
_WHOLE = 200
"""Pixels for the whole length of the slider."""
_Hold = Literal["free", "taken", "pulled", "given up", "text"]
"""What a hand has of the bar; "text": all it does is handed on."""
_ENDING = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.Wheel,
        QEvent.Type.FocusOut,
        QEvent.Type.Hide,
        QEvent.Type.Resize,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseButtonDblClick,
    }
)


class ValueHandle(QWidget):
    """The bar. It lies over the window: the text may go out of sight while it is held."""

    pulled = pyqtSignal(float, str)
    """share of the slider's length from where it was taken, what the hand does (`DragPhase`)"""
    passed = pyqtSignal()
    """The pointer is on it, or not any more."""

    def __init__(self, services: WindowServices, below: QWidget, window: QWidget) -> None:
        """`below`: the text, which gets all that is no pull along the bar."""
        super().__init__(window)
        self._services = services
        self._below = below
        self._hold: _Hold = "free"
        self._taken: QMouseEvent | None = None
        self._share = 0.0
        self.has_pointer = False
        self.setObjectName("valueHandle")
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setMouseTracking(True)
        self.hide()

    @property
    def is_held(self) -> bool:
        """A button is down that was pressed on it."""
        return self._hold != "free"

    def show_under(self, number: QRect) -> None:
        """Show it at a number; `number` is the part of its place in the viewport that is seen."""
        services, window = self._services, self.window()
        key = services.shortcuts.shown("editor.tune")
        tip = msg("Drag to tune; {key}", key=key) if key else msg("Drag to tune")
        self.setToolTip(services.language(tip))
        self.setAccessibleName(services.language(tip))
        at = self._below.mapTo(window, QPoint(number.left(), number.bottom() + 1 - _BAR // 2))
        self.setGeometry(QRect(at.x(), at.y(), max(number.width(), _LEAST_WIDTH), _AREA))
        self.show()
        self.raise_()

    def enterEvent(self, event: QEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        self._pass(event, is_in=True)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        self._pass(event, is_in=False)

    def _pass(self, _event: QEvent | None, *, is_in: bool) -> None:
        self.has_pointer = is_in
        self.passed.emit()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Take it; with a key that is held, or another button, the press is the text's."""
        if event is None or self.is_held:
            return
        is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if is_plain and event.button() == Qt.MouseButton.LeftButton:
            self._hold, self._taken = "taken", event.clone()
        else:
            self._hold = "text"
            self._hand_on(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Along the bar it is a pull, across it a selection of text."""
        if event is None:
            return
        if self.is_held and event.buttons() == Qt.MouseButton.NoButton:
            self.hide()  # it was let go where nobody was told
        if self._hold == "taken" and self._taken is not None:
            way = event.globalPosition() - self._taken.globalPosition()
            if max(abs(way.x()), abs(way.y())) <= _STILL:
                return
            if abs(way.x()) >= abs(way.y()):
                self._begin()
            else:
                self._hold = "text"
                self._hand_on(self._taken)
        if self._hold == "pulled":
            self._share = self._share_at(event)
            self.pulled.emit(self._share, "held")
        elif self._hold == "text":
            self._hand_on(event)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Let go; where nothing was dragged it was a click, which is the text's."""
        if event is None or not self.is_held:
            return
        if self._hold == "pulled":
            self._share = self._share_at(event)
        elif self._hold == "taken" and self._taken is not None:
            self._hand_on(self._taken)
        if self._hold in ("taken", "text"):
            self._hand_on(event)
        self.hide()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """While it is pulled no key means anything but Escape."""
        if event is not None and event.key() == Qt.Key.Key_Escape and self._hold == "pulled":
            self._hold = "given up"
            self.releaseKeyboard()
            self.pulled.emit(0.0, "given up")

    def wheelEvent(self, event: QWheelEvent | None) -> None:  # noqa: N802 - Qt's name
        """The text's."""
        if event is not None and not self.is_held:
            self.hide()
            at = QPointF(self._below.mapFromGlobal(event.globalPosition()))
            turned = QWheelEvent(
                at, event.globalPosition(), event.pixelDelta(), event.angleDelta(), event.buttons(),
                event.modifiers(), event.phase(), event.inverted(),
            )  # fmt: skip
            QApplication.sendEvent(self._below, turned)

    def hideEvent(self, event: QHideEvent | None) -> None:  # noqa: N802 - Qt's name
        """Whatever takes it from the hand, the slider is let go where it is."""
        super().hideEvent(event)
        was, self._hold, self._taken, self.has_pointer = self._hold, "free", None, False
        if was == "pulled":
            self.releaseKeyboard()
            self.pulled.emit(self._share, "let go")

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """The text's."""
        if event is not None:
            at, everywhere = self._below.mapFromGlobal(event.globalPos()), event.globalPos()
            self.hide()
            QApplication.sendEvent(self._below, QContextMenuEvent(event.reason(), at, everywhere))

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The bar; nothing while it is pulled: the page of the sliders is before the text then."""
        if self._hold in ("free", "taken"):
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._services.theme.theme.color("accent.base"))
            painter.drawRoundedRect(QRectF(0, 0, self.width(), _BAR), _BAR / 2, _BAR / 2)

    def _begin(self) -> None:
        """The keyboard comes along, wherever the focus goes: Escape ends the pull and nothing else."""
        self._hold = "pulled"
        self.update()
        self.grabKeyboard()
        self.pulled.emit(0.0, "taken")

    def _share_at(self, event: QMouseEvent) -> float:
        assert self._taken is not None
        way = event.globalPosition().x() - self._taken.globalPosition().x()
        return way / (_WHOLE * self._services.theme.theme.scale)

    def _hand_on(self, event: QMouseEvent) -> None:
        """To the text, which takes the keyboard with a press as when it is clicked."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self._below.setFocus(Qt.FocusReason.MouseFocusReason)
        everywhere = event.globalPosition()
        place = QPointF(self._below.mapFromGlobal(everywhere))
        handed = QMouseEvent(
            event.type(), place, everywhere, event.button(), event.buttons(), event.modifiers()
        )
        QApplication.sendEvent(self._below, handed)


class ValueHandles(QObject):
    """Shows the bar in one editor, where a number stands that tuning can change."""

    def __init__(
        self, services: WindowServices, editor: CodeEditor, project: Project, file: Callable[[], Path]
    ) -> None:
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self._project = project
        self._file = file
        self._handle: ValueHandle | None = None
        self._pointer = QPoint()
        self._area = QRect()
        """Of the number and the bar, in the viewport."""
        self._meant: tuple[Path, str] | None = None
        self._request = 0
        self._resting = once_after(self, _REST_MS, self._on_rested)
        self._leaving = once_after(self, _LEAVE_MS, self._drop)
        editor.installEventFilter(self)
        viewport = editor.viewport()
        if viewport is not None:
            viewport.installEventFilter(self)
        editor.edited.connect(self._drop)
        for bar in (editor.verticalScrollBar(), editor.horizontalScrollBar()):
            if bar is not None:
                bar.valueChanged.connect(self._drop)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """The bar goes with the next key and when the pointer goes away."""
        if event is not None and event.type() in _ENDING:
            self._drop()
        elif event is not None and event.type() == QEvent.Type.Leave:
            self._leave()
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            self._on_moved(event)
        return super().eventFilter(watched, event)

    def _on_moved(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.buttons() != Qt.MouseButton.NoButton:
            self._drop()
        elif self._is_shown and self._area.contains(place):
            self._leaving.stop()
        else:
            self._drop()
            self._pointer = place
            self._resting.start()

    @property
    def _is_shown(self) -> bool:
        return self._handle is not None and self._handle.isVisible()

    def _drop(self, _value: object = None) -> None:
        """Nothing is shown or looked for; a bar that is held stays in the hand."""
        self._request += 1
        self._resting.stop()
        self._leaving.stop()
        if self._handle is not None and not self._handle.is_held:
            self._handle.hide()

    def _leave(self) -> None:
        self._resting.stop()
        if self._is_shown:
            self._leaving.start()
        else:
            self._request += 1

    def _on_passed(self) -> None:
        if self._handle is not None and self._handle.has_pointer:
            self._leaving.stop()
        elif self._is_shown:
            self._leaving.start()

    def _on_rested(self) -> None:
        editor = self._editor
        start, end = editor.selected_bytes()
        if start == end and not editor.isReadOnly() and editor.isEnabled():
            self._services.start(self._look(self._pointer, self._request), kind="look up value")

    async def _look(self, pointer: QPoint, request: int) -> None:
        editor, file = self._editor, self._file()
        offset = editor.ask(editor.SCI_POSITIONFROMPOINTCLOSE, pointer.x(), pointer.y())
        if offset < 0:
            return
        titled = has_title(file)
        number = await asyncio.to_thread(number_at, editor.data(), offset, has_title=titled)
        if number is None or not await self._can_be_tuned(file) or request != self._request:
            return
        place = self._place_of(number)
        if place.adjusted(-1, 0, 1, 0).contains(pointer):
            self._show(file, number, place)

    async def _can_be_tuned(self, file: Path) -> bool:
        """Whether the file is a circuit of the project that can be simulated by itself."""
        root = self._services.workspace.root
        if root is None or not file.is_relative_to(root):
            return False
        found = await self._project.browse.runnable(root, file)
        return found is not None and found.has_analysis

    def _place_of(self, number: NumberPlace) -> QRect:
        """What is seen of it in the viewport beside the margins; nothing of a line whose foot is not seen."""
        editor = self._editor
        viewport = editor.viewport()
        left, right = (
            editor.ask(editor.SCI_POINTXFROMPOSITION, 0, each) for each in (number.start, number.end)
        )
        top = editor.ask(editor.SCI_POINTYFROMPOSITION, 0, number.start)
        height = editor.ask(editor.SCI_TEXTHEIGHT, editor.line_of(number.start))
        whole = QRect(left, top, right - left, height)
        seen = QRect() if viewport is None else viewport.rect().adjusted(editor.margins_width(), 0, 0, 0)
        return whole & seen if whole.bottom() <= seen.bottom() else QRect()

    def _show(self, file: Path, number: NumberPlace, place: QRect) -> None:
        window, viewport = self._editor.window(), self._editor.viewport()
        if window is None or viewport is None:
            return
        if self._handle is None:
            self._handle = ValueHandle(self._services, viewport, window)
            self._handle.passed.connect(self._on_passed)
            self._handle.pulled.connect(self._on_pulled)
            self.destroyed.connect(self._handle.deleteLater)
        self._meant = file, number.name
        self._area = place.adjusted(-1, 0, _LEAST_WIDTH, _AREA)
        self._handle.show_under(place)

    def _on_pulled(self, share: float, phase: DragPhase) -> None:
        """The page of the sliders comes as with the key."""
        if self._meant is not None:
            self._services.workspace.value_dragged.emit(*self._meant, share, phase)
            if phase == "taken":
                self._services.workspace.studies_wanted.emit(self._meant[0], "tune", self._meant[1])
