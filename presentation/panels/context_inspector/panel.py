"""What a model is sent with the next message, part by part with its tokens; it can be read and exported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QModelIndex, Qt
from PyQt6.QtGui import QAction, QShowEvent, QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from presentation.figures import short_count
from presentation.panels.conversation.status_line import PART_NAMES, ShareBar, color_of
from presentation.ui.frame import IconButton, LineSplitter
from presentation.ui.parts import arrange, once_after
from presentation.ui.questions import choose_target
from presentation.ui.rows import Role, RowLook, RowTree
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.inspecting import ContextReport
    from application.groups.conversations import Conversations
    from presentation.panels.conversation.context_use import ContextUse

_SOON_MS = 300
_LONGEST_SHOWN = 200_000
"""Characters of one entry; the export has all of it."""
_ICONS = {
    "system": "file-text",
    "tools": "braces",
    "project": "folder",
    "history": "message-square",
    "pictures": "image",
}
_FORMATS: tuple[tuple[Literal["json", "txt"], str], ...] = (("json", "JSON"), ("txt", "TXT"))


class ContextPanel(QWidget):
    """Follows the conversation; reads only while it is seen. `use` gives its context, None for none yet."""

    def __init__(
        self, services: WindowServices, conversations: Conversations, use: Callable[[], ContextUse | None]
    ) -> None:
        super().__init__()
        self._services = services
        self._conversations = conversations
        self._find = use
        self._use: ContextUse | None = None
        self._report: ContextReport | None = None
        self.setObjectName("contextPanel")
        self._make_parts()
        self._make_layout()
        mark(self, surface="base")
        self.setFocusProxy(self.tree)
        self._soon = once_after(self, _SOON_MS, self._want)
        workspace = services.workspace
        workspace.project_opened.connect(lambda _root: self._forget())
        workspace.project_closed.connect(self._forget)
        services.dress(self)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The parts as they stand there: name and tokens."""
        found = []
        for number in range(self._model.rowCount()):
            item = self._model.item(number)
            assert item is not None, "within the rows"
            found.append((item.text(), item.data(int(Role.LOOK)).values[0]))
        return found

    # --- parts ---------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        services = self._services
        self.total, self.note, self._bar = QLabel(), QLabel(), ShareBar(services)
        self.total.setObjectName("contextTotal")
        self.note.setObjectName("contextNote")
        self.note.setWordWrap(True)
        mark(self.note, role="small")
        self.refresh_button = IconButton(services, "refresh-cw", msg("Refresh"), name="contextRefresh")
        self.refresh_button.clicked.connect(self.refresh)
        self.export_button = IconButton(services, "download", msg("Export"), name="contextExport")
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for kind, text in _FORMATS:
            action = QAction(text, self)
            action.setObjectName(f"context-{kind}")
            action.triggered.connect(lambda _checked, kind=kind: self.export(kind))
            menu.addAction(action)
        self.export_button.setMenu(menu)
        self._model = QStandardItemModel(self)
        self.tree = RowTree(services, "contextTree")
        self.tree.setModel(self._model)
        selection = self.tree.selectionModel()
        assert selection is not None, "the tree has its model"
        selection.currentChanged.connect(self._on_chosen)
        self.text = QPlainTextEdit()
        self.text.setObjectName("contextText")
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        mark(self.text, plain=True)

    def _make_layout(self) -> None:
        self._head, self._foot = QHBoxLayout(), QVBoxLayout()
        self._head.addWidget(self.total)
        self._head.addWidget(self._bar)
        self._head.addStretch(1)
        self._head.addWidget(self.refresh_button)
        self._head.addWidget(self.export_button)
        self._foot.addWidget(self.note)
        self._split = LineSplitter(Qt.Orientation.Vertical, self._services, "context")
        self._split.addWidget(self.tree)
        self._split.addWidget(self.text)
        self._split.setStretchFactor(0, 1)
        self._split.setStretchFactor(1, 1)
        arrange(QVBoxLayout(self), self._head, self._foot, (self._split, 1), edges=0, gap=0)

    # --- what is shown -------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        if self._use is None:
            self._use = self._find()
            if self._use is not None:
                self._use.changed.connect(self._on_changed)
        self._on_changed()

    def refresh(self) -> None:
        if self._use is not None:
            self._use.want_report(anew=True)

    def _forget(self) -> None:
        """Nothing of one project is shown in another."""
        self._report = None
        self._show_rows()
        self._show_head()

    def _want(self) -> None:
        if self._use is not None and self.isVisible():
            self._use.want_report()

    def _on_changed(self) -> None:
        if not self.isVisible():
            return
        use = self._use
        if use is not None and use.report is None and use.problem is None:
            self._soon.start()  # what was there stays until the new is
            self._show_head()
            return
        report = None if use is None else use.report
        if report is not self._report:
            self._report = report
            self._show_rows()
        self._show_head()

    def _show_rows(self) -> None:
        chosen = self._place(self.tree.currentIndex())
        unfolded = {
            number
            for number in range(self._model.rowCount())
            if self.tree.isExpanded(self._model.index(number, 0))
        }
        self._model.clear()
        language = self._services.language
        for part in () if self._report is None else self._report.parts:
            row = _row(language(PART_NAMES[part.kind]), part.tokens, icon=_ICONS[part.kind], weight=600)
            for entry in part.entries:
                row.appendRow(_row(language(entry.title), entry.tokens))
            self._model.appendRow(row)
        for number in unfolded:
            self.tree.setExpanded(self._model.index(number, 0), True)
        if chosen is not None:
            part_number, entry_number = chosen
            parent = self._model.index(part_number, 0)
            here = parent if entry_number is None else self._model.index(entry_number, 0, parent)
            self.tree.setCurrentIndex(here)
        self._show_text(self._place(self.tree.currentIndex()))

    def _show_head(self) -> None:
        language, report, use = self._services.language, self._report, self._use
        self.export_button.setEnabled(report is not None)
        window = None if report is None else report.abilities.context_tokens
        self._bar.setVisible(window is not None)
        lines: list[Message] = []
        if report is None:
            self.total.setText("")
            if use is not None and use.problem is not None:
                lines.append(use.problem)
            else:
                lines.append(msg("The context of the next message appears here."))
        elif window is not None:
            share = report.tokens / window
            self._bar.show_share(share, color_of(share))
            used = msg("{used} of {window}", used=short_count(report.tokens), window=short_count(window))
            self.total.setText(language(used))
        else:
            self.total.setText(
                language(msg("{count} {count:token|tokens}", count=short_count(report.tokens)))
            )
        if report is not None:
            lines.append(msg("Estimated context of the next message, not counting the message itself."))
            if report.left_out:
                lines.append(msg("Earlier turns no longer sent: {count}", count=report.left_out))
        self.note.setText("\n".join(map(language, lines)))
        self.setAccessibleDescription(f"{self.total.text()} {self.note.text()}".strip())

    def _place(self, index: QModelIndex) -> tuple[int, int | None] | None:
        if not index.isValid():
            return None
        parent = index.parent()
        return (parent.row(), index.row()) if parent.isValid() else (index.row(), None)

    def _on_chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        self._show_text(self._place(now))

    def _show_text(self, place: tuple[int, int | None] | None) -> None:
        report, text = self._report, ""
        if report is not None and place is not None and place[0] < len(report.parts):
            entries = report.parts[place[0]].entries
            if place[1] is not None:
                entries = entries[place[1] : place[1] + 1]
            text = "\n\n".join(entry.text for entry in entries)[:_LONGEST_SHOWN]
        if text != self.text.toPlainText():
            self.text.setPlainText(text)

    # --- export --------------------------------------------------------------------------------------

    def export(self, kind: Literal["json", "txt"]) -> None:
        """Write all of it to a file the user names."""
        report, root = self._report, self._services.workspace.root
        if report is not None and root is not None:
            self._services.start(self._export(report, kind, root / f"context.{kind}"), kind="question")

    async def _export(self, report: ContextReport, kind: Literal["json", "txt"], start: Path) -> None:
        target = await choose_target(self._services, self, msg("Export the context"), start)
        if target is None:
            return
        workspace = self._services.workspace
        text = await asyncio.to_thread(export_text, report, kind, self._services.language)
        try:
            path = await self._conversations.sessions.save(text, target)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
        else:
            workspace.status_changed.emit(msg("Written: {path}", path=path))

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._head.setContentsMargins(edge, gap, gap, 0)
        self._head.setSpacing(gap)
        self._foot.setContentsMargins(edge, 0, edge, gap)
        self.total.setFont(theme.tabular("ui"))
        self.text.setFont(theme.font("mono_small"))
        document = self.text.document()
        assert document is not None, "an editor has its document"
        document.setDocumentMargin(edge)
        self._bar.setFixedSize(theme.size("space.12") + theme.size("space.4"), theme.size("space.1"))
        self.tree.restyle()
        self._show_head()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.tree.setAccessibleName(language(msg("Context")))
        self.text.setAccessibleName(language(msg("What is sent for the selected part")))
        self.text.setPlaceholderText(language(msg("Select a part to see what is sent.")))
        self._show_rows()
        self._show_head()


def export_text(
    report: ContextReport, kind: Literal["json", "txt"], translate: Callable[[Message], str]
) -> str:
    from application.conversation.inspecting import report_to_plain

    if kind == "json":
        return json.dumps(report_to_plain(report, translate), ensure_ascii=False, indent=2) + "\n"
    lines = []
    for part in report.parts:
        lines.append(f"==== {translate(PART_NAMES[part.kind])} ({part.tokens})")
        for entry in part.entries:
            lines += [f"---- {translate(entry.title)} ({entry.tokens})", entry.text, ""]
    return "\n".join(lines) + "\n"


def _row(name: str, tokens: int, *, icon: str = "", weight: int = 400) -> QStandardItem:
    row = QStandardItem(name)
    row.setEditable(False)
    look = RowLook(icon=icon, weight=weight, values=(f"{tokens:,}",), value_style="small")
    row.setData(look, int(Role.LOOK))
    row.setData(f"{name}, {tokens:,}", Qt.ItemDataRole.AccessibleTextRole)
    return row
