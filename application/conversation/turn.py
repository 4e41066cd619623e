"""One turn of a chat under way: begun or taken up, run through the graph, settled and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, nullcontext
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast, get_args

from application.agent.alternatives import AskedModel, OtherModels
from application.agent.attachment_context import Attached
from application.agent.attachments import kept
from application.agent.loop import FREE_WORK, ConfirmNode, ReviewNode, ToolsNode, build_agent
from application.agent.model_node import ModelNode
from application.agent.turn_confirmation import TurnConfirmation
from application.agent.watch import Pricing, TurnWatch
from application.conversation.project_context import describe_project, goals_of, undone_note
from application.conversation.turn_models import TurnModels, log_and_continue
from application.graph.runtime import GraphRuntime
from application.ports.events import (
    ChatEvent,
    ConfirmationGiven,
    ConfirmationNeeded,
    ErrorOccurred,
    PhaseEntered,
    ToolEnded,
    ToolStarted,
    TurnEnd,
    TurnEnded,
)
from application.tool_execution.confirming import Judging
from application.tool_execution.definition import ToolContext
from application.tool_execution.operations import Operations
from domain.llm.agentic_loop.policy import PHASES, End, IllegalTransitionError, Phase, PhaseMachine
from domain.llm.chat import ProviderChoice, Usage
from domain.llm.costs import Cost, total
from domain.llm.messages import (
    create_human_message,
    get_cost,
    get_doubt,
    get_summary_message,
    get_tool_error_type,
    get_tool_success,
    get_usage,
)
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.confirmation_card import answers_to_plain, left_open
from domain.llm.transcript import can_go_on, nothing_to_resume
from domain.llm.turn_failure import TurnFailure, failure_of
from domain.llm.web_search import WEB_SEARCH
from shared.errors import CircuitAIError, Stopped, internal_error
from shared.message import Message, msg
from shared.tasks import StopReason
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import SystemMessage
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from application.agent.conversation import Conversation
    from application.conversation.turn_deps import ChatRequest, Emit, TurnDeps
    from application.graph.state import GraphState
    from application.ports.project import ProjectFiles
    from application.ports.tracing import Span
    from application.tool_execution.confirming import Confirm
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.service import Alternatives
    from domain.llm.tools.result import ToolCall, ToolResult
    from domain.llm.web_search import WebSearchSettings

_logger = logging.getLogger(__name__)


class Turn:
    """One turn under way."""

    def __init__(
        self,
        deps: TurnDeps,
        request: ChatRequest,
        project: ProjectFiles,
        conversation: Conversation,
        emit: Emit,
        *,
        confirm: Confirm | None,
        alternatives: Alternatives,
        is_on_network: bool = False,
        web_search: WebSearchSettings | None = None,
    ) -> None:
        self._deps = deps
        self._alternatives = alternatives
        self._request = request
        self._project = project
        self._conversation = conversation
        self._record = conversation.record
        self._events = TurnEvents(emit, tokens=lambda: self._usage().total_tokens)
        self._has_begun = False
        """From here on a failure ends the turn; before it, an interrupted one still waits."""
        self._is_over = False
        """The end was told, or was about to be."""
        self._seconds = 0.0
        """Model time used, once the turn is over."""
        self._failure: TurnFailure | None = None
        """What went wrong in this turn, for its transcript."""
        self._models = TurnModels(
            deps,
            request.choice,
            project,
            conversation.record,
            is_on_network=is_on_network,
            is_searching=web_search is not None,
        )
        self._attached = cache(lambda: Attached(project, deps.models, is_on_network=is_on_network))
        """Read once a turn, where there are attachments."""
        self._executor = deps.executor()
        self._watch = TurnWatch(
            conversation=conversation.record,
            executor=self._executor,
            limits=_limits_of(deps, request),
            goals=lambda circuit: asyncio.to_thread(goals_of, project, circuit),
            root=project.root,
            pricing=Pricing(deps.models),
        )
        self._confirmation = TurnConfirmation(
            conversation=conversation,
            executor=self._executor,
            judging=Judging(deps.permissions),
            confirm=confirm,
            used_answers=deps.used_answers,
            most_calls=deps.limits.calls_per_answer,
        )
        self._context: ToolContext = ToolContext(
            project=project,
            gate=self._confirmation,
            session_id=conversation.session_id,
            operations=Operations(log=project.operations, project=project, events=deps.events),
            services=deps.services,
            seen_versions=conversation.record.seen_versions,
            is_on_network=is_on_network,
            web_search=web_search,
            web_sources=conversation.record.sources_of_turn,
        )

    async def run(self) -> TurnEnded:
        """Run it and close it, whatever happens."""
        self._events.enter("preparing")
        try:
            async with self._deps.checkpointers(
                self._project.checkpoints_path, self._conversation.session_id
            ) as saver:
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
            await self._close(_reason_of(stop), "stopped")
            raise
        except Exception as error:
            # A bug: scripts still get their closing line, and the last-resort handler the cause.
            self._fail("internal", internal_error(error), None)
            await self._close("error", "error")
            raise

    async def _close(self, reason: str, end: TurnEnd) -> None:
        """After a failure or a stop: settle the turn and say that it is over."""
        if self._is_over:  # only the telling of it failed
            return
        try:
            if self._has_begun:
                with log_and_continue("The turn could not be settled"):
                    await uninterrupted(self._settle(reason))
        finally:
            self._end(end)

    async def _begin(self) -> None:
        """Settle what an earlier turn left open, and write the user's message; or take that turn up."""
        # An answer that a killed run left unfinished cost what one of this model does.
        await self._watch.pricing.look_up(self._request.choice)
        for record in await self._context.operations.repair(session_id=self._conversation.session_id):
            if record.kind == "simulation":
                await self._forget_result(record.op_id)
        text = self._request.text
        if text is None:
            is_open = bool(self._record.open_turn)
            if not is_open and not can_go_on(self._record.last_end):
                raise nothing_to_resume()
            self._has_begun = True
            if await self._conversation.take_up(cost=self._watch.pricing.of_unfinished()) or is_open:
                return
            text = self._request.go_on
        self._has_begun = True
        await self._settle("interrupted")
        attachments = self._request.attachments
        named = [prepared.attachment.to_plain() for prepared in attachments]
        message = create_human_message(text, attachments=named)
        async with kept(attachments, self._project) if attachments else nullcontext():
            await self._conversation.begin_turn(message)

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
                loop.note(outcome=ended, answers=answers, tokens=self._usage().total_tokens)
            span.note(outcome=ended)
            return ended

    async def _follow(self, saver: BaseCheckpointSaver[str], span: Span) -> TurnEnd:
        thread_id = self._conversation.session_id
        async with (
            self._deps.models.open(self._request.choice) as model,
            self._models.others(self._alternatives) as others,
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
                if isinstance(failure, CircuitAIError) and reason == "error":
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
        answers = await self._confirmation.ask(card_id)
        self._events.emit(ConfirmationGiven(card_id=card_id, answers=answers))
        return answers_to_plain(answers)

    def _runtime(
        self, model: BaseChatModel, others: OtherModels, saver: BaseCheckpointSaver[str], span: Span
    ) -> GraphRuntime:
        graph = build_agent(
            review=ReviewNode(confirmation=self._confirmation, context=self._context),
            confirm=ConfirmNode(confirmation=self._confirmation, context=self._context),
            model=ModelNode(
                conversation=self._conversation,
                asked=AskedModel(model, self._request.choice, others=others, attached=self._attached),
                executor=self._executor,
                describe_project=self._describe,
                system_message=self._system_message,
                watch=self._watch,
                span=span,
                withheld=frozenset() if self._context.web_search is not None else frozenset({WEB_SEARCH}),
            ),
            tools=ToolsNode(
                conversation=self._conversation,
                executor=self._executor,
                context=self._context,
                watch=self._watch,
                span=span,
            ),
            checkpointer=saver,
        )
        return GraphRuntime(graph)

    async def _system_message(self) -> SystemMessage | None:
        """None for the built-in model: it follows plain commands and reads no prompt."""
        if self._request.choice.provider == BUILTIN:
            return None
        return await self._deps.prompts().system_message(
            self._project, main_circuit=self._request.main_circuit
        )

    async def _describe(self) -> str:
        """The project, and which changes of the model were taken back."""
        described = await asyncio.to_thread(describe_project, self._project, self._request.main_circuit)
        records = await self._context.operations.list(session_id=self._conversation.session_id)
        note = undone_note(records, since=self._record.last_answered)
        return f"{described}\n{note}" if note else described

    def _state(self, *, ended: str = "") -> GraphState:
        """The state of the newest turn, as its transcript tells it."""
        messages = self._record.messages_of_turn()
        return {
            "session_id": self._conversation.session_id,
            "work_mode": "free_work",
            "project_root": str(self._project.root),
            "turn_id": str(messages[0].id) if messages else "",
            "agent_round": self._record.answers_asked,
            "agent_steps": self._record.ids_of_turn(),
            "agent_pending": [call.call_id for call in self._record.open_calls()],
            "agent_question": "",
            "agent_ended": ended,
            "agent_seconds": 0.0,
            "agent_usage": self._usage().to_plain(),
        }

    def _usage(self) -> Usage:
        """Tokens of the newest turn."""
        answers = self._record.answers_of_turn()
        return sum((get_usage(answer) or Usage() for answer in answers), Usage())

    def _cost(self) -> Cost:
        """What the newest turn cost."""
        return total(map(get_cost, self._record.answers_of_turn()))

    async def _write_final_checkpoint(self, runtime: GraphRuntime, reason: str) -> None:
        """After an interruption: transcript first, then the checkpoint that says the same."""
        await self._settle(reason)
        await runtime.write_final_checkpoint(
            self._conversation.session_id, self._state(ended=reason), node=FREE_WORK
        )

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
                await self._forget_result(call.call_id)
            return result

        await self._conversation.settle(
            reason, settle_call, cost=self._watch.pricing.of_unfinished(), failure=self._failure
        )
        self._show_ends()

    async def _forget_result(self, call_id: str) -> None:
        """Remove what a simulation that did not come to its end has left."""
        await asyncio.to_thread(self._context.services.results.forget, self._project.root, call_id)

    def _show_ends(self) -> None:
        """Whoever saw a call start sees it end, also when the stop came between its result and its event."""
        for call_id in self._events.running:
            written = self._record.result_of(call_id)
            if written is not None:
                self._events.emit(
                    ToolEnded(
                        call_id=call_id,
                        name=str(written.name),
                        success=get_tool_success(written),
                        summary=get_summary_message(written),
                        error_type=get_tool_error_type(written),
                    )
                )

    async def _finish(self, ended: TurnEnd) -> TurnEnded:
        conversation = self._conversation
        note = await self._note_on(ended)
        await conversation.end_turn(ended, note=note if ended in ("limit", "loop") else None)
        if ended == "completed" and conversation.record.name_is_default:
            await conversation.rename(await self._models.name(), by="auto")
        if ended == "cut":
            self._fail(
                "cut",
                msg("The answer was cut off: the provider's stream ended before the answer did."),
                msg('The partial answer was kept. Say "continue" to get the rest.'),
            )
        return self._end(ended, note)

    async def _note_on(self, ended: TurnEnd) -> Message | None:
        """Which limit or guardrail ended the turn, or what is doubtful about its answer."""
        move = await self._watch.next_move(self._seconds)
        if isinstance(move, End) and move.reason == ended and move.why is not None:
            return move.why
        answers = self._record.answers_of_turn()
        if ended == "completed" and answers and (words := get_doubt(answers[-1])):
            return msg("The answer says “{words}”, but in this turn no tool has done that.", words=words)
        return None

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
            usage=self._state()["agent_usage"],
            note=note,
            context_tokens=self._context_tokens(),
            cost=self._cost(),
            session_cost=self._watch.session_cost(),
        )
        self._events.emit(ended)
        return ended


def _limits_of(deps: TurnDeps, request: ChatRequest) -> AgentLimits:
    """The user's limits, with the one of this call."""
    if request.max_cost is None:
        return deps.limits
    amount, currency = request.max_cost
    return replace(deps.limits, session_cost=amount, currency=currency)


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

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of calls that were shown as started, not as ended."""
        return tuple(self._running)

    def emit(self, event: ChatEvent) -> None:
        """Show an event."""
        if isinstance(event, PhaseEntered):
            entered = self._phases.follow(event, tokens=self._tokens())
            if entered is None:
                return
            event = entered
        if isinstance(event, ToolStarted):
            self._running.add(event.call_id)
        elif isinstance(event, ToolEnded):
            self._running.discard(event.call_id)
        self._listener(event)

    def enter(self, phase: Phase) -> None:
        """Show that a phase begins, unless it is the one that is on."""
        entered = self._phases.enter(phase, tokens=self._tokens())
        if entered is not None:
            self._listener(entered)
