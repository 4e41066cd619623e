"""The live conversation: its messages in memory, each on the disk before it counts.

The transcript is the one truth about what was said and done. A graph step looks here first: an
answer or a tool result that is already written is never made a second time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from application.search.web_searching import sources_in
from application.tool_execution.context import ToolCall
from domain.llm.messages import (
    as_cut,
    create_ai_message,
    create_tool_message,
    dict_to_message,
    extended,
    get_call_problems,
    get_provider_ids,
    get_seen_versions,
    get_text,
    get_timestamp,
    is_partial_response,
    mark_as_partial,
    message_to_dict,
)
from domain.llm.tools.confirmation_card import (
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    answers_from_plain,
    answers_to_plain,
    card_from_plain,
    card_to_plain,
)
from domain.llm.turn_failure import failure_to_plain, message_to_plain
from shared.ulid import new_ulid
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from application.ports.conversation import Transcript
    from domain.llm.costs import Cost
    from domain.llm.tools.confirmation_card import Answers
    from domain.llm.tools.result import ToolResult
    from domain.llm.turn_failure import TurnFailure
    from shared.message import Message

_log = logging.getLogger(__name__)

DELTA_INTERVAL_S = 0.4
"""A streaming answer is on the disk at least this often (the requirement is 0.5 s)."""

SettleCall = Callable[[ToolCall], Awaitable["ToolResult"]]


@dataclass(slots=True)
class _Unfinished:
    """An answer of which pieces came, but not its end."""

    message_id: str
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)


class Conversation:
    """One conversation, open for writing. Made by `load`."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._lock = asyncio.Lock()
        self._messages: dict[str, BaseMessage] = {}
        self._results: dict[str, ToolMessage] = {}
        self.taken_up = ""
        """Id of the answer that the user wants more of."""
        self.unfinished_cost: Cost | None = None
        """What an answer costs that is never finished, as far as that is known."""
        self._unfinished: dict[str, _Unfinished] = {}
        self._unwritten: dict[str, _Unfinished] = {}
        self._writer: asyncio.Task[None] | None = None
        self._turn = ""
        self.last_end = ""
        """Why the newest turn ended; "" while it is open, and where there is none."""
        self._ids_of_turn: list[str] = []
        self._accepted: set[str] = set()
        """Answers of the newest turn that were accepted as steps."""
        self._asked = 0
        self._cards: dict[str, ConfirmationCard] = {}
        self._answers: dict[str, CardAnswer] = {}
        self._answer_ids: dict[str, str] = {}
        self._open_card = ""
        self.name = ""
        self.work_mode = "free_work"
        self.name_is_default = True
        """Nobody, neither user nor program, has given it a name of its own yet."""
        self.seen_versions: dict[str, str] = {}
        """Relative path -> version hash of the files the model has seen or written."""

    @classmethod
    async def load(cls, transcript: Transcript) -> Conversation:
        """The conversation a transcript holds."""
        conversation = cls(transcript)
        await asyncio.to_thread(conversation._take_all, transcript.events)
        return conversation

    @property
    def session_id(self) -> str:
        """Id of the session, also the thread id of its checkpoints."""
        return self._transcript.session_id

    @property
    def messages(self) -> Sequence[BaseMessage]:
        """All finished messages, in order."""
        return tuple(self._messages.values())

    @property
    def open_turn(self) -> str:
        """Id of the turn that was begun and not ended (its user message's id), or ""."""
        return self._turn

    @property
    def last_answered(self) -> str:
        """When the model last answered in an earlier turn (ISO 8601, UTC); "" when it never did."""
        earlier = tuple(self._messages.values())[: len(self._messages) - len(self._ids_of_turn)]
        answers = (get_timestamp(message) for message in reversed(earlier) if isinstance(message, AIMessage))
        return next(answers, "")

    def messages_of_turn(self) -> Sequence[BaseMessage]:
        """The messages of the newest turn, its user message first."""
        return tuple(self._messages[message_id] for message_id in self._ids_of_turn)

    def ids_of_turn(self) -> list[str]:
        """Ids of the newest turn's messages, in the transcript's order."""
        return list(self._ids_of_turn)

    def answers_of_turn(self) -> Sequence[AIMessage]:
        """The whole answers of the newest turn: those that were accepted as steps."""
        return [
            message
            for message in self.messages_of_turn()
            if isinstance(message, AIMessage) and str(message.id) in self._accepted
        ]

    @property
    def answers_asked(self) -> int:
        """Steps of the newest turn that brought an answer, or more of one that was cut off."""
        return self._asked

    @property
    def first_words(self) -> str:
        """The text of the user's first message."""
        first = next((message for message in self.messages if isinstance(message, HumanMessage)), None)
        return "" if first is None else get_text(first)

    def answer_of(self, message_id: str) -> AIMessage | None:
        """The answer of this id."""
        message = self._messages.get(message_id)
        return message if isinstance(message, AIMessage) else None

    def result_of(self, call_id: str) -> ToolMessage | None:
        """The result of a call, if it has one."""
        return self._results.get(call_id)

    def call(self, call_id: str) -> ToolCall | None:
        """The call under our own id, in the newest turn."""
        return next((call for call in self._calls_of_turn() if call.call_id == call_id), None)

    def place_in_answer(self, call_id: str) -> int:
        """The place of a call among the calls of its answer, from 0."""
        for message in self.messages_of_turn():
            if isinstance(message, AIMessage):
                for place, call in enumerate(message.tool_calls):
                    if call["id"] == call_id:
                        return place
        return 0

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest turn without a result, in order."""
        return tuple(call for call in self._calls_of_turn() if call.call_id not in self._results)

    @property
    def open_card(self) -> ConfirmationCard | None:
        """The question of the newest turn that was asked last and not answered."""
        return self._cards.get(self._open_card)

    def card(self, card_id: str) -> ConfirmationCard:
        """A question of this conversation. Raises KeyError."""
        return self._cards[card_id]

    def answer_to(self, call_id: str) -> tuple[CallOnCard | None, CardAnswer | None]:
        """A call as it was asked about last, and the user's answer; None where there is none."""
        asked = [call for card in self._cards.values() for call in card.calls if call.call_id == call_id]
        return (asked[-1] if asked else None), self._answers.get(call_id)

    def answer_id(self, call_id: str) -> str:
        """What tells the answer to a call from every other answer; "" where there is none.

        An answer of an earlier version is named by its question.
        """
        return self._answer_ids.get(call_id, "")

    def refused_in_turn(self) -> tuple[tuple[ToolCall, CallOnCard], ...]:
        """The turn's calls that the user refused, each with what he was asked."""
        found = ((call, *self.answer_to(call.call_id)) for call in self._calls_of_turn())
        return tuple(
            (call, asked) for call, asked, answer in found if asked and answer and answer.word == "refuse"
        )

    def calls_since_permission(self) -> frozenset[str]:
        """Ids of the turn's calls behind the last one the user has allowed."""
        calls = [call.call_id for call in self._calls_of_turn()]
        last = max((n for n, call_id in enumerate(calls) if self._is_allowed(call_id)), default=-1)
        return frozenset(calls[last + 1 :])

    def _is_allowed(self, call_id: str) -> bool:
        answer = self._answers.get(call_id)
        return answer is not None and answer.is_allowed

    async def ask(self, card: ConfirmationCard) -> None:
        """Write a question to the user."""
        await self._write({"event": "confirmation", "state": "asked", "card": card_to_plain(card)})

    async def answer(self, card_id: str, answers: Answers) -> None:
        """Write the user's answers to a question."""
        plain = answers_to_plain(answers)
        event = {"event": "confirmation", "state": "answered", "card_id": card_id, "answers": plain}
        await self._write(event | {"answer_id": new_ulid()})

    async def begin_turn(self, message: HumanMessage) -> str:
        """Write the user's message as the start of a turn; returns the turn's id."""
        turn_id = str(message.id)
        await self._write(
            {"event": "message", "message": message_to_dict(message), "step": turn_id},
            {"event": "turn", "turn_id": turn_id, "state": "started"},
        )
        return turn_id

    async def add(self, message: BaseMessage, *, step: str) -> None:
        """Write a message; the pieces streamed under its id are part of it from now on."""
        # Pieces not written yet are in the message: writing them as well would only take time.
        self._unwritten.pop(str(message.id), None)
        await self._write({"event": "message", "message": message_to_dict(message), "step": step})

    async def replace(self, message: BaseMessage, *, step: str) -> None:
        """Write a message in the place of the one of its id: an answer that was gone on with."""
        self._unwritten.pop(str(message.id), None)
        event = {"event": "replaced", "message_id": str(message.id), "message": message_to_dict(message)}
        await self._write({**event, "step": step})

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[None]:
        """While an answer streams in: what has come is written every `DELTA_INTERVAL_S`."""
        writer = asyncio.create_task(self._write_regularly(), name="conversation:streaming")
        self._writer = writer
        try:
            yield
        finally:
            self._writer = None
            writer.cancel()
            await asyncio.wait([writer])
            if not writer.cancelled() and (error := writer.exception()) is not None:
                raise error

    def take_piece(self, message_id: str, *, text: str = "", reasoning: str = "") -> None:
        """A piece of a streaming answer; see `streaming`.

        Raises what the last writing raised: nothing is shown for long that cannot be kept.
        """
        if self._writer is not None and self._writer.done():
            self._writer.result()
        for pieces in (self._unfinished, self._unwritten):
            answer = pieces.setdefault(message_id, _Unfinished(message_id))
            answer.text.append(text)
            answer.reasoning.append(reasoning)

    async def _write_regularly(self) -> None:
        while True:
            await asyncio.sleep(DELTA_INTERVAL_S)
            await self.flush()

    async def flush(self) -> None:
        """Write the pieces taken so far."""
        unwritten, self._unwritten = self._unwritten, {}
        deltas = [
            {
                "event": "delta",
                "message_id": answer.message_id,
                "text": "".join(answer.text),
                "reasoning": "".join(answer.reasoning),
            }
            for answer in unwritten.values()
        ]
        if deltas:
            await uninterrupted(self._append(*deltas, take=False))

    async def keep_unfinished(self, stop_reason: str) -> None:
        """Make messages, marked as partial, of the answers that never came to their end."""
        for answer in tuple(self._unfinished.values()):
            text, reasoning = "".join(answer.text), "".join(answer.reasoning)
            begun = self._messages.get(answer.message_id)
            if isinstance(begun, AIMessage) and (text or reasoning):  # pieces of its continuation
                await self.replace(
                    mark_as_partial(extended(begun, text=text, reasoning=reasoning), stop_reason), step=""
                )
            elif text or reasoning:
                partial = create_ai_message(
                    text,
                    message_id=answer.message_id,
                    reasoning=reasoning,
                    is_partial=True,
                    stop_reason=stop_reason,
                    sources=sources_in(self.messages_of_turn()),
                    cost=self.unfinished_cost,
                )
                await self.add(partial, step="")
            self._unfinished.pop(answer.message_id, None)
            self._unwritten.pop(answer.message_id, None)

    async def take_up(self) -> bool:
        """Make the newest turn one whose last answer was cut off just now, so that it is gone on with.

        Its end is withdrawn, if it had one. False, and nothing done, where the turn does not end with a text
        that broke off: then another answer is needed, not more of that one.
        """
        await self.keep_unfinished("interrupted")
        last = self._messages[self._ids_of_turn[-1]] if self._ids_of_turn else None
        if not isinstance(last, AIMessage) or not is_partial_response(last) or last.tool_calls:
            return False
        if not get_text(last).strip():
            return False
        turn_id, message_id = self._ids_of_turn[0], str(last.id)
        cut = {"event": "replaced", "message_id": message_id, "message": message_to_dict(as_cut(last))}
        events = [{**cut, "step": f"{turn_id}/{self._asked + 1}"}]
        if not self._turn:
            events.insert(0, {"event": "turn", "turn_id": turn_id, "state": "started"})
        await self._write(*events)
        self.taken_up = message_id
        return True

    async def settle(
        self, stop_reason: str, settle_call: SettleCall, *, failure: TurnFailure | None = None
    ) -> bool:
        """Bring an interrupted turn to an end: nothing is run, everything has its result.

        Unfinished answers become partial messages, calls without a result get the one that
        `settle_call` finds. `failure`: why it failed. Returns whether there was anything to settle.
        """
        if not self._turn:
            return False
        await self.keep_unfinished(stop_reason)
        for call in self.open_calls():
            await self.add_result(call, await settle_call(call))
        await self.end_turn(stop_reason, failure=failure)
        return True

    async def add_result(self, call: ToolCall, result: ToolResult) -> ToolMessage:
        """Write the result of a call."""
        message = create_tool_message(
            result.content,
            call_id=call.call_id,
            name=call.name,
            success=result.success,
            error_type=result.error_type,
            summary={"template": result.summary.template, "params": _plain(result.summary.params)},
            result=dict(result.result),
            seen_versions=dict(result.seen_versions),
        )
        await self.add(message, step=call.call_id)
        return message

    async def end_turn(
        self, stop_reason: str, *, failure: TurnFailure | None = None, note: Message | None = None
    ) -> None:
        """Write that the newest turn is over, and why it failed, or which limit (`note`) ended it."""
        event = {"event": "turn", "turn_id": self._turn, "state": "ended", "stop_reason": stop_reason}
        told = {} if failure is None else {"failure": failure_to_plain(failure)}
        noted = {} if note is None else {"note": message_to_plain(note)}
        await self._write({**event, **told, **noted})

    async def rename(self, name: str, *, by: str) -> None:
        """Give the conversation a name; `by` is "user" or "auto"."""
        await self._write({"event": "renamed", "name": name, "by": by})

    async def close(self) -> None:
        """Write what is left and give the lock back."""
        try:
            await self.flush()
        finally:
            await uninterrupted(asyncio.to_thread(self._transcript.close))

    async def _write(self, *events: Mapping[str, Any]) -> None:
        # What is on the disk is known here too, even when the writer is cancelled meanwhile: else a
        # result would be written again when the turn is settled.
        await uninterrupted(self._append(*events, take=True))

    async def _append(self, *events: Mapping[str, Any], take: bool) -> None:
        async with self._lock:
            await asyncio.to_thread(self._transcript.append, *events)
            if take:
                self._take_all(events)

    def _take_all(self, events: Sequence[Mapping[str, Any]]) -> None:
        for event in events:
            self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        match event.get("event"):
            case "session":
                self.name = str(event.get("name", ""))
                self.work_mode = str(event.get("work_mode", "free_work"))
            case "renamed":
                self.name, self.name_is_default = str(event.get("name", "")), False
            case "message" | "replaced":
                self._take_message(dict_to_message(event["message"]), str(event.get("step", "")))
            case "delta":
                message_id = str(event.get("message_id", ""))
                known = self._messages.get(message_id)
                if known is None or is_partial_response(known):
                    answer = self._unfinished.setdefault(message_id, _Unfinished(message_id))
                    answer.text.append(str(event.get("text", "")))
                    answer.reasoning.append(str(event.get("reasoning", "")))
            case "turn":
                is_start = event.get("state") == "started"
                self._turn = str(event.get("turn_id", "")) if is_start else ""
                self.last_end = "" if is_start else str(event.get("stop_reason", ""))
                self._open_card = ""
            case "confirmation":
                self._take_confirmation(event)
            case "adopted":
                # Whatever another installation had under way or was allowed counts for nothing here.
                self._turn, self.last_end, self._open_card = "", "adopted", ""
                self._unfinished.clear()
                self._cards.clear()
                self._answers.clear()
                self._answer_ids.clear()
            case _:
                pass  # an event of a newer version: kept in the file, nothing to do with it here

    def _take_confirmation(self, event: Mapping[str, Any]) -> None:
        try:
            if event.get("state") == "asked":
                card = card_from_plain(event["card"])
                self._cards[card.card_id] = card
                self._open_card = card.card_id
            else:
                answers = answers_from_plain(event["answers"])
                answer_id = str(event.get("answer_id") or event["card_id"])
                self._answers.update(answers)
                self._answer_ids.update(dict.fromkeys(answers, answer_id))
                self._open_card = ""
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # Of another version, or written by somebody else: without it the question is asked (again).
            _log.warning("A line about a confirmation in %s is not used: %r", self.session_id, error)

    def _take_message(self, message: BaseMessage, step: str) -> None:
        message_id = str(message.id)
        if isinstance(message, HumanMessage) and message_id not in self._messages:
            self._ids_of_turn, self._accepted, self._asked = [], set(), 0
            self._turn = message_id  # also when the line that says so was lost in a power cut
        if message_id not in self._messages:
            self._ids_of_turn.append(message_id)
        self._messages[message_id] = message
        self._unfinished.pop(message_id, None)
        if step and isinstance(message, AIMessage):
            self._asked += 1
            self._accepted.add(message_id)
        if isinstance(message, ToolMessage):
            self._results[message.tool_call_id] = message
            self.seen_versions.update(get_seen_versions(message))

    def _calls_of_turn(self) -> Sequence[ToolCall]:
        return [
            call
            for message in self.messages_of_turn()
            if isinstance(message, AIMessage)
            for call in calls_of(message)
        ]


def calls_of(message: AIMessage) -> tuple[ToolCall, ...]:
    """The tool calls of an accepted answer, under our own ids."""
    provider_ids, problems = get_provider_ids(message), get_call_problems(message)
    return tuple(
        ToolCall(
            call_id=str(call["id"]),
            name=call["name"],
            arguments=call["args"],
            provider_id=provider_ids.get(str(call["id"]), ""),
            problem=problems.get(str(call["id"]), ""),
        )
        for call in message.tool_calls
    )


def _plain(params: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value if isinstance(value, str | int | float | bool) or value is None else str(value)
        for name, value in params.items()
    }
