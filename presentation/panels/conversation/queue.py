"""Messages that wait for the end of a run: sent one by one, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from presentation.panels.conversation.items import AttachedItem
from shared.message import Message, msg
from shared.ulid import new_ulid

MOST_QUEUED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """One of them."""

    key: str
    text: str
    attached: tuple[AttachedItem, ...] = ()


class MessageQueue:
    """Those of one conversation; `changed` is called behind each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._entries: tuple[QueuedMessage, ...] = ()
        self.edited = ""
        """The key of the one that is being edited: nothing is sent meanwhile."""
        self.is_held = False
        """A run ended with an error: what waits is sent when its user says so."""

    @property
    def entries(self) -> tuple[QueuedMessage, ...]:
        return self._entries

    @property
    def text(self) -> str:
        """All of it, a message below the other."""
        return "\n".join(entry.text for entry in self._entries)

    @property
    def is_free(self) -> bool:
        """Whether the first may be sent by itself."""
        return bool(self._entries) and not (self.edited or self.is_held)

    def add(self, text: str, attached: tuple[AttachedItem, ...], *, running: str) -> Message | None:
        """One more at the end, or why not; `running` is the text that is being answered."""
        if len(self._entries) >= MOST_QUEUED:
            return msg("At most {most} messages can wait.", most=MOST_QUEUED)
        if not attached and text == running:
            return msg("This message is being answered just now.")
        if any(entry.text == text and entry.attached == attached for entry in self._entries):
            return msg("This message is waiting already.")
        self._put((*self._entries, QueuedMessage(key=new_ulid(), text=text, attached=attached)))
        return None

    def edit(self, key: str) -> None:
        """Begin to change one ("" = no more)."""
        self.edited = key if any(entry.key == key for entry in self._entries) else ""
        self._changed()

    def keep(self, key: str, text: str) -> None:
        """Its new text; an empty one removes it."""
        if self.edited == key:
            self.edited = ""
        text = text.strip()
        if text:
            self._put(tuple(replace(e, text=text) if e.key == key else e for e in self._entries))
        else:
            self.remove(key)

    def move(self, key: str, by: int) -> None:
        """That many places back (below 0: forward), as far as there is room."""
        entries = list(self._entries)
        place = next((number for number, entry in enumerate(entries) if entry.key == key), None)
        if place is not None:
            entries.insert(max(place + by, 0), entries.pop(place))
            self._put(tuple(entries))

    def remove(self, key: str) -> None:
        self.edited = "" if self.edited == key else self.edited
        self._put(tuple(entry for entry in self._entries if entry.key != key))

    def hold(self) -> None:
        self.is_held = bool(self._entries)

    def take_first(self) -> QueuedMessage | None:
        """The next; none waits any more for a word of the user."""
        if not self._entries:
            return None
        first, rest = self._entries[0], self._entries[1:]
        self.is_held = False
        self.edited = "" if self.edited == first.key else self.edited
        self._put(rest)
        return first

    def take_all(self) -> tuple[QueuedMessage, ...]:
        taken, self.edited, self.is_held = self._entries, "", False
        self._put(())
        return taken

    def _put(self, entries: tuple[QueuedMessage, ...]) -> None:
        self._entries = entries
        self.is_held = self.is_held and bool(entries)
        self._changed()
