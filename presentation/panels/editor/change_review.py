"""What models changed in an open text, place by place: shown in it, each kept or taken back alone.

A place is one piece of an operation of the log, or of several with nothing between them
(`application.project.change_pieces`): a second trial of a value is no place of its own. Taking one back is an
operation too: the file on the disk is another then, and the text follows it as one step of undo.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QKeySequence
from PyQt6.QtWidgets import QApplication

from application.groups.project import Project
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.marked_text import ChangedPlace
from presentation.panels.editor.notice_bar import Notice, NoticeBar, Way
from presentation.panels.editor.undo_preview import UndoPreview
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.llm.tools.pieces import Piece

_LARGEST = 2_000_000
"""Bytes of a text that is compared."""
_MOST_OPERATIONS = 64
"""Of one file that are looked at, many of them joined; of earlier ones the cards in the conversation know."""


_Key = tuple[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class _Change:
    """One place that stands."""

    op_ids: tuple[str, ...]
    number: int
    piece: Piece

    @property
    def key(self) -> _Key:
        return self.op_ids, self.number


@dataclass(slots=True)
class _Found:
    standing: list[_Change] = field(default_factory=list)
    touched: int = 0
    """Places that cannot be taken back by themselves."""


class ChangeReview(QObject):
    """Of one page. `file` is its path; `data` what saving it would write; `encoded` makes a text what
    its file would hold."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        editor: CodeEditor,
        *,
        file: Callable[[], Path],
        data: Callable[[], bytes],
        encoded: Callable[[str], bytes],
    ) -> None:
        super().__init__(editor)
        self._services = services
        self._project = project
        self._editor = editor
        self._file = file
        self._data = data
        self._operations: list[str] = []
        self._kept: set[_Key] = set()
        self._apart: set[str] = set()
        """Operations that stood last when a place was kept: what follows is a change of what was kept."""
        self._found = _Found()
        self._is_looking = self._is_asked_again = self._is_over = False
        self.preview = UndoPreview(services, editor, file=file, encoded=encoded)
        editor.caret_moved.connect(lambda _line, _column: self._preview(is_new=False))
        self.bar = NoticeBar(services)
        """Says how many there are, with the ways on."""

    @property
    def count(self) -> int:
        """Places that stand and were not kept."""
        return len(self._found.standing)

    def add(self, op_id: str) -> None:
        """A model changed this file."""
        if op_id not in self._operations:
            self._operations = [*self._operations, op_id][-_MOST_OPERATIONS:]
        self.refresh()

    def refresh(self) -> None:
        """Look again: the text is another."""
        if not self._operations or self._editor.byte_length() > _LARGEST:
            return
        if self._is_looking:
            self._is_asked_again = True
            return
        self._is_looking = True
        self._services.start(self._look(), kind="changes of a model")

    def go(self, step: Literal[1, -1]) -> None:
        """Put the caret on the next place."""
        places = sorted(change.piece.line for change in self._found.standing)
        if not places:
            self._say(msg("No changes of a model are open in this file."))
            return
        line = self._editor.caret()[0]
        if step > 0:
            wanted = next((place for place in places if place > line), places[0])
        else:
            wanted = next((place for place in reversed(places) if place < line), places[-1])
        self._editor.go_to(wanted)
        self._editor.setFocus()

    def take_back(self) -> None:
        """Take back the place at the caret."""
        change = self._at_caret()
        if change is not None:
            self._services.start(self._turn((change,)), kind="undo")

    def take_all_back(self) -> None:
        """Take back all that were not kept, the last one first: what stands above keeps its lines, and what
        an earlier change left stands again behind a later one."""
        self._services.start(self._turn_all(), kind="undo")

    def keep(self) -> None:
        """The place at the caret is as it should be."""
        change = self._at_caret()
        if change is not None:
            self._kept.add(change.key)
            self._apart.update(self._operations[-1:])
            self._show()
            if self._found.standing:
                self.go(1)

    def keep_all(self) -> None:
        """All of it is as it should be."""
        self._operations, self._found = [], _Found()
        self._show()

    # ---- doing it ----------------------------------------------------------------------------

    def _at_caret(self) -> _Change | None:
        """The place of the caret's line, else the only one there is."""
        line, standing = self._editor.caret()[0], self._found.standing
        found = next((each for each in standing if _covers(each.piece, line)), None)
        if found is None and len(standing) == 1:
            return standing[0]
        if found is None:
            key = self._services.shortcuts.shown("editor.next_change")
            self._say(
                msg("The cursor is not on a change of a model. {key} goes to the next one.", key=key)
                if standing
                else msg("No changes of a model are open in this file.")
            )
        return found

    async def _turn(self, changes: tuple[_Change, ...]) -> None:
        root = await self._saved()
        if root is None:
            return
        try:
            await self._take_back(root, changes)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
        else:
            self._tell_undone(is_on_card=all(len(change.op_ids) == 1 for change in changes))
        self._follow()

    async def _turn_all(self) -> None:
        root = await self._saved()
        if root is None:
            return
        left, apart = list(self._operations), frozenset(self._apart)
        is_on_card = True
        try:
            while left:
                found = await self._project.pieces.joined(root, left, apart=apart)
                if not found:
                    break
                last = found[-1]
                changes = [_Change(last.op_ids, *each) for each in enumerate(last.pieces)]
                wanted = [
                    each for each in changes if each.piece.standing == "stands" and each.key not in self._kept
                ]
                is_on_card = is_on_card and (not wanted or len(last.op_ids) == 1)
                await self._take_back(root, tuple(reversed(wanted)))
                left = [each for each in left if each not in last.op_ids]
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
        else:
            self._tell_undone(is_on_card=is_on_card)
        self._follow()

    async def _saved(self) -> Path | None:
        """The project's folder, with all unsaved text in it on the disk."""
        workspace = self._services.workspace
        if workspace.buffers is not None and not await workspace.buffers.save_unsaved():
            return None  # the page says why it could not be saved
        return workspace.root

    async def _take_back(self, root: Path, changes: tuple[_Change, ...]) -> None:
        for change in changes:
            first, last = change.op_ids[0], change.op_ids[-1]
            await self._project.pieces.turn(root, last, change.number, since=first)
            for op_id in change.op_ids:
                self._services.workspace.piece_turned.emit(op_id)

    def _tell_undone(self, *, is_on_card: bool) -> None:
        """No card alone knows the way back of what several operations made."""
        key = QKeySequence(QKeySequence.StandardKey.Undo).toString(QKeySequence.SequenceFormat.NativeText)
        self._say(
            msg("Undone. “Redo this one” on its card in the conversation restores it.")
            if is_on_card
            else msg("Undone. {key} in the netlist restores it.", key=key)
        )

    def _follow(self) -> None:
        self._services.workspace.file_changed.emit(self._file())
        self.refresh()

    async def _look(self) -> None:
        try:
            while True:
                self._is_asked_again = False
                found = await self._look_at(tuple(self._operations))
                if not self._is_asked_again:
                    break
        finally:
            self._is_looking = False
        if not self._is_over:
            self._found = found
            self._show()

    def end(self) -> None:
        """The text is closed: nothing is looked at any more."""
        self._is_over, self._operations = True, []
        self.preview.look((), are_all=False)

    async def _look_at(self, operations: tuple[str, ...]) -> _Found:
        root, found = self._services.workspace.root, _Found()
        if root is None:
            return found
        if self._is_over:
            return found
        try:
            groups = await self._project.pieces.joined(
                root, operations, apart=frozenset(self._apart), text=self._data()
            )
        except CircuitAIError:
            return found
        for group in groups:
            for number, piece in enumerate(group.pieces):
                if piece.standing == "stands":
                    found.standing.append(_Change(group.op_ids, number, piece))
                found.touched += piece.standing == "touched"
        found.standing.sort(key=lambda each: each.piece.line)
        return found

    # ---- showing it --------------------------------------------------------------------------

    def _show(self) -> None:
        found = self._found
        found.standing = [each for each in found.standing if each.key not in self._kept]
        self._editor.show_places(
            [
                ChangedPlace(each.piece.line, each.piece.hunk.added, each.piece.hunk.removed)
                for each in found.standing
            ]
        )
        focused = QApplication.focusWidget()
        if focused is not None and self.bar.isAncestorOf(focused):
            self._editor.setFocus()  # the button that was clicked goes
        self.bar.tell(self._notice() if found.standing else None)
        self._preview()

    def _preview(self, *, is_new: bool = True) -> None:
        """What undoing the place at the caret would do, else all of them."""
        standing = [each.piece for each in self._found.standing]
        line = self._editor.caret()[0]
        here = [piece for piece in standing if _covers(piece, line)][:1]
        self.preview.look(here or standing, are_all=not here and len(standing) > 1, is_new=is_new)

    def _notice(self) -> Notice:
        ways = (
            Way("next", msg("Next"), lambda: self.go(1), action="editor.next_change"),
            Way("take_back", msg("Undo"), self.take_back, action="editor.take_back_change"),
            Way("keep", msg("Keep"), self.keep, action="editor.keep_change"),
            Way("take_all_back", msg("Undo all"), self.take_all_back),
            Way("keep_all", msg("Keep all"), self.keep_all),
        )
        return Notice("review", self._text(), ways)

    def _text(self) -> Message:
        count, touched = len(self._found.standing), self._found.touched
        if not touched:
            return msg("The conversation changed {count} {count:place|places} here.", count=count)
        return msg(
            "The conversation changed {count} {count:place|places} here that can be undone alone. {touched} "
            "{touched:other was|others were} changed again since: its card in the conversation undoes the "
            "whole change.",
            count=count,
            touched=touched,
        )

    def _say(self, text: Message) -> None:
        self._services.workspace.status_changed.emit(text)


def _covers(piece: Piece, line: int) -> bool:
    """A place where lines were removed only is that of the line behind it, and of the one before."""
    count = len(piece.hunk.added)
    return piece.line <= line < piece.line + count if count else line in (piece.line - 1, piece.line)
