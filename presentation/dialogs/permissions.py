"""What models may do in a project without asking: its rules, protected files, and servers it may go to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject, QSize, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from application.groups.conversations import Conversations
from domain.llm.tools.confirmation import DECISIONS, EFFECTS, EVERY_PATH, Permissions, Rule
from domain.llm.tools.result import EffectClass
from presentation.permission_rules import checked_rule, name_in
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.fitting import fit, height_at
from presentation.ui.parts import arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

PROTECTED = "protected"
"""In the list of decisions: no rule, a file that is always asked about."""

_DECISIONS: dict[str, tuple[Message, str]] = {
    "allow": (msg("Allow"), "ok.text"),
    "ask": (msg("Ask"), "warn.text"),
    "deny": (msg("Deny"), "error.text"),
    PROTECTED: (msg("Protected"), "warn.text"),
}
_EFFECTS: dict[EffectClass, Message] = {
    "read": msg("read files"),
    "create": msg("create files"),
    "change": msg("change files"),
    "delete": msg("delete files"),
    "simulate": msg("simulate"),
    "outside": msg("reach outside the project"),
}
_MOST_ROWS_SHOWN = 9
_SHOWN_CHARACTERS = 13


@dataclass(frozen=True, slots=True)
class _Row:
    """A decision as it is shown, and how it is taken back."""

    cells: list[Cell]
    remove: Callable[[], None]


class PermissionsDialog(QDialog):
    """Open it with `open()`; each change holds at once."""

    def __init__(
        self,
        services: WindowServices,
        conversations: Conversations,
        root: Path,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._conversations = conversations
        self._store = conversations.permissions
        self._root = root
        self._kept: Permissions | None = None
        self._rows: list[_Row] = []
        self._problem: Message | None = None
        self._advice: Message | None = None
        self._tools: tuple[str, ...] = ()
        self._is_closed = False
        self._scope = f"permissions-{new_ulid()}"
        self.setObjectName("permissionsDialog")
        self.finished.connect(self._on_finished)
        self._make_parts()
        self._make_layout()
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.retranslate()
        self.restyle()
        self._start(self._load(), "read permissions")

    @property
    def shown(self) -> list[tuple[str, ...]]:
        return [tuple(cell.text for cell in row.cells) for row in self._rows]

    # --- parts ---------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self._intro, self._empty, self.error = QLabel(), QLabel(), QLabel()
        for label, role in ((self._intro, "secondary"), (self._empty, "secondary"), (self.error, "error")):
            label.setWordWrap(True)
            mark(label, role=role)
        self.error.setObjectName("permissionsError")
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.table = FigureTable(self._services, "permissionRows", wide_column=2)
        self.table.installEventFilter(self)
        selection = self.table.selectionModel()
        assert selection is not None, "the table has its model"
        selection.selectionChanged.connect(lambda *_: self._refresh_buttons())
        self.decision, self.tool, self.effect = QComboBox(), QComboBox(), QComboBox()
        self.path = QLineEdit()
        for field, name in (
            (self.decision, "permissionDecision"),
            (self.tool, "permissionTool"),
            (self.path, "permissionPath"),
            (self.effect, "permissionEffect"),
        ):
            field.setObjectName(name)
        for word in (*DECISIONS, PROTECTED):
            self.decision.addItem("", word)
        self.tool.addItem("", "*")
        self.tool.setMaxVisibleItems(20)
        for box in (self.tool, self.effect):  # the path needs the room
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_SHOWN_CHARACTERS)
        for effect in ("*", *EFFECTS):
            self.effect.addItem("", effect)
        self.decision.currentIndexChanged.connect(self._on_decision)
        self.add_button, self.remove_button, self.close_button = QPushButton(), QPushButton(), QPushButton()
        for button, name in (
            (self.add_button, "permissionAdd"),
            (self.remove_button, "permissionRemove"),
            (self.close_button, "permissionClose"),
        ):
            button.setObjectName(name)
            button.setAutoDefault(False)
        mark(self.remove_button, kind="link")
        self.add_button.clicked.connect(self.add)
        self.path.returnPressed.connect(self.add)
        self.remove_button.clicked.connect(self.remove)
        self.close_button.clicked.connect(self.accept)

    def _make_layout(self) -> None:
        self._fields = arrange(
            QHBoxLayout(), self.decision, self.tool, (self.path, 1), self.effect, self.add_button
        )
        removing = arrange(QHBoxLayout(), self.remove_button, 1)
        self._body = QVBoxLayout()
        self._body.addWidget(self._intro)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        arrange(self._body, (self._empty, 1), (self.table, 1), removing, self._fields, self.error)
        footer = QWidget()
        mark_area(footer, part="footer")
        self._buttons = arrange(QHBoxLayout(footer), 1, self.close_button)
        arrange(QVBoxLayout(self), (self._body, 1), footer, edges=0, gap=0)
        # What is there comes before what can be added.
        order = (self.table, self.remove_button, self.decision, self.tool, self.path, self.effect)
        for before, after in pairwise((*order, self.add_button, self.close_button)):
            QWidget.setTabOrder(before, after)

    # --- what is kept --------------------------------------------------------------------------------

    async def _load(self) -> None:
        tools = await asyncio.to_thread(
            lambda: tuple(sorted(self._conversations.run_tool.executor.names_for_rules))
        )
        tools += tuple(sorted(tool.name for tool in self._conversations.tool_servers.tools))
        if self._is_closed:
            return
        self._tools = tools
        for name in tools:
            self.tool.addItem(name, name)
        await self._read()
        if not self._is_closed:
            self.path.setFocus()

    async def _read(self) -> None:
        try:
            kept = await asyncio.to_thread(self._store.of_project, self._root)
        except CircuitAIError as error:
            self._kept = None
            self._say(error.message, error.advice)
        else:
            self._kept = kept
        if not self._is_closed:
            self._show()

    def add(self) -> None:
        if self.add_button.isEnabled():
            self._start(self._add(), "add permission")

    async def _add(self) -> None:
        word, text = str(self.decision.currentData()), self.path.text().strip()
        try:
            if word == PROTECTED:
                name = await asyncio.to_thread(name_in, self._root, text)
                await asyncio.to_thread(self._store.protect, self._root, name, is_protected=True)
            else:
                rule = Rule(
                    decision=next(known for known in DECISIONS if known == word),
                    tool=str(self.tool.currentData()),
                    path=text or EVERY_PATH,
                    effect=self.effect.currentData(),
                )
                rule = await asyncio.to_thread(checked_rule, self._root, rule, self._tools)
                await asyncio.to_thread(self._store.add_rules, self._root, [rule])
        except CircuitAIError as error:
            self._say(error.message, error.advice)
            return
        if not self._is_closed:
            self.path.clear()
            self._say(None)
            await self._read()

    def remove(self) -> None:
        chosen = [self._rows[number] for number in self.table.selected_rows() if number < len(self._rows)]
        if chosen:
            self._start(self._remove(chosen), "remove permission")

    async def _remove(self, rows: Sequence[_Row]) -> None:
        try:
            for row in rows:
                await asyncio.to_thread(row.remove)
        except CircuitAIError as error:
            self._say(error.message, error.advice)
            return
        self._say(None)
        await self._read()

    # --- what is shown -------------------------------------------------------------------------------

    def _show(self) -> None:
        language = self._services.language
        self._rows = list(self._rows_of(self._kept or Permissions()))
        titles = (msg("Decision"), msg("Tool"), msg("Path"), msg("What it does"))
        self.table.show_rows(
            [Column(title=language(title)) for title in titles], [row.cells for row in self._rows]
        )
        row = self.table.wanted_height() // (len(self._rows) + 1)
        self.table.setMinimumHeight((min(len(self._rows), _MOST_ROWS_SHOWN) + 1) * row + 2)
        self.table.setVisible(bool(self._rows))
        self._empty.setVisible(not self._rows and self._kept is not None)
        self._refresh_buttons()
        wanted = self.sizeHint()
        fit(self, wanted.width(), wanted.height())

    def _rows_of(self, kept: Permissions) -> Iterator[_Row]:
        language, root = self._services.language, self._root
        every_tool, every_path = language(msg("every tool")), language(msg("every file"))
        for rule in kept.rules:
            text, color = _DECISIONS[rule.decision]
            effect = msg("anything") if rule.effect == "*" else _EFFECTS[rule.effect]
            yield _Row(
                [
                    Cell(text=language(text), color=color),
                    Cell(text=every_tool if rule.tool == "*" else rule.tool, tip=rule.tool),
                    Cell(text=every_path if rule.path == EVERY_PATH else rule.path, tip=rule.path),
                    Cell(text=language(effect)),
                ],
                partial(self._store.remove_rules, root, [rule]),
            )
        for name in kept.protected:
            text, color = _DECISIONS[PROTECTED]
            asked = language(msg("always asks"))
            cells = [Cell(text=language(text), color=color), Cell(text=every_tool), Cell(text=name, tip=name)]
            yield _Row(
                [*cells, Cell(text=asked)], partial(self._store.protect, root, name, is_protected=False)
            )
        for server in kept.consents:
            cells = [Cell(text=language(msg("Send"))), Cell(text=""), Cell(text=server, tip=server)]
            sent = Cell(text=language(msg("may be sent there")))
            yield _Row([*cells, sent], partial(self._store.consent, root, server, is_given=False))

    def _on_decision(self, _index: int) -> None:
        """Of a protected file neither tool nor effect matters."""
        is_rule = self.decision.currentData() != PROTECTED
        self.tool.setEnabled(is_rule)
        self.effect.setEnabled(is_rule)
        self._name_path()

    def _refresh_buttons(self) -> None:
        self.add_button.setEnabled(self._kept is not None)
        self.remove_button.setEnabled(self._kept is not None and bool(self.table.selected_rows()))

    def _say(self, problem: Message | None, advice: Message | None = None) -> None:
        if self._is_closed:
            return
        self._problem, self._advice = problem, advice
        language = self._services.language
        self.error.setText(" ".join(language(text) for text in (problem, advice) if text is not None))
        self.error.setVisible(problem is not None)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        key = event.key() if isinstance(event, QKeyEvent) else None
        if watched is self.table and key == Qt.Key.Key_Delete and event.type() == QEvent.Type.KeyPress:  # type: ignore[union-attr]
            self.remove()
            return True
        return super().eventFilter(watched, event)

    def _on_finished(self, _result: int) -> None:
        self._is_closed = True
        self.deleteLater()

    def _start(self, coroutine: object, kind: str) -> None:
        self._services.start(coroutine, kind=kind, scope=self._scope)

    # --- looks ---------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        wide = theme.size("pane.right_max") + theme.size("pane.left_default") // 2
        return QSize(wide, max(height_at(self, wide), theme.size("pane.left_default") * 3 // 2))

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.3")
        arrange(self._body, edges=edge, gap=gap)
        self._fields.setSpacing(theme.size("space.2"))
        self._buttons.setContentsMargins(edge, gap, edge, gap)
        hint = self.sizeHint()
        fit(self, hint.width(), hint.height(), may_shrink=True)

    def retranslate(self) -> None:
        language = self._services.language
        self.setWindowTitle(language(msg("Confirmation rules")))
        self._intro.setText(
            language(
                msg(
                    "For the project {name} only; kept in your own folder, never in the project. "
                    "Deny wins over everything, then protected files and Ask, then Allow; "
                    "the order of the rows does not matter.",
                    name=self._root.name,
                )
            )
        )
        self._empty.setText(
            language(
                msg(
                    "No rules: you are asked about deleting, model libraries, files overwritten "
                    "without being read, and more than ten files in one turn."
                )
            )
        )
        for index in range(self.decision.count()):
            self.decision.setItemText(index, language(_DECISIONS[self.decision.itemData(index)][0]))
        for index in range(self.effect.count()):
            effect = self.effect.itemData(index)
            self.effect.setItemText(index, language(msg("anything") if effect == "*" else _EFFECTS[effect]))
        self.tool.setItemText(0, language(msg("every tool")))
        for field, name in (
            (self.decision, msg("Decision")),
            (self.tool, msg("Tool")),
            (self.effect, msg("What it does")),
            (self.table, msg("Confirmation rules")),
        ):
            field.setAccessibleName(language(name))
        self.add_button.setText(language(msg("Add")))
        self.remove_button.setText(language(msg("Remove selected rows")))
        self.close_button.setText(language(msg("Close")))
        self._name_path()
        self._say(self._problem, self._advice)
        self._show()

    def _name_path(self) -> None:
        language = self._services.language
        is_rule = self.decision.currentData() != PROTECTED
        words = msg("lib/**; empty: all") if is_rule else msg("file or folder")
        self.path.setPlaceholderText(language(words))
        self.path.setAccessibleName(language(msg("Path")))
        wildcards = language(msg("* matches characters of one name, ** any folders"))
        self.path.setToolTip(f"{language(words)}\n{wildcards}")
