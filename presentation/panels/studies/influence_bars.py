"""Bars in the editor's margin: how far each line of the circuit in front moves the chosen goal.

They are made in idle time. Typing, a run and another tab end that at once; after typing they are grey, and
made anew when the text is saved and nothing runs. Nothing happens while they are off or nobody sees them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

from application.optimization.influencing import InfluenceRequest
from domain.studies.influence import Influence, Influences, placed_values
from presentation.goal_words import name_of
from presentation.panels.editor.examination import is_spice
from presentation.panels.editor.overlay import LineBar
from presentation.study_figures import figure_text
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.simulation.goals import DesignGoal
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage

PAUSE_MS = 600
"""How long nothing has to be typed, run or changed before the runs begin."""
_WIDTH = 44
"""Logical pixels of the margin."""


class InfluenceBars(QObject):
    """Those of one window, in the text in front."""

    def __init__(self, services: WindowServices, app: Application, editor: EditorArea) -> None:
        super().__init__(editor)
        self._services = services
        self._app = app
        self._area = editor
        self._scope = f"influence {id(self)}"
        self._chosen: dict[Path, str] = {}
        """By circuit the metric of the goal that is shown."""
        self._page: EditorPage | None = None
        self._request = 0
        self._runs_now = False
        self._is_at_work = False
        self.is_on = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._begin)
        workspace = services.workspace
        self._area.page_shown.connect(lambda _is_page: self._on_front())
        workspace.file_changed.connect(lambda _path: self.wait_and_begin())
        workspace.goals_changed.connect(lambda _circuit: self.wait_and_begin())
        workspace.run_started.connect(lambda _path: self._on_run(is_running=True))
        workspace.run_finished.connect(lambda _outcome: self._on_run(is_running=False))
        workspace.project_closed.connect(self._end)
        services.theme.changed.connect(lambda *_: self.wait_and_begin())
        services.language.changed.connect(lambda _name: self.wait_and_begin())

    def toggle(self) -> None:
        """Show them, or take them away."""
        self.is_on = not self.is_on
        if self.is_on:
            self._on_front()
            self._begin()
        else:
            self._end()
            for page in self._area.pages():
                page.editor.show_bars({}, width=0)

    def next_goal(self) -> None:
        """Show them for the next goal of the circuit in front."""
        self._services.start(self._choose_next(), kind="next goal", scope=f"{self._scope} goal")

    async def _choose_next(self) -> None:
        page = self._area.current_page()
        if page is None:
            return
        goals = await self._goals(page.path)
        if goals:
            names = [goal.metric for goal in goals]
            chosen = self._chosen.get(page.path, names[0])
            # The first key shows the first goal.
            place = names.index(chosen) + self.is_on if chosen in names else 0
            self._chosen[page.path] = names[place % len(names)]
        if self.is_on:
            self._begin()
        else:
            self.toggle()

    # ---- when ------------------------------------------------------------------------------------

    def wait_and_begin(self) -> None:
        """Something is another: what is under way ends, and the bars are made anew after a pause."""
        if self.is_on:
            self._stop()
            self._timer.start()

    def _on_front(self) -> None:
        page = self._area.current_page()
        if page is self._page or not self.is_on:
            return
        self._leave()
        self._page = page
        if page is not None and is_spice(page.path):
            page.editor.edited.connect(self._on_edited)
        self.wait_and_begin()

    def _leave(self) -> None:
        if self._page is not None and not self._page.is_closed and is_spice(self._page.path):
            self._page.editor.edited.disconnect(self._on_edited)
        self._page = None

    def _on_edited(self) -> None:
        if self._page is not None:
            self._page.editor.mark_bars()
        self.wait_and_begin()

    def _on_run(self, *, is_running: bool) -> None:
        self._runs_now = is_running
        self.wait_and_begin()

    def _end(self) -> None:
        self._timer.stop()
        self._stop()
        self._leave()

    def _stop(self) -> None:
        self._request += 1
        if self._is_at_work:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop influence", scope=f"stop {self._scope}")

    def _begin(self) -> None:
        page = self._page
        if page is None or page.is_dirty or self._runs_now or not self._area.isVisible():
            return
        window = self._area.window()
        if is_spice(page.path) and window is not None and not window.isMinimized():
            self._request += 1
            self._services.start(self._show(page, self._request), kind="influence", scope=self._scope)

    # ---- what ------------------------------------------------------------------------------------

    async def _goals(self, circuit: Path) -> Sequence[DesignGoal]:
        """Those that hold for the circuit as it is, each metric once."""
        root = self._services.workspace.root
        found = await self._app.project.browse.goals(root, circuit) if root is not None else ()
        return list({goal.metric: goal for goal in reversed(found) if not goal.condition}.values())[::-1]

    async def _show(self, page: EditorPage, request: int) -> None:
        self._is_at_work = True
        workspace = self._services.workspace
        try:
            goals = await self._goals(page.path)
            if not goals:
                page.editor.show_bars({}, width=0)
                if request == self._request:
                    workspace.status_changed.emit(
                        msg("{name} has no goal whose influences could be shown.", name=page.path.name)
                    )
                return
            chosen = self._chosen.get(page.path)
            goal = next((each for each in goals if each.metric == chosen), goals[0])
            values = await asyncio.to_thread(placed_values, page.bytes_to_save())
            found = await self._app.design.influence(
                InfluenceRequest(circuit=page.path, goal=goal, values=values)
            )
        except CircuitAIError as error:
            if request == self._request:
                page.editor.show_bars({}, width=0)
                workspace.status_changed.emit(error.message)
            return
        finally:
            self._is_at_work = False
        if request == self._request and not page.is_closed and not page.is_dirty:
            self._draw(page, goal, found)

    def _draw(self, page: EditorPage, goal: DesignGoal, found: Influences) -> None:
        width = round(_WIDTH * self._services.theme.theme.scale)
        page.editor.show_bars(self._bars(goal, found), width=width)
        told = msg(
            "Influence of {count} {count:value|values} on {goal}, {runs} {runs:run|runs}",
            count=len(found.found), goal=name_of(goal), runs=found.runs,
        )  # fmt: skip
        if found.left_out:
            told = msg(
                "Influence of {count} {count:value|values} on {goal}, {runs} {runs:run|runs}; {left} more "
                "{left:value|values} would take too long",
                count=len(found.found), goal=name_of(goal), runs=found.runs, left=found.left_out,
            )  # fmt: skip
        self._services.workspace.status_changed.emit(told)

    def _bars(self, goal: DesignGoal, found: Influences) -> Mapping[int, LineBar]:
        """By line, from 0, the strongest of its values; the words tell all of them."""
        language = self._services.language
        lines: dict[int, list[Influence]] = {}
        for each in found.found:
            lines.setdefault(each.line - 1, []).append(each)
        bars = {}
        for line, items in lines.items():
            shares = [share for item in items if math.isfinite(share := found.share(item))]
            words = []
            for item in items:
                if math.isnan(item.percent):
                    text = msg("{name}: {goal} could not be measured.", name=item.name, goal=name_of(goal))
                else:
                    figure = figure_text(item.percent, 3)
                    text = msg("{name} + 1 %: {goal} {change} %", name=item.name, goal=name_of(goal),
                               change=figure if item.percent < 0 else f"+{figure}")  # fmt: skip
                words.append(language(text))
            bars[line] = LineBar(share=max(shares, key=abs, default=0.0), tip="\n".join(words))
        return bars
