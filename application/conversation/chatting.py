"""One turn of a conversation with a model that has the project's tools: the use case behind `chat`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from application.conversation.project_context import describe_project
from application.conversation.sessions import find_session
from application.design.designing import import_graph
from application.events import (
    ChatEvent,
    ErrorOccurred,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TurnEnd,
    TurnEnded,
)
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice, Usage
from domain.llm.transcript import has_open_turn
from shared.errors import CircuitAIError, UserInputError, internal_error
from shared.message import Message, msg
from shared.stop import StopReason
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from application.conversation.conversation import Conversation
    from application.graph.runtime import GraphRuntime
    from application.graph.state import GraphState
    from application.ports.conversation import ChatModels, Checkpointers
    from application.ports.project import ProjectFiles, Projects
    from application.prompting import Prompting
    from application.tool_execution.context import ToolCall, ToolContext, ToolServices
    from application.tool_execution.executor import ToolExecutor
    from domain.llm.tools.result import ToolResult

_logger = logging.getLogger(__name__)

Emit = Callable[[ChatEvent], None]

_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a caller asks for."""

    project: Path
    text: str | None
    """What the user says; None = go on with the turn that was interrupted."""
    session_id: str = ""
    """An existing conversation; "" = a new one (with no text: the newest)."""
    choice: ProviderChoice


class ChatWithModel:
    """The use case; turns of different conversations may run at the same time."""

    def __init__(
        self,
        *,
        projects: Projects,
        models: ChatModels,
        checkpointers: Checkpointers,
        executor: Callable[[], ToolExecutor],
        services: Callable[[], ToolServices],
        prompts: Prompting,
        limits: AgentLimits | None = None,
    ) -> None:
        self._projects = projects
        self.models = models
        self.checkpointers = checkpointers
        self.executor = executor
        self.services = services
        self.prompts = prompts
        self.limits = limits or AgentLimits()

    async def __call__(self, request: ChatRequest, *, emit: Emit) -> TurnEnded:
        """Run one turn; `emit` gets every event as it happens, `TurnEnded` always last.

        Errors with a text for people become an `ErrorOccurred` before it and are raised after it.
        Cancelling keeps what was shown, gives every open call its result, and goes on cancelling.
        """
        self._refuse_unknown_provider(request.choice.provider)
        project = await asyncio.to_thread(self._projects.open, request.project, create=True)
        try:
            async with self._conversation(project, request) as conversation:
                emit(SessionOpened(session_id=conversation.session_id))
                turn = _Turn(self, request, project, conversation, emit)
                return await turn.run()
        finally:
            await asyncio.to_thread(project.close)

    def _refuse_unknown_provider(self, name: str) -> None:
        known = [info.name for info in self.models.list()]
        if name not in known:
            raise UserInputError(
                msg("The provider {name} is not known.", name=name),
                advice=msg("Known providers: {names}.", names=", ".join(sorted(known))),
            )

    @asynccontextmanager
    async def _conversation(self, project: ProjectFiles, request: ChatRequest) -> AsyncIterator[Conversation]:
        await asyncio.to_thread(import_graph)
        from application.conversation.conversation import Conversation

        transcript = await uninterrupted(asyncio.to_thread(self._open_transcript, project, request))
        conversation = await Conversation.load(transcript)
        try:
            if conversation.open_turn and conversation.work_mode == "workflow":
                raise UserInputError(
                    msg("This conversation is a design that waits to go on."),
                    advice=msg("Go on with it first: design PROJECT --resume."),
                    error_type="design_pending",
                )
            yield conversation
        finally:
            await uninterrupted(conversation.close())

    def _open_transcript(self, project: ProjectFiles, request: ChatRequest) -> Any:
        sessions = project.sessions
        if request.session_id:
            return sessions.open(find_session(sessions, request.session_id))
        if request.text is not None:
            return sessions.create(work_mode="free_work")
        for info in sessions.list():
            is_chat = info.work_mode == "free_work" and info.has_partial_response
            if is_chat and has_open_turn(sessions.read(info.session_id)):
                return sessions.open(info.session_id)
        raise nothing_to_resume()


class _Turn:
    """One turn under way."""

    def __init__(
        self,
        chat: ChatWithModel,
        request: ChatRequest,
        project: ProjectFiles,
        conversation: Conversation,
        emit: Emit,
    ) -> None:
        from application.tool_execution.context import ToolContext
        from application.tool_execution.operations import Operations

        self._chat = chat
        self._request = request
        self._project = project
        self._conversation = conversation
        self._listener = emit
        self._has_begun = False
        """From here on a failure ends the turn; before it, an interrupted one still waits."""
        self._running: set[str] = set()
        """Calls shown as started and not as ended."""
        self._executor = chat.executor()
        self._context: ToolContext = ToolContext(
            project=project,
            session_id=conversation.session_id,
            operations=Operations(log=project.operations, project=project),
            services=chat.services(),
            seen_versions=conversation.seen_versions,
        )

    async def run(self) -> TurnEnded:
        """Run it and close it, whatever happens."""
        try:
            async with self._chat.checkpointers(self._project.checkpoints_path) as saver:
                await self._begin()
                return await self._finish(await self._go(saver))
        except CircuitAIError as error:
            self._fail(error.error_type, error.message, error.advice)
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
        try:
            if self._has_begun:
                with _left_to_the_next_start("The turn could not be settled"):
                    await uninterrupted(self._settle(reason))
        finally:
            self._end(end)

    async def _begin(self) -> None:
        """Settle what an earlier turn left open, and write the user's message; or take that turn up."""
        from domain.llm.messages import create_human_message

        for record in await self._context.operations.repair(session_id=self._conversation.session_id):
            if record.kind == "simulation":
                await self._forget_result(record.op_id)
        if self._request.text is None and not self._conversation.open_turn:
            raise nothing_to_resume()
        self._has_begun = True
        if self._request.text is None:
            return
        await self._settle("interrupted")
        await self._conversation.begin_turn(create_human_message(self._request.text))

    async def _go(self, saver: BaseCheckpointSaver[str]) -> TurnEnd:
        """Ask the model, run its tools, until it is done; how the turn ended."""
        thread_id = self._conversation.session_id
        async with self._chat.models.open(self._request.choice) as model:
            runtime = self._runtime(model, saver)
            try:
                # A turn that is taken up begins with what its transcript tells, not with what a
                # checkpoint does: the transcript is written first, so it is never behind.
                stream = runtime.run(
                    thread_id, self._state(), decide=_no_question, rounds=self._chat.limits.rounds
                )
                async with aclosing(stream) as events:
                    async for event in events:
                        self._emit(cast("ChatEvent", event))
                return cast("TurnEnd", (await runtime.state(thread_id)).get("agent_ended"))
            except BaseException as failure:
                reason = _reason_of(failure) if isinstance(failure, asyncio.CancelledError) else "error"
                with _left_to_the_next_start("The last checkpoint could not be written"):
                    await uninterrupted(self._put_to_rest(runtime, reason))
                raise
            finally:
                with _left_to_the_next_start("Old checkpoints could not be removed"):
                    await uninterrupted(self._chat.checkpointers.prune(saver, thread_id))

    def _runtime(self, model: BaseChatModel, saver: BaseCheckpointSaver[str]) -> GraphRuntime:
        from application.graph.agent.builder import build_agent
        from application.graph.agent.model_node import ModelNode
        from application.graph.agent.tools_node import ToolsNode
        from application.graph.builder import build_graph
        from application.graph.runtime import GraphRuntime

        limits = self._chat.limits
        agent = build_agent(
            ModelNode(
                conversation=self._conversation,
                model=model,
                executor=self._executor,
                describe_project=lambda: asyncio.to_thread(describe_project, self._project),
                system_message=lambda: self._chat.prompts.system_message(self._project),
                provider=self._request.choice.provider,
                limits=limits,
            ),
            ToolsNode(
                conversation=self._conversation,
                executor=self._executor,
                context=self._context,
                limits=limits,
            ),
        )
        return GraphRuntime(build_graph(agent=agent, checkpointer=saver))

    def _state(self, *, ended: str = "") -> GraphState:
        """The state of the newest turn, as its transcript tells it."""
        from domain.llm.messages import get_usage

        messages = self._conversation.messages_of_turn()
        answers = self._conversation.answers_of_turn()
        usage = sum((get_usage(answer) or Usage() for answer in answers), Usage())
        return {
            "session_id": self._conversation.session_id,
            "work_mode": "free_work",
            "project_root": str(self._project.root),
            "turn_id": str(messages[0].id) if messages else "",
            "agent_round": len(answers),
            "agent_steps": self._conversation.ids_of_turn(),
            "agent_pending": [call.call_id for call in self._conversation.open_calls()],
            "agent_ended": ended,
            "agent_seconds": 0.0,
            "agent_usage": usage.to_plain(),
        }

    async def _put_to_rest(self, runtime: GraphRuntime, reason: str) -> None:
        """After an interruption: transcript first, then the checkpoint that says the same."""
        await self._settle(reason)
        await runtime.put_to_rest(self._conversation.session_id, self._state(ended=reason))

    async def _settle(self, reason: str) -> None:
        """Give every open call of the newest turn its result and end the turn, if it is open."""

        async def settle_call(call: ToolCall) -> ToolResult:
            word = "interrupted" if reason == "interrupted" else "stopped"
            result = await self._executor.settle(call, self._context, reason=word)
            if result.error_type == word and self._executor.effect_of(call.name) == "simulate":
                await self._forget_result(call.call_id)
            return result

        await self._conversation.settle(reason, settle_call)
        self._show_ends()

    async def _forget_result(self, call_id: str) -> None:
        """Remove what a simulation that did not come to its end has left."""
        await asyncio.to_thread(self._context.services.results.forget, self._project.root, call_id)

    def _show_ends(self) -> None:
        """Whoever saw a call start sees it end, also when the stop came between its result and its event."""
        from domain.llm.messages import get_summary_message, get_tool_success

        for call_id in tuple(self._running):
            written = self._conversation.result_of(call_id)
            if written is not None:
                self._emit(
                    ToolEnded(
                        call_id=call_id,
                        name=str(written.name),
                        success=get_tool_success(written),
                        summary=get_summary_message(written),
                    )
                )

    async def _finish(self, ended: TurnEnd) -> TurnEnded:
        conversation = self._conversation
        await conversation.end_turn(ended)
        if ended == "completed" and conversation.name_is_default:
            await conversation.rename(_name_from(conversation.first_words), by="auto")
        if ended == "cut":
            self._fail(
                "cut",
                msg("The answer broke off: the provider's stream ended before the answer did."),
                msg('What came is kept. Say "continue" to get the rest.'),
            )
        return self._end(ended)

    def _emit(self, event: ChatEvent) -> None:
        if isinstance(event, ToolStarted):
            self._running.add(event.call_id)
        elif isinstance(event, ToolEnded):
            self._running.discard(event.call_id)
        self._listener(event)

    def _context_tokens(self) -> int:
        from domain.llm.messages import get_usage

        answers = self._conversation.answers_of_turn()
        last = get_usage(answers[-1]) if answers else None
        return 0 if last is None else last.prompt_tokens + last.completion_tokens

    def _fail(self, error_type: str, message: Message, advice: Message | None) -> None:
        self._emit(ErrorOccurred(error_type=error_type, message=message, advice=advice))

    def _end(self, stop_reason: TurnEnd) -> TurnEnded:
        ended = TurnEnded(
            stop_reason=stop_reason,
            usage=self._state()["agent_usage"],
            note=_note_on(stop_reason, self._chat.limits),
            context_tokens=self._context_tokens(),
        )
        self._emit(ended)
        return ended


def nothing_to_resume() -> UserInputError:
    """What is said when no turn waits to be taken up."""
    return UserInputError(
        msg("There is no interrupted turn to go on with."),
        advice=msg("Send a message: chat PROJECT TEXT --session ID."),
        error_type="nothing_to_resume",
    )


@contextmanager
def _left_to_the_next_start(what: str) -> Iterator[None]:
    """For tidying up: its failure must not hide how the turn ended, and the next start does it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a full disk, a database that is gone
        _logger.warning("%s: %s", what, error)


async def _no_question(value: dict[str, Any], _state: GraphState) -> dict[str, Any]:
    raise AssertionError(f"a turn of the agent asks nothing, but: {value}")


def _reason_of(stop: asyncio.CancelledError) -> str:
    """Why it was cancelled: the registry says it in the error's text."""
    reason = str(stop.args[0]) if stop.args else "user"
    return reason if reason in get_args(StopReason) else "user"


def _name_from(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _NAME_LENGTH else line[: _NAME_LENGTH - 1].rstrip() + "…"


def _note_on(stop_reason: TurnEnd, limits: AgentLimits) -> Message | None:
    match stop_reason:
        case "limit":
            return msg(
                "The turn has reached its limit ({rounds} answers, {seconds} s of model time). What is done "
                'is kept; say "continue" to go on with a fresh one.',
                rounds=limits.rounds,
                seconds=f"{limits.model_seconds:g}",
            )
        case "length":
            return msg('The answer was cut at the model\'s output limit. Say "continue" to get the rest.')
        case "content_filter":
            return msg("The provider withheld the rest of the answer because of its content rules.")
        case _:
            return None
