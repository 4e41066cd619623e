"""Pull the curve: a measured point or a goal's line is dragged in the plot, and values follow.

The circuit stays loaded on a worker while the hand moves; curve, values and the other goals follow it. What
the hand lets go is one change of the file, and a run of the circuit as it then is proves what was reached.
Esc leaves nothing. Where one run takes long, values follow when the hand lets go.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint
from PyQt6.QtWidgets import QMenu

from domain.circuit.numbers import format_number
from domain.simulation.result import SimulationResult
from presentation.goal_margins import limit_text
from presentation.goal_margins import shown as shown_limit
from presentation.panels.editor.examination import is_spice
from presentation.panels.studies.circuit_acts import CircuitActs
from presentation.panels.studies.pull_card import PullCard
from presentation.panels.studies.pull_words import DIGITS, following, heading, in_words
from presentation.panels.studies.pull_work import PullWish, PullWork
from presentation.panels.waveforms.pull_offers import goals_beside, wanted_of
from presentation.study_figures import shown
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.app import Application
    from application.optimization.pulling import Pull, PulledPoint
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.waveforms.panel import WaveformsPanel
    from presentation.panels.waveforms.pull_points import PullPoint, Quantity

SLOW_S = 0.5
"""A run that takes longer is done when the hand lets go."""
_DRAWN_S = 0.3
"""A picture that takes longer is not waited for."""
_CLOSE = 0.01
"""A quantity that came as near as this share is where it was wanted, as far as the analysis shows it."""
_MARGIN = 24


@dataclass(slots=True, eq=False)
class _Pulled:
    """One pull, from the hand that takes a point to the run that proves what was reached."""

    circuit: Path
    quantity: Quantity
    target: float
    text: bytes = b""
    """Of the circuit when it was taken."""
    live: Pull | None = None
    found: PulledPoint | None = None
    is_released: bool = False
    written: Mapping[str, float] | None = None
    """What was put into the file."""


class PullHands(QObject):
    """Of the plot of one window."""

    def __init__(
        self, services: WindowServices, app: Application, editor: EditorArea, panel: WaveformsPanel
    ) -> None:
        super().__init__(panel)
        self._services, self._app, self._editor, self._panel = services, app, editor, panel
        self._now: _Pulled | None = None
        self._proving: _Pulled | None = None
        """Written, and not yet measured."""
        self._fresh: Path | None = None
        """The result that proves it."""
        self._chosen: dict[Path, tuple[tuple[str, ...], str]] = {}
        """By circuit which values follow, () for the most influential ones, and of which series."""
        self._asked: Quantity | None = None
        self._card: PullCard | None = None
        self._runs_now = False
        self._request = 0
        self._picture = asyncio.Event()
        self.work = PullWork(services, app, self, self._drawn)
        self.work.begun.connect(self._on_begun)
        self.work.evaluated.connect(self._on_evaluated)
        self.work.settled.connect(self._on_settled)
        self.work.failed.connect(self._on_failed)
        pulls, workspace = panel.pulls, services.workspace
        pulls.began.connect(self._on_taken)
        pulls.moved.connect(self._on_moved)
        pulls.released.connect(self._on_released)
        pulls.dropped.connect(self.drop)
        pulls.asked.connect(self._on_asked)
        panel.drawn.connect(self._picture.set)
        panel.shown.measured.connect(self._on_measured)
        workspace.run_started.connect(lambda _path: self._on_run())
        workspace.run_finished.connect(self._on_finished)
        workspace.project_closed.connect(self.drop)

    # ---- the hand --------------------------------------------------------------------------------

    def _on_taken(self, point: PullPoint) -> None:
        self._begin(point.quantity, point.quantity.value)

    def _on_moved(self, value: float) -> None:
        now = self._now
        if now is None or not math.isfinite(value):
            return
        now.target = value
        if now.live is not None and self._is_live:
            self.work.want(PullWish(target=value))
        self._say()

    def _on_released(self, value: float) -> None:
        now = self._now
        if now is None:
            return
        now.target = value if math.isfinite(value) else now.target
        now.is_released = True
        if now.live is not None:
            self._finish(now)
        self._say()

    def drop(self) -> None:
        """Nothing has happened."""
        self._request += 1
        if self._now is not None:
            self._now = None
            self.work.stop()
            self._services.workspace.status_changed.emit(msg("Nothing was changed."))
        self._show_curves(None)
        self._let_go()

    def _let_go(self) -> None:
        if self._panel.area is not None:
            self._panel.area.pulls.let_go()

    def _begin(self, quantity: Quantity, target: float, *, is_released: bool = False) -> None:
        """Take a quantity; where that cannot be, say why."""
        circuit, root = self._panel.shown.circuit, self._services.workspace.root
        reason: Message | None = None
        if circuit is None or root is None or not circuit.is_relative_to(root):
            reason = msg("The shown data belong to no circuit of this project: no value can follow.")
        elif self._runs_now:
            reason = msg("Values follow when the run has ended.")
        if circuit is None or reason is not None:
            self._services.workspace.status_changed.emit(reason or msg("Nothing is shown."))
            self._let_go()
            return
        self._now = _Pulled(circuit, quantity, target, is_released=is_released)
        self._request += 1
        self._say()
        self._services.start(self._load(self._now, self._request), kind="prepare pull", scope="prepare pull")

    async def _load(self, now: _Pulled, request: int) -> None:
        from application.optimization.pulling import PullRequest

        texts = self._unsaved()
        try:
            now.text, values = await self._app.design.pull.values_of(now.circuit, texts)
            root = self._services.workspace.root
            goals = () if root is None else await self._app.project.browse.goals(root, now.circuit)
        except CircuitAIError as error:
            if request == self._request:
                self._on_failed(error)
            return
        if request != self._request:
            return
        chosen, _ = self._chosen.get(now.circuit, ((), ""))
        quantity = now.quantity
        self.work.start(
            PullRequest(
                circuit=now.circuit, expression=quantity.expression, unit=quantity.unit, values=values,
                at=quantity.at, corner=quantity.corner, chosen=chosen,
                goals=goals_beside(goals, quantity), texts=texts,
            )
        )  # fmt: skip

    def _unsaved(self) -> dict[Path, bytes]:
        """What is being written, by real path."""
        return {
            page.path.resolve(): page.bytes_to_save()
            for page in self._editor.pages()
            if page.is_dirty and is_spice(page.path)
        }

    # ---- what follows ----------------------------------------------------------------------------

    @property
    def _is_live(self) -> bool:
        return self.work.run_s <= SLOW_S

    def _on_begun(self, live: Pull) -> None:
        now = self._now
        if now is None:
            return
        now.live, now.found = live, live.here
        if live.influences.left_out:
            left = live.influences.left_out
            told = msg("{count} more {count:value was|values were} not looked at: one run takes {time} s.",
                       count=left, time=f"{live.run_s:.1f}")  # fmt: skip
            self._services.workspace.status_changed.emit(told)
        if now.is_released:
            self._finish(now)
        elif self._is_live:
            self.work.want(PullWish(target=now.target))
        self._say()

    def _on_evaluated(self, found: PulledPoint) -> None:
        now = self._now
        if now is None:
            return
        now.found = found
        self._picture.clear()
        self._show_curves(found)
        if self._panel.area is not None:
            self._panel.area.pulls.show_reached(found.measured)
        self._say()

    async def _drawn(self) -> None:
        """Until the plot has drawn the curves, where it draws."""
        if self._panel.isVisible():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._picture.wait(), _DRAWN_S)

    def _show_curves(self, found: PulledPoint | None) -> None:
        from application.goal_checks.previewing import ChangePreview, CircuitPreview

        now, workspace = self._now, self._services.workspace
        if found is None or now is None:
            workspace.change_previewed.emit(None)
            return
        seen = CircuitPreview(circuit=now.circuit, after=found.point.plots)
        workspace.change_previewed.emit(ChangePreview(circuits=(seen,), is_live=True))

    def _say(self) -> None:
        """The words beside the hand."""
        now, area = self._now, self._panel.area
        if now is None or area is None:
            return
        hint = msg("Release: write it. Esc: leave everything as it was.")
        if now.is_released:
            hint = msg("Solving…")
        elif now.live is None:
            hint = msg("Finding the values that move it…")
        elif not self._is_live:
            hint = msg("One run takes {time} s: values follow on release.", time=f"{self.work.run_s:.1f}")
        language, quantity = self._services.language, now.quantity
        lines = [heading(language, self._name(quantity), quantity.unit, now.target, now.found)]
        if now.found is not None and now.live is not None:
            lines += following(language, now.found, now.live.written)
        area.pulls.show_words((*lines, (language(hint), "tertiary")))

    def _name(self, quantity: Quantity) -> str:
        return quantity.name if isinstance(quantity.name, str) else self._services.language(quantity.name)

    # ---- the end ---------------------------------------------------------------------------------

    def _finish(self, now: _Pulled) -> None:
        _, series = self._chosen.get(now.circuit, ((), ""))
        self.work.want(PullWish(target=now.target, is_last=True, series=series or None))  # type: ignore[arg-type]

    def _on_settled(self, found: PulledPoint) -> None:
        now = self._now
        if now is None or now.live is None:
            return
        self._now, now.found = None, found
        self.work.stop()
        workspace, name, unit = self._services.workspace, self._name(now.quantity), now.quantity.unit
        series = self._chosen.get(now.circuit, ((), ""))[1]
        off = abs(found.measured - found.target) / max(abs(found.target), abs(found.measured), 1e-300)
        changed = {each: value for each, value in found.values.items() if value != now.live.written[each]}
        told: Message | None = None
        if found.target != now.target or not (off <= _CLOSE or series):
            told = msg(
                "{name} does not come to {target}: the nearest is {value} ({values}). Nothing was changed.",
                name=name,
                target=shown(now.target, unit),
                value=shown(found.measured, unit),
                values=in_words(found.values, now.live.written),
            )
        elif not changed:
            told = msg("{name} is there already. Nothing was changed.", name=name)
        if told is not None:
            workspace.status_changed.emit(told)
            self._show_curves(None)
            self._let_go()
            return
        self._services.start(self._write(now, changed), kind="set values", scope="set values")

    async def _write(self, now: _Pulled, values: Mapping[str, float]) -> None:
        """One change of the file; the run after it proves it."""
        workspace = self._services.workspace
        page = self._editor.page_of(now.circuit)
        if page is None and now.live is not None:  # Undo takes back what it is asked in: the text
            found = now.live.influences.found
            line = min(each.line for each in found if each.name in values)
            page = await self._editor.opened(now.circuit, line, 1)
        is_other = page is not None and page.bytes_to_save() != now.text
        acts = CircuitActs(self._services, self._app.project, self._app.simulation, now.circuit, self._panel)
        try:
            if is_other:
                workspace.status_changed.emit(
                    msg("{circuit} was changed meanwhile. Nothing was written.", circuit=now.circuit.name)
                )
            elif await acts.write({name: format_number(value, DIGITS) for name, value in values.items()}):
                now.written = values
                self._proving, self._fresh = now, None
                workspace.circuit_run_requested.emit(now.circuit)
        finally:
            acts.deleteLater()
            self._let_go()
            if self._proving is None:
                self._show_curves(None)

    def _on_failed(self, error: CircuitAIError) -> None:
        self._now = None
        self._request += 1
        self._show_curves(None)
        self._let_go()
        self._services.workspace.error_occurred.emit(error)

    # ---- the proof -------------------------------------------------------------------------------

    def _on_run(self) -> None:
        self._runs_now = True
        if self._now is not None:
            self.drop()

    def _on_finished(self, outcome: object) -> None:
        self._runs_now = False
        if self._proving is None:
            return
        if isinstance(outcome, SimulationResult):
            self._fresh = outcome.result_path
        else:
            self._proving = None
            self._show_curves(None)

    def _on_measured(self) -> None:
        """The circuit as it is written has been run and measured: say what was reached."""
        now, panel = self._proving, self._panel
        loaded = panel.shown.loaded
        if now is None or self._fresh is None or loaded is None or loaded.source != self._fresh:
            return
        assert now.live is not None
        assert now.found is not None
        assert now.written is not None
        # A run of the circuit as it is written tells nothing of another condition: there the last step does.
        value = panel.pulls.figure_of(now.quantity) if now.quantity.is_of_run else now.found.measured
        if value is None:
            return
        self._proving = None
        self._show_curves(None)
        name, unit = self._name(now.quantity), now.quantity.unit
        values = in_words(now.written, now.live.written)
        if math.isnan(value):
            told = msg("Written: {values}. The run after it does not show {name}.", values=values, name=name)
        else:
            told = msg("{name} is {value} now, {target} was wanted: {values}.", name=name,
                       value=shown(value, unit), target=shown(now.target, unit),
                       values=values)  # fmt: skip
        self._services.workspace.status_changed.emit(told)

    # ---- by a typed number -----------------------------------------------------------------------

    def _on_asked(self, quantity: Quantity | None) -> None:
        """Ask where a quantity is wanted; None: first which one."""
        area, offered = self._panel.area, self._panel.pulls.offered()
        if area is None:
            return
        if quantity is None and not offered:
            self._services.workspace.status_changed.emit(
                msg("Nothing with a value is measured of the shown run: add a measurement or a goal first.")
            )
        elif quantity is None and len(offered) > 1:
            self._choose(offered)
        else:
            self._services.start(self._ask(quantity or offered[0]), kind="question")

    def _choose(self, offered: Sequence[Quantity]) -> None:
        area = self._panel.area
        assert area is not None
        menu = QMenu(area)
        menu.setObjectName("pull_menu")
        for each in offered:
            words = f"{self._name(each)}   {self._now_or_limit(each)}".replace("&", "&&")
            row = menu.addAction(words)
            if row is not None:
                row.triggered.connect(partial(self._on_row, each))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(area.mapToGlobal(QPoint(_MARGIN, _MARGIN)))

    def _now_or_limit(self, quantity: Quantity) -> str:
        """What it is; where nobody has measured that, what is asked of it."""
        if math.isfinite(quantity.value) or quantity.goal is None:
            return shown(quantity.value, quantity.unit)
        return self._services.language(shown_limit(limit_text(quantity.goal)))

    def _on_row(self, quantity: Quantity, _checked: bool = False) -> None:
        self._services.start(self._ask(quantity), kind="question")

    async def _ask(self, quantity: Quantity) -> None:
        area, circuit = self._panel.area, self._panel.shown.circuit
        if area is None or circuit is None:
            return
        try:
            _, values = await self._app.design.pull.values_of(circuit, self._unsaved())
        except CircuitAIError as error:
            self._on_failed(error)
            return
        if self._card is None:
            self._card = PullCard(self._services, area)
            self._card.wanted.connect(self._on_typed)
        self._asked = quantity
        point = self._point_of(quantity)
        place = QPoint(_MARGIN, _MARGIN) if point is None else area.mapFromScene(area.pulls.place_of(point))
        self._card.show_quantity(self._name(quantity), wanted_of(quantity), quantity.unit, values, place)

    def _point_of(self, quantity: Quantity) -> PullPoint | None:
        area = self._panel.area
        points = () if area is None else area.pulls.points
        return next((each for each in points if each.quantity == quantity), None)

    def _on_typed(self, value: float) -> None:
        quantity, card, circuit = self._asked, self._card, self._panel.shown.circuit
        if quantity is None or card is None or circuit is None or self._panel.area is None:
            return
        self._chosen[circuit] = card.chosen, card.series
        point = self._point_of(quantity)
        if point is not None:
            self._panel.area.pulls.hold(point, value)
        self._begin(quantity, value, is_released=True)
