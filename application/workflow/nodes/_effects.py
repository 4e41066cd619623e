"""What nodes share: telling the stream, and steps that leave their line in the transcript."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from langgraph.errors import GraphBubbleUp

from application.graph.runtime import tell
from application.graph.state import GraphState
from application.ports.events import DesignEvent, PhaseEntered, ToolEnded, ToolStarted
from application.workflow.journal import DesignJournal, StepRecord
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.tracing import Span


class Step:
    """One step of a design while it runs: what it tells is shown at once, and kept for the transcript."""

    def __init__(self) -> None:
        self.told: list[DesignEvent] = []

    def tell(self, event: DesignEvent) -> None:
        tell(event)
        self.told.append(event)

    def enter(self, phase: str, state: GraphState, *, ends_round: bool = False) -> None:
        """Say which phase begins; rounds count from 1, and `analysis` is the last phase of a round."""
        judged = state.get("iteration_count", 0)
        self.tell(PhaseEntered(phase=phase, round_number=max(judged, 1) if ends_round else judged + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a node hands over: the change of the state, and its line in the transcript."""

    update: GraphState
    record: StepRecord


class DesignNode(Protocol):
    """A node of the workflow. It may run again after a kill, but never after its line is written."""

    async def __call__(self, state: GraphState, step: Step) -> Finished: ...


def recorded(node: DesignNode, journal: DesignJournal) -> Callable[[GraphState], Awaitable[GraphState]]:
    """`node` as LangGraph takes it: its line is in the transcript before its checkpoint.

    A step whose line is there already (the program was killed before the checkpoint) is not run again.
    """

    async def run(state: GraphState) -> GraphState:
        number = state["step_number"] + 1
        step_id = journal.step_id(number)
        known = journal.update_of(step_id)
        if known is not None:
            return known
        step = Step()
        finished = await node(state, step)
        update: GraphState = {**finished.update, "step": step_id, "step_number": number}
        await journal.write(step_id, finished.record, update, step.told)
        return update

    return run


def traced(
    name: str, run: Callable[[GraphState], Awaitable[GraphState]], span: Span
) -> Callable[[GraphState], Awaitable[GraphState]]:
    """`run` inside a span of its own; a node that asks the user has not failed."""

    async def run_traced(state: GraphState) -> GraphState:
        with span.child(name, round=state.get("iteration_count", 0)) as node:
            try:
                return await run(state)
            except GraphBubbleUp as question:
                node.note(outcome="waiting")
                pause = question
        raise pause

    return run_traced


@dataclass(slots=True)
class RunningCall:
    """A call being carried out; whoever does it says how it ended."""

    success: bool = False
    summary: Message = field(default_factory=lambda: msg("Interrupted."))
    error_type: str = ""
    result_path: str = ""
    duration_s: float | None = None


@asynccontextmanager
async def carrying_out(
    step: Step, call_id: str, name: str, **arguments: object
) -> AsyncIterator[RunningCall]:
    """Show a call with a start and, whatever happens, an end."""
    step.tell(ToolStarted(call_id=call_id, name=name, arguments=arguments))
    call = RunningCall()
    try:
        yield call
    except CircuitAIError as error:
        call.success, call.summary, call.error_type = False, error.message, error.error_type
        raise
    except asyncio.CancelledError:
        call.success, call.error_type = False, "stopped"
        raise
    finally:
        step.tell(
            ToolEnded(
                call_id=call_id,
                name=name,
                success=call.success,
                summary=call.summary,
                error_type=call.error_type,
                result_path=call.result_path,
                duration_s=call.duration_s,
            )
        )
