"""Which drawing is due: of the circuit in front, of the text as the editor has it, in a scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from domain.circuit.netlist import NETLIST_SUFFIXES
from presentation.panels.editor.examination import is_schematic
from presentation.ui.parts import once_after
from presentation.ui.signals import Signal, signal
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.program import Program
    from application.simulation.schematics import DrawSchematic
    from domain.circuit.schematic.display import Drawing
    from domain.circuit.schematic.parts import Page
    from domain.circuit.schematic.placing import Place
    from domain.circuit.schematic.symbols import SymbolSet
    from presentation.ui.workspace import WindowServices

NOTHING = msg("The schematic of the netlist in the editor appears here.")
_DRAWING = msg("The schematic is being drawn.")
_NO_NETLIST = msg("This file is not a netlist and has no schematic.")
_NOT_IMPORTED = msg("Once this schematic is imported, it is drawn here.")
_KIND = "draw schematic"
_MOST_KEPT = 24


class SchematicFeed(QObject):
    """Keeps a drawing of the shown file; at rest while nobody looks."""

    changed: Signal[[]] = signal()
    """Another drawing, or another reason why there is none"""

    def __init__(self, services: WindowServices, schematic: DrawSchematic, program: Program) -> None:
        super().__init__()
        self._services, self._schematic, self._program = services, schematic, program
        self.file: Path | None = None
        self.scope = ""
        """The subcircuit whose page is shown; "" is the top level."""
        self.symbols: SymbolSet = "iec"
        self.drawing: Drawing | None = None
        self._page: Page | None = None
        """What was drawn last."""
        self.problem: Message | None = NOTHING
        """Why there is no drawing, or why it is of an earlier text."""
        self.is_refining = False
        self._is_watched = False
        self._is_due = True
        self._request = 0
        self._kept: dict[tuple[Path, str, SymbolSet], Drawing] = {}
        self._unsaved: dict[Path, str] = {}
        self._timer = once_after(self, 100, self._read)
        workspace = services.workspace
        workspace.file_shown.connect(self._on_shown)
        workspace.file_changed.connect(self._on_changed)
        workspace.text_checked.connect(self._on_text)
        workspace.file_moved.connect(lambda _old, _new: self._kept.clear())
        workspace.project_closed.connect(self._forget)
        self._on_shown(workspace.shown_file)

    def watch(self, *, is_watched: bool) -> None:
        """Whether somebody looks: what is due is drawn then."""
        self._is_watched = is_watched
        if is_watched and self._is_due:
            self._read()

    def open_scope(self, scope: str) -> None:
        """Show the page of a subcircuit; "" for the top level."""
        self.scope = scope
        self.drawing = self._kept.get(self._key) if self.file is not None else None
        self._read()

    def choose_symbols(self, symbols: SymbolSet) -> None:
        if symbols != self.symbols:
            self.symbols = symbols
            self._read()

    def tidy(self) -> Callable[[], bool]:
        """Draw the page anew, whatever stood where, also what was moved by hand. What takes it back."""
        back = partial(self._put_back, self.file, self.drawing, self._by_hand())
        self._stop_refining()
        self.drawing = None
        if self.file is not None:
            self._kept.pop(self._key, None)
            self._keep_by_hand({})
        self._read()
        return back

    async def move(self, element: str, by: tuple[int, int]) -> Callable[[], bool] | None:
        """Move an element; what takes it back. None where the page became another meanwhile.

        Raises UserInputError where it cannot stand there.
        """
        page, before, request = self._page, self.drawing, self._request
        if page is None or before is None or page.topology_key != before.topology_key:
            return None
        self._stop_refining()
        found = await self._schematic.moved(page, before, element, by, symbols=self.symbols)
        if request != self._request or self.drawing is not before:
            return None
        back = partial(self._put_back, self.file, before, self._by_hand())
        self._keep_by_hand(found.places)
        self._set(found, request)
        return back

    def _put_back(self, file: Path | None, drawing: Drawing | None, places: Mapping[str, Place]) -> bool:
        """A drawing and its kept places; not where the page is another by now."""
        now = self.drawing
        if file != self.file or drawing is None or now is None or now.topology_key != drawing.topology_key:
            return False
        self._stop_refining()
        self._keep_by_hand(places)
        self._keep(drawing)
        self._read()  # its texts may be others by now
        return True

    def _by_hand(self) -> dict[str, Place]:
        """Where the parts of the shown page stand, when one of them was moved by hand."""
        kept = {} if self.file is None else self._services.workspace.views.of(self.file).schematic
        from application.simulation.schematics import places_by_hand

        return places_by_hand(kept.get(self.scope, {}))

    def _keep_by_hand(self, places: Mapping[str, Place]) -> None:
        views = self._services.workspace.views
        kept = views.of(self.file).schematic
        kept.pop(self.scope, None)
        if places:
            kept[self.scope] = {
                name: (each.x, each.y, each.turn, each.flip, each.upright) for name, each in places.items()
            }
        views.tell()

    @property
    def _key(self) -> tuple[Path, str, SymbolSet]:
        assert self.file is not None
        return self.file, self.scope, self.symbols

    def _on_shown(self, path: Path | None) -> None:
        if path == self.file and path is not None:
            return
        self.file, self.scope = path, ""
        self.drawing = self._kept.get(self._key) if path is not None else None
        if path is None or path.suffix.lower() not in NETLIST_SUFFIXES:
            self._request += 1
            self.drawing = None
            self._is_due = False
            foreign = _NOT_IMPORTED if path is not None and is_schematic(path) else _NO_NETLIST
            self._say(NOTHING if path is None else foreign)
        else:
            self._read()

    def _on_changed(self, path: Path) -> None:
        if path.suffix.lower() in NETLIST_SUFFIXES and self.file is not None:
            self._timer.start()  # it may be one that the shown one includes

    def _on_text(self, path: Path, text: str) -> None:
        buffers = self._services.workspace.buffers
        if buffers is not None and buffers.is_dirty(path):
            self._unsaved[path] = text
        elif self._unsaved.pop(path, None) is None:
            return  # as on the disk, before and now
        if path == self.file:
            self._read()

    def _forget(self) -> None:
        self._kept.clear()
        self._unsaved.clear()
        self._on_shown(None)

    def _say(self, problem: Message | None) -> None:
        self.problem = problem
        self.changed.emit()

    def _read(self) -> None:
        self._timer.stop()
        if self.file is None or self.file.suffix.lower() not in NETLIST_SUFFIXES:
            return
        self._is_due = True
        if self._is_watched:
            self._is_due = False
            self._request += 1
            if self.drawing is None:  # a large one takes seconds
                self._say(_DRAWING)
            self._services.start(self._load(self.file, self._request), kind="read schematic")

    async def _load(self, file: Path, request: int) -> None:
        buffers = self._services.workspace.buffers
        is_dirty = buffers is not None and buffers.is_dirty(file)
        text = self._unsaved.get(file) if is_dirty else None
        data = None if text is None else text.encode("utf-8", "surrogatepass")
        try:
            pages = await self._schematic.read(file, scope=self.scope, data=data)
        except UserInputError as error:
            if request == self._request:
                if self.scope:  # the subcircuit is gone
                    self.open_scope("")
                else:
                    self._say(error.message)
            return
        if request == self._request:
            await self._draw(pages.page, request)

    async def _draw(self, page: Page, request: int) -> None:
        """At once what can be had at once; then, where it was drawn anew, the better one."""
        from domain.circuit.schematic.drawing import FIRST, keeps

        before, symbols = self.drawing, self.symbols
        self._page = page
        by_hand = self._by_hand() if before is None or before.scope != page.scope else {}
        if by_hand:
            self._stop_refining()
            stood = await self._schematic.arranged(page, by_hand, symbols=symbols)
            if stood is not None:
                self._set(stood, request)
                return
        if before is not None and before.topology_key != page.topology_key:
            self._stop_refining()
        if before is not None and before.scope == page.scope:
            found = await self._schematic.followed(page, before, symbols=symbols)
            if keeps(found, before):
                self._set(found, request)
                return
        else:
            self._stop_refining()
            found = await self._schematic.searched(page, symbols=symbols, effort=FIRST)
        if self._set(found, request, is_refining=True):
            self._services.start(self._refine(page, request), kind=_KIND)

    async def _refine(self, page: Page, request: int) -> None:
        from domain.circuit.schematic.drawing import ONCE

        found = await self._schematic.searched(page, symbols=self.symbols, effort=ONCE)
        if self.drawing is None or self.drawing.topology_key != page.topology_key:
            return
        if request != self._request:  # values have changed meanwhile: places of this one, texts of the newest
            self._keep(found)
            self._read()
            return
        self._set(found, request)

    def _stop_refining(self) -> None:
        self.is_refining = False
        self._program.tasks.cancel(kind=_KIND)

    def _set(self, drawing: Drawing, request: int, *, is_refining: bool = False) -> bool:
        if request != self._request:
            return False
        self.is_refining = is_refining
        self._keep(drawing)
        self._say(drawing.undrawn[0].message if drawing.undrawn else None)
        return True

    def _keep(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self._kept.pop(self._key, None)
        self._kept[self._key] = drawing
        while len(self._kept) > _MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
