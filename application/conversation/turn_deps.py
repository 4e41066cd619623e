"""What a turn of a chat is asked for, and what it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from application.agent.running_calls import RunningCalls
from application.ports.events import ChatEvent
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice
from domain.llm.context_block import USUAL, ContextShares
from domain.llm.service import Alternatives

if TYPE_CHECKING:
    from application.conversation.consents import Consents
    from application.conversation.prompting import Prompting
    from application.ports.conversation import ChatModels, Checkpointers
    from application.ports.permissions import PermissionStore, UsedAnswers
    from application.ports.tracing import TurnTracer
    from application.tool_execution.definition import ToolServices
    from application.tool_execution.executor import ToolExecutor, WorkflowNode
    from domain.llm.attachments import PreparedAttachment
    from shared.events import EventBus

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDeps:
    """What every turn works with, whatever its project and conversation."""

    models: ChatModels
    checkpointers: Checkpointers
    tracer: TurnTracer
    executor: Callable[[], ToolExecutor]
    """Called once a turn: tools are slow to import."""
    services: ToolServices
    prompts: Callable[[], Prompting]
    permissions: PermissionStore
    consents: Callable[[], Consents]
    used_answers: Callable[[], UsedAnswers]
    events: EventBus
    limits: AgentLimits = field(default_factory=AgentLimits)
    shares: ContextShares = USUAL
    """How the data of a message are divided."""
    small_model: ProviderChoice | None = None
    """For titles; None = the first words serve."""
    running: RunningCalls = field(default_factory=RunningCalls)
    """What of the turns under way can be ended by itself."""
    alternatives: Callable[[], Alternatives] = Alternatives
    """The models that may be asked, or are offered, when the chosen one fails."""
