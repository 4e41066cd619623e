"""The nodes that prove the circuit: simulation, analysis, checkpoint."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.types import interrupt

from application.design.plain_state import (
    goal_from_plain,
    messages_from_plain,
    messages_to_plain,
    no_circuit_message,
    verdict_from_plain,
    verdict_to_plain,
)
from application.design.round_history import number_shown
from application.graph.state import ConditionRun, GraphState, JudgedRound
from application.ports.events import CheckpointReached, IterationFinished, TextWritten
from application.ports.project import ABSENT, ProjectFiles
from application.simulation.failure_place import placed
from application.simulation.judging import JudgedGoal, judge, lacking_corners
from application.simulation.measuring import MeasureResult
from application.simulation.simulating import RunSimulation, SimulationRequest
from application.tool_execution.effects import TAKEN
from application.tool_execution.operations import Operations
from application.workflow.edges import is_instruction_waiting
from application.workflow.journal import Carried, Decided, DesignJournal, PlannedCall, Said
from application.workflow.nodes._effects import Finished, Step, carrying_out
from application.workflow.nodes.circuit import SIMULATE_TOOL, hash_in, keep_goals
from application.workflow.nodes.design_goals import GoalNotes, with_goals
from application.workflow.nodes.model import Steps, history
from domain.design.catalogue import called
from domain.design.comment_check import netlist_quantities
from domain.design.round_table import asked, round_table, value_beside_limit
from domain.simulation.goal_conditions import Settings, distinct_settings, runs_of
from domain.simulation.goals import DesignGoal, GoalVerdict, all_met, total_shortfall
from domain.simulation.result import Quantity, SimulationResult
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.ulid import new_ulid, ulid_before

_SAME_SHORTFALL = 1e-6
_MOST_COMPARED = 20
"""Earlier rounds that a comment is held against: each figure is compared with each other one."""
_MOST_PLACES = 3
_NO_FILE = (ABSENT, TAKEN)


class SimulationNode:
    """Runs the circuit's own analyses, once for each planned call."""

    def __init__(self, simulate: RunSimulation, operations: Operations, project: ProjectFiles) -> None:
        self._simulate = simulate
        self._operations = operations
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Simulate; a circuit that fails is recorded, not raised.

        Where somebody changed it since it was written, that version is the round's, and never overwritten.
        """
        step.enter("simulation", state)
        if "circuit_file_path" not in state:
            raise UserInputError(no_circuit_message())
        call_id, circuit = state["planned_simulation"], state["circuit_file_path"]
        if state.get("iteration_count", 0) < 0:  # round 0: nothing is written before its result is judged
            await asyncio.to_thread(keep_goals, self._project, state, circuit)
        async with carrying_out(step, call_id, SIMULATE_TOOL, file_path=circuit) as call:
            outcome = await self._outcome(call_id, state, step)
            call.success, call.result_path = bool(outcome["ok"]), outcome["result_path"]
            call.duration_s = outcome.get("duration_s")
            (call.summary,) = messages_from_plain([outcome["summary"]])
        error = "" if call.success else str(call.summary)
        update: GraphState = {
            "current_node": "simulation",
            "circuit_files": await self._files(state),
            "sim_result_path": outcome["result_path"],
            "error_context": error,
            "error_places": [tuple(place) for place in outcome.get("places", ())],
            "condition_runs": list(outcome.get("conditions", ())),
            "lacking_corners": list(outcome.get("lacking", ())),
            "planned_simulation": "",
        }
        if found := outcome.get("left_by_user"):
            update |= {"netlist_sha256": found, "left_by_user": found}
        record = Carried(
            call_id=call_id,
            name=SIMULATE_TOOL,
            success=call.success,
            summary=call.summary,
            content=f"{call.summary} Result: {outcome['result_path']}",
            error_type="" if call.success else "simulation_failed",
            result=outcome,
        )
        return Finished(update=update, record=record)

    async def _outcome(self, call_id: str, state: GraphState, step: Step) -> dict[str, Any]:
        """What the run of this call gave, now or before an interruption."""
        begun = await self._operations.begin_simulation(
            op_id=call_id, session_id=state["session_id"], tool=SIMULATE_TOOL
        )
        if begun.state == "done" and begun.result is not None:
            return dict(begun.result)
        path = state["circuit_file_path"]
        circuit = self._project.root / path
        found = await asyncio.to_thread(hash_in, self._project, path)
        changed = {"left_by_user": found} if found != state["netlist_sha256"] else {}
        if found in _NO_FILE:
            gone = msg("{path} is not there any more.", path=path)
            outcome = {
                "ok": False,
                "file_path": path,
                "result_path": "",
                "summary": messages_to_plain([gone])[0],
                **changed,
            }
            await self._operations.finish(call_id, outcome)
            return outcome
        if changed:
            text = msg("{path} was changed outside the design: that version is simulated.", path=path)
            step.tell(TextWritten(text=text))
        goals = tuple(goal_from_plain(plain) for plain in state["design_goals_summary"])
        lacking = await lacking_corners(self._simulate, circuit, goals)
        conditions = await self._conditions(circuit, distinct_settings(goals, lacking), call_id)
        # What the model itself has just simulated, with these very files, is not run again.
        result = await self._simulate(SimulationRequest(circuit=circuit, call_id=call_id, reuse=True))
        outcome = {
            "ok": result.ok,
            "file_path": path,
            "result_path": result.result_path.relative_to(self._project.root).as_posix(),
            "summary": messages_to_plain([_summary(result, self._project.root)])[0],
            "duration_s": round(result.run.duration_s, 3),
            "places": _places(result, self._project.root),
            "conditions": conditions,
            "lacking": sorted(lacking),
            **changed,
        }
        await self._operations.finish(call_id, outcome)
        return outcome

    async def _conditions(
        self, circuit: Path, wanted: Sequence[Settings], call_id: str
    ) -> list[ConditionRun]:
        """The runs in which single goals have to hold: older than the circuit's own, which is its newest."""
        found: list[ConditionRun] = []
        for number, settings in enumerate(wanted, 1):
            run: ConditionRun = {"settings": [list(each) for each in settings], "result_path": ""}
            own_id = ulid_before(call_id, number)
            try:
                result = await self._simulate(
                    SimulationRequest(circuit=circuit, assignments=settings, call_id=own_id, reuse=True)
                )
            except UserInputError as error:
                run["problem"] = messages_to_plain([error.message])[0]
            else:
                if result.ok:
                    run["result_path"] = result.result_path.relative_to(self._project.root).as_posix()
                else:
                    run["problem"] = messages_to_plain([_summary(result, self._project.root)])[0]
            found.append(run)
        return found

    async def _files(self, state: GraphState) -> dict[str, str]:
        """The files of the circuit as they are simulated, those of the project kept in the object store."""
        used = await used_files(self._simulate, self._project, state["circuit_file_path"])

        def kept() -> dict[str, str]:
            written = [path for path in state.get("circuit_files", {}) if not Path(path).is_absolute()]
            found = {path: hash_in(self._project, path) for path in written if path not in used}
            files = {path: sha256 for path, sha256 in found.items() if sha256 not in _NO_FILE} | used
            for path, sha256 in files.items():
                if sha256 not in _NO_FILE and not Path(path).is_absolute():
                    self._project.keep_object(self._project.read(self._project.root / path))
            return files

        return await asyncio.to_thread(kept)


async def used_files(simulate: RunSimulation, project: ProjectFiles, circuit: str) -> dict[str, str]:
    """Every file the circuit uses with its hash: relative to the project, others absolute."""
    try:
        files = await simulate.files_of(project.root / circuit)
    except UserInputError:  # it can't be read: that is told by who simulates it
        return {}
    return {
        path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else str(path): sha256
        for path, sha256 in files.items()
    }


class AnalysisNode:
    """Holds the results against the goals."""

    def __init__(
        self,
        measure: MeasureResult,
        project: ProjectFiles,
        journal: DesignJournal,
        commenting: Steps | None = None,
        *,
        main_circuit: Callable[[], str] = str,
    ) -> None:
        """`commenting`: the model that explains each round; None where nobody does. `main_circuit`: that of
        the window now, "" for none."""
        self._main_circuit = main_circuit
        self._measure = measure
        self._project = project
        self._journal = journal
        self._commenting = commenting

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Measure every goal, compare with the best round so far, count stagnation; let the model explain."""
        step.enter("analysis", state)
        goals = [goal_from_plain(plain) for plain in state["design_goals_summary"]]
        failed = bool(state.get("error_context"))
        source = self._project.root / state["sim_result_path"]
        judged = () if failed else await self._judged(state, source, goals)
        family = state["design_intent"]["family"]
        for text in _not_judged(judged, family):
            step.tell(TextWritten(text=text))
        before = [verdict_from_plain(plain) for plain in state.get("last_verdicts", [])]
        if state.get("user_intent") == "instruction" and not is_instruction_waiting(state):
            for text in _farther(before, judged, family):
                step.tell(TextWritten(text=text))
        verdicts = [each.verdict for each in judged] or [_not_measured(goal) for goal in goals]
        metrics = {verdict.goal.metric: verdict.measured.value for verdict in verdicts}
        number = state.get("iteration_count", 0) + 1
        step.tell(IterationFinished(number=number, metrics=metrics, verdicts=tuple(verdicts)))
        this = _round(state, number, verdicts, metrics)
        if main := self._main_circuit():
            this["main"] = main
        best = state.get("best_round")
        is_better = _is_better(this, best)
        goals_met = all_met(verdicts)
        circuit = state.get("circuit_file_path", "")
        said = Said()
        is_asked_about = not is_instruction_waiting(state)
        if self._commenting is not None and not failed and is_asked_about:
            said = await self._comment(self._commenting, state, verdicts, number, step)
        if is_asked_about:
            step.tell(CheckpointReached(number=number, circuit=circuit, goals_met=goals_met))
        update: GraphState = {
            "current_node": "analysis",
            "iteration_count": number,
            "last_metrics": _without_nan(metrics),
            "last_verdicts": [verdict_to_plain(verdict) for verdict in verdicts],
            "best_round": this if is_better else best,
            "last_round": this,
            "previous_round": state.get("last_round"),
            "stagnation_count": 0 if is_better else state.get("stagnation_count", 0) + 1,
            "consecutive_fix_attempts": state.get("consecutive_fix_attempts", 0) + 1 if failed else 0,
        }
        return Finished(update=update, record=said)

    async def _judged(
        self, state: GraphState, source: Path, goals: Sequence[DesignGoal]
    ) -> tuple[JudgedGoal, ...]:
        lacking = state.get("lacking_corners", [])
        return await judge(self._measure, source, goals, self._elsewhere(state), lacking=lacking)

    def _elsewhere(self, state: GraphState) -> dict[Settings, Path | Message]:
        """The runs in the conditions of single goals."""
        found: dict[Settings, Path | Message] = {}
        for run in state.get("condition_runs", []):
            settings = tuple((name, value) for name, value in run["settings"])
            problems = messages_from_plain([run["problem"]] if "problem" in run else [])
            found[settings] = self._project.root / run["result_path"]
            if problems:
                found[settings] = problems[0]
        return found

    async def _comment(
        self, steps_of: Steps, state: GraphState, verdicts: list[GoalVerdict], number: int, step: Step
    ) -> Said:
        """The model's words on the round; a model that fails here costs only its comment."""
        earlier = [
            [verdict_from_plain(plain) for plain in each["verdicts"]]
            for each in self._journal.rounds()[-_MOST_COMPARED:]
        ]
        best = state.get("best_round")
        table = round_table(
            number,
            [verdict.goal for verdict in verdicts],
            verdicts,
            last=earlier[-1] if earlier else (),
            best=[] if best is None else [verdict_from_plain(plain) for plain in best["verdicts"]],
            rounds=[*earlier, verdicts],
        )
        content, known = await asyncio.to_thread(self._quantities, state["netlist_sha256"])
        try:
            steps = await steps_of()
            netlist = content.decode("utf-8", "replace")
            text = await steps.comment(table, state, known, netlist, history(self._journal))
            step.tell(TextWritten(text=text))
        except CircuitAIError as error:
            step.tell(TextWritten(text=msg("No comment on this round: {reason}", reason=error.message)))
            return Said()
        return steps.take_spent()

    def _quantities(self, netlist_sha256: str) -> tuple[bytes, dict[str, Quantity]]:
        """A netlist and the figures in it."""
        content = self._project.read_object(netlist_sha256)
        return content, netlist_quantities(content)


def _not_judged(judged: Sequence[JudgedGoal], family: str) -> Iterator[Message]:
    """What is said of goals whose condition could not be simulated in this circuit, or whose figure is none
    of the simulator's."""
    for each in judged:
        goal = each.verdict.goal
        name = called(family, goal.metric)
        if each.reason is not None and not each.is_simulated:
            yield msg("{metric} was not measured: {reason}", metric=name, reason=each.reason)
        elif each.reason is not None and any(runs_of(goal) or ()):
            yield msg(
                "{metric} was not measured in its condition, {condition}: {reason}",
                metric=name,
                condition=goal.condition,
                reason=each.reason,
            )


def _farther(before: Sequence[GoalVerdict], judged: Sequence[JudgedGoal], family: str) -> Iterator[Message]:
    """That an instruction has taken goals farther from being met: they stay, and the user decides."""
    for each in judged:
        goal, value = each.verdict.goal, each.verdict.measured.value
        last = next((one.measured.value for one in before if one.goal == goal), math.nan)
        if each.verdict.met or math.isnan(value) or goal.shortfall(value) <= goal.shortfall(last):
            continue
        told, digits = value_beside_limit(goal, each.verdict.measured)
        yield msg(
            "The instruction misses an older goal: {metric} = {value}, required {limit}. The goal was not "
            "changed; change the goals if it should follow.",
            metric=called(family, goal.metric),
            value=told,
            limit=asked(replace(goal, target=None), digits, each.verdict.measured.unit),
        )


def _not_measured(goal: DesignGoal) -> GoalVerdict:
    return GoalVerdict(goal=goal, measured=Quantity(value=math.nan, unit=goal.unit), met=False)


class UserCheckpointNode:
    """Waits for a decision; it has no effect of its own, because it runs again when it is answered."""

    def __init__(
        self,
        simulate: RunSimulation,
        operations: Operations,
        project: ProjectFiles,
        journal: DesignJournal,
    ) -> None:
        self._simulate = simulate
        self._operations = operations
        self._project = project
        self._journal = journal
        self._notes = GoalNotes(simulate=simulate, project=project)
        self._looked_at = 0
        """The step at whose entry the files were looked at: not once more when it is answered."""

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Ask about what is there now: a circuit that was changed, or has no result, is simulated first.

        Answers: ``{"intent", "goals": [...] | None, "said": [...], "instruction", "demand", "round",
        "meant", "read": [...], "rests"}``.

        With goals the next round is judged by them; a round of before is no longer the best one.
        `demand` are the words that change more of the design than goals.
        `instruction` belongs to the intents "instruction" and "question", `round` to "go_back"; `read` is how
        typed words were read, `meant` what was done of them, `rests` why nobody asked for another round.
        """
        if self._looked_at != state["step_number"] + 1:
            stale = await self._what_is_stale(state, step)
            if stale is not None:
                return stale
            if state.get("instruction_waits"):  # the change was taken back meanwhile
                return Finished(
                    update={"current_node": "user_checkpoint", "user_intent": "instruction"}, record=Said()
                )
            self._looked_at = state["step_number"] + 1
        goals_met = all_met(verdict_from_plain(plain) for plain in state["last_verdicts"])
        answer: dict[str, Any] = interrupt(
            {"kind": "checkpoint", "round": number_shown(state), "goals_met": goals_met}
        )
        update: GraphState = {
            "current_node": "user_checkpoint",
            "user_intent": answer["intent"],
            "checkpoint_count": state.get("checkpoint_count", 0) + 1,
            "goals_changed": False,
            "is_exhausted": False,
            "instruction": str(answer.get("instruction") or ""),
            "go_back_to": int(answer.get("round") or 0),
            "rests": answer.get("rests") or {},
        }
        if answer["intent"] == "continue" and answer.get("goals"):
            demand = str(answer.get("demand") or "")
            changed = await with_goals(state, answer["goals"], step, self._notes, demand=demand)
            if changed:
                update |= changed
                update |= {"goals_changed": True, "best_round": None, "stagnation_count": 0}
        said = tuple(answer.get("said") or ())
        decided = Decided(
            kind="checkpoint",
            answer=answer["intent"],
            said=said,
            meant=answer.get("meant") or {},
            read=tuple(answer.get("read") or ()),
        )
        return Finished(update=update, record=decided)

    async def _known_by_operations(self, state: GraphState) -> frozenset[tuple[str, str]]:
        """Files with what steps of the design put there whose lines are lost: they are done again."""
        records = await self._operations.list(session_id=state["session_id"])
        return frozenset(
            (record.path, record.after_sha256)
            for record in records
            if record.kind == "file" and record.state == "done" and not self._journal.has_call(record.op_id)
        )

    async def _what_is_stale(self, state: GraphState, step: Step) -> Finished | None:
        """How the round is judged anew, where its files, by depth, or its result are others."""
        circuit = state.get("circuit_file_path", "")
        if not circuit:
            return None
        held = {**state.get("circuit_files", {}), circuit: state["netlist_sha256"]}
        used = await used_files(self._simulate, self._project, circuit)
        found, has_result = await asyncio.to_thread(self._found, state, held, used)
        changed = [path for path in found if found[path] != held[path]]
        if changed:
            known = await self._known_by_operations(state)
            changed = [path for path in changed if (path, found[path]) not in known]
        if not changed and has_result:
            return None
        return await asyncio.to_thread(self._looked_at_again, state, step, found, changed)

    def _found(
        self, state: GraphState, held: Mapping[str, str], used: Mapping[str, str]
    ) -> tuple[dict[str, str], bool]:
        """What the files of the round hold now, and whether its result is there; blocking."""
        found = {
            path: used[path] if path in used else hash_in(self._project, path)
            for path in held
            if path in used or not Path(path).is_absolute()
        }
        result = state.get("sim_result_path", "")
        return found, not result or (self._project.root / result).is_file()

    def _looked_at_again(
        self, state: GraphState, step: Step, found: Mapping[str, str], changed: Sequence[str]
    ) -> Finished:
        """How the round is judged anew; blocking."""
        circuit = state["circuit_file_path"]
        update: GraphState = {
            "current_node": "user_checkpoint",
            "user_intent": "look_again",
            "planned_simulation": new_ulid(),
            "goals_changed": False,
            "is_exhausted": False,
        }
        if not changed:
            step.tell(TextWritten(text=msg("The result of this round is gone: it is simulated again.")))
            update |= self._before(state)
            return Finished(update=update, record=_planned(update, circuit))
        for path in changed:
            text = msg("{path} was changed since the last question.", path=path)
            gone = msg("{path} is not there any more.", path=path)
            step.tell(TextWritten(text=gone if found[path] in _NO_FILE else text))
        kept = {
            path: sha256
            for path, sha256 in found.items()
            if sha256 not in _NO_FILE and not Path(path).is_absolute()
        }
        for path in kept:
            self._project.keep_object(self._project.read(self._project.root / path))
        update |= {
            "netlist_sha256": found[circuit],
            "circuit_files": kept if state.get("circuit_files") else {},
            "last_write": "",
            "last_writes": [],
            "left_by_user": found[circuit],
        }
        if circuit not in kept:
            gone = msg("{path} is not there any more.", path=circuit)
            update |= {"planned_simulation": "", "sim_result_path": "", "error_context": str(gone)}
            update["instruction_waits"] = ""
            return Finished(update=update, record=Said())
        return Finished(update=update, record=_planned(update, circuit))

    def _before(self, state: GraphState) -> GraphState:
        """As it was before the round was judged."""
        number = state["iteration_count"]
        earlier = [each for each in self._journal.rounds() if each["number"] < number]
        best = min(earlier, key=lambda each: each["shortfall"], default=None)
        return {
            "iteration_count": number - 1,
            "last_round": state.get("previous_round"),
            "best_round": best,
            "stagnation_count": max(state.get("stagnation_count", 0) - 1, 0),
        }


def _planned(update: GraphState, circuit: str) -> Said:
    call = PlannedCall(
        call_id=update["planned_simulation"], name=SIMULATE_TOOL, arguments={"file_path": circuit}
    )
    return Said(calls=(call,))


def _is_better(this: JudgedRound, best: JudgedRound | None) -> bool:
    shortfall = this["shortfall"]
    return best is None or shortfall <= best["shortfall"] - _SAME_SHORTFALL or shortfall <= 0


def _round(
    state: GraphState, number: int, verdicts: list[GoalVerdict], metrics: dict[str, float]
) -> JudgedRound:
    return {
        "number": number,
        "shortfall": total_shortfall(verdicts),
        "netlist_sha256": state.get("netlist_sha256", ""),
        "sim_result_path": state["sim_result_path"],
        "metrics": _without_nan(metrics),
        "verdicts": [verdict_to_plain(verdict) for verdict in verdicts],
        "intent": state["design_intent"],
        "write_id": state.get("last_write", ""),
        "write_ids": state.get("last_writes", []),
        "files": state.get("circuit_files", {}),
        "circuit": state.get("circuit_file_path", ""),
        "error": state.get("error_context", ""),
    }


def _places(result: SimulationResult, root: Path) -> list[tuple[str, int]]:
    """File and line of the first errors that have one in the project."""
    places = [
        (issue.file.relative_to(root).as_posix(), issue.line)
        for issue in result.issues
        if issue.severity == "error"
        and issue.line
        and issue.file is not None
        and issue.file.is_relative_to(root)
    ]
    return list(dict.fromkeys(places))[:_MOST_PLACES]


def _without_nan(metrics: dict[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in metrics.items()}


def _summary(result: SimulationResult, root: Path) -> Message:
    if result.ok and result.is_reused:
        return msg("These files were simulated before: that result is used.")
    if result.ok:
        return msg("Simulated in {seconds} s.", seconds=f"{result.run.duration_s:.2f}")
    errors = [issue for issue in result.issues if issue.severity == "error"]
    if errors:
        return placed(errors[0].message, errors[0], root)
    return msg("The simulation did not finish ({status}).", status=result.run.status)
