"""One step of the agent loop: the next tool call of the newest answer, or a few independent ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from application.events import ToolEnded, ToolStarted
from application.graph.agent.state import AgentState
from application.graph.nodes._effects import tell
from domain.llm.agent_limits import AgentLimits
from domain.llm.messages import get_summary_message, get_tool_success
from domain.llm.tools.result import ToolResult
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.conversation import Conversation
    from application.tool_execution.context import ToolCall, ToolContext
    from application.tool_execution.executor import ToolExecutor

_SIDE_BY_SIDE = ("read", "simulate")
"""Effect classes of which calls that follow each other may run at the same time."""

_READ_RETRIES = 2


class ToolsNode:
    """Runs pending calls; each result is in the transcript before its checkpoint."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        executor: ToolExecutor,
        context: ToolContext,
        limits: AgentLimits,
    ) -> None:
        self._conversation = conversation
        self._executor = executor
        self._context = context
        self._limits = limits

    async def __call__(self, state: AgentState) -> AgentState:
        """Run the next call, or up to `parallel` reading (or simulating) ones that follow each other."""
        group = self._next_group(state["agent_pending"])
        try:
            async with asyncio.TaskGroup() as tasks:
                for call in group:
                    tasks.create_task(self._run(call))
        except ExceptionGroup as failures:  # the log or the transcript cannot be written
            raise failures.exceptions[0] from failures
        return {
            "agent_pending": state["agent_pending"][len(group) :],
            "agent_steps": self._conversation.ids_of_turn(),
        }

    def _next_group(self, pending: Sequence[str]) -> list[ToolCall]:
        calls = [self._call(call_id) for call_id in pending]
        if self._is_too_many(calls[0]):
            return calls
        group: list[ToolCall] = []
        for call in calls[: self._limits.parallel]:
            effect = self._executor.effect_of(call.name)
            if group and effect != self._executor.effect_of(group[0].name):
                break
            group.append(call)
            if effect not in _SIDE_BY_SIDE:
                break
        return group

    def _call(self, call_id: str) -> ToolCall:
        call = self._conversation.call(call_id)
        if call is None:
            raise UserInputError(
                msg("The saved steps of this conversation do not fit its transcript."),
                advice=msg("Send the message again; the files are as the list of operations says."),
                error_type="out_of_step",
            )
        return call

    async def _run(self, call: ToolCall) -> None:
        """Run the call, unless its result is there since before an interruption."""
        written = self._conversation.result_of(call.call_id)
        if written is None:
            tell(ToolStarted(call_id=call.call_id, name=call.name, arguments=dict(call.arguments)))
            if self._is_too_many(call):
                result = _not_run(self._limits.calls_per_answer)
            else:
                result = await self._execute(call)
            written = await self._conversation.add_result(call, result)
            tell(_ended(call, success=result.success, summary=result.summary))
        else:  # run before an interruption: whoever watches now still sees it
            tell(ToolStarted(call_id=call.call_id, name=call.name, arguments=dict(call.arguments)))
            tell(_ended(call, success=get_tool_success(written), summary=get_summary_message(written)))

    async def _execute(self, call: ToolCall) -> ToolResult:
        """The call's result; reading that failed for a passing reason is tried again, a change never."""
        result = await self._executor.execute(call, self._context)
        if self._executor.effect_of(call.name) == "read":
            for _ in range(_READ_RETRIES):
                if result.success or not (result.is_environment or result.error_type == "timeout"):
                    break
                result = await self._executor.execute(call, self._context)
        return result

    def _is_too_many(self, call: ToolCall) -> bool:
        return self._conversation.place_in_answer(call.call_id) >= self._limits.calls_per_answer


def _ended(call: ToolCall, *, success: bool, summary: Message) -> ToolEnded:
    return ToolEnded(call_id=call.call_id, name=call.name, success=success, summary=summary)


def _not_run(limit: int) -> ToolResult:
    return ToolResult(
        success=False,
        content=f"Not run: only the first {limit} tool calls of an answer are run. Ask again for this one.",
        summary=msg("Not run: only the first {limit} calls of an answer are.", limit=limit),
        error_type="too_many_calls",
        error_message=msg("Only the first {limit} tool calls of an answer are run.", limit=limit),
        suggestions=(msg("Ask for the call again in the next answer."),),
    )
