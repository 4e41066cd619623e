"""The nodes that decide on the circuit - initial design, action, conclusion - and the one that writes it.

Deciding and doing are steps of their own: a decision has its call ids, and its content in the object
store, before anything happens; carrying it out may then be repeated without happening twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from application.design.circuit_goals import save_goals
from application.graph.state import GraphState, JudgedRound, PlannedChange
from application.ports.conversation import Designer
from application.ports.events import CheckpointReached, GoalsUnderstood, TextWritten
from application.ports.project import ABSENT, ProjectFiles
from application.tool_execution.operations import Operations
from application.workflow.journal import Carried, DesignJournal, PlannedCall, Said
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
from shared.message import Message, msg
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


class ConcludeNode:
    """Ends a run; when a former round was better than the last, its circuit is to be put back."""

    def __init__(self, operations: Operations, project: ProjectFiles) -> None:
        self._operations = operations
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Plan to leave the best circuit in the file; its figures go into the state at once."""
        step.enter("conclude", state, ends_round=True)
        ended: GraphState = {
            "current_node": "conclude",
            "is_completed": True,
            "termination_reason": state.get("user_intent", "stop"),
            "planned_change": None,
        }
        best = state.get("best_round")
        now = state.get("netlist_sha256")
        if best is None or best["netlist_sha256"] in ("", now) or now == state.get("left_by_user"):
            return Finished(update=ended, record=Said())
        restoring = await _restoring(self._project, self._operations, state, best, step)
        if restoring is None or not restoring.changes:
            return Finished(update=ended, record=Said())
        update: GraphState = {
            **ended,
            **restoring.update,
            "sim_result_path": best["sim_result_path"],
            "last_metrics": best["metrics"],
            "last_verdicts": best["verdicts"],
        }
        return Finished(update=update, record=Said(calls=restoring.calls))


class GoBackNode:
    """Puts back the circuit of an earlier round, with its goals and figures; the rounds since stay known."""

    def __init__(self, operations: Operations, project: ProjectFiles, journal: DesignJournal) -> None:
        self._operations = operations
        self._project = project
        self._journal = journal

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Plan it; a round that is not there leaves everything as it is, and the checkpoint asks again."""
        number = state.get("go_back_to", 0)
        found = next((each for each in self._journal.rounds() if each["number"] == number), None)
        update: GraphState = {"current_node": "go_back", "user_intent": "continue", "planned_change": None}
        if found is None:
            step.tell(TextWritten(text=msg("There is no round {number} to go back to.", number=number)))
            return Finished(update=update, record=Said())
        restoring = await _restoring(self._project, self._operations, state, found, step)
        if restoring is None:  # the checkpoint looks at what somebody changed before it asks again
            return Finished(update=update, record=Said())
        if found["intent"] != state["design_intent"]:
            intent = intent_from_plain(found["intent"])
            step.tell(GoalsUnderstood(goals=intent.goals, assumptions=()))
        step.tell(TextWritten(text=msg("Back to round {number}.", number=number)))
        back: GraphState = {
            **update,
            **restoring.update,
            "netlist_sha256": found["netlist_sha256"],
            "circuit_files": found.get("files", {}),
            "sim_result_path": found["sim_result_path"],
            "last_metrics": found["metrics"],
            "last_verdicts": found["verdicts"],
            "proposal": found["proposal"],
            "design_intent": found["intent"],
            "design_goals_summary": found["intent"]["goals"],
            "error_context": "",
            "error_places": [],
            "previous_round": state.get("last_round"),
            "last_round": {**found, "number": state["iteration_count"]},
            "stagnation_count": 0,
            "is_exhausted": False,
            "planned_simulation": "",
        }
        await asyncio.to_thread(keep_goals, self._project, {**state, **back}, state["circuit_file_path"])
        return Finished(update=back, record=Said(calls=restoring.calls))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Restoring:
    """What has to be written to have the circuit of a round again."""

    changes: tuple[PlannedChange, ...]
    calls: tuple[PlannedCall, ...]

    @property
    def update(self) -> GraphState:
        if not self.changes:
            return {"planned_change": None}
        return {"planned_change": self.changes[0], "more_changes": list(self.changes[1:])}


async def _restoring(
    project: ProjectFiles, operations: Operations, state: GraphState, target: JudgedRound, step: Step
) -> _Restoring | None:
    """The changes; None where somebody else changed a file of a model since: it stays, and that is told.

    Raises CircuitError for a file of the built-in designer, which would overwrite it in the next round.
    """
    files = target.get("files") or {state["circuit_file_path"]: target["netlist_sha256"]}
    changes: list[PlannedChange] = []
    calls: list[PlannedCall] = []
    held = {state["circuit_file_path"]: state["netlist_sha256"], **state.get("circuit_files", {})}
    for path, sha256 in files.items():
        if held.get(path) == sha256:
            continue
        found = await asyncio.to_thread(hash_in, project, path)
        if found not in (held.get(path), sha256) and not await _is_ours(operations, state, path, found):
            if not target.get("files"):
                raise _changed_by_somebody(project, path)
            step.tell(
                TextWritten(
                    text=msg(
                        "{path} was changed outside the design and is kept as it is; round {number} was not "
                        "restored.",
                        path=path,
                        number=target["number"],
                    )
                )
            )
            return None
        change: PlannedChange = {
            "call_id": new_ulid(),
            "path": path,
            "sha256": sha256,
            "expected_sha256": found,
            "restored_round": target["number"],
        }
        content = await asyncio.to_thread(project.read_object, sha256)
        changes.append(change)
        calls.append(_write_call(change, content.decode("utf-8", "replace")))
    return _Restoring(changes=tuple(changes), calls=tuple(calls))


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
            call.summary = _summary(state, change)
        more = state.get("more_changes", [])
        update: GraphState = {
            "current_node": "write_circuit",
            "last_write": change["call_id"],
            "planned_change": more[0] if more else None,
            "more_changes": more[1:],
        }
        if not change["restored_round"] or path == state["circuit_file_path"]:
            update |= {"circuit_file_path": path, "netlist_sha256": change["sha256"]}
        writes = [*state.get("last_writes", []), change["call_id"]] if change["restored_round"] else []
        update["last_writes"] = writes
        record = Carried(
            call_id=change["call_id"],
            name=WRITE_TOOL,
            success=True,
            summary=call.summary,
            content=f"Wrote {path}.",
            result={"path": path, "sha256": change["sha256"]},
        )
        return Finished(update=update, record=record)


def _summary(state: GraphState, change: PlannedChange) -> Message:
    if not change["restored_round"]:
        return msg("Wrote {path}.", path=change["path"])
    if state.get("is_completed"):
        return msg("Restored round {number}, the best one.", number=change["restored_round"])
    return msg("Restored {path} of round {number}.", path=change["path"], number=change["restored_round"])


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
    """The SHA-256 of what a file of the project holds, ABSENT where it is not there; blocking."""
    try:
        return hashlib.sha256(project.read(Path(path))).hexdigest()
    except UserInputError as error:
        if error.error_type != "file_not_found":
            raise
        return ABSENT


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
        "restored_round": 0,
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
