"""The live conversation: its record in memory, each line of it on the disk before it counts.

The transcript is the one truth about what was said and done. A graph step looks here first: an
answer or a tool result that is already written is never made a second time.

Whoever works on a conversation gives it up when another process asks for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from domain.llm.conversation_record import ConversationRecord, UnfinishedAnswer
from domain.llm.messages import (
    as_cut,
    create_ai_message,
    create_tool_message,
    extended,
    get_text,
    is_partial_response,
    mark_as_partial,
    message_to_dict,
)
from domain.llm.tools.confirmation_card import (
    Answers,
    ConfirmationCard,
    answers_to_plain,
    card_to_plain,
)
from domain.llm.tools.result import ToolCall, ToolResult
from domain.llm.transcript import FROM_OUTSIDE
from domain.llm.turn_failure import TurnFailure, failure_to_plain
from shared.errors import Stopped
from shared.message import Message, message_to_plain, msg
from shared.tasks import Breaking
from shared.ulid import new_ulid
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from application.ports.conversation import Transcript
    from domain.llm.costs import Cost

_LOOK_EVERY_S = 0.25
TAKEN_OVER = msg(
    "The conversation was taken over in another window or command; the run was stopped and saved."
)
"""For who worked on it."""


class TakenOver(Stopped):
    """The run was stopped because another process goes on with its conversation."""

    error_type = "taken_over"

    def __init__(self) -> None:
        super().__init__(TAKEN_OVER)


@asynccontextmanager
async def until_taken_over(is_wanted: Callable[[], bool]) -> AsyncIterator[None]:
    """Within it the task is stopped (reason "taken_over") once `is_wanted`; TakenOver is raised then.

    `is_wanted` may block: it is asked on a thread.
    """
    stop = Breaking("taken_over")

    async def watch() -> None:
        while not await asyncio.to_thread(is_wanted):  # noqa: ASYNC110 - told by the disk
            await asyncio.sleep(_LOOK_EVERY_S)
        stop()

    watching = asyncio.create_task(watch())
    try:
        with stop:
            yield
    finally:
        watching.cancel()
    if stop.is_broken:
        raise TakenOver


_log = logging.getLogger(__name__)

DELTA_INTERVAL_S = 0.4
"""A streaming answer is on the disk at least this often (the requirement is 0.5 s)."""

SettleCall = Callable[[ToolCall], Awaitable["ToolResult"]]


class Conversation:
    """One conversation, open for writing. Made by `load`."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.record = ConversationRecord(transcript.session_id)
        """What it holds by now."""
        self._asked_model = ""
        """Which model an answer of this run comes from; "" until one is asked."""
        self.taken_up = ""
        """Id of the answer that the user wants more of."""
        self._lock = asyncio.Lock()
        self._unwritten: dict[str, UnfinishedAnswer] = {}
        """What streamed in since the last writing."""
        self._writer: asyncio.Task[None] | None = None

    @classmethod
    async def load(cls, transcript: Transcript) -> Conversation:
        """The conversation a transcript holds."""
        conversation = cls(transcript)
        await asyncio.to_thread(conversation.record.take_all, transcript.events)
        return conversation

    @property
    def session_id(self) -> str:
        """Id of the session, also the thread id of its checkpoints."""
        return self._transcript.session_id

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """The transcript's lines, in order."""
        return self._transcript.events

    async def write(self, *events: Mapping[str, Any]) -> None:
        """Write lines as they are."""
        await self._write(*events)

    async def written(self) -> None:
        """Until what was given to be written is."""
        async with self._lock:
            pass

    async def ask(self, card: ConfirmationCard) -> None:
        """Write a question to the user."""
        await self._write({"event": "confirmation", "state": "asked", "card": card_to_plain(card)})

    async def answer(self, card_id: str, answers: Answers) -> None:
        """Write the user's answers to a question."""
        plain = answers_to_plain(answers)
        event = {"event": "confirmation", "state": "answered", "card_id": card_id, "answers": plain}
        await self._write(event | {"answer_id": new_ulid()})

    async def begin_turn(self, message: HumanMessage, *, instead_of: str = "") -> str:
        """Write the user's message as the start of a turn; returns the turn's id.

        `instead_of`: the earlier message of the user whose place it takes, with all that stands behind.
        """
        turn_id = str(message.id)
        said = {"event": "message", "message": message_to_dict(message), "step": turn_id}
        await self._write(
            {**said, "instead_of": instead_of} if instead_of else said,
            {"event": "turn", "turn_id": turn_id, "state": "started"},
        )
        return turn_id

    async def add(self, message: BaseMessage, *, step: str) -> None:
        """Write a message; the pieces streamed under its id are part of it from now on."""
        # Pieces not written yet are in the message: writing them as well would only take time.
        self._unwritten.pop(str(message.id), None)
        await self._write({"event": "message", "message": message_to_dict(message), "step": step})

    async def note_seen(self, versions: Mapping[str, str]) -> None:
        """Write which files the model has seen whole without a tool: place -> SHA-256 of the content."""
        await self._write({"event": "seen", "versions": dict(versions)})

    async def replace(self, message: BaseMessage, *, step: str) -> None:
        """Write a message in the place of the one of its id: an answer that was gone on with."""
        self._unwritten.pop(str(message.id), None)
        event = {"event": "replaced", "message_id": str(message.id), "message": message_to_dict(message)}
        await self._write({**event, "step": step})

    @asynccontextmanager
    async def streaming(self, model: str) -> AsyncIterator[None]:
        """While an answer of `model` streams in: what has come is written every `DELTA_INTERVAL_S`."""
        self._asked_model = model
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
        self.record.take_piece(message_id, text=text, reasoning=reasoning)
        answer = self._unwritten.setdefault(message_id, UnfinishedAnswer(message_id))
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

    async def keep_unfinished(self, stop_reason: str, *, cost: Cost | None) -> None:
        """Make messages, marked as partial, of the answers that never came to their end.

        `cost` is what such an answer costs, as far as that is known.
        """
        for answer in self.record.unfinished:
            text, reasoning = "".join(answer.text), "".join(answer.reasoning)
            begun = self.record.answer_of(answer.message_id)
            if begun is not None and (text or reasoning):  # pieces of its continuation
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
                    model=self._asked_model,
                    sources=self.record.sources_of_turn(),
                    cost=cost,
                )
                await self.add(partial, step="")
            self.record.drop_unfinished(answer.message_id)
            self._unwritten.pop(answer.message_id, None)

    async def take_up(self, *, cost: Cost | None) -> bool:
        """Make the newest turn one whose last answer was cut off just now, so that it is gone on with.

        Its end is withdrawn, if it had one; one that was stopped right behind its last word then comes to it.
        False, and nothing done, where the turn does not end with a text: then another answer is needed, not
        more of that one. `cost`: see `keep_unfinished`.
        """
        await self.keep_unfinished("interrupted", cost=cost)
        messages = self.record.messages_of_turn()
        last = messages[-1] if messages else None
        if not isinstance(last, AIMessage) or last.tool_calls or not get_text(last).strip():
            return False
        turn_id, message_id = str(messages[0].id), str(last.id)
        started: dict[str, Any] = {"event": "turn", "turn_id": turn_id, "state": "started"}
        if not is_partial_response(last):
            if was_stopped := self.record.last_end in FROM_OUTSIDE:
                await self._write(started)
            return was_stopped
        cut = {"event": "replaced", "message_id": message_id, "message": message_to_dict(as_cut(last))}
        events = [{**cut, "step": f"{turn_id}/{self.record.answers_asked + 1}"}]
        if not self.record.open_turn:
            events.insert(0, started)
        await self._write(*events)
        self.taken_up = message_id
        return True

    async def settle(
        self,
        stop_reason: str,
        settle_call: SettleCall,
        *,
        cost: Cost | None,
        failure: TurnFailure | None = None,
    ) -> bool:
        """Bring an interrupted turn to an end: nothing is run, everything has its result.

        A design's step has its results then too, but the design stays as it waits.

        Unfinished answers become partial messages, calls without a result get the one that
        `settle_call` finds. `cost`: see `keep_unfinished`; `failure`: why it failed. Returns whether there
        was anything to settle.
        """
        is_design = self.record.is_in_design
        if not (self.record.open_design if is_design else self.record.open_turn):
            return False
        await self.keep_unfinished(stop_reason, cost=cost)
        for call in self.record.open_calls():
            await self.add_result(call, await settle_call(call))
        if not is_design:
            await self.end_turn(stop_reason, failure=failure)
        return True

    async def add_result(self, call: ToolCall, result: ToolResult, *, seconds: float = 0.0) -> ToolMessage:
        """Write what a call gave; `seconds` is how long it took, 0 where nobody knows."""
        message = create_tool_message(
            result.content,
            call_id=call.call_id,
            name=call.name,
            success=result.success,
            error_type=result.error_type,
            summary=message_to_plain(result.summary),
            result=dict(result.result),
            seen_versions=dict(result.seen_versions),
            seconds=seconds,
        )
        await self.add(message, step=call.call_id)
        return message

    async def end_turn(
        self, stop_reason: str, *, failure: TurnFailure | None = None, note: Message | None = None
    ) -> None:
        """Write that the newest turn is over, and why it failed, or which limit ended it, or what is doubtful
        about its answer (`note`)."""
        event = {
            "event": "turn",
            "turn_id": self.record.open_turn,
            "state": "ended",
            "stop_reason": stop_reason,
        }
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
            await off_loop(self._transcript.close)

    async def _write(self, *events: Mapping[str, Any]) -> None:
        # What is on the disk is known here too, even when the writer is cancelled meanwhile: else a
        # result would be written again when the turn is settled.
        await uninterrupted(self._append(*events, take=True))

    async def _append(self, *events: Mapping[str, Any], take: bool) -> None:
        async with self._lock:
            await asyncio.to_thread(self._transcript.append, *events)
            if take:
                self.record.take_all(events)
