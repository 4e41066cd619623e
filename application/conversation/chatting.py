"""One turn of a conversation with a model that has the project's tools: the use case behind `chat`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.agent.attachments import refuse_kept_back, refuse_unfit
from application.conversation.consents import AskConsent, Consents
from application.conversation.sessions import find_session
from application.conversation.turn import Turn, nothing_to_resume
from application.ports.events import ChatEvent, SessionOpened, TurnEnded
from application.workflow.designing import graph_imports
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice
from domain.llm.provider_settings import BUILTIN
from domain.llm.service import Alternatives
from domain.llm.transcript import can_go_on, has_open_turn, last_end
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.pieces import in_pieces
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from application.agent.conversation import Conversation
    from application.conversation.prompting import Prompting
    from application.ports.conversation import ChatModels, Checkpointers
    from application.ports.permissions import PermissionStore, UsedAnswers
    from application.ports.project import ProjectFiles, Projects
    from application.ports.tracing import TurnTracer
    from application.search.web_searching import SearchWeb
    from application.tool_execution.confirming import Confirm
    from application.tool_execution.context import ToolServices
    from application.tool_execution.executor import ToolExecutor
    from domain.llm.attachments import PreparedAttachment
    from domain.llm.web_search import WebSearchSettings
    from shared.events import EventBus

Emit = Callable[[ChatEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a caller asks for."""

    project: Path
    text: str | None
    """What the user says; None = go on with the turn that was interrupted, or did not come to its end."""
    session_id: str = ""
    """An existing conversation; "" = a new one (with no text: the newest)."""
    choice: ProviderChoice
    max_cost: tuple[float, str] | None = None
    """What the conversation may cost, with its currency; None = as it is set."""
    main_circuit: str = ""
    """The circuit the user works on, relative to the project; "" when none is known."""
    go_on: str = "Go on."
    """What is said for the user where a turn that has ended goes on, unless it broke off in a text."""
    attachments: tuple[PreparedAttachment, ...] = ()
    """What goes with the text."""


class ChatWithModel:
    """The use case; turns of different conversations may run at the same time."""

    def __init__(
        self,
        *,
        projects: Projects,
        models: ChatModels,
        checkpointers: Checkpointers,
        tracer: TurnTracer,
        executor: Callable[[], ToolExecutor],
        services: Callable[[], ToolServices],
        prompts: Prompting,
        permissions: PermissionStore,
        used_answers: UsedAnswers,
        limits: AgentLimits | None = None,
        small_model: ProviderChoice | None = None,
        alternatives: Callable[[], Alternatives] = Alternatives,
        events: EventBus | None = None,
        search_web: SearchWeb | None = None,
    ) -> None:
        self.events = events
        self._search_web = search_web
        self._projects = projects
        self.models = models
        self.checkpointers = checkpointers
        self.tracer = tracer
        self.executor = executor
        self.services = services
        self.prompts = prompts
        self.permissions = permissions
        self.used_answers = used_answers
        self.consents = Consents(models=models, store=permissions)
        self.limits = limits or AgentLimits()
        self.small_model = small_model
        """For titles; None = the first words serve."""
        self.alternatives = alternatives
        """The models that may be asked, or are offered, when the chosen one fails."""

    async def __call__(
        self,
        request: ChatRequest,
        *,
        emit: Emit,
        confirm: Confirm | None = None,
        ask_consent: AskConsent | None = None,
    ) -> TurnEnded:
        """Run one turn; `emit` gets every event as it happens, `TurnEnded` always last.

        `confirm` puts a question to the user; with None what needs confirmation is not run
        ("needs_confirmation"). `ask_consent` asks before a project is sent to a server on the network for the
        first time; with None, and on a no, nothing is sent and NeedsConfirmation raised.
        Errors with a text for people become an `ErrorOccurred` before it and are raised after it.
        Cancelling keeps what was shown, gives every open call its result, and goes on cancelling.
        """
        await asyncio.to_thread(self._refuse_unknown_provider, request.choice.provider)
        web_search = await asyncio.to_thread(self._web_search, request.choice)
        await refuse_unfit(
            request.attachments,
            request.choice,
            models=self.models,
            others=lambda: self.alternatives().choices,
        )
        project = await asyncio.to_thread(self._projects.open, request.project, create=True)
        try:
            is_on_network = await asyncio.to_thread(self._leaves_this_computer, request.choice)
            if is_on_network and request.attachments:
                await asyncio.to_thread(refuse_kept_back, request.attachments, project)
            # Before anything of the message is written: after a no it is still the user's.
            agreed = await self.consents.obtain(
                project.root, request.choice, session_id=request.session_id, ask=ask_consent
            )
            async with self._conversation(project, request) as conversation:
                agreed(conversation.session_id)
                emit(SessionOpened(session_id=conversation.session_id))
                turn = Turn(
                    self,
                    request,
                    project,
                    conversation,
                    emit,
                    confirm=confirm,
                    is_on_network=is_on_network,
                    web_search=web_search,
                )
                return await turn.run()
        finally:
            await asyncio.to_thread(project.close)

    def _web_search(self, choice: ProviderChoice) -> WebSearchSettings | None:
        """What the general web search of a turn asks; None when it is off."""
        if self._search_web is None:
            return None
        if choice.provider == BUILTIN:
            if choice.web_search is not None and choice.web_search.is_on:
                raise UserInputError(
                    msg("The built-in model can't search the web."),
                    advice=msg("Choose a language model with --provider, or leave out --web-search."),
                    error_type="bad_usage",
                )
            return None
        return self._search_web.of_choice(choice)

    def _refuse_unknown_provider(self, name: str) -> None:
        known = [info.name for info in self.models.list()]
        if name not in known:
            raise UserInputError(
                msg("The provider {name} is not known.", name=name),
                advice=msg("Known providers: {names}.", names=", ".join(sorted(known))),
            )

    def _leaves_this_computer(self, choice: ProviderChoice) -> bool:
        """Whether the turn's contents go to the network, be it to a model that takes over."""
        alternatives = self.alternatives()
        others = alternatives.choices if alternatives.is_automatic else ()
        for other in others:
            with contextlib.suppress(CircuitAIError):  # one that can't be asked: told when it is tried
                if self.models.destination(other):
                    return True
        return bool(self.models.destination(choice))

    @asynccontextmanager
    async def _conversation(self, project: ProjectFiles, request: ChatRequest) -> AsyncIterator[Conversation]:
        await in_pieces(graph_imports())
        from application.agent.conversation import Conversation

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
        chats = [info for info in sessions.list() if info.work_mode == "free_work"]
        own = [info for info in chats if info.is_ours]
        for info in own:
            if info.has_partial_response and has_open_turn(sessions.read(info.session_id).events):
                return sessions.open(info.session_id)
        # None was killed: the newest, if its last turn failed, was stopped or came to a limit.
        if own and can_go_on(last_end(sessions.read(own[0].session_id).events)):
            return sessions.open(own[0].session_id)
        if chats and chats[0].has_partial_response and not chats[0].is_ours:
            return sessions.open(chats[0].session_id)  # says why it is not gone on with
        raise nothing_to_resume()
