"""One run of a conversation from its start to its end: what it tells, asks, makes and shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from application.ports.events import (
    AnswerCounted,
    AnswerStreamed,
    ChatEvent,
    CheckpointReached,
    DesignEvent,
    Done,
    GoalsUnderstood,
    MainCircuitRestored,
    MessageWritten,
    PhaseEntered,
    ToolEnded,
    TurnEnded,
)
from domain.circuit.netlist import CIRCUIT_SUFFIXES
from domain.llm.chat import ProviderChoice
from domain.llm.tools.confirmation_card import Answers, ConfirmationCard, same_answer
from presentation.panels.conversation.asking import Asking
from presentation.panels.conversation.changes import FileChanges
from presentation.panels.conversation.feed import RunFeed
from presentation.panels.conversation.items import (
    ErrorBlock,
    Interrupted,
    ItemList,
    OperationCard,
    SimulationCard,
    result_folder,
)
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import now, unsaved
from presentation.progress_words import PROGRESSED, Progressed
from shared import paths
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.message import msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.conversation.consents import AskConsent
    from application.conversation.turn_deps import EditorState
    from application.groups.conversations import Conversations
    from application.groups.design import Design
    from application.tool_execution.executor import Confirm
    from application.workflow.designing import Answer, Ask, Question, Reply
    from domain.llm.attachments import PreparedAttachment
    from domain.llm.consent import ConsentAnswer, ConsentQuestion


_PROGRESS_S = 0.5
_TOLD_TOGETHER = (PhaseEntered, AnswerCounted, TurnEnded)
"""They come one behind the other when an answer ends, which would be drawn anew for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What is to be run; `text` None = go on with what was interrupted."""

    root: Path
    mode: Literal["free", "workflow"]
    text: str | None
    session_id: str
    choice: ProviderChoice
    main_circuit: str = ""
    """Relative to the project; "" when none is known."""
    begins_from: str = ""
    """The circuit that a design improves where its text names none; "" when none is at hand."""
    editor: EditorState | None = None
    """What the user has in front."""
    attachments: tuple[PreparedAttachment, ...] = ()
    """What goes with the text of a turn; a design takes none."""
    reads_only: bool = False
    """The model of a turn has tools that read, and no others."""
    message_id: str = ""
    """Of the message that is written with the text of a turn."""
    instead_of: str = ""
    """The message of a chat whose place it takes."""


async def carry_out(
    conversations: Conversations,
    design: Design,
    order: RunOrder,
    *,
    ask: Ask,
    confirm: Confirm,
    ask_consent: AskConsent,
    emit: Callable[[ChatEvent | DesignEvent], None],
    main_circuit: Callable[[], str],
) -> None:
    """Run it to its end. Raises CircuitAIError, and CancelledError when it is stopped."""
    from application.conversation.turn_deps import ChatRequest
    from application.workflow.designing import DesignRequest, ResumeRequest

    run_design = partial(
        design.run, ask=ask, emit=emit, confirm=confirm, ask_consent=ask_consent, main_circuit=main_circuit
    )
    if order.mode == "free":
        chat = ChatRequest(
            project=order.root,
            text=order.text,
            session_id=order.session_id,
            choice=order.choice,
            main_circuit=order.main_circuit,
            editor=order.editor,
            attachments=order.attachments,
            reads_only=order.reads_only,
            message_id=order.message_id,
            instead_of=order.instead_of,
        )
        await conversations.chat(chat, emit=emit, confirm=confirm, ask_consent=ask_consent)
    elif order.text is None:
        resumed = ResumeRequest(project=order.root, session_id=order.session_id, choice=order.choice)
        await run_design(resumed)
    else:
        wanted = DesignRequest(
            project=order.root,
            text=order.text,
            choice=order.choice,
            session_id=order.session_id,
            begins_from=order.begins_from,
        )
        await run_design(wanted)


def rounds_allowed(conversations: Conversations, mode: Literal["free", "workflow"]) -> int:
    """After how many rounds a run ends by itself."""
    from application.workflow.design_sessions import DEFAULT_MAX_ITERATIONS

    return DEFAULT_MAX_ITERATIONS if mode == "workflow" else conversations.chat.deps.limits.rounds


def error_block(error: CircuitAIError, *, model: str) -> ErrorBlock:
    """The row of an error; `model` is what should have answered, "" = the built-in designer."""
    return ErrorBlock(
        key=new_ulid(),
        message=error.message,
        advice=error.advice,
        error_type=error.error_type,
        model=model,
        created=now(),
    )


class LiveRun:
    """Follows one run.

    `adopt` is told the conversation it belongs to, `written` that what was said is in its transcript, `tell`
    that something is another.
    """

    def __init__(
        self,
        conversations: Conversations,
        design: Design,
        window: Window,
        order: RunOrder,
        *,
        items: ItemList,
        asking: Asking,
        changes: FileChanges,
        model: str,
        flush_ms: int,
        adopt: Callable[[str], None],
        written: Callable[[], None],
        tell: Callable[[], None],
    ) -> None:
        self._conversations = conversations
        self._design = design
        self._window = window
        self._order = order
        self._items = items
        self._asking = asking
        self._changes = changes
        self._flush_ms = flush_ms
        self._adopt = adopt
        self._written = written
        self._tell = tell
        self._model = model
        self._is_left = False
        self._is_flush_due = False
        self._next_progress = 0.0
        self._made: set[str] = set()
        """Files this design has written, relative to the project."""
        self._has_other_goals = True
        """Whether they are in the circuit's file of goals by the next checkpoint, and nobody was told."""
        self.feed = RunFeed(
            items,
            model=model,
            goes_on=order.text is None,
            is_design=order.mode == "workflow",
            at_work=window.at_work,
        )
        self.feed.session_id = order.session_id
        self.most_rounds = rounds_allowed(conversations, order.mode)
        """After how many rounds it ends by itself."""
        self.is_taken_over = False
        """Whether another process goes on with the conversation."""
        self.has_failed = False
        """Whether an error ended it; a design may go on from there."""
        self.is_accepted = False
        """Whether a design was accepted at its last checkpoint."""
        self.is_declined = False
        """Whether its goals were declined, so that it designed nothing."""
        self.circuit: Path | None = None
        """Of a design that has ended: what it made."""

    def leave(self) -> None:
        """What it still tells concerns nobody: another project was opened."""
        self._is_left = True

    async def work(self) -> None:
        """Save what is open and carry the order out; an error that no event has told becomes a row."""
        events = self._conversations.chat.deps.events
        ends = [events.subscribe(kind, self._on_progress) for kind in PROGRESSED]
        try:
            await self._work()
        finally:
            for end in ends:
                end()

    async def _work(self) -> None:
        try:
            # The run reads the files; what is on the screen has to be what it reads.
            if not await self._window.save_buffers():
                self._refuse()
                return
            # Without the passphrase the run tells by itself that there is no key.
            await self._window.unlock_keys(self._order.choice)
            await carry_out(
                self._conversations,
                self._design,
                self._order,
                ask=self._ask,
                confirm=self._confirm,
                ask_consent=self._ask_consent,
                emit=self._on_event,
                main_circuit=lambda: self._window.main_circuit(self._order.root),
            )
        except CircuitAIError as error:
            self.has_failed = True
            if error.error_type == "taken_over":
                self.is_taken_over = True
                self._window.told(error.message, is_problem=True)
            if not self.feed.has_told_error and not self._is_left:
                self._items.put(error_block(error, model=self._model))
                self._tell()
            self.feed.has_ended = True

    def _refuse(self) -> None:
        """Nothing was started; what was wanted can be wanted again."""
        if self._order.text is not None:
            error = EnvironmentProblem(unsaved(), advice=msg("The editor shows which file and why."))
            self._items.put(error_block(error, model=self._model))
        else:
            self._items.put(
                Interrupted(
                    key=new_ulid(),
                    reason="interrupted",
                    created=now(),
                    can_regenerate=False,
                    of_design=self._order.mode == "workflow",
                    note=unsaved(),
                )
            )
        self.feed.has_ended = True
        self._tell()

    async def _ask(self, question: Question) -> Answer | Reply:
        if self._is_left:  # nobody is there to be asked any more
            return "decline" if question.kind == "goals" else "stop"
        if question.kind == "goals":
            from application.ports.events import GoalsUnderstood

            told = self.feed.goals or (GoalsUnderstood(goals=question.goals, assumptions=()),)
            return await self._asking.confirm_goals(told[-1], question)
        self.most_rounds = question.most_rounds or self.most_rounds
        self.feed.context_tokens = question.context_tokens or self.feed.context_tokens
        answer = await self._asking.decide(question)
        self.is_accepted = (answer if isinstance(answer, str) else answer.answer) == "accept"
        return answer

    async def _ask_consent(self, question: ConsentQuestion) -> ConsentAnswer:
        return "no" if self._is_left else await self._window.ask_consent(question)

    async def _confirm(self, card: ConfirmationCard) -> Answers:
        if self._is_left:  # nobody is there to be asked any more
            return same_answer(card, "unasked")
        calls = self._asking.calls
        self._window.begin_preview(card, partial(calls.show_preview, card.card_id))
        try:
            return await calls.confirm(card)
        finally:
            self._window.end_preview(card.card_id)

    def _on_event(self, event: ChatEvent | DesignEvent) -> None:
        if self._is_left:
            return
        self.feed(event)
        if isinstance(event, AnswerStreamed):
            self._flush_soon()
            return
        self._adopt(self.feed.session_id)
        if self.feed.is_written:
            self._written()
        if isinstance(event, MessageWritten):
            self._look_after_kill()
        if isinstance(event, Done) and event.circuit is not None:
            self.circuit = self._order.root / event.circuit
        if isinstance(event, Done):
            self.is_declined = event.stop_reason == "declined"
        self._follow_goals(event)
        if isinstance(event, MainCircuitRestored):
            self._window.main_circuit_restored(self._order.root / event.path)
        if isinstance(event, ToolEnded):
            self._show_what_was_made(event)
        for undone in self.feed.take_undone():
            self._changes.follow_undo(self._order.root, undone)
        if isinstance(event, _TOLD_TOGETHER):
            self._flush_soon()
        else:
            self._tell()

    def _follow_goals(self, event: ChatEvent | DesignEvent) -> None:
        """Goals of a design are its circuit's when a round was judged by them; its end may put some back."""
        match event:
            case GoalsUnderstood():
                self._has_other_goals = True
            case CheckpointReached(circuit=circuit) if self._has_other_goals and circuit:
                self._has_other_goals = False
                self._window.goals_changed(self._order.root / circuit)
            case Done() if self._order.mode == "workflow" and self.circuit is not None:
                self._window.goals_changed(self.circuit)

    def _look_after_kill(self) -> None:
        """A turn that begins settles the calls of one that was killed: what they made is found by then."""
        for card in [item for item in self._items if isinstance(item, OperationCard)]:
            if card.state == "not_run":
                self._changes.follow(self._order.root, card)

    def _show_what_was_made(self, event: ToolEnded) -> None:
        """The file on its card and in the editor, of a design or a circuit that was written whole; the result
        beside the others."""
        root, card = self._order.root, self._items.get(event.call_id)
        if isinstance(card, OperationCard) and card.look.writes:
            self._changes.follow(root, card)
            is_circuit = PurePosixPath(card.path).suffix.lower() in CIRCUIT_SUFFIXES
            is_made = self._order.mode == "workflow" or (event.name == "rewrite_file" and is_circuit)
            if is_made and event.success and card.path not in self._made:
                self._made.add(card.path)
                self._window.file_made(root / card.path)
        elif isinstance(card, SimulationCard) and event.success:
            is_design = self._order.mode == "workflow"
            self._window.result_made(result_folder(root, card) / paths.RESULT_FILE, is_design=is_design)

    def _on_progress(self, event: Progressed) -> None:
        """Twice a second at most: a row that is drawn anew each time is no use to anybody."""
        if self._is_left or time.monotonic() < self._next_progress:
            return
        if self.feed.show_progress(event):
            self._next_progress = time.monotonic() + _PROGRESS_S
            self._tell()

    def _flush_soon(self) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            self._window.later(self._flush_ms, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        if not self._is_left:
            self.feed.flush()
            self._tell()
