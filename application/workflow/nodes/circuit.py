"""What the nodes share that know of the circuit's file: its hash, whose it is, its goals."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from application.design.circuit_goals import family_of, save_goals
from application.design.plain_state import goal_from_plain, goal_to_plain, intent_from_plain
from application.graph.state import GraphState
from application.ports.project import ABSENT, ProjectFiles
from application.tool_execution.effects import TAKEN
from application.tool_execution.operations import Operations
from application.workflow.nodes._effects import Finished, Step
from shared.errors import CircuitError, UserInputError
from shared.message import msg

WRITE_TOOL = "rewrite_file"
SIMULATE_TOOL = "run_simulation"


async def is_ours(operations: Operations, state: GraphState, path: str, found: str) -> bool:
    """Whether an operation of this conversation put there what a file holds.

    The operations are asked, not only the transcript: its last lines may be lost, but not what they did. One
    that was killed behind the file is still an intent, and is settled as done.
    """
    if path == state.get("circuit_file_path") and found == state.get("netlist_sha256"):
        return True
    records = await operations.list(session_id=state["session_id"])
    return any(
        record.path == path and record.state in ("done", "intent") and record.after_sha256 == found
        for record in records
    )


async def is_changed(operations: Operations, project: ProjectFiles, state: GraphState, circuit: str) -> bool:
    """Whether somebody else changed a file of the round that is in the project."""
    held = {**state.get("circuit_files", {}), circuit: state["netlist_sha256"]}
    for path, sha256 in held.items():
        if Path(path).is_absolute() or sha256 in (ABSENT, TAKEN):
            continue
        found = await asyncio.to_thread(hash_in, project, path)
        is_readable = path == circuit or found != TAKEN
        if found != sha256 and is_readable and not await is_ours(operations, state, path, found):
            return True
    return False


async def refuse_former_plan(state: GraphState, step: Step) -> Finished:  # noqa: ARG001 - a node
    """The step in which an earlier version wrote a circuit that it had planned.

    Where it was done its line is in the transcript, and this is not run. Raises CircuitError.
    """
    raise CircuitError(
        msg(
            "An earlier version of the program was interrupted while it wrote {path}.",
            path=(state["planned_change"] or {}).get("path", ""),
        ),
        advice=msg("Start the design again."),
        error_type="former_version",
    )


def hash_in(project: ProjectFiles, path: str) -> str:
    """The SHA-256 of what a file of the project holds, ABSENT where it is not there; blocking.

    TAKEN where something else stands in its place, or it can't be read.
    """
    try:
        return hashlib.sha256(project.read(Path(path))).hexdigest()
    except UserInputError as error:
        return ABSENT if error.error_type == "file_not_found" else TAKEN


def keep_goals(project: ProjectFiles, state: GraphState, circuit: str) -> None:
    """Keep the goals of a state as those of a circuit (its place in the project); blocking.

    Raises EnvironmentProblem.
    """
    intent = intent_from_plain(state["design_intent"])
    goals = [goal_from_plain(plain) for plain in state["design_goals_summary"]]
    document = {
        "text": state["user_input"],
        "family": intent.family,
        "parameters": intent.parameters,
        "measure": {goal.metric: goal.expression for goal in goals},
        "goals": [goal_to_plain(goal) for goal in goals],
    }
    if not intent.family:  # other values for a circuit of ours: it is still that one
        document |= family_of(project, circuit)
    save_goals(project, circuit, document)
