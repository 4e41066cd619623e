"""All goals of all circuits that an edit touches, measured after a pause: the status bar says how they stand.

Typing, a run and an answer of the assistant come first: what is under way ends at once, and begins anew after
a pause. Nothing happens in a project without goals, in a window nobody sees, or when it is switched off.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, QPoint, QTimer
from PyQt6.QtWidgets import QMenu

from application.ports.events import SettingsChanged
from application.project.goals_watch import GoalsSeen, MissedGoal, Standing
from presentation.panels.editor.examination import is_spice
from presentation.panels.studies.goal_standing import of_missed
from presentation.ui.workspace import AgentStatus, WindowServices
from shared.errors import CircuitAIError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.app import Application
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage

PAUSE_MS = 800
"""How long nothing is to be typed, run or changed before the runs begin; a text was read before."""
_DEMANDING = frozenset({"study", "optimize", "pull", "since when", "influence"})
"""Kinds of tasks that simulate themselves: the goals wait for their end."""
_MOST_ROWS = 20


class GoalsWatch(QObject):
    """That of one window."""

    def __init__(self, services: WindowServices, app: Application, editor: EditorArea) -> None:
        super().__init__(editor)
        self._services = services
        self._app = app
        self._area = editor
        self._scope = f"goals watch {id(self)}"
        self._seen = GoalsSeen()
        self.standing: Standing | None = None
        """None: nothing was measured yet."""
        self._touched: set[Path] = set()
        self._texts: dict[Path, int] = {}
        """Of each open text a hash of what was looked at last."""
        self._unsaved: set[Path] = set()
        """Texts that were measured as they were being written."""
        self._page: EditorPage | None = None
        self._busy: set[str] = set()
        """What goes on that has to end first."""
        self._request = 0
        self._is_at_work = False
        self._wants_rows = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._begin)
        workspace = services.workspace
        workspace.text_checked.connect(self._on_text)
        workspace.file_changed.connect(self._on_file)
        workspace.file_moved.connect(lambda _old, new: self._touch(new))
        workspace.goals_changed.connect(self._touch)
        workspace.run_started.connect(lambda _path: self._on_work("run", is_on=True))
        workspace.run_finished.connect(lambda _outcome: self._on_work("run", is_on=False))
        workspace.agent_status_changed.connect(self._on_agent)
        workspace.project_closed.connect(self._forget)
        editor.page_shown.connect(lambda _is_page: self._on_front())
        end = app.program.events.subscribe(SettingsChanged, self._on_settings)
        self.destroyed.connect(lambda _object: end())
        window = editor.window()
        if window is not None:
            window.installEventFilter(self)
        self._on_front()

    # ---- when ------------------------------------------------------------------------------------

    def _on_front(self) -> None:
        self._look_for_closed()
        page = self._area.current_page()
        if page is self._page:
            return
        if self._page is not None and not self._page.is_closed:
            self._page.editor.edited.disconnect(self._on_typed)
        self._page = page
        if page is not None:
            page.editor.edited.connect(self._on_typed)

    def _look_for_closed(self) -> None:
        """What was typed and not saved is gone with its tab: the text on the disk counts again."""
        for path in [path for path in self._unsaved if self._area.page_of(path) is None]:
            self._unsaved.discard(path)
            self._texts.pop(path, None)
            self._touch(path)

    def _on_typed(self) -> None:
        """The text is looked at when it was read (`text_checked`)."""
        self._stop()
        self._timer.stop()

    def _on_text(self, path: Path, text: str) -> None:
        known = hash(text)
        if is_spice(path) and self._texts.get(path) != known:
            self._texts[path] = known
            self._touch(path)
        elif self._touched:  # typed and taken back before it was measured
            self._wait()

    def _on_file(self, path: Path) -> None:
        # An open text is told of when it was read.
        if is_spice(path) and self._area.page_of(path) is None:
            self._touch(path)

    def _touch(self, path: Path) -> None:
        if self._app.program.watches_goals:
            self._touched.add(path)
            self._wait()

    def _wait(self) -> None:
        self._stop()
        self._timer.start()

    def _on_work(self, what: str, *, is_on: bool) -> None:
        if is_on:
            self._busy.add(what)
            self._stop()
        else:
            self._busy.discard(what)
            if self._touched:
                self._timer.start()

    def _on_agent(self, status: AgentStatus) -> None:
        self._on_work("agent", is_on=status.state in ("running", "stopping"))

    def _on_settings(self, event: SettingsChanged) -> None:
        if "watch_goals" not in event.names:
            return
        if not self._app.program.watches_goals:
            self._forget()
        else:
            self._touched.update(page.path for page in self._area.pages() if is_spice(page.path))
            self._wait()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        shows = (QEvent.Type.WindowStateChange, QEvent.Type.Show)
        if self._touched and event is not None and event.type() in shows:
            self._timer.start()
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._timer.stop()
        self._stop()
        self._seen = GoalsSeen()
        self._touched.clear()
        self._texts.clear()
        self._unsaved.clear()
        self._tell(None)

    def _stop(self) -> None:
        self._request += 1
        if self._is_at_work:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop goals watch", scope=f"stop {self._scope}")

    def _begin(self) -> None:
        window = self._area.window()
        if not self._touched or self._busy or window is None or not window.isVisible():
            return
        if window.isMinimized() or self._services.workspace.root is None:
            return
        if self._is_at_work or any(each.kind in _DEMANDING for each in self._app.program.tasks.handles):
            self._timer.start()
            return
        self._request += 1
        self._services.start(
            self._measure(set(self._touched), self._request), kind="goals watch", scope=self._scope
        )

    # ---- what ------------------------------------------------------------------------------------

    async def _measure(self, touched: set[Path] | None, request: int) -> None:
        workspace = self._services.workspace
        if workspace.root is None:
            return
        self._is_at_work = True
        texts = {
            page.path: page.bytes_to_save()
            for page in self._area.pages()
            if page.is_dirty and is_spice(page.path)
        }
        try:
            found = await self._app.design.watch_goals(
                workspace.root, touched, texts=texts, first=workspace.front_circuit
            )
            standing = await off_loop(self._seen.take, found) if request == self._request else None
        except CircuitAIError as error:
            # No simulator, say: nobody asked for this, so it is said once where it does not stand in the way.
            self._touched.clear()
            workspace.status_changed.emit(error.message)
            return
        finally:
            self._is_at_work = False
        if request == self._request:
            self._touched.clear()
            self._unsaved.update(texts)
            self._tell(standing)
            if self._wants_rows:
                self._wants_rows = False
                self.show_missed()

    def _tell(self, standing: Standing | None) -> None:
        self.standing = standing
        self._services.workspace.goals_watched.emit(standing)

    # ---- to the place ----------------------------------------------------------------------------

    def show_missed(self) -> None:
        """Go to what lost the one goal that is lost, or list the missed ones; measure them all first where
        nothing was measured."""
        workspace, standing = self._services.workspace, self.standing
        if standing is None:
            self._wants_rows = True
            workspace.status_changed.emit(msg("Measuring the goals of all circuits…"))
            self._request += 1
            self._services.start(self._measure(None, self._request), kind="goals watch", scope=self._scope)
        elif len(standing.missed) == 1 and standing.missed[0].lines:
            self._go_to(standing.missed[0])
        elif standing.missed:
            self._list(standing)
        elif standing.met:
            workspace.status_changed.emit(msg("All measured goals are met."))
        else:
            workspace.status_changed.emit(msg("No goal could be measured."))

    def _go_to(self, missed: MissedGoal) -> None:
        place = missed.file or missed.circuit
        self._services.workspace.file_activated.emit(place, missed.lines[0] if missed.lines else None)

    def _list(self, standing: Standing) -> None:
        language, window = self._services.language, self._area.window()
        if window is None:
            return
        menu = QMenu(window)
        menu.setObjectName("missed_goals")
        for missed in standing.missed[:_MOST_ROWS]:
            row = menu.addAction(language(of_missed(missed)).replace("&", "&&"))
            if row is not None:
                row.triggered.connect(lambda _checked=False, missed=missed: self._go_to(missed))
        menu.addSeparator()
        since = menu.addAction(language(msg("Since when is a goal lost?")))
        if since is not None:
            since.triggered.connect(lambda: self._services.workspace.command_wanted.emit("sinceWhen"))
        menu.aboutToHide.connect(menu.deleteLater)
        size = menu.sizeHint()
        corner = window.mapToGlobal(window.rect().bottomRight())
        menu.popup(
            corner - QPoint(size.width(), size.height() + self._services.theme.theme.size("row.status"))
        )
