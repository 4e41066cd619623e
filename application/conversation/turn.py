"""One turn of a chat under way: begun or taken up, run through the graph, settled and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from langchain_core.messages import AIMessage, SystemMessage

from application.agent.alternatives import OtherModels, log_and_continue
from application.agent.attachments import kept
from application.agent.conversation import TAKEN_OVER
from application.agent.loop import FREE_WORK, LOOP, compiled_agent, ended
from application.graph.runtime import GraphRuntime
from application.ports.events import (
    AnswerStreamed,
    ChatEvent,
    ConfirmationGiven,
    ConfirmationNeeded,
    ErrorOccurred,
    MessageWritten,
    PhaseEntered,
    ToolEnded,
    ToolStarted,
    TurnEnd,
    TurnEnded,
)
from domain.llm.agentic_loop.policy import CUT_OFF, PHASES, IllegalTransitionError, Phase, PhaseMachine
from domain.llm.chat import ProviderChoice
from domain.llm.costs import Cost, total
from domain.llm.messages import (
    create_human_message,
    get_cost,
    get_reasoning_content,
    get_text,
    get_usage,
)
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.confirmation_card import answers_to_plain, left_open
from domain.llm.transcript import can_go_on, chat_thread, nothing_to_resume
from domain.llm.turn_failure import TurnFailure, failure_of
from shared.errors import CircuitAIError, Stopped
from shared.message import Message, msg
from shared.tasks import StopReason
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from application.conversation.turn_deps import ChatRequest, Emit
    from application.conversation.turn_parts import TurnParts
    from application.graph.state import GraphState
    from application.ports.tracing import Span
    from domain.llm.prompts.catalogue import Wording
    from domain.llm.tools.result import ToolCall, ToolResult

_logger = logging.getLogger(__name__)


class Turn:
    """One turn under way."""

    def __init__(
        self,
        parts: TurnParts,
        request: ChatRequest,
        emit: Emit,
    ) -> None:
        self._parts = parts
        self._deps = parts.deps
        self._request = request
        self._project = parts.project
        self._conversation = parts.conversation
        self._record = parts.record
        self._executor = parts.executor
        self._watch = parts.watch
        self._context = parts.context
        self._events = TurnEvents(emit, tokens=lambda: parts.usage().total_tokens)
        self._has_begun = False
        """From here on a failure ends the turn; before it, an interrupted one still waits."""
        self._is_over = False
        """The end was told, or was about to be."""
        self._end_to_write: TurnEnd | None = None
        """How the turn ends, once that is known."""
        self._seconds = 0.0
        """Model time used, once the turn is over."""
        self._failure: TurnFailure | None = None
        """What went wrong in this turn, for its transcript."""

    async def run(self) -> TurnEnded:
        """Run it and close it, whatever happens."""
        self._events.enter("preparing")
        try:
            async with self._deps.checkpointers(self._project.checkpoints_path, self._thread_id) as saver:
                await self._begin()
                return await self._finish(await self._go(saver))
        except Stopped:  # whoever follows the events has gone
            await self._close("user", "stopped")
            raise
        except CircuitAIError as error:
            if self._is_over:
                raise
            self._failure = failure = failure_of(error, self._request.choice)
            self._fail(failure.error_type, failure.message, failure.advice, failure.offers)
            await self._close("error", "error")
            raise
        except asyncio.CancelledError as stop:
            reason = _reason_of(stop)
            if reason == "taken_over" and not self._is_over:
                self._events.emit(ErrorOccurred(error_type=reason, message=TAKEN_OVER, advice=None))
            await self._close(reason, "stopped")
            raise
        except Exception as error:
            # A bug: scripts still get their closing line, and the last-resort handler the cause.
            self._failure = failure = failure_of(error, self._request.choice)
            self._fail(failure.error_type, failure.message, None)
            await self._close("error", "error")
            raise

    @property
    def _thread_id(self) -> str:
        """Of its checkpoints; not that of the design that waits in the same conversation."""
        session_id = self._conversation.session_id
        return chat_thread(session_id) if self._record.work_mode == "workflow" else session_id

    async def _close(self, reason: str, end: TurnEnd) -> None:
        """After a failure or a stop: settle the turn and say that it is over."""
        if self._is_over:  # only the telling of it failed
            return
        if self._end_to_write is not None and not self._record.open_turn:
            end = self._end_to_write  # a stop behind the turn's last line does not change it
        try:
            if self._has_begun:
                with log_and_continue("The turn could not be settled"):
                    await uninterrupted(self._settle_own(reason))
        finally:
            self._end(end)

    async def _begin(self) -> None:
        """Settle what an earlier turn left open, and write the user's message; or take that turn up."""
        # An answer that a killed run left unfinished cost what one of this model does.
        await self._watch.pricing.look_up(self._request.choice)
        for record in await self._context.operations.repair(session_id=self._conversation.session_id):
            if record.kind == "simulation":
                await self._parts.forget_result(record.op_id)
        text = self._request.text
        if text is None:
            is_open = bool(self._record.open_turn)
            if self._record.is_in_design or not (is_open or can_go_on(self._record.last_end)):
                raise nothing_to_resume()
            self._has_begun = True
            is_taken_up = await self._conversation.take_up(cost=self._watch.pricing.of_unfinished())
            self._events.goes_on(self._last_answer())
            if is_taken_up or is_open:
                return
            text = self._request.go_on
        replaces = self._request.instead_of
        if replaces:
            self._record.refuse_to_replace(replaces)
        self._has_begun = True
        await self._settle("interrupted")
        attachments = self._request.attachments
        named = [prepared.attachment.to_plain() for prepared in attachments]
        message = create_human_message(text, attachments=named, message_id=self._request.message_id)
        async with kept(attachments, self._project) if attachments else nullcontext():
            try:
                await self._conversation.begin_turn(message, instead_of=replaces)
            finally:
                if self._record.open_turn == message.id:  # also when a stop came while it was written
                    self._events.emit(MessageWritten())

    async def _go(self, saver: BaseCheckpointSaver[str]) -> TurnEnd:
        """Ask the model, run its tools, until it is done; how the turn ended."""
        async with self._deps.tracer.turn(
            self._project.traces_path,
            turn_id=self._record.open_turn,
            session_id=self._conversation.session_id,
            name="turn",
        ) as span:
            with span.child("free_work") as node, node.child("agent_loop") as loop:
                ended = await self._follow(saver, loop)
                answers = len(self._record.answers_of_turn())
                loop.note(outcome=ended, answers=answers, tokens=self._parts.usage().total_tokens)
            span.note(outcome=ended)
            return ended

    async def _follow(self, saver: BaseCheckpointSaver[str], span: Span) -> TurnEnd:
        thread_id = self._thread_id
        async with (
            self._deps.models.open(self._request.choice) as model,
            self._parts.models.others(self._parts.access.alternatives) as others,
        ):
            runtime = self._runtime(model, others, saver, span)
            try:
                # A turn that is taken up begins with what its transcript tells, not with what a
                # checkpoint does: the transcript is written first, so it is never behind.
                stream = runtime.run(
                    thread_id, self._state(), decide=self._decide, rounds=self._deps.limits.rounds
                )
                async with aclosing(stream) as events:
                    async for event in events:
                        self._events.emit(cast("ChatEvent", event))
                state = await runtime.state(thread_id)
                self._seconds = state.get("agent_seconds", 0.0)
                return cast("TurnEnd", state.get("agent_ended"))
            except BaseException as failure:
                reason = _reason_of(failure)
                if isinstance(failure, Exception) and reason == "error":
                    self._failure = failure_of(failure, self._request.choice)
                with log_and_continue("The last checkpoint could not be written"):
                    await uninterrupted(self._write_final_checkpoint(runtime, reason))
                raise
            finally:
                with log_and_continue("Old checkpoints could not be removed"):
                    await uninterrupted(self._deps.checkpointers.prune(saver, thread_id))

    async def _decide(self, value: dict[str, Any], _state: GraphState) -> dict[str, Any]:
        """The user's answers to the card of an interrupt."""
        card_id = str(value["card_id"])
        card = self._record.card(card_id)
        self._events.emit(ConfirmationNeeded(card=card))
        answers = await self._parts.confirmation.ask(card_id)
        self._events.emit(ConfirmationGiven(card_id=card_id, answers=answers))
        return answers_to_plain(answers)

    def _runtime(
        self, model: BaseChatModel, others: OtherModels, saver: BaseCheckpointSaver[str], span: Span
    ) -> GraphRuntime:
        loop = self._parts.loop(
            self._parts.asked(model, others),
            span,
            system_message=self._system_message,
            main_circuit=self._request.main_circuit,
            editor=self._request.editor,
            node=self._request.node,
        )
        return GraphRuntime(compiled_agent(), saver, {LOOP: loop})

    async def _system_message(self, wording: Wording) -> tuple[SystemMessage | None, str]:
        """None for the built-in model: it follows plain commands and reads no prompt."""
        if self._request.choice.provider == BUILTIN:
            return None, ""
        made = await self._deps.prompts().system_message(
            self._project,
            main_circuit=self._request.main_circuit,
            session_id=self._conversation.session_id,
            wording=wording,
        )
        return made, ""

    def _state(self, *, ended: str = "") -> GraphState:
        """The state of the newest turn, as its transcript tells it."""
        return {
            **cast("GraphState", self._parts.state(ended=ended)),
            "work_mode": "free_work",
            "project_root": str(self._project.root),
        }

    def _cost(self) -> Cost:
        return total(map(get_cost, self._record.answers_of_turn()))

    async def _write_final_checkpoint(self, runtime: GraphRuntime, reason: str) -> None:
        """After an interruption: transcript first, then the checkpoint that says the same."""
        await self._settle_own(reason)
        await runtime.write_final_checkpoint(self._thread_id, self._state(ended=reason), node=FREE_WORK)

    async def _settle(self, reason: str) -> None:
        """Give every open call of the newest turn its result and end the turn, if it is open."""

        asked = self._record.open_card
        unanswered = {call.call_id for call in asked.calls} if asked is not None else set()

        async def settle_call(call: ToolCall) -> ToolResult:
            if call.call_id in unanswered:
                return left_open(call.name)
            word = "interrupted" if reason == "interrupted" else "stopped"
            result = await self._executor.settle(call, self._context, reason=word)
            if result.error_type == word and self._executor.effect_of(call.name) == "simulate":
                await self._parts.forget_result(call.call_id)
            return result

        await self._conversation.settle(
            reason, settle_call, cost=self._watch.pricing.of_unfinished(), failure=self._failure
        )

    async def _settle_own(self, reason: str) -> None:
        """The same with this turn, whose end is seen by whoever saw it come."""
        await self._settle(reason)
        self._show_rest()
        self._show_ends()

    def _show_rest(self) -> None:
        """Whoever saw an answer come sees all that is kept of it, also what came just when it was stopped."""
        if (answer := self._last_answer()) is not None:
            self._events.show_rest(answer)

    def _last_answer(self) -> AIMessage | None:
        """Of the newest turn, half ones too."""
        messages = reversed(self._record.messages_of_turn())
        return next((message for message in messages if isinstance(message, AIMessage)), None)

    def _show_ends(self) -> None:
        """Whoever saw a call start sees it end, also when the stop came between its result and its event."""
        for call_id in self._events.running:
            written = self._record.result_of(call_id)
            if written is not None:
                self._events.emit(ended(written))

    async def _finish(self, ended: TurnEnd) -> TurnEnded:
        conversation = self._conversation
        note = await self._with_lost_goals(await self._parts.note_on(ended, self._seconds))
        self._end_to_write = ended
        is_noted = ended in ("limit", "loop", "completed")
        await conversation.end_turn(ended, note=note if is_noted else None)
        if ended == "completed" and conversation.record.name_is_default:
            await conversation.rename(await self._parts.models.name(), by="auto")
        if ended == "cut":
            self._fail(
                "cut",
                CUT_OFF,
                msg('The partial answer was kept. Say "continue" to get the rest.'),
            )
        return self._end(ended, note)

    async def _with_lost_goals(self, note: Message | None) -> Message | None:
        """What is told at the end, with the goals that the turn's changes lost, whatever the model says."""
        calls = [str(call["id"]) for answer in self._record.answers_of_turn() for call in answer.tool_calls]
        if not calls or not await off_loop(self._project.goals.contents):
            return note
        watch = self._deps.watch_goals()
        if watch is None:
            return note
        from application.conversation.lost_goals import lost_goals

        lost = await lost_goals(watch, self._project, calls)
        if lost is None:
            return note
        return lost if note is None else msg("{first} {second}", first=note, second=lost)

    def _context_tokens(self) -> int:
        answers = self._record.answers_of_turn()
        last = get_usage(answers[-1]) if answers else None
        return 0 if last is None else last.prompt_tokens + last.completion_tokens

    def _fail(
        self,
        error_type: str,
        message: Message,
        advice: Message | None,
        offers: tuple[ProviderChoice, ...] = (),
    ) -> None:
        self._events.enter("error")
        self._events.emit(ErrorOccurred(error_type=error_type, message=message, advice=advice, offers=offers))

    def _end(self, stop_reason: TurnEnd, note: Message | None = None) -> TurnEnded:
        self._is_over = True
        self._events.enter(last_phase(stop_reason))
        ended = TurnEnded(
            stop_reason=stop_reason,
            usage=self._parts.usage().to_plain(),
            note=note,
            context_tokens=self._context_tokens(),
            cost=self._cost(),
            session_cost=self._watch.session_cost(),
        )
        self._events.emit(ended)
        return ended


def _reason_of(stop: BaseException) -> str:
    """Why it was stopped (the registry says it in the cancellation's text), or "error"."""
    if isinstance(stop, Stopped):
        return "user"
    if not isinstance(stop, asyncio.CancelledError):
        return "error"
    reason = str(stop.args[0]) if stop.args else "user"
    return reason if reason in get_args(StopReason) else "user"


# --- what a turn tells ---


class TurnPhases:
    """Follows a turn's phases; what cannot be is refused and logged as the error of the program it is."""

    def __init__(self) -> None:
        self._machine = PhaseMachine()
        self._round = 0

    @property
    def phase(self) -> Phase:
        return self._machine.phase

    def enter(self, phase: Phase, *, round_number: int | None = None, tokens: int = 0) -> PhaseEntered | None:
        """The event of a phase that begins; None for the one that is on, and for one that cannot come now."""
        if round_number is not None:
            self._round = round_number
        if phase == self._machine.phase:
            return None
        try:
            self._machine.enter(phase)
        except IllegalTransitionError as error:
            _logger.error("In round %d of the turn: %s", self._round, error)
            return None
        return PhaseEntered(phase=phase, round_number=self._round, tokens=tokens)

    def follow(self, event: PhaseEntered, *, tokens: int) -> PhaseEntered | None:
        """The event as it is shown, with the turn's tokens; None when it is refused or says nothing new."""
        phase = next((known for known in PHASES if known == event.phase), None)
        if phase is None:
            _logger.error("A turn has no phase named %s", event.phase)
            return None
        entered = self.enter(phase, round_number=event.round_number, tokens=tokens)
        return None if entered is None else replace(event, tokens=tokens)


def last_phase(stop_reason: TurnEnd) -> Phase:
    """The phase in which a turn with this end closes."""
    if stop_reason in ("error", "cut"):
        return "error"
    return "cancelled" if stop_reason == "stopped" else "complete"


class TurnEvents:
    """Hands a turn's events on to whoever follows it; knows which calls were shown as running."""

    def __init__(self, listener: Emit, *, tokens: Callable[[], int]) -> None:
        """`tokens` counts those of the turn so far."""
        self._listener = listener
        self._tokens = tokens
        self._phases = TurnPhases()
        self._running: set[str] = set()
        self._streamed = ("", 0, 0)
        """The newest answer that was shown, and how much of its text and reasoning."""

    def goes_on(self, last: AIMessage | None) -> None:
        """What comes follows this answer, all of which was shown before."""
        if last is not None:
            self._streamed = (str(last.id), len(get_text(last)), len(get_reasoning_content(last)))

    def show_rest(self, answer: AIMessage) -> None:
        """What is in the last answer behind what was shown of it."""
        message_id, text, reasoning = self._streamed
        if message_id != answer.id:
            text = reasoning = 0
        rest = get_text(answer)[text:], get_reasoning_content(answer)[reasoning:]
        if any(rest):
            self.emit(AnswerStreamed(message_id=str(answer.id), text=rest[0], reasoning=rest[1]))

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of calls that were shown as started, not as ended."""
        return tuple(self._running)

    def emit(self, event: ChatEvent) -> None:
        if isinstance(event, PhaseEntered):
            entered = self._phases.follow(event, tokens=self._tokens())
            if entered is None:
                return
            event = entered
        if isinstance(event, AnswerStreamed):
            before = self._streamed if self._streamed[0] == event.message_id else ("", 0, 0)
            shown = before[1] + len(event.text), before[2] + len(event.reasoning)
            self._streamed = (event.message_id, *shown)
        elif isinstance(event, ToolStarted):
            self._running.add(event.call_id)
        elif isinstance(event, ToolEnded):
            self._running.discard(event.call_id)
        self._listener(event)

    def enter(self, phase: Phase) -> None:
        """Show that a phase begins, unless it is the one that is on."""
        entered = self._phases.enter(phase, tokens=self._tokens())
        if entered is not None:
            self._listener(entered)
