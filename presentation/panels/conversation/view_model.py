"""The state and the intents of a conversation, without widgets.

The view model knows what is shown (`items`), what runs, and what is being written. It tells its listener
of changes: items at once when a person or an event changed them, pieces of a stream together every 50 ms.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from domain.llm.chat import ProviderChoice
from domain.llm.costs import Cost
from domain.llm.provider_settings import BUILTIN
from presentation.panels.conversation.asking import Asking, not_a_change
from presentation.panels.conversation.changes import FileChanges
from presentation.panels.conversation.design_questions import DesignQuestions
from presentation.panels.conversation.feed import Activity
from presentation.panels.conversation.items import (
    AttachedItem,
    ErrorBlock,
    Interrupted,
    Item,
    ItemList,
    Note,
    OperationCard,
    ScrollPlace,
    UserText,
    WorkedElsewhere,
)
from presentation.panels.conversation.live_run import LiveRun, RunOrder, error_block
from presentation.panels.conversation.outbox import Outbox
from presentation.panels.conversation.pending import Pending, Place
from presentation.panels.conversation.piecewise import Piecewise
from presentation.panels.conversation.shelf import Shelf, StoredConversation
from presentation.panels.conversation.shown_conversation import Mode
from presentation.panels.conversation.shown_transcript import ShownTranscript
from presentation.panels.conversation.stored import title_of
from presentation.panels.conversation.versions import Versions
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import as_change_of_design, busy, now
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.tasks import StopStateChanged
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.app import Application
    from application.ports.conversation import SessionInfo
    from application.tool_execution.taking_back import UndoChoice

RunState = Literal["idle", "running", "stopping"]


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
        self._is_queue_edited = False
        self._answered = ""  # the text that is being answered
        self._came_from = ""  # the conversation behind which another circuit was asked for, in one of its own
        self.has_ended_unseen = False
        """A run has ended while another tab was in front."""
        self.is_held = False
        """It is being read what a message behind a design means."""
        self._stopped_for: Literal["", "user", "next"] = ""
        """The run is stopped by its user: what waits goes back to where it was written, or is sent next."""
        self.scroll = ScrollPlace()
        """Of the messages when another tab came to the front."""
        self.pending = Pending(app.conversations, window, place=lambda: self.place, files=shelf.files)
        self.outbox = Outbox(
            self.items, shelf.drafts, self.pending, place=lambda: self.place, queue_changed=self._on_queue
        )
        self.queue = self.outbox.queue
        self.began = 0.0
        """Of the last run, by the monotonic clock."""
        self.tokens = 0
        """Of the last run."""
        self._context_tokens = 0
        self.cost = Cost()
        """Of the conversation."""
        self.asking = Asking(self.items, window, self._tell)
        self._changes = FileChanges(app.project, self.items, window, self._tell)
        self.pieces = Piecewise(app.project, self.items, window, self._tell)
        self.versions = Versions(self, window, self._changes)
        self.transcript = ShownTranscript(self, app.conversations, shelf, window)
        self.design = DesignQuestions(self, self.asking, app.design, window, open_again=self.transcript.open)
        self._run: LiveRun | None = None
        """The one under way, or the last one."""
        self._unsubscribe = app.program.events.subscribe(StopStateChanged, self._on_stop_state)

    def close(self) -> None:
        """Nothing of it is shown any more; what was not sent is kept."""
        self.stop()
        if self._run is not None:
            self._run.leave()
        self.versions.forget()
        self._keep_unsaid()
        self.outbox.take_back_all()
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
        rests_at_question = not self.is_running and self.design.waiting is not None
        return rests_at_question or self.waits_for_decision or self._window.has_question

    @property
    def has_failed(self) -> bool:
        """Whether an error has ended the last run."""
        return self._run is not None and self._run.has_failed

    def rows(self) -> tuple[Item, ...]:
        """Everything as it stands, with what was handed on of an answer under way."""
        coming = self._run.feed.snapshot() if self._run is not None else None
        shown = map(self.versions.as_edited, self.items)
        return tuple(coming if coming and item.key == coming.key else item for item in shown)

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
        return self.outbox.draft

    @draft.setter
    def draft(self, text: str) -> None:
        self.outbox.draft = text

    @property
    def is_taken_over(self) -> bool:
        """Whether somebody else goes on with what the last run began."""
        return self._run is not None and self._run.is_taken_over

    @property
    def can_change(self) -> bool:
        """Whether nothing is at work on the conversation, be it a run or what only reads."""
        return not (self.is_running or self.is_held)

    @property
    def unsent(self) -> str:
        """The draft with all that waits for the end of a run, or was said and not written yet."""
        versions, waiting = self.versions, (self.asking.unsaid, self.queue.text)
        written = (self.draft, versions.row_draft)
        texts = (self.outbox.unwritten, versions.asked, *waiting, *written)
        return "\n".join(filter(None, texts)).strip()

    # --- conversations -------------------------------------------------------------------------------

    def new_conversation(self) -> Message | None:
        """An empty conversation; the reason when it can't be now."""
        if self.is_running:
            return busy()
        self.outbox.take_back_all()
        self.show_nothing()
        return None

    async def end_for_another(self) -> None:
        """Another conversation is opened here: a run under way is stopped, and what came of it kept."""
        if self.is_running:
            name, self._stopped_for = self.name, "user"
            await self._app.program.stop.stop("session_switch", scope=self.scope)
            self._window.told(
                msg("“{name}” was stopped and kept: another conversation was opened.", name=name),
                is_problem=False,
            )

    def come_to_front(self) -> None:
        """The tab is shown: read what was put off, and ask what waited for somebody to see it."""
        self.has_ended_unseen = False
        if self.transcript.is_unread:
            self.transcript.open(self.session_id, self.scroll)
        self._window.come_to_front()

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was said or written here."""
        return not (self.session_id or len(self.items) or self.unsent or self.pending.files)

    def show_nothing(self) -> None:
        """Show an empty conversation."""
        self.transcript.leave()
        self.versions.forget()
        self.session_id = self.name = ""
        self.tokens = self._context_tokens = 0
        self.design.rests = False
        self.outbox.forget()
        self.cost = Cost()
        self.choice = self.shelf.choices.get("", self.choice)
        self.items.reset()
        self._tell()

    def show(self, stored: StoredConversation, *, keeps_mode: bool = False) -> None:
        """Show what was read of a conversation; `keeps_mode`: what was chosen for the next message stays."""
        self.outbox.give_back_said()
        self.versions.forget()
        if not self.session_id:  # what was written here before is the next new conversation's
            self.shelf.move_unsent(self.place, (self.root, ""))
        self.session_id, self.name = stored.session_id, stored.title
        if not keeps_mode or self.mode == self._stored_mode:
            self.mode = stored.mode
        self._stored_mode = stored.mode
        self.choice = self.shelf.choices.get(stored.session_id, self.choice)
        self.tokens, self._context_tokens = 0, stored.context_tokens
        self.design.rests = stored.rests
        self.cost = stored.cost
        self.items.become(stored.items)
        self._tell()

    # --- what the user does --------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> Message | None:
        """Choose how the next message is worked on; the reason when it can't be now."""
        if self.is_running and not self.can_switch:
            return msg("The mode can be changed when the run has finished. Stop it first.")
        was, self.mode = self.mode, mode
        if self.asking.is_at_checkpoint:  # the design rests; its question stays and waits
            self._window.start(self._app.program.stop.stop("user", scope=self.scope), kind="stop")
        elif mode == "workflow" != was and self.design.waiting is not None:
            self.resume()
        self._window.state_changed()
        return None

    @property
    def can_switch(self) -> bool:
        """Whether the mode can be changed: at every rest, also of a design at its question."""
        return not self.is_running or (self.run_state == "running" and self.asking.is_at_checkpoint)

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

    @property
    def is_worked_elsewhere(self) -> bool:
        """Another window or command has it: here it is only followed."""
        return isinstance(self.items.last(), WorkedElsewhere)

    def send(self, text: str) -> Message | None:
        """Say something: a new message, the answer to a checkpoint, or what comes next when a run ends.

        Returns why it was not taken; the text is then still the user's.
        """
        if self.is_worked_elsewhere:
            return msg(
                "Another window or command is working on this conversation: wait for it, or take over."
            )
        return self.outbox.sending(lambda: self._send(text))

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
        if self.is_running or self.transcript.is_keeping:
            return self._let_wait(text)
        return self.outbox.with_files(lambda attached: self.begin(text, attached))

    def _let_wait(self, text: str) -> Message | None:
        """It is sent when the run has ended and what waits already was; or why not."""
        return self.outbox.with_files(lambda attached: self.queue.add(text, attached, running=self._answered))

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
        if has_ended:  # it waited for the end of the edit only
            self.send_waiting()
        self._window.state_changed()

    def send_waiting(self) -> None:
        """Nothing holds up any more what was said meanwhile."""
        if not self.is_running and self.queue.is_free and self.root is not None:
            self._send_next()

    def _send_next(self) -> None:
        entry = self.queue.take_first()
        if entry is None:
            return
        problem = self.begin(entry.text, entry.attached)
        if problem is not None:  # it goes back to where it was written
            self.queue.hold()
            self.outbox.give_back(entry.text, entry.attached)
            self.items.put(Note(key=new_ulid(), text=problem))

    def take_back_unwritten(self, key: str = "") -> bool:
        """What was said and could not be written stands in the input again; False where this (the message
        of `key`, if it is given) is none."""
        if self.is_running or not self.outbox.give_back_said(key):
            return False
        self._tell()
        return True

    def stop(self) -> bool:
        """Stop the run; False when none is under way."""
        if self.run_state == "idle":
            return False
        self._stopped_for = "user"
        self._window.start(self._app.program.stop.stop("user", scope=self.scope), kind="stop")
        return True

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

    # --- runs ----------------------------------------------------------------------------------------

    def begin(self, said: str | Message, attached: tuple[AttachedItem, ...] = ()) -> Message | None:
        """Say something that begins a turn (or, in workflow mode, a design); the reason when it can't."""
        if (problem := self._unfit_for_design(attached)) is not None:
            return problem
        if self.is_held and not (self.mode == "workflow" and self.design.is_open):
            return busy()
        text = self._window.translate(said) if isinstance(said, Message) else said
        self.versions.leave()
        if self.mode == "workflow" and self.design.is_open:
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
            return msg("A design writes files. Turn “Read only” off, or switch to free work.")
        return None

    async def _begin_behind(self, text: str) -> None:
        """A message behind a design: it changes its goals, begins another conversation, or is asked back."""
        assert self.root is not None, "whoever begins has looked"
        place = self.root, self.session_id
        try:
            read = await self._app.design.run.read_message(
                *place, text, self.choice.provider, circuit=self._window.circuit_at_hand(self.root)
            )
        except CircuitAIError as error:
            self.outbox.give_back(text, place=place)
            self.put_error(error)
            return
        finally:
            self.is_held = False
        if place != (self.root, self.session_id) or self.is_running:
            self.outbox.give_back(text, place=place)
        elif read.kind == "unclear":
            if not read.instead:
                self.outbox.give_back(text, place=place)
            told = read.problem or not_a_change(read.goals)
            self.items.put(Note(key=new_ulid(), text=told, change=read.instead, is_new=bool(read.instead)))
        else:
            if read.kind == "apart":
                self.show_nothing()  # another circuit begins a conversation of its own
            self._begin_turn(text, ())
            self._came_from = place[1] if read.kind == "apart" else ""
        self._tell()

    def _begin_turn(self, text: str, attached: tuple[AttachedItem, ...]) -> None:
        if self.outbox.unwritten == text:
            self.outbox.take_said()  # it is said again
        self.outbox.give_back_said()
        before = tuple(self.items)
        self._spend_ways_on()
        settled = tuple(item for item in before if self.items.get(item.key) != item)
        self.transcript.give_way()
        self.name = self.name or " ".join(text.split())
        said = UserText(key=new_ulid(), text=text, created=now(), attached=attached)
        self.outbox.keep(said, settled)
        self.items.put(said)
        self._start(said)

    def begin_instead(self, said: UserText, old: str, *, is_changed: bool) -> None:
        """A message takes the place of an earlier one of a chat (its id), whose rows are gone by now."""
        self.mode = "free"
        self.transcript.give_way()
        self.outbox.give_back_said()
        if is_changed:
            self.outbox.keep(said, is_version=True)
        self.items.put(replace(said, created=now()))
        self._start(said, instead_of=old)

    def resume(self, *, mode: Mode | None = None) -> None:
        """Carry out what an interrupted turn, or in workflow mode the design, has left."""
        self.mode = mode or self.mode
        self.versions.leave()
        self.outbox.give_back_said()
        self._spend_ways_on()
        self._start(None)

    def _spend_ways_on(self) -> None:
        """One of them was taken, or something else was said; a chat leaves those of the design."""
        for item in tuple(self.items):
            if isinstance(item, ErrorBlock) and not item.is_spent:
                self.items.put(replace(item, is_spent=True))
            elif isinstance(item, Note) and item.change:
                self.items.remove(item.key)
            elif isinstance(item, Interrupted) and not item.of_design:
                self.items.put(replace(item, can_continue=False))
            elif isinstance(item, Interrupted) and self.mode == "workflow":
                self.items.remove(item.key)
        self.design.ask_again_behind()

    def replace_item(self, item: Item) -> None:
        self.items.put(item)
        self._tell()

    def _start(self, said: UserText | None, *, instead_of: str = "") -> None:
        assert self.root is not None, "whoever starts has looked"
        text = None if said is None else said.text
        self._answered, self._stored_mode, self._came_from = text or "", self.mode, ""
        order = RunOrder(
            root=self.root,
            mode=self.mode,
            text=text,
            session_id=self.session_id,
            choice=self.choice,
            main_circuit=self._window.main_circuit(self.root),
            begins_from=self._window.circuit_at_hand(self.root),
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
            adopt=self.adopt,
            written=self._on_written,
            tell=self._tell,
        )
        self.transcript.begin_writing()
        self.design.rests, self.began = False, time.monotonic()
        self._window.start(self._run.work(), kind="conversation", scope=self.scope)
        self._tell()

    def _on_written(self) -> None:
        self.outbox.forget()
        self.transcript.note_said()

    def adopt(self, session_id: str) -> None:
        """What is shown has begun this conversation."""
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
            if self.design.waiting is None:
                self.design.close_chips()
            self.tokens = run.feed.tokens or self.tokens
            self._context_tokens = run.feed.context_tokens or self._context_tokens
            self.cost = run.feed.cost if run.feed.has_ended else self.cost
            if run.has_failed and self.root is not None and self.session_id and self.mode == "workflow":
                self._window.start(self.design.find_rest(self.root, self.session_id), kind="sessions")
            if run.is_accepted and is_done:
                self._window.design_accepted(run.circuit)
                run.is_accepted = False
        if self.root is not None:
            self._window.start(self._name(self.root, self.session_id), kind="sessions")
        self.versions.end_run(has_failed=run is not None and (run.has_failed or bool(self._stopped_for)))
        self._keep_unsaid()
        stopped_for, self._stopped_for = self._stopped_for, ""
        if stopped_for == "user":
            self.outbox.take_back_all()
        elif self.root is not None:
            if stopped_for:
                self.outbox.give_back_said()
            if run is not None and run.has_failed and not stopped_for:
                self.queue.hold()
            if stopped_for or self.queue.is_free:
                self._send_next()
        self.transcript.keep_what_waited()
        if self.transcript.is_unread and not self.is_running:  # it was said before the rest was read
            self.transcript.open(self.session_id)
        came_from, self._came_from = self._came_from, ""
        if came_from and run is not None and run.is_declined and not self.is_running:
            self.transcript.open(came_from)

        is_whole = run is not None and not (run.has_failed or stopped_for)
        self._look_for_change(is_whole=is_whole)

    def _look_for_change(self, *, is_whole: bool) -> None:
        """What the built-in designer was told in free work may be for a design that is finished: it knows of
        none there, as a language model does."""
        is_by_rules = self.mode == "free" and self.choice.provider == BUILTIN and not self.reads_only
        if is_whole and is_by_rules and self._answered and not self.is_running:
            self._window.start(self._offer_change(self._answered), kind="sessions")

    async def _offer_change(self, text: str) -> None:
        """Behind a turn of free work whose message a design would take: one click gives it that."""
        assert self.root is not None, "a turn has ended in it"
        place = self.root, self.session_id
        circuit = self._window.circuit_at_hand(self.root)
        takes = await self._app.design.run.takes(*place, text, circuit=circuit)
        is_left = place != (self.root, self.session_id) or self.is_running or self.mode != "free"
        if takes and not is_left:
            self.items.put(Note(key=new_ulid(), text=as_change_of_design(), change=text))
            self._tell()

    def change_design(self, key: str) -> Message | None:
        """Give the sentence of a note to the design of the conversation; the reason when it can't be now."""
        note = self.items.get(key)
        if not isinstance(note, Note) or not note.change:
            return None
        if self.is_running:
            return busy()
        return self.set_mode("workflow") or self.begin(note.change)

    def _keep_unsaid(self) -> None:
        """What was typed and no checkpoint has taken stands in the input again."""
        unsaid = self.asking.take_unsaid()
        if unsaid:
            self.outbox.give_back(unsaid)

    async def _name(self, root: Path, session_id: str) -> None:
        infos = await self.shelf.relist(self.root)
        for info in infos:
            if info.session_id == session_id == self.session_id and root == self.root:
                self.name = title_of(info.name, info.preview)
        if not self.is_running:
            self.transcript.note_written(by_others=self.is_taken_over)
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

    def put_error(self, error: CircuitAIError) -> None:
        self.items.put(error_block(error, model=self.model_name))
        self._tell()

    def put_note(self, text: Message) -> None:
        self.items.put(Note(key=new_ulid(), text=text))
        self._tell()
