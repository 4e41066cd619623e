"""What a turn of a chat is asked for, what it works with, what it may ask and send off this computer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.ports.events import ChatEvent
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice
from domain.llm.context_block import USUAL, ContextShares
from domain.llm.provider_settings import BUILTIN
from domain.llm.service import Alternatives
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.tasks import RunningCalls
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from application.agent.conversation import Conversation
    from application.conversation.consents import AskConsent, Consents
    from application.conversation.prompting import Prompting
    from application.ports.conversation import ChatModels, Checkpointers
    from application.ports.permissions import PermissionStore, UsedAnswers
    from application.ports.project import ProjectFiles
    from application.ports.tracing import TurnTracer
    from application.project.goals_watch import WatchGoals
    from application.search.web_searching import SearchWeb
    from application.tool_execution.definition import ToolServices
    from application.tool_execution.executor import ToolExecutor, WorkflowNode
    from domain.llm.attachments import PreparedAttachment
    from domain.llm.web_search import WebSearchSettings
    from shared.events import EventBus
    from shared.message import Message

Emit = Callable[[ChatEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorState:
    """What the user has in front, when he sends a message."""

    file: str
    """Relative to the project."""
    line: int = 0
    """Of the cursor, from 1; 0 = not known."""
    column: int = 0
    selection: str = ""
    is_unsaved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a caller asks for."""

    project: Path
    text: str | None
    """What the user says; None = go on with the turn that was interrupted, or did not come to its end."""
    session_id: str = ""
    """An existing conversation; "" = a new one (with no text: the newest)."""
    message_id: str = ""
    """Of the message that is written with `text`; "" = a new one."""
    instead_of: str = ""
    """Id of an earlier message of the user's: `text` takes its place, and what stands behind it is a version
    of before, which no model is sent any more."""
    choice: ProviderChoice
    max_cost: tuple[float, str] | None = None
    """What the conversation may cost, with its currency; None = as it is set."""
    main_circuit: str = ""
    """The circuit the user works on, relative to the project; "" when none is known."""
    editor: EditorState | None = None
    """What the user has in front; None when that is not known."""
    go_on: str = "Continue."
    """What is said for the user where a turn that has ended goes on, unless it broke off in a text."""
    attachments: tuple[PreparedAttachment, ...] = ()
    """What goes with the text."""
    reads_only: bool = False
    """The model has tools that read, and none that change, simulate or delete."""

    @property
    def node(self) -> WorkflowNode:
        """Which tools the model has."""
        return "asking" if self.reads_only else "free_work"


class ConversationsAtWork:
    """The conversations that runs of this program write to just now, of all projects.

    What else is to stand in one meanwhile goes through its run, which has the transcript open. Used on the
    loop of the program.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[Path, str], Conversation] = {}

    @asynccontextmanager
    async def holding(self, root: Path, conversation: Conversation) -> AsyncIterator[None]:
        """Within it a run writes to the conversation of the project at `root`."""
        place = root, conversation.session_id
        self._open[place] = conversation
        try:
            yield
        finally:
            del self._open[place]
            await uninterrupted(conversation.written())

    async def write(self, root: Path, session_id: str, event: Mapping[str, Any]) -> bool:
        """Write a line into one; False, and nothing done, where no run has it open. Raises as
        `application.ports.conversation.Transcript.append`."""
        conversation = self._open.get((root, session_id))
        if conversation is None:
            return False
        await conversation.write(event)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDeps:
    """What every turn works with, whatever its project and conversation."""

    models: ChatModels
    checkpointers: Checkpointers
    tracer: TurnTracer
    executor: Callable[[], ToolExecutor]
    """Called once a turn: tools are slow to import."""
    connect_servers: Callable[[], Awaitable[tuple[Message, ...]]]
    """Before that: has the servers of the user connected, whose tools are among them; what went wrong."""
    services: ToolServices
    prompts: Callable[[], Prompting]
    permissions: PermissionStore
    consents: Callable[[], Consents]
    used_answers: Callable[[], UsedAnswers]
    events: EventBus
    watch_goals: Callable[[], WatchGoals | None]
    """What measures the goals that a turn's changes touch; None when the user wants none measured unasked."""
    limits: AgentLimits = field(default_factory=AgentLimits)
    shares: ContextShares = USUAL
    """How the data of a message are divided."""
    small_model: ProviderChoice | None = None
    """For titles; None = the first words serve."""
    at_work: ConversationsAtWork = field(default_factory=ConversationsAtWork)
    """Those whose transcripts the turns and designs under way have open."""
    running: RunningCalls = field(default_factory=RunningCalls)
    """What of the turns under way can be ended by itself."""
    alternatives: Callable[[], Alternatives] = Alternatives
    """The models that may be asked, or are offered, when the chosen one fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """Of one run, found before it begins."""

    alternatives: Alternatives
    """The models that may take over; none from the built-in one, which does not fail."""
    is_on_network: bool
    """Whether its contents go to the network, be it to a model that takes over."""
    web_search: WebSearchSettings | None
    """What the general web search asks; None when it is off."""


class FindAccess:
    """Finds it, and asks for the user's consent where something leaves his computer."""

    def __init__(self, deps: TurnDeps, search_web: Callable[[], SearchWeb]) -> None:
        self._deps = deps
        self._search_web = search_web

    async def __call__(self, choice: ProviderChoice) -> ModelAccess:
        """Raises UserInputError for a provider that is not known, and for a search it does not have."""
        alternatives = await asyncio.to_thread(self._alternatives, choice)
        return ModelAccess(
            alternatives=alternatives,
            is_on_network=await asyncio.to_thread(self._leaves_this_computer, choice, alternatives),
            web_search=await asyncio.to_thread(self._web_search, choice),
        )

    async def consent(
        self, project: ProjectFiles, choice: ProviderChoice, *, session_id: str, ask: AskConsent | None
    ) -> Callable[[str], None]:
        """The user's yes, to be given the conversation's id. Raises NeedsConfirmation on a no."""
        return await self._deps.consents().obtain(project.root, choice, session_id=session_id, ask=ask)

    def _alternatives(self, choice: ProviderChoice) -> Alternatives:
        return Alternatives() if choice.provider == BUILTIN else self._deps.alternatives()

    def _leaves_this_computer(self, choice: ProviderChoice, alternatives: Alternatives) -> bool:
        others = alternatives.choices if alternatives.is_automatic else ()
        for other in others:
            with contextlib.suppress(CircuitAIError):  # one that can't be asked: told when it is tried
                if self._deps.models.destination(other):
                    return True
        return bool(self._deps.models.destination(choice))

    def _web_search(self, choice: ProviderChoice) -> WebSearchSettings | None:
        if choice.provider == BUILTIN:
            if choice.web_search is not None and choice.web_search.is_on:
                raise UserInputError(
                    msg("The built-in model cannot search the web."),
                    advice=msg("Choose a language model with --provider, or omit --web-search."),
                    error_type="bad_usage",
                )
            return None
        return self._search_web().of_choice(choice)
