"""The yield of the goals of the circuit in front, estimated by a Monte Carlo while nothing else is done.

The parts scatter as the circuit's page of studies has it, or as such a page begins. Typing, a run, an answer
of the assistant and every other study come first: what is under way ends at once, and begins after a pause.
Nothing is done for a circuit without goals, in a window nobody sees, on battery, or when it is switched off.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QEvent, QObject, QTimer

from application.ports.events import SettingsChanged
from domain.studies.setup import UsualSetups, document_of, row_problem, setup_problem
from presentation.panels.editor.examination import is_spice
from presentation.ui.workspace import AgentStatus, WindowServices
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.app import Application
    from application.studies.idle_yield import CircuitYield
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage

PAUSE_MS = 2_500
"""How long nothing is to be typed, run or changed before the runs begin; goals are measured before."""
_DEMANDING = frozenset(
    {"simulation", "cases", "study", "optimize", "pull", "since when", "influence", "goals watch"}
)
"""Kinds of tasks that simulate themselves: these runs wait for their end."""


class YieldWatch(QObject):
    """That of one window."""

    def __init__(self, services: WindowServices, app: Application, editor: EditorArea) -> None:
        super().__init__(editor)
        self._services = services
        self._app = app
        self._area = editor
        self._scope = f"yield {id(self)}"
        self._page: EditorPage | None = None
        self._known: dict[Path, CircuitYield] = {}
        """Of circuits that did not change since."""
        self._setups: dict[Path, object] = {}
        """How the parts of each scattered when it was estimated."""
        self._busy: set[str] = set()
        self._request = 0
        self._is_at_work = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._begin)
        workspace = services.workspace
        editor.page_shown.connect(lambda _is_page: self._on_front())
        workspace.file_changed.connect(lambda _path: self._forget())
        workspace.file_moved.connect(lambda _old, _new: self._forget())
        workspace.goals_changed.connect(lambda _circuit: self._forget())
        workspace.project_closed.connect(self._forget)
        workspace.views.changed.connect(self._on_setup)
        workspace.run_started.connect(lambda _path: self._on_work("run", is_on=True))
        workspace.run_finished.connect(lambda _outcome: self._on_work("run", is_on=False))
        workspace.agent_status_changed.connect(self._on_agent)
        end = app.program.events.subscribe(SettingsChanged, self._on_settings)
        self.destroyed.connect(lambda _object: end())
        window = editor.window()
        if window is not None:
            window.installEventFilter(self)
        self._on_front()

    # ---- when ------------------------------------------------------------------------------------

    def _on_front(self) -> None:
        page = self._area.current_page()
        if page is self._page:
            return
        if self._page is not None and not self._page.is_closed:
            self._page.editor.edited.disconnect(self._on_typed)
        self._page = page
        if page is not None:
            page.editor.edited.connect(self._on_typed)
            known = self._known.get(page.path)
            if known is not None:
                self._services.workspace.yield_estimated.emit(known)
        self._wait()

    def _on_typed(self) -> None:
        self._services.workspace.yield_estimated.emit(None)
        self._wait()

    def _on_setup(self) -> None:
        """Somebody looks at a circuit in another way: what scatters may be another, too."""
        page = self._page
        if page is not None:
            now = _setup_of(self._services, page.path)
            if self._setups.get(page.path, now) != now:
                self._forget()

    def _on_work(self, what: str, *, is_on: bool) -> None:
        (self._busy.add if is_on else self._busy.discard)(what)
        self._wait()

    def _on_agent(self, status: AgentStatus) -> None:
        self._on_work("agent", is_on=status.state in ("running", "stopping"))

    def _on_settings(self, event: SettingsChanged) -> None:
        if "estimate_yield" in event.names:
            self._forget()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        shows = (QEvent.Type.WindowStateChange, QEvent.Type.Show)
        if event is not None and event.type() in shows:
            self._wait()
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._known.clear()
        self._services.workspace.yield_estimated.emit(None)
        self._wait()

    def _wait(self) -> None:
        self._request += 1
        if self._is_at_work:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop yield", scope=f"stop {self._scope}")
        self._timer.start()

    def _begin(self) -> None:
        page, window = self._page, self._area.window()
        if page is None or page.is_closed or page.is_dirty or page.path in self._known or self._busy:
            return
        if not is_spice(page.path) or self._services.workspace.root is None:
            return
        if window is None or not window.isVisible() or window.isMinimized():
            return
        if not self._app.program.estimates_yield:
            return
        if self._is_at_work or any(each.kind in _DEMANDING for each in self._app.program.tasks.handles):
            self._timer.start()
            return
        self._request += 1
        self._services.start(self._estimate(page.path, self._request), kind="yield", scope=self._scope)

    # ---- what ------------------------------------------------------------------------------------

    async def _estimate(self, circuit: Path, request: int) -> None:
        self._is_at_work = True
        self._setups[circuit] = _setup_of(self._services, circuit)
        try:
            if await off_loop(self._app.program.is_on_battery):
                return
            document = await self._document(circuit)
            if document is None:
                return
            found = await self._app.simulation.idle_yield(circuit, document)
        except CircuitAIError:  # nobody asked for this: a study of the circuit tells what is wrong with it
            return
        finally:
            self._is_at_work = False
        if request == self._request:
            self._known[circuit] = found
            self._services.workspace.yield_estimated.emit(found)

    async def _document(self, circuit: Path) -> dict[str, Any] | None:
        """The Monte Carlo that its page of studies stands for; None where there is nothing to judge."""
        root = self._services.workspace.root
        goals = await self._app.project.browse.goals(root, circuit) if root is not None else ()
        if not any(not goal.condition for goal in goals):
            return None
        offer = await self._app.simulation.study_offer(circuit, goals)
        former = self._services.workspace.views.of(circuit).studies

        def document() -> dict[str, Any] | None:
            setup = former.get("montecarlo") or UsualSetups(offer=offer, former=former).of("montecarlo")
            problems = [row_problem("montecarlo", row, offer) for row in setup.rows]
            if setup_problem("montecarlo", setup, offer) is not None or any(problems):
                return None
            made = document_of("montecarlo", setup, offer)
            return made if made.get("goals") and made.get("parameters") else None

        return await off_loop(document)


def _setup_of(services: WindowServices, circuit: Path) -> object:
    return services.workspace.views.of(circuit).studies.get("montecarlo")
