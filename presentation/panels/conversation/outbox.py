"""What was written in a conversation and is in no transcript yet.

The draft with its files, the messages that wait for the end of a run, and the one said last until it is
written. What can't be sent stands in the input again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple

from presentation.panels.conversation.items import (
    AttachedItem,
    ErrorBlock,
    Interrupted,
    Item,
    ItemList,
    UserText,
)
from presentation.panels.conversation.pending import Pending, Place
from presentation.panels.conversation.queue import MessageQueue, QueuedMessage
from shared.message import Message


class _Said(NamedTuple):
    """What was said last, as long as it is in no transcript."""

    message: UserText
    settled: tuple[Item, ...]
    """As they were before it: marks and errors that it has settled."""
    is_version: bool
    """It is to take the place of another, which is shown again where it can't (`Versions.end_run`)."""


class Outbox:
    """Of one conversation; `drafts` are those of all, `queue_changed` is called when other messages wait."""

    def __init__(
        self,
        items: ItemList,
        drafts: dict[Place, str],
        pending: Pending,
        *,
        place: Callable[[], Place],
        queue_changed: Callable[[], None],
    ) -> None:
        self._items = items
        self._drafts = drafts
        self._place = place
        self.pending = pending
        """What goes with the next message."""
        self.queue = MessageQueue(queue_changed)
        """Typed while a run was under way; sent one by one when it ends."""
        self._said: _Said | None = None

    @property
    def draft(self) -> str:
        """What was written and not sent."""
        return self._drafts.get(self._place(), "")

    @draft.setter
    def draft(self, text: str) -> None:
        self._drafts[self._place()] = text

    @property
    def unwritten(self) -> str:
        """The text of the message said last, while it is in no transcript; else ""."""
        return "" if self._said is None else self._said.message.text

    def give_back(self, text: str, attached: Iterable[AttachedItem] = (), place: Place | None = None) -> None:
        """A text that was not taken stands in the input again, of another conversation where one is named."""
        place = self._place() if place is None else place
        self._drafts[place] = f"{text}\n{self._drafts.get(place, '')}".strip()
        if attached:
            self.pending.put_back(attached)

    def sending(self, send: Callable[[], Message | None]) -> Message | None:
        """Send what stands in the input, which is empty then; `send` gives the reason when it can't."""
        place = self._place()
        draft = self._drafts.get(place, "")
        problem = send()
        if problem is None:  # also when a new conversation was begun with it
            given_back = self._drafts.pop(place, "").removesuffix(draft).strip()
            if given_back:
                self._drafts[place] = given_back
        return problem

    def with_files(self, send: Callable[[tuple[AttachedItem, ...]], Message | None]) -> Message | None:
        """Send something with the files of the draft; they stay where `send` gives a reason."""
        attached = self.pending.take()
        problem = send(attached)
        if problem is not None:
            self.pending.put_back(attached)
        return problem

    def keep(self, message: UserText, settled: tuple[Item, ...] = (), *, is_version: bool = False) -> None:
        """This was said, and is written now."""
        self._said = _Said(message, settled, is_version)

    def forget(self) -> None:
        """What was said last is written, or nobody waits for it."""
        self._said = None

    def take_said(self) -> UserText | None:
        """What was said and is in no transcript, when there is such; its rows go."""
        said, self._said = self._said, None
        if said is None or said.is_version:
            return None
        behind = itertools.dropwhile(lambda item: item.key != said.message.key, self._items)
        for row in [row for row in behind if isinstance(row, UserText | Interrupted | ErrorBlock)]:
            self._items.remove(row.key)
        for item in said.settled:  # they lead on from what was said before
            if self._items.get(item.key) is not None:
                self._items.put(item)
        return said.message

    def give_back_said(self, key: str = "") -> bool:
        """What was said and could not be written stands in the input again; False where this (the message
        of `key`, if it is given) is none."""
        if self._said is None or key not in ("", self._said.message.key):
            return False
        if (message := self.take_said()) is not None:
            self.give_back(message.text, message.attached)
        return True

    def take_back_all(self) -> None:
        """All that waits, or was said and not written yet, stands in the input again."""
        said = self.take_said()
        entries: list[UserText | QueuedMessage] = [*([said] if said is not None else ())]
        entries += self.queue.take_all()
        if entries:
            self.pending.put_back([file for entry in entries for file in entry.attached])
            self.draft = "\n".join([*(entry.text for entry in entries), self.draft]).strip()
