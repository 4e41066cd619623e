"""The nodes that decide on the circuit - initial design, action, conclusion - and the one that writes it.

Deciding and doing are steps of their own: a decision has its call ids, and its content in the object
store, before anything happens; carrying it out may then be repeated without happening twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

from application.design.circuit_goals import save_goals
from application.graph.state import GraphState, PlannedChange
from application.ports.conversation import Designer
from application.ports.events import CheckpointReached, TextWritten
from application.ports.project import ABSENT, ProjectFiles
from application.tool_execution.effects import TAKEN
from application.tool_execution.operations import Operations
from application.workflow.journal import Carried, PlannedCall, Said
from application.workflow.nodes._effects import DesignNode, Finished, Step, carrying_out
from application.workflow.plain_state import (
    goal_from_plain,
    goal_to_plain,
    intent_from_plain,
    proposal_from_plain,
    proposal_to_plain,
    verdict_from_plain,
)
from domain.design.designer import Proposal
from domain.simulation.goals import DesignGoal, GoalVerdict, all_met
from domain.simulation.result import Quantity
from shared.errors import CircuitError, UserInputError
from shared.message import msg
from shared.ulid import new_ulid

WRITE_TOOL = "rewrite_file"
SIMULATE_TOOL = "run_simulation"
_MOST_NAMES = 1000


class InitialDesignNode:
    """The first shot by design equations, for a file of its own."""

    def __init__(self, designer: Designer, project: ProjectFiles) -> None:
        self._designer = designer
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Keep the goals and propose a circuit; never over a file that holds something else."""
        step.enter("initial_design", state)
        proposal = await self._designer.propose(intent_from_plain(state["design_intent"]))
        path, expected = await asyncio.to_thread(self._path, state, proposal)
        await asyncio.to_thread(keep_goals, self._project, state, path)
        finished = await _plan(self._project, step, proposal, path=path, expected_sha256=expected)
        goals_path = self._project.goals.path_of(path).relative_to(self._project.root).as_posix()
        return Finished(
            update={**finished.update, "current_node": "initial_design", "design_goals_path": goals_path},
            record=finished.record,
        )

    def _path(self, state: GraphState, proposal: Proposal) -> tuple[str, str]:
        """The circuit that is refined, while it is as the design left it; else a free place."""
        refined = state.get("circuit_file_path", "")
        if refined and hash_in(self._project, refined) == state["netlist_sha256"]:
            return refined, state["netlist_sha256"]
        return self._free_path(proposal)

    def _free_path(self, proposal: Proposal) -> tuple[str, str]:
        """`stem.cir`, or the first `stem_2.cir` ... that is free or already holds this very netlist.

        With it the hash of what it holds. A folder, a link to the outside or anything else of that name
        is not free either.
        """
        content = proposal.netlist.encode()
        for number in range(1, _MOST_NAMES + 1):
            suffix = "" if number == 1 else f"_{number}"
            path = self._project.root / f"{proposal.file_stem}{suffix}.cir"
            try:
                if self._project.read(path) == content:
                    return path.name, hashlib.sha256(content).hexdigest()
            except UserInputError as error:
                if error.error_type == "file_not_found":
                    return path.name, ABSENT
        raise UserInputError(
            msg("No free file name was found for {name}.cir.", name=proposal.file_stem),
            advice=msg("Remove or rename some of the circuits in the project."),
        )


class ActionNode:
    """What was decided at the checkpoint: another round with re-sized values."""

    def __init__(
        self, designer: Designer, operations: Operations, project: ProjectFiles, in_words: DesignNode
    ) -> None:
        """`in_words` carries out instructions, and answers questions."""
        self._designer = designer
        self._in_words = in_words
        self._operations = operations
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Re-size after a miss; without anything left to change, say so: the checkpoint asks again."""
        if state.get("user_intent") in ("instruction", "question"):
            return await self._in_words(state, step)
        step.enter("action", state)
        expected = await _content_of_ours(self._project, self._operations, state)
        revised = await self._next_proposal(state)
        if revised is None:
            text = msg("No remaining change would bring the goals closer.")
            step.tell(TextWritten(text=text))
            goals_met = all_met(verdict_from_plain(plain) for plain in state["last_verdicts"])
            number = state["iteration_count"]
            step.tell(
                CheckpointReached(number=number, circuit=state["circuit_file_path"], goals_met=goals_met)
            )
            update: GraphState = {"current_node": "action", "planned_change": None, "is_exhausted": True}
            return Finished(update=update, record=Said())
        finished = await _plan(
            self._project,
            step,
            revised,
            path=state["circuit_file_path"],
            expected_sha256=expected,
        )
        return Finished(update={**finished.update, "current_node": "action"}, record=finished.record)

    async def _next_proposal(self, state: GraphState) -> Proposal | None:
        """Sized anew for changed goals, else corrected by what was measured."""
        intent = intent_from_plain(state["design_intent"])
        changed = state.get("goals_changed", "")
        if changed:
            await asyncio.to_thread(keep_goals, self._project, state, state["circuit_file_path"])
        # Figures of a circuit that an instruction or somebody changed tell nothing of the designer's aim.
        is_own = bool(state["proposal"]) and state["netlist_sha256"] != state.get("left_by_user")
        if changed == "sized" or not is_own:
            return await self._designer.propose(intent)
        netlist = await asyncio.to_thread(self._project.read_object, state["netlist_sha256"])
        previous = proposal_from_plain(state["proposal"], netlist.decode())
        verdicts = [verdict_from_plain(plain) for plain in state["last_verdicts"]]
        if not changed:
            return await self._designer.revise(intent, previous, verdicts)
        judged_anew = [_judged_anew(goal, verdicts) for goal in intent.goals]
        return await self._designer.revise(intent, previous, judged_anew) or previous


async def _is_ours(operations: Operations, state: GraphState, path: str, found: str) -> bool:
    """Whether an operation of this conversation put there what a file holds.

    The operations are asked, not only the transcript: its last lines may be lost, but not what they did.
    """
    if path == state.get("circuit_file_path") and found == state.get("netlist_sha256"):
        return True
    records = await operations.list(session_id=state["session_id"])
    return any(
        record.path == path and record.state == "done" and record.after_sha256 == found for record in records
    )


class WriteCircuitNode:
    """Makes the planned change of the circuit."""

    def __init__(self, operations: Operations, project: ProjectFiles) -> None:
        self._operations = operations
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Write the circuit, once.

        Raises CircuitError ("file_modified_externally") when somebody changed the file since the plan.
        """
        change = state["planned_change"]
        assert change is not None  # the edges lead here only with a plan
        path = change["path"]
        content = await asyncio.to_thread(self._project.read_object, change["sha256"])
        async with carrying_out(step, change["call_id"], WRITE_TOOL, path=path) as call:
            try:
                await self._operations.change_file(
                    op_id=change["call_id"],
                    session_id=state["session_id"],
                    tool=WRITE_TOOL,
                    path=Path(path),
                    content=content,
                    expected_sha256=change["expected_sha256"],
                    result={"path": path, "sha256": change["sha256"]},
                )
            except CircuitError as error:
                if error.error_type != "file_modified_externally":
                    raise
                raise _changed_by_somebody(self._project, path) from error
            call.success = True
            call.summary = msg("Wrote {path}.", path=path)
        update: GraphState = {
            "current_node": "write_circuit",
            "last_write": change["call_id"],
            "last_writes": [change["call_id"]],
            "planned_change": None,
            "circuit_file_path": path,
            "netlist_sha256": change["sha256"],
        }
        record = Carried(
            call_id=change["call_id"],
            name=WRITE_TOOL,
            success=True,
            summary=call.summary,
            content=f"Wrote {path}.",
            result={"path": path, "sha256": change["sha256"]},
        )
        return Finished(update=update, record=record)


def refuse_foreign_change(project: ProjectFiles, state: GraphState) -> None:
    """Raises CircuitError when the circuit's file does not hold what the run put there."""
    if hash_in(project, state["circuit_file_path"]) != state["netlist_sha256"]:
        raise _changed_by_somebody(project, state["circuit_file_path"])


async def _content_of_ours(project: ProjectFiles, operations: Operations, state: GraphState) -> str:
    """The hash of what the circuit's file holds; raises CircuitError when the run did not put it there."""
    path = state["circuit_file_path"]
    found = await asyncio.to_thread(hash_in, project, path)
    if not await _is_ours(operations, state, path, found):
        raise _changed_by_somebody(project, path)
    return found


def hash_in(project: ProjectFiles, path: str) -> str:
    """The SHA-256 of what a file of the project holds, ABSENT where it is not there; blocking.

    TAKEN where something else stands in its place, or it can't be read.
    """
    try:
        return hashlib.sha256(project.read(Path(path))).hexdigest()
    except UserInputError as error:
        return ABSENT if error.error_type == "file_not_found" else TAKEN


def _changed_by_somebody(project: ProjectFiles, path: str) -> CircuitError:
    return CircuitError(
        msg("{path} was changed while it was being designed.", path=path),
        advice=msg("Your version is kept as it is. Start the design again: it uses another file."),
        file=project.root / path,
        error_type="file_modified_externally",
    )


async def _plan(
    project: ProjectFiles, step: Step, proposal: Proposal, *, path: str, expected_sha256: str
) -> Finished:
    """Plan to write a proposal and to simulate it."""
    for note in proposal.notes:
        step.tell(TextWritten(text=note))
    change: PlannedChange = {
        "call_id": new_ulid(),
        "path": path,
        "sha256": await asyncio.to_thread(project.keep_object, proposal.netlist.encode()),
        "expected_sha256": expected_sha256,
    }
    simulation = PlannedCall(call_id=new_ulid(), name=SIMULATE_TOOL, arguments={"file_path": path})
    return Finished(
        update={
            "planned_change": change,
            "planned_simulation": simulation.call_id,
            "proposal": proposal_to_plain(proposal),
        },
        record=Said(calls=(_write_call(change, proposal.netlist), simulation)),
    )


def _judged_anew(goal: DesignGoal, verdicts: Sequence[GoalVerdict]) -> GoalVerdict:
    """A changed goal held against what was measured; a new one counts as not measured."""
    known = (verdict.measured for verdict in verdicts if verdict.goal.expression == goal.expression)
    measured = next(known, Quantity(value=math.nan, unit=goal.unit))
    return GoalVerdict(goal=goal, measured=measured, met=goal.is_met_by(measured.value))


def _write_call(change: PlannedChange, netlist: str) -> PlannedCall:
    arguments = {"path": change["path"], "content": netlist}
    return PlannedCall(call_id=change["call_id"], name=WRITE_TOOL, arguments=arguments)


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
    save_goals(project, circuit, document)
