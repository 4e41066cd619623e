"""What a message means behind a finished design: its goals changed, another circuit, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from domain.design.goal_change import goals_changed_by
from domain.simulation.goals import DesignGoal

if TYPE_CHECKING:
    from application.ports.conversation import Designer
    from shared.message import Message

_FINISHED = ("goals_met", "goals_not_met")


@dataclass(frozen=True, slots=True)
class NextMessage:
    """How a message is taken."""

    kind: Literal["refines", "begins", "unclear"]
    goals: tuple[DesignGoal, ...] = ()
    """Those of the finished design, if there is one."""
    problem: Message | None = None
    """Why it describes no circuit, where there is no finished design it could change."""


def finished_design(events: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The state in which the last design of a conversation was finished; None where none was.

    One that is under way, declined, taken back or failed has nothing that could be refined.
    """
    state: dict[str, Any] = {}
    is_finished = False
    for event in events:
        if event.get("event") == "turn":
            is_finished = event.get("state") == "ended" and event.get("stop_reason") in _FINISHED
            if isinstance(event.get("design"), Mapping):
                state = {}
        update = event.get("update")
        if isinstance(update, Mapping):
            state |= update
    has_all = all(state.get(name) for name in ("design_intent", "circuit_file_path", "netlist_sha256"))
    return state if is_finished and has_all else None


def goals_in(state: Mapping[str, Any]) -> tuple[DesignGoal, ...]:
    from application.workflow.plain_state import goal_from_plain

    try:
        return tuple(goal_from_plain(plain) for plain in state["design_intent"]["goals"])
    except (TypeError, KeyError):  # written by another version
        return ()


def refinement(state: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """What a sentence changes of a finished design, as plain data for its next run; None when nothing."""
    from application.workflow.plain_state import goal_to_plain

    goals = goals_changed_by(text, goals_in(state))
    if goals is None:
        return None
    return {
        "design_intent": state["design_intent"],
        "circuit_file_path": state["circuit_file_path"],
        "netlist_sha256": state["netlist_sha256"],
        "refined_goals": [goal_to_plain(goal) for goal in goals],
    }


async def read_message(designer: Designer, state: Mapping[str, Any] | None, text: str) -> NextMessage:
    """A sentence that describes a circuit begins another design, one that changes a goal refines this one."""
    from shared.errors import CircuitError

    try:
        await designer.understand(text)
        return NextMessage("begins")
    except CircuitError as error:
        if state is None:
            return NextMessage("unclear", problem=error.message)
    kind: Literal["refines", "unclear"] = "refines" if refinement(state, text) is not None else "unclear"
    return NextMessage(kind, goals_in(state))
