"""The steps of a design in which the chosen model works: the agent loop inside a node of the workflow.

A step begins with a message of the program in the user's place, which names the step. So a step that runs
again after a kill finds it, and goes on with the answers and results that stand behind it; the loop is the
one of a chat, with the same calls, questions, limits, other models and costs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from application.agent.answer import usage_of_chunk
from application.agent.loop import LOOP, compiled_loop
from application.conversation.turn_parts import TurnParts
from application.design.plain_state import verdict_from_plain
from application.graph.runtime import STEPS_AROUND, STEPS_PER_ROUND
from application.ports.project import ABSENT
from application.tool_execution.tools.result_source import result_content
from application.workflow.goals_of_circuit import goals_request
from application.workflow.journal import Said
from application.workflow.wording import LANGUAGE_NAMES, in_words, language_of
from domain.circuit.netlist import LIBRARY_SUFFIXES
from domain.circuit.said_figures import marked
from domain.design.checkpoint_intent import intent_from_model
from domain.design.comment_check import doubtful_figures, short_comment
from domain.design.comment_verdicts import false_verdicts, marked_clauses
from domain.design.designer import netlist_hash
from domain.design.fenced_netlist import fenced_netlist
from domain.design.locked_elements import (
    locked_changes_of_circuit,
    locked_in,
    said_about,
    speaks_of_locks,
)
from domain.llm.agentic_loop.policy import CUT_OFF, out_of_time
from domain.llm.chat import ProviderError, Usage
from domain.llm.conversation_record import calls_of
from domain.llm.costs import Cost, cost_of
from domain.llm.messages import (
    create_ai_message,
    create_program_message,
    get_output_items,
    get_program_step,
    get_text,
    get_tool_success,
    message_to_dict,
)
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.text_files import version_hash
from domain.simulation.operating_point import operating_point_lines, stored_operating_point
from shared.errors import CircuitAIError, NeedsConfirmation, UserInputError
from shared.message import msg
from shared.ulid import new_ulid
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

    from application.agent.alternatives import AskedModel
    from application.agent.loop import Loop
    from application.graph.state import GraphState
    from application.ports.project import ProjectFiles
    from application.ports.tracing import Span
    from application.tool_execution.definition import ToolContext
    from application.tool_execution.executor import WorkflowNode
    from application.workflow.journal import DesignJournal
    from domain.design.checkpoint_intent import CheckpointIntent, IntentKind
    from domain.design.round_table import RoundTable
    from domain.llm.context_block import SystemPrompt
    from domain.llm.prompts.catalogue import TaskName, Wording
    from domain.simulation.result import Quantity
    from shared.message import Message

_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")
_WRITE_TOOL = "rewrite_file"
_DOUBT = " (?)"
"""Behind what a comment tells otherwise than it was measured."""
CHOICES: tuple[IntentKind, ...] = (
    "continue",
    "optimize",
    "fix",
    "accept",
    "stop",
    "undo",
    "go_back",
    "goals",
)
"""What a checkpoint offers, for a model that reads what was typed there."""
NODE_OF_TASK: Mapping[str, WorkflowNode] = {
    "INITIAL_DESIGN": "initial_design",
    "GENERAL_CONVERSATION": "design_goals",
}
"""Whose tools a model has for a task; a question is answered by reading."""
_LONGEST_ANSWER = 400_000
"""Characters of an answer to a structured call that are received; more is nothing that could be used."""
_LEAST_DEVICES, _MOST_DEVICES = 4, 24
_WINDOW_PER_DEVICE = 1_500
"""Tokens of a model's window for each device of an operating point that it is told of."""
_MOST_WARNINGS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What the model did in a step."""

    answer: str
    note: Message | None
    """Which limit or guardrail ended the step, or what is doubtful about its answer."""
    spent: Message | None
    """Why no further request may be sent in this conversation; None when one may."""
    circuit: str
    """The circuit it worked on, relative to the project; "" when it touched none."""
    writes: tuple[str, ...]
    """The operations that changed files, in order."""
    paths: tuple[str, ...]
    """The files they changed."""


class ModelSteps:
    """Of one run of a design."""

    def __init__(self, parts: TurnParts, asked: AskedModel, journal: DesignJournal, span: Span) -> None:
        self._parts = parts
        self._asked = asked
        self._journal = journal
        self._span = span
        self._record = parts.record
        self._spent = Usage()
        self._cost = Cost()
        self._model = ""
        self._nodes: Loop
        """Of the step that is on."""
        self._warned: tuple[dict[str, str], str, str] = ({}, "", "")
        """Of which files, the circuit among them, the check found what."""
        """Compiled at their first use, by whether the model is asked."""

    async def work(
        self,
        state: GraphState,
        *,
        task: TaskName,
        values: Callable[[], Awaitable[Mapping[str, Any]]],
        text: str,
        new_file: Callable[[], str],
    ) -> Worked:
        """Let the model carry out `task`; `text` is what it is told, `values` fill its template.

        A model that answers with a netlist in place of a call has it written for it: into the circuit, or
        into `new_file()` (blocking). Raises ProviderError; what had come by then is gone on with.
        """
        step = self._journal.step_id(state["step_number"] + 1)
        segment = self._record.messages_of_turn()
        is_new = not segment or get_program_step(segment[0]) != step
        if is_new:
            if self._record.messages_of_step(step):  # interrupted before, and a chat was led meanwhile
                text = f"Go on with this where it was interrupted; what is done stands above. {text}"
            message = create_program_message(text, step=step, task=task)
            await self._parts.conversation.write({"event": "message", "message": message_to_dict(message)})
        else:  # interrupted before
            await self._take_up()
        netlist_step = f"{step}/netlist"
        has_written = len(self._record.messages_of_step(step)) > 1 and any(
            event.get("step") == netlist_step for event in self._parts.conversation.events
        )
        circuit = state.get("circuit_file_path", "")

        async def system_message(wording: Wording) -> tuple[SystemMessage | None, str]:
            if not self.is_builtin:
                made = await self._prompt(task, await values(), circuit, wording)
                return made.message(), made.given
            if task in (
                "EXECUTE_INSTRUCTION",
                "GENERAL_CONVERSATION",
            ):  # it follows plain commands and reads no prompt
                return None, ""
            return SystemMessage(content=json.dumps(await asyncio.to_thread(self._brief, state, task))), ""

        self._nodes = self._parts.loop(
            self._asked,
            self._span,
            system_message=system_message,
            main_circuit=circuit,
            node=NODE_OF_TASK.get(task, "action"),
        )
        note = await self._run(asks=is_new or not has_written)
        worked = self._worked(note, circuit, step)
        if not worked.paths and task != "GENERAL_CONVERSATION":
            netlist = fenced_netlist(worked.answer)
            if netlist:
                path = circuit or await asyncio.to_thread(new_file)
                await self._write(path, netlist, netlist_step)
                await self._run(asks=False)
                worked = self._worked(note, circuit, step)
        return worked

    @property
    def is_builtin(self) -> bool:
        """Whether the built-in designer is asked."""
        return self._parts.choice.provider == BUILTIN

    def has_begun(self, state: GraphState) -> bool:
        """Whether the next step was begun before, and interrupted."""
        return bool(self._record.messages_of_step(self._journal.step_id(state["step_number"] + 1)))

    async def leave(self) -> None:
        """Give up a step that was interrupted: what it did stays, and each of its calls has a result."""
        executor, context = self._parts.executor, self._parts.context
        cost = await self._put_right()
        await self._parts.conversation.settle(
            "interrupted", lambda call: executor.settle(call, context, reason="interrupted"), cost=cost
        )

    async def _take_up(self) -> None:
        """Before a step goes on that was interrupted: what was half done is put right, as in a chat."""
        await self._parts.conversation.take_up(cost=await self._put_right())

    async def _put_right(self) -> Cost | None:
        """Settle what was half done; what an answer without its end costs."""
        watch, operations = self._parts.watch, self._parts.context.operations
        for record in await operations.repair(session_id=self._parts.conversation.session_id):
            if record.kind == "simulation":
                await self._parts.forget_result(record.op_id)
        await watch.pricing.look_up(self._asked.choice)
        return watch.pricing.of_unfinished()

    def _brief(self, state: GraphState, task: TaskName) -> dict[str, Any]:
        """What the built-in designer is told of a step, the same when the step is taken up; blocking."""
        project, circuit = self._parts.project, state.get("circuit_file_path", "")
        sha256, taken, content = state.get("netlist_sha256", ABSENT), {}, b""
        if task == "INITIAL_DESIGN":
            refined = read_if_there(project, circuit) if circuit else None
            if refined is None or hashlib.sha256(refined).hexdigest() != sha256:
                circuit = ""  # no finished design is refined, or its circuit was changed since: that stays
            for name in (path.name for path in project.root.iterdir() if path.suffix.lower() == ".cir"):
                held = read_if_there(project, name)  # None of a folder, too, and of a link to the outside
                taken[name.casefold()] = "" if held is None else netlist_hash(held.decode("utf-8", "replace"))
        elif sha256 != ABSENT:
            content = project.read_object(sha256)
        netlist = content.decode("utf-8", "replace")
        return {
            "task": task,
            "intent": state["design_intent"],
            "goals_changed": bool(state.get("goals_changed")),
            "verdicts": state.get("last_verdicts", []),
            "circuit": circuit,
            "netlist": netlist,
            "sizing": self._sizing_of(netlist_hash(netlist)),
            "said": [] if state["design_intent"]["family"] else self._journal.said(),
            "taken": taken,
        }

    def _sizing_of(self, netlist: str) -> dict[str, Any] | None:
        """What went with the answer that wrote this netlist (its hash); None when the designer did not."""
        items = (item for message in reversed(self._record.messages) for item in get_output_items(message))
        return next((item for item in items if item.get("of") == netlist), None)

    async def _run(self, *, asks: bool) -> Message | None:
        config: RunnableConfig = {
            "configurable": {LOOP: self._nodes},
            "recursion_limit": STEPS_AROUND + STEPS_PER_ROUND * self._parts.deps.limits.rounds,
        }
        state = await compiled_loop(asks=asks).ainvoke(self._parts.state(), config, durability="sync")
        ended = state.get("agent_ended") or "completed"
        if ended == "cut":
            return CUT_OFF
        return await self._parts.note_on(ended, state.get("agent_seconds", 0.0))

    async def _write(self, path: str, netlist: str, step: str) -> None:
        """Make a call of a netlist that stands in an answer."""
        message = create_ai_message(
            "",
            tool_calls=[
                {"id": new_ulid(), "name": _WRITE_TOOL, "args": {"path": path, "content": netlist}},
            ],
            provider=self._asked.choice.provider,
        )
        await self._parts.conversation.add(message, step=step)

    async def warnings(self, state: GraphState) -> str:
        """What the check finds wrong with a circuit that ngspice runs all the same, a line each.

        A round's comment asks for it, and the step behind it: the same files are not checked twice.
        """
        circuit = state.get("circuit_file_path", "")
        files = {**state.get("circuit_files", {}), circuit: state.get("netlist_sha256", "")}
        if not circuit or (files, circuit) != self._warned[:2]:
            found = await check_warnings(self._parts.context, circuit) if circuit else ""
            self._warned = (files, circuit, found)
        return self._warned[2]

    async def operating_point(self, result: str) -> str:
        """That of a stored run, in lines; "" without one, and for a circuit of no transistors or diodes."""
        return await point_of_run(self._parts.context, result, (await self._asked.room()).window)

    async def locked_apart(self, circuit: str, other: str) -> tuple[str, ...]:
        """The elements that have to stay as they are in `circuit`, and are others, or missing, in `other`."""
        context, said = self._parts.context, self._record.said()
        if not speaks_of_locks(said):
            return ()
        simulate, root = context.services.simulate, context.project.root

        def compared() -> tuple[str, ...]:
            before, after = (simulate.tree_with(root / name, {}) for name in (circuit, other))
            return locked_changes_of_circuit(said_about(said, circuit, is_main=True), before, after)

        try:
            return await off_loop(compared)
        except UserInputError:  # one of them can't be read, which its run tells
            return ()

    def show(self, path: str, content: bytes) -> None:
        """The model is told what a file holds now: it need not read it before it changes it."""
        self._record.seen_versions[path] = version_hash(content)

    async def ask(self, messages: Sequence[BaseMessage], *, as_json: bool = True) -> str:
        """One answer, a JSON object where the server can be held to it; it is no message of its own.

        One without end is cut. What it takes is told by `take_spent`. Raises ProviderError.
        """
        asked, pricing = self._asked, self._parts.watch.pricing
        while True:
            await pricing.look_up(asked.choice)
            if (why := self._parts.watch.spent()) is not None:
                raise _at_limit(why)
            text: list[str] = []
            length = 0
            usage, model = Usage(), ""
            try:
                stream = asked.model.astream(list(messages), json_mode=as_json)
                async with (
                    asyncio.timeout(self._parts.watch.limits.model_seconds),
                    aclosing(cast("Any", stream)) as chunks,
                ):
                    async for chunk in chunks:
                        text.append(get_text(chunk))
                        length += len(text[-1])
                        usage = usage_of_chunk(chunk) or usage
                        model = chunk.response_metadata.get("model_name") or model
                        if length > _LONGEST_ANSWER:
                            break
            except TimeoutError:
                raise _at_limit(out_of_time(self._parts.watch.limits)) from None
            except ProviderError as error:
                if await asked.found_other_way(error):
                    continue
                raise
            self._spent += usage
            self._model = model
            self._cost += cost_of(usage, pricing.price(model))
            return "".join(text)

    async def ask_about_circuit(self, circuit: str, text: str) -> str:
        """The built-in designer's JSON of the goals that a text asks of a circuit of the project.

        Raises UserInputError for a circuit that cannot be read.
        """
        return await self.ask(await goals_request(self._parts.context, circuit, text))

    async def read_intent(self, read: CheckpointIntent, state: GraphState) -> CheckpointIntent | None:
        """What the model takes words at a checkpoint for; None when its answer cannot be used.

        Raises ProviderError.
        """
        values = intent_values(read.text, state)
        made = await self._prompt("INTENT_ANALYSIS", values, state.get("circuit_file_path", ""))
        answer = await self.ask([made.message(), HumanMessage(content=made.beside(read.text))])
        return intent_from_model(answer, CHOICES, read)

    async def comment(
        self,
        table: RoundTable,
        state: GraphState,
        known: Mapping[str, Quantity],
        netlist: str,
        earlier: Sequence[Mapping[str, Any]],
    ) -> Message:
        """What the model says of a round, in ten lines; what contradicts the table is marked.

        `earlier`: the figures of the rounds before.

        Raises ProviderError.
        """
        circuit = state.get("circuit_file_path", "")
        point = await self.operating_point(state.get("sim_result_path", ""))
        values = {
            "circuit_file": circuit,
            "netlist": netlist,
            "design_goals": state["design_goals_summary"],
            "metrics": "\n\n".join(filter(None, [table.markdown(), point])),
            "simulation_warnings": await self.warnings(state),
            "locked_elements": ", ".join(locked_in(self._record.said(), circuit, netlist.encode())),
            "iteration": table.number,
            "metric_history": earlier,
            "failed_goals": [row.goal.metric for row in table.rows if not row.met],
            "user_language": LANGUAGE_NAMES.get(state["design_intent"]["language"], "English"),
        }
        made = await self._prompt("ANALYZE_SIMULATION", values, circuit)
        asked = HumanMessage(content=made.beside("Comment on this round."))
        said = await self.ask([made.message(), asked], as_json=False)
        text = short_comment(said)
        doubtful = doubtful_figures(text, table, known, netlist=netlist, operating_point=point)
        return in_words(marked(marked_clauses(text, false_verdicts(text, table), _DOUBT), doubtful, _DOUBT))

    async def _prompt(
        self, task: TaskName, values: Mapping[str, Any], circuit: str, wording: Wording = "no_tools"
    ) -> SystemPrompt:
        """Of the next request of this conversation; one that only asks goes without tools."""
        return await self._parts.deps.prompts().step_prompt(
            self._parts.project,
            task=task,
            values=values,
            main_circuit=circuit,
            session_id=self._parts.conversation.session_id,
            wording=wording,
        )

    def take_spent(self) -> Said:
        """Tokens and cost of the answers to `ask` since the last time, for the step's words."""
        provider = self._asked.choice.provider
        said = Said(usage=self._spent, cost=self._cost, provider=provider, model=self._model)
        self._spent, self._cost = Usage(), Cost()
        return said

    def _worked(self, note: Message | None, known: str, step: str) -> Worked:
        """What stands in the transcript since the step began; `known` is the circuit of the round before."""
        executor = self._parts.executor
        answer, circuit, writes, paths = "", "", [], []
        for message in self._record.messages_of_step(step):
            if not isinstance(message, AIMessage):
                continue
            if text := get_text(message).strip():
                answer = text
            for call in calls_of(message):
                result = self._record.result_of(call.call_id)
                if result is None or not get_tool_success(result):
                    continue
                path = _path_of(result)
                effect = executor.effect_of(call.name)
                if not path or effect in ("read", "outside"):
                    continue
                if effect != "simulate":
                    writes.append(call.call_id)
                    paths.append(path)
                if path.lower().endswith(_CIRCUITS) and (effect == "simulate" or not _is_part(path)):
                    circuit = path
        return Worked(
            answer=answer,
            note=note,
            spent=self._parts.watch.spent(),
            circuit=known if known in paths else circuit,
            writes=tuple(writes),
            paths=tuple(dict.fromkeys(paths)),
        )


async def check_warnings(context: ToolContext, circuit: str) -> str:
    """What the check finds wrong with a circuit that ngspice runs all the same, a line each."""
    try:
        report = await context.services.check(context.project.root / circuit)
    except UserInputError:  # not there any more
        return ""
    found = [each for each in report.diagnostics if each.severity != "info"][:_MOST_WARNINGS]
    return "\n".join(
        f"{PurePosixPath(each.file or circuit).name}, line {each.line}: {each.message}" for each in found
    )


async def point_of_run(context: ToolContext, result: str, window: int) -> str:
    """That of a stored run, in lines; "" without one, and for a circuit of no transistors or diodes."""
    stored = await off_loop(result_content, context, context.project.root / result)
    point = stored_operating_point(stored)
    if point is None or not point.devices:
        return ""
    most = min(max(window // _WINDOW_PER_DEVICE, _LEAST_DEVICES), _MOST_DEVICES)
    lines = operating_point_lines(point, most_devices=most, most_nodes=2 * most)
    return "\n".join(["DC operating point:", *lines])


def intent_values(text: str, state: GraphState) -> dict[str, str]:
    """What INTENT_ANALYSIS is filled with, for words at a checkpoint."""
    verdicts = [verdict_from_plain(plain) for plain in state.get("last_verdicts", [])]
    missed = ", ".join(verdict.goal.metric for verdict in verdicts if not verdict.met)
    number = max(state.get("iteration_count", 0), 0)
    return {
        "user_message": text,
        "checkpoint": f"Round {number}; missed goals: {missed or 'none'}",
        "options": ", ".join(CHOICES),
        "user_language": LANGUAGE_NAMES[language_of(text)],
    }


def _at_limit(why: Message) -> NeedsConfirmation:
    """The design waits: whoever raises the limit goes on with it."""
    return NeedsConfirmation(
        why, advice=msg("Raise the limit, then continue the design."), error_type="limit"
    )


def read_if_there(project: ProjectFiles, path: str) -> bytes | None:
    """What a file holds; None where it was deleted, or is no place of the project's. Blocking."""
    try:
        return project.read(project.root / path)
    except CircuitAIError:
        return None


def _is_part(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in LIBRARY_SUFFIXES


def _path_of(result: ToolMessage) -> str:
    """The file a call was about, relative to the project."""
    told = result.additional_kwargs.get("result")
    path = (told.get("file_path") or told.get("path")) if isinstance(told, dict) else None
    return path if isinstance(path, str) else ""
