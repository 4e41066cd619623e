"""Compressing a conversation that is open: what goes and stays, the summary, and when a turn begins with it.

What is written is one line of the transcript, last of all: a kill before it leaves all as it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from application.agent.alternatives import TurnModels, without_thinking
from application.agent.answer import usage_of_chunk
from application.agent.request import (
    Sent,
    behind,
    compressions_of,
    tokens_of,
    turns_as_sent,
    turns_of,
    whole_tokens,
)
from application.agent.watch import Pricing
from application.conversation.session_texts import compressed_words
from application.graph.runtime import tell
from application.ports.events import CompressionStarted, ConversationCompressed
from domain.llm.chat import ModelRoom, ProviderChoice, ProviderError, Usage, room_of
from domain.llm.compression import (
    ACCEPTED_SHARE,
    AUTOMATIC_SHARE,
    Compression,
    compression_event,
)
from domain.llm.costs import Cost, cost_of
from domain.llm.messages import get_text, now
from domain.llm.pinned_words import users_words
from domain.llm.summaries import (
    LONGEST_SUMMARY,
    compressed_text,
    is_worth_while,
    material,
    newest_figures,
    said_in,
    summary_by_rules,
    summary_problems,
    texts_of,
)
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.agent.attachment_context import Material
    from application.agent.conversation import Conversation
    from application.conversation.turn_deps import TurnDeps
    from application.ports.project import ProjectFiles
    from application.tool_execution.operations import Operations

_logger = logging.getLogger(__name__)

_KEPT_SHARE = 0.15
"""Of the window, for newest turns that stay whole when it is done by itself; with the summary about 20 %."""
_TIMEOUT_S = 120.0
_WORDS = 150
"""The most a model is asked for; more than `LONGEST_SUMMARY` characters are refused."""
_MATERIAL_SHARE = 0.7
"""Of what the summarizing model takes in."""
_MOST_FILES = 20
_LONGEST_ANSWER = 20_000
"""Characters that are received of a summary; more is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which messages a summary stands for, and which stay."""

    gone: Sequence[BaseMessage]
    """From the conversation's beginning."""
    news: Sequence[BaseMessage]
    """Those of them that no earlier compression stands for."""
    standing: Sequence[Compression]
    """The earlier ones; what came from another conversation stays."""
    kept: Sequence[BaseMessage]
    tokens_before: int
    """Of what is sent of `gone` now."""
    tokens_kept: int

    @property
    def messages(self) -> int:
        """How many of user and assistant go."""
        return sum(isinstance(one, HumanMessage | AIMessage) for one in self.gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A compression that is not written yet."""

    plan: Plan
    compression: Compression
    words: str
    """The user's own, as they are sent."""
    files: tuple[str, ...]
    figures: tuple[str, ...]
    is_carried: bool = False
    """It is for another conversation."""


def plan_of(
    conversation: Conversation,
    messages: Sequence[BaseMessage],
    room: ModelRoom,
    *,
    keep_tokens: int | None = None,
    keep_messages: int = 0,
) -> Plan | None:
    """What goes of `messages`: whole turns, the oldest first; None when nothing does.

    Stay: the newest turns within `keep_tokens`, or as many as have `keep_messages` of user and assistant.
    """
    standing = compressions_of(conversation.record, messages)
    left = behind(messages, standing)
    turns, shown = turns_of(left), turns_as_sent(left, room)
    first, count = len(turns), 0
    while first and keep_tokens is not None and tokens_of(shown[first - 1]) <= keep_tokens:
        first -= 1
        keep_tokens -= tokens_of(shown[first])
    while first and keep_tokens is None and count < keep_messages:
        first -= 1
        count += sum(isinstance(one, HumanMessage | AIMessage) for one in turns[first])
    if not first:
        return None
    news = [one for turn in turns[:first] for one in turn]
    end = list(messages).index(news[-1]) + 1
    before = [HumanMessage(content=one.text) for one in standing if one.until]
    return Plan(
        gone=messages[:end],
        news=news,
        standing=standing,
        kept=messages[end:],
        tokens_before=tokens_of(before) + sum(map(tokens_of, shown[:first])),
        tokens_kept=sum(map(tokens_of, shown[first:])),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compressing:
    """Of one conversation that is open."""

    deps: TurnDeps
    project: ProjectFiles
    conversation: Conversation
    models: TurnModels
    operations: Operations
    is_spent: Callable[[], bool]
    """Whether no further request may be sent in this conversation."""

    async def in_turn(
        self, sent: Sent, room: ModelRoom, tool_tokens: int, attached: Mapping[str, Material]
    ) -> Compression | None:
        """Compress what stands before the running turn, where the request fills too much of the window."""
        record = self.conversation.record
        if not self.deps.limits.compress or record.compressions.is_paused:
            return None
        whole = tool_tokens + await asyncio.to_thread(
            whole_tokens, record, sent, room=room, attached=attached
        )
        if not sent.left_out and whole < AUTOMATIC_SHARE * room.window:
            return None
        plan = await asyncio.to_thread(
            plan_of,
            self.conversation,
            record.earlier_messages,
            room,
            keep_tokens=int(_KEPT_SHARE * room.window),
        )
        if plan is None:
            return None
        draft = await self.by_rules(plan, room)
        after = draft.compression.tokens_after
        if not is_worth_while(before=plan.tokens_before, after=after, window=room.window):
            return None
        tell(CompressionStarted())
        draft = await self.by_model(draft, room)
        done = await self.keep(draft, is_automatic=True)
        left = whole - plan.tokens_before + done.tokens_after
        tell(ConversationCompressed(compression=done, text=compressed_note(done, left, room.window)))
        return done

    async def by_rules(self, plan: Plan, room: ModelRoom, *, pinned: Sequence[str] = ()) -> Draft:
        """A draft that needs no model. `pinned` are ids of messages that are kept whole beside it."""
        records = await self.operations.list(session_id=self.conversation.session_id)
        files = [one.path for one in records if one.kind == "file" and one.state == "done" and one.path]
        before = [each for one in plan.standing for each in one.pinned]
        return await asyncio.to_thread(
            self._by_rules,
            plan,
            room,
            pinned=tuple(dict.fromkeys((*before, *pinned))),
            files=tuple(dict.fromkeys(reversed(files)))[:_MOST_FILES],
        )

    def _by_rules(
        self, plan: Plan, room: ModelRoom, *, pinned: tuple[str, ...], files: tuple[str, ...]
    ) -> Draft:
        empty = Compression(
            compression_id=new_ulid(),
            until=str(plan.gone[-1].id),
            text="",
            summary="",
            messages=plan.messages,
            tokens_before=plan.tokens_before,
            tokens_after=0,
            pinned=pinned,
        )
        draft = Draft(
            plan=plan,
            compression=empty,
            words=users_words(said_in(plan.gone), min(max(room.window // 16, 250), 6_000)),
            files=files,
            figures=tuple(newest_figures(plan.gone, min(max(room.window // 20, 300), 1_500))),
        )
        return with_summary(draft, summary_by_rules(turns_of(plan.gone)), room)

    async def by_model(self, draft: Draft, room: ModelRoom) -> Draft:
        """The draft with a summary by the small model; as it is where there is none that can be used."""
        small = self.deps.small_model
        if small is None or self.is_spent() or not await self.models.may_go_on_with(small):
            return draft
        spent = Usage()
        pricing = Pricing(self.deps.models)
        await pricing.look_up(small)
        taken, cost = "", Cost()
        originals = await asyncio.to_thread(texts_of, draft.plan.gone)
        originals += [one.text for one in draft.plan.standing]
        try:
            messages = await self._request(draft.plan, small)
            async with asyncio.timeout(_TIMEOUT_S), self.deps.models.open(small) as model:
                for _ in range(2):  # it, and one repair
                    said, usage, name = await _answer(model, messages)
                    spent += usage
                    cost += cost_of(usage, pricing.price(name))
                    problems = await asyncio.to_thread(
                        summary_problems, said, originals, most_tokens=draft.plan.tokens_before
                    )
                    if not problems:
                        taken = said
                        break
                    _logger.info("A summary by %s was not taken: %s", small.provider, "; ".join(problems))
                    refused = f"The summary can't be used: {'; '.join(problems)}. Write it again, mended."
                    messages += [AIMessage(content=said or "(nothing)"), HumanMessage(content=refused)]
        except (ProviderError, CircuitAIError, TimeoutError) as error:
            _logger.warning("The small model gave no summary: %s", error or "it took too long")
        told = replace(draft.compression, tokens=spent.total_tokens, cost=cost)
        draft = replace(draft, compression=told)
        if not taken:
            return draft
        named = replace(draft, compression=replace(told, by=small.model or small.provider))
        return await asyncio.to_thread(with_summary, named, taken, room)

    async def _request(self, plan: Plan, small: ProviderChoice) -> list[BaseMessage]:
        room = room_of(await self.deps.models.abilities(small))
        told = await asyncio.to_thread(material, plan.news, int(room.request_tokens * _MATERIAL_SHARE))
        system = await self.deps.prompts().system_message(
            self.project,
            task="SUMMARIZE_CONVERSATION",
            values={
                "messages": told,
                "previous_summary": "\n".join(one.summary for one in plan.standing),
                "max_words": _WORDS,
            },
            session_id=self.conversation.session_id,
        )
        ask = f"Write it now, in at most {LONGEST_SUMMARY} characters, without any words around it."
        return [system, HumanMessage(content=ask)]

    async def keep(self, draft: Draft, *, is_automatic: bool = False) -> Compression:
        """Write it; from now on it is in force."""
        done = replace(draft.compression, is_automatic=is_automatic, created=now())
        await self.conversation.write(compression_event(done))
        return done


def with_summary(draft: Draft, summary: str, room: ModelRoom) -> Draft:
    chosen = {each: number for number, each in enumerate(draft.compression.pinned)}
    budget = room.window // 8
    pinned: list[tuple[str, str]] = []
    for message in draft.plan.gone:
        if str(message.id) in chosen and (text := get_text(message)):
            who = "the user's words" if isinstance(message, HumanMessage) else "an answer"
            pinned.append((who, text[: max(budget, 0) * 2]))
            budget -= tokens_of([message])
    text = compressed_text(
        messages=draft.plan.messages,
        words=draft.words,
        pinned=pinned,
        files=draft.files,
        figures=draft.figures,
        summary=summary.strip(),
        is_carried=draft.is_carried,
    )
    after = tokens_of([HumanMessage(content=text)])
    made = replace(draft.compression, text=text, summary=summary.strip(), tokens_after=after)
    return replace(draft, compression=made)


async def _answer(model: Any, messages: Sequence[BaseMessage]) -> tuple[str, Usage, str]:
    said: list[str] = []
    usage, name = Usage(), ""
    try:
        async with aclosing(cast("Any", model.astream(list(messages)))) as chunks:
            async for chunk in chunks:
                said.append(get_text(chunk))
                usage = usage_of_chunk(chunk) or usage
                name = chunk.response_metadata.get("model_name") or name
                if sum(map(len, said)) > _LONGEST_ANSWER:
                    break
    except ProviderError as error:
        if error.error_type != "empty_answer":
            raise
    return without_thinking("".join(said)).strip(), usage, name


def compressed_note(done: Compression, left: int, window: int) -> Message:
    """What is said of a compression in a turn; `left`: tokens of the next request."""
    told, percent = compressed_words(done), round(100 * left / window)
    if left > ACCEPTED_SHARE * window:
        return msg(
            "{told}. The next request still fills {percent} % of the context window; a new conversation with "
            "the summary has more room.",
            told=told,
            percent=percent,
        )
    return msg(
        "{told}. The next request fills {percent} % of the context window.", told=told, percent=percent
    )
