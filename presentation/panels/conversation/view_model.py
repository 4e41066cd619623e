"""The state and the intents of a conversation, without widgets.

The view model knows what is shown (`items`), what runs, and what is being written. It tells its listener
of changes: items at once when a person or an event changed them, pieces of a stream together every 50 ms.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from domain.llm.chat import ProviderChoice
from domain.llm.compression import RESTORED
from domain.llm.costs import Cost
from presentation.panels.conversation.asking import Asking, not_a_change
from presentation.panels.conversation.changes import FileChanges
from presentation.panels.conversation.feed import Activity
from presentation.panels.conversation.items import (
    END,
    AttachedItem,
    Choice,
    CompressedRow,
    Decision,
    ErrorBlock,
    Interrupted,
    Item,
    ItemList,
    Note,
    OperationCard,
    ScrollPlace,
    Understood,
    UserText,
    WorkedElsewhere,
)
from presentation.panels.conversation.live_run import LiveRun, RunOrder, error_block
from presentation.panels.conversation.pending import Pending, Place
from presentation.panels.conversation.queue import MessageQueue
from presentation.panels.conversation.shelf import Shelf, StoredConversation
from presentation.panels.conversation.stored import title_of
from presentation.panels.conversation.versions import Versions
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import busy, now, with_advice
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.tasks import StopStateChanged
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.app import Application
    from application.conversation.compressing_by_hand import CompressionPreview
    from application.ports.conversation import SessionInfo
    from application.tool_execution.taking_back import UndoChoice
    from domain.design.checkpoint_intent import IntentKind

Mode = Literal["free", "workflow"]
RunState = Literal["idle", "running", "stopping"]


class _Unwritten(NamedTuple):
    """What was said last, as long as it is in no transcript."""

    said: UserText
    settled: tuple[Item, ...]
    """As they were before it: marks and errors that it has settled."""
    is_version: bool = False
    """It is to take the place of another, which is shown again where it can't (`Versions.end_run`)."""


class ConversationViewModel:
    """One conversation tab."""

    FLUSH_MS = 50
    _stored_mode: Mode = "free"
    """What the transcript says; where `mode` is another, that was chosen since for the next message."""

    def __init__(
        self, app: Application, window: Window, shelf: Shelf, root: Path | None, *, flush_ms: int = FLUSH_MS
    ) -> None:
        self._app = app
        self._window = window
        self.shelf = shelf
        """Of all tabs: the stored conversations, and what is kept of each while none shows it."""
        self._flush_ms = flush_ms
        self.scope = f"conversation-{new_ulid()}"
        self.items = ItemList()
        self.root = root
        self.session_id = ""
        self.name = ""
        self.mode: Mode = "free"
        self.choice = shelf.choices.get("", ProviderChoice())
        self.run_state: RunState = "idle"
        self.queue = MessageQueue(self._on_queue)
        """Typed while a run was under way; sent one by one when it ends."""
        self._is_queue_edited = False
        self._answered = ""  # the text that is being answered
        self.is_unread = False
        """The conversation is known, and is read when it is to be shown."""
        self.has_ended_unseen = False
        """A run has ended while another tab was in front."""
        self._unwritten: _Unwritten | None = None
        self._rests = False
        """A design that an error has interrupted can be gone on with; no row asks about it."""
        self.is_held = False
        """It is being read what a message behind a design means."""
        self._stopped_for: Literal["", "user", "next"] = ""
        """The run is stopped by its user: what waits goes back to where it was written, or is sent next."""
        self.scroll = ScrollPlace()
        """Of the messages when another tab came to the front."""
        self.pending = Pending(app.conversations, window, place=lambda: self.place, files=shelf.files)
        """What goes with the next message."""
        self.began = 0.0
        """Of the last run, by the monotonic clock."""
        self.tokens = 0
        """Of the last run."""
        self._context_tokens = 0
        self.cost = Cost()
        """Of the conversation."""
        self.asking = Asking(self.items, window, self._tell)
        self._changes = FileChanges(app.project, self.items, window, self._tell)
        self.versions = Versions(self, window, self._changes)
        self._run: LiveRun | None = None
        """The one under way, or the last one."""
        self._loading = 0
        """Number of the newest request for another conversation; older ones give way."""
        self._written: int | None = 0
        """Bytes of the shown transcript when we last wrote to it; None while we do."""
        self._unsubscribe = app.program.events.subscribe(StopStateChanged, self._on_stop_state)

    def close(self) -> None:
        """Nothing of it is shown any more; what was not sent is kept."""
        self.stop()
        if self._run is not None:
            self._run.leave()
        self.versions.forget()
        self._keep_unsaid()
        self._take_back_queue()
        self._unsubscribe()
        self._window.close()

    # --- state ---------------------------------------------------------------------------------------

    @property
    def window(self) -> Window:
        return self._window

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its user, also with a question that is asked when the tab is in front, or at
        which its design rests."""
        rests_at_question = not self.is_running and self._waiting_decision is not None
        return rests_at_question or self.waits_for_decision or self._window.has_question

    @property
    def has_failed(self) -> bool:
        """Whether an error has ended the last run."""
        return self._run is not None and self._run.has_failed

    def rows(self) -> tuple[Item, ...]:
        """Everything as it stands, with what has come of an answer under way."""
        coming = self._run.feed.snapshot() if self._run is not None else None
        return tuple(coming if coming and item.key == coming.key else item for item in self.items)

    @property
    def said(self) -> tuple[str, ...]:
        """What the user has said here, the newest last."""
        return tuple(item.text for item in self.items if isinstance(item, UserText))

    @property
    def is_running(self) -> bool:
        """Whether a run is under way, be it stopping."""
        return self.run_state != "idle"

    @property
    def activity(self) -> Activity | None:
        return self._run.feed.activity if self._run is not None and self.is_running else None

    @property
    def round_number(self) -> int:
        """Of the run under way; going back to an earlier round counts. 0 = it has none."""
        activity = self.activity
        return self.asking.round_number or (0 if activity is None else activity.round_number)

    @property
    def is_asking(self) -> bool:
        """Whether the run waits for the user's decision."""
        return self.asking.is_open

    @property
    def waits_for_decision(self) -> bool:
        """Likewise, or for the goals dialog."""
        return self.is_asking or self.asking.is_at_goals

    @property
    def sessions(self) -> tuple[SessionInfo, ...]:
        """The stored conversations, the last changed first."""
        return self.shelf.sessions

    @property
    def most_rounds(self) -> int:
        """After how many rounds the run ends by itself; 0 when that is not known."""
        return self._run.most_rounds if self._run is not None else 0

    @property
    def live_tokens(self) -> int:
        """Of the run under way, as far as its answers told; 0 when nobody counted."""
        return self._run.feed.tokens if self._run is not None and self.is_running else 0

    @property
    def context_tokens(self) -> int:
        """What the last answer filled of the model's window, a design's too; 0 when nobody counted."""
        live = self._run.feed.context_tokens if self._run is not None and self.is_running else 0
        return live or self._context_tokens

    @property
    def tokens_per_s(self) -> float | None:
        """Of the answer that is coming, estimated; None when none is."""
        return self._run.feed.tokens_per_s if self._run is not None and self.is_running else None

    @property
    def model_name(self) -> str:
        """What answers, for people; "" = the built-in designer."""
        return "" if self.choice.provider == "builtin" else self.choice.model or self.choice.provider

    @property
    def place(self) -> Place:
        """Under which its draft and its files are kept."""
        return self.root, self.session_id or self.scope

    @property
    def draft(self) -> str:
        """What was written and not sent, of this conversation."""
        return self.shelf.drafts.get(self.place, "")

    @draft.setter
    def draft(self, text: str) -> None:
        self.shelf.drafts[self.place] = text

    @property
    def unsent(self) -> str:
        """The draft with all that waits for the end of a run, or was said and not written yet."""
        unwritten = "" if self._unwritten is None else self._unwritten.said.text
        versions = self.versions
        texts = (unwritten, versions.asked, self.asking.unsaid, self.queue.text, self.draft, versions.draft)
        return "\n".join(filter(None, texts)).strip()

    # --- conversations -------------------------------------------------------------------------------

    def new_conversation(self) -> Message | None:
        """An empty conversation; the reason when it can't be now."""
        if self.is_running:
            return busy()
        self._take_back_queue()
        self._show_nothing()
        return None

    def open_session(self, session_id: str, place: ScrollPlace = END) -> None:
        """Show a stored conversation; a run that is under way is stopped for it, and what came of it kept."""
        if self.root is not None:
            self._loading += 1
            self._window.start(self._switch(self.root, session_id, self._loading, place), kind="sessions")

    async def _switch(self, root: Path, session_id: str, number: int, place: ScrollPlace) -> None:
        if self.is_running:
            name, self._stopped_for = self.name, "user"
            await self._app.program.stop.stop("session_switch", scope=self.scope)
            self._window.told(
                msg("“{name}” was stopped and kept: another conversation was opened.", name=name),
                is_problem=False,
            )
        if number == self._loading:
            self._take_back_queue()
            await self._open(root, session_id, number, place)

    def read_later(self, session_id: str, name: str) -> None:
        """Have this conversation; it is read when the tab comes to the front."""
        self.session_id, self.name, self.is_unread = session_id, name, True

    def come_to_front(self) -> None:
        """The tab is shown: read what was put off, and ask what waited for somebody to see it."""
        self.has_ended_unseen = False
        if self.is_unread:
            self.open_session(self.session_id, self.scroll)
        self._window.come_to_front()

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was said or written here."""
        return not (self.session_id or len(self.items) or self.unsent or self.pending.files)

    def delete_session(self, session_id: str, *, for_good: bool = False) -> Message | None:
        """Remove a stored conversation, to be restored or for good; the reason when it can't be now."""
        if self.is_running and session_id == self.session_id:
            return busy()
        if self.root is not None:
            self._window.start(self._delete(self.root, session_id, for_good), kind="sessions")
        return None

    def rename(self, session_id: str, name: str) -> Message | None:
        """Give a stored conversation another name; the reason when it can't be now."""
        if self.is_running and session_id == self.session_id:
            return msg("The conversation can be renamed when the run has finished. Stop it first.")
        if self.root is not None and session_id and name.strip():
            self._window.start(self._rename(self.root, session_id, name), kind="sessions")
        return None

    def _show_nothing(self) -> None:
        self._loading += 1
        self._written = 0
        self.versions.forget()
        self.session_id = self.name = ""
        self.tokens = self._context_tokens = 0
        self._rests = False
        self._unwritten = None
        self.cost = Cost()
        self.choice = self.shelf.choices.get("", self.choice)
        self.items.reset()
        self._tell()

    async def _open(self, root: Path, session_id: str, number: int, place: ScrollPlace = END) -> None:
        try:
            stored = await self.shelf.read(root, session_id)
        except CircuitAIError as error:
            if number == self._loading:
                self._put_error(error)
            return
        if number != self._loading or root != self.root or self.is_running:
            return  # something else was opened, or begun, in the meantime
        self.items.reset(stored.items, place)
        self.is_unread = False
        self._show(stored)

    def _show(self, stored: StoredConversation) -> None:
        self._give_back_unwritten()
        self.versions.forget()
        self.session_id, self.name = stored.session_id, stored.title
        self.mode = self._stored_mode = stored.mode
        self.choice = self.shelf.choices.get(stored.session_id, self.choice)
        self.tokens, self._context_tokens = 0, stored.context_tokens
        self._rests = stored.rests
        self.cost, self._written = stored.cost, 0
        self.items.become(stored.items)
        self._tell()

    @property
    def is_writing(self) -> bool:
        """Whether we write to the shown transcript."""
        return self.is_running or self._written is None

    async def follow(self, info: SessionInfo) -> None:
        """The shown transcript changed: show what others have written."""
        root, number = self.root, self._loading
        if root is None or self.is_writing or self.is_held or self.is_unread or info.size == self._written:
            return
        try:
            stored = await self.shelf.read(root, info.session_id)
        except CircuitAIError:  # gone or damaged: whoever opens it is told
            return
        if number == self._loading and not self.is_writing and not self.is_held:
            chosen = self.mode if self.mode != self._stored_mode else stored.mode
            self._show(stored)
            self.mode = chosen
            self._tell()

    async def _rename(self, root: Path, session_id: str, name: str) -> None:
        is_shown = session_id == self.session_id
        self._written = None if is_shown else self._written
        kept, problem = await self.shelf.rename(root, session_id, name)
        if problem is not None:
            self.items.put(Note(key=new_ulid(), text=problem))
        elif session_id == self.session_id:
            self.name = kept
        await self.shelf.relist(self.root)
        self._note_written()
        self._tell()

    def _note_written(self) -> None:
        """What is in the list now was written by us, or is shown."""
        written = next((i.size for i in self.sessions if i.session_id == self.session_id), 0)
        # Who took it over may have written since.
        self._written = 0 if self._run is not None and self._run.is_taken_over else written

    async def _delete(self, root: Path, session_id: str, for_good: bool) -> None:
        try:
            await self._app.conversations.sessions.delete(root, session_id, for_good=for_good)
        except CircuitAIError as error:
            self._put_error(error)
            return
        await self.shelf.relist(self.root)
        if session_id == self.session_id and not self.is_running:
            self._show_nothing()
        else:
            self._window.state_changed()

    # --- what the user does --------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> Message | None:
        """Choose how the next message is worked on; the reason when it can't be now."""
        if self.is_running and not self.can_switch:
            return msg("The mode can be changed when the run has finished. Stop it first.")
        was, self.mode = self.mode, mode
        if self.asking.is_at_checkpoint:  # the design rests; its question stays and waits
            self._window.start(self._app.program.stop.stop("user", scope=self.scope), kind="stop")
        elif mode == "workflow" != was and self._waiting_decision is not None:
            self.resume()
        self._window.state_changed()
        return None

    @property
    def can_switch(self) -> bool:
        """Whether the mode can be changed: at every rest, also of a design at its question."""
        return not self.is_running or (self.run_state == "running" and self.asking.is_at_checkpoint)

    @property
    def _waiting_decision(self) -> Decision | None:
        """The question at which the shown design rests."""
        found = (item for item in self.items if isinstance(item, Decision) and item.state == "waits")
        return next(found, None)

    @property
    def reads_only(self) -> bool:
        """Whether the model only reads in this conversation."""
        return self.place in self.shelf.reads_only

    @reads_only.setter
    def reads_only(self, value: bool) -> None:
        (self.shelf.reads_only.add if value else self.shelf.reads_only.discard)(self.place)
        self._window.state_changed()

    def take_choice(self, choice: ProviderChoice) -> None:
        """What answers as long as nobody chooses."""
        self.choice = choice
        self._tell()

    def set_choice(self, choice: ProviderChoice) -> None:
        """Choose what answers in this conversation, and in those that are begun from now on."""
        self.choice = self.shelf.choices[self.session_id] = self.shelf.choices[""] = choice
        self._window.state_changed()

    def send(self, text: str) -> Message | None:
        """Say something: a new message, the answer to a checkpoint, or what comes next when a run ends.

        Returns why it was not taken; the text is then still the user's.
        """
        if isinstance(self.items.last(), WorkedElsewhere):
            return msg(
                "Another window or command is working on this conversation: wait for it, or take over."
            )
        if self.versions.edited is not None:
            return self.pending.refusal or self.versions.send(text.strip())
        place, drafts = self.place, self.shelf.drafts
        draft = drafts.get(place, "")
        problem = self._send(text)
        if problem is None:  # also when a new conversation was begun with it
            given_back = drafts.pop(place, "").removesuffix(draft).strip()
            if given_back:
                drafts[place] = given_back
        return problem

    def _send(self, text: str) -> Message | None:
        text = text.strip()
        if not text:
            return msg("The message is empty.")
        if self.root is None:
            return msg("Open a project first: the conversation works on its files.")
        if (problem := self.pending.refusal) is not None:
            return problem
        answered = self.asking.answer_in_words(text) if self.asking.is_open else None
        if answered is not None:
            problem = None if answered else self._let_wait(text)
            if not answered and problem is None and self.asking.is_open:
                # Calls that wait for permission are given up, and the turn with them; then the text is sent.
                self._window.start(self._app.program.stop.stop("user", scope=self.scope), kind="stop")
            return problem
        if self.is_running:
            return self._let_wait(text)
        attached = self.pending.take()
        problem = self.begin(text, attached)
        if problem is not None:
            self.pending.put_back(attached)
        return problem

    def _let_wait(self, text: str) -> Message | None:
        """It is sent when the run has ended and what waits already was; or why not."""
        attached = self.pending.take()
        problem = self.queue.add(text, attached, running=self._answered)
        if problem is not None:
            self.pending.put_back(attached)
        return problem

    def send_first_now(self) -> None:
        """The first that waits: at once, or when the run has been stopped for it."""
        if self.run_state == "idle":
            self._send_next()
            self._tell()
        else:
            self.stop()
            self._stopped_for = "next"

    def _on_queue(self) -> None:
        was_edited, self._is_queue_edited = self._is_queue_edited, bool(self.queue.edited)
        has_ended = was_edited and not self._is_queue_edited
        if has_ended and not self.is_running and self.queue.is_free and self.root is not None:
            self._send_next()  # it waited for the end of the edit only
        self._window.state_changed()

    def _send_next(self) -> None:
        entry = self.queue.take_first()
        if entry is None:
            return
        problem = self.begin(entry.text, entry.attached)
        if problem is not None:  # it goes back to where it was written
            self.queue.hold()
            self.pending.put_back(entry.attached)
            self.draft = f"{entry.text}\n{self.draft}".strip()
            self.items.put(Note(key=new_ulid(), text=problem))

    def _take_back_queue(self) -> None:
        """All that waits, or was said and not written yet, stands in the input again."""
        unwritten = self._take_unwritten()
        entries = [*([unwritten] if unwritten is not None else ()), *self.queue.take_all()]
        if not entries:
            return
        self.pending.put_back([file for entry in entries for file in entry.attached])
        self.draft = "\n".join([*(entry.text for entry in entries), self.draft]).strip()

    def _take_unwritten(self) -> UserText | None:
        """What was said and is in no transcript, when there is such; its rows go."""
        unwritten, self._unwritten = self._unwritten, None
        if unwritten is None or unwritten.is_version:
            return None
        said = unwritten.said
        behind = itertools.dropwhile(lambda item: item.key != said.key, self.items)
        for row in [row for row in behind if isinstance(row, UserText | Interrupted | ErrorBlock)]:
            self.items.remove(row.key)
        for item in unwritten.settled:  # they lead on from what was said before
            if self.items.get(item.key) is not None:
                self.items.put(item)
        return said

    def _give_back_unwritten(self) -> None:
        if (unwritten := self._take_unwritten()) is not None:
            self._give_back(self.place, unwritten.text)
            self.pending.put_back(unwritten.attached)

    def take_back_unwritten(self, key: str = "") -> bool:
        """What was said and could not be written stands in the input again; False where this (the message
        of `key`, if it is given) is none."""
        unwritten = self._unwritten
        if unwritten is None or self.is_running or key not in ("", unwritten.said.key):
            return False
        self._give_back_unwritten()
        self._tell()
        return True

    def _forget_unwritten(self) -> None:
        self._unwritten = None

    def stop(self) -> bool:
        """Stop the run; False when none is under way."""
        if self.run_state == "idle":
            return False
        self._stopped_for = "user"
        self._window.start(self._app.program.stop.stop("user", scope=self.scope), kind="stop")
        return True

    def answer(self, key: str, choice: Choice) -> Message | None:
        """Press a button of a question; where it waits, the design is taken up again. Or why not."""
        item = self.items.get(key)
        if not isinstance(item, Decision) or item.state != "waits":
            is_taken = self.asking.answer(key, choice)
            return None if is_taken else msg("This question has been answered already.")
        if self.is_running:
            return busy()
        self.mode = "workflow"
        self.asking.press_next(item, choice)
        self.resume()
        return None

    def correct(self, key: str, kind: IntentKind) -> Message | None:
        """Take a text that was typed at a checkpoint as another kind; a design that waits goes on with it."""
        item = self.items.get(key)
        if self.is_running or not isinstance(item, Understood):
            self.asking.correct(key, kind)
            return None
        if self._waiting_decision is None or kind not in item.others:
            return msg("This question has been answered already.")
        self.mode = "workflow"
        self.asking.take_up_chip(key)
        self.asking.correct(key, kind)
        self.resume()
        return None

    def go_back(self, session_id: str, number: int) -> Message | None:
        """Put the circuit of a round back, and ask about it again where the design has not ended.

        The reason when it can't be now.
        """
        from application.workflow.design_sessions import Reply

        if session_id != self.session_id:
            return msg("Open the conversation of this design first.")
        reply = Reply(answer="go_back", round_number=number)
        if self.asking.is_at_checkpoint:
            self.asking.reply(reply)
            return None
        if self.is_running:
            return busy()
        if self._waiting_decision is None:
            if self.root is not None:
                self._window.start(self._go_back_to(self.root, session_id, number), kind="sessions")
            return None
        self.mode = "workflow"
        self.asking.reply_next(reply)
        self.resume()
        return None

    async def _go_back_to(self, root: Path, session_id: str, number: int) -> None:
        """The design has ended: the files are put back, and its conversation says so."""
        try:
            done = await self._app.design.go_back(root, number, session_id=session_id)
        except CircuitAIError as error:
            self._put_error(error)
            return
        for path in (*done.paths, *done.aside.values()):
            self._window.file_changed(root / path)
        if session_id == self.session_id:
            self.open_session(session_id)

    def undo(self, key: str, choose: UndoChoice | None = None) -> Message | None:
        """Take back the change of a card, or do it again; the reason when it can't be now.

        `choose` decides about files that were changed since.
        """
        card = self.items.get(key)
        if (
            not isinstance(card, OperationCard)
            or card.standing not in ("stands", "undone")
            or self.root is None
        ):
            return None
        if self.is_running:
            return msg("A run is using the files. Stop it before undoing a change.")
        self._changes.undo(self.root, card, choose)
        return None

    @property
    def can_change(self) -> bool:
        """Whether nothing is at work on the conversation, be it a run or what only reads."""
        return not (self.is_running or self.is_held)

    @property
    def can_compress(self) -> bool:
        """Whether there may be something to be compressed, and nothing is at work on the conversation."""
        return bool(self.root and self.session_id) and self.can_change

    async def compress(
        self, *, keep: int, pinned: Sequence[str], prepared: CompressionPreview | None
    ) -> Message | None:
        """Send a summary in place of older messages from now on; why it was not done."""
        compress = self._app.conversations.compress

        async def work(root: Path, session_id: str) -> None:
            await compress(root, session_id, self.choice, keep=keep, pinned=pinned, prepared=prepared)

        return await self._rewritten(work)

    def restore(self, key: str) -> Message | None:
        """Take a compression back; the reason when it can't be now."""
        row = self.items.get(key)
        if not isinstance(row, CompressedRow) or not row.can_restore:
            return None
        if not self.can_compress:
            return busy()
        self._window.start(self._restore(key), kind="sessions")
        return None

    async def _restore(self, key: str) -> None:
        restore = self._app.conversations.compress.restore
        problem = await self._rewritten(lambda root, session_id: restore(root, session_id, key))
        if problem is not None:
            self.items.put(Note(key=new_ulid(), text=problem))
            self._tell()
            return
        self._window.told(RESTORED, is_problem=False)

    async def _rewritten(self, work: Callable[[Path, str], Awaitable[None]]) -> Message | None:
        """Do what writes to the shown conversation, and show what stands in it then."""
        if not self.can_compress or self.root is None:
            return busy()
        root, session_id = self.root, self.session_id
        self.is_held, self._written = True, None
        try:
            await work(root, session_id)
        except CircuitAIError as error:
            return with_advice(error)
        finally:
            self.is_held = False
            await self.shelf.relist(self.root)
            self._note_written()
        if (root, session_id) == (self.root, self.session_id):
            stored = await self.shelf.read(root, session_id)
            written = self._written
            self._show(stored)
            self._written = written
        return None

    async def carry_over(self) -> Message | None:
        """Go on in a new conversation that begins with this one's summary; why it was not begun."""
        root, session_id, choice = self.root, self.session_id, self.choice
        if not self.can_compress or root is None:
            return busy()
        self.is_held = True
        try:
            name = self._window.translate(msg("{name} (continued)", name=self.name))
            new = await self._app.conversations.compress.carry_over(root, session_id, choice, name=name)
        except CircuitAIError as error:
            return with_advice(error)
        finally:
            self.is_held = False
        self.shelf.choices[new] = choice
        self._loading += 1
        await self._open(root, new, self._loading)
        await self.shelf.relist(self.root)
        return None

    async def ask_in_new(self, said: UserText) -> None:
        """Ask the last message again in a new conversation, with the summary of this one if it has one."""
        choice = self.choice
        if await self.carry_over() is not None:  # it was the first message
            self.new_conversation()
            self.set_choice(choice)
        problem = self.begin(said.text, said.attached)
        if problem is not None:
            self.items.put(Note(key=new_ulid(), text=problem))
            self._tell()

    # --- runs ----------------------------------------------------------------------------------------

    def begin(self, said: str | Message, attached: tuple[AttachedItem, ...] = ()) -> Message | None:
        """Say something that begins a turn (or, in workflow mode, a design); the reason when it can't."""
        if (problem := self._unfit_for_design(attached)) is not None:
            return problem
        if self.is_held and not (self.mode == "workflow" and self.is_design_open):
            return busy()
        text = self._window.translate(said) if isinstance(said, Message) else said
        self.versions.leave()
        if self.mode == "workflow" and self.is_design_open:
            self.asking.say_next(text)  # the design that was stopped asks again, and this is the answer
            self.resume()
            return None
        if self.mode == "workflow" and len(self.items) and self.session_id:
            if self.is_held:
                return busy()
            self.is_held = True
            self._window.start(self._begin_behind(text), kind="conversation")
            return None
        self._begin_turn(text, attached)
        return None

    def _unfit_for_design(self, attached: tuple[AttachedItem, ...]) -> Message | None:
        if self.mode == "workflow" and attached:
            return msg("A design takes text only. Remove the attached files, or switch to free work.")
        if self.mode == "workflow" and self.reads_only:
            return msg("A design writes files. Switch “Read only” off, or switch to free work.")
        return None

    async def _begin_behind(self, text: str) -> None:
        """A message behind a design: it changes its goals, begins another conversation, or is asked back."""
        assert self.root is not None, "whoever begins has looked"
        place = self.root, self.session_id
        try:
            read = await self._app.design.run.read_message(*place, text, self.choice.provider)
        except CircuitAIError as error:
            self._give_back(place, text)
            self._put_error(error)
            return
        finally:
            self.is_held = False
        if place != (self.root, self.session_id) or self.is_running:
            self._give_back(place, text)
        elif read.kind == "unclear":
            self._give_back(place, text)
            self.items.put(Note(key=new_ulid(), text=read.problem or not_a_change(read.goals)))
        else:
            if read.kind == "apart":
                self._show_nothing()  # another circuit begins a conversation of its own
            self._begin_turn(text, ())
        self._tell()

    def _give_back(self, place: Place, text: str) -> None:
        """A text that was not taken stands in the input again."""
        drafts = self.shelf.drafts
        drafts[place] = f"{text}\n{drafts.get(place, '')}".strip()

    def _begin_turn(self, text: str, attached: tuple[AttachedItem, ...]) -> None:
        if self._unwritten is not None and self._unwritten.said.text == text:
            self._take_unwritten()  # it is said again
        self._give_back_unwritten()
        before = tuple(self.items)
        self._spend_ways_on()
        settled = tuple(item for item in before if self.items.get(item.key) != item)
        self._loading += 1
        self.name = self.name or " ".join(text.split())
        said = UserText(key=new_ulid(), text=text, created=now(), attached=attached)
        self._unwritten = _Unwritten(said, settled)
        self.items.put(said)
        self._start(said)

    def begin_instead(self, said: UserText, old: str, *, is_changed: bool) -> None:
        """A message takes the place of an earlier one of a chat (its id), whose rows are gone by now."""
        self.mode = "free"
        self._loading += 1
        self._give_back_unwritten()
        self._unwritten = _Unwritten(said, (), is_version=True) if is_changed else None
        self.items.put(replace(said, created=now()))
        self._start(said, instead_of=old)

    def resume(self) -> None:
        """Carry out what an interrupted turn, or in workflow mode the design, has left."""
        self.versions.leave()
        self._give_back_unwritten()
        self._spend_ways_on()
        self._start(None)

    @property
    def is_design_open(self) -> bool:
        """Whether the shown design was interrupted and can be gone on with."""
        return (
            self._rests
            or self._waiting_decision is not None
            or any(
                isinstance(item, Interrupted) and item.can_continue and item.of_design for item in self.items
            )
        )

    def _spend_ways_on(self) -> None:
        """One of them was taken, or something else was said; a chat leaves those of the design."""
        for item in tuple(self.items):
            if isinstance(item, ErrorBlock) and not item.is_spent:
                self.items.put(replace(item, is_spent=True))
            elif isinstance(item, Interrupted) and not item.of_design:
                self.items.put(replace(item, can_continue=False))
            elif isinstance(item, Interrupted) and self.mode == "workflow":
                self.items.remove(item.key)
        self._close_chips()
        waiting = self._waiting_decision
        if waiting is not None and self.mode == "workflow":  # it is asked again, behind all that came since
            self.items.remove(waiting.key)

    def _close_chips(self) -> None:
        """What was typed at a checkpoint is history; one that was just taken otherwise waits for the next."""
        for item in tuple(self.items):
            if isinstance(item, Understood) and item.state == "taken":
                self.items.put(replace(item, state="closed"))

    def replace_item(self, item: Item) -> None:
        self.items.put(item)
        self._tell()

    def _start(self, said: UserText | None, *, instead_of: str = "") -> None:
        assert self.root is not None, "whoever starts has looked"
        text = None if said is None else said.text
        self._answered, self._stored_mode = text or "", self.mode
        order = RunOrder(
            root=self.root,
            mode=self.mode,
            text=text,
            session_id=self.session_id,
            choice=self.choice,
            main_circuit=self._window.main_circuit(self.root),
            editor=self._window.editor_state(self.root),
            attachments=() if said is None else tuple(each.to_send for each in said.attached),
            message_id="" if said is None else said.key,
            instead_of=instead_of,
            reads_only=self.reads_only,
        )
        self._run = LiveRun(
            self._app.conversations,
            self._app.design,
            self._window,
            order,
            items=self.items,
            asking=self.asking,
            changes=self._changes,
            model=self.model_name,
            flush_ms=self._flush_ms,
            adopt=self._adopt,
            written=self._forget_unwritten,
            tell=self._tell,
        )
        self._written, self._rests, self.began = None, False, time.monotonic()
        self._window.start(self._run.work(), kind="conversation", scope=self.scope)
        self._tell()

    def _adopt(self, session_id: str) -> None:
        if session_id == self.session_id:
            return
        before, is_new = self.place, not self.session_id
        self.shelf.choices[session_id] = self.choice
        self.session_id = session_id
        if is_new:
            self.shelf.move_unsent(before, self.place)

    def _on_stop_state(self, event: StopStateChanged) -> None:
        if event.scope != self.scope:
            return
        match event.state:
            case "idle":
                self._end_run()
            case "running":
                self.run_state = "running"
            case _:
                self.run_state = "stopping"
        self._tell()

    def _end_run(self) -> None:
        self.run_state = "idle"
        self.has_ended_unseen = not self._window.is_in_front
        self.asking.forget()
        run = self._run
        if run is not None:
            is_done = run.feed.has_ended  # and was not stopped, behind the last answer
            run.feed.close("stopped")
            if self._waiting_decision is None:
                self._close_chips()
            self.tokens = run.feed.tokens or self.tokens
            self._context_tokens = run.feed.context_tokens or self._context_tokens
            self.cost = run.feed.cost if run.feed.has_ended else self.cost
            if run.has_failed and self.root is not None and self.session_id and self.mode == "workflow":
                self._window.start(self._find_rest(self.root, self.session_id), kind="sessions")
            if run.is_accepted and is_done:
                self._window.design_accepted(run.circuit)
                run.is_accepted = False
        if self.root is not None:
            self._window.start(self._name(self.root, self.session_id), kind="sessions")
        self.versions.end_run(has_failed=run is not None and (run.has_failed or bool(self._stopped_for)))
        self._keep_unsaid()
        stopped_for, self._stopped_for = self._stopped_for, ""
        if stopped_for == "user":
            self._take_back_queue()
        elif self.root is not None:
            if stopped_for:
                self._give_back_unwritten()
            if run is not None and run.has_failed and not stopped_for:
                self.queue.hold()
            if stopped_for or self.queue.is_free:
                self._send_next()
        if self.is_unread and not self.is_running:  # it was said before the rest was read
            self.open_session(self.session_id)

    async def _find_rest(self, root: Path, session_id: str) -> None:
        """Behind an error: the question a design waits at is asked again, or its step can be tried again."""
        try:
            stored = await self.shelf.read(root, session_id)
        except CircuitAIError:  # the error that is shown says enough
            return
        if (root, session_id) != (self.root, self.session_id) or self.is_running:
            return
        waits = next(
            (item for item in stored.items if isinstance(item, Decision) and item.state == "waits"), None
        )
        self._rests = waits is None and stored.rests
        if waits is not None and self._waiting_decision is None:
            for block in [item for item in self.items if isinstance(item, ErrorBlock)]:
                self.items.put(replace(block, can_retry=False))
            self.items.put(waits)
            self._tell()

    def _keep_unsaid(self) -> None:
        """What was typed and no checkpoint has taken stands in the input again."""
        unsaid = self.asking.take_unsaid()
        if unsaid:
            self.draft = f"{unsaid}\n{self.draft}".strip()

    async def _name(self, root: Path, session_id: str) -> None:
        infos = await self.shelf.relist(self.root)
        for info in infos:
            if info.session_id == session_id == self.session_id and root == self.root:
                self.name = title_of(info.name, info.preview)
        if not self.is_running:
            self._note_written()
        self._window.state_changed()

    # --- telling -------------------------------------------------------------------------------------

    def _tell(self) -> None:
        self.versions.mark()
        changes = self.items.take_changes()
        if changes:
            self._window.items_changed(changes)
        self._window.state_changed()

    def tell(self) -> None:
        """Rows were changed from outside."""
        self._tell()

    def _put_error(self, error: CircuitAIError) -> None:
        self.items.put(error_block(error, model=self.model_name))
        self._tell()
