"""What a conversation can run: a turn with a model, a design, or the rest of an interrupted one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from domain.llm.chat import ProviderChoice

if TYPE_CHECKING:
    from application.app import Application
    from application.conversation.consents import AskConsent
    from application.ports.events import ChatEvent, DesignEvent
    from application.tool_execution.confirming import Confirm
    from application.workflow.designing import Ask
    from domain.llm.attachments import PreparedAttachment


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What is to be run; `text` None = go on with what was interrupted."""

    root: Path
    mode: Literal["free", "workflow"]
    text: str | None
    session_id: str
    choice: ProviderChoice
    main_circuit: str = ""
    """Relative to the project; "" when none is known."""
    refines: bool = False
    """The text changes the goals of the conversation's finished design."""
    attachments: tuple[PreparedAttachment, ...] = ()
    """What goes with the text of a turn; a design takes none."""


async def carry_out(
    app: Application,
    order: RunOrder,
    *,
    ask: Ask,
    confirm: Confirm,
    ask_consent: AskConsent,
    emit: Callable[[ChatEvent | DesignEvent], None],
) -> None:
    """Run it to its end. Raises CircuitAIError, and CancelledError when it is stopped."""
    from application.conversation.chatting import ChatRequest
    from application.workflow.designing import DesignRequest, ResumeRequest

    if order.mode == "free":
        chat = ChatRequest(
            project=order.root,
            text=order.text,
            session_id=order.session_id,
            choice=order.choice,
            main_circuit=order.main_circuit,
            attachments=order.attachments,
        )
        await app.chat(chat, emit=emit, confirm=confirm, ask_consent=ask_consent)
    elif order.text is None:
        await app.design(ResumeRequest(project=order.root, session_id=order.session_id), ask=ask, emit=emit)
    else:
        design = DesignRequest(
            project=order.root,
            text=order.text,
            provider=order.choice.provider,
            session_id=order.session_id if order.refines else "",
        )
        await app.design(design, ask=ask, emit=emit)


def rounds_allowed(app: Application, mode: Literal["free", "workflow"]) -> int:
    """After how many rounds a run ends by itself."""
    from application.workflow.design_sessions import DEFAULT_MAX_ITERATIONS

    return DEFAULT_MAX_ITERATIONS if mode == "workflow" else app.chat.limits.rounds
