"""Definition, uses and another name: what is done with the name at the caret."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from presentation.panels.editor.examination import is_spice
from presentation.panels.editor.file_edits import Change, Done, FileEdits
from presentation.panels.editor.notice_bar import Notice, Way
from presentation.panels.editor.over_text import OverText
from presentation.panels.editor.page import EditorPage
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.hit_list import Hit
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.simulation.finding_places import FoundPlace, NamePlaces

RENAME_TOOL, REPLACE_TOOL = "rename_name", "replace_in_project"
"""How the log of operations names them."""
_MOST_SHOWN = 200


class Area(Protocol):
    """Who has the texts."""

    def window(self) -> QWidget | None: ...

    def current_page(self) -> EditorPage | None: ...

    def pages(self) -> tuple[EditorPage, ...]: ...

    def open_texts(self) -> dict[Path, str]: ...

    def show_file(self, path: Path, line: int | None = None, column: int = 1) -> None: ...

    async def opened(self, path: Path, line: int, column: int) -> EditorPage | None: ...


class NameCommands:
    """The commands for the name at the caret of the text in front."""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, area: Area
    ) -> None:
        self._services = services
        self._project = project
        self._simulation = simulation
        self._area = area
        self.edits = FileEdits(services, project, area.pages)

    def acts(self) -> dict[str, Callable[[], object]]:
        """What each does, by its name in the table of actions."""
        return {
            "editor.definition": self.go_to_definition,
            "editor.uses": self.show_uses,
            "editor.rename": self.rename,
        }

    def go_to_definition(self) -> None:
        """Go where the name is defined; from there, and for an element, to the list of its uses."""
        self._begin(self._go_to_definition, "find definition")

    def show_uses(self) -> None:
        self._begin(self._show_uses, "find uses")

    def rename(self) -> None:
        self._begin(self._rename, "rename")

    def _begin(self, act: Callable[[EditorPage], object], kind: str) -> None:
        page = self._area.current_page()
        if page is not None and is_spice(page.path):
            self._services.start(act(page), kind=kind)

    # ---- finding -----------------------------------------------------------------------------

    async def _found(self, page: EditorPage) -> NamePlaces | None:
        root = self._services.workspace.root
        circuits = await self._project.browse.circuits(root) if root is not None else ()
        editor = page.editor
        offset = editor.ask(editor.SCI_GETSELECTIONSTART)
        found = await self._simulation.places(page.path, offset, self._area.open_texts(), circuits)
        if found is None:
            self._say(msg("Nothing the circuit knows by name stands here."))
        return found

    async def _go_to_definition(self, page: EditorPage) -> None:
        target = page.include_at_caret()
        if target is not None:
            self._show(target, 1, 1)
            return
        found = await self._found(page)
        if found is None:
            return
        at = found.definition
        line, _column = page.editor.caret()
        is_here = at is not None and at.line == line and at.file == _real(page.path)
        if at is None or is_here:
            self._list(page, found)
        else:
            self._show(at.file, at.line, at.column)

    async def _show_uses(self, page: EditorPage) -> None:
        found = await self._found(page)
        if found is not None:
            self._list(page, found)

    def _list(self, page: EditorPage, found: NamePlaces) -> None:
        """The places below the caret; Enter goes to the chosen one."""
        language, count = self._services.language, len(found.places)
        head = msg("{name}: {count} {count:place|places}", name=found.name, count=count)
        hits = [Hit(text=language(head), detail="", icon="", act=lambda: None, is_heading=True)]
        for each in found.places[:_MOST_SHOWN]:
            hits.append(
                Hit(
                    text=" ".join(each.text.split()),
                    detail=f"{each.file.name}:{each.line}",
                    icon="flag" if each.usage == "definition" else "search",
                    act=partial(self._go, each),
                    is_content=True,
                )
            )
        places = OverText(self._services, page.editor, "usesList", is_eager=True)
        places.taken.connect(lambda row: hits[row].act() if 0 < row < len(hits) else None)
        page.show_list(places)
        places.show(hits, page.editor.ask(page.editor.SCI_GETCURRENTPOS))

    def _go(self, place: FoundPlace) -> None:
        self._show(place.file, place.line, place.column)

    def _show(self, file: Path, line: int, column: int) -> None:
        """A file may be open under another path than its real one."""
        shown = next((page.path for page in self._area.pages() if _real(page.path) == file), file)
        self._area.show_file(shown, line, column)

    # ---- another name ------------------------------------------------------------------------

    async def _rename(self, page: EditorPage) -> None:
        from presentation.dialogs.rename_name import RenameDialog

        found = await self._found(page)
        if found is None or page.is_closed:
            return
        new = await RenameDialog(self._services, found, page.window()).ask()
        if new is None:
            return
        try:
            done = await self.edits.apply(_changes(found, new), tool=RENAME_TOOL)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        text = msg(
            "{name} is now {new} in {count} {count:place|places}.",
            name=found.name,
            new=new,
            count=len(found.places),
        )
        self.tell_done(page, text, done)
        page.editor.setFocus()

    def replace_in_project(self) -> None:
        """Search and replace in all texts of the project."""
        root = self._services.workspace.root
        if root is None:
            self._say(msg("Open a folder first."))
        else:
            self._services.start(self._replace(root), kind="question")

    async def _replace(self, root: Path) -> None:
        from presentation.panels.editor.project_texts import changes_of, read_texts
        from presentation.panels.editor.replace_dialog import ReplaceDialog

        texts = await read_texts(self._project, root, self._area.open_texts())
        answer = await ReplaceDialog(self._services, root, texts, self._area.window()).ask()
        if answer is None:
            return
        lines, query, replacement = answer
        try:
            done = await self.edits.apply(changes_of(lines, query, replacement), tool=REPLACE_TOOL)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        count = sum(len(line.matches) for line in lines)
        files = len({line.file.path for line in lines})
        text = msg(
            "Replaced {count} {count:place|places} in {files} {files:file|files}.", count=count, files=files
        )
        page = self._area.current_page()
        if page is None and done.files:  # somewhere the way back has to be
            page = await self._area.opened(done.files[0], lines[0].number, 1)
        self.tell_done(page, text, done)

    def tell_done(self, page: EditorPage | None, text: Message, done: Done) -> None:
        """Say what was changed, with the way back where that is more than Ctrl+Z in one text."""
        if page is None or page.is_closed or (len(done.pages) < 2 and not done.files):
            self._say(text)
            return

        async def take_back() -> None:
            page.notices.tell(None)
            await self.edits.take_back(done)

        ways = (
            Way("undo", msg("Undo all of it"), lambda: self._services.start(take_back(), kind="undo")),
            Way("dismiss", msg("Close"), lambda: page.notices.tell(None)),
        )
        page.notices.tell(Notice("replaced", text, ways))

    def _say(self, text: Message) -> None:
        self._services.workspace.status_changed.emit(text)


def _changes(found: NamePlaces, new: str) -> dict[Path, Change]:
    from domain.circuit.renaming import renamed

    edits: dict[Path, list[TextEdit]] = {}
    for each in found.places:
        start, end = each.spans[0][0], each.spans[-1][1]
        edits.setdefault(each.file, []).append(TextEdit(start, end, renamed(each.place, new).encode()))
    return {
        file: Change(
            before=found.contents[file], edits=tuple(sorted(each, key=lambda edit: edit.start, reverse=True))
        )
        for file, each in edits.items()
    }


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
