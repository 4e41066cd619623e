"""What the editor's commands do to the text in front: lines, carets, problems."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from PyQt6.QtWidgets import QApplication, QLineEdit

from presentation.panels.editor import line_commands
from presentation.panels.editor.change_review import ChangeReview
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.examination import Problem, has_title, is_spice
from presentation.panels.editor.page import EditorPage
from presentation.panels.editor.text_changes import edits_by_line
from presentation.ui.workspace import WindowServices
from shared.message import msg


class Area(Protocol):
    """Who has the texts."""

    def current_page(self) -> EditorPage | None: ...

    def show_file(self, path: Path, line: int | None = None, column: int = 1) -> None: ...


class TextCommands:
    """The commands that are for the text in front."""

    def __init__(self, services: WindowServices, area: Area) -> None:
        self._services = services
        self._area = area

    def acts(self) -> dict[str, Callable[[], object]]:
        """What each does, by its name in the table of actions."""
        return {
            "editor.quick_fix": self.quick_fix,
            "editor.probe": self.probe,
            "editor.next_change": partial(self._review, lambda review: review.go(1)),
            "editor.previous_change": partial(self._review, lambda review: review.go(-1)),
            "editor.take_back_change": partial(self._review, lambda review: review.take_back()),
            "editor.keep_change": partial(self._review, lambda review: review.keep()),
            "editor.complete": self.complete,
            "editor.next_problem": partial(self.go_to_problem, 1),
            "editor.previous_problem": partial(self.go_to_problem, -1),
            "editor.format": self.format,
            "editor.comment": self.toggle_comment,
            "editor.move_up": partial(self.move_lines, "up"),
            "editor.move_down": partial(self.move_lines, "down"),
            "editor.copy_up": partial(self.copy_lines, "up"),
            "editor.copy_down": partial(self.copy_lines, "down"),
            "editor.delete_line": self.delete_lines,
            "editor.next_occurrence": self.select_next_occurrence,
        }

    def quick_fix(self) -> None:
        page = self._area.current_page()
        if page is not None:
            page.fix_at_caret()

    def _review(self, act: Callable[[ChangeReview], None]) -> None:
        """Do something with the changes that models made in the text."""
        page = self._area.current_page()
        if page is not None:
            act(page.review)

    def probe(self) -> None:
        """Plot the node or element at the caret."""
        page = self._area.current_page()
        if page is not None:
            page.probe()

    def complete(self) -> None:
        page = self._page()
        if page is not None and page.completer is not None:
            page.completer.ask()

    def format(self) -> None:
        """Align the columns of the text, or of the selected lines."""
        page = self._page()
        if page is not None and is_spice(page.path):
            self._services.start(self._format(page), kind="format text")

    async def _format(self, page: EditorPage) -> None:
        from domain.circuit.formatting import formatted

        editor, text = page.editor, page.editor.text()
        title = has_title(page.path)
        new = await asyncio.to_thread(lambda: formatted(text, has_title=title))
        edits = await asyncio.to_thread(edits_by_line, text, new)
        if page.is_closed or editor.text() != text:
            return  # typed into meanwhile: the key is pressed again
        start, end = editor.selected_bytes()
        if start != end:  # lines are meant, not letters
            start = editor.ask(editor.SCI_POSITIONFROMLINE, editor.ask(editor.SCI_LINEFROMPOSITION, start))
            end = editor.ask(editor.SCI_GETLINEENDPOSITION, editor.ask(editor.SCI_LINEFROMPOSITION, end))
            edits = tuple(edit for edit in edits if edit.start < end and edit.end > start)
        editor.apply(edits)
        if not edits:
            self._services.workspace.status_changed.emit(msg("The columns are aligned already."))

    def toggle_comment(self) -> None:
        page = self._page()
        if page is not None and is_spice(page.path):
            line_commands.toggle_comment(page.editor, has_title=has_title(page.path))

    def move_lines(self, way: Literal["up", "down"]) -> None:
        page = self._page()
        if page is not None:
            line_commands.move_lines(page.editor, way, has_title=_is_titled(page))

    def copy_lines(self, way: Literal["up", "down"]) -> None:
        page = self._page()
        if page is not None:
            line_commands.copy_lines(page.editor, way)

    def delete_lines(self) -> None:
        page = self._page()
        if page is not None:
            line_commands.delete_lines(page.editor)

    def select_next_occurrence(self) -> None:
        page = self._page()
        if page is not None:
            line_commands.select_next_occurrence(page.editor)

    def go_to_problem(self, step: Literal[1, -1]) -> None:
        """Go to the next problem of the text, then of the files it includes, then from the beginning."""
        page = self._area.current_page()
        if page is None:
            return
        workspace, problems = self._services.workspace, page.examination.problems
        if not problems:
            workspace.status_changed.emit(msg("No problems in {name}.", name=page.path.name))
            name = "editor.next_problem" if step > 0 else "editor.previous_problem"
            workspace.command_wanted.emit(name)  # there may be some of the last run
            return
        here = sorted((p for p in problems if p.file == page.path), key=lambda p: p.start)
        others = [p for p in problems if p.file != page.path]
        wanted = _beside(page.editor, here, step) or (others or here)[0 if step > 0 else -1]
        if wanted.file == page.path:
            page.editor.select_bytes(wanted.start, wanted.end)
            page.editor.setFocus()
        else:
            self._area.show_file(wanted.file, wanted.line, wanted.column or 1)
        workspace.status_changed.emit(wanted.message)

    def _page(self) -> EditorPage | None:
        """The page whose text can be changed; None while something is typed into the bar above it."""
        page = self._area.current_page()
        if page is None or page.editor.isReadOnly() or isinstance(QApplication.focusWidget(), QLineEdit):
            return None
        return page


def _is_titled(page: EditorPage) -> bool:
    return is_spice(page.path) and has_title(page.path)


def _beside(editor: CodeEditor, problems: list[Problem], step: Literal[1, -1]) -> Problem | None:
    start, end = editor.selected_bytes()
    if step > 0:
        at_one = any((p.start, p.end) == (start, end) for p in problems)
        behind = (p for p in problems if (p.start > start if at_one else p.start >= end))
        return next(behind, None)
    return next((p for p in reversed(problems) if p.start < start), None)
