"""Turns the events of a run into what the conversation shows."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from application.ports.events import (
    UNDO_TOOL,
    AlternativeTaken,
    AnswerCounted,
    AnswerStreamed,
    AttachmentsLeftOut,
    ChatEvent,
    CheckpointReached,
    CompressionStarted,
    ConfirmationAsked,
    ConfirmationGiven,
    ConfirmationNeeded,
    ConversationCompressed,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    MainCircuitRestored,
    MessageWritten,
    PhaseEntered,
    RetryScheduled,
    SessionOpened,
    SourcesFound,
    TextWritten,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    WaitsForPlace,
)
from domain.design.checkpoint_intent import CheckpointIntent
from domain.llm.costs import Cost
from domain.llm.tokens import count_tokens
from presentation.panels.conversation.items import (
    AnswerText,
    CompressedRow,
    Confirmation,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    ItemList,
    Narration,
    Note,
    OperationCard,
    Retry,
    SimulationCard,
    Understood,
    UserText,
    card_of,
    end_state,
    judged_apart,
)
from presentation.panels.conversation.words import doing, now
from presentation.progress_words import Progressed, progress_of, progress_text
from shared.message import Message, msg
from shared.ulid import new_ulid

_RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Activity:
    """What a run is doing, for the line under the messages."""

    text: Message
    round_number: int = 0
    ends: float = 0.0
    """Of a wait: when it is over, on the clock of `time.monotonic`."""
    reason: Message | None = None
    """Of a wait: what it is for."""

    @property
    def now(self) -> Message:
        """The text; of a wait with the seconds that are left of it, and its reason."""
        if self.reason is None:
            return self.text
        left = f"{max(0.0, self.ends - time.monotonic()):.0f}"
        return msg("Retrying in {seconds} s: {reason}", seconds=left, reason=self.reason)


@dataclass(slots=True)
class _Stream:
    """An answer that is coming."""

    key: str
    began: float
    created: str
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    new_text: list[str] = field(default_factory=list)
    new_reasoning: list[str] = field(default_factory=list)
    thought_s: float | None = None


_PACE_WINDOW_S = 3.0
_LEAST_PACE_S = 0.5


class Pace:
    """Tokens a second over the last seconds, estimated from the text."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._pieces: deque[tuple[float, int]] = deque()
        self._sum = 0

    def begin(self) -> None:
        self._began = self._clock()
        self._pieces.clear()
        self._sum = 0

    def take(self, text: str) -> None:
        count = count_tokens(text)
        self._pieces.append((self._clock(), count))
        self._sum += count
        self._forget()

    @property
    def per_s(self) -> float | None:
        """None while too little has come to tell."""
        self._forget()
        elapsed = min(self._clock() - self._began, _PACE_WINDOW_S)
        return self._sum / elapsed if elapsed >= _LEAST_PACE_S and self._sum else None

    def _forget(self) -> None:
        oldest = self._clock() - _PACE_WINDOW_S
        while self._pieces and self._pieces[0][0] < oldest:
            self._sum -= self._pieces.popleft()[1]


class RunFeed:
    """Follows one run. `flush` hands the pieces of a stream on; whoever owns the feed calls it.

    `goes_on`: it takes up a turn that was left. `at_work` names other conversations that may be
    what a request waits for.
    """

    def __init__(
        self,
        items: ItemList,
        *,
        model: str,
        goes_on: bool = False,
        is_design: bool = False,
        at_work: Callable[[], Sequence[str]] = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._items = items
        self._model = model
        self._at_work = at_work
        self._clock = clock
        self._stream: _Stream | None = None
        self._began: dict[str, float] = {}
        self.session_id = ""
        self.activity = Activity(msg("Starting"))
        self.goals: tuple[GoalsUnderstood, ...] = ()
        self.has_told_error = False
        self.has_ended = False
        self.tokens = 0
        """Of the run; 0 when nobody counted."""
        self.context_tokens = 0
        """What the last answer filled of the model's window; 0 when nobody counted."""
        self.cost = Cost()
        """Of the whole conversation, when a turn has ended."""
        self._pace = Pace(clock)
        self._undoing: dict[str, list[str]] = {}
        """Calls that take a change back, and the call of that change."""
        self._undone: list[str] = []
        self._is_design = is_design
        self._is_taken_over = False
        self._characters = 0
        """Of the answers of this run."""
        self.is_written = goes_on
        """Whether what was said is in the transcript."""
        self._has_come = goes_on and self._has_answer()
        """Whether there is something that could be gone on with."""

    def _has_answer(self) -> bool:
        """Whether something has come behind what the user said last."""
        behind = itertools.takewhile(lambda item: not isinstance(item, UserText), self._items.backwards())
        return any(isinstance(item, AnswerText | OperationCard | SimulationCard) for item in behind)

    def __call__(self, event: ChatEvent | DesignEvent) -> None:  # noqa: PLR0912 - one an event
        if not isinstance(event, RetryScheduled | WaitsForPlace):
            self._items.remove(_RETRY)
        if not isinstance(event, AnswerStreamed):
            self.end_stream()
        match event:
            case SessionOpened():
                self._open(event)
            case MessageWritten():
                self.is_written = True
            case AnswerStreamed():
                self._take_piece(event)
            case ToolStarted():
                self._start_tool(event)
            case ToolEnded():
                self._end_tool(event)
            case PhaseEntered():
                self._enter_phase(event)
            case RetryScheduled():
                self._wait(event.reason, event.attempt, event.wait_s)
                self.activity = Activity(
                    msg("Waiting to retry"),
                    self.activity.round_number,
                    ends=time.monotonic() + event.wait_s,
                    reason=event.reason,
                )
            case WaitsForPlace():
                reason = msg(
                    "Waiting for its turn: {count} {count:request|requests} to the provider {count:is|are} "
                    "running",
                    count=event.running,
                )
                self._wait(reason, 0, 0.0, tuple(self._at_work()))
                self.activity = Activity(reason, self.activity.round_number)
            case AlternativeTaken():
                self._items.put(Note(key=new_ulid(), text=event.text))
                self._model = event.model or event.provider or self._model
            case AttachmentsLeftOut():
                self._items.put(Note(key=new_ulid(), text=event.text))
            case CompressionStarted():
                self.activity = Activity(msg("Summarizing earlier messages"), self.activity.round_number)
            case ConversationCompressed():
                done = event.compression
                self._items.put(CompressedRow(key=done.compression_id, done=done))
                self.activity = Activity(_PHASES["calling"], self.activity.round_number)
            case SourcesFound():
                self._put_sources(event)
            case AnswerCounted():
                self._put_use(event)
            case ErrorOccurred():
                self._tell_error(event)
            case TurnEnded():
                self._end_turn(event)
            case ConfirmationNeeded():
                self.activity = Activity(msg("Waiting for your permission"), self.activity.round_number)
            case ConfirmationGiven():
                pass  # the card is kept by whoever asked
            case _:
                self._take_design(event)

    def _put_sources(self, event: SourcesFound) -> None:
        answer = self._items.get(event.message_id)
        if not isinstance(answer, AnswerText):  # it had no text
            answer = AnswerText(key=event.message_id, text="", model=self._model, created=now())
        self._items.put(replace(answer, sources=event.sources))

    def _put_use(self, event: AnswerCounted) -> None:
        answer = self._items.get(event.use.message_id)
        if isinstance(answer, AnswerText):  # one without a word has no row
            # What was chosen may be a provider alone; which of its models answered is known now.
            self._items.put(replace(answer, use=event.use, model=event.use.model or answer.model))

    def _enter_phase(self, event: PhaseEntered) -> None:
        self.tokens = event.tokens or self.tokens
        # Of the phases without words of their own the piece or the call that follows at once says it.
        text = self.activity.text if event.phase in _SILENT_PHASES else msg("Working")
        # A model counts its own answers within a step; the round is the design's.
        is_of_step = self._is_design and event.phase not in _STEPS_OF_DESIGN
        number = self.activity.round_number if is_of_step else event.round_number
        self.activity = Activity(_PHASES.get(event.phase, text), number)

    def flush(self) -> None:
        """Hand on what has come of the answer since the last call."""
        stream = self._stream
        if stream is None or not (stream.new_text or stream.new_reasoning):
            return
        text, reasoning = "".join(stream.new_text), "".join(stream.new_reasoning)
        stream.new_text.clear()
        stream.new_reasoning.clear()
        self._items.streamed(stream.key, text, reasoning)

    @property
    def is_streaming(self) -> bool:
        return self._stream is not None

    @property
    def tokens_per_s(self) -> float | None:
        """How fast the answer comes, estimated; None when none does."""
        return self._pace.per_s if self._stream is not None else None

    def take_undone(self) -> tuple[str, ...]:
        """Keys of the changes that were taken back since the last call."""
        undone, self._undone = tuple(self._undone), []
        return undone

    def snapshot(self) -> AnswerText | None:
        """The answer under way with all that was handed on; what `flush` hands on next goes behind it."""
        stream = self._stream
        if stream is None:
            return None
        text = "".join(stream.text[: len(stream.text) - len(stream.new_text)])
        reasoning = "".join(stream.reasoning[: len(stream.reasoning) - len(stream.new_reasoning)])
        return replace(self._answer(stream), text=text, reasoning=reasoning, is_streaming=True)

    def end_stream(self) -> None:
        """The answer under way is complete (or will not come any further)."""
        stream = self._stream
        if stream is None:
            return
        self.flush()
        self._stream = None
        text = "".join(stream.text)
        self._characters += len(text)
        self._items.put(replace(self._answer(stream), text=text, reasoning="".join(stream.reasoning)))

    def close(self, reason: str) -> None:
        """The run is over, with or without a closing event: nothing stays open."""
        self.end_stream()
        self._items.remove(_RETRY)
        not_run: list[OperationCard | SimulationCard] = []
        for item in self._items:
            if isinstance(item, OperationCard | SimulationCard) and item.state == "running":
                not_run.append(item)
                is_stopped = isinstance(item, SimulationCard) and reason == "stopped"
                self._items.put(replace(item, state="stopped" if is_stopped else "not_run"))
            elif isinstance(item, Decision) and item.state == "open":
                state: Literal["waits", "expired"] = "waits" if item.kind == "checkpoint" else "expired"
                self._items.put(replace(item, state=state, is_behind_chip=False))
            elif isinstance(item, Confirmation) and item.state == "open":
                self._items.put(replace(item, state="expired"))
        if not self.has_ended:
            self.has_ended = True
            self._interrupt(reason, tuple(not_run))

    def _open(self, event: SessionOpened) -> None:
        self.session_id = event.session_id
        # A design opens its conversation with its sentence; without one none was opened.
        self.is_written = self.is_written or (self._is_design and bool(event.session_id))
        if event.resumed_text and not self._said:  # else it stands there
            text = msg("Continuing: {text}", text=event.resumed_text)
            self._items.put(Note(key=new_ulid(), text=text))

    def _wait(self, reason: Message, attempt: int, seconds: float, at_work: tuple[str, ...] = ()) -> None:
        self._items.put(
            Retry(
                key=_RETRY,
                reason=reason,
                attempt=attempt,
                created=now(),
                characters=self._characters,
                at_work=at_work,
                ends=time.monotonic() + seconds,
            )
        )

    def show_progress(self, event: Progressed) -> bool:
        """How far a call of this run is; False for one of others, and where nothing of it is to be seen."""
        card = self._items.get(event.key)
        if not isinstance(card, OperationCard | SimulationCard) or card.state != "running":
            return False
        elapsed = self._clock() - self._began.get(event.key, self._clock())
        self._items.put(replace(card, progress=progress_of(event, elapsed)))
        self.activity = Activity(
            msg("{doing}: {progress}", doing=doing(card), progress=progress_text(event)),
            self.activity.round_number,
        )
        return True

    def _take_piece(self, event: AnswerStreamed) -> None:
        self._pace.take(event.text + event.reasoning)
        stream = self._stream
        if stream is None or stream.key != event.message_id:
            self.end_stream()
            stream = self._begin_stream(event.message_id)
        if event.reasoning:
            stream.reasoning.append(event.reasoning)
            stream.new_reasoning.append(event.reasoning)
            self.activity = Activity(msg("Thinking"), self.activity.round_number)
        if event.text:
            if stream.thought_s is None and stream.reasoning:
                stream.thought_s = self._clock() - stream.began
            stream.text.append(event.text)
            stream.new_text.append(event.text)
            self.activity = Activity(msg("Answering"), self.activity.round_number)

    def _begin_stream(self, key: str) -> _Stream:
        stream = _Stream(key=key, began=self._clock(), created=now())
        self._pace.begin()
        known = self._items.get(key)
        if isinstance(known, AnswerText):  # an answer that is gone on with
            stream.text.append(known.text)
            stream.reasoning.append(known.reasoning)
        self._stream = stream
        answer = replace(
            self._answer(stream),
            is_streaming=True,
            text="".join(stream.text),
            reasoning="".join(stream.reasoning),
        )
        self._items.put(answer)
        return stream

    def _answer(self, stream: _Stream) -> AnswerText:
        thought_s = stream.thought_s
        if thought_s is None and stream.reasoning:
            thought_s = self._clock() - stream.began
        return AnswerText(
            key=stream.key, text="", model=self._model, created=stream.created, thought_s=thought_s
        )

    def _start_tool(self, event: ToolStarted) -> None:
        if event.name == UNDO_TOOL:
            self._begin_undo(event)
            return
        self._began[event.call_id] = self._clock()
        card = replace(card_of(event.call_id, event.name, event.arguments), can_end=event.can_be_ended)
        self._items.put(card)
        self.activity = Activity(doing(card), self.activity.round_number)

    def _begin_undo(self, event: ToolStarted) -> None:
        named = event.arguments.get("operations")
        for key in named if isinstance(named, list) else ():
            card = self._items.get(key)
            if isinstance(card, OperationCard):
                self._undoing.setdefault(event.call_id, []).append(key)
                self._items.put(replace(card, standing="undoing", problem=None))
        self.activity = Activity(msg("Reverting the round"), self.activity.round_number)

    def _end_undo(self, event: ToolEnded) -> None:
        for key in self._undoing.pop(event.call_id, ()):
            card = self._items.get(key)
            assert isinstance(card, OperationCard)
            if event.success:
                self._items.put(replace(card, standing="undone"))
                self._undone.append(key)
            else:
                self._items.put(replace(card, standing="stands", problem=event.summary))

    def _end_tool(self, event: ToolEnded) -> None:
        if event.name == UNDO_TOOL:
            self._end_undo(event)
            return
        card = self._items.get(event.call_id) or card_of(event.call_id, event.name, {})
        assert isinstance(card, OperationCard | SimulationCard)
        if isinstance(card, SimulationCard):
            card = replace(card, result_path=event.result_path)
        began = self._began.pop(event.call_id, None)
        taken = None if began is None else self._clock() - began
        self._has_come = True
        self._items.put(
            replace(
                card,
                state=end_state(success=event.success, error_type=event.error_type),
                summary=event.summary,
                progress=None,
                duration_s=taken if event.duration_s is None else event.duration_s,
            )
        )

    def _tell_error(self, event: ErrorOccurred) -> None:
        self.has_told_error = True
        if event.error_type in ("cut", "taken_over"):  # the interrupted mark says it, with the way on
            self._is_taken_over = event.error_type == "taken_over"
            return
        self._items.put(
            ErrorBlock(
                key=new_ulid(),
                message=event.message,
                advice=event.advice,
                error_type=event.error_type,
                model=self._model,
                created=now(),
                offers=event.offers,
                can_begin_anew=event.error_type == "context_too_long" and self._said > 1,
            )
        )

    @property
    def _said(self) -> int:
        """Messages of the user in this conversation."""
        return sum(isinstance(item, UserText) for item in self._items)

    def _end_turn(self, event: TurnEnded) -> None:
        self.has_ended = True
        self.tokens = _tokens(event.usage)
        self.context_tokens = event.context_tokens
        self.cost = event.session_cost
        # After an error, too, what has come can be gone on with: asking the same again would repeat it.
        has_come = self._characters > 0 or self._has_come
        if event.stop_reason != "completed" and (event.stop_reason != "error" or has_come):
            self._interrupt(event.stop_reason, (), event.note)
        elif event.note is not None:
            self._items.put(Note(key=new_ulid(), text=event.note, is_doubt=True))

    def _interrupt(
        self,
        reason: str,
        not_run: tuple[OperationCard | SimulationCard, ...],
        note: Message | None = None,
    ) -> None:
        if self._is_design and any(
            isinstance(item, Decision) and item.state in ("open", "waits") for item in self._items
        ):
            return  # the question it rests at is the way on
        self._items.put(
            Interrupted(
                key=new_ulid(),
                reason="taken_over" if self._is_taken_over else reason,
                created=now(),
                characters=0 if self._is_design else self._characters,
                not_run=not_run,
                can_regenerate=not self._is_design,
                of_design=self._is_design,
                note=note,
            )
        )

    def _take_design(self, event: DesignEvent) -> None:
        match event:
            case GoalsUnderstood():
                self.goals = (event,)
                shown = [item for item in self._items if isinstance(item, GoalsCard)]
                if not shown or shown[-1].goals != event.goals:  # told again where a design goes on
                    card = GoalsCard(key=new_ulid(), goals=event.goals, assumptions=event.assumptions)
                    self._items.put(card)
            case TextWritten():
                self._items.put(Narration(key=new_ulid(), text=event.text))
            case MainCircuitRestored(path=path):
                text = msg("The main circuit is {path} again.", path=path)
                self._items.put(Narration(key=new_ulid(), text=text))
            case IterationFinished():
                self._judge(event)
            case CheckpointReached():
                self.activity = Activity(msg("Checkpoint"), event.number)
            case ConfirmationAsked():
                pass
            case IntentRead():
                self._show_intent(event)
            case Done():
                self._end_design(event)
            case _:
                pass

    def _show_intent(self, event: IntentRead) -> None:
        """The chip of the newest such text says what the run made of it: a model may know more than rules."""
        for item in reversed(tuple(self._items)):
            if isinstance(item, Understood) and item.intent.text == event.text:
                intent = replace(item.intent, kind=event.kind, round_number=event.round_number, is_sure=True)
                others = tuple(kind for kind in item.others if kind != event.kind)
                self._items.put(replace(item, intent=intent, others=others))
                return
        intent = CheckpointIntent(
            kind=event.kind, text=event.text, round_number=event.round_number, told=event.told
        )
        self._items.put(Understood(key=new_ulid(), intent=intent, state="closed"))

    def _judge(self, event: IterationFinished) -> None:
        last = next((item for item in reversed(tuple(self._items)) if isinstance(item, SimulationCard)), None)
        told = "" if last is None else repr((last.round_number, last.verdicts))
        if told == repr((event.number, event.verdicts)):  # likewise; NaN equals nothing, its words do
            return
        if last is None or last.verdicts:
            last = judged_apart(new_ulid(), event.verdicts)
        self._items.put(replace(last, verdicts=event.verdicts, round_number=event.number))

    def _end_design(self, event: Done) -> None:
        self.has_ended = True
        self.tokens = _tokens(event.usage)
        self.context_tokens = event.context_tokens or self.context_tokens
        if event.stop_reason == "stopped":
            self._interrupt("stopped", ())
        elif event.stop_reason not in ("error", "answered"):
            self._items.put(DesignEnd(key=new_ulid(), done=event))


_STEPS_OF_DESIGN: Mapping[str, Message] = {
    "design_goals": msg("Reading the goals"),
    "initial_design": msg("Designing"),
    "action": msg("Changing the circuit"),
    "simulation": msg("Simulating"),
    "analysis": msg("Comparing with the goals"),
    "conclude": msg("Summarizing the results"),
}
_PHASES: Mapping[str, Message] = {
    **_STEPS_OF_DESIGN,
    "preparing": msg("Reading the conversation"),
    "calling": msg("Waiting for the model"),
    "parsing": msg("Reading the answer"),
    "aggregating": msg("Collecting the results"),
}
_SILENT_PHASES = ("streaming", "waiting", "executing", "complete", "cancelled", "error", "idle")


def _tokens(usage: Mapping[str, int]) -> int:
    return usage.get("total_tokens", 0) or usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
