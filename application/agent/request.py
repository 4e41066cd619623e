"""What is sent to a model: the system message, earlier turns shortened, the running turn whole.

Rebuilt from the transcript for every request, so a restart changes nothing. Call and result pairs
are never split, and what is sent begins with a user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from application.agent.attachment_context import Material, with_material
from domain.llm.conversation_record import ConversationRecord
from domain.llm.messages import get_text, is_partial_response
from domain.llm.system_prompt import system_prompt
from domain.llm.tools.result import cut_middle

OLD_RESULT_LIMIT = 600
"""Characters of a tool result, and of a text argument of a call, in earlier turns."""
_LEFT_OUT = "Earlier messages of this conversation were left out because they did not fit."
HISTORY_LIMIT = 120_000
"""Characters of earlier turns; the oldest turns beyond it are left out whole."""


def request_messages(
    conversation: ConversationRecord,
    *,
    context: str,
    hint: str = "",
    system: SystemMessage | None = None,
    continues: str = "",
    newest: int | None = None,
    attached: Mapping[str, Material] | None = None,
) -> list[BaseMessage]:
    """The messages of the next request.

    `system` is the system message (None: the last resort's); `context` the data blocks for the newest user
    message; `hint` a word of the program to the model, put at the end; `continues` the id of an
    answer that was cut off and is sent exactly as far as it came; `newest` how many of the newest messages
    are sent at most (the turn's question always is, and what belongs to a call that is); `attached` what goes
    with the user's messages, by their ids.
    """
    turn = conversation.messages_of_turn()
    earlier = conversation.messages[: len(conversation.messages) - len(turn)]
    if attached:
        turn = [with_material(message, attached.get(str(message.id))) for message in turn]
    messages: list[BaseMessage] = [system or SystemMessage(content=system_prompt())]
    history, _ = earlier_messages(earlier, attached=attached)
    running = _running(turn, context, continues)
    if newest is not None:
        history, running = _newest(history, running, newest)
        hint = f"{_LEFT_OUT} {hint}".strip()
    messages += history + running
    if hint:
        messages.append(HumanMessage(content=f"(A note of the program, not of the user: {hint})"))
    return messages


def earlier_messages(
    earlier: Sequence[BaseMessage], *, attached: Mapping[str, Material] | None = None
) -> tuple[list[BaseMessage], int]:
    """What is sent of earlier turns, and how many of these turns are left out for their length."""
    if attached:
        earlier = [with_material(message, attached.get(str(message.id))) for message in earlier]
    turns = _turns(earlier)
    kept: list[list[BaseMessage]] = []
    room = HISTORY_LIMIT
    for turn in reversed(turns):
        sent = _paired(map(_shortened, turn))
        room -= sum(map(_size, sent))
        if room < 0:
            break
        kept.append(sent)
    return [message for turn in reversed(kept) for message in turn], len(turns) - len(kept)


def _newest(
    history: list[BaseMessage], running: list[BaseMessage], count: int
) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """The newest messages of both; what begins is a user's message, and no result is without its call."""
    if len(running) > count:
        begin = max(len(running) - count + 1, 1)
        while begin > 1 and isinstance(running[begin], ToolMessage):
            begin -= 1
        return [], running[:1] + running[begin:]
    kept = history[len(history) - min(count - len(running), len(history)) :]
    begins = (at for at, message in enumerate(kept) if isinstance(message, HumanMessage))
    return kept[next(begins, len(kept)) :], running


def _turns(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    turns: list[list[BaseMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append([])
        if turns:
            turns[-1].append(message)
    return turns


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


def _shortened(message: BaseMessage) -> BaseMessage:
    """A message of an earlier turn: results and long arguments cut to head and tail."""
    if isinstance(message, ToolMessage):
        text = get_text(message)
        if len(text) <= OLD_RESULT_LIMIT:
            return message
        return message.model_copy(update={"content": cut_middle(text, OLD_RESULT_LIMIT)})
    if isinstance(message, AIMessage) and any(map(_has_long_text, message.tool_calls)):
        calls = [
            {
                **call,
                "args": {
                    name: cut_middle(value, OLD_RESULT_LIMIT) if isinstance(value, str) else value
                    for name, value in call["args"].items()
                },
            }
            for call in message.tool_calls
        ]
        return message.model_copy(update={"tool_calls": calls})
    return message


def _has_long_text(call: ToolCall) -> bool:
    return any(isinstance(value, str) and len(value) > OLD_RESULT_LIMIT for value in call["args"].values())


def _size(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return len(get_text(message)) + sum(len(str(call["args"])) for call in calls)
