"""From a sentence to goals, and the user's yes to them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from langgraph.types import interrupt

from application.events import GoalsUnderstood
from application.graph.nodes._effects import enter, tell
from application.graph.state import (
    GraphState,
    goal_from_plain,
    goal_to_plain,
    intent_from_plain,
    intent_to_plain,
)
from application.ports import Designer, ProjectFiles

GOALS_SCHEMA_VERSION = 1


class DesignGoalsNode:
    """Understands the request; has no effect on files."""

    def __init__(self, designer: Designer) -> None:
        self._designer = designer

    async def __call__(self, state: GraphState) -> GraphState:
        """Goals and family of `user_input`. Raises CircuitError when they can't be understood."""
        enter("design_goals", state)
        intent = await self._designer.understand(state["user_input"])
        tell(GoalsUnderstood(goals=intent.goals, assumptions=intent.assumptions))
        return {
            "current_node": "design_goals",
            "design_intent": intent_to_plain(intent),
            "design_goals_summary": [goal_to_plain(goal) for goal in intent.goals],
        }


class ConfirmGoalsNode:
    """Asks; everything with an effect comes after the answer, because the node runs again from its start."""

    def __init__(self, project: ProjectFiles) -> None:
        self._project = project

    async def __call__(self, state: GraphState) -> GraphState:
        """Wait for the user's answer: ``{"intent": "continue" | "decline", "goals": [...] | None}``."""
        answer: dict[str, Any] = interrupt({"kind": "goals", "goals": state["design_goals_summary"]})
        if answer["intent"] == "decline":
            return {"current_node": "confirm_goals", "user_intent": "decline"}
        intent = intent_from_plain(state["design_intent"])
        goals = tuple(goal_from_plain(plain) for plain in answer.get("goals") or ()) or intent.goals
        summary = [goal_to_plain(goal) for goal in goals]
        document = {
            "schema_version": GOALS_SCHEMA_VERSION,
            "text": state["user_input"],
            "family": intent.family,
            "parameters": intent.parameters,
            "measure": {goal.metric: goal.expression for goal in goals},
            "goals": summary,
        }
        content = json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"
        await asyncio.to_thread(self._project.save_design_goals, content)
        return {
            "current_node": "confirm_goals",
            "user_intent": "continue",
            "design_goals_summary": summary,
            "design_intent": {**state["design_intent"], "goals": summary},
            "design_goals_path": self._project.design_goals_path.relative_to(self._project.root).as_posix(),
        }
