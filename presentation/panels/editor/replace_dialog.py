"""Search and replace in all texts of a project, with the lines as they would be."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QWidget

from presentation.panels.editor.project_texts import Line, Texts, lines_with
from presentation.panels.editor.searching import Query
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_ROWS, _WIDTH = 11, 500
_MOST_SHOWN = 500
_PAUSE_MS = 200


class ReplaceDialog(SmallDialog):
    """Two fields, how to search, and the lines; chosen lines can be left out."""

    def __init__(self, services: WindowServices, root: Path, texts: Texts, parent: QWidget | None) -> None:
        super().__init__(services, parent, "replaceInProject", title=msg("Search and replace in the project"))
        self._root, self._texts = root, texts
        self._lines: list[Line] = []
        self._left_out: set[tuple[Path, int]] = set()
        self._request = 0
        self._answer: tuple[list[Line], Query, str] | None = None
        language = services.language
        self.find_field, self.replace_field = QLineEdit(), QLineEdit()
        for field, name, words in (
            (self.find_field, "projectFind", msg("Find")),
            (self.replace_field, "projectReplace", msg("Replace with")),
        ):
            field.setObjectName(name)
            field.setPlaceholderText(language(words))
            field.setAccessibleName(language(words))
            field.textChanged.connect(self._soon)
            self.add(field)
        self._ways = {
            "case": QCheckBox(language(msg("Match case"))),
            "word": QCheckBox(language(msg("Whole words"))),
            "regex": QCheckBox(language(msg("Regular expression"))),
        }
        ways = QWidget()
        arrange(QHBoxLayout(ways), *self._ways.values(), 1, edges=0)
        for name, box in self._ways.items():
            box.setObjectName(f"project_{name}")
            box.toggled.connect(self._soon)
        self.table = FigureTable(services, "replacedLines", wide_column=1)
        self.table.setAccessibleName(language(msg("Lines that change")))
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.table.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self.table.doubleClicked.connect(lambda index: self._go_to(index.row()))
        self._told = text_label(name="replaceTold", wraps=True, role="secondary")
        leave = push_button(
            language(msg("Leave out the chosen lines")), name="leaveOut", clicked=self._leave_out, kind="link"
        )
        for widget in (ways, self.table, leave, self._told):
            self.add(widget)
        self.add_button(msg("Cancel"), is_left=True)
        self.replace_button = self.add_button(msg("Replace"), kind="primary", act=self._replace)
        self.replace_button.setObjectName("replaceButton")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._search)
        self._show(None)
        self.find_field.setFocus()

    async def ask(self) -> tuple[list[Line], Query, str] | None:
        """Show it until it is over; lines, query and replacement, None for nothing to be done."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self._answer

    @property
    def query(self) -> Query:
        case, word, regex = (box.isChecked() for box in self._ways.values())
        return Query(text=self.find_field.text(), match_case=case, whole_word=word, is_regex=regex)

    @property
    def _wanted(self) -> list[Line]:
        return [line for line in self._lines if (line.file.path, line.number) not in self._left_out]

    def _soon(self, _value: object = None) -> None:
        self.replace_button.setEnabled(False)
        self._timer.start(_PAUSE_MS)

    def _search(self) -> None:
        self._request += 1
        self._left_out.clear()
        self._services.start(self._look(self._request), kind="search contents")

    async def _look(self, request: int) -> None:
        lines, problem = await lines_with(self._texts.files, self.query, self.replace_field.text())
        if request == self._request:
            self._lines = lines
            self._show(problem)

    def _show(self, problem: Message | None) -> None:
        language, wanted = self._services.language, self._wanted
        self.table.show_rows(
            [Column(title=language(msg("Line"))), Column(title=language(msg("Text")))],
            [
                [Cell(text=self._place(line), style="mono_small", tip=self._place(line)),
                 Cell(text=" ".join(line.after.split()), style="mono_small", tip=line.before.strip())]
                for line in wanted[:_MOST_SHOWN]
            ],
        )  # fmt: skip
        told = msg(
            "{count} {count:place|places} in {files} {files:file|files}",
            count=sum(len(line.matches) for line in wanted),
            files=len({line.file.path for line in wanted}),
        )
        if self._texts.left_out and problem is None:
            told = msg(
                "{told}; {count} {count:file is|files are} too large and not looked through.",
                told=told,
                count=self._texts.left_out,
            )
        self._told.setText(language(problem if problem is not None else told))
        self.replace_button.setEnabled(bool(wanted))

    def _place(self, line: Line) -> str:
        return f"{line.file.path.relative_to(self._root).as_posix()}:{line.number}"

    def _leave_out(self) -> None:
        wanted = self._wanted
        for row in self.table.selected_rows():
            self._left_out.add((wanted[row].file.path, wanted[row].number))
        self._show(None)

    def _go_to(self, row: int) -> None:
        """A line is looked at where it stands; nothing is replaced."""
        line = self._wanted[row]
        self._close_with(None)
        self._services.workspace.file_activated.emit(line.file.path, line.number)

    def _replace(self) -> None:
        if self._wanted and not self._timer.isActive():
            self._answer = self._wanted, self.query, self.replace_field.text()
            self._close_with(None)
