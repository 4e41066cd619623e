"""Puts the pieces of streamed tool calls together, whatever a server does to index, id and name.

The rule. A piece belongs to the call with its index; without an index to the call with its id; with
neither to the call that was touched last.

- A different id together with a name opens a new call on the same index; a new id without a name
  continues the call there (the first id stays).
- A name that is repeated is ignored. Name pieces are joined only when the first was no known tool
  and the joined name is one.
- Arguments may be text in pieces or a whole object; an empty object sent first as a place-holder and a
  whole text sent again are not joined to what follows.
- Ids are passed on as they came, "" when there was none (or one of thousands of characters); they may repeat.
- A name space before a known tool's name, and what a model's template left behind it, are cut off.

One refinement settles what would otherwise be broken for certain: whether a named piece opens a call or
goes on with one is also judged by its arguments. Text that does not begin an object cannot begin a
call's arguments; an object after a complete one cannot go on with them.

The arguments are not parsed here: text that is no JSON is the model's mistake and goes back to it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from domain.llm.chat import WireToolCall
from shared.message import one_line

_LOOSE_PIECES = 500
_MOST_DIGITS = 9
"""Of an index that came as text."""
_LONGEST_ID, _LONGEST_NAME = 1_000, 200
"""Characters. What is longer would be stored, shown and sent again with every request."""


class TooManyCalls(ValueError):
    """More calls in one answer than `MOST_CALLS_OF_ANSWER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One entry of `tool_calls`, read tolerantly."""

    index: int | None
    id: str
    name: str
    text: str
    """Of the arguments; an object is dumped."""
    is_object: bool

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> _Piece:
        function = entry.get("function")
        source = function if isinstance(function, Mapping) else entry
        arguments = source.get("arguments")
        is_text = arguments is None or isinstance(arguments, str)
        return cls(
            index=_index(entry.get("index")),
            id=_text(entry.get("id")),
            name=_text(source.get("name")).strip(),
            text=arguments or "" if is_text else json.dumps(arguments, ensure_ascii=False),
            is_object=isinstance(arguments, Mapping | list),
        )

    @property
    def has_arguments(self) -> bool:
        return bool(self.text)

    @property
    def begins_object(self) -> bool:
        return self.text.lstrip().startswith("{")


class GrowingText:
    """A text that comes in pieces of a few characters, kept in little more room than it takes itself."""

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []
        self._joined = 0
        """Of the parts: those that are many pieces, joined."""

    def add(self, piece: str) -> None:
        self._parts.append(piece)
        if len(self._parts) - self._joined > _LOOSE_PIECES:
            self._parts[self._joined :] = ["".join(self._parts[self._joined :])]
            self._joined += 1

    def ends_with(self, ending: str) -> bool:
        """Whether its last piece ends so, white space aside."""
        return bool(self._parts) and self._parts[-1].rstrip().endswith(ending)

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
            self._joined = 1
        return self._parts[0] if self._parts else ""


@dataclass(slots=True, kw_only=True, eq=False)
class _OpenCall:
    """A call that may still grow."""

    index: int | None
    id: str
    names: list[str] = field(default_factory=list)
    is_named_again: bool = False
    """Its name came once more, without arguments, after it was complete."""
    _text: GrowingText = field(default_factory=GrowingText)
    _size: int = 0
    _is_object: bool = False
    """The arguments came as an object, so they are complete."""

    @property
    def arguments(self) -> str:
        return str(self._text)

    @property
    def has_arguments(self) -> bool:
        return self._size > 0

    def add(self, piece: _Piece) -> None:
        """Add a piece of text, or set the arguments to an object."""
        if piece.is_object or (self.is_placeholder() and piece.begins_object):
            self._text, self._size = GrowingText(piece.text), len(piece.text)
            self._is_object = piece.is_object
        elif piece.text and not self._is_repeated_by(piece.text):
            self._text.add(piece.text)
            self._size += len(piece.text)

    def is_complete(self) -> bool:
        """Whether the arguments are a whole JSON object by now."""
        if self._is_object:
            return True
        return self._text.ends_with("}") and is_json_object(self.arguments)

    def is_placeholder(self) -> bool:
        """Whether they are an empty object, which some servers send before the real one."""
        return 0 < self._size < 8 and self.arguments.strip() in {"{}", "{ }"}

    def _is_repeated_by(self, text: str) -> bool:
        return len(text) == self._size and text == self.arguments and self.is_complete()


class ToolCallAccumulator:
    """The tool calls of one answer. `known_tools`: names that were offered to the model.

    What takes a piece raises TooManyCalls.
    """

    def __init__(self, known_tools: Collection[str] = ()) -> None:
        self._known = frozenset(known_tools)
        self._longest = max(map(len, self._known), default=0)
        self._calls: list[_OpenCall] = []
        self.size = 0
        """Characters of the names and arguments that have come."""
        self._last: _OpenCall | None = None
        self._legacy: _OpenCall | None = None

    def add_delta(self, delta: Mapping[str, Any]) -> bool:
        """Take `tool_calls` (or the older `function_call`) of a delta; whether there was any."""
        touched: list[_OpenCall] = []
        for entry in _entries(delta.get("tool_calls")):
            touched.append(self._add_entry(entry, touched))
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping) and legacy:
            self._add_legacy(legacy)
        return bool(touched) or (isinstance(legacy, Mapping) and bool(legacy))

    def add_message(self, message: Mapping[str, Any]) -> bool:
        """Take the complete calls of an answer that was not streamed; whether there was any."""
        entries = list(_entries(message.get("tool_calls")))
        for entry in entries:
            piece = _Piece.read(entry)
            self._fill(self._open(piece), piece)
        legacy = message.get("function_call")
        if not entries and isinstance(legacy, Mapping) and legacy:
            self._add_legacy(legacy)
        return bool(self._calls) or self._legacy is not None

    def calls(self) -> tuple[WireToolCall, ...]:
        """All calls, in the order in which they were opened."""
        # Servers that still send the older form send it beside the new one.
        calls = self._calls or ([self._legacy] if self._legacy is not None else [])
        found = (
            WireToolCall(
                provider_id=call.id if len(call.id) <= _LONGEST_ID else "",
                name=_fit(self._name_of(call)),
                arguments=call.arguments,
            )
            for call in calls
        )
        return tuple(call for call in found if call.name or call.arguments.strip())

    def _add_entry(self, entry: Mapping[str, Any], touched: list[_OpenCall]) -> _OpenCall:
        piece = _Piece.read(entry)
        call = self._matching(piece)
        if call is None or self._is_beginning(piece, call, is_touched=call in touched):
            call = self._open(piece)
            # The same tool again, named in a piece before its arguments.
            if not piece.name and self._last is not None and self._last.is_named_again:
                call.names.append(self._last.names[-1])
        elif piece.name and not piece.has_arguments and call.is_complete():
            call.is_named_again = True
        if call.index is None:
            call.index = piece.index
        self._fill(call, piece)
        return call

    def _matching(self, piece: _Piece) -> _OpenCall | None:
        """The call a piece belongs to by index, id or order."""
        if piece.index is not None:
            here = [call for call in self._calls if call.index == piece.index]
            same_id = [call for call in here if piece.id and call.id == piece.id]
            if found := same_id or here:
                return found[-1]
            return self._late(piece)
        same_id = [call for call in self._calls if piece.id and call.id == piece.id]
        if same_id:
            return same_id[-1]
        return None if piece.id and piece.name else self._last

    def _late(self, piece: _Piece) -> _OpenCall | None:
        """The last call, when it was opened without an index and this piece has its first one."""
        last = self._last
        if last is None or last.index is not None:
            return None
        is_same = piece.id == last.id if piece.id else not piece.name
        return last if is_same else None

    def _is_beginning(self, piece: _Piece, call: _OpenCall, *, is_touched: bool) -> bool:
        """Whether a piece that matches `call` is the beginning of another one."""
        if not piece.name:
            return call.is_named_again and piece.begins_object and call.is_complete()
        is_repeated = piece.name == call.names[0] if call.names else False
        if piece.id and call.id and piece.id != call.id:
            goes_on = piece.has_arguments and not piece.begins_object
            return not (goes_on and is_repeated and call.has_arguments and not call.is_complete())
        if is_touched:  # two entries of one delta are two calls
            return True
        if call.has_arguments and not is_repeated and piece.name in self._known:
            return True
        # With the same id the whole call may be sent again, or after a place-holder.
        is_same = piece.id and (call.is_placeholder() or piece.text == call.arguments)
        return piece.begins_object and not is_same and call.is_complete()

    def _open(self, piece: _Piece) -> _OpenCall:
        if len(self._calls) >= MOST_CALLS_OF_ANSWER:
            raise TooManyCalls
        call = _OpenCall(index=piece.index, id=piece.id)
        self._calls.append(call)
        return call

    def _fill(self, call: _OpenCall, piece: _Piece) -> None:
        call.id = call.id or piece.id
        self.size += len(piece.name) + len(piece.text)
        if piece.name:
            call.names.append(piece.name)
        if piece.has_arguments:
            call.add(piece)
            call.is_named_again = False
        self._last = call

    def _add_legacy(self, entry: Mapping[str, Any]) -> None:
        piece = _Piece.read(entry)
        if self._legacy is None:
            self._legacy = _OpenCall(index=None, id="")
        self.size += len(piece.name) + len(piece.text)
        if piece.name:
            self._legacy.names.append(piece.name)
        self._legacy.add(piece)

    def _name_of(self, call: _OpenCall) -> str:
        if not call.names or call.names[0] in self._known:
            return call.names[0] if call.names else ""
        joined = ""
        for piece in call.names:
            joined += piece
            if joined in self._known:
                return joined
            if len(joined) > self._longest:
                break
        return self._without_wrapping(call.names[0])

    def _without_wrapping(self, name: str) -> str:
        """A known tool's name out of one with a name space before it or a model's marks behind it.

        ``functions.read_file`` and ``read_file<|channel|>commentary`` are what templates leave over.
        """
        bare = name.partition("<|")[0].rpartition(".")[2].strip()
        return bare if bare in self._known else name


def _fit(name: str) -> str:
    """A name as it can be shown and stored; no tool has one that this changes."""
    name = one_line(name[: _LONGEST_NAME + 1])
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        value = [value]
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping) and entry)


def _index(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def is_json_object(text: str) -> bool:
    """Whether `text` is one whole JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
