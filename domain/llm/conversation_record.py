"""What a conversation holds, as the lines of its transcript tell it: messages, newest turn, questions asked.

Pure: it takes one event of the transcript after the other; another writes them (`agent/conversation.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, cast, overload

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from domain.llm.chat import WebSource
from domain.llm.compression import Compressions
from domain.llm.costs import Cost
from domain.llm.messages import (
    dict_to_message,
    get_attachments,
    get_call_problems,
    get_cost,
    get_program_step,
    get_provider_ids,
    get_seen_versions,
    get_text,
    get_timestamp,
    get_usage,
    is_partial_response,
)
from domain.llm.tools.confirmation_card import (
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    answers_from_plain,
    card_from_plain,
)
from domain.llm.tools.result import ToolCall
from domain.llm.transcript import Branches, begins_design, design_left_open, message_id_of, role_of
from domain.llm.web_search import WEB_SEARCH, sources_of_result
from shared.errors import UserInputError
from shared.message import msg

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class UnfinishedAnswer:
    """An answer of which pieces came, but not its end."""

    message_id: str
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)


class _Kept:
    """A message. One of an earlier turn is only its line, until somebody asks for it."""

    __slots__ = ("_event", "_made")

    def __init__(self, event: Mapping[str, Any], made: BaseMessage) -> None:
        self._event = event
        self._made: BaseMessage | None = made

    def once(self) -> BaseMessage:
        return self._made if self._made is not None else dict_to_message(self._event["message"])

    def __call__(self) -> BaseMessage:
        self._made = made = self.once()
        return made

    def rest(self) -> None:
        self._made = None


class Messages(Sequence[BaseMessage]):
    """Messages of a conversation that may be longer than what is ever sent of it: who walks through them has
    those of earlier turns one after the other; one that is taken by its place is kept."""

    def __init__(self, kept: Sequence[_Kept]) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[BaseMessage]:
        return (each.once() for each in self._kept)

    def __reversed__(self) -> Iterator[BaseMessage]:
        return (each.once() for each in reversed(self._kept))

    @overload
    def __getitem__(self, at: int) -> BaseMessage: ...
    @overload
    def __getitem__(self, at: slice) -> Messages: ...
    def __getitem__(self, at: int | slice) -> BaseMessage | Messages:
        return Messages(self._kept[at]) if isinstance(at, slice) else self._kept[at]()

    def kept_behind(self, until: str) -> list[BaseMessage]:
        """Those behind the one with this id ("": all of them), kept."""
        left: list[BaseMessage] = []
        for each in reversed(self._kept):
            message = each()
            if until and message.id == until:
                break
            left.append(message)
        return left[::-1]


class ConversationRecord:
    """One conversation, read. Nothing of it is set but by `take`, `take_all` and `take_piece`.

    It is as it stands now: what was replaced by another version (`branches.Branches`) is not in it, but for
    what that cost.
    """

    def __init__(self, session_id: str = "") -> None:
        self.session_id = session_id
        self._branches = Branches()
        self.replaced_answers: dict[str, AIMessage] = {}
        """Answers that do not stand any more, by their ids: they were paid for all the same."""
        self.seen_versions: dict[str, str] = {}
        """Relative path -> version hash of the files the model has read or written."""
        self.shown_versions: dict[str, str] = {}
        """The same of those that were shown to it with a message since."""
        self._begin()

    def _begin(self) -> None:
        """Nothing was read yet; who holds `seen_versions` and `shown_versions` sees them empty."""
        self.seen_versions.clear()
        self.shown_versions.clear()
        self.name = ""
        self.work_mode = "free_work"
        """"workflow" from its first design on."""
        self.name_is_default = True
        """Nobody, neither user nor program, has given it a name of its own yet."""
        self.compressions = Compressions()
        """What is sent in place of its older messages."""
        self._messages: dict[str, _Kept] = {}
        self._spent_earlier = Cost(), 0
        """What the answers before the newest turn took, and their tokens."""
        self._of_user: dict[str, str | None] = {}
        """What stands in his messages, by their ids; None: the program said it in his place."""
        self._of_step: dict[str, list[str]] = {}
        """Ids of the messages of a design's step, in its several goes."""
        self._has_attachments = False
        self._results: dict[str, _Kept] = {}
        self._unfinished: dict[str, UnfinishedAnswer] = {}

        self._turn = ""
        self.open_design = ""
        """Id of the design that was begun and not ended; chats may have been led since."""
        self.is_in_design = False
        """Whether the newest turn is a step of a design, and not of a chat."""
        self._planned: set[str] = set()
        """Calls a design carries out by its own steps."""
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

    @property
    def messages(self) -> Messages:
        """All finished messages, in order."""
        return Messages(tuple(self._messages.values()))

    def spent(self, with_answer: AIMessage | None = None) -> tuple[Cost, int]:
        """What all answers took, replaced ones too, and their tokens; one of the newest turn `with_answer` in
        its newest form."""
        of_turn = {str(each.id): each for each in self.messages_of_turn() if isinstance(each, AIMessage)}
        if with_answer is not None:
            of_turn[str(with_answer.id)] = with_answer
        cost, tokens = _spent((*self.replaced_answers.values(), *of_turn.values()))
        return self._spent_earlier[0] + cost, self._spent_earlier[1] + tokens

    def replaced_calls(self) -> frozenset[str]:
        """Our ids of the calls of answers that do not stand any more."""
        answers = self.replaced_answers.values()
        return frozenset(str(call["id"]) for answer in answers for call in answer.tool_calls)

    def said(self, *, before: str = "") -> list[str]:
        """What the user said, oldest first; not what the program tells a model in his place.

        `before`: only what stands before this message (its id).
        """
        until = takewhile(before.__ne__, self._of_user) if before else self._of_user
        return [text for each in until if (text := self._of_user[each]) is not None]

    @property
    def open_turn(self) -> str:
        """Id of the turn that was begun and not ended (its user message's id), or ""."""
        return self._turn

    @property
    def last_answered(self) -> str:
        """When the model last answered in an earlier turn (ISO 8601, UTC); "" when it never did."""
        earlier = reversed(self.earlier_messages)
        answers = (get_timestamp(message) for message in earlier if isinstance(message, AIMessage))
        return next(answers, "")

    @property
    def earlier_messages(self) -> Messages:
        """Those before the newest turn."""
        return self.messages[: len(self._messages) - len(self._ids_of_turn)]

    def messages_of_turn(self) -> Sequence[BaseMessage]:
        """The messages of the newest turn, its user message first."""
        return tuple(self._messages[message_id]() for message_id in self._ids_of_turn)

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
    def has_attachments(self) -> bool:
        """Whether a message of the user's came with files or pictures."""
        return self._has_attachments

    def messages_of_step(self, step: str) -> list[BaseMessage]:
        """What was said and done in a design's step, be it in several goes with chats between them."""
        return [self._messages[message_id]() for message_id in self._of_step.get(step, ())]

    def sources_of_turn(self) -> tuple[WebSource, ...]:
        """The pages that web searches of the newest turn have found, each once, in their numbers' order."""
        found: dict[str, WebSource] = {}
        for message in self.messages_of_turn():
            if isinstance(message, ToolMessage) and message.name == WEB_SEARCH:
                for source in sources_of_result(message.additional_kwargs.get("result")):
                    found.setdefault(source.url, source)
        return tuple(found.values())

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
        kept = self._messages.get(message_id)
        message = None if kept is None else kept()
        return message if isinstance(message, AIMessage) else None

    def result_of(self, call_id: str) -> ToolMessage | None:
        kept = self._results.get(call_id)
        return None if kept is None else cast("ToolMessage", kept())

    def call(self, call_id: str) -> ToolCall | None:
        """The call under our own id, in the newest turn."""
        return next((call for call in self._calls_of_turn() if call.call_id == call_id), None)

    def place_in_answer(self, call_id: str, counts: Callable[[str], bool]) -> int:
        """The place of a call among those calls of its answer whose tool `counts`, from 0."""
        for message in self.messages_of_turn():
            if isinstance(message, AIMessage):
                counted = [call["id"] for call in message.tool_calls if counts(call["name"])]
                if call_id in counted:
                    return counted.index(call_id)
        return 0

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest turn without a result, in order; those planned by a design are its own."""
        return tuple(
            call
            for call in self._calls_of_turn()
            if call.call_id not in self._results and call.call_id not in self._planned
        )

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

    @property
    def unfinished(self) -> Sequence[UnfinishedAnswer]:
        """Answers of which pieces came, but not their end."""
        return tuple(self._unfinished.values())

    def drop_unfinished(self, message_id: str) -> None:
        """Of this answer nothing more is to be kept."""
        self._unfinished.pop(message_id, None)

    def take_piece(self, message_id: str, *, text: str, reasoning: str) -> None:
        """A piece of a streaming answer."""
        answer = self._unfinished.setdefault(message_id, UnfinishedAnswer(message_id))
        answer.text.append(text)
        answer.reasoning.append(reasoning)

    def take_all(self, events: Sequence[Mapping[str, Any]]) -> None:
        """The transcript's next lines."""
        known = len(self._branches.paths)
        followed = list(map(self._branches.take, events))
        if any(followed):
            self._keep_replaced(self._branches.paths[known:])
            self._begin()
            events = self._branches.events
        for event in events:
            if message_id_of(event) not in self._branches.gone:
                self._follow(event)

    def take(self, event: Mapping[str, Any]) -> None:
        """The transcript's next line."""
        self.take_all((event,))

    def _keep_replaced(self, paths: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        """The answers that stood on these paths and do not stand now, each as it was last."""
        for path in paths:
            last = {
                message_id: event["message"]
                for event in path
                if event.get("event") in ("message", "replaced")
                and (message_id := message_id_of(event)) in self._branches.gone
            }
            for message_id, plain in last.items():
                if message_id not in self.replaced_answers and role_of(plain) == "assistant":
                    answer = dict_to_message(plain)
                    if isinstance(answer, AIMessage):
                        self.replaced_answers[message_id] = answer

    def refuse_to_replace(self, message_id: str) -> None:
        """Raise UserInputError where a message can't be said anew in its place: it is none of the user's that
        stands ("no_message"), or a design begins with or behind it ("design_behind")."""
        at = self._branches.start_of(message_id)
        if at is None:
            raise UserInputError(
                msg("This message is not in the conversation any more."),
                advice=msg("Open the conversation again to see what is in it."),
                error_type="no_message",
            )
        if any(begins_design(event) or "update" in event for event in self._branches.events[at:]):
            raise UserInputError(
                msg("A design begins at or after this message, and its rounds cannot be replaced."),
                advice=msg("Send the changed message in a new conversation."),
                error_type="design_behind",
            )

    def _follow(self, event: Mapping[str, Any]) -> None:
        self.compressions.take(event)
        match event.get("event"):
            case "session":
                self.name = str(event.get("name", ""))
                self.work_mode = str(event.get("work_mode", "free_work"))
            case "renamed":
                self.name, self.name_is_default = str(event.get("name", "")), False
            case "message" | "replaced":
                message = dict_to_message(event["message"])
                self._take_message(_Kept(event, message), message, str(event.get("step", "")))
                if "update" in event and isinstance(message, AIMessage):
                    self._planned.update(str(call["id"]) for call in message.tool_calls)
            case "delta":
                message_id = str(event.get("message_id", ""))
                known = self._messages.get(message_id)
                if known is None or is_partial_response(known.once()):
                    text, reasoning = str(event.get("text", "")), str(event.get("reasoning", ""))
                    self.take_piece(message_id, text=text, reasoning=reasoning)
            case "turn":
                is_start = event.get("state") == "started"
                self.work_mode = "workflow" if begins_design(event) else self.work_mode
                self._turn = str(event.get("turn_id", "")) if is_start else ""
                before, self.open_design = self.open_design, design_left_open(self.open_design, event)
                self.is_in_design = self.is_in_design or (is_start and self.open_design != before)
                self.last_end = "" if is_start else str(event.get("stop_reason", ""))
                self._open_card = ""
            case "seen":
                versions = event.get("versions")
                if isinstance(versions, dict):
                    self.shown_versions.update({str(place): str(each) for place, each in versions.items()})
            case "confirmation":
                self._take_confirmation(event)
            case "adopted":
                # Whatever another installation had under way or was allowed counts for nothing here.
                self._turn, self.last_end, self._open_card = "", "adopted", ""
                self.open_design = ""
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

    def _take_message(self, kept: _Kept, message: BaseMessage, step: str) -> None:
        message_id = str(message.id)
        if isinstance(message, HumanMessage) and message_id not in self._messages:
            self._let_rest()
            self._ids_of_turn, self._accepted, self._asked = [], set(), 0
            is_said_in_design = bool(self.open_design) and step.startswith(f"{self.open_design}/")
            self.is_in_design = is_said_in_design or bool(get_program_step(message))
            self._turn = message_id  # also when the line that says so was lost in a power cut
        if message_id not in self._messages:
            self._ids_of_turn.append(message_id)
            first = self._messages.get(self._ids_of_turn[0])
            if of_step := get_program_step(message if first is None else first()):
                self._of_step.setdefault(of_step, []).append(message_id)
        is_earlier = message_id not in self._ids_of_turn
        self._messages[message_id] = kept
        if is_earlier:  # a design's, behind which a chat was led
            self._spent_earlier = _spent(self.earlier_messages)
        if isinstance(message, HumanMessage):
            self._has_attachments |= bool(get_attachments(message))
            self._of_user[message_id] = None if get_program_step(message) else get_text(message)
        self._unfinished.pop(message_id, None)
        if step and isinstance(message, AIMessage):
            self._asked += 1
            self._accepted.add(message_id)
        if isinstance(message, ToolMessage):
            self._results[message.tool_call_id] = kept
            for place, version in get_seen_versions(message).items():
                self.seen_versions[place] = version
                self.shown_versions.pop(place, None)  # an older one

    def _let_rest(self) -> None:
        """The newest turn is an earlier one from now on."""
        cost, tokens = _spent(self.messages_of_turn())
        self._spent_earlier = self._spent_earlier[0] + cost, self._spent_earlier[1] + tokens
        for message_id in self._ids_of_turn:
            self._messages[message_id].rest()

    def _calls_of_turn(self) -> Sequence[ToolCall]:
        return [
            call
            for message in self.messages_of_turn()
            if isinstance(message, AIMessage)
            for call in calls_of(message)
        ]


def _spent(messages: Iterable[BaseMessage]) -> tuple[Cost, int]:
    """What the answers among these took, and their tokens."""
    cost, tokens = Cost(), 0
    for message in messages:
        if isinstance(message, AIMessage):
            cost += get_cost(message)
            tokens += usage.total_tokens if (usage := get_usage(message)) is not None else 0
    return cost, tokens


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
