"""GraphState: pointers, counters and small summaries of one session, in plain types only.

Data live in files of the project; a checkpoint row stays small (at most 20 kB) whatever the
circuit. Everything here survives strict msgpack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from application.agent.state import AgentState
from domain.design.designer import DesignIntent, Proposal
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from shared.message import Message, msg

UserIntent = Literal["continue", "accept", "stop", "decline", "undo"]


class JudgedRound(TypedDict):
    """A round as it was judged: the best so far, and the last two, so that one can be taken back."""

    number: int
    shortfall: float
    netlist_sha256: str
    sim_result_path: str
    metrics: dict[str, float | None]
    verdicts: list[dict[str, Any]]
    proposal: dict[str, Any]
    intent: dict[str, Any]
    """With the goals it was judged by."""
    write_id: str
    """The operation that put its circuit into the file."""


class PlannedChange(TypedDict):
    """A change of the circuit that is decided but not made; its content is in the object store."""

    call_id: str
    """Our own ULID: the key of its operation and its place in the transcript."""
    path: str
    """Relative to the project root, with forward slashes."""
    sha256: str
    """Of the new content."""
    expected_sha256: str
    """Of what the file has to hold for the change to be made, or ABSENT."""
    restored_round: int
    """Of the round whose circuit is put back; 0 for a new one."""


class GraphState(AgentState, total=False):
    """The single truth about a session's run."""

    step: str
    """Id of the last finished step, under which it stands in the transcript; "" at the start."""
    step_number: int
    """How many steps the run has finished."""
    planned_change: PlannedChange | None
    planned_simulation: str
    """Call id of the simulation that comes next; "" when none does."""
    work_mode: Literal["workflow", "free_work"]
    project_root: str
    user_input: str
    user_intent: UserIntent
    current_node: str
    is_completed: bool
    termination_reason: str

    circuit_file_path: str
    """Relative to the project root, with forward slashes."""
    netlist_sha256: str
    sim_result_path: str
    """Relative to the project root, with forward slashes: a project may be moved before a run goes on."""
    design_goals_path: str

    refined_goals: list[dict[str, Any]]
    """Of a run that goes on from a finished design: its goals now. [] when they are taken over."""
    refined_from: dict[str, Any]
    """The intent of that design."""
    design_goals_summary: list[dict[str, Any]]
    design_intent: dict[str, Any]
    proposal: dict[str, Any]
    """The last proposal without its netlist text."""
    last_metrics: dict[str, float | None]
    last_verdicts: list[dict[str, Any]]
    error_context: str
    best_round: JudgedRound | None
    """None before the first round, and after the goals were changed."""
    last_round: JudgedRound | None
    previous_round: JudgedRound | None
    """The one before; None when it can't be gone back to any more."""
    last_write: str
    """Id of the operation that wrote the circuit."""
    is_exhausted: bool
    """At the last action the designer found nothing left to change."""
    goals_changed: Literal["", "judged", "sized"]
    """At the last checkpoint: the limits only, or also what the circuit is sized for."""

    max_iterations: int
    iteration_count: int
    checkpoint_count: int
    stagnation_count: int
    consecutive_fix_attempts: int


def goal_to_plain(goal: DesignGoal) -> dict[str, Any]:
    """A goal as plain JSON types."""
    return {
        "metric": goal.metric,
        "expression": goal.expression,
        "unit": goal.unit,
        "minimum": goal.minimum,
        "maximum": goal.maximum,
        "target": goal.target,
        "stated": goal.stated,
        "weight": goal.weight,
        "words": goal.words,
    }


def goal_from_plain(plain: dict[str, Any]) -> DesignGoal:
    """The goal `goal_to_plain` wrote."""
    return DesignGoal(**plain)


def intent_to_plain(intent: DesignIntent) -> dict[str, Any]:
    """An intent as plain JSON types."""
    return {
        "family": intent.family,
        "parameters": dict(intent.parameters),
        "goals": [goal_to_plain(goal) for goal in intent.goals],
        "assumptions": messages_to_plain(intent.assumptions),
        "language": intent.language,
    }


def intent_from_plain(plain: dict[str, Any]) -> DesignIntent:
    """The intent `intent_to_plain` wrote."""
    return DesignIntent(
        family=plain["family"],
        parameters=dict(plain["parameters"]),
        goals=tuple(goal_from_plain(goal) for goal in plain["goals"]),
        assumptions=messages_from_plain(plain["assumptions"]),
        language=plain["language"],
    )


def proposal_to_plain(proposal: Proposal) -> dict[str, Any]:
    """A proposal without its netlist (that is in the project's file)."""
    return {
        "file_stem": proposal.file_stem,
        "values": dict(proposal.values),
        "tuning": dict(proposal.tuning),
        "notes": messages_to_plain(proposal.notes),
    }


def proposal_from_plain(plain: dict[str, Any], netlist: str) -> Proposal:
    """The proposal `proposal_to_plain` wrote, with its netlist."""
    return Proposal(
        file_stem=plain["file_stem"],
        netlist=netlist,
        values=dict(plain["values"]),
        tuning=dict(plain["tuning"]),
        notes=messages_from_plain(plain["notes"]),
    )


def verdict_to_plain(verdict: GoalVerdict) -> dict[str, Any]:
    """A verdict as plain JSON types; NaN becomes None."""
    value = verdict.measured.value
    return {
        "goal": goal_to_plain(verdict.goal),
        "value": None if math.isnan(value) else value,
        "unit": verdict.measured.unit,
        "met": verdict.met,
    }


def verdict_from_plain(plain: dict[str, Any]) -> GoalVerdict:
    """The verdict `verdict_to_plain` wrote."""
    value = plain["value"]
    return GoalVerdict(
        goal=goal_from_plain(plain["goal"]),
        measured=Quantity(value=float("nan") if value is None else value, unit=plain["unit"]),
        met=plain["met"],
    )


def messages_to_plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as plain JSON types."""
    return [
        {"template": message.template, "params": {key: _plain(v) for key, v in message.params.items()}}
        for message in messages
    ]


def messages_from_plain(plain: Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """The messages `messages_to_plain` wrote."""
    return tuple(Message(item["template"], item["params"]) for item in plain)


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def no_circuit_message() -> Message:
    """What a node says when it is reached without a circuit."""
    return msg("There is no circuit in this session yet.")
