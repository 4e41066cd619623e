"""Lines of the text in front, named in the message that is being written: to be asked about, or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from domain.circuit import whole_lines
from presentation.mentions import can_be_mentioned, mention
from presentation.panels.editor.line_commands import Lines
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import WindowServices
from shared.message import msg


class Area(Protocol):
    """Who has the texts."""

    def current_page(self) -> EditorPage | None: ...


class ToConversation:
    """The commands that lead from the text to the conversation."""

    def __init__(self, services: WindowServices, area: Area) -> None:
        self._services, self._area = services, area

    def acts(self) -> dict[str, Callable[[], object]]:
        """What each does, by its name in the table of actions."""
        return {
            "editor.to_conversation": self.name_selection,
            "editor.change_by_words": self.change_by_words,
        }

    def name_selection(self) -> None:
        """Name the selected lines in the message; without a selection begin one."""
        page = self._area.current_page()
        if page is None or not page.editor.hasSelectedText():
            self._services.workspace.command_wanted.emit("pane.right")
        elif (lines := self._lines(page)) is not None:
            self._services.workspace.words_offered.emit(f"{lines} ")

    def change_by_words(self) -> None:
        """Begin a message that says what becomes of the selected lines, else of the card at the caret."""
        page = self._area.current_page()
        lines = None if page is None else self._lines(page)
        if lines is not None:
            words = self._services.language(msg("Change {lines}:", lines=lines))
            self._services.workspace.words_offered.emit(f"{words} ")

    def _lines(self, page: EditorPage) -> str | None:
        """`@FILE:FIRST-LAST`; None, and the reason told, for a file outside the project."""
        root = self._services.workspace.root
        is_inside = root is not None and page.path.is_relative_to(root)
        if root is None or not is_inside or not can_be_mentioned(str(page.path)):
            told = msg("{name} is not in the project: the conversation cannot read it.", name=page.path.name)
            self._services.workspace.status_changed.emit(told)
            return None
        if page.editor.hasSelectedText():
            first, _, last, column = page.editor.getSelection()
            last -= 0 if column else 1  # nothing is selected of a line at its start
        else:
            line = page.editor.caret()[0] - 1
            block = whole_lines.whole_cards(Lines(page.editor), whole_lines.Block(line, line))
            first, last = block.first, block.last
        name = page.path.relative_to(root).as_posix()
        place = f"{first + 1}-{last + 1}" if last > first else f"{first + 1}"
        return mention(f"{name}:{place}")
