"""What a conversation's events amount to: its messages in order, and the line a list shows.

Works on the plain JSON events of a transcript, without LangChain, so that quick commands can use it.
Events: ``session`` (the header), ``message``, ``delta`` (a piece of an answer that is streaming),
``replaced`` (the message of that id from now on), ``seen`` (files a model was shown), ``renamed``, ``turn``,
``goals`` (how a circuit's goals stood: `goals_shown`),
``damaged`` (a line of the file that could not be read), ``shortened`` (here lines are missing that were once
written); others are kept in the file and ignored here.

Versions in the linear transcript: a user's ``message`` with ``instead_of``, the id of an earlier one, takes
that one's place: it and all that was said behind it is a version of before, and what is sent goes on behind
the new one. Nothing is removed from the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self, get_args

from shared.errors import UserInputError
from shared.message import Message, msg
from shared.safe_json import join_surrogates
from shared.tasks import StopReason
from shared.ulid import milliseconds_of

WorkMode = Literal["free_work", "workflow"]
Json = Mapping[str, Any]

SHORTENED = "shortened"
INTERRUPTED = "interrupted"
"""Stop reason of an answer whose pieces are there and whose end never came."""
FROM_OUTSIDE = {INTERRUPTED, *get_args(StopReason)} - {"error"}
"""Stop reasons of turns that were broken off, and not by what they met."""

PREVIEW_LENGTH = 50
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"} | {
    name: name for name in ("system", "tool")
}


def is_ulid(text: str) -> bool:
    """Whether `text` is a ULID in its canonical (upper case) form."""
    return _ULID.fullmatch(text) is not None


def time_of_ulid(ulid: str) -> str:
    """When a ULID was made, ISO 8601 UTC; "" when that is no date (or `ulid` no ULID)."""
    try:
        made = datetime.fromtimestamp(milliseconds_of(ulid) / 1000, UTC) if is_ulid(ulid) else None
    except (ValueError, OverflowError):  # a ULID reaches to the year 10889
        made = None
    return made.isoformat(timespec="milliseconds") if made else ""


def default_name(created_at: str) -> str:
    """The name a conversation has before anybody names it, in local time."""
    try:
        return f"Chat {datetime.fromisoformat(created_at).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return "Chat"


# --- one message as plain JSON ----------------------------------------------------------------------


def role_of(message: Json) -> str:
    """user, assistant, system, tool; program: told to the model in the user's place; "" for anything else."""
    if "program" in extra_of(message):
        return "program"
    kind = message.get("type", message.get("role"))
    return _ROLES.get(kind, "") if isinstance(kind, str) else ""


def text_of(message: Json) -> str:
    """The message's text; of a content in parts, its text parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(_text_of_part(part) for part in parts)


def _text_of_part(part: object) -> str:
    if isinstance(part, dict):
        part = part.get("text") if part.get("type", "text") == "text" else ""
    return part if isinstance(part, str) else ""


def extra_of(message: Json) -> Json:
    """Its `additional_kwargs`."""
    extra = message.get("additional_kwargs")
    return extra if isinstance(extra, dict) else {}


# --- the messages -----------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Entry:
    """One message of a conversation as it stands now."""

    message: Json
    earlier: list[Json] = field(default_factory=list)
    """What it was before it was replaced, oldest first."""


@dataclass(slots=True, kw_only=True)
class _Streaming:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)


def entries_of(events: Iterable[Json]) -> list[Entry]:
    """The messages in order, each in its latest version.

    A message stands where its first piece came. Pieces after its last version belong to it: an
    answer whose end never came is a partial one, stop reason "interrupted".
    """
    entries: dict[str, Entry] = {}
    streaming: dict[str, _Streaming] = {}
    for number, event in enumerate(events):
        kind = event.get("event")
        if kind == "delta":
            message_id = event["message_id"]
            if message_id not in entries:
                entries[message_id] = Entry(message=_begun(message_id))
            pieces = streaming.setdefault(message_id, _Streaming())
            pieces.text.append(event.get("text") or "")
            pieces.reasoning.append(event.get("reasoning") or "")
        elif kind in ("message", "replaced"):
            message = event["message"]
            message_id = message_id_of(event) or f"#{number}"
            known = entries.get(message_id)
            streaming.pop(message_id, None)
            if known is None:
                entries[message_id] = Entry(message=message)
                continue
            if not (_is_begun(known.message) or known.message == message or _goes_on(known.message, message)):
                known.earlier.append(known.message)
            known.message = message
    for message_id, pieces in streaming.items():
        entries[message_id].message = _with_pieces(entries[message_id].message, pieces)
    return list(entries.values())


def messages_of(events: Iterable[Json]) -> list[Json]:
    """The messages in order, in the JSON form of domain.llm.messages; see `entries_of`."""
    return [entry.message for entry in entries_of(events)]


def has_open_turn(events: Iterable[Json]) -> bool:
    """Whether the newest turn was begun and never ended."""
    is_open = False
    for event in events:
        match event.get("event"):
            case "turn":
                is_open = event.get("state") == "started"
            case "adopted":
                is_open = False
            case "message" if role_of(event.get("message") or {}) == "user":
                is_open = True  # the line that says so may have been lost in a power cut
            case _:
                pass
    return is_open


def design_left_open(design: str, event: Json) -> str:
    """Which design waits to go on behind this line; `design` did before it, "" = none.

    A turn of a chat, led while the design waits, leaves it as it is.
    """
    if event.get("event") == "adopted":
        return ""
    if event.get("event") != "turn":
        return design
    turn_id = str(event.get("turn_id", ""))
    if event.get("state") == "started":
        return turn_id if begins_design(event) else design
    return "" if turn_id == design else design


def begins_design(event: Json) -> bool:
    """Whether a line begins a design."""
    is_start = event.get("event") == "turn" and event.get("state") == "started"
    return is_start and isinstance(event.get("design"), Mapping)


def chat_thread(session_id: str) -> str:
    """The thread of the checkpoints of chats that are led in a design's conversation."""
    return f"{session_id}/chat"


def last_end(events: Iterable[Json]) -> str:
    """Why the newest turn ended (its `stop_reason`); "" while it is open, and where there is none."""
    reason = ""
    for event in events:
        if event.get("event") == "adopted":
            reason = "adopted"
        elif event.get("event") == "turn":
            reason = str(event.get("stop_reason", "")) if event.get("state") == "ended" else ""
    return reason


def can_go_on(stop_reason: str) -> bool:
    """Whether a turn that ended so has not come to its end: it failed, was stopped, or reached a limit.

    What another installation left open was ended when the user adopted it.
    """
    return stop_reason not in ("", "completed", "content_filter", "adopted")


def _begun(message_id: str) -> dict[str, Any]:
    return {"id": message_id, "type": "assistant", "content": "", "additional_kwargs": {"begun": True}}


def _is_begun(message: Json) -> bool:
    """Whether nothing is known of the message but that it began."""
    return extra_of(message).get("begun") is True


def _goes_on(old: Json, new: Json) -> bool:
    """Whether the new version is the old one, which had been cut off, with more behind it."""
    return extra_of(old).get("is_partial") is True and text_of(new).startswith(text_of(old))


def _with_pieces(message: Json, pieces: _Streaming) -> dict[str, Any]:
    """The message as far as it came, marked."""
    extra = {key: item for key, item in extra_of(message).items() if key != "begun"}
    extra.setdefault("timestamp", time_of_ulid(str(message.get("id"))))
    before = extra.get("reasoning_content")
    reasoning = join_surrogates("".join([before if isinstance(before, str) else "", *pieces.reasoning]))
    if reasoning:
        extra["reasoning_content"] = reasoning
    extra |= {"is_partial": True, "stop_reason": INTERRUPTED}
    text = join_surrogates("".join([text_of(message), *pieces.text]))
    return {**message, "content": text, "additional_kwargs": extra}


def message_id_of(event: Json) -> str:
    """The id of the message an event is about; "" for one about none."""
    named = event.get("message_id")
    if event.get("event") == "message" or not isinstance(named, str):
        message = event.get("message")
        named = message.get("id") if isinstance(message, Mapping) else ""
    return named if isinstance(named, str) else ""


def replaced_by(event: Json) -> str:
    """The id of the message whose place the user's message of this line takes; "" for every other line."""
    named = event.get("instead_of")
    is_users = event.get("event") == "message" and role_of(event.get("message") or {}) == "user"
    return named if is_users and isinstance(named, str) else ""


# --- the line of a list -----------------------------------------------------------------------------


class NeedsWholeTranscript(Exception):
    """An event concerns an earlier message, so that it can't be counted without the others."""


@dataclass(slots=True, kw_only=True)
class Summary:
    """What a list shows of a conversation, kept up event by event.

    With `seen` it has followed the transcript from its beginning. Without, it was stored and goes on
    from there: it then takes only events whose message id is newer than all before.
    """

    session_id: str
    name: str = ""
    named_by: Literal["default", "auto", "user"] = "default"
    work_mode: WorkMode = "free_work"
    created_at: str = ""
    updated_at: str = ""
    message_count: int = 0
    preview: str = ""
    newest_id: str = ""
    """The greatest message id so far."""
    last_answer_id: str = ""
    turn_open: bool = False
    design_open: str = ""
    """Id of the design that was begun and not ended; chats may have been led since."""
    last_answer_partial: bool = False
    streaming: list[str] = field(default_factory=list)
    """Answers of which only pieces came."""
    seen: dict[str, int | None] | None = None
    """Ids of the messages that stand, in order; with those of the user how many stood before them."""
    gone: set[str] = field(default_factory=set)
    """Ids of messages that were replaced (`branches.Branches`)."""

    def __post_init__(self) -> None:
        self.created_at = self.created_at or time_of_ulid(self.session_id)
        self.updated_at = self.updated_at or self.created_at
        self.name = self.name or default_name(self.created_at)

    @classmethod
    def of(cls, session_id: str, events: Iterable[Json]) -> Summary:
        """The summary of a whole transcript."""
        summary = cls(session_id=session_id, seen={})
        for event in events:
            summary.add(event)
        return summary

    @property
    def has_partial_response(self) -> bool:
        """Whether the last turn was interrupted."""
        return bool(self.turn_open or self.design_open or self.last_answer_partial or self.streaming)

    def add(self, event: Json) -> None:
        """Follow one more event. Raises NeedsWholeTranscript only without `seen`."""
        if message_id_of(event) in self.gone:
            return
        match event.get("event"):
            case "session":
                self._take_header(event)
            case "renamed":
                self._rename(event)
            case "turn":
                self.turn_open = event.get("state") == "started"
                self.design_open = design_left_open(self.design_open, event)
                if begins_design(event):  # also in a conversation that was a chat so far
                    self.work_mode = "workflow"
                if self.turn_open:  # what the turn before left open is no matter of this one
                    self.streaming, self.last_answer_partial = [], False
            case "adopted":
                self.turn_open, self.streaming, self.last_answer_partial = False, [], False
                self.design_open = ""
            case "delta":
                self._take_piece(event["message_id"])
            case "message" | "replaced":
                self._replace(replaced_by(event), message_id_of(event))
                self._take_message(message_id_of(event), event["message"])
        self.updated_at = utc(event.get("timestamp")) or self.updated_at

    def _replace(self, old: str, new: str) -> None:
        """The user's message `new` takes the place of `old` and of all behind it."""
        if not old:
            return
        if self.seen is None:
            raise NeedsWholeTranscript
        count = self.seen.get(old)
        if count is None or new in self.seen:
            return
        ids = list(self.seen)
        self.gone.update(left := ids[ids.index(old) :])
        for each in left:
            del self.seen[each]
        self.message_count, self.streaming, self.last_answer_partial = count, [], False
        self.preview = self.preview if count else ""

    def _take_header(self, event: Json) -> None:
        self.created_at = utc(event.get("created_at")) or self.created_at
        self.updated_at = self.created_at
        if event.get("work_mode") == "workflow":
            self.work_mode = "workflow"
        name = event.get("name")
        self.name = name if isinstance(name, str) and name.strip() else default_name(self.created_at)

    def _rename(self, event: Json) -> None:
        by: Literal["auto", "user"] = "auto" if event.get("by") == "auto" else "user"
        if by == "user" or self.named_by == "default":  # an automatic title comes once, over no other
            self.name, self.named_by = event["name"], by

    def _take_piece(self, message_id: str) -> None:
        if message_id in self.streaming:
            return
        if self._is_new(message_id):
            self.message_count += 1
            self.last_answer_id = message_id
        self.streaming.append(message_id)

    def _take_message(self, message_id: str, message: Json) -> None:
        role = role_of(message)
        if message_id in self.streaming:
            self.streaming.remove(message_id)
        elif self._is_new(message_id, is_users=role == "user"):
            self.message_count += role in ("user", "assistant")
            self.last_answer_id = message_id if role == "assistant" else self.last_answer_id
        if role == "assistant" and message_id == self.last_answer_id:
            self.last_answer_partial = extra_of(message).get("is_partial") is True
        if role == "user" and not self.preview:
            self.preview = " ".join(text_of(message).split())[:PREVIEW_LENGTH]
        self.updated_at = utc(extra_of(message).get("timestamp")) or self.updated_at

    def _is_new(self, message_id: str, *, is_users: bool = False) -> bool:
        """Whether no event before this one was about this message."""
        if self.seen is None:
            if not is_ulid(message_id) or message_id <= self.newest_id:
                raise NeedsWholeTranscript
        elif message_id in self.seen:
            return False
        elif message_id:
            self.seen[message_id] = self.message_count if is_users else None
        self.newest_id = max(self.newest_id, message_id)
        return True


def utc(timestamp: object) -> str:
    """An ISO 8601 time in UTC with milliseconds, so that times sort as text; "" for anything else."""
    if not isinstance(timestamp, str):
        return ""
    try:
        moment = datetime.fromisoformat(timestamp)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return ""


def nothing_to_resume() -> UserInputError:
    """What is said when no turn waits to be taken up."""
    return UserInputError(
        msg("There is no interrupted turn to continue."),
        advice=msg("Send a message: chat PROJECT TEXT --session ID."),
        error_type="nothing_to_resume",
    )


def problems_of(events: Iterable[Json]) -> tuple[Message, ...]:
    """What of a conversation's file could not be read, or is missing."""
    found = []
    for event in events:
        if event.get("event") == "damaged":
            line = event.get("line")
            found.append(msg("Line {line} of the transcript is damaged and was skipped.", line=line))
        elif event.get("event") == SHORTENED:
            found.append(
                msg("The end of this conversation is missing: it was longer when it was last written here.")
            )
    return tuple(found)


def no_session(reference: str) -> UserInputError:
    return UserInputError(
        msg("There is no conversation {id}.", id=reference),
        advice=msg("List the conversations of the project to see their ids."),
        error_type="no_session",
    )


_OF_THE_WHOLE = frozenset(
    {"session", "renamed", "adopted", "compressed", "compression_restored", "goals", "damaged", SHORTENED}
)
"""Lines that count in every version. A summary stands for messages before it, goals stand behind one: whether
these are there is asked where it is sent, or shown."""


class Branches:
    """A transcript, followed line by line."""

    def __init__(self, events: Iterable[Json] = ()) -> None:
        self.events: list[Json] = []
        """The lines that stand now."""
        self.paths: list[tuple[Json, ...]] = []
        """The lines that stood before each replacement, the oldest first."""
        self.gone: set[str] = set()
        """Ids of messages that were replaced, or stood behind one that was."""
        self.replaced: dict[str, str] = {}
        """For messages of the user that took the place of another: that one's id."""
        self._places: dict[str, list[str]] = {}
        self._starts: dict[str, int] = {}
        """Where in `events` each message of the user stands, in order."""
        for event in events:
            self.take(event)

    @classmethod
    def of(cls, events: Iterable[Json]) -> Self:
        return cls(events)

    def take(self, event: Json) -> bool:
        """Follow the next line; whether earlier ones do not stand any more because of it.

        What does not name a message of the user's that stands replaces nothing.
        """
        message_id = message_id_of(event)
        if message_id in self.gone:
            return False  # what comes late of an answer that was replaced
        is_users = event.get("event") == "message" and role_of(event["message"]) == "user"
        is_new = is_users and bool(message_id) and message_id not in self._starts
        start = self._starts.get(replaced_by(event)) if is_new else None
        if start is not None:
            self._cut(start, replaced_by(event), message_id)
        if is_new:
            self._starts[message_id] = len(self.events)
        self.events.append(event)
        return start is not None

    def _cut(self, start: int, old: str, new: str) -> None:
        self.paths.append(tuple(self.events))
        left = self.events[start:]
        del self.events[start:]
        self.events += [event for event in left if event.get("event") in _OF_THE_WHOLE]
        self.gone.update(filter(None, map(message_id_of, left)))
        self._starts = {key: at for key, at in self._starts.items() if at < start}
        place = self._places.setdefault(old, [old])
        place.append(new)
        self.replaced[new] = old
        self._places[new] = place

    def start_of(self, message_id: str) -> int | None:
        """Where in `events` a message of the user stands; None for one that does not."""
        return self._starts.get(message_id)

    def versions_of(self, message_id: str) -> tuple[str, ...]:
        """The ids of all versions of the user's message at its place, the oldest first."""
        return tuple(self._places.get(message_id, (message_id,)))

    def path_with(self, message_id: str) -> tuple[Json, ...]:
        """The lines that stood when the conversation last had this message; what stands now if nobody
        knows it."""
        if message_id in self.gone:
            for path in reversed(self.paths):
                if any(message_id_of(event) == message_id for event in path):
                    return path
        return tuple(self.events)


def branch_of(events: Iterable[Json]) -> list[Json]:
    """The lines of a transcript that stand now."""
    return Branches.of(events).events


_OF_A_CHAT = frozenset(
    {"message", "delta", "replaced", "seen", "turn", "confirmation", "adopted", "compressed"}
    | {"compression_restored", "goals"}
)


def branched(events: Iterable[Json], at: str = "") -> list[Json]:
    """The lines with which another conversation begins that goes on from here: what stands now, without
    versions of before. Of designs what was said and done stays; what they wait for does not: a checkpoint
    is answered once.

    `at` a message of the user's: with what stood before it alone; at an answer: up to it, with what the tools
    answered that it called. It may be one of a version of before. Raises LookupError for one nobody knows.
    """
    branches = Branches.of(events)
    lines: Iterable[Json] = _up_to(branches.path_with(at), at) if at else branches.events
    designs = {event.get("turn_id") for event in lines if begins_design(event)}
    return [
        {key: value for key, value in event.items() if key not in ("update", "instead_of")}
        for event in lines
        if event.get("event") in _OF_A_CHAT
        and not (event.get("event") == "turn" and event.get("turn_id") in designs)
    ]


def _up_to(events: Iterable[Json], at: str) -> list[Json]:
    """The lines of the messages up to `at`, and those that were written before the next message came."""
    events = list(events)
    entries = [entry.message for entry in entries_of(events)]
    ids = [message.get("id") for message in entries]
    if at not in ids:
        raise LookupError(at)
    place = ids.index(at)
    end = place + (role_of(entries[place]) != "user")
    while place < end < len(entries) and role_of(entries[end]) == "tool":
        end += 1
    left = {str(message.get("id")) for message in entries[end:]}
    kept = list[Json]()
    is_behind = False
    for event in events:
        message_id = message_id_of(event)
        is_behind = is_behind or message_id in left
        if event.get("event") == "goals":
            if event.get("after") not in left:
                kept.append(event)
        elif message_id not in left and (message_id or not is_behind):
            kept.append(event)
    turn = next((event for event in reversed(kept) if event.get("event") == "turn"), {})
    if turn.get("state") == "started" and not begins_design(turn):  # the rest of it is left out
        kept.append(
            {"event": "turn", "turn_id": turn.get("turn_id"), "state": "ended", "stop_reason": "completed"}
        )
    return kept
