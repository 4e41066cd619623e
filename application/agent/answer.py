"""One answer of a model: its pieces as they stream in, and the message that is accepted of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk

from application.graph.runtime import tell
from application.ports.events import AnswerStreamed, RetryScheduled, WaitsForPlace
from domain.llm.agentic_loop.policy import Seam
from domain.llm.answers import AcceptedCall, accept_calls, calls_in_text
from domain.llm.chat import PlaceNotice, ProviderError, RetryNotice, Usage, WebSource, WireToolCall
from domain.llm.costs import Cost, RequestFacts
from domain.llm.messages import (
    create_ai_message,
    get_continuations,
    get_cost,
    get_reasoning_content,
    get_request,
    get_sources,
    get_text,
    get_usage,
    set_call_problems,
    set_continued,
    set_request,
)
from domain.llm.tools.result import ToolCall
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.agent.conversation import Conversation

_LONG_ANSWER = 30_000
"""Characters; broken arguments of so many take 20 ms and more to be understood."""


class Answer:
    """What has come of an answer, or of more of one that was cut off (`begun`).

    Each piece is kept in the conversation and shown; `first` is called before the first.
    """

    def __init__(
        self, conversation: Conversation, begun: AIMessage | None, *, first: Callable[[], None]
    ) -> None:
        self._conversation = conversation
        self._first = first
        self.begun = begun
        self.message_id = new_ulid() if begun is None else str(begun.id)
        self._seam = Seam("" if begun is None else get_text(begun))
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: tuple[WireToolCall, ...] = ()
        self.finish_reason = ""
        self.model = ""
        self.usage: Usage | None = None
        self.sources: tuple[WebSource, ...] = ()
        self.output_items: tuple[dict[str, Any], ...] = ()
        self.retries = 0
        self.paused_s = 0.0
        """Pauses before retries, and waits for a place: they do not count as model time."""
        self._deadline: float | None = None
        self.failed: ProviderError | None = None
        """Why it is waited before another attempt; None while it is not."""
        self.has_streamed = False

    def take(self, chunk: AIMessageChunk, clock: asyncio.Timeout) -> None:
        """The next piece; the pause before a retry puts the clock back."""
        self._show(self._seam.take(get_text(chunk)), get_reasoning_content(chunk))
        if chunk.tool_call_chunks:
            self.calls += tuple(
                WireToolCall(
                    provider_id=call["id"] or "", name=call["name"] or "", arguments=call["args"] or ""
                )
                for call in chunk.tool_call_chunks
            )
        details = chunk.response_metadata
        self.finish_reason = details.get("finish_reason") or self.finish_reason
        self.model = details.get("model_name") or self.model
        self.usage = usage_of_chunk(chunk) or self.usage
        if told := details.get("sources"):
            self.sources = tuple(WebSource(**source) for source in told)
        self.output_items = tuple(details.get("output_items") or self.output_items)
        self.failed = None
        if place := details.get("place"):
            self._wait_for_place(place["notice"], clock)
        if retry := details.get("retry"):
            notice: RetryNotice = retry["notice"]
            self.failed = notice.error
            self.paused_s += notice.wait_s
            self.retries += 1
            if (deadline := clock.when()) is not None:
                clock.reschedule(deadline + notice.wait_s)
            tell(RetryScheduled(attempt=notice.attempt, wait_s=notice.wait_s, reason=notice.error.message))

    def _wait_for_place(self, notice: PlaceNotice, clock: asyncio.Timeout) -> None:
        """The clock stands still meanwhile."""
        if notice.running:
            self._deadline = clock.when()
            clock.reschedule(None)
            tell(WaitsForPlace(running=notice.running))
            return
        self.paused_s += notice.waited_s
        if self._deadline is not None:
            clock.reschedule(self._deadline + notice.waited_s)

    def end(self) -> None:
        """Nothing more comes: what was held back is shown."""
        self._show(self._seam.end(), "")

    def _show(self, text: str, reasoning: str) -> None:
        """Keep a piece, and show it."""
        if not (text or reasoning):
            return
        if not self.has_streamed:
            self.has_streamed = True
            self._first()
        self.text.append(text)
        self.reasoning.append(reasoning)
        self._conversation.take_piece(self.message_id, text=text, reasoning=reasoning)
        tell(AnswerStreamed(message_id=self.message_id, text=text, reasoning=reasoning))

    async def accepted(
        self,
        *,
        tools: Set[str],
        own_call: Callable[[ToolCall], ToolCall],
        provider: str,
        cost: Cost,
        facts: RequestFacts,
        searched: tuple[WebSource, ...],
    ) -> AIMessage:
        """The answer as a message, its calls under ids of our own.

        `tools` are the names by which it may call one, `own_call` gives a call its tool's own name;
        `cost` and `facts` are those of what came now; `searched` are the pages that the turn's own searches
        have found.
        """

        def accept() -> AIMessage:
            message = self._accepted(tools, own_call, provider, cost, searched)
            earlier = None if self.begun is None else get_request(self.begun)
            return set_request(message, facts if earlier is None else earlier + facts)

        # Where much of it may have to be repaired, off the loop.
        size = sum(map(len, self.text)) + sum(len(call.arguments) for call in self.calls)
        return accept() if size < _LONG_ANSWER else await asyncio.to_thread(accept)

    def _accepted(
        self,
        tools: Set[str],
        own_call: Callable[[ToolCall], ToolCall],
        provider: str,
        cost: Cost,
        searched: tuple[WebSource, ...],
    ) -> AIMessage:
        begun = self.begun
        added = "".join(self.text)
        text = added if begun is None else get_text(begun) + added
        # Of an answer that broke off nobody knows whether its calls are whole, or all of them.
        calls = () if self.finish_reason == "cut" or not tools else self.calls
        if not calls and self.finish_reason in ("stop", "tool_calls"):
            calls, text = calls_in_text(text, tools)
        accepted = accept_calls(calls, new_ulid)
        named = [
            own_call(ToolCall(call_id=call.call_id, name=call.name, arguments=call.arguments))
            for call in accepted
        ]
        # They belong to the answer as it came; of one that was cut off, or gone on with, that is none.
        items = () if begun is not None or self.finish_reason == "cut" else self.output_items
        is_partial = not calls and self.finish_reason in ("cut", "length", "content_filter")
        reasoning = "".join(self.reasoning)
        usage = self.usage
        if begun is not None:
            cost = get_cost(begun) + cost
            reasoning = get_reasoning_content(begun) + reasoning
            usage = (get_usage(begun) or Usage()) + (usage or Usage())
        message = create_ai_message(
            text,
            message_id=self.message_id,
            reasoning=reasoning,
            tool_calls=[
                {"id": call.call_id, "name": call.name, "args": dict(call.arguments)} for call in named
            ],
            usage=usage,
            is_partial=is_partial,
            stop_reason=self.finish_reason if is_partial else "",
            provider_ids={call.call_id: call.provider_id for call in accepted if call.provider_id},
            finish_reason=self.finish_reason,
            provider=provider,
            model=self.model,
            sources=self._sources(searched, has_calls=bool(accepted)),
            output_items=items,
            cost=cost,
        )
        if begun is not None:
            is_stuck = not added.strip() and not accepted
            message = set_continued(message, get_continuations(begun)[0] + 1, is_stuck=is_stuck)
        return set_call_problems(message, _problems(accepted))

    def _sources(self, searched: tuple[WebSource, ...], *, has_calls: bool) -> tuple[WebSource, ...]:
        """What stands under it: what its provider's search found, else the searches of the turn."""
        own = self.sources or (() if self.begun is None else tuple(get_sources(self.begun)))
        return own if own or has_calls else searched


def usage_of_chunk(chunk: AIMessageChunk) -> Usage | None:
    """The tokens a piece of an answer tells; None when it tells none."""
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
