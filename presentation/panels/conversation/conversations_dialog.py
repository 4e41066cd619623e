"""The stored conversations of the project: preview, open, rename, export, delete, restore, import."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QModelIndex, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QFont, QGuiApplication, QKeySequence, QPainter, QShortcut
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

from application.ports.search import ConversationHit, ConversationsFound
from application.search.conversations import matching
from domain.llm.provider_settings import BUILTIN
from presentation.panels.conversation.acts import READING, only_read
from presentation.panels.conversation.items import OperationCard, Reset, UserText
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.row_menu import RowMenu
from presentation.panels.conversation.shelf import Shelf
from presentation.panels.conversation.stored import title_of
from presentation.ui import questions
from presentation.ui.facts import size_text
from presentation.ui.fitting import fit
from presentation.ui.parts import ElidedLabel, arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.local_time import clock_time
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.sessions import ExportFormat
    from application.ports.conversation import SessionInfo

_INFO = Qt.ItemDataRole.UserRole
_SEARCH_AFTER_MS = 150
"""Behind the last letter typed."""
_NO_HITS: tuple[ConversationHit, ...] = ()
_HITS = Qt.ItemDataRole.UserRole + 1
_FORMATS = {
    "json": msg("JSON file"),
    "txt": msg("Text file"),
    "md": msg("Markdown file"),
    "html": msg("HTML file, to read and print"),
}


class ConversationsDialog(QDialog):
    """Tells what is to be done with which conversation of the project at `root`; what was removed, and what
    comes from a file, it puts back and takes in itself."""

    opened = pyqtSignal(str, str, bool)
    """Id, the message that was looked for ("" = none), whether in a tab of its own."""
    deleted = pyqtSignal(str, bool)
    """Id, whether nothing of it is to be kept."""
    renamed = pyqtSignal(str, str)
    """Id, new name."""
    exported = pyqtSignal(str, str, object)
    """Id, format, target: Path."""

    def __init__(
        self, services: WindowServices, shelf: Shelf, root: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._shelf = shelf
        self._root = root
        self._is_open = True
        self._removed: tuple[SessionInfo, ...] = ()
        """Those that can be restored, as far as they were read."""
        self._infos: tuple[SessionInfo, ...] = ()
        self._shown = ""
        self._found: ConversationsFound | None = None
        """What is there of the words in the field; None until it is known."""
        self._previewed = ("", "")
        self.setObjectName("historyDialog")
        self._make_list()
        self._make_preview()
        self._make_buttons()
        self._make_layout()
        services.dress(self)
        self._fill()

    def show_sessions(self, infos: Sequence[SessionInfo], *, shown: str = "") -> None:
        """`shown`: the one the panel has."""
        self._infos = tuple(infos)
        self._shown = shown
        self._previewed = ("", "")
        self._fill()

    def done(self, result: int) -> None:
        """Closed: what is still being read is shown no more."""
        self._typed.stop()
        self._previewed, self._is_open = ("", ""), False
        super().done(result)

    # --- parts ---------------------------------------------------------------------------------------

    def _make_list(self) -> None:
        self.search = QLineEdit()
        self.search.setObjectName("historySearch")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._on_words)
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(_SEARCH_AFTER_MS)
        self._typed.timeout.connect(lambda: self._services.start(self._look(self.words), kind="sessions"))
        self.list = QListWidget()
        self.list.setObjectName("historyList")
        self.list.setItemDelegate(_TwoLines(self._services, self))
        mark(self.list, surface="panel")
        self.list.currentItemChanged.connect(self._on_selection)
        self.list.itemActivated.connect(self._on_activated)
        self._size = ElidedLabel()
        self._size.setObjectName("historySize")
        mark(self._size, role="small")
        self._which = QPushButton()
        self._which.setObjectName("historyRemoved")
        self._which.setCheckable(True)
        self._which.setAutoDefault(False)
        mark(self._which, kind="quiet")
        self._which.toggled.connect(self._show_which)
        self._empty = text_label(wraps=True, role="secondary")
        self._empty.setObjectName("historyEmpty")

    def _make_preview(self) -> None:
        self._count, self._model = ElidedLabel(), ElidedLabel()
        for label in (self._count, self._model):
            mark(label, role="small")
        self._model.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.preview = PlainConversation(self._services, acts=READING)
        self.preview.acted.connect(self._on_act)
        rows, stands = (lambda: self.preview.rows), (lambda: False)
        self._menu = RowMenu(self._services, self.preview, rows, stands, self._on_act, acts=READING)
        self.preview.menu_wanted.connect(self._menu.show)

    def _on_act(self, act: str, key: str, argument: str) -> None:
        if act in READING:
            only_read(self.preview.rows, act, key, argument)

    def _make_buttons(self) -> None:
        self._rename, self._export, self._delete = QPushButton(), QPushButton(), QPushButton()
        self._close, self._use, self._import = QPushButton(), QPushButton(), QPushButton()
        self._beside = QPushButton()
        for button, name in (
            (self._rename, "historyRename"),
            (self._export, "historyExport"),
            (self._delete, "historyDelete"),
            (self._import, "historyImport"),
            (self._close, "historyClose"),
            (self._beside, "historyBeside"),
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
        self._import.clicked.connect(
            lambda: self._services.start(self._import_after_question(), kind="question")
        )
        self._close.clicked.connect(self.reject)
        self._use.clicked.connect(lambda: self._open(beside=False))
        self._beside.clicked.connect(lambda: self._open(beside=True))
        keys = QShortcut(QKeySequence("Ctrl+Return"), self)
        keys.activated.connect(self._beside.click)

    def _make_layout(self) -> None:
        footer = QWidget()
        mark_area(footer, part="footer")
        self._buttons = arrange(
            QHBoxLayout(footer),
            self._rename,
            self._export,
            self._delete,
            self._import,
            1,
            self._close,
            self._beside,
            self._use,
        )
        left = QWidget()
        mark_area(left, surface="panel", line="right")
        self._left = QVBoxLayout(left)
        for widget in (self.search, self._empty, self.list):
            self._left.addWidget(widget)
        self._left.addLayout(arrange(QHBoxLayout(), (self._size, 1), self._which, edges=0))
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
        self._previewed = ("", "")
        self._show_preview()
        wide = theme.size("pane.right_max") + theme.size("space.12")
        fit(self, wide, theme.size("pane.right_default"), may_shrink=True)

    def retranslate(self) -> None:
        language = self._services.language
        self.setWindowTitle(language(msg("Conversations")))
        self.search.setPlaceholderText(language(msg("Search conversations")))
        self._rename.setText(language(msg("Rename")))
        self._export.setText(language(msg("Export")))
        self._import.setText(language(msg("Import…")))
        self._close.setText(language(msg("Close")))
        self._beside.setText(language(msg("Open in new tab")))
        self._beside.setToolTip("Ctrl+Enter")
        for action in self._formats.actions():
            action.setText(language(_FORMATS[action.data()]))
        self._previewed = ("", "")
        self._fill()

    # --- what is shown -------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        return self.search.text().strip()

    def shows(self, info: SessionInfo) -> bool:
        """Whether it is the conversation the panel has."""
        return info.session_id == self._shown

    def _on_words(self) -> None:
        """Names are found at once, what was said a moment later."""
        self._found = None
        self._typed.stop()
        if self.words:
            self._typed.start()
        self._fill()

    async def _look(self, words: str) -> None:
        """Found is shown as the index grows, until it has all conversations."""
        while words == self.words and self.isVisible():
            try:
                found = await self._shelf.search(self._root, words)
            except CircuitAIError as error:
                self._empty.setText(self._services.language(error.message))
                self._empty.show()
                return
            if words == self.words and found != self._found:
                self._found = found
                self._fill()
            if not found.pending:
                return

    def _show_which(self, _removed: bool) -> None:
        """The other list: of those that are there, or of those that can be restored."""
        self.search.setEnabled(not self.is_removed)
        self._fill()
        if self.is_removed:
            self._services.start(self._load_removed(), kind="sessions")

    @property
    def is_removed(self) -> bool:
        """Whether those that were removed are listed."""
        return self._which.isChecked()

    async def _load_removed(self) -> None:
        try:
            self._removed = await self._shelf.removed(self._root)
        except CircuitAIError as error:
            self._tell(error)
            return
        if self._is_open:
            self._fill()

    def _tell(self, error: CircuitAIError) -> None:
        if self._is_open:
            self._count.setText(self._services.language(error.message))
            self._count.setToolTip(self._services.language(error.message))

    def _tell_size(self) -> None:
        language, infos = self._services.language, self._removed if self.is_removed else self._infos
        size = size_text(sum(info.size for info in infos))
        text = msg("{count} {count:conversation|conversations}, {size}", count=len(infos), size=size)
        if self.is_removed:
            text = msg("{size}, kept for {days} {days:day|days}", size=size, days=self._shelf.kept_days)
        self._which.setText(language(msg("Show all") if self.is_removed else msg("Removed")))
        self._size.setText(language(text))
        self._use.setText(language(msg("Restore") if self.is_removed else msg("Open")))
        self._delete.setText(language(msg("Delete permanently") if self.is_removed else msg("Delete")))
        for button in (self._rename, self._export, self._import, self._beside):
            button.setVisible(not self.is_removed)

    def _fill(self) -> None:
        chosen = self._chosen()
        self.list.clear()
        self._tell_size()
        if self.is_removed:
            rows = [(info, _NO_HITS) for info in self._removed]
        elif not self.words:
            rows = [(info, _NO_HITS) for info in self._infos]
        else:
            rows = matching(self._infos, self._found or ConversationsFound(), self.words)
        for info, hits in rows:
            item = QListWidgetItem(title_of(info.name, info.preview))
            item.setData(_INFO, info)
            item.setData(_HITS, hits)
            self.list.addItem(item)
            if chosen is not None and info.session_id == chosen.session_id:
                self.list.setCurrentItem(item)
        if self.list.currentItem() is None and self.list.count():
            self.list.setCurrentRow(0)
        self._tell_empty()
        self._on_selection()

    def _tell_empty(self) -> None:
        if self.is_removed:
            text = msg("There are no removed conversations.")
        elif not self._infos:
            text = msg("Conversations of this project appear here.")
        elif self._found is None or self._found.pending:
            text = msg("Searching…")
        else:
            text = msg("No conversation has these words.")
        self._empty.setText(self._services.language(text))
        self._empty.setVisible(not self.list.count())

    def _chosen(self) -> SessionInfo | None:
        item = self.list.currentItem()
        return None if item is None else item.data(_INFO)

    def _hit(self) -> str:
        """The message that the preview begins with: the newest hit of the chosen conversation."""
        item = self.list.currentItem()
        hits = item.data(_HITS) if item is not None else ()
        return hits[0].message_id if hits else ""

    def _on_selection(self, *_: object) -> None:
        chosen = self._chosen()
        for button in (self._use, self._beside, self._rename, self._export, self._delete):
            button.setEnabled(chosen is not None)
        self._show_preview()

    def _show_preview(self) -> None:
        chosen = self._chosen()
        wanted = ("", "") if chosen is None else (chosen.session_id, self._hit())
        if chosen is not None and wanted == self._previewed:
            return
        self._previewed = wanted
        if chosen is None:
            self._count.setText("")
            self._model.setText("")
            self.preview.apply([Reset(items=())])
        else:
            self._services.start(self._load(wanted, is_removed=self.is_removed), kind="sessions")

    async def _load(self, wanted: tuple[str, str], *, is_removed: bool) -> None:
        session_id, hit = wanted
        try:
            stored = await self._shelf.read(self._root, session_id, is_removed=is_removed)
        except CircuitAIError as error:
            if wanted == self._previewed:
                self._count.setText(self._services.language(error.message))
                self.preview.apply([Reset(items=())])
            return
        if wanted != self._previewed or (chosen := self._chosen()) is None:
            return
        changes = sum(isinstance(item, OperationCard) and item.diff is not None for item in stored.items)
        text = msg(
            "{count} {count:message|messages}, {changes} {changes:change|changes}",
            count=chosen.message_count,
            changes=changes,
        )
        self._count.setText(self._services.language(text))
        named = msg("Built-in designer") if stored.model == BUILTIN else msg("{text}", text=stored.model)
        self._model.setText(self._services.language(named))
        items = (replace(row, can_edit=False) if isinstance(row, UserText) else row for row in stored.items)
        self.preview.show_from(tuple(items), hit)

    # --- what is done --------------------------------------------------------------------------------

    def _on_activated(self) -> None:
        """By Enter or a double click; with Ctrl in a tab of its own."""
        keys = QGuiApplication.keyboardModifiers()
        self._open(beside=bool(keys & Qt.KeyboardModifier.ControlModifier))

    def _open(self, *, beside: bool = False) -> None:
        chosen = self._chosen()
        if chosen is not None and self.is_removed:
            self._services.start(
                self._work(self._shelf.restore(self._root, chosen.session_id)), kind="sessions"
            )
        elif chosen is not None:
            self.opened.emit(chosen.session_id, self._hit(), beside)
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
        name = title_of(info.name, info.preview)
        if not self.is_removed:
            way = await ask_to_delete(self._services, self, name, days=self._shelf.kept_days)
            if way:
                self.deleted.emit(info.session_id, way == "for good")
        elif await questions.choose(
            self._services,
            self,
            title=msg("Delete this conversation"),
            text=msg("Permanently delete “{name}”? The project files are kept.", name=name),
            options=((True, msg("Delete permanently"), "danger"), (False, msg("Keep it"), "")),
            cancelled=False,
        ):
            await self._work(self._shelf.delete_removed(self._root, info.session_id))

    async def _work(self, work: Awaitable[object]) -> None:
        """Do what changes both lists, and show them; or why it can't be done."""
        try:
            await work
        except CircuitAIError as error:
            self._tell(error)
            return
        await self._shelf.relist(self._root, is_adopted=True)
        await self._load_removed()

    async def _import_after_question(self) -> None:
        title, language = msg("Import a conversation"), self._services.language
        files = await questions.choose_files(
            self._services, self, title, Path.home(), filters=(f"{language(msg('JSON file'))} (*.json)",)
        )
        for file in files[:1]:
            try:
                made = await self._shelf.import_file(self._root, file)
            except CircuitAIError as error:
                self._tell(error)
                return
            await self._shelf.relist(self._root, is_adopted=True)
            for number in range(self.list.count() if self._is_open else 0):
                item = self.list.item(number)
                if item is not None and item.data(_INFO).session_id == made:
                    self.list.setCurrentRow(number)


async def ask_to_delete(
    services: WindowServices, parent: QWidget, name: str, *, days: int
) -> Literal["", "aside", "for good"]:
    """Whether to delete a conversation, and whether it can be restored for a while."""
    options: tuple[tuple[Literal["", "aside", "for good"], Message, str], ...] = (
        ("aside", msg("Delete"), "danger"),
        ("for good", msg("Delete permanently"), ""),
        ("", msg("Keep it"), ""),
    )
    text = msg(
        "Delete “{name}”? It can be restored for {days} {days:day|days} from the list of conversations, "
        "under Removed. The project files are kept.",
        name=name,
        days=days,
    )
    title = msg("Delete this conversation")
    return await questions.choose(services, parent, title=title, text=text, options=options, cancelled="")


class _TwoLines(QStyledItemDelegate):
    """Mark, name and time; mode, hit or preview, and count."""

    def __init__(self, services: WindowServices, dialog: ConversationsDialog) -> None:
        super().__init__(dialog)
        self._services = services
        self._dialog = dialog

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, self._services.theme.theme.size("row.list_two_line"))

    def _second(self, info: SessionInfo) -> str:
        """What its first message begins with, behind its mode and what is unfinished."""
        facts = [msg("Workflow")] if info.work_mode == "workflow" else []
        facts += [msg("interrupted")] if info.has_partial_response else []
        facts += [] if info.is_ours else [msg("from another computer")]
        facts += [msg("its end is missing")] if info.is_cut else []
        return " · ".join([*map(self._services.language, facts), info.preview])

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
        hits = index.data(_HITS)
        count = hits[0].count if hits else info.message_count
        lines = (
            (str(index.data()), clock_time(info.updated_at), "ui", "text.primary"),
            (hits[0].sentence if hits else self._second(info), str(count), "small", "text.tertiary"),
        )
        for number, (left, right, style, color) in enumerate(lines):
            font = theme.tabular(style)
            if number == 0 and self._dialog.shows(info):
                font.setWeight(QFont.Weight.DemiBold)
            painter.setFont(font)
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
