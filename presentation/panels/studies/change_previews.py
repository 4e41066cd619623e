"""Proposed changes simulated before they are accepted: quick fixes, nearby values, calls of the assistant.

Typing, a run and every study come first: what is under way ends at once, and begins anew after a pause.
Nothing is done for a change that nobody sees or that concerns no circuit; on battery, when it is switched
off, and for runs that take long, only when somebody wants it. Implements presentation.ui.previews.Previews.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject

from application.ports.events import SettingsChanged
from presentation.panels.editor.examination import is_spice
from presentation.preview_words import takes_about
from presentation.ui.parts import once_after
from presentation.ui.previews import Preview, Proposal, Told
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.app import Application
    from application.goal_checks.previewing import ChangePreview
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage

PAUSE_MS = 250
"""How long nothing is to be asked, typed or changed before the runs begin."""
KIND = "preview"
_DEMANDING = frozenset({"simulation", "cases", "study", "optimize", "pull", "since when", "influence"})
"""Kinds of tasks that simulate themselves: these runs wait for their end."""


@dataclass(slots=True, eq=False)
class _Asked:
    """One proposal that somebody looks at."""

    key: str
    proposal: Proposal
    told: Told
    is_wanted: bool = False
    is_known: bool = False
    change: ChangePreview | None = None


class ChangePreviews(QObject):
    """That of one window."""

    def __init__(self, services: WindowServices, app: Application, editor: EditorArea) -> None:
        super().__init__(editor)
        self._services = services
        self._app = app
        self._area = editor
        self._scope = f"preview {id(self)}"
        self._asked: list[_Asked] = []
        """The newest last: that one is simulated and drawn."""
        self._page: EditorPage | None = None
        self._is_running = self._is_at_work = False
        self._request = 0
        self._drawn: ChangePreview | None = None
        self._timer = once_after(self, PAUSE_MS, self._begin)
        workspace = services.workspace
        workspace.previews = self
        workspace.file_changed.connect(self._on_file)
        workspace.goals_changed.connect(lambda _circuit: self._begin_anew())
        workspace.project_closed.connect(self._forget_all)
        workspace.run_started.connect(lambda _path: self._on_run(is_on=True))
        workspace.run_finished.connect(lambda _outcome: self._on_run(is_on=False))
        editor.page_shown.connect(lambda _is_page: self._on_front())
        end = app.program.events.subscribe(SettingsChanged, self._on_settings)
        self.destroyed.connect(lambda _object: end())
        window = editor.window()
        if window is not None:
            window.installEventFilter(self)
        self._on_front()

    # ---- what is asked ---------------------------------------------------------------------------

    def ask(self, key: str, proposal: Proposal, told: Told) -> None:
        self._asked = [each for each in self._asked if each.key != key]
        self._asked.append(_Asked(key, proposal, told))
        self._wait()
        self._draw()

    def want(self, key: str) -> None:
        found = next((each for each in self._asked if each.key == key), None)
        if found is not None:
            self._asked.remove(found)
            self._asked.append(found)
            found.is_wanted, found.is_known = True, False
            self._wait()

    def forget(self, key: str) -> None:
        kept = [each for each in self._asked if each.key != key]
        if len(kept) == len(self._asked):
            return
        self._asked = kept
        self._wait()
        self._draw()

    def look_again(self) -> None:
        self._wait()
        self._draw()

    def _forget_all(self) -> None:
        self._asked = []
        self._wait()
        self._draw()

    @property
    def _next(self) -> _Asked | None:
        """The newest one that is seen and of which nothing is known yet."""
        seen = (each for each in reversed(self._asked) if each.proposal.is_seen())
        return next((each for each in seen if not each.is_known), None)

    def _draw(self) -> None:
        """The curves of the newest one that is seen."""
        newest = next((each for each in reversed(self._asked) if each.proposal.is_seen()), None)
        change = None if newest is None else newest.change
        if change is not self._drawn:
            self._drawn = change
            self._services.workspace.change_previewed.emit(change)

    # ---- when ------------------------------------------------------------------------------------

    def _on_front(self) -> None:
        page = self._area.current_page()
        if page is self._page:
            return
        if self._page is not None and not self._page.is_closed:
            self._page.editor.edited.disconnect(self._begin_anew)
        self._page = page
        if page is not None:
            page.editor.edited.connect(self._begin_anew)
        self.look_again()

    def _on_file(self, path: Path) -> None:
        if is_spice(path):
            self._begin_anew()

    def _on_run(self, *, is_on: bool) -> None:
        self._is_running = is_on
        self._wait()

    def _on_settings(self, event: SettingsChanged) -> None:
        if "preview_changes" in event.names:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """The texts are others: nothing that was found holds any more."""
        if self._asked:
            for each in self._asked:
                each.is_known, each.change = False, None
            self._wait()
            self._draw()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        shows = (QEvent.Type.WindowStateChange, QEvent.Type.Show)
        if self._asked and event is not None and event.type() in shows:
            self._wait()
        return super().eventFilter(watched, event)

    def _wait(self) -> None:
        """What is under way ends; the next one begins after a pause, if there is one."""
        self._request += 1
        if self._is_at_work:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop preview", scope=f"stop {self._scope}")
        if self._asked:
            self._timer.start()
        else:
            self._timer.stop()

    def _begin(self) -> None:
        asked, window = self._next, self._area.window()
        if asked is None or self._is_running or self._services.workspace.root is None:
            return
        if window is None or not window.isVisible() or window.isMinimized():
            return
        if self._is_at_work or any(each.kind in _DEMANDING for each in self._app.program.tasks.handles):
            self._timer.start()
            return
        self._request += 1
        self._services.start(self._simulate(asked, self._request), kind=KIND, scope=self._scope)

    # ---- what ------------------------------------------------------------------------------------

    async def _simulate(self, asked: _Asked, request: int) -> None:
        self._is_at_work = True
        try:
            found = await self._found(asked)
        finally:
            self._is_at_work = False
        if request != self._request:
            return
        asked.is_known = True
        asked.change = None if found is None else found.change
        if asked.change is not None and asked.proposal.is_undo:
            asked.change = replace(asked.change, is_undo=True)
        asked.told(found)
        self._draw()
        if self._next is not None:
            self._timer.start()

    async def _found(self, asked: _Asked) -> Preview | None:
        workspace, program, proposal = self._services.workspace, self._app.program, asked.proposal
        root = workspace.root
        if root is None:
            return None
        try:
            contents: Mapping[Path, bytes | None] = proposal.contents
            if proposal.calls:
                contents = await self._app.project.proposed(root, proposal.calls)
            if not any(is_spice(path) for path in contents):
                return None
            is_free = program.previews_changes and not await off_loop(program.is_on_battery)
            if not asked.is_wanted and not is_free:
                return Preview(state="asks")
            asked.told(Preview(state="working"))
            meant = [proposal.circuit, workspace.front_circuit, workspace.main_circuit]
            if None in contents.values():  # whoever reads a file that is to go should be known
                meant += await self._app.project.browse.circuits(root)
            found = await self._app.design.preview_change(
                root,
                contents,
                now=self._unsaved(proposal, contents),
                circuits=[path for path in meant if path is not None],
                is_wanted=asked.is_wanted,
            )
        except CircuitAIError as error:  # no simulator, say
            return Preview(state="done", reason=error.message)
        if found is None:
            return None
        slow = takes_about(found)
        return Preview(state="done" if slow is None else "asks", change=found, reason=slow)

    def _unsaved(self, proposal: Proposal, contents: Mapping[Path, bytes | None]) -> dict[Path, bytes]:
        """What the editor has of files; calls change what is on the disk."""
        return {
            page.path: page.bytes_to_save()
            for page in self._area.pages()
            if page.is_dirty and is_spice(page.path) and not (proposal.calls and page.path in contents)
        }
