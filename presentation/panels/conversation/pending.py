"""What goes with the next message while it is written: looked at, shown as chips, taken when it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from application.groups.conversations import Conversations
from domain.llm.attachments import MOST_ATTACHMENTS, PreparedAttachment, clean_name
from presentation.panels.conversation.attached import THUMBNAIL_SIDE
from presentation.panels.conversation.items import AttachedItem
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import with_advice
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

Place = tuple[Path | None, str]
"""A conversation: project and id; of one that is not begun the id of its tab."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingFile:
    """One of them."""

    key: str
    name: str
    item: AttachedItem | None = None
    """None while it is looked at."""
    path: Path | None = None
    """Where it was taken from; None for a picture of the clipboard or the window."""


class Pending:
    """Of each conversation what is attached to the message under way; files come back at the next start."""

    def __init__(
        self,
        conversations: Conversations,
        window: Window,
        *,
        place: Callable[[], Place],
        files: dict[Place, list[PendingFile]],
    ) -> None:
        self._conversations = conversations
        self._window = window
        self._place = place
        self._files = files
        self._problem: Message | None = None

    @property
    def files(self) -> tuple[PendingFile, ...]:
        return tuple(self._files.get(self._place(), ()))

    @property
    def paths(self) -> tuple[str, ...]:
        """Of those that are files."""
        return tuple(str(file.path) for file in self.files if file.path is not None)

    @property
    def is_reading(self) -> bool:
        return any(file.item is None for file in self.files)

    @property
    def refusal(self) -> Message | None:
        """Why a message can't go with them now."""
        if len(self.files) > MOST_ATTACHMENTS:
            return msg("A message can have at most {most} attached files.", most=MOST_ATTACHMENTS)
        if self.is_reading:
            return msg("An attached file is still being read. Send the message when it is ready.")
        return None

    @property
    def tokens(self) -> int:
        return sum(file.item.attachment.tokens for file in self.files if file.item is not None)

    def take_problem(self) -> Message | None:
        """Why the last one was not attached, once."""
        problem, self._problem = self._problem, None
        return problem

    def attach_paths(self, paths: Iterable[Path]) -> None:
        """Files: looked at off the loop, then there; or why not."""
        root, _ = self._place()
        for path in paths:
            take = partial(self._conversations.attachments.take_file, path, project=root)
            self._attach(path.name, take, path.absolute())

    def attach_bytes(self, name: str, make: Callable[[], bytes]) -> None:
        """A picture of the clipboard or the window; `make` is called in a thread."""

        async def take() -> PreparedAttachment:
            return await self._conversations.attachments.take_bytes(name, await asyncio.to_thread(make))

        self._attach(name, take)

    def remove(self, key: str) -> None:
        self._keep([file for file in self.files if file.key != key])

    def take(self) -> tuple[AttachedItem, ...]:
        """All of them, which are none any more: they go with a message."""
        found = tuple(file.item for file in self.files if file.item is not None)
        self._keep([])
        return found

    def put_back(self, items: Iterable[AttachedItem]) -> None:
        self._keep([*_again(items), *self.files])

    def put_elsewhere(self, place: Place, items: Iterable[AttachedItem]) -> None:
        """Attach these to what is written in another conversation."""
        self._put(place, _again(items))

    def _keep(self, files: list[PendingFile]) -> None:
        self._put(self._place(), files)

    def _put(self, place: Place, files: list[PendingFile]) -> None:
        if files:
            self._files[place] = files
        else:
            self._files.pop(place, None)
        self._window.state_changed()

    def _attach(
        self, name: str, take: Callable[[], Awaitable[PreparedAttachment]], path: Path | None = None
    ) -> None:
        if len(self.files) >= MOST_ATTACHMENTS:
            self._problem = msg("A message can have at most {most} attached files.", most=MOST_ATTACHMENTS)
            self._window.state_changed()
            return
        file = PendingFile(key=new_ulid(), name=clean_name(name), path=path)
        self._keep([*self.files, file])
        self._window.start(self._look_at(file, take), kind="attachments")

    async def _look_at(self, file: PendingFile, take: Callable[[], Awaitable[PreparedAttachment]]) -> None:
        item: AttachedItem | None = None
        try:
            prepared = await take()
            thumbnail = b""
            if prepared.attachment.is_picture:
                thumbnail = await self._conversations.attachments.preview_of(prepared, THUMBNAIL_SIDE)
            item = AttachedItem(attachment=prepared.attachment, thumbnail=thumbnail, prepared=prepared)
        except CircuitAIError as error:
            self._problem = with_advice(error)
        finally:  # also when it is stopped: what is not there is not waited for
            self._replace(file, item)

    def _replace(self, file: PendingFile, item: AttachedItem | None) -> None:
        for place, files in tuple(self._files.items()):
            if file not in files:
                continue
            others = [each for each in files if each is not file]
            is_new = item is not None and all(
                each.item is None or each.item.attachment.sha256 != item.attachment.sha256 for each in others
            )
            if item is not None and is_new:
                done = replace(file, name=item.attachment.name, item=item)
                self._put(place, [done if each is file else each for each in files])
            else:
                self._put(place, others)
            return
        self._window.state_changed()  # it was removed meanwhile


def _again(items: Iterable[AttachedItem]) -> list[PendingFile]:
    return [PendingFile(key=new_ulid(), name=item.attachment.name, item=item) for item in items]
