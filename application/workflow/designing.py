"""Design a circuit from a sentence, in workflow mode: the use case behind `design`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

from application.graph import WORKFLOW
from application.ports.events import (
    ChatEvent,
    ConfirmationAsked,
    ConfirmationGiven,
    ConfirmationNeeded,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    SessionOpened,
    StopReason,
    TextWritten,
    ToolEnded,
    ToolStarted,
)
from application.workflow.design_sessions import (
    DEFAULT_MAX_ITERATIONS,
    Answer,
    Ask,
    DesignRequest,
    Question,
    Reply,
    ResumeRequest,
    RunSession,
    nothing_to_resume,
)
from application.workflow.journal import Carried, DesignJournal, DesignRun, Narrate
from application.workflow.refining import NextMessage, finished_design, read_message
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.result import cut_middle
from domain.simulation.goals import all_met
from shared.errors import (
    CircuitAIError,
    EnvironmentProblem,
    NeedsConfirmation,
    Stopped,
    UserInputError,
    internal_error,
)
from shared.message import msg
from shared.ulid import new_ulid
from shared.uninterrupted import imported, in_pieces, uninterrupted

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.messages import SystemMessage

    from application.agent.conversation import Conversation
    from application.conversation.chatting import ChatWithModel
    from application.conversation.consents import AskConsent
    from application.conversation.model_access import ModelAccess
    from application.conversation.turn_parts import TurnParts
    from application.graph.runtime import GraphRuntime
    from application.graph.state import GraphState
    from application.ports.conversation import Checkpointers, Designer
    from application.ports.project import ProjectFiles, Projects
    from application.ports.tracing import Span, TurnTracer
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.tool_execution.confirming import Confirm
    from application.tool_execution.operations import Operations
    from application.workflow.model_steps import ModelSteps
    from domain.design.checkpoint_intent import CheckpointIntent
    from domain.llm.conversation_record import ConversationRecord
    from domain.llm.costs import Cost

__all__ = [
    "DEFAULT_MAX_ITERATIONS",
    "Answer",
    "Ask",
    "DesignCircuit",
    "DesignRequest",
    "Question",
    "Reply",
    "ResumeRequest",
]

Reread = Callable[["GraphState"], "Callable[[CheckpointIntent], Awaitable[CheckpointIntent]] | None"]
"""Of a checkpoint's state: how a model is asked what was meant there (`Question.reread`)."""
_LONGEST_SHOWN = 12_000
"""Characters of a circuit whose goals are read."""
CONFIRM = "confirm"
"""Kind of an interrupt in the agent's loop (`agent.loop.CONFIRM`, which is slow to import)."""
_logger = logging.getLogger(__name__)


class DesignCircuit:
    """Runs the LangGraph workflow of one project."""

    def __init__(
        self,
        *,
        designers: Mapping[str, Designer],
        projects: Projects,
        simulate: RunSimulation,
        measure: MeasureResult,
        checkpointers: Checkpointers,
        tracer: TurnTracer,
        narrators: Callable[[str], Narrate],
        chat: Callable[[], ChatWithModel],
    ) -> None:
        """`designers` decide by rules and equations, by the provider's name; `chat` has the models."""
        self._designers = designers
        self._chat = chat
        self._projects = projects
        self._simulate = simulate
        self._measure = measure
        self._checkpointers = checkpointers
        self._tracer = tracer
        self._narrators = narrators
        """Gives, for a sentence, what puts events into words of the sentence's language."""

    async def __call__(
        self,
        request: DesignRequest | ResumeRequest,
        *,
        ask: Ask,
        emit: Callable[[DesignEvent | ChatEvent], None],
        confirm: Confirm | None = None,
        ask_consent: AskConsent | None = None,
    ) -> Done:
        """Run to the end; `emit` gets every event as it happens, `Done` always last (also returned).

        `ask` decides at the design's own questions; `confirm` and `ask_consent` are those of a chat.

        A run that is cancelled, that waits for a person nobody can ask, or that lacks something of its
        environment can be resumed. Errors with a text for people become an `ErrorOccurred` before
        `Done` and are raised after it. Cancelling gives `Done` with stop_reason "stopped" and goes on
        cancelling.
        """
        progress = _Progress(request, ask, emit)
        try:
            access = None
            if request.choice.provider not in self._designers:
                access = await self._chat().find_access(request.choice)
            async with self._project(request) as project:
                progress.project = project.root
                agreed = None
                if access is not None and access.is_on_network:
                    session_id = request.session_id
                    agreed = await self._chat().find_access.consent(
                        project, request.choice, session_id=session_id, ask=ask_consent
                    )
                async with _opened(project, progress) as (session, run):
                    if agreed is not None:
                        agreed(run.session_id)
                    await self._run(project, session, run, progress, access=access, confirm=confirm)
        except asyncio.CancelledError:
            progress.close("stopped")
            raise
        except Exception as error:
            # Also of a bug: scripts still get their closing line, and the last-resort handler the cause.
            progress.fail(error)
            raise
        return progress.close(None)

    async def read_message(self, project: Path, session_id: str, text: str, provider: str) -> NextMessage:
        """How a message behind the designs of a conversation is taken; nothing is changed by asking.

        Raises UserInputError when there is no such conversation.
        """
        designer = self._designers.get(provider)
        files = await asyncio.to_thread(self._projects.open, project)
        try:
            read = await asyncio.to_thread(files.sessions.read, session_id)
            return await read_message(designer, finished_design(read.events), text)
        finally:
            await uninterrupted(asyncio.to_thread(files.close))

    @asynccontextmanager
    async def _project(self, request: DesignRequest | ResumeRequest) -> AsyncIterator[ProjectFiles]:
        create = isinstance(request, DesignRequest)
        try:
            project = await asyncio.to_thread(self._projects.open, request.project, create=create)
        except UserInputError as error:
            if error.error_type == "no_project":
                raise nothing_to_resume(request.project) from error
            raise
        try:
            yield project
        finally:
            await uninterrupted(asyncio.to_thread(project.close))

    async def _run(
        self,
        project: ProjectFiles,
        session: RunSession,
        run: DesignRun,
        progress: _Progress,
        *,
        access: ModelAccess | None,
        confirm: Confirm | None,
    ) -> None:
        """Run the graph to its end; however it ends, the transcript has word of it."""
        await in_pieces(imported(WORKFLOW))
        from application.agent.conversation import Conversation
        from application.tool_execution.operations import Operations

        conversation = await Conversation.load(await session.transcript(run))
        begin = DesignJournal.begin if session.is_new else DesignJournal.take_up
        narrate = await asyncio.to_thread(self._narrators, run.text)
        journal = await begin(conversation, run, narrate)
        progress.spent = lambda: _spent_since(conversation.record, run.turn_id)
        operations = Operations(log=project.operations, project=project)
        if not session.is_new:
            await _end_open_chat(conversation, operations)
        try:
            async with (
                self._tracer.turn(
                    project.traces_path, turn_id=run.turn_id, session_id=run.session_id, name="design"
                ) as span,
                self._checkpointers(project.checkpoints_path, run.session_id) as saver,
                AsyncExitStack() as opened,
            ):
                model = _Model(
                    self._chat,
                    progress.request,
                    project,
                    conversation,
                    journal,
                    access=access,
                    confirm=confirm,
                    span=span,
                    opened=opened,
                )
                prune = partial(self._checkpointers.prune, saver, run.session_id)
                runtime = self._runtime(model, project, operations, journal, saver=saver, span=span)
                try:
                    await _follow(
                        runtime, project, journal, progress, model, prune=prune, is_new=session.is_new
                    )
                except Exception as error:
                    if not _can_go_on_after(error):
                        await _settle_calls(journal, conversation, operations, error)
                        await prune()
                        await journal.end("error", _told(error))
                    raise
                # Before the run counts as ended: nobody would come back for it.
                await prune()
                done = progress.done(None)
                span.note(outcome=done.stop_reason, rounds=done.rounds)
                await journal.end(done.stop_reason, done)
        except asyncio.CancelledError:
            await _leave_word(_pause(journal, conversation, "stopped"))
            raise
        except Exception as error:
            if _can_go_on_after(error):
                await _leave_word(_pause(journal, conversation, error.error_type))
            raise

    def _runtime(
        self,
        model: _Model,
        project: ProjectFiles,
        operations: Operations,
        journal: DesignJournal,
        *,
        saver: Any,
        span: Span,
    ) -> GraphRuntime:
        from application.graph.runtime import GraphRuntime
        from application.workflow.builder import Workflow, build_workflow
        from application.workflow.goal_readers import BuiltinGoals, ModelGoals

        designer = self._designers.get(model.choice.provider)
        by_model = ModelGoals(model.steps, model.goals_prompt)
        workflow = Workflow(
            reader=by_model if designer is None else BuiltinGoals(designer),
            designer=designer,
            steps=model.steps,
            project=project,
            operations=operations,
            simulate=self._simulate,
            measure=self._measure,
            journal=journal,
            span=span,
        )
        return GraphRuntime(build_workflow(workflow, saver))


class _Model:
    """The chosen model of a run, opened at its first use: a design by equations may need none."""

    def __init__(
        self,
        chat: Callable[[], ChatWithModel],
        request: DesignRequest | ResumeRequest,
        project: ProjectFiles,
        conversation: Conversation,
        journal: DesignJournal,
        *,
        access: ModelAccess | None,
        confirm: Confirm | None,
        span: Span,
        opened: AsyncExitStack,
    ) -> None:
        self.choice = request.choice
        self._max_cost = request.max_cost
        self._chat = chat
        self._project = project
        self._conversation = conversation
        self._journal = journal
        self._access = access
        self._confirm = confirm
        self._span = span
        self._opened = opened
        self._steps: ModelSteps | None = None
        self._parts: TurnParts | None = None

    async def steps(self) -> ModelSteps:
        """What it does in a node. Raises UserInputError, EnvironmentProblem when it can't be asked."""
        if self._steps is None:
            from application.conversation.turn_parts import TurnParts
            from application.workflow.model_steps import ModelSteps

            chat = self._chat()
            access = self._access or await chat.find_access(self.choice)
            parts = self._parts = TurnParts(
                chat.deps,
                self.choice,
                self._project,
                self._conversation,
                access=access,
                confirm=self._confirm,
                max_cost=self._max_cost,
            )
            model = await self._opened.enter_async_context(chat.deps.models.open(self.choice))
            others = await self._opened.enter_async_context(parts.models.others(access.alternatives))
            self._steps = ModelSteps(parts, parts.asked(model, others), self._journal, self._span)
        return self._steps

    async def goals_prompt(self, values: Mapping[str, Any]) -> SystemMessage:
        """The system message of the structured call for goals; the circuit to be improved is shown in it."""
        circuit = self._journal.run.circuit
        if circuit:
            content = await asyncio.to_thread(self._project.read, self._project.root / circuit)
            shown = cut_middle(content.decode("utf-8", "replace"), _LONGEST_SHOWN)
            values = {**values, "context": f"The circuit that is to be improved, {circuit}:\n{shown}"}
        return await (
            self._chat()
            .deps.prompts()
            .system_message(
                self._project,
                task="EXTRACT_DESIGN_GOALS",
                values=values,
                main_circuit=circuit,
                session_id=self._conversation.session_id,
            )
        )

    def reread(self, state: GraphState) -> Callable[[CheckpointIntent], Awaitable[CheckpointIntent]] | None:
        """Asks the model what was meant at the checkpoint of `state`; None for the built-in one."""
        if self.choice.provider == BUILTIN:
            return None

        async def ask(read: CheckpointIntent) -> CheckpointIntent:
            try:
                steps = await self.steps()
                return await steps.read_intent(read, state) or read
            except CircuitAIError as error:  # the user says it with a click
                _logger.warning("The model was not asked what was meant: %s", error)
                return read

        return ask

    async def confirm(self, card_id: str, emit: Callable[[ChatEvent], None]) -> dict[str, Any]:
        """The user's answers to a card of the loop."""
        from domain.llm.tools.confirmation_card import answers_to_plain

        await self.steps()  # a run that is taken up may begin with the question
        assert self._parts is not None
        emit(ConfirmationNeeded(card=self._conversation.record.card(card_id)))
        answers = await self._parts.confirmation.ask(card_id)
        emit(ConfirmationGiven(card_id=card_id, answers=answers))
        return answers_to_plain(answers)


@asynccontextmanager
async def _opened(project: ProjectFiles, progress: _Progress) -> AsyncIterator[tuple[RunSession, DesignRun]]:
    """The locked conversation of the run, announced."""
    session, request = RunSession(project.sessions, project=project.root), progress.request
    try:
        if isinstance(request, ResumeRequest):
            run = await session.resume(request)
        else:
            run = await session.begin(request, progress.ask)
        progress.announce(run, is_new=session.is_new)
        if session.answer is not None:
            progress.emit(ConfirmationAsked(kind="pending_run", answer=session.answer))
        if session.left_aside is not None:
            progress.emit(
                TextWritten(
                    text=msg(
                        "The interrupted design was kept; continue it with --resume --session {session}.",
                        session=session.left_aside.session_id,
                    )
                )
            )
        yield session, run
    finally:
        await session.close()


def _start(project: ProjectFiles, run: DesignRun) -> GraphState:
    return {
        "session_id": run.session_id,
        "turn_id": run.turn_id,
        "step": "",
        "step_number": 0,
        "work_mode": "workflow",
        "project_root": str(project.root),
        "user_input": run.text,
        "max_iterations": run.max_iterations,
        **({} if run.refines is None else _refined(run.refines)),
        **({} if not run.circuit else _begun_from(project, run.circuit)),
    }


def _begun_from(project: ProjectFiles, circuit: str) -> GraphState:
    """A start from a circuit of the project, which is round 0: simulated and judged before it is changed."""
    content = project.read(project.root / circuit)
    sha256 = project.keep_object(content)
    return {
        "circuit_file_path": circuit,
        "netlist_sha256": sha256,
        "circuit_files": {circuit: sha256},
        "planned_simulation": new_ulid(),
        "iteration_count": -1,
    }


def _refined(refines: Mapping[str, Any]) -> GraphState:
    """A start from a finished design: its circuit and what it was sized for, and none of its rounds."""
    return {
        "design_intent": dict(refines["design_intent"]),
        "refined_goals": list(refines["refined_goals"]),
        "refined_from": dict(refines["design_intent"]),
        "circuit_file_path": str(refines["circuit_file_path"]),
        "netlist_sha256": str(refines["netlist_sha256"]),
        "circuit_files": dict(refines.get("circuit_files") or {}),
        "instruction": str(refines.get("instruction") or ""),
        "more_changes": [],
        "last_writes": [],
        "error_places": [],
        "planned_change": None,
        "planned_simulation": "",
        "is_completed": False,
        "is_exhausted": False,
        "termination_reason": "",
        "error_context": "",
        "last_metrics": {},
        "last_verdicts": [],
        "best_round": None,
        "last_round": None,
        "previous_round": None,
        "last_write": "",
        "goals_changed": "",
        "iteration_count": 0,
        "checkpoint_count": 0,
        "stagnation_count": 0,
        "consecutive_fix_attempts": 0,
    }


async def _follow(
    runtime: GraphRuntime,
    project: ProjectFiles,
    journal: DesignJournal,
    progress: _Progress,
    model: _Model,
    *,
    prune: Callable[[], Awaitable[None]],
    is_new: bool,
) -> None:
    """Run the graph from its start, or from the last step that is known, to its end.

    At each question the steps before it are forgotten: the transcript knows them, and a design of many rounds
    stays small.
    """
    run = journal.run
    rounds = progress.request.max_iterations or run.max_iterations
    start = None
    if is_new or not await _go_back(runtime, journal):
        start = await asyncio.to_thread(_start, project, run)
    decide_design = _decider(
        progress.ask, progress.emit, rounds, recapitulate=not is_new, reread=model.reread
    )

    async def decide(value: dict[str, Any], state: GraphState) -> dict[str, Any]:
        await prune()
        if value["kind"] == CONFIRM:
            return await model.confirm(str(value["card_id"]), progress.emit)
        return await decide_design(value, state)

    try:
        stream = runtime.run(run.session_id, start, decide=decide, rounds=rounds)
        async with aclosing(stream) as events:
            async for event in events:
                progress.emit(event)
    finally:
        progress.state = await uninterrupted(runtime.state(run.session_id))


async def _go_back(runtime: GraphRuntime, journal: DesignJournal) -> bool:
    """Put the checkpoint to the last step that the transcript knows too; False when there is none.

    From there, or from the start, the run follows its transcript, which repeats no effect. Raises
    UserInputError when the transcript has a hole behind that step.
    """
    last = 0

    def is_told(state: GraphState) -> bool:
        nonlocal last
        if state.get("turn_id") != journal.run.turn_id:
            return False
        last = state.get("step_number", 0)
        return last == 0 or journal.update_of(state["step"]) is not None

    found = await runtime.go_back(journal.session_id, is_told)
    journal.require_steps_after(last if found else 0)
    return found


def _can_go_on_after(error: Exception) -> TypeGuard[CircuitAIError]:
    """Whether a run ends only for now: somebody has to answer, to mend something, or has stopped it."""
    is_for_now = isinstance(error, NeedsConfirmation | EnvironmentProblem | Stopped)
    return is_for_now and getattr(error, "error_type", "") != "object_missing"


async def _pause(journal: DesignJournal, conversation: Conversation, reason: str) -> None:
    """Keep what had come of an answer, and write why the run does not go on for now."""
    await conversation.keep_unfinished("user" if reason == "stopped" else "error", cost=None)
    await journal.pause(reason)


def _spent_since(record: ConversationRecord, message_id: str) -> _Spent:
    """What a run that began with this message has taken."""
    from langchain_core.messages import AIMessage

    from domain.llm.chat import Usage
    from domain.llm.costs import total
    from domain.llm.messages import get_cost, get_usage

    ids = [message.id for message in record.messages]
    begin = ids.index(message_id) if message_id in ids else len(ids)
    whole = [message for message in record.messages if isinstance(message, AIMessage)]
    of_run = [message for message in record.messages[begin:] if isinstance(message, AIMessage)]
    return _Spent(
        usage=sum((get_usage(message) or Usage() for message in of_run), Usage()).to_plain(),
        cost=total(map(get_cost, of_run)),
        session_cost=total(map(get_cost, whole)),
    )


async def _leave_word(writing: Coroutine[Any, Any, None]) -> None:
    """Write how a run ended. Where even that fails (a full disk), what ended the run is the thing to tell."""
    try:
        await uninterrupted(writing)
    except CircuitAIError as error:
        _logger.warning("The end of a design could not be written to its transcript: %s", error)


async def _settle_calls(
    journal: DesignJournal, conversation: Conversation, operations: Operations, error: Exception
) -> None:
    """Give every call of a run that can't go on a result."""
    failure = _told(error)
    summary = failure.message
    await conversation.keep_unfinished("error", cost=None)
    of_model = {call.call_id: call.name for call in conversation.record.open_calls()}
    for call_id, name in {**of_model, **journal.open_calls}.items():
        record = await operations.settle(call_id)
        is_done = record is not None and record.state == "done"
        await journal.settle(
            Carried(
                call_id=call_id,
                name=name,
                success=is_done,
                summary=msg("Done before the run was interrupted.") if is_done else summary,
                content="Done." if is_done else f"Not done: {summary}",
                error_type="" if is_done else failure.error_type,
            )
        )
        summary = msg("Not run: the step before it failed.")


async def _end_open_chat(conversation: Conversation, operations: Operations) -> None:
    """End the turn of a chat that was killed while the design waited: nothing of it is run any more."""
    from domain.llm.tools.result import ToolCall, ToolResult, failure

    async def settle_call(call: ToolCall) -> ToolResult:
        record = await operations.settle(call.call_id)
        if record is not None and record.state == "done":
            text = msg("Done before the run was interrupted.")
            return ToolResult(success=True, content="Done.", summary=text)
        return failure("interrupted", msg("Interrupted."))

    if not conversation.record.is_in_design:
        await conversation.settle("interrupted", settle_call, cost=None)


def _told(error: Exception) -> ErrorOccurred:
    """What is said of an error; of a bug that it is one."""
    if isinstance(error, CircuitAIError):
        return ErrorOccurred(error_type=error.error_type, message=error.message, advice=error.advice)
    return ErrorOccurred(error_type="internal", message=internal_error(error), advice=None)


class _Spent(TypedDict, total=False):
    """The fields of `Done` that say what a run has taken."""

    usage: dict[str, int]
    cost: Cost
    session_cost: Cost


class _Progress:
    """Who asked for what, and what is known of the run for its closing event."""

    def __init__(
        self,
        request: DesignRequest | ResumeRequest,
        ask: Ask,
        emit: Callable[[DesignEvent | ChatEvent], None],
    ) -> None:
        self.request = request
        self.ask = ask
        self.project: Path = request.project
        self.state: GraphState = {}
        self._emit = emit
        self._running: dict[str, str] = {}
        """Calls that were shown as started, not as ended."""
        self.spent: Callable[[], _Spent] = _Spent
        self._session_id = request.session_id if isinstance(request, ResumeRequest) else ""
        self._is_announced = False

    def emit(self, event: DesignEvent | ChatEvent) -> None:
        """Show an event."""
        if isinstance(event, ToolStarted):
            self._running[event.call_id] = event.name
        elif isinstance(event, ToolEnded):
            self._running.pop(event.call_id, None)
        self._emit(event)

    def announce(self, run: DesignRun, *, is_new: bool) -> None:
        """Tell the session's id, before anything else."""
        self._is_announced = True
        self.emit(SessionOpened(session_id=run.session_id, resumed_text="" if is_new else run.text))

    def fail(self, error: Exception) -> None:
        """Tell the error and that the run ended with it."""
        self._announce_nothing()
        self.emit(_told(error))
        self.close("stopped" if isinstance(error, Stopped) else "error")

    def close(self, stop_reason: StopReason | None) -> Done:
        """Tell that the run ended; None = by what its state says."""
        self._announce_nothing()
        for call_id, name in tuple(self._running.items()):  # a stop came before its end was told
            summary = msg("Interrupted.")
            self.emit(
                ToolEnded(call_id=call_id, name=name, success=False, summary=summary, error_type="stopped")
            )
        done = self.done(stop_reason)
        self.emit(done)
        return done

    def _announce_nothing(self) -> None:
        """The first event names the session, also where none was opened."""
        if not self._is_announced:
            self._is_announced = True
            self.emit(SessionOpened(session_id=self._session_id))

    def done(self, stop_reason: StopReason | None) -> Done:
        from application.workflow.plain_state import verdict_from_plain

        state = self.state
        verdicts = tuple(verdict_from_plain(plain) for plain in state.get("last_verdicts", ()))
        goals_met = all_met(verdicts)
        is_undone = state.get("termination_reason") == "undo"
        if stop_reason is None:
            if state.get("user_intent") == "decline":
                stop_reason = "declined"
            elif is_undone:
                stop_reason = "undone"
            elif state.get("user_intent") == "answered":
                stop_reason = "answered"
            else:
                stop_reason = "goals_met" if goals_met else "goals_not_met"
        return Done(
            stop_reason=stop_reason,
            project=self.project,
            circuit=None if is_undone else state.get("circuit_file_path") or None,
            goals_met=goals_met,
            verdicts=verdicts,
            metrics={verdict.goal.metric: verdict.measured.value for verdict in verdicts},
            rounds=max(state.get("iteration_count", 0), 0),
            **self.spent(),
        )


def _decider(
    ask: Ask,
    emit: Callable[[DesignEvent], None],
    max_iterations: int,
    *,
    recapitulate: bool,
    reread: Reread,
) -> Callable[[dict[str, Any], GraphState], Awaitable[dict[str, Any]]]:
    """Turns the graph's interrupts into typed questions and the answers back.

    With `recapitulate` the first question comes with what it is about, told before the interruption.
    """
    from application.workflow.edges import should_continue
    from application.workflow.plain_state import goal_from_plain, goal_to_plain, verdict_from_plain

    is_first = recapitulate

    async def decide(value: dict[str, Any], state: GraphState) -> dict[str, Any]:
        nonlocal is_first
        if is_first:
            for event in _told_before(state):
                emit(event)
        is_first = False
        goals = tuple(goal_from_plain(plain) for plain in state["design_goals_summary"])
        if value["kind"] == "goals":
            question = Question(kind="goals", goals=goals)
        else:
            met, number = bool(value["goals_met"]), int(value["round"])
            is_exhausted = state.get("is_exhausted", False)
            goes_on = not is_exhausted and should_continue({**state, "max_iterations": max_iterations})
            question = Question(
                kind="checkpoint",
                goals=goals,
                verdicts=tuple(verdict_from_plain(plain) for plain in state["last_verdicts"]),
                has_failed=bool(state.get("error_context")),
                can_undo=bool(state.get("last_write"))
                and (number == 1 or state.get("previous_round") is not None),
                is_exhausted=is_exhausted,
                round_number=number,
                most_rounds=max_iterations,
                goals_met=met,
                recommended="accept" if met else "continue" if goes_on else "stop",
                reread=reread(state),
            )
        reply = await ask(question)
        answer = reply.answer if isinstance(reply, Reply) else reply
        emit(ConfirmationAsked(kind=question.kind, answer=answer))
        if not isinstance(reply, Reply):
            return {"intent": answer, "goals": None, "said": []}
        if (meant := reply.meant) is not None:
            emit(IntentRead(kind=meant.kind, text=meant.text, round_number=meant.round_number))
        return {
            "intent": answer,
            "goals": None if reply.goals is None else [goal_to_plain(goal) for goal in reply.goals],
            "said": list(reply.said),
            "instruction": reply.instruction,
            "round": reply.round_number,
        }

    return decide


def _told_before(state: GraphState) -> list[DesignEvent]:
    """The goals, and the figures of the last round."""
    from application.workflow.plain_state import intent_from_plain, verdict_from_plain

    intent = intent_from_plain(state["design_intent"])
    told: list[DesignEvent] = [GoalsUnderstood(goals=intent.goals, assumptions=intent.assumptions)]
    verdicts = tuple(verdict_from_plain(plain) for plain in state.get("last_verdicts", ()))
    if verdicts:
        metrics = {verdict.goal.metric: verdict.measured.value for verdict in verdicts}
        number = state["iteration_count"]
        told.append(IterationFinished(number=number, metrics=metrics, verdicts=verdicts))
    return told
