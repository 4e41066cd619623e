"""Files are opened in the editor: read off the loop, in the order in which they were asked for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from application.groups.project import Project
from application.ports.project import ABSENT
from application.project.editing import OpenedFile
from application.project.unsaved_texts import UnsavedText
from domain.llm.tools.text_files import TextFile
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.page import EditorPage
from presentation.ui.closable_tabs import ClosableTabs
from presentation.ui.workspace import Place, WindowServices
from shared.errors import CircuitAIError


class Area(Protocol):
    """Who has the tabs."""

    tabs: ClosableTabs

    def page_of(self, path: Path) -> EditorPage | None: ...

    def current_page(self) -> EditorPage | None: ...

    def current_editor(self) -> CodeEditor | None: ...

    def add(self, opened: OpenedFile) -> EditorPage: ...

    def bring(
        self, page: EditorPage, place: tuple[int, int] | None = None, *, takes_keyboard: bool = True
    ) -> None: ...


class Opening:
    """Gives a tab to each file that somebody wants to see."""

    def __init__(self, services: WindowServices, project: Project, area: Area) -> None:
        self._services = services
        self._project = project
        self._area = area
        self._opening: dict[Path, tuple[int, int] | None] = {}
        """Files being read, and where the caret is to go."""
        self._baselines: dict[Path, str] = {}
        """Texts that the changes of files are counted from when these are opened next."""
        self._front: Path | None = None
        """The file that was asked for last, also while it and others are being read."""
        self._places: dict[Path, Place] = {}
        """Where one was in files that are not open yet."""
        self._changes: dict[Path, list[str]] = {}
        """Operations of models on files that are not open."""
        self._turn = asyncio.Lock()
        """Files open in the order in which they were asked for: the last one is in front."""

    def set_places(self, places: Mapping[Path, Place]) -> None:
        """Where one was in files that are opened from now on."""
        self._places = dict(places)

    def keep_place(self, path: Path, place: Place) -> None:
        """The file is closed; opened again it is where one was."""
        self._places[path] = place

    async def all_opened(self) -> None:
        """Wait until every file is open that was asked for before."""
        async with self._turn:
            pass

    def show(self, path: Path, line: int | None = None, column: int = 1) -> None:
        """Open `path`, or bring it to the front; the caret goes to `line` when one is named."""
        path = self._front = absolute(path)
        page = self._area.page_of(path)
        place = (line, column) if line is not None else None
        if page is not None:
            self._area.bring(page, place)
        elif path in self._opening:
            self._opening[path] = place or self._opening[path]
        else:
            self._opening[path] = place
            self._services.start(self._open(path), kind="open file")

    def show_changed(self, path: Path, before: str, line: int | None = None) -> None:
        """The same, with what differs from the text `before` marked as changed."""
        self._baselines[absolute(path)] = before
        self.show(path, line)

    def note_change(self, path: Path, op_id: str) -> None:
        """A model changed a file: its text says so, at once or when it is opened."""
        path = absolute(path)
        page = self._area.page_of(path)
        if page is not None:
            page.review.add(op_id)
        else:
            self._changes[path] = [*self._changes.get(path, ()), op_id]

    def offer(self, path: Path) -> None:
        """Open `path`, and show it unless somebody writes in another file; the keyboard stays where it is."""
        path = absolute(path)
        editor = self._area.current_editor()
        if editor is None or not editor.hasFocus():
            self._front = path
        page = self._area.page_of(path)
        if page is None and path not in self._opening:
            self._opening[path] = None
            self._services.start(self._open(path, takes_keyboard=False), kind="open file")
        elif page is not None and self._front == path:
            self._area.bring(page, takes_keyboard=False)

    async def page_for(self, path: Path) -> EditorPage | None:
        """The page of a file, in front, its caret where it was; None where it cannot be read (said)."""
        path = absolute(path)
        page = self._area.page_of(path)
        if page is None:
            return await self.opened(path, 1, 1)
        self.show(path)
        return page

    async def opened(self, path: Path, line: int, column: int) -> EditorPage | None:
        """Show a file at a place, and wait until it is open; None where it cannot be read, which is said."""
        if self._area.page_of(path) is None:
            self._front, self._opening[path] = path, (line, column)
            await self._open(path)
        else:
            self.show(path, line, column)
        return self._area.page_of(path)

    def bring_back(self, kept: UnsavedText, done: Callable[[], object]) -> None:
        """Open a file with the unsaved text of an earlier start; see `workspace.Buffers`."""
        self._services.start(self._bring_back(kept, done), kind="open file")

    async def _open(self, path: Path, *, takes_keyboard: bool = True) -> None:
        area = self._area
        async with self._turn:
            page = area.page_of(path)
            try:
                opened = await self._project.edit.read(path) if page is None else None
            except CircuitAIError as error:
                self._services.workspace.error_occurred.emit(error)
                return
            finally:
                place = self._opening.pop(path, None)
            if opened is not None:
                page = await self._add(opened)
            assert page is not None
            if page.is_closed:  # while its text was put in
                return
            if takes_keyboard or self._front == path:
                area.bring(page, place, takes_keyboard=takes_keyboard)
            front = area.page_of(self._front) if self._front is not None else None
            if front is not None and front is not area.current_page() and not self._opening:
                area.bring(front)

    async def _bring_back(self, kept: UnsavedText, done: Callable[[], object]) -> None:
        area = self._area
        async with self._turn:
            page = area.page_of(kept.path)
            if page is None:
                try:
                    opened = await self._project.edit.read(kept.path)
                except CircuitAIError as error:
                    if error.error_type != "file_not_found":
                        self._services.workspace.error_occurred.emit(error)
                        return
                    nothing = TextFile(text="", encoding=kept.encoding)
                    opened = OpenedFile(path=kept.path, content=nothing, version=ABSENT)
                page = await self._add(opened)
                if area.tabs.count() == 1 or self._front in (None, kept.path):
                    area.bring(page, takes_keyboard=False)
            await page.bring_back(kept)
            place = self._places.get(kept.path)
            if place is not None and not page.is_closed:  # lines that are not saved have places too
                page.editor.go_to_place(*place)
            done()

    async def _add(self, opened: OpenedFile) -> EditorPage:
        page = self._area.add(opened)
        await page.fill()
        if page.is_closed:
            return page
        if page.path in self._places:
            page.editor.go_to_place(*self._places[page.path])
        if (before := self._baselines.pop(page.path, None)) is not None:
            page.count_changes_from(before)
        for op_id in self._changes.pop(page.path, ()):
            page.review.add(op_id)
        return page


def absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay as the user sees them
