"""One step of the agent loop: ask the model, stream its answer, accept its tool calls.

What comes next is decided from the transcript (`watch.py`), before the request and after it: so a turn
that is taken up behind its last answer ends without another request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langchain_core.messages import AIMessage, SystemMessage

from application.agent.answer import Answer
from application.agent.request import HISTORY_SHARE, Sent, request_messages, with_rule_of_calls
from application.graph.runtime import tell
from application.graph.state import AgentState
from application.ports.events import AnswerCounted, PhaseEntered, SourcesFound
from application.tool_execution.other_names import OTHER_NAMES, OTHER_TOOL
from domain.llm.agentic_loop.policy import Ask, End, Phase
from domain.llm.chat import ModelRoom, ProviderError, ToolSet, Usage
from domain.llm.conversation_record import calls_of
from domain.llm.costs import AnswerUse, RequestFacts, cost_of, saved_of, uses_of
from domain.llm.messages import (
    as_whole,
    get_continuations,
    get_sources,
    get_text,
    get_usage,
    message_to_dict,
    set_continued,
    set_doubts,
)
from domain.llm.provider_settings import BUILTIN
from domain.llm.tokens import count_tokens
from shared.tasks import Breaking, RunningCalls

if TYPE_CHECKING:
    from application.agent.alternatives import AskedModel
    from application.agent.attachment_context import Material
    from application.agent.conversation import Conversation
    from application.agent.watch import TurnWatch
    from application.ports.tracing import Span
    from application.tool_execution.executor import ToolExecutor, WorkflowNode
    from domain.llm.compression import Compression
    from domain.llm.prompts.catalogue import Wording

_logger = logging.getLogger(__name__)
_BUILTIN_TURNS = 4
"""Earlier turns the built-in model is told: what a sentence leans on is near."""
_ANSWER_NOW = "You thought but gave no answer. Answer now, or call a tool."


Compress = Callable[
    ["Sent", "ModelRoom", int, "Mapping[str, Material]"], Coroutine[Any, Any, "Compression | None"]
]
"""Compresses the conversation where the first request of a turn needs it; None where it does not.

It gets the request, the room, the tokens of the tools and what goes with the user's messages.
"""


SystemMessages = Callable[["Wording"], "Awaitable[tuple[SystemMessage | None, str]]"]
"""Makes the system message for a kind of model, and what of its task goes into the newest message."""


class _Frame(NamedTuple):
    """What is around the messages of a turn."""

    context: str
    system: SystemMessage | None
    tools: Sequence[dict[str, Any]]
    tool_tokens: int
    tool_digest: str
    tool_set: ToolSet


class ModelNode:
    """Asks the model once; the answer is in the transcript before its checkpoint."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        asked: AskedModel,
        executor: ToolExecutor,
        context: Callable[[ModelRoom], Awaitable[str]],
        system_message: SystemMessages,
        watch: TurnWatch,
        span: Span,
        node: WorkflowNode,
        offered: frozenset[str],
        compress: Compress,
        running: RunningCalls,
        history_share: float = HISTORY_SHARE,
    ) -> None:
        self._running = running
        self._history_share = history_share
        self._conversation = conversation
        self._record = conversation.record
        self._asked = asked
        self._executor = executor
        self._context = context
        """Makes the data blocks for the newest message."""
        self._system_message = system_message
        self._watch = watch
        self._span = span
        """Of the loop: each call of the model is one inside it."""
        self._frame: _Frame | None = None
        self._node = node
        """Whose tools it has."""
        self._offered = offered
        """Those of them that are not switched off."""
        self._compress = compress

    async def __call__(self, state: AgentState) -> AgentState:
        """One answer: its calls become pending, or it ends the turn, or the model is asked again.

        Raises ProviderError; what had come is kept as a partial answer.
        """
        seconds = state["agent_seconds"]
        answered = self._record.answers_of_turn()
        if answered and not answered[-1].tool_calls:  # taken up behind words, which are judged by its data
            await self._framed(await self._asked.room())
        move = await self._watch.next_move(seconds)
        message: AIMessage | None = None
        if isinstance(move, Ask):
            try:
                message, seconds = await self._answer(move, self._record.answers_asked + 1, seconds)
            except ProviderError as error:
                move = await self._after_nothing(error, move)
        if message is not None:
            move = Ask() if message.tool_calls else await self._watch.next_move(seconds)
        elif isinstance(move, Ask):  # time ran out, a price is not known, or a continuation brought nothing
            move = await self._watch.next_move(seconds)
        return {
            "agent_round": self._record.answers_asked,
            "agent_steps": self._record.ids_of_turn(),
            "agent_pending": [] if message is None else [call.call_id for call in calls_of(message)],
            "agent_ended": move.reason if isinstance(move, End) else "",
            "agent_seconds": seconds,
            "agent_usage": usage_of(self._record.answers_of_turn()).to_plain(),
        }

    async def _answer(self, move: Ask, number: int, used: float) -> tuple[AIMessage | None, float]:
        """`_ask`; when nothing comes of it: with a smaller context, then by another model.

        Raises the ProviderError of the last that was asked.
        """
        self._enter("calling", number)
        while True:
            try:
                return await self._ask(move, number, used)
            except ProviderError as error:
                if error.error_type == "empty_answer" and error.has_begun and _ANSWER_NOW not in move.note:
                    # It thought, and said nothing: usual where a server takes the answer for thinking.
                    move = replace(move, note=f"{move.note}\n{_ANSWER_NOW}".strip())
                    continue
                if not await self._asked.found_other_way(error):
                    raise

    async def _after_nothing(self, error: ProviderError, asked: Ask) -> Ask | End:
        """What follows when the model (or its provider) failed where it was only asked to say more.

        The turn then ends with the answer it has. Raises the error where an answer was needed.
        """
        last = next(reversed(self._record.answers_of_turn()), None)
        is_wanted = last is not None and str(last.id) == self._conversation.taken_up
        if last is not None and is_wanted and error.error_type == "empty_answer":
            # Interrupted behind its last word: there is no more to come.
            await self._conversation.replace(as_whole(last), step=self._step(self._record.answers_asked + 1))
            return Ask()
        if last is None or last.tool_calls or (is_wanted and not get_continuations(last)[0]):
            raise error
        _logger.warning("The answer was not gone on with: %s", error)
        if not asked.continues:
            doubts = await self._watch.doubts()
            if doubts:
                await self._conversation.replace(set_doubts(last, doubts.plain), step="")
            return End(reason="completed")
        count, _ = get_continuations(last)
        stuck = set_continued(last, count + 1, is_stuck=True)
        await self._conversation.replace(stuck, step=self._step(self._record.answers_asked + 1))
        return Ask()

    async def _framed(self, room: ModelRoom) -> _Frame:
        """What stays the same in all requests of a turn, so that providers can cache what they have read."""
        if self._frame is None or self._frame.tool_set != room.tool_set:
            withheld = self._executor.names - self._offered

            def list_tools() -> tuple[Sequence[Mapping[str, Any]], str, int]:
                tools = self._executor.schemas(self._node, without=withheld, tool_set=room.tool_set)
                listed = json.dumps(tools, ensure_ascii=False)
                return tools, listed, count_tokens(listed)

            described, (system, given), (tools, listed, counted) = await asyncio.gather(
                self._context(room), self._system_message(room.wording), asyncio.to_thread(list_tools)
            )
            if tools:
                described = with_rule_of_calls(described, self._watch.limits.calls_per_answer)
            described = "\n".join(filter(None, [described, given]))
            self._frame = _Frame(described, system, tools, counted, _digest(listed), room.tool_set)
            self._watch.context = described
            self._watch.has_tools = bool(tools)
        return self._frame

    def _step(self, number: int) -> str:
        return f"{self._record.open_turn}/{number}"

    def _enter(self, phase: Phase, number: int) -> None:
        tell(PhaseEntered(phase=phase, round_number=number))

    async def _ask(self, move: Ask, number: int, used: float) -> tuple[AIMessage | None, float]:
        """The answer and the model time used by now.

        No answer: the time ran out (what had come is kept), or a limit in money could not be kept.
        """
        loop = asyncio.get_running_loop()
        pricing, asked = self._watch.pricing, self._asked
        await pricing.look_up(asked.choice)
        if self._watch.unpriced() is not None:
            return None, used
        room = await asked.room()
        frame = await self._framed(room)
        asked.tell_of_tools(room)
        # In the transcript's order: an answer left over from a killed run comes before this one.
        await self._conversation.keep_unfinished("interrupted", cost=pricing.of_unfinished())
        sent = await self._request(move, number, frame, room)
        asked.note_sent(sent)
        messages = sent.messages
        tools = () if move.is_last else frame.tools
        begun = self._record.answer_of(move.continues) if move.continues else None
        answer = Answer(self._conversation, begun, first=lambda: self._enter("streaming", number))
        most = self._watch.limits.model_seconds
        began, reading_s = loop.time(), 0.0
        first_s: float | None = None
        try:
            with self._traced(messages, answer, number):
                async with (
                    self._conversation.streaming(asked.choice.model),
                    self._given_up_when_asked(answer),
                ):
                    async with asyncio.timeout(None if asked.is_local else most - used) as clock:
                        stream = asked.model.astream(messages, tools=list(tools))
                        async with aclosing(cast("Any", stream)) as chunks:
                            async for chunk in chunks:
                                first_s = loop.time() - began if first_s is None else first_s
                                if asked.is_local and clock.when() is None:
                                    reading_s = loop.time() - began
                                    clock.reschedule(loop.time() + most - used)
                                answer.take(chunk, clock)
                        answer.end()
        except TimeoutError:
            await self._conversation.keep_unfinished("limit", cost=pricing.of_unfinished())
            return None, most
        except ProviderError as error:
            error.has_begun = error.has_begun or answer.has_streamed
            await self._conversation.keep_unfinished("error", cost=pricing.of_unfinished())
            raise
        self._enter("parsing", number)
        # What a server on this computer takes to read the request is its speed, not the model's zeal.
        seconds = used + max(loop.time() - began - max(answer.paused_s, reading_s), 0.0)
        price = pricing.price(answer.model)
        facts = RequestFacts(
            first_s=first_s,
            seconds=loop.time() - began,
            retries=answer.retries,
            saved=saved_of(answer.usage, price),
            system=_digest(get_text(messages[0])),
            tools=frame.tool_digest if tools else "",
            history=_digest(str(messages[1].id or get_text(messages[1]))),
        )
        message = await answer.accepted(
            tools=(self._offered | OTHER_NAMES | {OTHER_TOOL}) if tools else frozenset(),
            own_call=self._executor.own_call,
            provider=asked.choice.provider,
            cost=cost_of(answer.usage, price),
            facts=facts,
            searched=self._record.sources_of_turn(),
        )
        message = await self._with_doubt(message, seconds)
        if answer.begun is None:
            await self._conversation.add(message, step=self._step(number))
        else:
            await self._conversation.replace(message, step=self._step(number))
        tell(AnswerCounted(use=self._use_of(message)))
        if sources := get_sources(message):
            tell(SourcesFound(message_id=answer.message_id, sources=tuple(sources)))
        return message, seconds

    @asynccontextmanager
    async def _given_up_when_asked(self, answer: Answer) -> AsyncIterator[None]:
        """Within it the user may end the pause before another attempt; the last error is raised then."""
        end = Breaking("user")
        failed: list[ProviderError] = []

        def end_pause() -> bool:
            if answer.failed is None or not end():
                return False
            failed.append(answer.failed)
            return True

        with self._running.known(self._conversation.session_id, end_pause), end:
            yield
        if end.is_broken:
            raise failed[0]

    def _use_of(self, message: AIMessage) -> AnswerUse:
        """What an answer took, compared with the one before."""
        others = (answer for answer in reversed(self._record.messages) if isinstance(answer, AIMessage))
        before = next((answer for answer in others if answer.id != message.id and get_usage(answer)), None)
        return uses_of([message_to_dict(answer) for answer in (before, message) if answer is not None])[-1]

    async def _request(self, move: Ask, number: int, frame: _Frame, room: ModelRoom) -> Sent:
        """What is sent; the first request of a turn may compress the conversation before."""
        asked = self._asked
        is_builtin = asked.choice.provider == BUILTIN
        materials = await asked.materials(self._record)
        make = partial(
            request_messages,
            self._record,
            context=frame.context,
            hint=move.note,
            system=frame.system,
            continues=move.continues,
            room=room,
            most_turns=_BUILTIN_TURNS if is_builtin else None,
            tokens=asked.tokens if asked.tokens is not None else room.request_tokens - frame.tool_tokens,
            attached=materials,
            history_share=self._history_share,
        )
        sent = await asyncio.to_thread(make)
        is_first = number == 1 and not is_builtin and asked.tokens is None
        if is_first and await self._compress(sent, room, frame.tool_tokens, materials):
            sent = await asyncio.to_thread(make)
        return sent

    @contextmanager
    def _traced(self, messages: list[Any], answer: Answer, number: int) -> Iterator[None]:
        """One call of the model as a span: sizes and counts, no texts."""
        with self._span.child(
            f"llm_call {number}",
            gen_ai__operation__name="chat",
            gen_ai__provider__name=self._asked.choice.provider,
            messages=len(messages),
            message_characters=sum(map(len, map(get_text, messages))),
        ) as span:
            try:
                yield
            finally:
                usage = answer.usage or Usage()
                span.note(
                    gen_ai__response__model=answer.model,
                    gen_ai__response__finish_reasons=answer.finish_reason,
                    gen_ai__usage__input_tokens=usage.prompt_tokens,
                    gen_ai__usage__output_tokens=usage.completion_tokens,
                    answer_characters=sum(map(len, answer.text)),
                    reasoning_characters=sum(map(len, answer.reasoning)),
                    calls=len(answer.calls),
                    retry_pause_s=answer.paused_s,
                )

    async def _with_doubt(self, message: AIMessage, seconds: float) -> AIMessage:
        """The answer, marked when it is the turn's last and nothing stands behind a part of it still."""
        doubts = await self._watch.doubts(with_answer=message)
        if not doubts or isinstance(await self._watch.next_move(seconds, with_answer=message), Ask):
            return message
        return set_doubts(message, doubts.plain)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def usage_of(answers: Iterable[AIMessage]) -> Usage:
    """The tokens of these answers together."""
    return sum((get_usage(answer) or Usage() for answer in answers), Usage())
