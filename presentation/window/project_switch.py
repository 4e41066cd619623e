"""Opening another project: what is asked before, what is brought back, what is remembered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QWidget

from application.groups.program import Program
from application.groups.project import Project
from application.project.window_state import ProjectMemory, WindowState
from presentation.panels.run_controller import RUN_SCOPE
from presentation.ui import questions
from presentation.ui.new_project import WantedDesign, ask_new_project, default_place
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from presentation.window.panes import Panes
from presentation.window.projects import ProjectDesk, joined_memory
from presentation.window.work_keeper import WorkKeeper
from shared import paths
from shared.errors import CircuitAIError
from shared.message import Message, msg

_logger = logging.getLogger(__name__)

_WORK = frozenset({"simulation", "conversation"})
"""Kinds of tasks that are asked about before a project is left; the others end by themselves."""


class ProjectSwitch(QObject):
    """Asks, opens, restores, remembers. It works in tasks, and opens one project at a time."""

    state_changed = pyqtSignal()
    """Another list of recent projects"""

    def __init__(
        self,
        services: WindowServices,
        window: QWidget,
        parts: Parts,
        panes: Panes,
        desk: ProjectDesk,
        *,
        project: Project,
        program: Program,
    ) -> None:
        super().__init__(window)
        self._services = services
        self._project = project
        self._program = program
        self._window = window
        self._parts = parts
        self._panes = panes
        self._desk = desk
        self._is_opening = asyncio.Lock()
        self.state = WindowState()
        """As it will be saved."""
        self.keeper = WorkKeeper(services, project, program, self._remembered, self)
        self.is_discarded = False
        """A person has said, at the end, that unsaved text may go."""
        self._restoring: object | None = None
        """While a project and its tabs are being opened: what was remembered of it holds."""
        services.workspace.main_circuit_needed.connect(self._choose_main_and_run)

    @property
    def is_restoring(self) -> bool:
        """Whether tabs and text of the open project are still coming back."""
        return self._restoring is not None

    # ---- for menus and pages -------------------------------------------------------------------

    def open(self, place: Path) -> None:
        """Open a folder or a file; asks what has to be asked."""
        self._services.start(self._switch(place), kind="open project")

    def open_folder(self) -> None:
        self._services.start(self._choose_and_open(msg("Open folder")), kind="open project")

    def open_example(self, name: str) -> None:
        """Copy an example into the folder of new projects, and open the copy."""
        self._services.start(self._copy_and_open(name), kind="open project")

    def choose_example(self) -> None:
        """Ask which example, and open a copy of it."""
        self._services.start(self._choose_example(), kind="open project")

    def new_project(self) -> None:
        """Ask for a name, make the folder and open it."""
        self._services.start(self._make_and_open(), kind="open project")

    def close_project(self) -> None:
        self._services.start(self._close(), kind="close project")

    def new_circuit(self) -> None:
        self._services.start(self._new_circuit(), kind="new circuit")

    def choose_main(self) -> None:
        self._services.start(self._choose_main(), kind="choose main circuit")

    def _choose_main_and_run(self) -> None:
        self._services.start(self._choose_main(is_to_run=True), kind="choose main circuit")

    def design(self, wanted: WantedDesign) -> None:
        """Make its folder, open that, and hand the sentence to the conversation."""
        self._services.start(self._open_and_design(wanted), kind="open project")

    async def make(self, name: str) -> Path | None:
        """Make a folder of this name, or one like it that is free, in the place of new projects, and open
        it; None where the project that is open may not be left."""
        is_open = await self._switch(lambda: self._project.browse.new_folder(name, default_place()))
        return self._services.workspace.root if is_open else None

    def keep(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)

    # ---- opening and closing -------------------------------------------------------------------

    async def _choose_and_open(self, title: Message) -> None:
        root = self._services.workspace.root
        folder = await questions.choose_folder(
            self._services, self._window, title, root.parent if root else Path.home()
        )
        if folder is not None:
            await self._switch(folder)

    async def _choose_example(self) -> None:
        from presentation.panels.welcome import EXAMPLES

        language = self._services.language
        there = {example.name for example in await self._project.browse.examples()}
        names = {language(title): name for name, (title, _) in EXAMPLES.items() if name in there}
        title = await questions.choose_item(
            self._services,
            self._window,
            title=msg("Open an example"),
            label=msg("A copy of it is opened, with its simulated results."),
            items=list(names),
        )
        if title is not None:
            await self._copy_and_open(names[title])

    async def _copy_and_open(self, name: str) -> None:
        await self._switch(lambda: self._project.browse.copy_example(name, default_place()))

    async def _switch(self, place: Path | Callable[[], Awaitable[Path]]) -> bool:
        """Open another project, if the one that is open may be left; whether it is open now.

        A folder that does not exist yet is made only then: who stays where he is gets no empty folders.
        """
        async with self._is_opening:
            if not await self.may_leave():
                return False
            if not isinstance(place, Path):
                try:
                    place = await place()
                except CircuitAIError as error:
                    self.is_discarded = False
                    self._services.workspace.error_occurred.emit(error)
                    return False
            await self._program.stop.stop("session_switch", scope=RUN_SCOPE)
            return await self.open_now(place)

    async def open_now(self, place: Path, *, is_last: bool = False) -> bool:
        """Open without a question; False when it could not be, which is told. `is_last`: nobody asked."""
        self.remember()
        state = self.state
        self._restoring = this = object()
        workspace = self._services.workspace
        workspace.set_opening(place)
        try:
            known = state.projects.get(await self._project.browse.root_of(place))
            opened = await self._desk.open(
                place, known, opening=lambda root: self._bring_back_conversations(root, state.memory_of(root))
            )
        except CircuitAIError as error:
            self._restoring = None
            workspace.set_opening(None)
            self.state = state.without(place)
            self.state_changed.emit()
            if is_last:
                error = CircuitAIError(
                    msg("The last project no longer exists: {path}", path=place), advice=error.advice
                )
            workspace.error_occurred.emit(error)
            return False
        except BaseException:
            self._restoring = None
            workspace.set_opening(None)
            raise
        memory = state.memory_of(opened.root)
        self.state = replace(state, last_project=opened.root).with_memory(opened.root, memory)
        self.state_changed.emit()
        try:
            await self._restore(opened.root, memory, opened.file)
        except BaseException:
            self._restoring = None
            workspace.set_opening(None)
            raise
        self._services.start(self._end_restoring(this), kind="open file")
        self._services.start(self._tidy(opened.root), kind="tidy undo data")
        self._services.start(self._take_up(opened.root), kind="take up what was cut off")
        return True

    async def _tidy(self, root: Path) -> None:
        """Undo data beyond its retention goes, off the loop; what stands in the way is only logged."""
        if not await asyncio.to_thread(paths.is_project, root):
            return
        try:
            await self._project.tidy_undo_data(root)
        except CircuitAIError as error:
            _logger.warning("Undo data could not be tidied: %s", error)

    async def _take_up(self, root: Path) -> None:
        """What a killed program had under way: what is kept of it is a result, and it is told."""
        if not await asyncio.to_thread(paths.is_project, root):
            return
        try:
            found = await self._project.clean.after_a_kill(root)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        if found:
            self._services.workspace.cut_off_found.emit(found)

    def _bring_back_conversations(self, root: Path, memory: ProjectMemory) -> None:
        """Before their list is read."""
        self._parts.conversation.tabs.bring_back(
            root, memory.conversations, memory.front_conversation, memory.drafts, memory.gaps
        )

    async def _restore(self, root: Path, memory: ProjectMemory, file: Path | None) -> None:
        """Tabs, open folders, sizes; the main circuit when there is nothing to bring back.

        Unsaved text of an earlier start comes back as what it was: not saved.
        """
        self._parts.bottom.bring_back(memory.bottom_panel)
        self._parts.tree.expand([root / name for name in memory.expanded])
        self._panes.set_sizes(memory.sizes or self.state.sizes)
        workspace = self._services.workspace
        kept = {text.path: text for text in await self.keeper.claim(root)}
        if workspace.root != root:
            return
        if workspace.buffers is not None:
            workspace.buffers.set_places({root / name: place for name, place in memory.places.items()})
        for path in dict.fromkeys([*(root / name for name in memory.open_files), *kept]):
            if path in kept:
                self.keeper.bring_back(kept[path])
            else:
                workspace.file_activated.emit(path, None)
        if kept:
            names = ", ".join(path.name for path in kept)
            workspace.status_changed.emit(msg("Restored, still unsaved: {names}", names=names))
        shown = file or (root / memory.shown_file if memory.shown_file else workspace.main_circuit)
        if shown is not None:
            workspace.file_activated.emit(shown, None)
        else:  # what had the focus may have gone: Qt would hand it on to whatever comes next
            self._parts.tree.view.setFocus(Qt.FocusReason.OtherFocusReason)

    async def _end_restoring(self, this: object) -> None:
        workspace = self._services.workspace
        try:
            if workspace.buffers is not None:
                await workspace.buffers.all_opened()
        finally:
            if self._restoring is this:
                self._restoring = None
                workspace.set_opening(None)

    async def _close(self) -> None:
        async with self._is_opening:
            if self._services.workspace.root is None or not await self.may_leave():
                return
            self.remember()
            self.keep(last_project=None)
            await self._desk.close()

    async def may_leave(self) -> bool:
        """Before the project is left: unsaved text and running work are asked about."""
        self.is_discarded = False
        buffers = self._services.workspace.buffers
        unsaved = () if buffers is None else buffers.unsaved()
        if unsaved and not await self._ask_unsaved(unsaved):
            return False
        if await self._ask_running():
            return True
        self.is_discarded = False
        return False

    async def _ask_unsaved(self, unsaved: Sequence[Path]) -> bool:
        buffers = self._services.workspace.buffers
        answer = await questions.choose(
            self._services,
            self._window,
            title=msg("Save the changes?"),
            text=msg("Not saved yet: {names}", names=", ".join(path.name for path in unsaved)),
            options=(
                ("save", msg("Save"), "primary"),
                ("discard", msg("Discard"), "danger"),
                ("stay", msg("Cancel"), ""),
            ),
            cancelled="stay",
        )
        if answer == "save":
            return buffers is None or await buffers.save_unsaved()
        self.is_discarded = answer == "discard"
        return self.is_discarded

    async def _ask_running(self) -> bool:
        scopes = {handle.scope for handle in self._program.tasks.handles if handle.kind in _WORK}
        talks = self._parts.conversation.tabs
        # A design that waits at a question does nothing: it is asked again when it is read the next time.
        waiting = {
            tab.scope for tab in (*talks.all, *talks.behind) if tab.is_asking and tab.mode == "workflow"
        }
        if scopes - waiting:
            answer = await questions.choose(
                self._services,
                self._window,
                title=msg("Stop the current work?"),
                text=msg("A simulation or conversation is still running. What it has done so far is kept."),
                options=(("stop", msg("Stop it"), "danger"), ("stay", msg("Cancel"), "")),
                cancelled="stay",
            )
            if answer != "stop":
                return False
        for scope in scopes:
            await self._program.stop.stop("user", scope=scope)
        return True

    async def _new_circuit(self) -> None:
        root = self._services.workspace.root
        if root is None:
            return
        name = await questions.ask_text(
            self._services,
            self._window,
            title=msg("New circuit"),
            label=msg("File name"),
            text="circuit.cir",
        )
        if name:
            try:
                path = await self._project.browse.new_circuit(root, name)
            except CircuitAIError as error:
                self._services.workspace.error_occurred.emit(error)
                return
            self._services.workspace.file_changed.emit(path)
            self._services.workspace.file_activated.emit(path, None)

    async def _choose_main(self, *, is_to_run: bool = False) -> None:
        root, shown = self._services.workspace.root, self._services.workspace.shown_file
        if root is None:
            return
        found = await self._project.browse.circuits(root, (shown,) if shown else ())
        # The one in front of the person first: it is the one that is meant, mostly.
        circuits = sorted(found, key=lambda path: path != shown)
        names = [path.relative_to(root).as_posix() for path in circuits]
        if not names:
            self._services.workspace.status_changed.emit(msg("The project has no circuit yet."))
            return
        name = await questions.choose_item(
            self._services,
            self._window,
            title=msg("Main circuit"),
            label=msg("Which circuit should run? It becomes the one Ctrl+F5 and the assistant use.")
            if is_to_run
            else msg("Which circuit should Ctrl+F5 and the assistant use?"),
            items=names,
        )
        if name is not None and name in names:
            self._desk.set_main(root / name)
            if is_to_run:
                if shown is None:  # what runs is in front, with what a run says of its lines
                    self._services.workspace.file_activated.emit(root / name, None)
                self._services.workspace.main_run_requested.emit()

    async def _open_and_design(self, wanted: WantedDesign) -> None:
        tabs = self._parts.conversation.tabs
        tabs.begins_as = "workflow"
        try:
            is_open = await self._switch(lambda: self._project.browse.new_folder(wanted.name, wanted.place))
        finally:
            tabs.begins_as = "free"
        if is_open:
            self._panes.show_panel("conversation")
            self._services.workspace.design_requested.emit(wanted.text)

    async def _make_and_open(self) -> None:
        wanted = await ask_new_project(
            self._services, self._window, title=msg("New project"), name="circuit", place=default_place()
        )
        if wanted is not None:
            await self._switch(lambda: self._project.browse.new_folder(*wanted))

    # ---- what is remembered --------------------------------------------------------------------

    def _remembered(self) -> WindowState:
        self.remember()
        return self.state

    def remember(self) -> None:
        """Take the layout and the open project into the state."""
        window, panes = self._window, self._panes
        frame = window.normalGeometry() if window.isMaximized() else window.geometry()
        sizes = panes.sizes()
        state = replace(
            self.state,
            geometry=(frame.x(), frame.y(), frame.width(), frame.height()),
            is_maximized=window.isMaximized(),
            shown_panes=panes.wanted,
            right_panel=panes.right_pages.current_key,
            knows_plot=self._services.workspace.views.knows_plot,
        )
        root, buffers = self._services.workspace.root, self._services.workspace.buffers
        if root is not None and self._restoring is None:
            if panes.are_sizes_usual:
                state = replace(state, sizes=sizes)
            memory = joined_memory(
                self._desk.memory(),
                root=root,
                open_files=() if buffers is None else buffers.open_files(),
                shown=self._services.workspace.shown_file,
                expanded=self._parts.tree.expanded_folders,
                places={} if buffers is None else buffers.places(),
            )
            memory = replace(memory, sizes=sizes, bottom_panel=self._parts.bottom.shown_tab)
            talks = self._parts.conversation.tabs
            if talks.root == root:
                kept, front = talks.memory()
                memory = replace(
                    memory,
                    drafts=talks.drafts(),
                    gaps=talks.gaps(),
                    conversations=kept,
                    front_conversation=front,
                )
            state = state.with_memory(root, memory)
        self.state = state
