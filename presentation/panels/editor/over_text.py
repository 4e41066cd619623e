"""A list below a place in a text, whose rows the arrows choose while the keyboard stays in the text."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent

from presentation.panels.editor.code_editor import CodeEditor
from presentation.ui.hit_list import Hit, HitList
from presentation.ui.workspace import WindowServices

_ROWS = 10
_CLOSING = frozenset(
    {QEvent.Type.FocusOut, QEvent.Type.Wheel, QEvent.Type.Hide, QEvent.Type.MouseButtonPress}
)


class OverText(QObject):
    """One list of one editor."""

    taken = pyqtSignal(int)
    """row; the list is closed by then"""

    def __init__(self, services: WindowServices, editor: CodeEditor, name: str, *, is_eager: bool) -> None:
        """`is_eager`: Enter takes a row that nobody chose."""
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self._name = name
        self.is_eager = is_eager
        self._was_chosen = False
        self._list: HitList | None = None
        editor.installEventFilter(self)
        viewport = editor.viewport()
        if viewport is not None:
            viewport.installEventFilter(self)

    @property
    def is_open(self) -> bool:
        return self._list is not None and self._list.isVisible()

    def close(self) -> None:
        if self._list is not None:
            self._list.hide()

    def show(self, hits: Sequence[Hit], at_byte: int) -> None:
        """Offer these below the line of a byte, above it where there is no room."""
        editor, window = self._editor, self._editor.window()
        if window is None:
            return
        if self._list is None:
            self._list = HitList(self._services, window)
            self._list.setObjectName(self._name)
            self._list.taken.connect(self._take)
            self.destroyed.connect(self._list.deleteLater)
        self._was_chosen = False
        x = editor.ask(editor.SCI_POINTXFROMPOSITION, 0, at_byte)
        y = editor.ask(editor.SCI_POINTYFROMPOSITION, 0, at_byte)
        height = editor.ask(editor.SCI_TEXTHEIGHT, 0)
        viewport = editor.viewport() or editor
        above = viewport.mapTo(window, QPoint(x, y))
        theme = self._services.theme.theme
        rows = min(len(hits), _ROWS)
        is_low = above.y() + height + rows * theme.size("row.tree") > window.height()
        self._list.offer(
            hits,
            below=None if is_low else above + QPoint(0, height),
            above=above if is_low else None,
            least_width=theme.size("pane.left_default") * 2,
            most_rows=_ROWS,
        )

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Keys of the open list; a click elsewhere puts it away."""
        if event is not None and event.type() in _CLOSING:
            self.close()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.is_open:
            return self._is_ours(event)
        return super().eventFilter(watched, event)

    def _is_ours(self, event: QKeyEvent) -> bool:
        assert self._list is not None
        key = event.key()
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._list.step(1 if key == Qt.Key.Key_Down else -1)
            self._was_chosen = True
            return True
        if key == Qt.Key.Key_Escape:
            self.close()
            return True
        is_enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if key == Qt.Key.Key_Tab or (is_enter and (self.is_eager or self._was_chosen)):
            self._take(self._list.chosen)
            return True
        if is_enter:
            self.close()
        return False

    def _take(self, row: int) -> None:
        self.close()
        self.taken.emit(row)
