"""A stored conversation as it is shown: messages, cards, ends and costs, read from its transcript."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from application.conversation.goals_shown import GoalsNow, goals_in
from application.design.story import StoryStep, story_of
from domain.llm.chat import ProviderChoice
from domain.llm.compression import Compression, compression_of
from domain.llm.costs import AnswerUse, Cost, cost_in, total, uses_of
from domain.llm.tools.confirmation_card import Answers, ConfirmationCard, answers_from_plain, card_from_plain
from domain.llm.tools.result import duration_in, result_path_in
from domain.llm.transcript import (
    FROM_OUTSIDE,
    Branches,
    Entry,
    Json,
    Summary,
    entries_of,
    extra_of,
    message_id_of,
    messages_of,
    problems_of,
    role_of,
    text_of,
    time_of_ulid,
    utc,
)
from domain.llm.turn_failure import TurnFailure, TurnLimit, failure_from_plain
from shared.message import Message, message_from_plain, msg
from shared.safe_json import for_display

_log = logging.getLogger(__name__)

"""Of a simulation; a figure beyond that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A tool call of an answer."""

    id: str
    name: str
    arguments: Any
    success: bool | None
    """None when it has no result: it did not run, or the run was cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """One message as it stands, with everything worth showing."""

    id: str
    role: str
    text: str
    created: str
    partial: bool
    stop_reason: str
    """Of a partial answer; "interrupted" when the program was killed while it came."""
    reasoning: str
    tool_calls: tuple[ShownCall, ...]
    operations: tuple[str, ...]
    attachments: tuple[Json, ...]
    sources: tuple[Json, ...]
    usage: Json | None
    cost: Cost
    """Of an answer."""
    model: str
    earlier: tuple[str, ...]
    """Texts of versions that were replaced by another answer (not merely gone on with)."""
    instead_of: str = ""
    """Of a message of the user: id of the one whose place it took."""
    is_replaced: bool = False
    """It does not stand any more: a message of the user was sent again in another version."""
    name: str
    """Of a tool's answer: the tool, the call it answers, how it went, the line for the user."""
    call_id: str
    success: bool | None
    error_type: str
    summary: Json
    duration_s: float | None
    """Of a tool's answer: how long the simulator ran, where that was written down."""
    result_path: str = ""
    """Of a simulation: where its result is, relative to the project (it may be a stranger's word)."""
    file_path: str = ""
    """Of a design's own simulation: of which circuit, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCard:
    """A question about calls of an answer, and what the user said to it."""

    card: ConfirmationCard
    answers: Answers
    """By call, as far as they were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCompression:
    """Older messages that a summary stands for in what is sent."""

    compression: Compression
    after: str
    """Id of the message behind which it was done; "" = before all."""
    is_in_force: bool
    """It was not taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line of what happened beside the messages (`session_marks`)."""

    after: str
    """The message behind which it stands; "" = before all."""
    kind: str
    """permission, goals, checkpoint, failure, limit, note, stop; of an imported one what its file says."""
    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSession:
    """One conversation, read whole."""

    id: str
    name: str
    work_mode: str
    created_at: str
    updated_at: str
    has_partial_response: bool
    messages: tuple[ShownMessage, ...]
    problems: tuple[Message, ...]
    """Lines of the transcript that could not be read."""
    is_ours: bool = True
    """This installation wrote, or the user adopted, all of it; else it is history to be read."""
    is_in_use: bool = False
    """Another process works on it just now."""
    cards: tuple[ShownCard, ...] = ()
    """Questions about calls, in their order."""
    failures: Mapping[str, TurnFailure] = field(default_factory=dict)
    """Why turns failed, by the id of their user's message."""
    limits: Mapping[str, TurnLimit] = field(default_factory=dict)
    """Which limits ended turns, likewise."""
    notes: Mapping[str, Message] = field(default_factory=dict)
    """What is doubtful about the answers of turns, or which goals they lost, likewise."""
    stops: Mapping[str, str] = field(default_factory=dict)
    """Why turns of chats were broken off from outside: "user", "interrupted" ..., likewise."""
    design: tuple[StoryStep, ...] = ()
    """What steps of designs told beside their words."""
    uses: Mapping[str, AnswerUse] = field(default_factory=dict)
    """What answers took, by their ids; those that were replaced too."""
    cost: Cost = field(default_factory=Cost)
    """What all answers and summaries cost, those that were replaced or taken back too."""
    history: tuple[ShownMessage, ...] = ()
    """All messages in the order in which they came, with those that were replaced."""
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For messages of the user that have more than one version: the ids of all, the oldest first."""
    compressions: tuple[ShownCompression, ...] = ()
    """In their order."""
    goals: tuple[GoalsNow, ...] = ()
    """Of circuits, as they stood when the user asked."""
    marks: tuple[Mark, ...] = ()
    """Of an imported conversation: what its file tells beside the messages."""
    is_chat_newest: bool = False
    """What was said last was said in a chat, and not to a design."""
    is_chat_open: bool = False
    """That chat's turn was begun and not ended."""

    @property
    def is_led_as_chat(self) -> bool:
        """Whether its newest turn is a chat's, so that the ways on from there are those of a chat."""
        return self.work_mode != "workflow" or self.is_chat_newest


def shown(
    session_id: str,
    events: Sequence[Json],
    *,
    own: Sequence[ProviderChoice] = (),
    is_ours: bool = True,
    version: str = "",
) -> ShownSession:
    """A conversation's events as what is shown of it.

    `own`: the models the user has set up, of which stored failures may offer one. Of a conversation that
    is not ours nothing can be done: neither failures with their offers, nor open questions. `version`: the
    id of a message that was replaced, to see the conversation as it was when it last had this message; with
    that nothing can be done either.
    """
    summary = Summary.of(session_id, events)
    branches = Branches.of(events)
    every = entries_of(events)
    uses = uses_in(branches)
    spent = total((*map(_cost_of, every), *(one.cost for one in map(compression_of, events) if one)))
    problems = problems_of(events)
    events = branches.path_with(version) if version else branches.events
    is_ours = is_ours and version not in branches.gone
    success_of = {
        call_id: entry.message.get("status") != "error"
        for entry in every
        if role_of(entry.message) == "tool" and isinstance(call_id := entry.message.get("tool_call_id"), str)
    }

    def show(entry: Entry) -> ShownMessage:
        message = _shown_message(entry, success_of)
        was = branches.replaced.get(message.id, "")
        is_replaced = message.id in branches.gone
        return replace(message, instead_of=was, is_replaced=is_replaced) if was or is_replaced else message

    history = tuple(map(show, every))
    is_whole = not (version or branches.gone)
    return ShownSession(
        id=session_id,
        name=summary.name,
        work_mode=summary.work_mode,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
        has_partial_response=summary.has_partial_response,
        is_ours=is_ours,
        messages=history if is_whole else tuple(map(show, entries_of(events))),
        history=history,
        versions={
            message_id: branches.versions_of(message_id)
            for entry in every
            if len(branches.versions_of(message_id := _text(entry.message.get("id")))) > 1
        },
        problems=problems,
        cards=_cards(events),
        failures=_failures(events, own if is_ours else ()),
        limits=_limits(events),
        notes=_notes(events),
        stops=_stops(events),
        compressions=_compressions(events),
        goals=goals_in(events),
        marks=_marks(events),
        design=_story(events, own if is_ours else ()) if summary.work_mode == "workflow" else (),
        uses=uses,
        cost=spent,
        **_newest_chat(events),
    )


def uses_in(branches: Branches) -> Mapping[str, AnswerUse]:
    """What all answers took, in their order; each judged beside those that were sent with it."""
    paths = (*branches.paths, branches.events)
    told = [use for path in paths for use in uses_of(messages_of(path))]
    return {use.message_id: use for use in told}


def _cost_of(entry: Entry) -> Cost:
    return cost_in(extra_of(entry.message)) if role_of(entry.message) == "assistant" else Cost()


def _newest_chat(events: Sequence[Json]) -> dict[str, bool]:
    is_chat = is_open = False
    for event in events:
        if event.get("event") == "turn" and event.get("state") == "started":
            is_chat = is_open = not isinstance(event.get("design"), Mapping)
        elif event.get("event") in ("turn", "adopted"):
            is_open = False
        elif "update" in event:  # a step of a design that was taken up again
            is_chat = is_open = False
    return {"is_chat_newest": is_chat, "is_chat_open": is_open}


def _compressions(events: Sequence[Json]) -> tuple[ShownCompression, ...]:
    """Those of which every message stands."""
    found: dict[str, ShownCompression] = {}
    after, stand = "", {"", *map(message_id_of, events)}
    for event in events:
        kind = event.get("event")
        if kind == "compressed" and event.get("until") not in stand:
            continue
        if kind == "message":
            after = _text(event["message"].get("id"))
        elif kind == "compressed" and (one := compression_of(event)) is not None:
            shown = ShownCompression(compression=one, after=after, is_in_force=True)
            found[one.compression_id] = shown
        elif kind == "compression_restored" and (known := found.get(_text(event.get("compression_id")))):
            found[known.compression.compression_id] = replace(known, is_in_force=False)
        elif kind == "adopted":
            found = {key: replace(each, is_in_force=False) for key, each in found.items()}
    return tuple(found.values())


def _cards(events: Sequence[Json]) -> tuple[ShownCard, ...]:
    """What can be read of the questions; a line of another version is left out."""
    cards: dict[str, ShownCard] = {}
    for event in events:
        if event.get("event") != "confirmation":
            continue
        try:
            if event.get("state") == "asked":
                card = card_from_plain(event["card"])
                cards[card.card_id] = ShownCard(card=card, answers={})
            elif (asked := cards.get(_text(event.get("card_id")))) is not None:
                cards[asked.card.card_id] = replace(asked, answers=answers_from_plain(event["answers"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            _log.warning("A line about a confirmation is not shown: %r", error)
    return tuple(cards.values())


def _ends(events: Sequence[Json]) -> Mapping[str, Json]:
    """The last end of each turn: one may go on after an end."""
    ends = [event for event in events if event.get("event") == "turn" and event.get("state") == "ended"]
    return {_text(event.get("turn_id")): event for event in ends}


def _story(events: Sequence[Json], own: Sequence[ProviderChoice]) -> tuple[StoryStep, ...]:
    """The designs; of their failures' models likewise those the user has set up himself."""
    return tuple(
        replace(step, failure=replace(failure, offers=_set_up(failure.offers, own)))
        if (failure := step.failure) is not None
        else step
        for step in story_of(events)
    )


def _failures(events: Sequence[Json], own: Sequence[ProviderChoice]) -> Mapping[str, TurnFailure]:
    """Why turns of chats failed; of the models they name those the user has set up, as he has set them up."""
    designs = _designs(events)
    read = {
        turn_id: failure_from_plain(event.get("failure"))
        for turn_id, event in _ends(events).items()
        if turn_id not in designs
    }
    return {
        turn_id: replace(failure, offers=_set_up(failure.offers, own))
        for turn_id, failure in read.items()
        if failure is not None
    }


def _designs(events: Sequence[Json]) -> set[str]:
    """Turns that are designs."""
    return {_text(event.get("turn_id")) for event in events if isinstance(event.get("design"), Mapping)}


def _marks(events: Sequence[Json]) -> tuple[Mark, ...]:
    told = next((event.get("marks") for event in events if event.get("event") == "imported"), None)
    return tuple(
        Mark(after=_text(each.get("after")), kind=_text(each.get("kind")), text=msg("{text}", text=text))
        for each in (told if isinstance(told, list) else ())
        if isinstance(each, Mapping) and (text := _text(each.get("text")))
    )


def _stops(events: Sequence[Json]) -> Mapping[str, str]:
    designs = _designs(events)
    return {
        turn_id: reason
        for turn_id, event in _ends(events).items()
        if turn_id not in designs and (reason := _text(event.get("stop_reason"))) in FROM_OUTSIDE
    }


def _set_up(offers: Sequence[ProviderChoice], own: Sequence[ProviderChoice]) -> tuple[ProviderChoice, ...]:
    names = {(choice.provider, choice.model): choice for choice in reversed(own)}
    return tuple(names[key] for offer in offers if (key := (offer.provider, offer.model)) in names)


def _limits(events: Sequence[Json]) -> Mapping[str, TurnLimit]:
    return {
        turn_id: TurnLimit(stop_reason=_text(event.get("stop_reason")), note=note)
        for turn_id, event in _ends(events).items()
        if (note := message_from_plain(event.get("note"))) is not None
        and event.get("stop_reason") != "completed"
    }


def _notes(events: Sequence[Json]) -> Mapping[str, Message]:
    return {
        turn_id: note
        for turn_id, event in _ends(events).items()
        if (note := message_from_plain(event.get("note"))) is not None
        and event.get("stop_reason") == "completed"
    }


def _shown_message(entry: Entry, success_of: Mapping[str, bool]) -> ShownMessage:
    message = entry.message
    extra, role, text = extra_of(message), role_of(message), text_of(message)
    message_id = _text(message.get("id"))
    partial = extra.get("is_partial") is True
    usage, summary = for_display(extra.get("usage")), for_display(extra.get("summary"))
    return ShownMessage(
        id=message_id,
        role=role,
        text=text,
        created=utc(extra.get("timestamp")) or time_of_ulid(message_id),
        partial=partial,
        stop_reason=_text(extra.get("stop_reason")) if partial else "",
        reasoning=_text(extra.get("reasoning_content")),
        tool_calls=tuple(_calls(message, success_of)) if role == "assistant" else (),
        operations=tuple(item for item in _items(extra.get("operations")) if isinstance(item, str)),
        attachments=_objects(for_display(extra.get("attachments"))),
        sources=_objects(for_display(extra.get("web_search_results"))),
        usage=usage if isinstance(usage, dict) else None,
        cost=cost_in(extra) if role == "assistant" else Cost(),
        model=_text(extra.get("model")),
        earlier=_other_versions(entry, text),
        name=_text(message.get("name")),
        call_id=_text(message.get("tool_call_id")),
        success=message.get("status") != "error" if role == "tool" else None,
        error_type=_text(extra.get("error_type")),
        summary=summary if isinstance(summary, dict) else {},
        duration_s=duration_in(extra.get("result")),
        result_path=result_path_in(extra.get("result")),
        file_path=result_path_in(extra.get("result"), "file_path"),
    )


def _calls(message: Json, success_of: Mapping[str, bool]) -> Iterator[ShownCall]:
    stored = (*_objects(message.get("tool_calls")), *_objects(message.get("invalid_tool_calls")))
    for call in stored:
        call_id = _text(call.get("id"))
        yield ShownCall(
            id=call_id,
            name=_text(call.get("name")),
            arguments=for_display(call.get("args")),
            success=success_of.get(call_id),
        )


def _other_versions(entry: Entry, text: str) -> tuple[str, ...]:
    """Texts that are not merely the beginning of what stands now, in order, each once."""
    texts = (text_of(message) for message in entry.earlier)
    return tuple(dict.fromkeys(earlier for earlier in texts if not text.startswith(earlier)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: object) -> tuple[Json, ...]:
    return tuple(item for item in _items(value) if isinstance(item, dict))
