"""A tab's conversation and its stored transcript, kept together: opened, followed, renamed, summarized."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.conversation.goals_shown import GoalsNow
from domain.llm.compression import RESTORED
from presentation.panels.conversation.items import (
    END,
    AnswerText,
    CompressedRow,
    Note,
    OperationCard,
    ScrollPlace,
    SimulationCard,
    UserText,
)
from presentation.panels.conversation.stored import title_of
from presentation.panels.conversation.words import busy, with_advice
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.conversation.compressing_by_hand import CompressionPreview
    from application.groups.conversations import Conversations
    from application.ports.conversation import SessionInfo
    from presentation.panels.conversation.shelf import Shelf
    from presentation.panels.conversation.shown_conversation import ShownConversation
    from presentation.panels.conversation.window import Window


_log = logging.getLogger(__name__)
_OF_TURN = (UserText, AnswerText, OperationCard, SimulationCard)
"""Rows of a turn that are there again when it is read."""


class ShownTranscript:
    """Of one tab; `model` shows what is read."""

    is_unread = False
    """The conversation is known, and is read when it is to be shown."""

    def __init__(
        self, model: ShownConversation, conversations: Conversations, shelf: Shelf, window: Window
    ) -> None:
        self._model = model
        self._conversations = conversations
        self._shelf = shelf
        self._window = window
        self._newest = 0
        """Number of the newest request for another conversation; older ones give way."""
        self._written: int | None = 0
        """Bytes of the shown transcript when we last wrote to it; None while we do."""
        self.is_keeping = False
        """Something but a run is being written to it: what is said meanwhile waits for that."""
        self._unkept: list[str] = []
        """Keys of cards that are still to be written, by the run under way or at its end."""
        self._is_said = False
        """What began the run under way is in the transcript."""

    # --- opened and followed -------------------------------------------------------------------------

    def open(self, session_id: str, place: ScrollPlace = END) -> None:
        """Show a stored conversation; a run that is under way is stopped for it, and what came of it kept."""
        if self._model.root is not None:
            work = self._switch(self._model.root, session_id, self.give_way(), place)
            self._window.start(work, kind="sessions")

    def offer(self, session_id: str) -> None:
        """Show a stored conversation, unless something is begun or written here before it is read."""
        if self._model.root is not None:
            work = self._open(self._model.root, session_id, self.give_way(), is_offer=True)
            self._window.start(work, kind="sessions")

    def read_later(self, session_id: str, name: str) -> None:
        """Have this conversation; it is read when the tab comes to the front."""
        self._model.session_id, self._model.name, self.is_unread = session_id, name, True

    def give_way(self) -> int:
        """Something else is shown from now on: what was asked for before is not; the number of this wish."""
        self._newest += 1
        return self._newest

    async def _switch(self, root: Path, session_id: str, number: int, place: ScrollPlace) -> None:
        await self._model.end_for_another()
        if number == self._newest:
            self._model.outbox.take_back_all()
            await self._open(root, session_id, number, place)

    async def _open(
        self, root: Path, session_id: str, number: int, place: ScrollPlace = END, *, is_offer: bool = False
    ) -> None:
        model = self._model
        try:
            stored = await self._shelf.read(root, session_id)
        except CircuitAIError as error:
            if number == self._newest:
                model.put_error(error)
            return
        if number != self._newest or root != model.root or model.is_running:
            return  # something else was opened, or begun, in the meantime
        if is_offer and not model.is_untouched:
            return  # what is being written stays before its writer's eyes
        model.items.reset(stored.items, place)
        self.is_unread, self._written = False, 0
        model.show(stored)

    async def follow(self, info: SessionInfo) -> None:
        """The shown transcript changed: show what others have written."""
        model, root, number = self._model, self._model.root, self._newest
        if root is None or not self._is_at_rest or self.is_unread or info.size == self._written:
            return
        try:
            stored = await self._shelf.read(root, info.session_id)
        except CircuitAIError:  # gone or damaged: whoever opens it is told
            return
        if number == self._newest and self._is_at_rest:
            self._written = 0
            model.show(stored, keeps_mode=True)

    @property
    def _is_at_rest(self) -> bool:
        """Whether nobody here writes to the shown transcript."""
        return self._written is not None and self._model.can_change

    def begin_writing(self) -> None:
        """A run writes to it from now on."""
        self._written, self._is_said = None, False

    def note_written(self, *, by_others: bool = False) -> None:
        """What is in the list now was written by us, or is shown; `by_others` may have written since."""
        session_id = self._model.session_id
        sizes = (info.size for info in self._shelf.sessions if info.session_id == session_id)
        self._written = 0 if by_others else next(sizes, 0)

    async def keep_goals(self, card: GoalsNow) -> Message | None:
        """Show a card about goals, and write it; a conversation begins with it where nothing was said yet.
        While a run is under way it goes through it, once what was said is written; what it has not taken is
        written at its end. Why it is not kept."""
        model = self._model
        root, session_id = model.root, model.session_id
        if model.is_running and model.items.get(card.key) is None:
            card = replace(card, after=self._newest_of(UserText), row=self._newest_of(*_OF_TURN))
        model.items.put(card)
        model.tell()
        if root is None:
            return None
        if not model.can_change:
            self._unkept.append(card.key)
            await self._keep_in_run()
            return None
        model.is_held, self.is_keeping, self._written = True, True, None
        try:
            kept_in = await self._conversations.sessions.keep_goals(root, session_id, card)
            if (root, session_id) == (model.root, model.session_id):
                model.adopt(kept_in)
        except CircuitAIError as error:
            return with_advice(error)
        finally:
            model.is_held = self.is_keeping = False
            model.send_waiting()
            infos = await self._shelf.relist(model.root)
            if not model.is_running:
                self.note_written(by_others=model.is_taken_over)
        kept = (info for info in infos if info.session_id == model.session_id)
        model.name = next((title_of(info.name, info.preview) for info in kept), model.name)
        model.tell()
        return None

    def _newest_of(self, *kinds: type) -> str:
        return next((row.key for row in self._model.items.backwards() if isinstance(row, kinds)), "")

    def note_said(self) -> None:
        """What was said is written: what was shown since can be."""
        self._is_said = True
        if self._unkept:
            self._window.start(self._keep_in_run(), kind="sessions")

    async def _keep_in_run(self) -> None:
        """Have the run write what was shown meanwhile; what it can't write waits for its end."""
        model = self._model
        root, session_id = model.root, model.session_id
        if root is None or not session_id or not self._is_said:
            return  # a card whose message is in no transcript would have no place
        sessions = self._conversations.sessions
        for card in self._take_unkept():
            try:
                is_kept = await sessions.keep_goals_of_run(root, session_id, card)
            except CircuitAIError as error:  # it is told at the end of the run, if it still can't be
                _log.warning("A card about goals is not written yet: %s", error)
                is_kept = False
            if not is_kept:
                self._unkept.append(card.key)
        if model.can_change:  # the run has ended meanwhile
            self.keep_what_waited()

    def keep_what_waited(self) -> None:
        """Nothing is at work on the conversation any more: write what was shown meanwhile."""
        if cards := self._take_unkept():
            self._window.start(self._keep_all(cards), kind="sessions")

    def _take_unkept(self) -> list[GoalsNow]:
        waited, self._unkept = self._unkept, []
        found = map(self._model.items.get, dict.fromkeys(waited))
        return [card for card in found if isinstance(card, GoalsNow)]

    async def _keep_all(self, cards: Iterable[GoalsNow]) -> None:
        for card in cards:
            if (problem := await self.keep_goals(card)) is not None:
                self._model.put_note(problem)
                return

    # --- the list of conversations -------------------------------------------------------------------

    def delete(self, session_id: str, *, for_good: bool = False) -> Message | None:
        """Remove a stored conversation, to be restored or for good; the reason when it can't be now."""
        model = self._model
        if model.is_running and session_id == model.session_id:
            return busy()
        if model.root is not None:
            self._window.start(self._delete(model.root, session_id, for_good), kind="sessions")
        return None

    async def _delete(self, root: Path, session_id: str, for_good: bool) -> None:
        model = self._model
        try:
            await self._conversations.sessions.delete(root, session_id, for_good=for_good)
        except CircuitAIError as error:
            model.put_error(error)
            return
        await self._shelf.relist(model.root)
        if session_id == model.session_id and not model.is_running:
            model.show_nothing()
        else:
            self._window.state_changed()

    def leave(self) -> None:
        """An empty conversation is shown, of which nothing is stored."""
        self.give_way()
        self._written = 0

    def rename(self, session_id: str, name: str) -> Message | None:
        """Give a stored conversation another name; the reason when it can't be now."""
        model = self._model
        if model.is_running and session_id == model.session_id:
            return msg("The conversation can be renamed when the run has finished. Stop it first.")
        if model.root is not None and session_id and name.strip():
            self._window.start(self._rename(model.root, session_id, name), kind="sessions")
        return None

    async def _rename(self, root: Path, session_id: str, name: str) -> None:
        model = self._model
        self._written = None if session_id == model.session_id else self._written
        kept, problem = await self._shelf.rename(root, session_id, name)
        if problem is not None:
            model.items.put(Note(key=new_ulid(), text=problem))
        elif session_id == model.session_id:
            model.name = kept
        await self._shelf.relist(model.root)
        self.note_written(by_others=model.is_taken_over)
        model.tell()

    # --- summaries in place of older messages --------------------------------------------------------

    @property
    def can_compress(self) -> bool:
        """Whether there may be something to be compressed, and nothing is at work on the conversation."""
        return bool(self._model.root and self._model.session_id) and self._model.can_change

    async def compress(
        self, *, keep: int, pinned: Sequence[str], prepared: CompressionPreview | None
    ) -> Message | None:
        """Send a summary in place of older messages from now on; why it was not done."""
        compress, choice = self._conversations.compress, self._model.choice

        async def work(root: Path, session_id: str) -> None:
            await compress(root, session_id, choice, keep=keep, pinned=pinned, prepared=prepared)

        return await self._rewritten(work)

    def restore(self, key: str) -> Message | None:
        """Take a compression back; the reason when it can't be now."""
        row = self._model.items.get(key)
        if not isinstance(row, CompressedRow) or not row.can_restore:
            return None
        if not self.can_compress:
            return busy()
        self._window.start(self._restore(key), kind="sessions")
        return None

    async def _restore(self, key: str) -> None:
        restore = self._conversations.compress.restore
        problem = await self._rewritten(lambda root, session_id: restore(root, session_id, key))
        if problem is not None:
            self._model.put_note(problem)
            return
        self._window.told(RESTORED, is_problem=False)

    async def _rewritten(self, work: Callable[[Path, str], Awaitable[None]]) -> Message | None:
        """Do what writes to the shown conversation, and show what stands in it then."""
        model = self._model
        if not self.can_compress or model.root is None:
            return busy()
        root, session_id = model.root, model.session_id
        model.is_held, self._written = True, None
        problem: Message | None = None
        try:
            await work(root, session_id)
        except CircuitAIError as error:
            problem = with_advice(error)
        finally:
            model.is_held = False
            await self._shelf.relist(model.root)
            self.note_written(by_others=model.is_taken_over)
        waited = self._take_unkept()
        if problem is None and (root, session_id) == (model.root, model.session_id):
            model.show(await self._shelf.read(root, session_id))
        await self._keep_all(waited)
        return problem

    async def carry_over(self) -> Message | None:
        """Go on in a new conversation that begins with this one's summary; why it was not begun."""
        model = self._model
        root, session_id, choice = model.root, model.session_id, model.choice
        if not self.can_compress or root is None:
            return busy()
        model.is_held = True
        try:
            name = self._window.translate(msg("{name} (continued)", name=model.name))
            new = await self._conversations.compress.carry_over(root, session_id, choice, name=name)
        except CircuitAIError as error:
            return with_advice(error)
        finally:
            model.is_held = False
        self._shelf.choices[new] = choice
        await self._open(root, new, self.give_way())
        await self._shelf.relist(model.root)
        return None

    async def branch(self, at: str = "") -> str | Message:
        """Begin another conversation with all that was said here, or up to a message: its id, or why it was
        not begun."""
        model = self._model
        root, session_id = model.root, model.session_id
        if root is None or not session_id:
            return msg("This conversation is empty: there is nothing to go on from.")
        if not model.can_change:
            return busy()
        name = self._window.translate(msg("{name} (branch)", name=model.name))
        try:
            new = await self._conversations.sessions.branch(root, session_id, name=name, at=at)
        except CircuitAIError as error:
            return with_advice(error)
        self._shelf.choices[new] = model.choice
        if (root, session_id) in self._shelf.reads_only:
            self._shelf.reads_only.add((root, new))
        await self._shelf.relist(model.root)
        return new

    async def ask_in_new(self, said: UserText) -> None:
        """Ask the last message again in a new conversation, with the summary of this one if it has one."""
        model, choice = self._model, self._model.choice
        if await self.carry_over() is not None:  # it was the first message
            model.new_conversation()
            model.set_choice(choice)
        problem = model.begin(said.text, said.attached)
        if problem is not None:
            model.put_note(problem)
