"""One turn of a conversation with a model that has the project's tools: the use case behind `chat`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from application.agent.attachments import refuse_kept_back, refuse_unfit
from application.agent.conversation import Conversation, until_taken_over
from application.conversation.consents import AskConsent
from application.conversation.sessions import find_session
from application.conversation.turn_deps import ChatRequest, Emit, FindAccess, TurnDeps
from application.graph import AGENT
from application.ports.events import SessionOpened, TurnEnded
from domain.llm.provider_settings import BUILTIN
from domain.llm.transcript import can_go_on, has_open_turn, last_end, nothing_to_resume, problems_of
from shared.uninterrupted import imported, in_pieces, off_loop, uninterrupted

if TYPE_CHECKING:
    from pathlib import Path

    from application.conversation.turn_parts import TurnParts
    from application.ports.conversation import Transcript
    from application.ports.project import ProjectFiles, Projects
    from application.search.web_searching import SearchWeb
    from application.tool_execution.executor import Confirm
    from domain.llm.chat import ProviderChoice
    from shared.message import Message


class ChatWithModel:
    """The use case; turns of different conversations may run at the same time."""

    def __init__(
        self,
        *,
        projects: Projects,
        deps: TurnDeps,
        search_web: Callable[[], SearchWeb],
        as_set: Callable[[TurnDeps], TurnDeps] = lambda deps: deps,
    ) -> None:
        """`as_set` puts in what the user's settings say now: each turn begins with that."""
        self._deps = deps
        self._as_set = as_set
        self._projects = projects
        self.find_access = FindAccess(deps, search_web)

    @property
    def deps(self) -> TurnDeps:
        """What a turn that begins now works with."""
        return self._as_set(self._deps)

    @deps.setter
    def deps(self, deps: TurnDeps) -> None:
        """Work with these from now on, whatever the settings say."""
        self._deps, self._as_set = deps, lambda given: given

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
        access = await self.find_access(request.choice)
        if request.attachments:
            await refuse_unfit(
                request.attachments,
                request.choice,
                models=self.deps.models,
                others=lambda: self.deps.alternatives().choices,
            )
        project = await asyncio.to_thread(self._projects.open, request.project, create=True)
        try:
            if access.is_on_network and request.attachments:
                await asyncio.to_thread(refuse_kept_back, request.attachments, project)
            # Before anything of the message is written: after a no it is still the user's.
            agreed = (
                await self.find_access.consent(
                    project, request.choice, session_id=request.session_id, ask=ask_consent
                )
                if access.is_on_network
                else None
            )
            async with self._conversation(project, request) as conversation:
                if agreed is not None:
                    agreed(conversation.session_id)
                problems = (*problems_of(conversation.events), *await self._servers_for(request.choice))
                emit(SessionOpened(session_id=conversation.session_id, problems=problems))
                # Loaded by now: it lies on LangGraph.
                from application.conversation.turn import Turn
                from application.conversation.turn_parts import TurnParts

                parts = TurnParts(
                    self.deps,
                    request.choice,
                    project,
                    conversation,
                    access=access,
                    confirm=confirm,
                    max_cost=request.max_cost,
                )
                return await Turn(parts, request, emit).run()
        finally:
            await asyncio.to_thread(project.close)

    async def _servers_for(self, choice: ProviderChoice) -> tuple[Message, ...]:
        """Have the user's servers of tools connected; the built-in model calls none."""
        return () if choice.provider == BUILTIN else await self.deps.connect_servers()

    @asynccontextmanager
    async def opened(self, root: Path, session_id: str, choice: ProviderChoice) -> AsyncIterator[TurnParts]:
        """A stored conversation with what a turn of it is made of, for what is no turn.

        Raises UserInputError ("no_session", "session_in_use", "not_adopted"), EnvironmentProblem.
        """
        access = await self.find_access(choice)
        project = await asyncio.to_thread(self._projects.open, root)
        try:
            request = ChatRequest(project=root, text=None, session_id=session_id, choice=choice)
            async with self._conversation(project, request) as conversation:
                from application.conversation.turn_parts import TurnParts

                yield TurnParts(self.deps, choice, project, conversation, access=access, confirm=None)
        finally:
            await asyncio.to_thread(project.close)

    @asynccontextmanager
    async def _conversation(self, project: ProjectFiles, request: ChatRequest) -> AsyncIterator[Conversation]:
        await in_pieces(imported(AGENT))
        from application.agent.conversation import Conversation

        opened: list[Transcript] = []
        conversation: Conversation | None = None

        def open_it() -> None:
            opened.append(self._open_transcript(project, request))

        try:
            await off_loop(open_it)
            transcript = opened[0]
            conversation = await Conversation.load(transcript)
            async with (
                self.deps.at_work.holding(project.root, conversation),
                until_taken_over(lambda: transcript.is_wanted),
            ):
                yield conversation
        finally:
            if conversation is not None:
                await uninterrupted(conversation.close())
            elif opened:  # a stop came right behind its opening: nobody else gives the lock back
                await off_loop(opened[0].close)

    def _open_transcript(self, project: ProjectFiles, request: ChatRequest) -> Transcript:
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
