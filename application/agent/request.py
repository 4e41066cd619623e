"""What is sent to a model: the system message, earlier turns shortened, the running turn whole.

Where older messages were compressed (`domain/llm/compression.py`), its text stands for them. What then
does not fit into the model's window is left out by tokens, oldest first; of turns that are left out the
user's own words are sent.

Rebuilt from the transcript for every request, so a restart changes nothing. Call and result pairs
are never split, and what is sent begins with a user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from application.agent.attachment_context import Material, with_material
from domain.llm.chat import ModelRoom
from domain.llm.compression import Compression
from domain.llm.context_block import fence_data, system_prompt
from domain.llm.conversation_record import ConversationRecord, Messages
from domain.llm.messages import get_text, is_partial_response, once_each
from domain.llm.pinned_words import users_words
from domain.llm.tokens import PER_MESSAGE, count_tokens
from domain.llm.tools.result import cut_middle

_WORDS = (
    "(A note of the program: earlier turns of this conversation no longer fit and are left out. What the "
    "user said in them, in his own words, still holds unless he has changed it since:)"
)
_PICTURE_TOKENS = 1_000
_LEFT_OUT = "(Results of this turn that no longer fit were left out; read again what you still need.)"
HISTORY_SHARE = 0.6
"""Of a request, for earlier turns, where the running one leaves so much, unless it is set."""
_SHARES_BY_SIZE = ((15_000, HISTORY_SHARE), (128_000, 0.75))
"""The same of requests of at most so many tokens, where nobody has set it."""
_MOST_FOR_TURN = 32_000
"""Tokens that are kept free for the running turn in any larger one."""
_COMPRESSED_SHARE = 0.7
"""Of the room for earlier turns, for what stands in place of messages. A smaller model than it was made for
may have less, and gets the user's words as if nothing had been compressed."""
_FULL, _EMPTIED = 0.6, 0.35
"""How much of that whole turns may have once not all fit, and what is kept when they had more: so that the
beginning of the request, which providers have read already, changes seldom."""
_WORDS_SHARE = 0.35
_LEAST_WORDS = 250
_MARKS = 80
"""Tokens of what says that something was left out."""
_SHORT_RESULT = 240
"""Characters of a result of the running turn that has to make room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What goes to a model."""

    messages: list[BaseMessage]
    tokens: int
    """By our count, without the tools."""
    least: int
    """What of these can't be left out."""
    left_out: int = 0
    """Earlier turns of which only the user's words are sent."""


def request_messages(
    conversation: ConversationRecord,
    *,
    context: str,
    hint: str = "",
    system: SystemMessage | None = None,
    continues: str = "",
    room: ModelRoom | None = None,
    tokens: int | None = None,
    attached: Mapping[str, Material] | None = None,
    most_turns: int | None = None,
    history_share: float = HISTORY_SHARE,
) -> Sent:
    """The messages of the next request.

    `system` is the system message (None: the last resort's); `context` the data blocks for the newest user
    message; `hint` a word of the program to the model, put at the end; `continues` the id of an
    answer that was cut off and is sent exactly as far as it came; `room` the model's (None: nothing is
    known of it); `tokens` how many the messages may have (None: as many as the room has); `attached` what
    goes with the user's messages, by their ids; `most_turns`: so many of the earlier turns at most, and no
    compression of them (None: as many as fit); earlier turns have `history_share` of the room.
    """
    turn = conversation.messages_of_turn()
    earlier: Sequence[BaseMessage] = conversation.earlier_messages
    if most_turns is not None:
        earlier = _last_turns(earlier, most_turns)
    return messages_for(
        turn,
        earlier,
        context=context,
        hint=hint,
        system=system,
        continues=continues,
        room=room,
        tokens=tokens,
        attached=attached,
        history_share=history_share,
        compressions=compressions_of(conversation, earlier) if most_turns is None else (),
    )


def messages_for(
    turn: Sequence[BaseMessage],
    earlier: Sequence[BaseMessage],
    *,
    context: str,
    hint: str = "",
    system: SystemMessage | None = None,
    continues: str = "",
    room: ModelRoom | None = None,
    tokens: int | None = None,
    attached: Mapping[str, Material] | None = None,
    history_share: float = HISTORY_SHARE,
    compressions: Sequence[Compression] = (),
) -> Sent:
    """The same for a turn and those before it, also for a turn that nobody has begun yet."""
    room = room or ModelRoom()
    if attached:
        turn = [with_material(message, attached.get(str(message.id))) for message in turn]
    system = system or SystemMessage(content=system_prompt())
    last = [HumanMessage(content=f"(A note of the program, not of the user: {hint})")] if hint else []
    most = (room.request_tokens if tokens is None else tokens) - tokens_of([system, *last])
    running = _shrunk(
        _running(turn, context, continues), most - (_LEAST_WORDS + _MARKS if earlier else _MARKS)
    )
    history, left_out = earlier_messages(
        earlier,
        room=room,
        tokens=int(min(_share_of(most, history_share), most - tokens_of(running))),
        attached=attached,
        compressions=compressions,
    )
    messages = [system, *history, *running, *last]
    least = tokens_of([system, *running[:1], *last])
    return Sent(messages=messages, tokens=tokens_of(messages), least=least, left_out=left_out)


def with_rule_of_calls(context: str, most: int) -> str:
    """The data blocks for a model that has tools: `most` calls of one answer may do something."""
    rule = (
        "Those of one answer are run in their order; at most "
        f"{most} of them may change or simulate something, reading is not counted."
    )
    return f"{context}\n{fence_data('how calls are run', rule)}"


def earlier_messages(
    earlier: Sequence[BaseMessage],
    *,
    room: ModelRoom,
    tokens: int | None = None,
    attached: Mapping[str, Material] | None = None,
    history_share: float = HISTORY_SHARE,
    compressions: Sequence[Compression] = (),
) -> tuple[list[BaseMessage], int]:
    """What is sent of earlier turns, and of how many of these only the user's words.

    `compressions` are what stands in place of the first of them.
    """
    room_for_all = int(_share_of(room.request_tokens, history_share)) if tokens is None else tokens
    head = [HumanMessage(content=one.text) for one in compressions]
    if (taken := tokens_of(head)) > room_for_all * _COMPRESSED_SHARE:
        head, taken = [], 0
    room_for_all -= taken
    left = behind(earlier, compressions if head else ())
    if attached:
        left = [with_material(message, attached.get(str(message.id))) for message in left]
    turns = _turns_as_sent(left, room)
    first = _first_kept(turns, room_for_all)
    kept = [message for begun, rest in turns[first:] for message in (begun, *rest.as_sent)]
    if not first:
        return [*head, *kept], 0
    texts = [get_text(begun) for begun, _ in turns[:first] if isinstance(begun, HumanMessage)]
    words = users_words(texts, max(int(room_for_all * _WORDS_SHARE), _LEAST_WORDS))
    return [*head, HumanMessage(content=f"{_WORDS}\n{words}"), *kept], first


def compressions_of(
    conversation: ConversationRecord, messages: Sequence[BaseMessage]
) -> tuple[Compression, ...]:
    """What is sent in place of the first of these messages."""
    return conversation.compressions.in_force(str(message.id) for message in reversed(messages))


def behind(messages: Sequence[BaseMessage], compressions: Sequence[Compression]) -> Sequence[BaseMessage]:
    """The messages that no compression stands for: what is sent, so that they are kept as they are."""
    until = compressions[-1].until if compressions else ""
    if isinstance(messages, Messages):
        return messages.kept_behind(until)
    left = list(takewhile(lambda message: not until or message.id != until, reversed(messages)))
    return left[::-1]


@dataclass(frozen=True)
class _Rest:
    """What stands behind the user's message of an earlier turn."""

    most: int
    """Characters that results may have."""
    messages: list[BaseMessage]
    as_sent: list[BaseMessage]

    @cached_property
    def tokens(self) -> int:
        return tokens_of(self.as_sent)

    @cached_property
    def most_tokens(self) -> int:
        return sum(map(_most_tokens, self.as_sent))


def turns_as_sent(messages: Sequence[BaseMessage], room: ModelRoom) -> list[list[BaseMessage]]:
    """Earlier messages turn by turn, whole pairs of call and result, long results cut."""
    return [[first, *rest.as_sent] for first, rest in _turns_as_sent(messages, room)]


def _turns_as_sent(messages: Sequence[BaseMessage], room: ModelRoom) -> list[tuple[BaseMessage, _Rest]]:
    most = room.old_result
    return [(turn[0], _rest_as_sent(turn, most)) for turn in turns_of(messages)]


def _rest_as_sent(turn: list[BaseMessage], most: int) -> _Rest:
    """Of one turn, made anew only when it is another one than at the last request."""
    first, *rest = turn
    kept = _rests(first)
    made = kept[0] if kept else None
    if made is None or made.most != most or made.messages != rest:
        made = _Rest(most, rest, _paired(_shortened(message, most) for message in turn)[1:])
        kept[:] = [made]
    return made


@once_each
def _rests(_first: BaseMessage) -> list[_Rest]:
    """Of the turn that it begins, as it was sent last."""
    return []


def whole_tokens(
    conversation: ConversationRecord, sent: Sent, *, room: ModelRoom, attached: Mapping[str, Material] | None
) -> int:
    """How many tokens `sent` would have had, if nothing had been left out of earlier turns."""
    if not sent.left_out:
        return sent.tokens
    earlier = conversation.earlier_messages
    left = turns_as_sent(behind(earlier, compressions_of(conversation, earlier)), room)[: sent.left_out]
    if attached:
        left = [[with_material(one, attached.get(str(one.id))) for one in turn] for turn in left]
    return sent.tokens + sum(map(tokens_of, left))


def _share_of(most: int, history_share: float) -> float:
    """What earlier turns may have of a request of `most` tokens."""
    if history_share != HISTORY_SHARE:
        return most * history_share
    share = next((share for size, share in _SHARES_BY_SIZE if most < size), None)
    return most - _MOST_FOR_TURN if share is None else most * share


def _first_kept(turns: Sequence[tuple[BaseMessage, _Rest]], tokens: int) -> int:
    """The number of the first turn that is sent whole; it moves in leaps."""
    if sum(_most_tokens(first) + rest.most_tokens for first, rest in turns) <= tokens:
        return 0
    sizes = [_tokens(first) + rest.tokens for first, rest in turns]
    if sum(sizes) <= tokens:
        return 0
    whole = min(int(tokens * _FULL), tokens - _LEAST_WORDS - _MARKS)
    first = total = 0
    for place, size in enumerate(sizes):
        total += size
        if total > whole:
            while first <= place and total > min(whole, tokens * _EMPTIED):
                total -= sizes[first]
                first += 1
    return first


def _shrunk(running: list[BaseMessage], tokens: int) -> list[BaseMessage]:
    """The running turn within `tokens`, as far as its question and its newest step allow it."""
    if sum(map(_most_tokens, running)) <= tokens or tokens_of(running) <= tokens:
        return running
    answers = [place for place, message in enumerate(running) if isinstance(message, AIMessage)]
    newest = answers[-1] if answers else len(running)
    short = [_shortened(message, _SHORT_RESULT) for message in running[1:newest]]
    running = [*running[:1], *short, *running[newest:]]
    begin = 1
    while tokens_of(running) > tokens and begin < newest:  # whole steps, the oldest first
        end = next((place for place in answers if place > begin), newest)
        del running[begin:end]
        answers = [place - (end - begin) for place in answers if place >= end]
        newest -= end - begin
        begin = 1
    if len(running) > 1 and tokens_of(running) > tokens:
        room = max(tokens - tokens_of(running[:1]), 0) // max(len(running) - 1, 1)
        running = [*running[:1], *(_shortened(message, max(int(1.6 * room), 80)) for message in running[1:])]
    question = running[0]
    return [_with_text(question, f"{get_text(question)}\n\n{_LEFT_OUT}"), *running[1:]]


def turns_of(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    """The messages, turn by turn; each begins with the user's."""
    turns: list[list[BaseMessage]] = []
    for message in messages:
        if message.type == "human":
            turns.append([])
        if turns:
            turns[-1].append(message)
    return turns


def _last_turns(messages: Sequence[BaseMessage], most: int) -> Sequence[BaseMessage]:
    """The newest of them, whole turns."""
    starts = (at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage))
    start = next(islice(starts, most - 1, None), None)
    return messages if start is None else messages[start:]


def _running(turn: Sequence[BaseMessage], context: str, continues: str) -> list[BaseMessage]:
    messages = _paired(turn, continues)
    if context and messages and isinstance(messages[0], HumanMessage):
        messages[0] = _with_text(messages[0], f"{context}\n\n{get_text(messages[0])}")
    return messages


def _with_text(message: BaseMessage, text: str) -> BaseMessage:
    """The message with another text; its pictures stay."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
    return message.model_copy(update={"content": [*others, {"type": "text", "text": text}]})


def _paired(messages: Iterable[BaseMessage], continues: str = "") -> list[BaseMessage]:
    """The messages in an order providers accept: each answer followed by the results of its calls.

    A partial answer without calls stays as plain text with a mark; an empty one goes.
    """
    messages = list(messages)
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    ordered: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AIMessage):
            ordered.append(message)
            continue
        answered = [call for call in message.tool_calls if call["id"] in results]
        text = get_text(message)
        if is_partial_response(message) and text and message.id != continues:
            text += "\n(This answer was interrupted here.)"
        is_whole = text == get_text(message) and len(answered) == len(message.tool_calls)
        if text or answered:
            changed = {"content": text, "tool_calls": answered}
            ordered.append(message if is_whole else message.model_copy(update=changed))
            ordered.extend(results[str(call["id"])] for call in answered)
    return ordered


def _shortened(message: BaseMessage, most: int) -> BaseMessage:
    """A message with results and long arguments of calls cut to head and tail."""
    if isinstance(message, ToolMessage):
        text = get_text(message)
        return (
            message if len(text) <= most else message.model_copy(update={"content": cut_middle(text, most)})
        )
    if isinstance(message, AIMessage) and any(_has_long_text(call, most) for call in message.tool_calls):
        calls = [
            {
                **call,
                "args": {
                    name: cut_middle(value, most) if isinstance(value, str) else value
                    for name, value in call["args"].items()
                },
            }
            for call in message.tool_calls
        ]
        return message.model_copy(update={"tool_calls": calls})
    return message


def _has_long_text(call: ToolCall, most: int) -> bool:
    return any(isinstance(value, str) and len(value) > most for value in call["args"].values())


def tokens_of(messages: Iterable[BaseMessage]) -> int:
    """About how many tokens messages have, with their calls and pictures."""
    return sum(map(_tokens, messages))


@once_each
def _tokens(message: BaseMessage) -> int:
    calls = count_tokens(_calls(message))
    return count_tokens(get_text(message)) + calls + _picture_tokens(message) + PER_MESSAGE


@once_each
def _most_tokens(message: BaseMessage) -> int:
    """No text has more tokens than characters."""
    return len(get_text(message)) + len(_calls(message)) + _picture_tokens(message) + PER_MESSAGE


def _calls(message: BaseMessage) -> str:
    return str([call["args"] for call in message.tool_calls]) if isinstance(message, AIMessage) else ""


def _picture_tokens(message: BaseMessage) -> int:
    if isinstance(message.content, str):
        return 0
    return sum(
        _PICTURE_TOKENS for part in message.content if isinstance(part, dict) and part.get("type") == "image"
    )
