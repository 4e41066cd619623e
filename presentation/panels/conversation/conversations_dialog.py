"""The stored conversations of the project: look into one, open, rename, export, or delete it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QModelIndex, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from presentation.panels.conversation.items import OperationCard, Reset
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.shelf import StoredConversation
from presentation.panels.conversation.stored import title_of
from presentation.ui import questions
from presentation.ui.parts import ElidedLabel, arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.local_time import clock_time
from shared.message import msg

if TYPE_CHECKING:
    from application.conversation.sessions import ExportFormat
    from application.ports.conversation import SessionInfo

_INFO = Qt.ItemDataRole.UserRole
_PREVIEWED = 30
"""Rows of a conversation that its preview shows, the first ones."""
_FORMATS = {"json": msg("JSON file"), "txt": msg("Text file"), "md": msg("Markdown file")}

Read = Callable[[str], Awaitable[StoredConversation]]


class ConversationsDialog(QDialog):
    """Tells what is to be done with which conversation; `read` gives one for the preview."""

    opened = pyqtSignal(str)
    deleted = pyqtSignal(str)
    renamed = pyqtSignal(str, str)
    """Id, new name."""
    exported = pyqtSignal(str, str, object)
    """Id, format, target: Path."""

    def __init__(self, services: WindowServices, read: Read, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._read = read
        self._infos: tuple[SessionInfo, ...] = ()
        self._previewed = ""
        self.setObjectName("historyDialog")
        self._make_list()
        self._make_preview()
        self._make_buttons()
        self._make_layout()
        services.dress(self)
        self._fill()

    def show_sessions(self, infos: Sequence[SessionInfo]) -> None:
        self._infos = tuple(infos)
        self._previewed = ""
        self._fill()

    def done(self, result: int) -> None:
        """Closed: what is still being read is shown no more."""
        self._previewed = ""
        super().done(result)

    # --- parts ---------------------------------------------------------------------------------------

    def _make_list(self) -> None:
        self.search = QLineEdit()
        self.search.setObjectName("historySearch")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._fill)
        self.list = QListWidget()
        self.list.setObjectName("historyList")
        self.list.setItemDelegate(_TwoLines(self._services, self.list))
        mark(self.list, surface="panel")
        self.list.currentItemChanged.connect(self._on_selection)
        self.list.itemActivated.connect(self._open)
        self._empty = text_label(wraps=True, role="secondary")

    def _make_preview(self) -> None:
        self._count, self._model = ElidedLabel(), ElidedLabel()
        for label in (self._count, self._model):
            mark(label, role="small")
        self._model.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.preview = PlainConversation(self._services)

    def _make_buttons(self) -> None:
        self._rename, self._export, self._delete = QPushButton(), QPushButton(), QPushButton()
        self._close, self._use = QPushButton(), QPushButton()
        for button, name in (
            (self._rename, "historyRename"),
            (self._export, "historyExport"),
            (self._delete, "historyDelete"),
            (self._close, "historyClose"),
            (self._use, "historyOpen"),
        ):
            button.setObjectName(name)
            button.setAutoDefault(False)
        self._use.setDefault(True)
        mark(self._use, kind="primary")
        self._formats = QMenu(self)
        for kind in _FORMATS:
            action = self._formats.addAction("")
            assert action is not None
            action.setObjectName(f"export-{kind}")
            action.setData(kind)
        self._formats.triggered.connect(lambda action: self._ask_target(action.data()))
        self._export.setMenu(self._formats)
        self._rename.clicked.connect(self._ask_name)
        self._delete.clicked.connect(self._ask_delete)
        self._close.clicked.connect(self.reject)
        self._use.clicked.connect(self._open)

    def _make_layout(self) -> None:
        footer = QWidget()
        mark_area(footer, part="footer")
        self._buttons = arrange(
            QHBoxLayout(footer), self._rename, self._export, self._delete, 1, self._close, self._use
        )
        left = QWidget()
        mark_area(left, surface="panel", line="right")
        self._left = QVBoxLayout(left)
        for widget in (self.search, self._empty, self.list):
            self._left.addWidget(widget)
        self._head = arrange(QHBoxLayout(), (self._count, 1), (self._model, 1))
        self._right = arrange(QVBoxLayout(), self._head, (self.preview, 1))
        body = arrange(QHBoxLayout(), (left, 4), (self._right, 5), gap=0)
        arrange(QVBoxLayout(self), (body, 1), footer, edges=0, gap=0)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        arrange(self._left, edges=(gap, gap, gap, 0), gap=gap)
        self._head.setContentsMargins(edge, theme.size("space.3"), edge, 0)
        self._right.setSpacing(0)
        foot = theme.size("space.3")
        arrange(self._buttons, edges=(edge, foot, edge, foot), gap=gap)
        self._export.setIcon(
            self._services.icons.get("chevron-down", "text.secondary", theme.size("icon.small"))
        )
        # The arrow of our own stands for the style's.
        self._export.setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; }")
        self._export.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the word
        self._export.setIconSize(QSize(theme.size("icon.small"), theme.size("icon.small")))
        self.preview.restyle()
        self._previewed = ""
        self._show_preview()
        wide = theme.size("pane.right_max") + theme.size("space.12")
        self.resize(wide, theme.size("pane.right_default"))

    def retranslate(self) -> None:
        language = self._services.language
        self.setWindowTitle(language(msg("Conversations")))
        self.search.setPlaceholderText(language(msg("Search conversations")))
        self._empty.setText(language(msg("Conversations of this project appear here.")))
        self._rename.setText(language(msg("Rename")))
        self._export.setText(language(msg("Export")))
        self._delete.setText(language(msg("Delete")))
        self._close.setText(language(msg("Close")))
        self._use.setText(language(msg("Open")))
        for action in self._formats.actions():
            action.setText(language(_FORMATS[action.data()]))
        self._previewed = ""
        self._on_selection()

    # --- what is shown -------------------------------------------------------------------------------

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
        if self.list.currentItem() is None and self.list.count():
            self.list.setCurrentRow(0)
        self._empty.setVisible(not self._infos)
        self._on_selection()

    def _chosen(self) -> SessionInfo | None:
        item = self.list.currentItem()
        return None if item is None else item.data(_INFO)

    def _on_selection(self, *_: object) -> None:
        chosen = self._chosen()
        for button in (self._use, self._rename, self._export, self._delete):
            button.setEnabled(chosen is not None)
        self._show_preview()

    def _show_preview(self) -> None:
        chosen = self._chosen()
        session_id = "" if chosen is None else chosen.session_id
        if session_id and session_id == self._previewed:
            return
        self._previewed = session_id
        if chosen is None:
            self._count.setText("")
            self._model.setText("")
            self.preview.apply([Reset(items=())])
        else:
            self._services.start(self._load(session_id), kind="sessions")

    async def _load(self, session_id: str) -> None:
        try:
            stored = await self._read(session_id)
        except CircuitAIError as error:
            if session_id == self._previewed:
                self._count.setText(self._services.language(error.message))
                self.preview.apply([Reset(items=())])
            return
        if session_id != self._previewed or (chosen := self._chosen()) is None:
            return
        changes = sum(isinstance(item, OperationCard) and item.diff is not None for item in stored.items)
        text = msg(
            "{count} {count:message|messages}, {changes} {changes:change|changes}",
            count=chosen.message_count,
            changes=changes,
        )
        self._count.setText(self._services.language(text))
        self._model.setText(stored.model)
        self.preview.apply([Reset(items=stored.items[:_PREVIEWED])])
        self.preview.scroll_to_begin()

    # --- what is done --------------------------------------------------------------------------------

    def _open(self, *_: object) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.opened.emit(chosen.session_id)
            self.accept()

    def _ask_name(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._services.start(self._rename_after_question(chosen), kind="question")

    async def _rename_after_question(self, info: SessionInfo) -> None:
        name = await questions.ask_text(
            self._services,
            self,
            title=msg("Rename the conversation"),
            label=msg("Name"),
            text=title_of(info.name, info.preview),
        )
        if name is not None and name.strip():
            self.renamed.emit(info.session_id, name)

    def _ask_target(self, kind: ExportFormat) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._services.start(self._export_after_question(chosen, kind), kind="question")

    async def _export_after_question(self, info: SessionInfo, kind: ExportFormat) -> None:
        title = title_of(info.name, info.preview)
        name = "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in title)
        start = Path.home() / f"{name.strip()[:60] or info.session_id}.{kind}"
        target = await questions.choose_target(self._services, self, msg("Export the conversation"), start)
        if target is not None:
            self.exported.emit(info.session_id, kind, target)

    def _ask_delete(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._services.start(self._delete_after_question(chosen), kind="question")

    async def _delete_after_question(self, info: SessionInfo) -> None:
        if await ask_to_delete(self._services, self, title_of(info.name, info.preview)):
            self.deleted.emit(info.session_id)


async def ask_to_delete(services: WindowServices, parent: QWidget, name: str) -> bool:
    return await questions.choose(
        services,
        parent,
        title=msg("Delete this conversation"),
        text=msg("Permanently delete “{name}”? The project files are kept.", name=name),
        options=((True, msg("Delete"), "danger"), (False, msg("Keep it"), "")),
        cancelled=False,
    )


class _TwoLines(QStyledItemDelegate):
    """Name and time, preview and count."""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, self._services.theme.theme.size("row.list_two_line"))

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
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
