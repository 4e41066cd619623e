"""The state and the intents of a conversation, without widgets.

The view model knows what is shown (`items`), what runs, and what is being written. It tells its listener
of changes: items at once when a person or an event changed them, pieces of a stream together every 50 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from application.events import AnswerStreamed, ChatEvent, DesignEvent
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.feed import Activity, RunFeed
from presentation.panels.conversation.items import (
    WRITING_TOOLS,
    Change,
    Choice,
    Decision,
    ErrorBlock,
    Interrupted,
    Item,
    ItemList,
    Note,
    OperationCard,
    Standing,
    UserText,
)
from presentation.panels.conversation.stored import items_of, title_of, with_operation
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.stop import StopStateChanged
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.app import Application
    from application.designing import Answer, DesignRequest, Question, ResumeRequest
    from application.events import GoalsUnderstood
    from application.ports import SessionInfo

Mode = Literal["free", "workflow"]
RunState = Literal["idle", "running", "stopping"]

_TITLE_LENGTH = 80
_WORDS: dict[str, Choice] = {
    **dict.fromkeys(
        ("continue", "go on", "next", "optimise", "optimize", "继续", "继续优化", "再来", "优化"), "continue"
    ),
    **dict.fromkeys(("accept", "ok", "yes", "done", "接受", "接受设计", "好", "可以", "完成"), "accept"),
    **dict.fromkeys(("stop", "cancel", "no", "停止", "停", "取消", "不"), "stop"),
}


class Window(Protocol):
    """What the view model asks of the window around it."""

    def save_buffers(self) -> bool:
        """Write unsaved files; False when one could not be."""
        ...

    def file_changed(self, path: Path) -> None:
        """A file of the project is another than before."""
        ...

    async def confirm_goals(self, goals: GoalsUnderstood) -> bool:
        """Show the goals and wait for a yes or a no."""
        ...

    def start(self, coroutine: Coroutine[Any, Any, object], *, kind: str, scope: str | None = None) -> object:
        """Run a coroutine as a task."""
        ...

    def later(self, delay_ms: int, call: Callable[[], None]) -> None:
        """Call once, after a while."""
        ...

    def items_changed(self, changes: list[Change]) -> None:
        """What is shown is another."""
        ...

    def state_changed(self) -> None:
        """Anything else is another."""
        ...

    def translate(self, message: Message) -> str:
        """A message in the user's language."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """A decision somebody waits for."""

    key: str
    reply: asyncio.Future[Choice]


class ConversationViewModel:
    """One conversation tab."""

    FLUSH_MS = 50

    def __init__(self, app: Application, window: Window, *, flush_ms: int = FLUSH_MS) -> None:
        self._app = app
        self._window = window
        self._flush_ms = flush_ms
        self.scope = f"conversation-{new_ulid()}"
        self.items = ItemList()
        self.root: Path | None = None
        self.session_id = ""
        self.name = ""
        self.mode: Mode = "free"
        self.choice = ProviderChoice()
        self.run_state: RunState = "idle"
        self.waiting = ""
        """Typed while a run was under way; sent when it ends."""
        self.tokens = 0
        """Of the last run."""
        self.sessions: tuple[SessionInfo, ...] = ()
        self._choices: dict[str, ProviderChoice] = {}
        self._drafts: dict[tuple[Path | None, str], str] = {}
        self._feed: RunFeed | None = None
        self._asked: _Asked | None = None
        self._is_flush_due = False
        self._loading = 0
        """Number of the newest request for another conversation; older ones give way."""
        self._unsubscribe = app.events.subscribe(StopStateChanged, self._on_stop_state)

    def close(self) -> None:
        """Listen no more."""
        self._unsubscribe()

    # --- state ---------------------------------------------------------------------------------------

    def rows(self) -> tuple[Item, ...]:
        """Everything as it stands, with what has come of an answer under way."""
        coming = self._feed.snapshot() if self._feed is not None else None
        return tuple(coming if coming and item.key == coming.key else item for item in self.items)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way, be it stopping."""
        return self.run_state != "idle"

    @property
    def activity(self) -> Activity | None:
        """What the run is doing."""
        return self._feed.activity if self._feed is not None and self.is_running else None

    @property
    def is_asking(self) -> bool:
        """Whether the run waits for the user's decision."""
        return self._asked is not None

    @property
    def model_name(self) -> str:
        """What answers, for people; "" = the built-in designer."""
        return "" if self.choice.provider == "builtin" else self.choice.model or self.choice.provider

    @property
    def draft(self) -> str:
        """What was written and not sent, of this conversation."""
        return self._drafts.get((self.root, self.session_id), "")

    @draft.setter
    def draft(self, text: str) -> None:
        self._drafts[self.root, self.session_id] = text

    # --- conversations -------------------------------------------------------------------------------

    def set_project(self, root: Path | None) -> None:
        """Another project, or none: nothing of the one before is shown, its newest conversation is."""
        if root == self.root:
            return
        self.stop()
        self._feed = self._asked = None  # what a run still tells is of the project before
        self.items = ItemList()
        self.waiting = ""
        self.root = root
        self.sessions = ()
        self._show_nothing()
        if root is not None:
            self._window.start(self._open_newest(root), kind="sessions")

    def new_conversation(self) -> Message | None:
        """An empty conversation; the reason when it can't be now."""
        if self.is_running:
            return _busy()
        self._show_nothing()
        return None

    def open_session(self, session_id: str) -> Message | None:
        """Show a stored conversation; the reason when it can't be now."""
        if self.is_running:
            return _busy()
        if self.root is not None:
            self._loading += 1
            self._window.start(self._open(self.root, session_id, self._loading), kind="sessions")
        return None

    def delete_session(self, session_id: str) -> Message | None:
        """Remove a stored conversation; the reason when it can't be now."""
        if self.is_running and session_id == self.session_id:
            return _busy()
        if self.root is not None:
            self._window.start(self._delete(self.root, session_id), kind="sessions")
        return None

    async def refresh_sessions(self) -> tuple[SessionInfo, ...]:
        """The stored conversations, the last changed first."""
        root = self.root
        if root is None:
            return ()
        try:
            found = await self._app.sessions.list(root)
        except CircuitAIError:  # no project's folder yet: nothing was said here
            found = ()
        if root == self.root:
            self.sessions = found
        return found

    def _show_nothing(self) -> None:
        self._loading += 1
        self.session_id = self.name = ""
        self.tokens = 0
        self.choice = self._choices.get("", self.choice)
        self.items.reset()
        self._tell()

    async def _open_newest(self, root: Path) -> None:
        self._loading += 1
        number = self._loading
        infos = await self.refresh_sessions()
        if infos and number == self._loading:
            await self._open(root, infos[0].session_id, number)

    async def _open(self, root: Path, session_id: str, number: int) -> None:
        try:
            session = await self._app.sessions.show(root, session_id)
            operations = await self._app.operations.list(root)
        except CircuitAIError as error:
            if number == self._loading:
                self._put_error(error)
            return
        items = await asyncio.to_thread(items_of, session, operations)
        if number != self._loading or root != self.root or self.is_running:
            return  # something else was opened, or begun, in the meantime
        said = next((item.text for item in items if isinstance(item, UserText)), "")
        self.session_id, self.name = session.id, title_of(session.name, said[:_TITLE_LENGTH])
        self.mode = "workflow" if session.work_mode == "workflow" else "free"
        self.choice = self._choices.get(session.id, self.choice)
        self.tokens = 0
        self.items.reset(items)
        self._tell()

    async def _delete(self, root: Path, session_id: str) -> None:
        try:
            await self._app.sessions.delete(root, session_id)
        except CircuitAIError as error:
            self._put_error(error)
            return
        await self.refresh_sessions()
        if session_id == self.session_id and not self.is_running:
            self._show_nothing()
        else:
            self._window.state_changed()

    # --- what the user does --------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> Message | None:
        """Choose how the next message is worked on; the reason when it can't be now."""
        if self.is_running:
            return msg("The mode can be changed when the run has ended. Stop it first.")
        self.mode = mode
        self._window.state_changed()
        return None

    def set_choice(self, choice: ProviderChoice) -> None:
        """Choose what answers in this conversation."""
        self.choice = self._choices[self.session_id] = choice
        self._window.state_changed()

    def send(self, text: str) -> Message | None:
        """Say something: a new message, the answer to a checkpoint, or what comes next when a run ends.

        Returns why it was not taken; the text is then still the user's.
        """
        text = text.strip()
        if not text:
            return msg("There is nothing to say: the text is empty.")
        if self.root is None:
            return msg("Open a project first: the conversation is about its files.")
        if self._asked is not None and self._answer_in_words(text):
            return None
        if self.is_running:
            self.waiting = f"{self.waiting}\n{text}".strip()
            self._window.state_changed()
            return None
        return self._begin(text)

    def take_back_waiting(self) -> str:
        """The text that waits, to be changed or dropped."""
        text, self.waiting = self.waiting, ""
        self._window.state_changed()
        return text

    def stop(self) -> bool:
        """Stop the run; False when none is under way."""
        if self.run_state == "idle":
            return False
        self._window.start(self._app.stop.stop("user", scope=self.scope), kind="stop")
        return True

    def answer(self, key: str, choice: Choice) -> None:
        """Press a button of a decision."""
        item = self.items.get(key)
        if self._asked is None or self._asked.key != key or not isinstance(item, Decision):
            return
        asked, self._asked = self._asked, None
        self.items.put(replace(item, state="chosen", answer=choice))
        asked.reply.set_result(choice)
        self._tell()

    def go_on(self, key: str) -> Message | None:
        """Go on with an interrupted turn."""
        item = self.items.get(key)
        if not isinstance(item, Interrupted) or not item.can_continue or self.root is None:
            return None
        if self.is_running:
            return _busy()
        if not self._save():
            return _unsaved()
        is_open = item.reason == "interrupted"  # any other turn was closed with what it had
        self.items.put(replace(item, can_continue=False))
        if self.mode == "workflow" or is_open:
            self._start(self._resume())
            return None
        return self._begin(self._window.translate(msg("Go on.")))

    def retry(self, key: str) -> Message | None:
        """Say the last message again after an error."""
        item = self.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        if self.is_running:
            return _busy()
        said = next((row for row in reversed(tuple(self.items)) if isinstance(row, UserText)), None)
        self.items.put(replace(item, is_spent=True))
        return None if said is None else self._begin(said.text)

    def undo(self, key: str) -> Message | None:
        """Take back the change of a card, or do it again; the reason when it can't be now."""
        card = self.items.get(key)
        if (
            not isinstance(card, OperationCard)
            or card.standing not in ("stands", "undone")
            or self.root is None
        ):
            return None
        if self.is_running:
            return msg("A run is using the files. Stop it before a change is taken back.")
        if not self._save():
            return _unsaved()
        self.items.put(replace(card, standing="undoing", problem=None))
        self._window.start(self._undo(self.root, card), kind="undo")
        self._tell()
        return None

    # --- runs ----------------------------------------------------------------------------------------

    def _begin(self, text: str) -> Message | None:
        if not self._save():
            return _unsaved()
        if self.mode == "workflow" and len(self.items):
            self._show_nothing()  # a design begins a conversation of its own
        for item in self.items:
            if isinstance(item, ErrorBlock) and not item.is_spent:
                self.items.put(replace(item, is_spent=True))
            elif isinstance(item, Interrupted) and item.can_continue:
                self.items.put(replace(item, can_continue=False))
        self._loading += 1
        self.items.put(UserText(key=new_ulid(), text=text, created=_now()))
        self._start(self._design_new(text) if self.mode == "workflow" else self._chat(text))
        return None

    def _start(self, run: Coroutine[Any, Any, object]) -> None:
        self._feed = RunFeed(self.items, model=self.model_name)
        self._feed.session_id = self.session_id
        self._window.start(run, kind="conversation", scope=self.scope)
        self._tell()

    async def _chat(self, text: str | None) -> None:
        from application.chatting import ChatRequest

        assert self.root is not None
        request = ChatRequest(project=self.root, text=text, session_id=self.session_id, choice=self.choice)
        feed = self._running_feed()
        await self._told(feed, self._app.chat(request, emit=partial(self._on_event, feed)))

    async def _design_new(self, text: str) -> None:
        from application.designing import DesignRequest

        assert self.root is not None
        await self._design(DesignRequest(project=self.root, text=text, provider=self.choice.provider))

    async def _resume(self) -> None:
        from application.designing import ResumeRequest

        assert self.root is not None
        if self.mode == "workflow":
            await self._design(ResumeRequest(project=self.root, session_id=self.session_id))
        else:
            await self._chat(None)

    async def _design(self, request: DesignRequest | ResumeRequest) -> None:
        feed = self._running_feed()
        run = self._app.design(request, ask=partial(self._ask, feed), emit=partial(self._on_event, feed))
        await self._told(feed, run)

    def _running_feed(self) -> RunFeed:
        assert self._feed is not None, "a run begins with its feed"
        return self._feed

    async def _told(self, feed: RunFeed, run: Awaitable[object]) -> None:
        """Wait for a run; an error that no event has told becomes an error block."""
        try:
            await run
        except CircuitAIError as error:
            if not feed.has_told_error and feed is self._feed:
                self._put_error(error)
            feed.has_ended = True

    async def _ask(self, feed: RunFeed, question: Question) -> Answer:
        if feed is not self._feed:  # nobody is there to be asked any more
            return "decline" if question.kind == "goals" else "stop"
        if question.kind == "goals":
            from application.events import GoalsUnderstood

            told = feed.goals or (GoalsUnderstood(goals=question.goals, assumptions=()),)
            return "continue" if await self._window.confirm_goals(told[-1]) else "decline"
        verdicts = feed.last_verdicts
        decision = Decision(
            key=new_ulid(),
            kind=question.kind,
            number=question.round_number,
            met=sum(verdict.met for verdict in verdicts.verdicts) if verdicts else 0,
            total=len(verdicts.verdicts) if verdicts else 0,
            has_failed=feed.has_failed_simulation,
            text=question.text,
        )
        self.items.put(decision)
        self._asked = _Asked(decision.key, asyncio.get_running_loop().create_future())
        reply = self._asked.reply
        self._tell()
        try:
            return await reply
        finally:
            if self._asked is not None and self._asked.reply is reply:
                self._asked = None

    def _answer_in_words(self, text: str) -> bool:
        """Whether what was typed is an answer; else the checkpoint is left and the text comes next."""
        assert self._asked is not None
        decision = self.items.get(self._asked.key)
        if not isinstance(decision, Decision) or decision.kind != "checkpoint":
            return False
        asked, choice = self._asked, _WORDS.get(text.strip(" .!。！").lower())
        self._asked = None
        if choice is None:
            self.waiting = text  # shown as said when it is sent
        else:
            self.items.put(UserText(key=new_ulid(), text=text, created=_now()))
        answered: Decision = replace(
            decision, state="expired" if choice is None else "chosen", answer=choice or "stop"
        )
        self.items.put(answered)
        asked.reply.set_result(choice or "stop")
        self._tell()
        return True

    def _on_event(self, feed: RunFeed, event: ChatEvent | DesignEvent) -> None:
        if feed is not self._feed:
            return
        feed(event)
        if isinstance(event, AnswerStreamed):
            self._flush_soon()
            return
        if feed.session_id != self.session_id:
            self._adopt(feed.session_id)
        call_id = getattr(event, "call_id", "")
        card = self.items.get(call_id) if call_id else None
        if isinstance(card, OperationCard) and card.tool in WRITING_TOOLS and card.state != "running":
            self._after_change(card)
        self._tell()

    def _adopt(self, session_id: str) -> None:
        draft = self._drafts.pop((self.root, self.session_id), "")
        if not self.session_id and draft:
            self._drafts[self.root, session_id] = draft
        self._choices[session_id] = self.choice
        self.session_id = session_id

    def _after_change(self, card: OperationCard) -> None:
        if self.root is None:
            return
        if card.path:
            self._window.file_changed(self.root / card.path)
        self._window.start(self._load_change(self.root, card.key), kind="operations")

    async def _load_change(self, root: Path, key: str) -> None:
        try:
            entry = await self._app.operations.diff(root, key)
        except CircuitAIError:  # the call changed nothing (it failed, or the file was so already)
            return
        card = self.items.get(key)
        if isinstance(card, OperationCard):
            self.items.put(with_operation(card, entry, {}))
            self._tell()

    async def _undo(self, root: Path, card: OperationCard) -> None:
        try:
            undone = await self._app.operations.undo(root, card.tip)
        except CircuitAIError as error:
            self.items.put(replace(card, problem=_with_advice(error)))
        else:
            standing: Standing = "undone" if card.standing == "stands" else "stands"
            self.items.put(replace(card, standing=standing, tip=undone.record.op_id, problem=None))
            self._window.file_changed(root / undone.record.path)
        self._tell()

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
        self._asked = None
        if self._feed is not None:
            self._feed.close("stopped")
            self.tokens = self._feed.tokens or self.tokens
        if self.root is not None:
            self._window.start(self._name(self.root, self.session_id), kind="sessions")
        if self.waiting and self.root is not None:
            text, self.waiting = self.waiting, ""
            problem = self._begin(text)
            if problem is not None:  # it goes back to where it was written
                self.draft = f"{text}\n{self.draft}".strip()
                self.items.put(Note(key=new_ulid(), text=problem))

    async def _name(self, root: Path, session_id: str) -> None:
        infos = await self.refresh_sessions()
        for info in infos:
            if info.session_id == session_id == self.session_id and root == self.root:
                self.name = title_of(info.name, info.preview)
        self._window.state_changed()

    # --- telling -------------------------------------------------------------------------------------

    def _flush_soon(self) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            self._window.later(self._flush_ms, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        if self._feed is not None:
            self._feed.flush()
        self._tell()

    def _tell(self) -> None:
        changes = self.items.take_changes()
        if changes:
            self._window.items_changed(changes)
        self._window.state_changed()

    def _save(self) -> bool:
        return self._window.save_buffers()

    def _put_error(self, error: CircuitAIError) -> None:
        self.items.put(
            ErrorBlock(
                key=new_ulid(), message=error.message, advice=error.advice, error_type=error.error_type
            )
        )
        self._tell()


def _with_advice(error: CircuitAIError) -> Message:
    if error.advice is None:
        return error.message
    return msg("{problem} {advice}", problem=error.message, advice=error.advice)


def _busy() -> Message:
    return msg("A run is under way in this conversation. Stop it first.")


def _unsaved() -> Message:
    return msg("An open file could not be saved, so nothing was started.")


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")
