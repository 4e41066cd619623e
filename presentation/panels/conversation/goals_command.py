"""The goals of the circuit in front, in the conversation: shown with their last figures, changed in words."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtWidgets import QWidget

from application.conversation.goals_shown import GoalsNow
from application.groups.design import Design
from application.groups.project import Project
from application.project.browsing import ResultSummary
from domain.design.goal_extraction import GoalsRead
from domain.llm.provider_settings import BUILTIN
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.mentions import can_be_mentioned, mention
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.panels.conversation.words import busy, with_advice
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid


class GoalsCommand:
    """What `/goals` and the buttons of its card do; `say` tells why something was not done."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        design: Design,
        panel: QWidget,
        say: Callable[[Message | None], None],
    ) -> None:
        self._services = services
        self._project = project
        self._design = design
        self._panel = panel
        self._say = say
        self._turns = asyncio.Lock()
        """One after the other: the first card of a conversation begins it."""

    def run(self, model: ConversationViewModel, text: str) -> None:
        """Show the goals of the circuit in front; with a text first change them as it says."""
        workspace = self._services.workspace
        circuit = workspace.front_circuit or workspace.main_circuit
        if circuit is None or model.root is None or not circuit.is_relative_to(model.root):
            self._say(msg("Open a circuit of the project first: goals belong to a circuit."))
        elif not text:
            self._start(self._put(model, model.root, circuit, new_ulid()))
        elif model.mode == "workflow":  # the design asks for its own goals, and reads what is said to it
            self._say(model.send(text))
        elif model.is_running:
            self._say(busy())
        else:
            self._start(self._change(model, model.root, circuit, text))

    def turn(self, model: ConversationViewModel, key: str) -> None:
        """Take the change of a card back, or make it again."""
        card = model.items.get(key)
        if isinstance(card, GoalsNow) and card.is_ours and card.before is not None and model.root is not None:
            self._start(self._turn(model, model.root, card))

    def edit(self, model: ConversationViewModel, key: str) -> None:
        """The goals of a card's circuit in their dialog."""
        card = model.items.get(key)
        if isinstance(card, GoalsNow) and card.is_ours and model.root is not None:
            self._start(self._edit(model, model.root, card))

    def follow_runs(self, models: Sequence[ConversationViewModel]) -> None:
        """A run has ended: the newest card of each conversation tells of its circuit's newest run."""
        for model in models:
            card = next((row for row in model.items.backwards() if isinstance(row, GoalsNow)), None)
            if card is not None and card.is_ours and model.root is not None:
                self._start(self._put(model, model.root, model.root / card.path, card.key, is_asked=False))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        async def in_turn() -> None:
            try:
                async with self._turns:
                    await work
            finally:
                work.close()  # it was stopped before its turn came

        self._services.start(in_turn(), kind="goals")

    async def _change(self, model: ConversationViewModel, root: Path, circuit: Path, text: str) -> None:
        """What the rules read for sure is done at once; what they do not, the model is asked to do.

        They read changes of the goals there are, and further goals as the built-in designer reads them.
        """
        from domain.design.goals_meant import goals_meant_by

        before = await self._project.browse.goals(root, circuit)
        place = circuit.relative_to(root).as_posix()
        wanted = goals_meant_by(text, before) if before else None
        told: Message | None = None
        if wanted is None:
            try:
                read = await self._design.read_goals(root, place, text)
            except CircuitAIError as error:
                self._say(with_advice(error))
                return
            reply = read.reply if isinstance(read.reply, Message) else msg("{text}", text=read.reply)
            wanted, told = _with_further(before, read), reply if read.reply else None
        if wanted is not None:
            if await self._ask_of(root, circuit, wanted):
                await self._put(model, root, circuit, new_ulid(), before=before)
            return
        if model.choice.provider == BUILTIN or not can_be_mentioned(place):
            await self._put(model, root, circuit, new_ulid())
            unread = msg(
                "“{text}” is not understood as a change of the goals of {circuit}.", text=text, circuit=place
            )
            self._say(told or unread)
            return
        sentence = msg("Change the goals of {circuit}: {text}", circuit=mention(place), text=text)
        self._say(model.send(self._services.language(sentence)))

    async def _edit(self, model: ConversationViewModel, root: Path, card: GoalsNow) -> None:
        from application.ports.events import GoalsUnderstood
        from presentation.dialogs.goals import GoalsDialog

        circuit = root / card.path
        before = await self._project.browse.goals(root, circuit)
        told = GoalsUnderstood(goals=before, assumptions=())
        wanted = await GoalsDialog(self._services, told, self._panel.window(), circuit=circuit.name).ask()
        if wanted is not None and tuple(wanted) != before and await self._ask_of(root, circuit, wanted):
            await self._put(model, root, circuit, new_ulid(), before=before)

    async def _turn(self, model: ConversationViewModel, root: Path, card: GoalsNow) -> None:
        circuit = root / card.path
        shown = tuple(verdict.goal for verdict in card.verdicts)
        if await self._project.browse.goals(root, circuit) != shown:
            self._say(msg("The goals of {circuit} have changed since; they stay.", circuit=card.path))
            return
        if card.before is not None and await self._ask_of(root, circuit, card.before):
            await self._put(model, root, circuit, card.key, before=shown, is_undone=not card.is_undone)

    async def _ask_of(self, root: Path, circuit: Path, goals: Sequence[DesignGoal]) -> bool:
        try:
            await self._project.browse.ask_of(root, circuit, goals)
        except CircuitAIError as error:
            self._say(with_advice(error))
            return False
        self._services.workspace.goals_changed.emit(circuit)
        return True

    async def _put(
        self,
        model: ConversationViewModel,
        root: Path,
        circuit: Path,
        key: str,
        *,
        before: tuple[DesignGoal, ...] | None = None,
        is_undone: bool = False,
        is_asked: bool = True,
    ) -> None:
        """Put the card at its place, or at the end; what it told of a change stays.

        Where nobody `is_asked`, it is not told that the card could not be stored anew.
        """
        session_id, known = model.session_id, model.items.get(key)
        after = row = ""
        if isinstance(known, GoalsNow):
            after, row = known.after, known.row
            if before is None:
                before, is_undone = known.before, known.is_undone
        try:
            goals = await self._project.browse.goals(root, circuit)
            result, is_older = await self._newest(root, circuit)
            judged = () if result is None else await self._project.browse.verdicts(result, goals)
        except CircuitAIError as error:
            self._say(with_advice(error))
            return
        is_begun = not session_id and model.is_running  # by what was said meanwhile
        if model.root != root or not (model.session_id == session_id or is_begun):
            return  # another conversation is shown in its tab
        card = GoalsNow(
            key=key,
            path=circuit.relative_to(root).as_posix(),
            verdicts=tuple(each.verdict for each in judged) or tuple(map(_unmeasured, goals)),
            run=0 if result is None else result.number,
            is_older=is_older,
            before=before,
            is_undone=is_undone,
            after=after,
            row=row,
        )
        problem = await model.transcript.keep_goals(card) if card != known else None
        if problem is not None and is_asked:
            self._say(problem)

    async def _newest(self, root: Path, circuit: Path) -> tuple[ResultSummary | None, bool]:
        """The circuit's newest run that ended well here, and whether its text was another then."""
        workspace = self._services.workspace
        results = await self._project.browse.results(root)
        own = (each for each in results if workspace.views.place_of(each.circuit, each.created) == circuit)
        found = next((each for each in own if each.ok and each.is_ours), None)
        run = None if workspace.newest is None else await workspace.newest.run_of(circuit)
        return found, run is not None and run[1]


def _unmeasured(goal: DesignGoal) -> GoalVerdict:
    return GoalVerdict(goal=goal, measured=Quantity(value=math.nan, unit=goal.unit), met=False)


def _with_further(before: tuple[DesignGoal, ...], read: GoalsRead) -> tuple[DesignGoal, ...] | None:
    """The goals with what else is asked for; None where not all of it was read, or a goal of it is there."""
    is_whole = read.goals and not (read.reply or read.left_out or read.questions)
    if not is_whole or {goal.expression for goal in before} & {goal.expression for goal in read.goals}:
        return None
    found = list(before)
    for goal in read.goals:
        names = (goal.metric if number == 1 else f"{goal.metric}_{number}" for number in itertools.count(1))
        free = next(name for name in names if all(name != other.metric for other in found))
        found.append(replace(goal, metric=free))
    return tuple(found)
