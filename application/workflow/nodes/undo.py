"""A round taken back, because the user said so at its checkpoint."""

from __future__ import annotations

import asyncio

from application.graph.state import GraphState, JudgedRound
from application.ports.events import GoalsUnderstood, TextWritten
from application.ports.project import ProjectFiles
from application.tool_execution.operations import Operations
from application.workflow.journal import Said
from application.workflow.nodes._effects import Finished, Step, carrying_out
from application.workflow.nodes.circuit import keep_goals
from application.workflow.plain_state import intent_from_plain
from shared.errors import CircuitError
from shared.message import msg

UNDO_TOOL = "undo_change"


class UndoRoundNode:
    """Puts back the file as it was before the last round, through the log of operations."""

    def __init__(self, operations: Operations, project: ProjectFiles) -> None:
        self._operations = operations
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Undo the round's change once; the state becomes that of the round before.

        Goals that were changed for the round are those of before again. Of the first round nothing is
        left: the design ends. A file that somebody changed since stays as it is, and the checkpoint asks
        again.
        """
        number, path, write_id = state["iteration_count"], state["circuit_file_path"], state["last_write"]
        try:
            async with carrying_out(
                step, f"{write_id}-undo", UNDO_TOOL, path=path, operation=write_id
            ) as call:
                # An undo that was killed behind the file's change counts as done from here on.
                await self._operations.repair(session_id=state["session_id"])
                for op_id in reversed(state.get("last_writes") or [write_id]):
                    record = await self._operations.find(op_id)
                    if record is not None and record.state != "undone":  # not before an interruption
                        await self._operations.undo(op_id, session_id=state["session_id"])
                call.success = True
                call.summary = msg("Reverted round {number}: {path}.", number=number, path=path)
        except CircuitError as error:
            step.tell(TextWritten(text=error.message))
            return Finished(update={"current_node": "undo_round", "user_intent": "continue"}, record=Said())
        step.tell(TextWritten(text=call.summary))
        previous = state.get("previous_round")
        if previous is None:
            if refined := state.get("refined_from"):
                before: GraphState = {"design_intent": refined, "design_goals_summary": refined["goals"]}
                await asyncio.to_thread(keep_goals, self._project, {**state, **before}, path)
            return Finished(update=_nothing_left(), record=Said())
        update = _as_it_was(state, previous)
        if previous["intent"] != state["design_intent"]:  # the goals were changed for the round
            intent = intent_from_plain(previous["intent"])
            step.tell(GoalsUnderstood(goals=intent.goals, assumptions=()))
            await asyncio.to_thread(keep_goals, self._project, {**state, **update}, path)
        return Finished(update=update, record=Said())


def _nothing_left() -> GraphState:
    return {
        "current_node": "undo_round",
        "user_intent": "stop",
        "is_completed": True,
        "termination_reason": "undo",
        "last_metrics": {},
        "last_verdicts": [],
        "best_round": None,
        "last_round": None,
        "iteration_count": 0,
    }


def _as_it_was(state: GraphState, previous: JudgedRound) -> GraphState:
    best = state.get("best_round")
    return {
        "current_node": "undo_round",
        "user_intent": "continue",
        "netlist_sha256": previous["netlist_sha256"],
        "sim_result_path": previous["sim_result_path"],
        "last_metrics": previous["metrics"],
        "last_verdicts": previous["verdicts"],
        "proposal": previous["proposal"],
        "design_intent": previous["intent"],
        "design_goals_summary": previous["intent"]["goals"],
        "last_write": previous["write_id"],
        "last_writes": previous.get("write_ids", []),
        "circuit_files": previous.get("files", {}),
        "error_context": "",
        "iteration_count": previous["number"],
        "best_round": best if best is not None and best["number"] <= previous["number"] else previous,
        "last_round": previous,
        "previous_round": None,
        "stagnation_count": 0,
    }
