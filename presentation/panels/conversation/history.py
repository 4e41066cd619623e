"""The stored conversations of the project: open one, or delete it after a second click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QModelIndex, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from presentation.panels.conversation.html_view import clock_time
from presentation.panels.conversation.stored import title_of
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from application.ports import SessionInfo

_INFO = Qt.ItemDataRole.UserRole


class HistoryDialog(QDialog):
    """Emits `opened` and `deleted` with a session's id."""

    opened = pyqtSignal(str)
    deleted = pyqtSignal(str)

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._infos: tuple[SessionInfo, ...] = ()
        self._asks = ""
        """Id of the session whose deletion waits for a second click."""
        self.setObjectName("historyDialog")
        self.search = QLineEdit()
        self.search.setObjectName("historySearch")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._fill)
        self.list = QListWidget()
        self.list.setObjectName("historyList")
        self.list.setItemDelegate(_TwoLines(services, self.list))
        self.list.currentItemChanged.connect(self._on_selection)
        self.list.itemActivated.connect(self._open)
        self._empty = QLabel()
        mark(self._empty, role="secondary")
        self._delete, self._close, self._use = QPushButton(), QPushButton(), QPushButton()
        self._delete.setObjectName("historyDelete")
        self._use.setObjectName("historyOpen")
        self._use.setDefault(True)
        mark(self._use, kind="primary")
        self._delete.clicked.connect(self._on_delete)
        self._close.clicked.connect(self.reject)
        self._use.clicked.connect(self._open)
        footer = QWidget()
        mark(footer, part="footer")
        self._buttons = QHBoxLayout(footer)
        self._buttons.addWidget(self._delete)
        self._buttons.addStretch(1)
        self._buttons.addWidget(self._close)
        self._buttons.addWidget(self._use)
        self._body = QVBoxLayout()
        self._body.addWidget(self.search)
        self._body.addWidget(self._empty)
        self._body.addWidget(self.list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._body)
        layout.addWidget(footer)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.retranslate()
        self._fill()

    def show_sessions(self, infos: tuple[SessionInfo, ...]) -> None:
        """The list as it is now."""
        self._infos = infos
        self._fill()

    def restyle(self) -> None:
        """Sizes."""
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        self._body.setContentsMargins(edge, edge, edge, edge)
        self._body.setSpacing(gap)
        self._buttons.setContentsMargins(edge, gap, edge, gap)
        self.resize(theme.size("pane.right_max") - theme.size("space.12"), theme.size("pane.right_default"))

    def retranslate(self) -> None:
        """Words."""
        language = self._services.language
        self.setWindowTitle(language(msg("Conversations")))
        self.search.setPlaceholderText(language(msg("Search the conversations")))
        self._empty.setText(language(msg("Conversations of this project appear here.")))
        self._close.setText(language(msg("Close")))
        self._use.setText(language(msg("Open")))
        self._on_selection()

    def _fill(self) -> None:
        wanted = self.search.text().casefold()
        chosen = self._chosen()
        self.list.clear()
        for info in self._infos:
            if wanted in f"{info.name}\n{info.preview}".casefold():
                item = QListWidgetItem(title_of(info.name, info.preview))
                item.setData(_INFO, info)
                self.list.addItem(item)
                if chosen is None or info.session_id == chosen.session_id:
                    chosen = info
                    self.list.setCurrentItem(item)
        self._empty.setVisible(not self._infos)
        self._on_selection()

    def _chosen(self) -> SessionInfo | None:
        item = self.list.currentItem()
        return None if item is None else item.data(_INFO)

    def _on_selection(self, *_: object) -> None:
        chosen = self._chosen()
        if chosen is None or chosen.session_id != self._asks:
            self._asks = ""
        self._use.setEnabled(chosen is not None)
        self._delete.setEnabled(chosen is not None)
        text = msg("Delete for good") if self._asks else msg("Delete")
        self._delete.setText(self._services.language(text))
        mark(self._delete, kind="danger" if self._asks else "secondary")

    def _open(self, *_: object) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.opened.emit(chosen.session_id)
            self.accept()

    def _on_delete(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        if self._asks != chosen.session_id:
            self._asks = chosen.session_id
            self._on_selection()
            return
        self._asks = ""
        self.deleted.emit(chosen.session_id)


class _TwoLines(QStyledItemDelegate):
    """Name and time, preview and count."""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # noqa: N802 - Qt's name
        """Two lines high."""
        return QSize(0, self._services.theme.theme.size("row.list_two_line"))

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Both lines, shortened to fit."""
        info = index.data(_INFO)
        if painter is None or info is None:
            return
        theme = self._services.theme.theme
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.color("surface.selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, theme.color("surface.hover"))
        pad = theme.size("space.2")
        box = option.rect.adjusted(pad, theme.size("space.half"), -pad, -theme.size("space.half"))
        half = box.height() // 2
        lines = (
            (str(index.data()), clock_time(info.updated_at), "ui", "text.primary"),
            (info.preview, str(info.message_count), "small", "text.tertiary"),
        )
        for number, (left, right, style, color) in enumerate(lines):
            painter.setFont(theme.tabular(style))
            metrics = painter.fontMetrics()
            row = box.adjusted(0, number * half, 0, (number - 1) * half)
            width = metrics.horizontalAdvance(right) + pad
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
            painter.setPen(theme.color(color))
            text = metrics.elidedText(
                " ".join(left.split()), Qt.TextElideMode.ElideRight, row.width() - width
            )
            painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
