"""Design a circuit from a sentence, in workflow mode: the use case behind `design`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from application.agent.conversation import until_taken_over
from application.conversation.sessions import find_session
from application.design.circuit_goals import read_goals
from application.graph import WORKFLOW
from application.ports.events import (
    ChatEvent,
    ConfirmationAsked,
    DesignEvent,
    Done,
    TextWritten,
)
from application.workflow.chosen_model import ChosenModel
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
from application.workflow.progress import Progress, Spending, decider, told
from application.workflow.refining import (
    NextMessage,
    change_of,
    design_of,
    finished_design,
    is_edited,
    read_at_hand,
    read_message,
)
from application.workflow.start_state import start_state
from domain.llm.provider_settings import BUILTIN
from domain.llm.turn_failure import TurnFailure, failure_of
from shared.errors import (
    CircuitAIError,
    CircuitError,
    EnvironmentProblem,
    NeedsConfirmation,
    Stopped,
    UserInputError,
)
from shared.message import msg
from shared.uninterrupted import imported, in_pieces, off_loop, uninterrupted

if TYPE_CHECKING:
    from pathlib import Path

    from application.agent.conversation import Conversation
    from application.conversation.chatting import ChatWithModel
    from application.conversation.consents import AskConsent
    from application.conversation.turn_deps import ModelAccess
    from application.graph.runtime import GraphRuntime
    from application.graph.state import GraphState
    from application.ports.conversation import Checkpointers
    from application.ports.project import ProjectFiles, Projects
    from application.ports.tracing import Span, TurnTracer
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.tool_execution.executor import Confirm
    from application.tool_execution.operations import Operations
    from domain.design.known_requests import KnownRequests
    from domain.design.likeness import KnownTexts

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

CONFIRM = "confirm"
"""Kind of an interrupt in the agent's loop (`agent.loop.CONFIRM`, which is slow to import)."""
_LEAVES_WITHIN_S = 5.0
"""Whoever gave its conversation up to us leaves the project within this time."""
_logger = logging.getLogger(__name__)


class DesignCircuit:
    """Runs the LangGraph workflow of one project."""

    def __init__(
        self,
        *,
        projects: Projects,
        simulate: RunSimulation,
        measure: MeasureResult,
        checkpointers: Checkpointers,
        tracer: TurnTracer,
        narrators: Callable[[str], Narrate],
        chat: Callable[[], ChatWithModel],
        checkpoint_texts: Callable[[], KnownTexts],
        request_texts: Callable[[], KnownRequests],
    ) -> None:
        """`chat` has the models; `checkpoint_texts` is called in a thread, before the first checkpoint, and
        `request_texts` where the built-in designer reads a request."""
        self._chat = chat
        self._checkpoint_texts = checkpoint_texts
        self._request_texts = request_texts
        self._projects = projects
        self._simulate = simulate
        self._measure = measure
        self._checkpointers = checkpointers
        self._tracer = tracer
        self._narrators = narrators
        """Gives, for a sentence, what puts events into words of the sentence's language."""
        self._at_work: set[Path] = set()
        """Projects with a design under way here: each has one at a time."""

    async def __call__(
        self,
        request: DesignRequest | ResumeRequest,
        *,
        ask: Ask,
        emit: Callable[[DesignEvent | ChatEvent], None],
        confirm: Confirm | None = None,
        ask_consent: AskConsent | None = None,
        main_circuit: Callable[[], str] = str,
    ) -> Done:
        """Run to the end; `emit` gets every event as it happens, `Done` always last (also returned).

        `ask` decides at the design's own questions; `confirm` and `ask_consent` are those of a chat.
        `main_circuit` is that of the window now, relative to the project ("" for none): a round knows it, and
        who puts the round back is told (`MainCircuitRestored`).

        A run that is cancelled, that waits for a person nobody can ask, or that lacks something of its
        environment can be resumed. Errors with a text for people become an `ErrorOccurred` before
        `Done` and are raised after it. Cancelling gives `Done` with stop_reason "stopped" and goes on
        cancelling.
        """
        progress = Progress(request, ask, emit)
        try:
            access = await self._chat().find_access(request.choice)
            async with self._project(request) as project:
                progress.project = project.root
                session_id = request.session_id
                if session_id:
                    session_id = await asyncio.to_thread(find_session, project.sessions, session_id)
                    progress.request = replace(request, session_id=session_id)
                agreed = None
                if access.is_on_network:
                    agreed = await self._chat().find_access.consent(
                        project, request.choice, session_id=session_id, ask=ask_consent
                    )
                async with _opened(project, progress) as (session, run):
                    if agreed is not None:
                        agreed(run.session_id)
                    await self._run(
                        project,
                        session,
                        run,
                        progress,
                        access=access,
                        confirm=confirm,
                        main_circuit=main_circuit,
                    )
        except asyncio.CancelledError:
            progress.close("stopped")
            raise
        except Exception as error:
            # Also of a bug: scripts still get their closing line, and the last-resort handler the cause.
            progress.fail(error)
            raise
        return progress.close(None)

    async def read_message(
        self, project: Path, session_id: str, text: str, provider: str, *, circuit: str = ""
    ) -> NextMessage:
        """How a message behind the designs of a conversation is taken; nothing is changed by asking.

        `circuit`: the one the user works on, relative to the project; "" when none is known.
        Raises UserInputError when there is no such conversation.
        """
        from domain.llm.conversation_record import ConversationRecord

        files = await asyncio.to_thread(self._projects.open, project)
        try:
            read = await asyncio.to_thread(files.sessions.read, session_id)
            record = ConversationRecord(session_id)
            await asyncio.to_thread(record.take_all, read.events)
            finished = finished_design(read.events)
            if finished is None and provider == BUILTIN:
                at_hand = await asyncio.to_thread(_read_at_hand, files, text, circuit)
                if at_hand is not None:
                    return at_hand
            return await read_message(
                finished,
                text,
                is_by_rules=provider == BUILTIN,
                said_before=record.said(),
                circuit=circuit,
                known=self._request_texts,
                edited=finished is not None and await asyncio.to_thread(is_edited, finished, files),
            )
        finally:
            await off_loop(files.close)

    async def takes(self, project: Path, session_id: str, text: str, *, circuit: str = "") -> bool:
        """Whether a finished design would take what was said in free work of its conversation as another
        demand: that of the conversation, else the one that made `circuit` (relative to the project).

        Another value of a part is none. Nothing is changed by asking.
        """
        files = await asyncio.to_thread(self._projects.open, project)
        try:
            return await asyncio.to_thread(_takes, files, session_id, text, circuit)
        finally:
            await off_loop(files.close)

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
            if project.root in self._at_work:
                raise UserInputError(
                    msg("Another design is running in this project."),
                    advice=msg("Let it finish, or stop it, and send the message again."),
                    error_type="design_running",
                )
            self._at_work.add(project.root)
            try:
                yield project
            finally:
                self._at_work.discard(project.root)
        finally:
            await off_loop(project.close)

    async def _run(
        self,
        project: ProjectFiles,
        session: RunSession,
        run: DesignRun,
        progress: Progress,
        *,
        access: ModelAccess,
        confirm: Confirm | None,
        main_circuit: Callable[[], str],
    ) -> None:
        """Run the graph to its end; however it ends, the transcript has word of it."""
        await in_pieces(imported(WORKFLOW))
        from application.agent.conversation import Conversation
        from application.tool_execution.operations import Operations

        conversation = await Conversation.load(await session.transcript(run))
        operations = Operations(log=project.operations, project=project)
        await _end_open_chat(conversation, operations)
        begin = DesignJournal.begin if session.is_new else DesignJournal.take_up
        narrate = await asyncio.to_thread(self._narrators, run.text)
        journal = await begin(conversation, run, narrate)
        progress.spent = Spending(conversation.record, run.turn_id)
        try:
            async with (
                self._chat().deps.at_work.holding(project.root, conversation),
                self._tracer.turn(
                    project.traces_path, turn_id=run.turn_id, session_id=run.session_id, name="design"
                ) as span,
                self._checkpointers(project.checkpoints_path, run.session_id) as saver,
                AsyncExitStack() as opened,
            ):
                model = ChosenModel(
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
                runtime = self._runtime(
                    model, project, operations, journal, saver=saver, span=span, main_circuit=main_circuit
                )
                try:
                    await _follow(
                        runtime,
                        project,
                        journal,
                        progress,
                        model,
                        prune=prune,
                        known=self._checkpoint_texts,
                        is_new=session.is_new,
                    )
                except Exception as error:
                    if not _can_go_on_after(error):
                        await _settle_calls(journal, conversation, operations, error)
                        await prune()
                        failure = failure_of(error, progress.request.choice)
                        await journal.end("error", told(error), failure=failure)
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
                is_told = isinstance(error, EnvironmentProblem)  # else it waits for its user
                why = failure_of(error, progress.request.choice) if is_told else None
                await _leave_word(_pause(journal, conversation, error.error_type, why))
            raise

    def _runtime(
        self,
        model: ChosenModel,
        project: ProjectFiles,
        operations: Operations,
        journal: DesignJournal,
        *,
        saver: Any,
        span: Span,
        main_circuit: Callable[[], str],
    ) -> GraphRuntime:
        from application.graph.runtime import GraphRuntime
        from application.workflow.builder import STEPS, Workflow, compiled_workflow, steps_of
        from application.workflow.goal_readers import ModelGoals, RuleGoals

        is_builtin = model.choice.provider == BUILTIN
        workflow = Workflow(
            understand=RuleGoals(
                journal.said_before,
                circuit=journal.run.circuit,
                ask_about=model.ask_about_circuit,
                goals_of=lambda circuit: read_goals(project, circuit).goals,
                known=self._request_texts,
            )
            if is_builtin
            else ModelGoals(
                model.steps,
                model.goals_prompt,
                goals_there=lambda: read_goals(project, journal.run.circuit).goals,
            ),
            steps=model.steps,
            explains=not is_builtin,
            project=project,
            operations=operations,
            simulate=self._simulate,
            measure=self._measure,
            journal=journal,
            span=span,
            main_circuit=main_circuit,
        )
        return GraphRuntime(compiled_workflow(), saver, {STEPS: steps_of(workflow)})


def _read_at_hand(files: ProjectFiles, text: str, circuit: str) -> NextMessage | None:
    """How a message is taken by the design that made a circuit; None where it is none of its. Blocking."""
    state = design_of(files, circuit)
    return None if state is None else read_at_hand(state, text, edited=is_edited(state, files))


def _takes(files: ProjectFiles, session_id: str, text: str, circuit: str) -> bool:
    """As `DesignCircuit.takes`; blocking."""
    state = finished_design(files.sessions.read(session_id).events) if session_id else None
    if (state := state or design_of(files, circuit)) is None or circuit not in (
        "",
        state["circuit_file_path"],
    ):
        return False
    try:
        change = change_of(state, text, edited=is_edited(state, files))
    except CircuitError:  # understood, and it cannot be: the design says why
        return True
    return change is not None and "instruction" not in change


@asynccontextmanager
async def _opened(project: ProjectFiles, progress: Progress) -> AsyncIterator[tuple[RunSession, DesignRun]]:
    """The locked conversation of the run, announced."""
    session, request = RunSession(project), progress.request
    try:
        async with until_taken_over(lambda: session.is_wanted):
            if isinstance(request, ResumeRequest):
                run = await session.resume(request)
            else:
                run = await session.begin(request, progress.ask)
            await _hold(project, waits=bool(request.session_id) or isinstance(request, ResumeRequest))
            progress.announce(run, is_new=session.is_new, problems=session.problems)
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


async def _hold(project: ProjectFiles, *, waits: bool) -> None:
    """Be the project's one design, among all processes too; `waits` for one that may be about to leave."""
    last = time.monotonic() + (_LEAVES_WITHIN_S if waits else 0.0)
    while True:
        try:
            await off_loop(project.hold_design)
            return
        except UserInputError:
            if time.monotonic() >= last:
                raise
        await asyncio.sleep(0.05)


async def _follow(
    runtime: GraphRuntime,
    project: ProjectFiles,
    journal: DesignJournal,
    progress: Progress,
    model: ChosenModel,
    *,
    prune: Callable[[], Awaitable[None]],
    known: Callable[[], KnownTexts],
    is_new: bool,
) -> None:
    """Run the graph from its start, or from the last step that is known, to its end.

    At each question the steps before it are forgotten: the transcript knows them, and a design of many rounds
    stays small.
    """
    run = journal.run
    rounds = progress.request.max_iterations or run.max_iterations
    start = None
    if (
        is_new and run.refines is None
    ):  # what chats and earlier designs of the conversation left is no matter of it
        await runtime.go_back(run.session_id, lambda _state: False)
    if is_new or not await _go_back(runtime, journal):
        start = await asyncio.to_thread(start_state, project, run)

    async def ask(question: Question) -> Answer | Reply:
        filled = progress.spent().get("context_tokens", 0)
        return await progress.ask(replace(question, context_tokens=filled))

    decide_design = decider(
        ask,
        progress.emit,
        rounds,
        recapitulate=lambda: not is_new and not progress.has_judged,
        reread=model.reread,
        known=known,
        designs_any=model.choice.provider != BUILTIN,
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


async def _pause(
    journal: DesignJournal, conversation: Conversation, reason: str, failure: TurnFailure | None = None
) -> None:
    """Keep what had come of an answer, and write why the run does not go on for now."""
    await conversation.keep_unfinished("user" if reason == "stopped" else "error", cost=None)
    await journal.pause(reason, failure)


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
    failure = told(error)
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
    """End the turn of a chat that was killed in this conversation: nothing of it is run any more."""
    from domain.llm.tools.result import ToolCall, ToolResult, failure

    async def settle_call(call: ToolCall) -> ToolResult:
        record = await operations.settle(call.call_id)
        if record is not None and record.state == "done":
            text = msg("Done before the run was interrupted.")
            return ToolResult(success=True, content="Done.", summary=text)
        return failure("interrupted", msg("Interrupted."))

    if not conversation.record.is_in_design:
        await conversation.settle("interrupted", settle_call, cost=None)
