"""Earlier rounds put back: one undone, an earlier one gone back to, the best one left in the files.

Planned and done in steps of their own, as one operation: all files of the round, or none. What somebody
changed since is kept in a file of its own beside the circuit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

from application.design.plain_state import intent_from_plain
from application.design.round_history import judged_rounds, number_shown
from application.graph.state import GraphState, JudgedRound, PlannedRestoring
from application.ports.events import UNDO_TOOL, GoalsUnderstood, MainCircuitRestored, TextWritten
from application.ports.project import ABSENT, FileChange, OperationRecord, ProjectFiles
from application.tool_execution.effects import TAKEN
from application.tool_execution.operations import Operations
from application.workflow.journal import Carried, DesignJournal, PlannedCall, Said
from application.workflow.nodes._effects import Finished, Step, carrying_out
from application.workflow.nodes.circuit import WRITE_TOOL, hash_in, is_changed, keep_goals
from shared.errors import CircuitAIError, CircuitError
from shared.message import Message, message_from_plain, msg
from shared.ulid import new_ulid

_MOST_NAMES = 1000


class UndoRoundNode:
    """Takes the newest entry of the design's history back: a round, or going back to an earlier one."""

    def __init__(self, restoring: Restoring, journal: DesignJournal) -> None:
        self._restoring = restoring
        self._journal = journal

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Plan it; goals that were changed for the round are those of before again.

        Behind the first round nothing is left: the design ends. What can't be restored leaves all as it is,
        and the checkpoint asks again.
        """
        here: GraphState = {"current_node": "undo_round", "user_intent": "continue"}
        entries = self._journal.timeline()
        before = entries[-2] if len(entries) > 1 else None
        writes = state.get("last_writes") or ([state["last_write"]] if state.get("last_write") else [])
        if before is None and not writes:
            step.tell(TextWritten(text=msg("There is no round before this one.")))
            return Finished(update=here, record=Said())
        if before is None:
            then = _nothing_left(state)
        else:
            then = _as_it_was(state, before, entries[-3] if len(entries) > 2 else None)
        try:
            records = await self._restoring.operations.list(session_id=state["session_id"])
            wanted = {**_before(records, writes), **({} if before is None else files_of(before, state))}
            number = 0 if before is None else before["number"]
            plan = await self._restoring.plan(state, records, wanted, number=number, undoes=writes, then=then)
        except CircuitAIError as error:
            step.tell(TextWritten(text=error.message))
            return Finished(update=here, record=Said())
        return await self._restoring.planned(plan, state, here, step)


class GoBackNode:
    """Puts back the circuit of an earlier round, with its goals and figures; the rounds since stay known."""

    def __init__(self, restoring: Restoring, journal: DesignJournal) -> None:
        self._restoring = restoring
        self._journal = journal

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Plan it; a round that is not there leaves everything as it is, and the checkpoint asks again."""
        number = state.get("go_back_to", 0)
        rounds = judged_rounds(self._journal.timeline())
        found = next((each for each in rounds if each["number"] == number), None)
        here: GraphState = {"current_node": "go_back", "user_intent": "continue"}
        if found is None:
            step.tell(TextWritten(text=msg("There is no round {number} to go back to.", number=number)))
            return Finished(update=here, record=Said())
        if not found.get("files", {}) and not found["netlist_sha256"]:
            step.tell(TextWritten(text=msg("Round {number} has no circuit to go back to.", number=number)))
            return Finished(update=here, record=Said())
        try:
            records = await self._restoring.operations.list(session_id=state["session_id"])
            plan = await self._restoring.plan(state, records, files_of(found, state), number=number)
        except CircuitAIError as error:
            step.tell(TextWritten(text=error.message))
            return Finished(update=here, record=Said())
        writes = [plan["call_id"]] if plan["changes"] else []
        plan["then"] = {
            **of_round(state, found),
            "current_node": "go_back",
            "user_intent": "continue",
            "last_write": writes[0] if writes else "",
            "last_writes": writes,
            "previous_round": state.get("last_round"),
            "last_round": {
                **found,
                "count": state["iteration_count"],
                "write_id": writes[0] if writes else "",
                "write_ids": writes,
            },
            "stagnation_count": 0,
            "left_by_user": found["netlist_sha256"],  # at the end, too, whichever round is the best one
        }
        return await self._restoring.planned(plan, state, here, step)


class ConcludeNode:
    """Ends a run; when a former round was better than the last, its circuit is to be put back.

    Who accepts a design keeps the circuit that was asked about, and is told of the better one. What somebody
    changed since the question nobody has judged: that is looked at, and asked about, first.
    """

    def __init__(self, restoring: Restoring) -> None:
        self._restoring = restoring

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Plan to leave the best circuit in the files; what somebody changed since stays as it is."""
        circuit, is_accepted = state.get("circuit_file_path", ""), state.get("user_intent") == "accept"
        operations = self._restoring.operations
        if circuit and is_accepted and await is_changed(operations, self._restoring.project, state, circuit):
            return Finished(update={"current_node": "conclude"}, record=Said())
        step.enter("conclude", state, ends_round=True)
        ended: GraphState = {
            "current_node": "conclude",
            "is_completed": True,
            "termination_reason": state.get("user_intent", "stop"),
        }
        if (why := message_from_plain(state.get("rests"))) is not None:
            step.tell(TextWritten(text=msg("No further round by itself: {why}.", why=why)))
        best = state.get("best_round")
        if best is None or not _is_better(best, state):
            return Finished(update=ended, record=Said())
        if is_accepted:
            text = msg(
                "Round {number} is kept as it was accepted. Round {best} came closer to the goals; it "
                "can still be gone back to.",
                number=number_shown(state),
                best=best["number"],
            )
            step.tell(TextWritten(text=text))
            return Finished(update=ended, record=Said())
        records = await self._restoring.operations.list(session_id=state["session_id"])
        plan = await self._restoring.plan(state, records, files_of(best, state), number=best["number"])
        if plan["aside"]:
            for path in plan["aside"]:
                step.tell(
                    TextWritten(
                        text=msg(
                            "{path} was changed outside the design and is kept as it is; round {number} was "
                            "not restored.",
                            path=path,
                            number=best["number"],
                        )
                    )
                )
            return Finished(update=ended, record=Said())
        plan["then"] = {**of_round(state, best), **ended, "last_round": best}
        return await self._restoring.planned(plan, state, ended, step)


def _is_better(best: JudgedRound, state: GraphState) -> bool:
    """Whether a round is closer to the goals than what is in the files, unless the user left that there."""
    now, files = state.get("netlist_sha256"), state.get("circuit_files", {})
    last = state.get("last_round")
    is_here = (best["netlist_sha256"], best.get("files", files)) == (now, files)
    is_closer = last is None or best["shortfall"] < last["shortfall"]  # it is not where none could be run
    return bool(best["netlist_sha256"]) and now != state.get("left_by_user") and not is_here and is_closer


class RestoreNode:
    """Carries a planned restoring out."""

    def __init__(self, restoring: Restoring) -> None:
        self._restoring = restoring

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """All files of the round, once; where one of them was changed since the plan, none of them."""
        plan = state["planned_restoring"]
        assert plan is not None  # the edges lead here only with a plan
        changes = await asyncio.to_thread(changes_of, self._restoring.project, plan)
        undoes, main, is_undo = plan["undoes"], changes[0].path, _is_undo(state)
        arguments: dict[str, object] = {"operations": undoes} if is_undo else {"path": main}
        tool = UNDO_TOOL if is_undo else WRITE_TOOL
        here: GraphState = {"current_node": state["current_node"], "planned_restoring": None}
        failed: CircuitError | None = None
        async with carrying_out(step, plan["call_id"], tool, **arguments) as call:
            try:
                await self._restoring.operations.change_files(
                    op_id=plan["call_id"],
                    session_id=state["session_id"],
                    tool=tool,
                    changes=changes,
                    result={"path": main, "round": plan["number"]},
                    undoes=undoes,
                )
                call.success, call.summary = True, _summary(state, plan)
            except CircuitError as error:
                failed = error
                call.summary, call.error_type = error.message, error.error_type
        if failed is not None:
            update = here
        else:
            update = await self._restoring.applied(state, plan, step)
            update["planned_restoring"] = None
        if is_undo:
            step.tell(TextWritten(text=call.summary))
            return Finished(update=update, record=Said())
        record = Carried(
            call_id=plan["call_id"],
            name=tool,
            success=call.success,
            summary=call.summary,
            content=f"Restored {', '.join(change.path for change in changes)} as of round {plan['number']}."
            if call.success
            else f"Not restored: {call.summary}",
            error_type=call.error_type,
            result={"path": main, "round": plan["number"]},
        )
        return Finished(update=update, record=record)


class Restoring:
    """Plans what has to be written, and says what follows from it."""

    def __init__(
        self, operations: Operations, project: ProjectFiles, main_circuit: Callable[[], str] = str
    ) -> None:
        """`main_circuit`: that of the window now, relative to the project; "" for none."""
        self.operations = operations
        self.project = project
        self._main_circuit = main_circuit

    async def plan(
        self,
        state: GraphState,
        records: Sequence[OperationRecord],
        wanted: Mapping[str, str],
        *,
        number: int,
        undoes: Sequence[str] = (),
        then: Mapping[str, Any] | None = None,
    ) -> PlannedRestoring:
        """What to write so that each file is as `wanted`. Raises CircuitAIError where it can't be."""
        made = {
            (change.path, change.after)
            for record in records
            if record.state in ("done", "undone")
            for change in (*record.changes, *(each.reverse for each in record.changes))
        }
        held = {**state.get("circuit_files", {})}
        if state.get("circuit_file_path"):
            held[state["circuit_file_path"]] = state["netlist_sha256"]
        return await asyncio.to_thread(
            self._plan, held, made, wanted, number=number, undoes=list(undoes), then=dict(then or {})
        )

    def _plan(
        self,
        held: Mapping[str, str],
        made: set[tuple[str, str]],
        wanted: Mapping[str, str],
        *,
        number: int,
        undoes: list[str],
        then: dict[str, Any],
    ) -> PlannedRestoring:
        changes: list[tuple[str, str, str]] = []
        aside: dict[str, str] = {}
        for path, state in wanted.items():
            if PurePosixPath(path).is_absolute():  # a library outside the project is not ours to write
                continue
            found = hash_in(self.project, path)
            # One that is there already though the round had another: done before its line was lost.
            if found == state and (state == ABSENT or held.get(path, state) == state):
                continue
            if found == TAKEN:
                raise CircuitError(
                    msg("What is at {path} is not a file of the project; nothing was restored.", path=path),
                    advice=msg("Move it elsewhere and try again."),
                )
            if state != ABSENT:
                self.project.read_object(state)  # lost: said before anything is touched
            if found != ABSENT and (path, found) not in made:
                content = self.project.read(self.project.root / path)
                place, is_there = self._aside(path, found, set(aside.values()))
                aside[path] = place
                if not is_there:
                    changes.append((place, ABSENT, self.project.keep_object(content)))
            changes.append((path, found, state))
        changes.sort(key=lambda change: change[0] in aside.values())  # the circuit comes first
        return PlannedRestoring(
            call_id=new_ulid(), number=number, changes=changes, undoes=undoes, aside=aside, then=then
        )

    def _aside(self, path: str, found: str, taken: set[str]) -> tuple[str, bool]:
        """A place beside `path` for what somebody made of it, and whether it is there already."""
        place = PurePosixPath(path)
        for number in range(1, _MOST_NAMES):
            suffix = "" if number == 1 else f"_{number}"
            name = place.with_name(f"{place.stem}_kept{suffix}{place.suffix}").as_posix()
            there = hash_in(self.project, name)
            if there == found:
                return name, True
            if there == ABSENT and name not in taken:
                return name, False
        raise CircuitError(msg("No free file name was found for {name}.", name=path))

    async def planned(
        self, plan: PlannedRestoring, state: GraphState, here: GraphState, step: Step
    ) -> Finished:
        """The step that decides: where no file differs it is done with it."""
        for path, place in plan["aside"].items():
            text = msg(
                "{path} was changed outside the design: that version is kept in {place}.",
                path=path,
                place=place,
            )
            step.tell(TextWritten(text=text))
        is_undo = here["current_node"] == "undo_round"
        if not plan["changes"]:
            if is_undo:
                step.tell(TextWritten(text=_summary({**state, **here}, plan)))
            return Finished(update=await self.applied(state, plan, step), record=Said())
        calls: tuple[PlannedCall, ...] = ()
        if not is_undo:
            path, _before_it, after = plan["changes"][0]
            content = await asyncio.to_thread(self.project.read_object, after)
            arguments = {"path": path, "content": content.decode("utf-8", "replace")}
            calls = (PlannedCall(call_id=plan["call_id"], name=WRITE_TOOL, arguments=arguments),)
        return Finished(update={**here, "planned_restoring": plan}, record=Said(calls=calls))

    async def applied(self, state: GraphState, plan: PlannedRestoring, step: Step) -> GraphState:
        """The state with the round put back; its goals are those of the circuit again, and the main circuit
        is the one of then."""
        update = cast("GraphState", {**plan["then"], "planned_restoring": None})
        intent = update.get("design_intent")
        if intent is not None and intent != state["design_intent"]:  # the goals were changed since
            goals = intent_from_plain(intent).goals
            if not update.get("is_completed"):
                step.tell(GoalsUnderstood(goals=goals, assumptions=()))
            circuit = update.get("circuit_file_path") or state.get("circuit_file_path", "")
            if circuit:
                now = cast("GraphState", {**state, **update})
                await asyncio.to_thread(keep_goals, self.project, now, circuit)
        if update["current_node"] == "go_back" and not plan["changes"]:  # else the call says it
            step.tell(TextWritten(text=msg("Back to round {number}.", number=plan["number"])))
        if main := await asyncio.to_thread(self.main_of, update.get("last_round")):
            step.tell(MainCircuitRestored(path=main))
        return update

    def main_of(self, one: JudgedRound | None) -> str:
        """The main circuit of a round that is put back, where a window has another one now; blocking."""
        main, now = "" if one is None else one.get("main", ""), self._main_circuit()
        if not now or main in ("", now) or hash_in(self.project, main) in (ABSENT, TAKEN):
            return ""
        return main


def _is_undo(state: GraphState) -> bool:
    return state["current_node"] == "undo_round"


def changes_of(project: ProjectFiles, plan: PlannedRestoring) -> list[FileChange]:
    """The plan as the log of operations takes it; blocking."""
    return [
        FileChange(path=path, before=before, after=after, mode=project.mode_of(Path(path)))
        for path, before, after in plan["changes"]
    ]


def _summary(state: GraphState, plan: PlannedRestoring) -> Message:
    last = state.get("last_round")
    if _is_undo(state):
        circuit = state.get("circuit_file_path", "")
        if last is not None and "count" in last:
            return msg("Going back to round {number} is undone.", number=last["number"])
        return msg("Reverted round {number}: {path}.", number=number_shown(state), path=circuit)
    if plan["then"].get("is_completed"):
        return msg("Restored round {number}, the best one.", number=plan["number"])
    paths = ", ".join(path for path, _, _ in plan["changes"])
    return msg("Restored {path} of round {number}.", path=paths, number=plan["number"])


def _before(records: Sequence[OperationRecord], op_ids: Sequence[str]) -> dict[str, str]:
    """What the files held before these operations, by path."""
    by_id = {record.op_id: record for record in records if record.state == "done"}
    return {
        change.path: change.before
        for op_id in reversed(op_ids)
        if op_id in by_id
        for change in by_id[op_id].changes
        if not change.is_folder
    }


def files_of(one: JudgedRound, state: GraphState) -> dict[str, str]:
    """The files of a round that are its own to put back, by path."""
    circuit = one.get("circuit") or state["circuit_file_path"]
    files = one.get("files") or ({circuit: one["netlist_sha256"]} if one["netlist_sha256"] else {})
    return {path: sha256 for path, sha256 in files.items() if sha256 != ABSENT}


def of_round(state: GraphState, one: JudgedRound) -> dict[str, Any]:
    """The state with a round as it was judged."""
    return {
        "circuit_file_path": one.get("circuit", state["circuit_file_path"]),
        "netlist_sha256": one["netlist_sha256"],
        "circuit_files": one.get("files", {}),
        "sim_result_path": one["sim_result_path"],
        "last_metrics": one["metrics"],
        "last_verdicts": one["verdicts"],
        "design_intent": one["intent"],
        "design_goals_summary": one["intent"]["goals"],
        "error_context": one.get("error", ""),
        "error_places": [],
        "is_exhausted": False,
        "planned_simulation": "",
    }


def _as_it_was(state: GraphState, before: JudgedRound, previous: JudgedRound | None) -> dict[str, Any]:
    best = state.get("best_round")
    count = before.get("count", before["number"])
    return {
        **of_round(state, before),
        "current_node": "undo_round",
        "user_intent": "continue",
        "last_write": before["write_id"],
        "last_writes": before.get("write_ids", []),
        "iteration_count": count,
        "best_round": best if best is not None and best["number"] <= count else before,
        "last_round": before,
        "previous_round": previous,
        "stagnation_count": 0,
    }


def _nothing_left(state: GraphState) -> dict[str, Any]:
    refined = state.get("refined_from")
    return {
        **({"design_intent": refined, "design_goals_summary": refined["goals"]} if refined else {}),
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
