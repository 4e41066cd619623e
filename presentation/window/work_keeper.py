"""What a person would miss after a kill: unsaved text, open tabs, layout. Kept while it changes.

It looks twice in a second and a half whether something is another than what is kept, and writes it off the
loop. So nothing is lost that is older than two seconds, and no panel has to say that it has changed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path

from PyQt6.QtCore import QObject, QTimer

from application.groups.program import Program
from application.groups.project import Project
from application.project.unsaved_texts import UnsavedText, UnsavedTexts
from application.project.window_state import WindowState
from presentation.ui.workspace import Buffers, WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

_logger = logging.getLogger(__name__)

LOOK_MS = 350
"""So often it is looked whether there is something to write. On a busy machine writing takes a second too."""
_AGAIN_S = 5.0
"""After a disk that could not be written to, and for a project that another window has."""


@dataclass(slots=True)
class _Kept:
    """What is on the disk of the open project's texts, which this window owns."""

    root: Path
    marks: dict[Path, Hashable]
    held: set[Path]
    """On the disk and not in the editor: it could not be brought back, or not yet."""

    def now(self, buffers: Buffers | None) -> dict[Path, Hashable]:
        marks = {} if buffers is None else buffers.unsaved_marks()
        return {path: mark for path, mark in marks.items() if path not in self.held}

    @property
    def written(self) -> dict[Path, Hashable]:
        return {path: mark for path, mark in self.marks.items() if path not in self.held}


class WorkKeeper(QObject):
    """Keeps the work of one window. `remember` gives the window's state as it is now."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        program: Program,
        remember: Callable[[], WindowState],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._program = program
        self._remember = remember
        self._mine: _Kept | None = None
        """None without a project, and while another window keeps the open one."""
        self._foreign: Path | None = None
        """The project that another window has."""
        self._left: list[_Kept] = []
        """Projects that were left: whoever left them was asked about unsaved text."""
        self._state: WindowState | None = None
        """As it is on the disk, as far as we wrote it; None before it was read."""
        self._turn = asyncio.Lock()
        self._not_before = 0.0
        self._has_missed_a_look = False
        self._told: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        services.workspace.project_closed.connect(self._on_closed)

    def begin(self, state: WindowState) -> None:
        """Keep from now on; `state` is what was read at the start."""
        self._state = replace(state, damaged=None)
        self._timer.start()
        if state.damaged is not None:
            aside = msg("The saved window state cannot be read and was set aside: {path}", path=state.damaged)
            self._tell(aside)
        self._services.start(self._tell_warnings(), kind="keep work")

    async def _tell_warnings(self) -> None:
        """Of the user's files, read off the loop."""
        for warning in await asyncio.to_thread(lambda: self._program.warnings):
            self._tell(warning)

    async def claim(self, root: Path) -> tuple[UnsavedText, ...]:
        """Take over a project that was opened; what an end of the program has left of its texts."""
        async with self._turn:
            await self._settle_left()
            try:
                found = await asyncio.to_thread(self._store.claim, root)
            except CircuitAIError as error:
                self._tell(error.message)
                return ()
            if root != self._services.workspace.root:  # another one meanwhile
                await asyncio.to_thread(self._store.release, root)
                return ()
            if not found.is_owner:
                self._foreign, self._not_before = root, time.monotonic() + _AGAIN_S
                self._tell(
                    msg(
                        "Another window has this project open: unsent messages of this one are not kept, "
                        "nor is unsaved text if the program ends unexpectedly."
                    )
                )
                return ()
            paths = [text.path for text in found.texts]
            self._foreign, self._mine = None, _Kept(root, dict.fromkeys(paths), set(paths))
        for path in found.damaged:
            self._tell(msg("Unsaved text cannot be read and was set aside: {path}", path=path))
        return found.texts

    def bring_back(self, kept: UnsavedText) -> None:
        mine, buffers = self._mine, self._services.workspace.buffers
        if mine is not None and buffers is not None:
            buffers.bring_back(kept, lambda: mine.held.discard(kept.path))

    async def keep_now(self) -> None:
        """Write what is another than what is kept. Raises CircuitAIError."""
        async with self._turn:
            await self._settle_left()
            if self._mine is not None:
                await self._write_texts(self._mine)
            await self._write_state()

    async def end(self, *, is_discarded: bool) -> None:
        """The last look; with `is_discarded` a person has said that unsaved text may go."""
        self._timer.stop()
        async with self._turn:
            await self._settle_left()
            mine = self._mine
            try:
                if mine is not None and is_discarded:
                    await self._drop(mine)
                elif mine is not None:
                    await self._write_texts(mine)
                await self._write_state()  # while the project is ours: its tabs and sizes are in it
            finally:
                self._mine = None
                if mine is not None:
                    await asyncio.to_thread(self._store.release, mine.root)

    # ---- inside --------------------------------------------------------------------------------

    @property
    def _store(self) -> UnsavedTexts:
        return self._project.unsaved_texts

    def _look(self) -> None:
        self._has_missed_a_look = self._turn.locked()
        if self._has_missed_a_look or time.monotonic() < self._not_before:
            return
        mine, buffers = self._mine, self._services.workspace.buffers
        if self._foreign is not None:
            self._services.start(self._claim_again(self._foreign), kind="keep work")
        elif (mine is not None and mine.now(buffers) != mine.written) or self._is_another():
            self._services.start(self._keep_and_tell(), kind="keep work")

    async def _claim_again(self, root: Path) -> None:
        for kept in await self.claim(root):
            self.bring_back(kept)
        await self._keep_and_tell()

    async def _keep_and_tell(self) -> None:
        try:
            await self.keep_now()
        except CircuitAIError as error:
            self._not_before = time.monotonic() + _AGAIN_S
            self._tell(error.message)
        if self._has_missed_a_look and self._timer.isActive():
            self._look()  # what was typed meanwhile waits for no further interval

    async def _write_texts(self, mine: _Kept) -> None:
        buffers = self._services.workspace.buffers
        marks = mine.now(buffers)
        for path in mine.written.keys() - marks.keys():
            await asyncio.to_thread(self._store.drop, mine.root, path)
            mine.marks.pop(path, None)
        for path, mark in marks.items():
            if mine.marks.get(path) == mark or buffers is None:
                continue
            try:
                text = buffers.unsaved_text(path)
            except KeyError:  # closed meanwhile
                continue
            try:
                await asyncio.to_thread(self._store.keep, mine.root, text)
            except CircuitAIError as error:
                if error.error_type != "too_large":
                    raise
                self._tell(error.message)
            mine.marks[path] = mark

    async def _write_state(self) -> None:
        if self._state is not None and self._is_another():
            before, after = self._state, self._now(self._state)
            await asyncio.to_thread(self._program.window_state.update, before, after)
            self._state = after

    def _is_another(self) -> bool:
        return self._state is not None and self._now(self._state) != self._state

    def _now(self, kept: WindowState) -> WindowState:
        state = replace(self._remember(), damaged=None)
        root = self._services.workspace.root
        if root is None or (self._mine is not None and self._mine.root == root):
            return state
        # Another window's, or not claimed yet: its tabs and sizes are not ours to remember.
        others = {path: memory for path, memory in state.projects.items() if path != root}
        before = kept.projects.get(root)
        return replace(state, projects=others if before is None else {root: before, **others})

    def _on_closed(self) -> None:
        mine, self._mine, self._foreign = self._mine, None, None
        if mine is not None:
            self._left.append(mine)
            self._services.start(self._keep_and_tell(), kind="keep work")

    async def _settle_left(self) -> None:
        while self._left:
            left = self._left.pop()
            await self._drop(left)
            await asyncio.to_thread(self._store.release, left.root)

    async def _drop(self, kept: _Kept) -> None:
        for path in kept.written:
            await asyncio.to_thread(self._store.drop, kept.root, path)

    def _tell(self, message: Message) -> None:
        """Once, however often it is met."""
        key = repr((message.template, sorted(message.params.items(), key=repr)))
        if key not in self._told:
            self._told.add(key)
            _logger.warning("%s", message)
            self._services.workspace.status_changed.emit(message)
