"""The nodes in which the chosen model decides on the circuit, with the project's tools."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from application.design.plain_state import verdict_from_plain
from application.graph.state import GraphState, JudgedRound
from application.ports.events import CheckpointReached, TextWritten
from application.ports.project import ProjectFiles
from application.tool_execution.operations import Operations
from application.workflow.journal import DesignJournal, PlannedCall, Said
from application.workflow.model_steps import ModelSteps, Worked, read_if_there
from application.workflow.nodes._effects import Finished, Step
from application.workflow.nodes.circuit import SIMULATE_TOOL, is_changed, keep_goals
from application.workflow.wording import LANGUAGE_NAMES
from domain.design.file_names import file_stem
from domain.design.locked_elements import locked_in
from domain.design.round_table import asked, value_beside_limit
from domain.llm.context_block import as_data
from domain.llm.prompts.catalogue import TaskName
from domain.simulation.goals import all_met
from shared.message import Message, msg
from shared.ulid import new_ulid

_LINES_AROUND = 5
_MOST_NAMES = 1000
_ROUNDS_TOLD = 6

_FIRST = (
    "Design the circuit for the confirmed goals and write it into a file of the project. When the file is "
    "written, say in a few sentences what you chose and why. The program then simulates the file and judges "
    "it by the goals; you need not run it yourself."
)
_GO_ON = (
    "This was begun and interrupted; somebody changed the circuit meanwhile, and it was simulated and judged "
    "as it is now. What of it is done stands above; do what is left:"
)
_IMPROVING = ("INITIAL_DESIGN", "OPTIMIZE_PARAMETERS", "FIX_ERROR")
"""Tasks of which another round is expected."""

Steps = Callable[[], Awaitable["ModelSteps"]]


class InitialDesignNode:
    """The first circuit for the confirmed goals."""

    def __init__(self, steps: Steps, project: ProjectFiles) -> None:
        self._steps = steps
        self._project = project

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """A round without a circuit is a failed one: the checkpoint asks what to do."""
        step.enter("initial_design", state)
        steps = await self._steps()
        refined = state.get("circuit_file_path", "")
        content = await asyncio.to_thread(read_if_there, self._project, refined) if refined else None
        is_left = content is not None and hashlib.sha256(content).hexdigest() == state["netlist_sha256"]
        if content is not None and is_left:
            steps.show(refined, content)

        async def values() -> dict[str, Any]:
            return first_values(state)

        worked = await steps.work(
            state,
            task="INITIAL_DESIGN",
            values=values,
            text=first_text(state),
            new_file=lambda: _free_name(self._project, state),
        )
        if content is not None and not is_left and worked.circuit not in ("", refined):
            step.tell(TextWritten(text=_left_as_edited(refined, worked.circuit)))
        return await _round_of(self._project, state, worked, step, node="initial_design")


class ActionNode:
    """What was decided at the checkpoint, carried out by the model."""

    def __init__(
        self, steps: Steps, operations: Operations, project: ProjectFiles, journal: DesignJournal
    ) -> None:
        self._steps = steps
        self._operations = operations
        self._project = project
        self._journal = journal

    async def __call__(self, state: GraphState, step: Step) -> Finished:
        """Another round with what the model changed; without a change the same checkpoint asks again.

        A circuit that somebody changed since the question, or since an interruption of this step, is looked
        at by the checkpoint first: it asks again where another round was wanted, and an instruction is
        carried out behind the round of what was changed.
        """
        step.enter("action", state)
        waited = state.get("instruction_waits", "")
        if waited:
            state = {**state, "user_intent": "instruction"}
        task, text = task_of(state)
        if state.get("goals_changed"):
            await asyncio.to_thread(keep_goals, self._project, state, state["circuit_file_path"])
        steps = await self._steps()
        circuit = state.get("circuit_file_path", "")
        netlist = await asyncio.to_thread(read_if_there, self._project, circuit) if circuit else None
        is_instruction = task == "EXECUTE_INSTRUCTION"
        waits_for_a_look = task in _IMPROVING or (is_instruction and netlist is not None)
        if circuit and waits_for_a_look and await is_changed(self._operations, self._project, state, circuit):
            return await _looked_at_first(steps, state, is_instruction=is_instruction)
        if waited == "begun" and not steps.is_builtin:
            text = f"{_GO_ON} {text}"
        if netlist is not None:
            steps.show(circuit, netlist)

        worked = await steps.work(
            state,
            task=task,
            values=lambda: self._values(steps, state, task, netlist or b""),
            text=text,
            new_file=lambda: _free_name(self._project, state),
        )
        is_apart = await _is_kept_apart(steps, circuit, worked, step)
        if is_apart:
            worked = replace(worked, circuit="", writes=(), paths=())
        finished = await _round_of(self._project, state, worked, step, node="action")
        if waited:
            finished.update["instruction_waits"] = ""
        if finished.update.get("planned_simulation"):
            return finished
        if task in _IMPROVING and not (steps.is_builtin or is_apart):  # said already
            step.tell(TextWritten(text=msg("No file was changed, so there is no new round.")))
        step.tell(
            CheckpointReached(
                number=state.get("iteration_count", 0),
                circuit=state.get("circuit_file_path", ""),
                goals_met=all_met(map(verdict_from_plain, state["last_verdicts"])),
            )
        )
        is_talk = task in _IMPROVING and not steps.is_builtin and worked.note is None
        update: GraphState = {
            "current_node": "action",
            "planned_simulation": "",
            "is_exhausted": worked.spent is not None or (task in _IMPROVING and not is_talk),
            "instruction_waits": "",
        }
        if is_talk:  # a model that only talked may do it at the next try
            if state.get("error_context"):
                update["consecutive_fix_attempts"] = state.get("consecutive_fix_attempts", 0) + 1
            else:
                update["stagnation_count"] = state.get("stagnation_count", 0) + 1
        return Finished(update=update, record=Said())

    async def _values(
        self, steps: ModelSteps, state: GraphState, task: TaskName, netlist: bytes
    ) -> dict[str, Any]:
        """What the template of the step names."""
        warnings = await steps.warnings(state)
        point = await steps.operating_point(state.get("sim_result_path", ""))
        rounds, said = self._journal.rounds(), self._journal.said()
        return await asyncio.to_thread(
            lambda: action_values(
                self._project,
                state,
                task,
                netlist,
                warnings=warnings,
                operating_point=point,
                rounds=rounds,
                said=said,
            )
        )


def _left_as_edited(edited: str, made: str) -> Message:
    return msg(
        "{edited} was changed outside this design, so it stays as it is. {made} is a new file without that "
        "change.",
        edited=edited,
        made=made,
    )


async def _is_kept_apart(steps: ModelSteps, circuit: str, worked: Worked, step: Step) -> bool:
    """Whether the model went on in another file, in which a locked element is not what it has to be."""
    other = worked.circuit
    if not circuit or other in ("", circuit):
        return False
    locked = await steps.locked_apart(circuit, other)
    if locked:
        step.tell(
            TextWritten(
                text=msg(
                    "{other} does not become the circuit of this design: {elements} would not be as in "
                    "{circuit}, and you said it must stay as it is. {circuit} stays, and so does the file.",
                    other=other,
                    elements=", ".join(locked),
                    circuit=circuit,
                )
            )
        )
    return bool(locked)


async def _looked_at_first(steps: ModelSteps, state: GraphState, *, is_instruction: bool) -> Finished:
    """Back to the checkpoint; an instruction waits until the changed circuit is judged."""
    begun = steps.has_begun(state)
    if begun:
        await steps.leave()
    update: GraphState = {"current_node": "action", "planned_simulation": ""}
    if is_instruction:
        update["instruction_waits"] = "begun" if begun else state.get("instruction_waits") or "new"
    return Finished(update=update, record=Said())


def first_text(state: GraphState) -> str:
    """What the model is told in the user's place for a first circuit."""
    return _in_language(_FIRST, state)


def first_values(state: GraphState) -> dict[str, Any]:
    """What INITIAL_DESIGN is filled with."""
    return {**_common(state), "user_requirement": state["user_input"]}


def action_values(
    project: ProjectFiles,
    state: GraphState,
    task: TaskName,
    netlist: bytes,
    *,
    warnings: str,
    operating_point: str,
    rounds: Sequence[JudgedRound],
    said: Sequence[str],
) -> dict[str, Any]:
    """What the templates of the node "action" are filled with; `said` is what the user said. Blocking."""
    circuit = state.get("circuit_file_path", "")
    locked = locked_in(said, circuit, netlist)
    values = {
        **_common(state),
        "netlist": netlist.decode("utf-8", "replace"),
        "circuit_file": circuit,
        "metrics": "\n".join(filter(None, [_figures(state.get("last_verdicts", [])), operating_point])),
        "failed_goals": [
            each["goal"]["metric"] for each in state.get("last_verdicts", []) if not each["met"]
        ],
        "metric_history": _measured_in(rounds),
        "simulation_warnings": warnings,
        "locked_elements": ", ".join(locked),
        "user_requirement": state["user_input"],
    }
    match task:
        case "FIX_ERROR":
            attempts = state.get("consecutive_fix_attempts", 0)
            values |= {
                "error_message": state.get("error_context", ""),
                "error_log": _excerpts(project, state),
                "attempts": max(attempts - 1, 0),
            }
        case "EXECUTE_INSTRUCTION":
            values["user_instruction"] = state.get("instruction", "")
        case "GENERAL_CONVERSATION":
            values |= {
                "user_message": state.get("instruction", ""),
                "context": f"{circuit}:\n{values['netlist']}" if circuit else "",
            }
        case _:
            pass
    return values


def task_of(state: GraphState) -> tuple[TaskName, str]:
    """What the model is given, and what it is told in the user's place: there, too, material is fenced."""
    circuit, said = state.get("circuit_file_path", ""), state.get("instruction", "")
    match state.get("user_intent"):
        case "instruction":
            return "EXECUTE_INSTRUCTION", said
        case "question":
            return "GENERAL_CONVERSATION", said
        case _ if not circuit:
            return "INITIAL_DESIGN", first_text(state)
        case _ if state.get("error_context") or state.get("user_intent") == "fix":
            return (
                "FIX_ERROR",
                _in_language(
                    f"{as_data('circuit', circuit)} could not be simulated: "
                    f"{as_data('error', state.get('error_context', ''))} "
                    "Mend the fault in the file. The program then simulates it again.",
                    state,
                ),
            )
        case _:
            missed = [each["goal"]["metric"] for each in state.get("last_verdicts", []) if not each["met"]]
            named = as_data("missed goals", ", ".join(missed))
            aim = f"misses {named}" if missed else "meets its goals; improve the least margin"
            return (
                "OPTIMIZE_PARAMETERS",
                _in_language(
                    f"Next round: {as_data('circuit', circuit)} {aim}. Change the file so that all goals are "
                    "met, and say in a few sentences what you changed and why. The program then simulates it "
                    "and judges it again.",
                    state,
                ),
            )


def _in_language(text: str, state: GraphState) -> str:
    """A message of the program with the language to answer in: models answer in that of the last words."""
    return f"{text} Answer in {_common(state)['user_language']}."


async def _round_of(
    project: ProjectFiles, state: GraphState, worked: Worked, step: Step, *, node: str
) -> Finished:
    """What comes of a step: a simulation to be run, or nothing to be simulated."""
    if (note := worked.note or worked.spent) is not None:
        step.tell(TextWritten(text=note))
    circuit = worked.circuit or state.get("circuit_file_path", "")
    update: GraphState = {"current_node": node, "is_exhausted": worked.spent is not None}
    is_judged_anew = state.get("goals_changed", False)
    may_be_new = node != "action" or bool(worked.writes) or is_judged_anew
    paths = {**state.get("circuit_files", {}), **dict.fromkeys(worked.paths, ""), circuit: ""}
    files = await asyncio.to_thread(_kept, project, paths) if circuit and may_be_new else {}
    if circuit not in files:
        if node == "action":
            return Finished(update=update, record=Said())
        nothing = msg("The model wrote no circuit.")
        step.tell(TextWritten(text=nothing))
        return Finished(
            update={
                **update,
                "circuit_file_path": circuit,
                "planned_simulation": "",
                "sim_result_path": "",
                "error_context": str(nothing),
            },
            record=Said(),
        )
    if node == "action" and files == state.get("circuit_files") and not is_judged_anew:
        return Finished(update=update, record=Said())
    simulation = PlannedCall(call_id=new_ulid(), name=SIMULATE_TOOL, arguments={"file_path": circuit})
    if node == "initial_design" or circuit != state.get("circuit_file_path"):
        await asyncio.to_thread(keep_goals, project, state, circuit)
    update |= {
        "circuit_file_path": circuit,
        "netlist_sha256": files[circuit],
        "circuit_files": files,
        "last_writes": list(worked.writes),
        "last_write": worked.writes[-1] if worked.writes else "",
        "planned_simulation": simulation.call_id,
        "design_goals_path": project.goals.path_of(circuit).relative_to(project.root).as_posix(),
    }
    return Finished(update=update, record=Said(calls=(simulation,)))


def _kept(project: ProjectFiles, paths: dict[str, str]) -> dict[str, str]:
    """The files that are there, kept in the object store, with their hashes; blocking."""
    kept = {}
    for path in paths:
        content = read_if_there(project, path)
        if content is not None:
            kept[path] = project.keep_object(content)
    return kept


def _text_of(project: ProjectFiles, path: str) -> str:
    content = read_if_there(project, path) if path else None
    return "" if content is None else content.decode("utf-8", "replace")


def _common(state: GraphState) -> dict[str, Any]:
    intent = state["design_intent"]
    return {
        "design_goals": state["design_goals_summary"],
        "circuit_type": intent["parameters"].get("circuit_type", intent["family"]),
        "user_language": LANGUAGE_NAMES.get(intent["language"], "English"),
    }


def history(journal: DesignJournal) -> list[dict[str, Any]]:
    """Figures of the newest rounds, oldest first."""
    return _measured_in(journal.rounds())


def _measured_in(rounds: Sequence[JudgedRound]) -> list[dict[str, Any]]:
    newest = rounds[-_ROUNDS_TOLD:]
    return [{"round": each["number"], "measured": _measured(each["verdicts"])} for each in newest]


def _measured(verdicts: Sequence[dict[str, Any]]) -> dict[str, str]:
    """What was measured of each goal, with its unit."""
    read = map(verdict_from_plain, verdicts)
    return {each.goal.metric: value_beside_limit(each.goal, each.measured)[0] for each in read}


def _figures(verdicts: Sequence[dict[str, Any]]) -> str:
    """A line for each goal of a round: what was measured, what is asked."""
    lines = []
    for each in map(verdict_from_plain, verdicts):
        value, digits = value_beside_limit(each.goal, each.measured)
        state = "met" if each.met else "MISSED"
        lines.append(f"{each.goal.metric}: {value}, asked {asked(each.goal, digits)}, {state}")
    return "\n".join(lines)


def _excerpts(project: ProjectFiles, state: GraphState) -> str:
    """The lines around each place an error names."""
    parts = []
    for name, line in state.get("error_places", []):
        lines = _text_of(project, name).split("\n")
        first = max(line - 1 - _LINES_AROUND, 0)
        shown = lines[first : line + _LINES_AROUND]
        numbered = "\n".join(f"{number}: {text}" for number, text in enumerate(shown, first + 1))
        parts.append(f"{name}, around line {line}:\n{numbered}")
    return "\n\n".join(parts)


def _free_name(project: ProjectFiles, state: GraphState) -> str:
    """A place for a circuit of this kind that nothing has."""
    stem = file_stem(str(_common(state)["circuit_type"]))
    taken = {path.name.casefold() for path in Path(project.root).iterdir()}
    names = (f"{stem}{'' if number == 1 else f'_{number}'}.cir" for number in range(1, _MOST_NAMES))
    return next(name for name in names if name.casefold() not in taken)
