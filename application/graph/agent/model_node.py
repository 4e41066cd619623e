"""One step of the agent loop: ask the model, stream its answer, accept its tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk

from application.conversation.conversation import calls_of
from application.conversation.request import request_messages
from application.events import AnswerStreamed, PhaseEntered, RetryScheduled, TurnEnd
from application.graph.agent.state import AgentState
from application.graph.nodes._effects import tell
from domain.llm.agent_limits import AgentLimits
from domain.llm.answers import AcceptedCall, accept_calls, calls_in_text
from domain.llm.chat import ProviderError, Usage, WireToolCall
from domain.llm.messages import (
    create_ai_message,
    get_reasoning_content,
    get_stop_reason,
    get_text,
    get_usage,
    is_partial_response,
    set_call_problems,
)
from shared.message import Message
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import SystemMessage

    from application.conversation.conversation import Conversation
    from application.tool_execution.executor import ToolExecutor

DescribeProject = Callable[[], Awaitable[str]]


@dataclass(slots=True)
class _Answer:
    """What has come of an answer."""

    message_id: str = field(default_factory=new_ulid)
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: tuple[WireToolCall, ...] = ()
    finish_reason: str = ""
    model: str = ""
    usage: Usage | None = None
    paused_s: float = 0.0
    """Pauses before retries: they do not count as model time."""


class ModelNode:
    """Asks the model once; the answer is in the transcript before its checkpoint."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        model: BaseChatModel,
        executor: ToolExecutor,
        describe_project: DescribeProject,
        system_message: Callable[[], Awaitable[SystemMessage]],
        provider: str,
        limits: AgentLimits,
    ) -> None:
        self._conversation = conversation
        self._model = model
        self._executor = executor
        self._describe_project = describe_project
        self._system_message = system_message
        self._provider = provider
        self._limits = limits

    async def __call__(self, state: AgentState) -> AgentState:
        """One answer: its calls become pending, or it ends the turn.

        Raises ProviderError; what had come is kept as a partial answer.
        """
        number = state["agent_round"] + 1
        if number > self._limits.rounds or state["agent_seconds"] >= self._limits.model_seconds:
            return {"agent_ended": "limit"}
        step = f"{state['turn_id']}/{number}"
        message, seconds = self._conversation.answer_at(step), 0.0
        if message is None:
            tell(PhaseEntered(phase="calling", round_number=number))
            left = self._limits.model_seconds - state["agent_seconds"]
            message, seconds = await self._ask(step, number, left)
            if message is None:
                return {
                    "agent_steps": self._conversation.ids_of_turn(),
                    "agent_ended": "limit",
                    "agent_seconds": state["agent_seconds"] + seconds,
                }
        pending = [call.call_id for call in calls_of(message)]
        return {
            "agent_round": number,
            "agent_steps": self._conversation.ids_of_turn(),
            "agent_pending": pending,
            "agent_ended": "" if pending else _end_of(message),
            "agent_seconds": state["agent_seconds"] + seconds,
            "agent_usage": _sum_of(state["agent_usage"], get_usage(message)),
        }

    async def _ask(self, step: str, number: int, seconds: float) -> tuple[AIMessage | None, float]:
        """The answer (None: the time ran out; what had come is kept) and the model time it took."""
        loop = asyncio.get_running_loop()
        context = await self._describe_project()
        system = await self._system_message()
        # In the transcript's order: an answer left over from a killed run comes before this one.
        await self._conversation.keep_unfinished("interrupted")
        messages = request_messages(
            self._conversation, context=context, hint=self._hint(number), system=system
        )
        answer = _Answer()
        began = loop.time()
        try:
            async with self._conversation.streaming():
                async with asyncio.timeout(seconds) as clock:
                    await self._stream(messages, answer, clock)
        except TimeoutError:
            await self._conversation.keep_unfinished("limit")
            return None, loop.time() - began
        except ProviderError:
            await self._conversation.keep_unfinished("error")
            raise
        message = self._accept(answer)
        await self._conversation.add(message, step=step)
        return message, max(loop.time() - began - answer.paused_s, 0.0)

    async def _stream(self, messages: list[Any], answer: _Answer, clock: asyncio.Timeout) -> None:
        stream = self._model.astream(messages, tools=list(self._executor.schemas()))
        async with aclosing(cast("Any", stream)) as chunks:
            async for chunk in chunks:
                self._take(chunk, answer, clock)

    def _take(self, chunk: AIMessageChunk, answer: _Answer, clock: asyncio.Timeout) -> None:
        text, reasoning = get_text(chunk), get_reasoning_content(chunk)
        if text or reasoning:
            answer.text.append(text)
            answer.reasoning.append(reasoning)
            self._conversation.take_piece(answer.message_id, text=text, reasoning=reasoning)
            tell(AnswerStreamed(message_id=answer.message_id, text=text, reasoning=reasoning))
        if chunk.tool_call_chunks:
            answer.calls += tuple(
                WireToolCall(
                    provider_id=call["id"] or "", name=call["name"] or "", arguments=call["args"] or ""
                )
                for call in chunk.tool_call_chunks
            )
        details = chunk.response_metadata
        answer.finish_reason = details.get("finish_reason") or answer.finish_reason
        answer.model = details.get("model_name") or answer.model
        answer.usage = _usage_of(chunk) or answer.usage
        if retry := details.get("retry"):
            wait_s = float(retry["wait_s"])
            answer.paused_s += wait_s
            if (deadline := clock.when()) is not None:
                clock.reschedule(deadline + wait_s)
            reason = Message(retry["reason"]["template"], retry["reason"]["params"])
            tell(RetryScheduled(attempt=int(retry["attempt"]), wait_s=wait_s, reason=reason))

    def _accept(self, answer: _Answer) -> AIMessage:
        """The answer as a message, its calls under ids of our own."""
        text = "".join(answer.text)
        # Of an answer that broke off nobody knows whether its calls are whole, or all of them.
        calls = () if answer.finish_reason == "cut" else answer.calls
        if not calls and answer.finish_reason in ("stop", "tool_calls"):
            calls, text = calls_in_text(text, self._executor.names)
        accepted = accept_calls(calls, new_ulid)
        is_partial = not calls and answer.finish_reason in ("cut", "length", "content_filter")
        message = create_ai_message(
            text,
            message_id=answer.message_id,
            reasoning="".join(answer.reasoning),
            tool_calls=[
                {"id": call.call_id, "name": call.name, "args": dict(call.arguments)} for call in accepted
            ],
            usage=answer.usage,
            is_partial=is_partial,
            stop_reason=answer.finish_reason if is_partial else "",
            provider_ids={call.call_id: call.provider_id for call in accepted if call.provider_id},
            finish_reason=answer.finish_reason,
            provider=self._provider,
            model=answer.model,
        )
        return set_call_problems(message, _problems(accepted))

    def _hint(self, number: int) -> str:
        if number < self._limits.warn_round:
            return ""
        return (
            f"This is answer {number} of at most {self._limits.rounds} in this turn. Finish what matters "
            "most, then close with a short statement of what is done and what is left."
        )


def _usage_of(chunk: AIMessageChunk) -> Usage | None:
    told = chunk.usage_metadata
    if told is None:
        return None
    return Usage(
        prompt_tokens=told["input_tokens"],
        completion_tokens=told["output_tokens"],
        total_tokens=told["total_tokens"],
        cached_tokens=told.get("input_token_details", {}).get("cache_read") or 0,
        reasoning_tokens=told.get("output_token_details", {}).get("reasoning") or 0,
    )


def _problems(calls: list[AcceptedCall]) -> dict[str, str]:
    return {call.call_id: call.problem for call in calls if call.problem}


def _end_of(message: AIMessage) -> TurnEnd:
    if not is_partial_response(message):
        return "completed"
    return cast("TurnEnd", get_stop_reason(message))


def _sum_of(used: dict[str, int], usage: Usage | None) -> dict[str, int]:
    return (Usage(**used) + (usage or Usage())).to_plain()
