"""One step of the agent loop: ask the model, stream its answer, accept its tool calls.

What comes next is decided from the transcript (`watch.py`), before the request and after it: so a turn
that is taken up behind its last answer ends without another request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langchain_core.messages import AIMessage, AIMessageChunk

from application.agent.alternatives import SMALLER_CONTEXTS, shortened_text, switched_text
from application.agent.conversation import calls_of
from application.agent.request import request_messages
from application.agent.state import AgentState
from application.agent.stream import tell
from application.ports.events import (
    AlternativeTaken,
    AnswerStreamed,
    AttachmentsLeftOut,
    PhaseEntered,
    RetryScheduled,
    SourcesFound,
)
from application.search.web_searching import sources_in
from domain.llm.agentic_loop.continuation import Seam
from domain.llm.agentic_loop.phases import Phase
from domain.llm.agentic_loop.policy import Ask, End
from domain.llm.answers import AcceptedCall, accept_calls, calls_in_text
from domain.llm.chat import ProviderError, Usage, WebSource, WireToolCall
from domain.llm.costs import cost_of
from domain.llm.messages import (
    create_ai_message,
    get_continuations,
    get_cost,
    get_reasoning_content,
    get_sources,
    get_text,
    get_usage,
    set_call_problems,
    set_continued,
    set_doubt,
)
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import SystemMessage

    from application.agent.alternatives import OtherModels
    from application.agent.attachment_context import Attached, Material
    from application.agent.conversation import Conversation
    from application.agent.watch import TurnWatch
    from application.ports.tracing import Span
    from application.tool_execution.executor import ToolExecutor
    from domain.llm.chat import ProviderChoice

_logger = logging.getLogger(__name__)

_LONG_ANSWER = 30_000
"""Characters; broken arguments of so many take 20 ms and more to be understood."""

_PERHAPS_OF_PICTURES = frozenset(("bad_request", "server_error", "unknown_model", "content_blocked"))
"""How servers answer that can't do anything with pictures, or will not with this one."""

DescribeProject = Callable[[], Awaitable[str]]


class _Answer:
    """What has come of an answer, or of more of one that was cut off (`begun`)."""

    def __init__(self, begun: AIMessage | None) -> None:
        self.begun = begun
        self.message_id = new_ulid() if begun is None else str(begun.id)
        self.seam = Seam("" if begun is None else get_text(begun))
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: tuple[WireToolCall, ...] = ()
        self.finish_reason = ""
        self.model = ""
        self.usage: Usage | None = None
        self.sources: tuple[WebSource, ...] = ()
        self.output_items: tuple[dict[str, Any], ...] = ()
        self.paused_s = 0.0
        """Pauses before retries: they do not count as model time."""
        self.has_streamed = False


class _Frame(NamedTuple):
    """What is around the messages of a turn."""

    context: str
    system: SystemMessage
    tools: Sequence[dict[str, Any]]


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
        choice: ProviderChoice,
        watch: TurnWatch,
        span: Span,
        others: OtherModels | None = None,
        attached: Attached | None = None,
        withheld: frozenset[str] = frozenset(),
    ) -> None:
        self._conversation = conversation
        self._model = model
        self._executor = executor
        self._describe_project = describe_project
        self._system_message = system_message
        self._choice = choice
        self._watch = watch
        self._span = span
        """Of the loop: each call of the model is one inside it."""
        self._frame: _Frame | None = None
        self._others = others
        self._attached = attached
        self._withheld = withheld
        """Tools that are switched off in this turn."""
        self._has_old_pictures = self._leaves_pictures = False
        """Whether pictures of earlier turns went with the last request; and go with none any more."""
        self._left_out: set[str] = set()
        """Attachments of which the user was told that this model does not get them."""
        self._newest: int | None = None
        """How many messages are sent at most, once the provider found all of them too long."""

    async def __call__(self, state: AgentState) -> AgentState:
        """One answer: its calls become pending, or it ends the turn, or the model is asked again.

        Raises ProviderError; what had come is kept as a partial answer.
        """
        seconds = state["agent_seconds"]
        move = await self._watch.next_move(seconds)
        message: AIMessage | None = None
        if isinstance(move, Ask):
            try:
                message, seconds = await self._answer(move, self._conversation.answers_asked + 1, seconds)
            except ProviderError as error:
                move = await self._after_nothing(error, move)
        if message is not None:
            move = Ask() if message.tool_calls else await self._watch.next_move(seconds)
        elif isinstance(move, Ask):  # time ran out, a price is not known, or a continuation brought nothing
            move = await self._watch.next_move(seconds)
        return {
            "agent_round": self._conversation.answers_asked,
            "agent_steps": self._conversation.ids_of_turn(),
            "agent_pending": [] if message is None else [call.call_id for call in calls_of(message)],
            "agent_ended": move.reason if isinstance(move, End) else "",
            "agent_seconds": seconds,
            "agent_usage": usage_of(self._conversation.answers_of_turn()).to_plain(),
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
                if error.has_begun or not await self._found_alternative(error):
                    if self._others is not None and not error.has_begun:
                        self._others.offer(error)
                    raise

    async def _found_alternative(self, error: ProviderError) -> bool:
        """Whether the model is asked in another way from now on; told then."""
        if error.error_type == "context_too_long":
            most = len(self._conversation.messages) if self._newest is None else self._newest
            if kept := next((count for count in SMALLER_CONTEXTS if count < most), 0):
                self._newest = kept
                text = shortened_text(error.message, kept)
                tell(AlternativeTaken(kind="context", text=text, kept=kept))
                return True
        if self._has_old_pictures and error.error_type in _PERHAPS_OF_PICTURES:
            # Else a model that can't see, or a picture that is refused, would end every further turn.
            self._leaves_pictures = True
            words = msg(
                "{reason} (asking again without the pictures of earlier messages)", reason=error.message
            )
            tell(AttachmentsLeftOut(text=words))
            return True
        found = None if self._others is None else await self._others.next(error)
        if found is None:
            return False
        choice, self._model = found
        self._choice, self._newest = choice, None
        text = switched_text(error.message, choice)
        tell(AlternativeTaken(kind="model", text=text, provider=choice.provider, model=choice.model))
        return True

    async def _after_nothing(self, error: ProviderError, asked: Ask) -> Ask | End:
        """What follows when the model (or its provider) failed where it was only asked to say more.

        The turn then ends with the answer it has. Raises the error where an answer was needed.
        """
        last = next(reversed(self._conversation.answers_of_turn()), None)
        is_wanted = last is not None and str(last.id) == self._conversation.taken_up
        if last is None or last.tool_calls or (is_wanted and not get_continuations(last)[0]):
            raise error
        _logger.warning("The answer was not gone on with: %s", error)
        if not asked.continues:
            words = self._watch.doubtful_words()
            if words:
                await self._conversation.replace(set_doubt(last, words), step="")
            return End(reason="completed")
        count, _ = get_continuations(last)
        stuck = set_continued(last, count + 1, is_stuck=True)
        await self._conversation.replace(stuck, step=self._step(self._conversation.answers_asked + 1))
        return Ask()

    async def _framed(self) -> _Frame:
        """What stays the same in all requests of a turn, so that providers can cache what they have read."""
        if self._frame is None:
            self._frame = _Frame(
                *await asyncio.gather(
                    self._describe_project(),
                    self._system_message(),
                    asyncio.to_thread(self._executor.schemas, without=self._withheld),
                )
            )
        return self._frame

    async def _materials(self) -> Mapping[str, Material]:
        """What goes with the user's messages; what this model does not get is told once."""
        if self._attached is None:
            return {}
        materials = await self._attached.of(
            self._conversation.messages,
            running=self._conversation.messages_of_turn(),
            choice=self._choice,
            is_short=self._newest is not None or self._leaves_pictures,
        )
        self._has_old_pictures = materials.sent_again > 0
        if names := self._news(materials.unseen):
            text = msg(
                "This model can't see pictures; earlier ones are only named to it: {names}.", names=names
            )
            tell(AttachmentsLeftOut(text=text))
        if names := self._news(materials.kept_back):
            text = msg(
                "Named by .circuitaiignore, so not sent to a model on the network: {names}.", names=names
            )
            tell(AttachmentsLeftOut(text=text))
        return materials.of_message

    def _news(self, names: Iterable[str]) -> str:
        """Those names that the user was not told of in this turn."""
        news = [name for name in dict.fromkeys(names) if name not in self._left_out]
        self._left_out.update(news)
        return ", ".join(news)

    def _step(self, number: int) -> str:
        return f"{self._conversation.open_turn}/{number}"

    def _enter(self, phase: Phase, number: int) -> None:
        tell(PhaseEntered(phase=phase, round_number=number))

    async def _ask(self, move: Ask, number: int, used: float) -> tuple[AIMessage | None, float]:
        """The answer and the model time used by now.

        No answer: the time ran out (what had come is kept), or a limit in money could not be kept.
        """
        loop = asyncio.get_running_loop()
        await self._watch.pricing.look_up(self._choice)
        if self._watch.unpriced() is not None:
            return None, used
        self._conversation.unfinished_cost = cost_of(None, self._watch.pricing.price())
        frame = await self._framed()
        # In the transcript's order: an answer left over from a killed run comes before this one.
        await self._conversation.keep_unfinished("interrupted")
        messages = request_messages(
            self._conversation,
            context=frame.context,
            hint=move.note,
            system=frame.system,
            continues=move.continues,
            newest=self._newest,
            attached=await self._materials(),
        )
        answer = _Answer(self._conversation.answer_of(move.continues) if move.continues else None)
        most = self._watch.limits.model_seconds
        began = loop.time()
        try:
            with self._traced(messages, answer, number):
                async with self._conversation.streaming():
                    async with asyncio.timeout(most - used) as clock:
                        await self._stream(messages, answer, clock, number)
                        self._show(answer, answer.seam.end(), "", number)
        except TimeoutError:
            await self._conversation.keep_unfinished("limit")
            return None, most
        except ProviderError as error:
            error.has_begun = error.has_begun or answer.has_streamed
            await self._conversation.keep_unfinished("error")
            raise
        self._enter("parsing", number)
        seconds = used + max(loop.time() - began - answer.paused_s, 0.0)
        message = await self._with_doubt(await self._accepted(answer), seconds)
        if answer.begun is None:
            await self._conversation.add(message, step=self._step(number))
        else:
            await self._conversation.replace(message, step=self._step(number))
        if sources := get_sources(message):
            tell(SourcesFound(message_id=answer.message_id, sources=tuple(sources)))
        return message, seconds

    @contextmanager
    def _traced(self, messages: list[Any], answer: _Answer, number: int) -> Iterator[None]:
        """One call of the model as a span: sizes and counts, no texts."""
        with self._span.child(
            f"llm_call {number}",
            gen_ai__operation__name="chat",
            gen_ai__provider__name=self._choice.provider,
            messages=len(messages),
            message_characters=sum(len(get_text(message)) for message in messages),
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

    async def _stream(
        self, messages: list[Any], answer: _Answer, clock: asyncio.Timeout, number: int
    ) -> None:
        stream = self._model.astream(messages, tools=list((await self._framed()).tools))
        async with aclosing(cast("Any", stream)) as chunks:
            async for chunk in chunks:
                self._take(chunk, answer, clock, number)

    def _take(self, chunk: AIMessageChunk, answer: _Answer, clock: asyncio.Timeout, number: int) -> None:
        self._show(answer, answer.seam.take(get_text(chunk)), get_reasoning_content(chunk), number)
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
        if told := details.get("sources"):
            answer.sources = tuple(WebSource(**source) for source in told)
        answer.output_items = tuple(details.get("output_items") or answer.output_items)
        if retry := details.get("retry"):
            wait_s = float(retry["wait_s"])
            answer.paused_s += wait_s
            if (deadline := clock.when()) is not None:
                clock.reschedule(deadline + wait_s)
            reason = Message(retry["reason"]["template"], retry["reason"]["params"])
            tell(RetryScheduled(attempt=int(retry["attempt"]), wait_s=wait_s, reason=reason))

    def _show(self, answer: _Answer, text: str, reasoning: str, number: int) -> None:
        """Keep a piece, and show it."""
        if not (text or reasoning):
            return
        if not answer.has_streamed:
            answer.has_streamed = True
            self._enter("streaming", number)
        answer.text.append(text)
        answer.reasoning.append(reasoning)
        self._conversation.take_piece(answer.message_id, text=text, reasoning=reasoning)
        tell(AnswerStreamed(message_id=answer.message_id, text=text, reasoning=reasoning))

    async def _accepted(self, answer: _Answer) -> AIMessage:
        """`_accept`; where much of it may have to be mended, off the loop."""
        size = sum(map(len, answer.text)) + sum(len(call.arguments) for call in answer.calls)
        return self._accept(answer) if size < _LONG_ANSWER else await asyncio.to_thread(self._accept, answer)

    def _accept(self, answer: _Answer) -> AIMessage:
        """The answer as a message, its calls under ids of our own."""
        begun = answer.begun
        added = "".join(answer.text)
        text = added if begun is None else get_text(begun) + added
        # Of an answer that broke off nobody knows whether its calls are whole, or all of them.
        calls = () if answer.finish_reason == "cut" else answer.calls
        if not calls and answer.finish_reason in ("stop", "tool_calls"):
            calls, text = calls_in_text(text, self._executor.names - self._withheld)
        accepted = accept_calls(calls, new_ulid)
        # They belong to the answer as it came; of one that was cut off, or gone on with, that is none.
        items = () if begun is not None or answer.finish_reason == "cut" else answer.output_items
        is_partial = not calls and answer.finish_reason in ("cut", "length", "content_filter")
        reasoning = "".join(answer.reasoning)
        usage = answer.usage
        cost = cost_of(usage, self._watch.pricing.price(answer.model))
        if begun is not None:
            cost = get_cost(begun) + cost
            reasoning = get_reasoning_content(begun) + reasoning
            usage = (get_usage(begun) or Usage()) + (usage or Usage())
        message = create_ai_message(
            text,
            message_id=answer.message_id,
            reasoning=reasoning,
            tool_calls=[
                {"id": call.call_id, "name": call.name, "args": dict(call.arguments)} for call in accepted
            ],
            usage=usage,
            is_partial=is_partial,
            stop_reason=answer.finish_reason if is_partial else "",
            provider_ids={call.call_id: call.provider_id for call in accepted if call.provider_id},
            finish_reason=answer.finish_reason,
            provider=self._choice.provider,
            model=answer.model,
            sources=self._sources_of(answer, has_calls=bool(accepted)),
            output_items=items,
            cost=cost,
        )
        if begun is not None:
            is_stuck = not added.strip() and not accepted
            message = set_continued(message, get_continuations(begun)[0] + 1, is_stuck=is_stuck)
        return set_call_problems(message, _problems(accepted))

    def _sources_of(self, answer: _Answer, *, has_calls: bool) -> tuple[WebSource, ...]:
        """What stands under an answer: what its provider's search found, else the searches of the turn."""
        own = answer.sources or (() if answer.begun is None else tuple(get_sources(answer.begun)))
        return own if own or has_calls else sources_in(self._conversation.messages_of_turn())

    async def _with_doubt(self, message: AIMessage, seconds: float) -> AIMessage:
        """The answer, marked when it is the turn's last and still claims what was not done."""
        words = self._watch.doubtful_words(with_answer=message)
        if not words or isinstance(await self._watch.next_move(seconds, with_answer=message), Ask):
            return message
        return set_doubt(message, words)


def usage_of(answers: Iterable[AIMessage]) -> Usage:
    """The tokens of these answers together."""
    return sum((get_usage(answer) or Usage() for answer in answers), Usage())


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
