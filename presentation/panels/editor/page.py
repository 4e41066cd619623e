"""One open file: its text, what it has to do with the file on the disk, and what is wrong with it.

The file on the disk is the truth. A clean text follows it as one undoable edit; a text with unsaved changes
never gives way and never overwrites what somebody else wrote, without a person's word.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSemaphore, pyqtSignal
from PyQt6.QtWidgets import QMenu, QVBoxLayout, QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.ports.project import ABSENT
from application.project.editing import OpenedFile
from application.project.unsaved_texts import UnsavedText
from domain.circuit.circuit_names import CardCache
from domain.circuit.completion import Facts
from domain.llm.tools.text_files import Encoding, decoded
from presentation.panels.editor import line_commands
from presentation.panels.editor.change_review import ChangeReview
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.completing import Completer
from presentation.panels.editor.examination import (
    Examination,
    Problem,
    bytes_of,
    examine,
    has_title,
    is_schematic,
    is_spice,
)
from presentation.panels.editor.hovering import Hovering
from presentation.panels.editor.large_texts import LARGEST_CHECKED, told_of_size
from presentation.panels.editor.newest_point import NewestPoint
from presentation.panels.editor.notice_bar import Notice, NoticeBar, Way
from presentation.panels.editor.over_text import OverText
from presentation.panels.editor.point_hints import PointHints
from presentation.panels.editor.probing import TextProbe
from presentation.panels.editor.text_changes import TextEdit, edits_between
from presentation.panels.editor.trying_out import TryingOut
from presentation.ui.parts import arrange, once_after
from presentation.ui.probe_entries import add_entries
from presentation.ui.workspace import Probed, WindowServices
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from domain.circuit.model_library import Addition, Inserted

_BEGINNING = 1_000_000
"""Characters of a large text that say what its lines end with."""
CHECK_PAUSE_MS = 300
"""How long nothing has to be typed before the text is checked."""


@dataclass(frozen=True, slots=True)
class _Saving:
    """What is being written."""

    data: bytes
    """UTF-8."""
    encoding: Encoding
    revision: int


class EditorPage(QWidget):
    """What a tab holds."""

    state_changed = pyqtSignal()
    """Whether it is unsaved or deleted"""
    examined = pyqtSignal()
    """`examination` is new"""
    saved = pyqtSignal()
    close_requested = pyqtSignal()
    """To be closed; questions have been answered"""
    compare_requested = pyqtSignal(str, str)
    """text on the disk, text here"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        opened: OpenedFile,
        *,
        open_texts: Callable[[], Mapping[Path, str]],
        newest: NewestPoint,
    ) -> None:
        """`open_texts`: what the editor has of all its files; `newest`: operating points for its cards."""
        super().__init__()
        self._services = services
        self._project = project
        self._simulation = simulation
        self._open_texts = open_texts
        self._cards = CardCache()
        self._facts, self._facts_revision = Facts(), -1
        self._list: OverText | None = None
        self.path = opened.path
        self.examination = Examination()
        self.is_deleted = False
        self.is_closed = False
        self._encoding = opened.content.encoding
        self._version = opened.version
        self._baseline = opened.content.text
        self._revision = 0
        self._examined_revision = -1
        self._is_examining = False
        self._wants_fix = False
        self._disk = asyncio.Lock()
        """Reading and writing the file in turn: our own write must not look like somebody else's."""
        self._writing = threading.Lock()
        """Held on worker threads only."""
        self._left_out = opened.content if len(opened.content.text) > LARGEST_CHECKED else None
        """What has to be put in by `fill`."""
        self.is_large = self._left_out is not None
        """It is shown plainly: nothing is read, checked or compared while somebody writes."""
        self.editor = CodeEditor(
            services,
            is_spice=is_spice(opened.path),
            has_title=has_title(opened.path),
            is_large=self.is_large,
        )
        self.completer = Completer(services, self.editor) if is_spice(opened.path) else None
        self.hovering = Hovering(services, self.editor, lambda: self.path, lambda: self.facts, newest)
        self.point_hints = PointHints(services, self.editor, lambda: self.path, lambda: self.facts, newest)
        self._probe = TextProbe(services, simulation, open_texts)
        self.editor.menu_opens.connect(self._offer_probes)
        self.trying = TryingOut(services, self.editor, file=lambda: self.path, encoded=self._encoded)
        self.notices = NoticeBar(services)
        self.review = ChangeReview(
            services,
            project,
            self.editor,
            file=lambda: self.path,
            data=self.bytes_to_save,
            encoded=self._encoded,
        )
        above = self.notices, self.review.bar, self.review.preview.strip
        arrange(QVBoxLayout(self), *above, (self.editor, 1), self.trying.strip, edges=0, gap=0)
        self.setFocusProxy(self.editor)
        self._timer = once_after(self, CHECK_PAUSE_MS, self._start_examination)
        if self._left_out is None:
            self.editor.load(opened.content.text, opened.content.line_end)
        self.editor.edited.connect(self._on_edited)
        self.editor.modificationChanged.connect(lambda _is: self.state_changed.emit())
        self.editor.fix_chosen.connect(self.apply_fix)
        self.editor.caret_added.connect(lambda at: line_commands.toggle_caret(self.editor, at))
        self.editor.escaped.connect(lambda: line_commands.keep_main_caret(self.editor))
        self._start_examination()
        self._offer_import()

    def _offer_import(self) -> None:
        """Who opens a sheet wants its circuit; the text is what LTspice or KiCad reads."""
        if not is_schematic(self.path):
            return
        told = msg("A schematic. Imported, it becomes a netlist that can be simulated.")
        ways = (
            Way("import", msg("Import…"), lambda: self._services.workspace.import_wanted.emit(self.path)),
            Way("dismiss", msg("Close"), lambda: self.notices.tell(None)),
        )
        self.notices.tell(Notice("schematic", told, ways))

    async def fill(self) -> None:
        """Put a large text in, without holding the loop, and say what it is shown without."""
        content, self._left_out = self._left_out, None
        if content is not None:
            beginning = replace(content, text=content.text[:_BEGINNING])
            self.editor.load("", beginning.line_end)
            await self.editor.fill(content.text, lambda: not self.is_closed)
        if self.is_closed:
            return
        told = told_of_size(self.path.name, self.editor.byte_length(), is_spice=is_spice(self.path))
        if told is not None:
            ways = (Way("dismiss", msg("Close"), lambda: self.notices.tell(None)),)
            self.notices.tell(Notice("large", told, ways))

    @property
    def is_dirty(self) -> bool:
        return self.editor.isModified()

    @property
    def facts(self) -> Facts | None:
        """What is known of the circuit; None while it is of another text."""
        return self._facts if self._facts_revision == self._revision else None

    def bytes_to_save(self) -> bytes:
        """What saving would write, as far as its encoding can hold it."""
        return self._encoded(self.editor.text())

    def _encoded(self, text: str) -> bytes:
        return bytes_of(text, self._encoding)

    @property
    def takes_escape(self) -> bool:
        """Something is open over the text that Escape puts away."""
        lists = [self._list, self.completer]
        return bool(self.hovering.shown) or any(each is not None and each.is_open for each in lists)

    def show_list(self, shown: OverText) -> None:
        """A list comes over the text, in place of the one before."""
        if self._list is not None:
            self._list.close()
            self._list.deleteLater()
        self._list = shown

    def include_at_caret(self) -> Path | None:
        """The file that the card at the caret includes."""
        facts, line = self.facts, self.editor.caret()[0]
        if facts is None or facts.names is None:
            return None
        return facts.names.tree.targets.get((facts.file, line))

    # ---- unsaved text over the end of the program ----------------------------------------------

    @property
    def unsaved_mark(self) -> Hashable:
        """Another one when there is something else to be kept."""
        return id(self), self._revision, self._version, self._encoding

    def unsaved_text(self) -> UnsavedText:
        return UnsavedText(
            path=self.path, text=self.editor.text(), encoding=self._encoding, version=self._version
        )

    async def bring_back(self, kept: UnsavedText) -> None:
        """Make the text the unsaved one of an earlier start, as one edit that can be undone.

        Where the file is another than it was made from, the person is asked as ever.
        """
        async with self._disk:
            text = self.editor.text()
            edits = await asyncio.to_thread(edits_between, text, kept.text)
            if self.is_closed or not edits or self.is_dirty:
                return
            self.editor.apply(edits)
            found, self._version, self._encoding = self._version, kept.version, kept.encoding
            if found == ABSENT:
                self._on_deleted()
            elif found != kept.version:
                await self._follow_disk()

    # ---- saving ------------------------------------------------------------------------------

    async def save(self, *, encoding: Encoding | None = None) -> bool:
        """Write the text, unless the file was changed by somebody else: then the person is asked."""
        async with self._disk:
            saving = self._to_be_saved(encoding)
            try:
                await asyncio.to_thread(self._write, saving)
            except CircuitAIError as error:
                await self._on_not_saved(error)
                return False
            self._on_saved(saving)
            return True

    def save_now(self) -> bool:
        """The same, waiting for the disk: for those who must not go on before."""
        saving, done = self._to_be_saved(None), QSemaphore()
        errors: list[BaseException] = []

        def write() -> None:
            try:
                self._write(saving)
            except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
                errors.append(error)
            finally:
                done.release()

        asyncio.get_running_loop().run_in_executor(None, write)
        done.acquire()
        if not errors:
            self._on_saved(saving)
        elif isinstance(errors[0], CircuitAIError):
            self._services.start(self._explain(errors[0]), kind="explain save")
        else:
            raise errors[0]
        return not errors

    def _write(self, saving: _Saving) -> None:
        """One write after the other, each made from what the one before has left. On a worker thread."""
        with self._writing:
            text = decoded(saving.data)
            opened = self._project.edit.save(
                self.path, text, encoding=saving.encoding, expected=self._version
            )
            self._version = opened.version

    async def _explain(self, error: CircuitAIError) -> None:
        async with self._disk:
            await self._on_not_saved(error)

    def _to_be_saved(self, encoding: Encoding | None) -> _Saving:
        return _Saving(self.editor.data(), encoding or self._encoding, self._revision)

    def _on_saved(self, saving: _Saving) -> None:
        self._encoding = saving.encoding
        self.is_deleted = False
        if self._revision == saving.revision:
            self.editor.setModified(False)
        self.notices.tell(None)
        self.state_changed.emit()
        self.saved.emit()

    async def _on_not_saved(self, error: CircuitAIError) -> None:
        if error.error_type == "file_modified_externally":
            await self._follow_disk()
            if not self.is_dirty or self.notices.notice is not None:
                return
        ways = [Way("again", msg("Try again"), self._save_soon)]
        if error.error_type == "not_encodable":
            ways = [Way("utf8", msg("Save as UTF-8"), lambda: self._save_soon(encoding="utf-8"))]
        ways.append(Way("dismiss", msg("Not now"), lambda: self.notices.tell(None)))
        self.notices.tell(Notice("not_saved", error.message, tuple(ways)))

    def _save_soon(self, *, encoding: Encoding | None = None) -> None:
        self._services.start(self.save(encoding=encoding), kind="save file")

    # ---- the file on the disk ----------------------------------------------------------------

    async def reconcile(self) -> None:
        """The file may be another than before: look, and follow, ask or tell."""
        async with self._disk:
            if not self.is_closed:
                await self._follow_disk()

    async def _follow_disk(self) -> None:
        try:
            opened = await self._read()
        except UserInputError as error:
            if error.error_type == "file_not_found":
                self._on_deleted()
            elif not self.is_closed:
                ways = (Way("dismiss", msg("Not now"), lambda: self.notices.tell(None)),)
                self.notices.tell(Notice("changed", error.message, ways))
            return
        if self.is_closed:
            return
        came_back, self.is_deleted = self.is_deleted, False
        if came_back:
            self.notices.tell(None)
            self.state_changed.emit()
        if opened.version == self._version:
            return
        if not self.is_dirty or opened.content.text == self.editor.text():
            await self._take(opened)
        else:
            self._ask(opened)

    async def _read(self) -> OpenedFile:
        """The file as it is; read again when it was saved from here meanwhile."""
        while True:
            version = self._version
            opened = await self._project.edit.read(self.path)
            if version == self._version:
                return opened

    async def _take(self, opened: OpenedFile) -> None:
        """Make the text that of the file: one undoable edit, and clean."""
        is_clean = not self.is_dirty
        while True:
            revision, text = self._revision, self.editor.text()
            edits: tuple[TextEdit, ...] = await asyncio.to_thread(edits_between, text, opened.content.text)
            if self.is_closed:
                return
            if revision == self._revision:
                break
            if is_clean and self.is_dirty:  # typed into meanwhile: now it is a question
                self._ask(opened)
                return
        self._encoding, self._version = opened.content.encoding, opened.version
        if edits:
            self.editor.apply(edits)
        self.editor.setModified(False)
        self.notices.tell(None)
        self.state_changed.emit()

    def _ask(self, opened: OpenedFile) -> None:
        def keep() -> None:
            self._version = opened.version
            self.notices.tell(None)

        def take() -> None:
            self._services.start(self._take_theirs(opened), kind="read file")

        ways = (
            Way("keep", msg("Keep mine"), keep),
            Way("take", msg("Take theirs"), take),
            Way(
                "compare",
                msg("Compare"),
                lambda: self.compare_requested.emit(opened.content.text, self.editor.text()),
            ),
        )
        text = msg(
            "{name} was modified by another program, and you have unsaved changes. Which version do "
            "you want to keep?",
            name=self.path.name,
        )
        self.notices.tell(Notice("changed", text, ways))

    async def _take_theirs(self, opened: OpenedFile) -> None:
        async with self._disk:
            self._version = opened.version
            await self._take(opened)
            await self._follow_disk()  # it may be another again by now

    def _on_deleted(self) -> None:
        if self.is_closed or self.is_deleted:
            return
        self.is_deleted, self._version = True, ABSENT
        ways = (
            Way("again", msg("Save again"), self._save_soon),
            Way("close", msg("Close"), self.close_requested.emit),
        )
        text = msg("{name} was deleted from disk; its text is still here.", name=self.path.name)
        self.notices.tell(Notice("deleted", text, ways))
        self.state_changed.emit()

    def move_to(self, path: Path) -> None:
        self.path = path
        self.is_deleted = False
        self._start_examination()
        self.state_changed.emit()

    def ask_before_closing(self) -> None:
        """A question in the bar: unsaved text would be lost."""

        async def save_and_close() -> None:
            if await self.save():
                self.close_requested.emit()

        ways = (
            Way(
                "save_close",
                msg("Save and close"),
                lambda: self._services.start(save_and_close(), kind="save file"),
            ),
            Way("discard", msg("Close without saving"), self.close_requested.emit),
            Way("dismiss", msg("Cancel"), lambda: self.notices.tell(None)),
        )
        text = msg("{name} has unsaved changes.", name=self.path.name)
        self.notices.tell(Notice("closing", text, ways))

    # ---- checking ----------------------------------------------------------------------------

    def accept_changes(self) -> None:
        """The text as it stands is what changes are counted from."""
        self.review.keep_all()
        if self.is_large:
            return
        self._baseline = self.editor.text()
        self._start_examination()

    def count_changes_from(self, before: str) -> None:
        """Another text is what changes are counted from: what differs from it is marked."""
        self._baseline = before
        self._start_examination()

    def check_again(self) -> None:
        """Something this text depends on may be another (an included file)."""
        if is_spice(self.path) and not self.is_large:
            self._timer.start(CHECK_PAUSE_MS)

    def _on_edited(self) -> None:
        self._revision += 1
        if not self.is_large:
            self._timer.start(CHECK_PAUSE_MS)

    def _start_examination(self) -> None:
        if not self._is_examining and not self.is_closed and not self.is_large:
            self._is_examining = True
            self._services.start(self._examine(), kind="check text")

    async def _examine(self) -> None:
        if self.is_closed:  # since it was asked for
            return
        revision, text = self._revision, self.editor.text()
        try:
            found = await self._examined(text)
        finally:
            self._is_examining = False
        if self.is_closed:
            return
        if revision != self._revision:
            self._timer.start(CHECK_PAUSE_MS)
            return
        self._examined_revision, self.examination = revision, found
        here = [problem for problem in found.problems if problem.file == self.path]
        self.editor.show_problems(here, found.models)
        self.editor.show_changes(found.changed)
        if self.point_hints.is_on:
            self.point_hints.refresh()
        self.review.refresh()
        self.examined.emit()
        self._services.workspace.text_checked.emit(self.path, text)
        if self._wants_fix:
            self.fix_at_caret()

    async def _examined(self, text: str) -> Examination:
        report = None
        if is_spice(self.path):
            await self._read_names(text)
            data = await asyncio.to_thread(bytes_of, text, self._encoding)
            report = await self._simulation.check(self.path, data=data)
        return await asyncio.to_thread(examine, report, self.path, text, baseline=self._baseline)

    async def _read_names(self, text: str) -> None:
        """What the circuit has, for completion and for looking things up."""
        revision, texts = self._revision, {**self._open_texts(), self.path: text}
        facts = await self._simulation.names(self.path, texts, self._cards)
        if not self.is_closed and self.completer is not None:
            self._facts, self._facts_revision = facts, revision
            self.completer.facts = facts

    def fix_at_caret(self) -> None:
        """Mend the problem of the caret's line; a text not checked yet is checked first."""
        if self._examined_revision != self._revision and not self.is_large:
            self._wants_fix = True
            self._start_examination()
            return
        self._wants_fix = False
        problem = self.editor.problem_at_caret()
        if problem is None or problem.fix is None:
            told = msg("No quick fix for this line.")
            self._services.workspace.status_changed.emit(told)
        else:
            self.apply_fix(problem)

    def probe(self) -> None:
        """Plot the node or element at the caret."""
        if is_spice(self.path):
            self._probe.plot(self.path, self.editor.caret()[0], offset=self.editor.caret_byte())

    def probe_name(self, file: Path, line: int, name: str, what: Probed) -> None:
        """Plot a name that stands on a line (from 1) of this file or of an included one (`place_probed`)."""
        if is_spice(file):
            self._probe.plot(self.path, line, what, name=name, file=file)

    def _offer_probes(self, menu: QMenu, offset: int) -> None:
        """What can be plotted at a byte, in a context menu that opens there."""
        if self.facts is not None:
            line = self.editor.line_of(offset) + 1
            add_entries(self._services, menu, self._probe.entries(self.facts, self.path, line, offset))
            menu.addSeparator()

    def apply_fix(self, problem: Problem) -> None:
        """Carry out a problem's quick fix as one step of undo."""
        if problem.fix is None or self._examined_revision != self._revision or self.editor.isReadOnly():
            return
        fix = problem.fix
        self.editor.apply((TextEdit(fix.start, fix.end, fix.text.encode()),))
        self._start_examination()

    def insert_component(self, added: Addition) -> str:
        """An element behind the caret's line and its include, as one step of undo; returns its line."""
        from domain.circuit.model_library import with_addition

        old = self.editor.text()
        line, _ = self.editor.getCursorPosition()
        made = with_addition(old, added, behind=line + 1, has_title=has_title(self.path))
        start = self._take_over(old, made)
        self.editor.select_bytes(start, start + len(made.element.encode()))
        return made.element

    def _take_over(self, old: str, made: Inserted) -> int:
        """Put the changed text into the editor; returns where the element's line begins."""
        self.editor.apply(edits_between(old, made.text))
        self._start_examination()
        return self.editor.positionFromLineIndex(made.line - 1, 0)

    # ---- life --------------------------------------------------------------------------------

    def restyle(self) -> None:
        self.editor.restyle()
        self.notices.restyle()
        self.review.bar.restyle()

    def retranslate(self) -> None:
        self.editor.retranslate()
        self.notices.retranslate()
        self.review.bar.retranslate()

    def end(self) -> None:
        """Nothing more is read, written or checked."""
        self.is_closed = True
        self.trying.drop()
        self.review.end()
        self._timer.stop()
