"""From a sentence to goals, and the user's yes to them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.types import interrupt

from application.design.plain_state import (
    goal_from_plain,
    goal_to_plain,
    intent_from_plain,
    intent_to_plain,
)
from application.graph.state import GraphState, UserIntent
from application.ports.events import GoalsUnderstood, TextWritten
from application.ports.project import ProjectFiles
from application.simulation.judging import lacking_corners
from application.simulation.simulating import RunSimulation
from application.workflow.goal_readers import Understand
from application.workflow.journal import Decided, Said
from application.workflow.nodes._effects import Finished, Step
from application.workflow.start_state import without_circuit
from domain.design.catalogue import follow
from domain.design.demand_change import design_changed_by
from domain.simulation.goal_conditions import corners_named, runs_of
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg


class DesignGoalsNode:
    """Understands the request; has no effect on files."""

    def __init__(self, understand: Understand, notes: GoalNotes) -> None:
        self._understand = understand
        self._notes = notes

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Goals and family of `user_input`. Raises CircuitError when they can't be understood."""
        step.enter("design_goals", state)
        if state.get("refined_goals"):
            goals, demand = state["refined_goals"], state.get("demand", "")
            changed = await with_goals(state, goals, step, self._notes, demand=demand)
            begun: GraphState = {"current_node": "design_goals", "refined_goals": [], "demand": ""}
            return Finished(update=begun | changed, record=Said())
        understood = await self._understand(state["user_input"])
        intent = understood.intent
        if intent is None:
            assert understood.reply is not None
            step.tell(TextWritten(text=understood.reply))
            answered: GraphState = {
                "current_node": "design_goals",
                "is_completed": True,
                "user_intent": "answered",
                "termination_reason": "answered",
            }
            return Finished(update=answered, record=understood.said)
        apart: GraphState = without_circuit() if understood.is_new_circuit else {}
        notes = await self._notes({**state, **apart}, intent.goals)
        intent = replace(intent, assumptions=(*intent.assumptions, *notes))
        step.tell(GoalsUnderstood(goals=intent.goals, assumptions=intent.assumptions))
        update: GraphState = {
            **apart,
            "current_node": "design_goals",
            "design_intent": intent_to_plain(intent),
            "design_goals_summary": [goal_to_plain(goal) for goal in intent.goals],
        }
        return Finished(update=update, record=understood.said)


class ConfirmGoalsNode:
    """Asks; it has no effect of its own, because it runs again from its start when it is answered."""

    def __init__(self, notes: GoalNotes) -> None:
        self._notes = notes

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Wait for the user's answer: ``{"intent": "continue" | "decline", "goals": [...] | None,
        "is_new_circuit": bool}``.

        Goals that he changed in his own words are not asked about: the next checkpoint can take them back.
        """
        if state.get("refined_from"):
            wish: UserIntent = "instruction" if state.get("instruction") else "continue"
            return Finished(update={"current_node": "confirm_goals", "user_intent": wish}, record=Said())
        answer: dict[str, Any] = interrupt({"kind": "goals", "goals": state["design_goals_summary"]})
        record = Decided(kind="goals", answer=answer["intent"], said=tuple(answer.get("said") or ()))
        if answer["intent"] == "decline":
            return Finished(update={"current_node": "confirm_goals", "user_intent": "decline"}, record=record)
        update: GraphState = {"current_node": "confirm_goals", "user_intent": "continue"}
        if answer.get("is_new_circuit"):
            update |= without_circuit()
        if answer.get("goals"):
            update |= await with_goals({**state, **update}, answer["goals"], step, self._notes)
        return Finished(update=update, record=record)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalNotes:
    """What is said of goals whose condition no simulation can set, or not in the circuit there is."""

    simulate: RunSimulation
    project: ProjectFiles

    async def __call__(self, state: GraphState, goals: Sequence[DesignGoal]) -> tuple[Message, ...]:
        notes = [
            msg(
                "The condition “{condition}” of {metric} cannot be simulated: it is judged without it. A "
                "condition is a process corner (SS, worst case), a temperature in °C, or values by name "
                "such as Vdd=4.5.",
                condition=goal.condition,
                metric=goal.metric,
            )
            for goal in goals
            if runs_of(goal) is None
        ]
        wanted = corners_named(goals)
        circuit = state.get("circuit_file_path", "")
        if wanted and not circuit:
            notes.append(
                msg(
                    "The process corners {corners} are simulated when the circuit uses a model library with "
                    "sections of these names. Without one, its own devices are judged.",
                    corners=", ".join(wanted),
                )
            )
        elif lacking := await lacking_corners(self.simulate, self.project.root / circuit, goals):
            notes.append(
                msg(
                    "No model library of {circuit} has a section for the process corners {corners}: there "
                    "its own devices are judged.",
                    circuit=circuit,
                    corners=", ".join(name for name in wanted if name in lacking),
                )
            )
        return tuple(notes)


async def with_goals(
    state: GraphState, goals: list[dict[str, Any]], step: Step, notes: GoalNotes, *, demand: str = ""
) -> GraphState:
    """The change of the state by goals that a person changed; says which ones hold now.

    What one of our families is sized for changes with them, and by what a sentence demands beside them.
    """
    before = intent_from_plain(state["design_intent"])
    wanted = tuple(goal_from_plain(plain) for plain in goals)
    told: Sequence[Message] = ()
    if demand and (demanded := await asyncio.to_thread(design_changed_by, demand, before)) is not None:
        intent, told = demanded
    elif wanted == before.goals:
        return {}
    else:
        intent = await asyncio.to_thread(follow, before, wanted)
    for each in told:
        step.tell(TextWritten(text=each))
    if intent.goals != before.goals:
        step.tell(GoalsUnderstood(goals=intent.goals, assumptions=await notes(state, intent.goals)))
    return {
        "design_intent": intent_to_plain(intent),
        "design_goals_summary": [goal_to_plain(goal) for goal in intent.goals],
    }
