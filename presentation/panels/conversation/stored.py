"""A stored conversation as the items it is shown by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from application.ports.project import ABSENT, FOLDER
from presentation.panels.conversation.items import (
    AnswerText,
    CardState,
    Interrupted,
    Item,
    Note,
    OperationCard,
    SimulationCard,
    UserText,
    card_of,
)
from presentation.panels.conversation.netlist_card import cards_of
from shared.message import Message

if TYPE_CHECKING:
    from application.conversation.sessions import ShownMessage, ShownSession
    from application.project.undoing import OperationEntry


def items_of(session: ShownSession, operations: Iterable[OperationEntry]) -> tuple[Item, ...]:
    """The items of a conversation, in order; `operations` are those of the project."""
    items: dict[str, Item] = {}
    for number, message in enumerate(session.messages):
        is_last = number == len(session.messages) - 1
        for item in _items_of_message(message, session, is_last=is_last):
            items[item.key] = item
        if message.role == "tool" and (card := items.get(message.call_id)) is not None:
            items[card.key] = _with_result(card, message)
    if session.has_partial_response and not any(isinstance(item, Interrupted) for item in items.values()):
        items["open"] = Interrupted(
            key="open",
            reason="interrupted",
            not_run=_not_run(session.messages),
            can_regenerate=session.work_mode != "workflow",
        )
    elif session.messages and session.messages[-1].role == "user" and session.work_mode != "workflow":
        items["unanswered"] = Interrupted(key="unanswered", reason="unanswered")
    for number, problem in enumerate(session.problems):
        items[f"problem-{number}"] = Note(key=f"problem-{number}", text=problem)
    return _with_operations(items, tuple(operations))


def context_tokens_of(session: ShownSession) -> int:
    """What the last counted answer filled of its model's window; 0 when nobody counted."""
    for message in reversed(session.messages):
        if message.role == "assistant" and message.usage:
            counts = (message.usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
            return sum(count for count in counts if isinstance(count, int) and count > 0)
    return 0


def _items_of_message(message: ShownMessage, session: ShownSession, *, is_last: bool) -> Iterator[Item]:
    if message.role == "user":
        yield UserText(key=message.id, text=message.text, created=message.created)
    if message.role != "assistant":
        return
    if message.text or message.reasoning:
        yield AnswerText(
            key=message.id,
            text=message.text,
            reasoning=message.reasoning,
            model=message.model,
            created=message.created,
        )
    if not message.partial:
        yield from cards_of(message.id, message.text)
    for call in message.tool_calls:
        arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
        state: CardState = "not_run" if call.success is None else "done" if call.success else "failed"
        yield replace(card_of(call.id, call.name, arguments), state=state)
    if message.partial:
        yield Interrupted(
            key=f"{message.id}-interrupted",
            reason=message.stop_reason or "interrupted",
            created=message.created,
            characters=len(message.text),
            not_run=tuple(call.name for call in message.tool_calls if call.success is None),
            can_continue=is_last and session.has_partial_response,
            can_regenerate=session.work_mode != "workflow",
        )


def _not_run(messages: Iterable[ShownMessage]) -> tuple[str, ...]:
    calls = [call for message in messages for call in message.tool_calls if call.success is None]
    return tuple(call.name for call in calls)


def _with_result(card: Item, message: ShownMessage) -> Item:
    template, params = message.summary.get("template"), message.summary.get("params")
    if not isinstance(card, OperationCard | SimulationCard) or not isinstance(template, str):
        return card
    return replace(card, summary=Message(template, params if isinstance(params, Mapping) else {}))


def _with_operations(items: dict[str, Item], operations: tuple[OperationEntry, ...]) -> tuple[Item, ...]:
    by_id = {entry.record.op_id: entry for entry in operations}
    undone_by = {entry.record.undoes: entry.record.op_id for entry in operations if entry.record.undoes}
    for key, entry in by_id.items():
        card = items.get(key)
        if isinstance(card, OperationCard):
            items[key] = with_operation(card, entry, undone_by)
    return tuple(items.values())


def with_operation(card: OperationCard, entry: OperationEntry, undone_by: Mapping[str, str]) -> OperationCard:
    """A card with what its operation changed, and whether that stands.

    `undone_by`: for an operation the one that took it back.
    """
    record = entry.record
    if record.kind != "file" or record.state not in ("done", "undone"):
        return replace(card, path=card.path or record.path)
    tip, steps = record.op_id, 0
    while tip in undone_by and steps <= len(undone_by):
        tip, steps = undone_by[tip], steps + 1
    changed = any(change.before != change.after for change in record.changes)
    return replace(
        card,
        path=record.path,
        diff=entry.diff,
        is_new_file=record.before_sha256 == ABSENT and not record.further and record.after_sha256 != FOLDER,
        standing="none" if not changed else "undone" if steps % 2 else "stands",
        tip=tip,
    )


_DEFAULT_NAME = re.compile(r"Chat \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")


def title_of(name: str, first_words: str) -> str:
    """A conversation's name for people; one that has only its default name is known by its first words."""
    title = first_words if first_words.strip() and _DEFAULT_NAME.fullmatch(name) else name
    return " ".join(title.split())
