"""The request a design would send next, worked out from its transcript. Nothing is sent or written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from application.conversation.inspecting import NextStep
from application.design.plain_state import goal_from_plain, verdict_from_plain
from application.design.round_history import can_be_undone, judged_rounds, timeline
from application.graph.state import GraphState, UserIntent
from application.tool_execution.definition import ToolContext
from application.workflow.chosen_model import goals_context
from application.workflow.goal_readers import goals_values
from application.workflow.journal import DesignRun, open_run
from application.workflow.model_steps import (
    NODE_OF_TASK,
    check_warnings,
    intent_values,
    point_of_run,
    read_if_there,
)
from application.workflow.nodes.model import action_values, first_text, first_values, task_of
from domain.design.checkpoint_reading import CheckpointReader
from domain.design.likeness import KnownTexts
from domain.llm.chat import ModelRoom
from domain.llm.conversation_record import ConversationRecord
from domain.llm.tools.text_files import version_hash
from domain.simulation.goals import all_met


async def next_step(
    context: ToolContext,
    record: ConversationRecord,
    events: Sequence[Mapping[str, Any]],
    *,
    words: str,
    room: ModelRoom,
    known: Callable[[], KnownTexts],
) -> NextStep:
    """What follows in workflow mode, with `words` typed so far; `known` is called in a thread.

    At a question it is the step that its usual answer leads to; words at a checkpoint are read by the rules,
    as they are when they are sent. Of a step that was interrupted the beginning is told.
    """
    run = open_run(record.session_id, events)
    if run is None:
        values = {**goals_values(words), **await goals_context(context.project, "", record.said(), room)}
        return NextStep(task="EXTRACT_DESIGN_GOALS", text=words, values=values)
    updates = _updates_of(run, events)
    state = _state_of(run, updates)
    if "design_goals_summary" not in state:
        before = record.said(before=run.turn_id)
        values = {
            **goals_values(run.text),
            **await goals_context(context.project, run.circuit, before, room),
        }
        return NextStep(task="EXTRACT_DESIGN_GOALS", text=run.text, values=values, circuit=run.circuit)
    if "last_verdicts" not in state:
        return NextStep(
            task="INITIAL_DESIGN",
            text=first_text(state),
            values=first_values(state),
            circuit=state.get("circuit_file_path", ""),
            node=NODE_OF_TASK["INITIAL_DESIGN"],
        )
    circuit = state.get("circuit_file_path", "")
    if state.get("current_node") != "user_checkpoint":
        meant = _meant(words, state, await asyncio.to_thread(known))
        if meant == "unclear":
            return NextStep(
                task="INTENT_ANALYSIS", text=words, values=intent_values(words, state), circuit=circuit
            )
        state |= {"user_intent": cast("UserIntent", meant), "instruction": words}
    task, text = task_of(state)
    netlist = await asyncio.to_thread(read_if_there, context.project, circuit) if circuit else None
    if netlist is not None:  # the step tells the model what the file holds
        context.seen_versions[circuit] = version_hash(netlist)
    warnings = await check_warnings(context, circuit) if circuit else ""
    point = await point_of_run(context, state.get("sim_result_path", ""), room.window)
    rounds = judged_rounds(timeline(updates))
    said = [*record.said(), *([words] if words.strip() else [])]
    values = await asyncio.to_thread(
        lambda: action_values(
            context.project,
            state,
            task,
            netlist or b"",
            warnings=warnings,
            operating_point=point,
            rounds=rounds,
            said=said,
        )
    )
    return NextStep(
        task=task,
        text=text,
        values=values,
        circuit=circuit,
        node=NODE_OF_TASK.get(task, "action"),
        said=words.strip(),
    )


def _updates_of(run: DesignRun, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What the run's finished steps changed in its state, in order."""
    found: dict[str, Mapping[str, Any]] = {}
    for event in events:
        step = str(event.get("step", ""))
        if step.startswith(f"{run.turn_id}/") and isinstance(event.get("update"), Mapping):
            found[step] = event["update"]
    return list(found.values())


def _state_of(run: DesignRun, updates: Sequence[Mapping[str, Any]]) -> GraphState:
    state: dict[str, Any] = {"user_input": run.text, "circuit_file_path": run.circuit}
    if run.refines is not None:
        state |= {name: run.refines[name] for name in ("design_intent", "circuit_file_path")}
    for update in updates:
        state |= update
    return cast("GraphState", state)


def _meant(words: str, state: GraphState, known: KnownTexts) -> str:
    """What words at a checkpoint are taken for; nothing typed goes on."""
    if not words.strip():
        return "continue"
    verdicts = [verdict_from_plain(plain) for plain in state["last_verdicts"]]
    read = CheckpointReader(known)(
        words,
        goals=[goal_from_plain(plain) for plain in state["design_goals_summary"]],
        goals_met=all_met(verdicts),
        has_failed=bool(state.get("error_context")),
        can_undo=can_be_undone(state),
        rounds=state.get("iteration_count", 0),
    )
    return read.kind if read.kind in ("instruction", "question", "unclear", "fix") else "continue"
