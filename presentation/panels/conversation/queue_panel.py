"""The messages that wait, above the input: changed, put in another order, removed, sent now."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QEvent, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from presentation.panels.conversation.composer import MessageEdit
from presentation.panels.conversation.queue import MessageQueue, QueuedMessage
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

_MOST_ROWS = 4
"""In sight; the others are scrolled to."""


class QueuePanel(QFrame):
    """Shown only while something waits; it tells the queue what is to be done."""

    send_now = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._queue: MessageQueue | None = None
        self._shown: object = None
        self._is_running = self._is_asking = False
        self.setObjectName("messageQueue")
        mark_area(self, surface="sunken")
        self._icon = QLabel()
        self._count, self._how = QLabel(), ElidedLabel()
        self._count.setObjectName("queueCount")
        self._how.setObjectName("queueHow")
        mark(self._how, role="small")
        self._send = QPushButton()
        self._send.setObjectName("queueSendNow")
        mark(self._send, kind="quiet")
        self._send.clicked.connect(self.send_now)
        self._head = arrange(QHBoxLayout(), self._icon, self._count, (self._how, 1), self._send)
        self._rows = QVBoxLayout()
        inside = QWidget()
        inside.setLayout(arrange(self._rows, edges=0, gap=0))
        self._scroll = QScrollArea()
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keys
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(inside)
        self._all = arrange(QVBoxLayout(self), self._head, self._scroll, edges=0, gap=0)
        self.hide()

    def show_queue(self, queue: MessageQueue, *, is_running: bool, is_asking: bool = False) -> None:
        """What waits, as it is now; a row that is being edited is left alone."""
        self._queue, self._is_running, self._is_asking = queue, is_running, is_asking
        self.setVisible(bool(queue.entries))
        state = (queue.entries, queue.edited)
        if state != self._shown:
            self._shown = state
            self._make_rows()
        self._say()

    def _make_rows(self) -> None:
        queue = self._queue
        assert queue is not None
        while (item := self._rows.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for number, entry in enumerate(queue.entries):
            if entry.key == queue.edited:
                self._rows.addWidget(editor := _EditedRow(self._services, queue, entry, number + 1))
                editor.show()
                editor.edit.setFocus()
            else:
                row = _Row(self._services, queue, entry, number=number + 1, of=len(queue.entries))
                self._rows.addWidget(row)
                row.show()  # at once, and not with the next turn of the loop
        self._fit()

    def _say(self) -> None:
        queue, language = self._queue, self._services.language
        if queue is None or not queue.entries:
            return
        self._count.setText(language(msg("{count} waiting", count=len(queue.entries))))
        if queue.edited:
            how = msg("nothing is sent while one is edited")
        elif queue.is_held and not self._is_running:
            how = msg("wait because the answer ended with an error")
        elif self._is_asking:
            how = msg("sent when this ends; it waits for your decision")
        else:
            how = msg("sent one by one when this ends")
        self._how.setText(language(how))
        self._send.setText(language(msg("Send first now") if self._is_running else msg("Send now")))
        self._send.setToolTip(
            language(msg("Stops the answer, keeps what came of it, and sends the first message"))
            if self._is_running
            else ""
        )

    def _fit(self) -> None:
        rows = (self._rows.itemAt(number) for number in range(min(self._rows.count(), _MOST_ROWS)))
        widgets = (row.widget() for row in rows if row is not None)
        self._scroll.setFixedHeight(sum(widget.minimumHeight() for widget in widgets if widget is not None))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        side, gap = theme.size("icon.small"), theme.size("space.2")
        self._head.setContentsMargins(gap, theme.size("space.1"), theme.size("space.1"), 0)
        self._head.setSpacing(gap)
        icon = self._services.icons.get("clock", "text.secondary", side)
        self._icon.setPixmap(icon.pixmap(QSize(side, side), self.devicePixelRatioF()))
        self._count.setFont(theme.font("small", weight=600))
        self._how.setFont(theme.font("small"))
        self._shown = None
        if self._queue is not None:
            self.show_queue(self._queue, is_running=self._is_running, is_asking=self._is_asking)

    def retranslate(self) -> None:
        self._say()


class _Row(QWidget):
    """One that waits."""

    def __init__(
        self, services: WindowServices, queue: MessageQueue, entry: QueuedMessage, *, number: int, of: int
    ) -> None:
        super().__init__()
        theme = services.theme.theme
        self.setObjectName(f"queued{number}")
        grip = _Grip(lambda by: queue.move(entry.key, by))
        text = ElidedLabel()
        text.setObjectName("queuedText")
        text.setFont(theme.font("small"))
        line = " ".join(entry.text.split())
        text.setText(f"{number}  {line}")
        text.setToolTip(entry.text)
        parts: list[QWidget | tuple[QWidget, int]] = [grip, (text, 1)]
        if entry.attached:
            count = QLabel(services.language(msg("{count} {count:file|files}", count=len(entry.attached))))
            mark(count, role="small")
            parts.append(count)
        for icon, label, act, is_on in (
            ("arrow-up", msg("Send earlier"), lambda: queue.move(entry.key, -1), number > 1),
            ("arrow-down", msg("Send later"), lambda: queue.move(entry.key, 1), number < of),
            ("pencil", msg("Edit queued message"), lambda: queue.edit(entry.key), True),
            ("x", msg("Discard queued message"), lambda: queue.remove(entry.key), True),
        ):
            button = IconButton(services, icon, label)
            button.setEnabled(is_on)
            button.clicked.connect(lambda _=False, act=act: act())
            parts.append(button)
        gap = theme.size("space.1")
        row = arrange(QHBoxLayout(self), *parts, edges=(gap, 0, gap, 0), gap=0)
        row.insertSpacing(1, gap)  # else the number stands in the grip
        self.setFixedHeight(theme.size("row.menu"))


class _EditedRow(QWidget):
    """One that is being changed: Enter keeps it, Esc leaves it as it was."""

    def __init__(
        self, services: WindowServices, queue: MessageQueue, entry: QueuedMessage, number: int
    ) -> None:
        super().__init__()
        theme = services.theme.theme
        self.setObjectName(f"queued{number}")
        self.edit = _Edit(lambda: queue.edit(""))
        self.edit.setPlainText(entry.text)
        self.edit.setAccessibleName(services.language(msg("Edit queued message")))
        keep = QPushButton(services.language(msg("Keep")))
        keep.setObjectName("queueKeep")
        for signal in (self.edit.submitted, keep.clicked):
            signal.connect(lambda *_: queue.keep(entry.key, self.edit.toPlainText()))
        gap = theme.size("space.1")
        arrange(
            QHBoxLayout(self),
            QLabel(f" {number} "),
            (self.edit, 1),
            keep,
            edges=(gap, gap, gap, gap),
            gap=gap,
        )
        self.setFixedHeight(3 * theme.size("row.menu"))


class _Edit(MessageEdit):
    def __init__(self, leave: Callable[[], None]) -> None:
        super().__init__()
        self._leave = leave
        self.setObjectName("queuedEdit")

    def event(self, event: QEvent | None) -> bool:
        """Esc is ours: elsewhere in the panel it stops the answer."""
        asks = event.type() == QEvent.Type.ShortcutOverride if event is not None else False
        if asks and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(event)


class _Grip(QLabel):
    """Drops its row where it is let go."""

    def __init__(self, move: Callable[[int], None]) -> None:
        super().__init__("⠿")
        self._move = move
        self._from = 0.0
        mark(self, role="secondary")
        self.setCursor(Qt.CursorShape.SizeVerCursor)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None:
            self._from = event.globalPosition().y()

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        row = self.parentWidget()
        if event is not None and row is not None:
            rows = round((event.globalPosition().y() - self._from) / max(row.height(), 1))
            if rows:
                self._move(rows)
