"""The chosen model of a design: opened when it is first needed, asked in the nodes and at checkpoints."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from application.ports.events import (
    ChatEvent,
    ConfirmationGiven,
    ConfirmationNeeded,
)
from application.workflow.design_sessions import (
    DesignRequest,
    ResumeRequest,
)
from application.workflow.journal import DesignJournal
from domain.llm.pinned_words import users_words
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.result import cut_middle
from shared.errors import (
    CircuitAIError,
)

if TYPE_CHECKING:
    from langchain_core.messages import SystemMessage

    from application.agent.conversation import Conversation
    from application.conversation.chatting import ChatWithModel
    from application.conversation.turn_deps import ModelAccess
    from application.conversation.turn_parts import TurnParts
    from application.graph.state import GraphState
    from application.ports.project import ProjectFiles
    from application.ports.tracing import Span
    from application.tool_execution.executor import Confirm
    from application.workflow.model_steps import ModelSteps
    from domain.design.checkpoint_intent import CheckpointIntent
    from domain.llm.chat import ModelRoom


_logger = logging.getLogger(__name__)
_MOST_WORDS = 3000
_SHARE_OF_WORDS = 8
"""What the user said before has at most so many tokens, and this part of the model's window."""
_SAID_BEFORE = (
    "The user's own words before this request. Where it refers to them (the figures we talked about), its "
    "goals stand here, a later figure in the place of an earlier one; else they are no part of it:"
)
_LONGEST_SHOWN = 12_000
"""Characters of a circuit whose goals are read."""


class ChosenModel:
    """The chosen model of a run, opened at its first use: a run may end before."""

    def __init__(
        self,
        chat: Callable[[], ChatWithModel],
        request: DesignRequest | ResumeRequest,
        project: ProjectFiles,
        conversation: Conversation,
        journal: DesignJournal,
        *,
        access: ModelAccess,
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
            if self.choice.provider != BUILTIN:
                for problem in await chat.deps.connect_servers():
                    _logger.warning("%s", problem)
            parts = self._parts = TurnParts(
                chat.deps,
                self.choice,
                self._project,
                self._conversation,
                access=self._access,
                confirm=self._confirm,
                max_cost=self._max_cost,
            )
            model = await self._opened.enter_async_context(chat.deps.models.open(self.choice))
            others = await self._opened.enter_async_context(parts.models.others(self._access.alternatives))
            self._steps = ModelSteps(parts, parts.asked(model, others), self._journal, self._span)
        return self._steps

    async def goals_prompt(self, values: Mapping[str, Any]) -> SystemMessage:
        """The system message of the structured call for goals.

        In it are the circuit to be improved, and what the user said before in this conversation.
        """
        circuit = self._journal.run.circuit
        room = None if self._parts is None else self._parts.room
        context = await goals_context(self._project, circuit, self._journal.said_before(), room)
        values = {**values, **context}
        return await (
            self._chat()
            .deps.prompts()
            .system_message(
                self._project,
                task="EXTRACT_DESIGN_GOALS",
                values=values,
                main_circuit=circuit,
                session_id=self._conversation.session_id,
                wording="no_tools",
            )
        )

    async def ask_about_circuit(self, circuit: str, text: str) -> str:
        """The goals that a text asks of a circuit, as JSON: what the built-in designer makes of it."""
        steps = await self.steps()
        return await steps.ask_about_circuit(circuit, text)

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


async def goals_context(
    project: ProjectFiles, circuit: str, said_before: Sequence[str], room: ModelRoom | None
) -> dict[str, str]:
    """The value "context" of EXTRACT_DESIGN_GOALS, where there is something to be told."""
    context = []
    if circuit:
        content = await asyncio.to_thread(project.read, project.root / circuit)
        shown = cut_middle(content.decode("utf-8", "replace"), _LONGEST_SHOWN)
        context.append(f"The circuit that is to be improved, {circuit}:\n{shown}")
    most = _MOST_WORDS if room is None else room.request_tokens // _SHARE_OF_WORDS
    if said := users_words(said_before, min(most, _MOST_WORDS)):
        context.append(f"{_SAID_BEFORE}\n{said}")
    return {"context": "\n\n".join(context)} if context else {}
