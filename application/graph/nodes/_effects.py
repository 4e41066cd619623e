"""What nodes share: telling the stream, and effects that are shown as tool calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from langgraph.config import get_stream_writer

from application.events import DesignEvent, PhaseEntered, ToolEnded, ToolStarted
from application.graph.state import GraphState
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid


def tell(event: DesignEvent) -> None:
    """Put an event into the graph's own stream."""
    get_stream_writer()(event)


def enter(phase: str, state: GraphState, *, ends_round: bool = False) -> None:
    """Say that a node was entered; rounds count from 1, and `analysis` is the last node of a round."""
    judged = state.get("iteration_count", 0)
    tell(PhaseEntered(phase=phase, round_number=max(judged, 1) if ends_round else judged + 1))


@dataclass(slots=True)
class ToolCall:
    """A running call; whoever makes it says how it ended."""

    success: bool = False
    summary: Message = field(default_factory=lambda: msg("It was interrupted."))


@asynccontextmanager
async def tool_call(name: str, **arguments: object) -> AsyncIterator[ToolCall]:
    """Show an effect as a tool call with a start and, whatever happens, an end."""
    call_id = new_ulid()
    tell(ToolStarted(call_id=call_id, name=name, arguments=arguments))
    call = ToolCall()
    try:
        yield call
    except CircuitAIError as error:
        call.success, call.summary = False, error.message
        raise
    finally:
        tell(ToolEnded(call_id=call_id, name=name, success=call.success, summary=call.summary))
