"""How large the window of the model in use is, and what the next message goes with: asked off the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from domain.llm.provider_settings import BUILTIN
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.conversation.inspecting import ContextReport
    from application.conversation.turn_deps import EditorState
    from application.groups.conversations import Conversations
    from application.groups.models import Models
    from application.groups.program import Program
    from domain.llm.chat import ModelAbilities, ProviderChoice

_REPORT = "context report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of which conversation, with which model."""

    root: Path | None
    session_id: str
    choice: ProviderChoice
    state: int
    """Another one when what is sent is another; -1 while a run is under way."""
    main_circuit: str = ""
    reads_only: bool = False
    in_design: bool = False
    """What is said goes to a design."""


class ContextUse(QObject):
    """Keeps both for one conversation."""

    changed = pyqtSignal()
    """There is something new, or what there was is stale."""

    def __init__(
        self,
        services: WindowServices,
        conversations: Conversations,
        models: Models,
        program: Program,
        parent: QObject,
        *,
        draft: Callable[[], str] = lambda: "",
        editor: Callable[[Path], EditorState | None] = lambda _root: None,
    ) -> None:
        """`draft` gives the words of the message so far, `editor` what the user has in front."""
        super().__init__(parent)
        self._services = services
        self._conversations = conversations
        self._models = models
        self._program = program
        self._draft, self._editor = draft, editor
        self._asked: Asked | None = None
        self._looking: Asked | None = None
        self._scope = f"context-{new_ulid()}"
        self.abilities: ModelAbilities | None = None
        """None for the built-in designer, which has no window, and until they are known."""
        self.report: ContextReport | None = None
        """None until somebody wanted it."""
        self.problem: Message | None = None
        """Why there is none."""

    def follow(self, asked: Asked) -> None:
        """What is shown now; the model's abilities are looked up when it is another, or has answered."""
        before, self._asked = self._asked, asked
        if before == asked:
            return
        self.report = self.problem = None
        if before is not None:
            self.changed.emit()
        is_other_model = before is None or before.choice != asked.choice
        if is_other_model:
            self.abilities = None
        # A local server may have loaded the model with a larger context for the answer.
        has_answered = before is not None and before.state != asked.state and asked.state >= 0
        if asked.choice.provider != BUILTIN and (is_other_model or has_answered):
            self._services.start(self._learn(asked), kind="model abilities")

    def want_report(self, *, anew: bool = False) -> None:
        """Make the report, unless it is there (and not wanted `anew`); an older one under way is given up."""
        asked = self._asked
        if asked is None or asked.root is None or self._looking == asked:
            return
        if self.report is not None and not anew:
            return
        if self._looking is not None:
            self._program.tasks.cancel(kind=_REPORT, scope=self._scope)
        self._looking = asked
        self._services.start(self._inspect(asked), kind=_REPORT, scope=self._scope)

    async def _learn(self, asked: Asked) -> None:
        try:
            found = await self._models.providers.abilities(asked.choice)
        except CircuitAIError:  # told when it is asked something; until then nothing is known of it
            return
        if self._asked is not None and self._asked.choice == asked.choice:
            self.abilities = found
            self.changed.emit()

    async def _inspect(self, asked: Asked) -> None:
        assert asked.root is not None, "whoever starts has looked"
        try:
            report = await self._conversations.inspect_context(
                asked.root,
                session_id=asked.session_id,
                choice=asked.choice,
                main_circuit=asked.main_circuit,
                editor=self._editor(asked.root),
                words=self._draft(),
                reads_only=asked.reads_only,
                in_design=asked.in_design,
            )
        except CircuitAIError as error:
            if self._asked == asked:
                self.problem = error.message
                self.changed.emit()
            return
        finally:
            if self._looking == asked:
                self._looking = None
        if self._asked == asked:
            self.report, self.problem = report, None
            self.changed.emit()
