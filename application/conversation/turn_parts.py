"""What the agent loop of one conversation is made of: its tools, who watches, confirms and is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING

from application.agent.alternatives import AskedModel, OtherModels, TurnModels
from application.agent.attachment_context import Attached
from application.agent.loop import ConfirmNode, Loop, ReviewNode, ToolsNode
from application.agent.model_node import ModelNode, SystemMessages
from application.agent.turn_confirmation import TurnConfirmation
from application.agent.watch import Pricing, TurnWatch
from application.conversation.compressing import Compressing
from application.conversation.project_context import project_context
from application.design.circuit_goals import read_goals
from application.tool_execution.definition import ToolContext
from application.tool_execution.executor import Confirm, Judging, WorkflowNode
from application.tool_execution.operations import Operations
from application.tool_execution.tools.files import keep_seen
from domain.llm.agentic_loop.policy import End
from domain.llm.chat import USUAL_ROOM, ModelRoom, ProviderChoice, Usage
from domain.llm.context_block import context_budget
from domain.llm.messages import get_doubts, get_text, get_usage
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.text_files import version_hash
from domain.llm.web_search import WEB_SEARCH
from shared.message import Message, msg, template

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from application.agent.conversation import Conversation
    from application.conversation.turn_deps import EditorState, ModelAccess, TurnDeps
    from application.graph.state import AgentState
    from application.ports.project import ProjectFiles
    from application.ports.tracing import Span
    from domain.simulation.goals import DesignGoal


@dataclass(slots=True)
class _Now:
    """What is known once the run is under way."""

    main_circuit: str = ""
    asked: AskedModel | None = None


class TurnParts:
    """Of one run of a conversation, be it a turn of a chat or the steps of a model in a design.

    Nothing of them refers back to them in a circle: the whole conversation hangs on them, and would stay
    until the next full collection of garbage, once for each turn.
    """

    def __init__(
        self,
        deps: TurnDeps,
        choice: ProviderChoice,
        project: ProjectFiles,
        conversation: Conversation,
        *,
        access: ModelAccess,
        confirm: Confirm | None,
        max_cost: tuple[float, str] | None = None,
    ) -> None:
        """`max_cost`: what the conversation may cost, with its currency; None = as it is set."""
        self.deps = deps
        self.choice = choice
        self.project = project
        self.conversation = conversation
        self.access = access
        self.record = conversation.record
        self._attached = cache(lambda: Attached(project, deps.models, is_on_network=access.is_on_network))
        """Read once a run, where there are attachments."""
        self.models = TurnModels(
            deps.models,
            choice,
            conversation.record,
            small_model=deps.small_model,
            may_ask=lambda other: deps.consents().is_given(
                project.root, other, session_id=conversation.session_id
            ),
            is_on_network=access.is_on_network,
            is_searching=access.web_search is not None,
        )
        self._now = now = _Now()
        self.executor = deps.executor()
        limits = deps.limits
        if max_cost is not None:
            limits = replace(limits, session_cost=max_cost[0], currency=max_cost[1])
        self.watch = TurnWatch(
            conversation=conversation.record,
            executor=self.executor,
            limits=limits,
            goals=lambda circuit: asyncio.to_thread(_goals_of, project, circuit),
            root=project.root,
            pricing=Pricing(deps.models),
            cpu=deps.services.cpu,
        )
        self.confirmation = TurnConfirmation(
            conversation=conversation,
            executor=self.executor,
            judging=Judging(deps.permissions),
            confirm=confirm,
            used_answers=deps.used_answers,
            most_calls=deps.limits.calls_per_answer,
        )
        self.context: ToolContext = ToolContext(
            project=project,
            gate=self.confirmation,
            session_id=conversation.session_id,
            operations=Operations(log=project.operations, project=project, events=deps.events),
            services=deps.services,
            seen_versions=conversation.record.seen_versions,
            shown_versions=conversation.record.shown_versions,
            said=conversation.record.said,
            main_circuit=lambda: now.main_circuit,
            replaced_calls=conversation.record.replaced_calls,
            is_on_network=access.is_on_network,
            web_search=access.web_search,
            web_sources=conversation.record.sources_of_turn,
            room_now=lambda: USUAL_ROOM if now.asked is None else now.asked.known_room.result,
        )

    @property
    def room(self) -> ModelRoom:
        """Of the model that is asked now, as far as it is known."""
        return ModelRoom() if self._now.asked is None else self._now.asked.known_room

    @cached_property
    def compressing(self) -> Compressing:
        """What compresses this conversation."""
        watch = self.watch
        return Compressing(
            deps=self.deps,
            project=self.project,
            conversation=self.conversation,
            models=self.models,
            operations=self.context.operations,
            is_spent=lambda: watch.spent() is not None,
        )

    def asked(self, model: BaseChatModel, others: OtherModels) -> AskedModel:
        """The model that is asked first; `others` may take over."""
        self._now.asked = AskedModel(
            model, self.choice, models=self.deps.models, others=others, attached=self._attached
        )
        return self._now.asked

    def loop(
        self,
        asked: AskedModel,
        span: Span,
        *,
        system_message: SystemMessages,
        main_circuit: str,
        editor: EditorState | None = None,
        node: WorkflowNode = "free_work",
    ) -> Loop:
        """The loop's nodes, with the tools a model has in this node of the workflow.

        `main_circuit` and `editor`: what the user works on, and has in front (`project_context`).
        """
        self._now.main_circuit = main_circuit
        offered = self.executor.names_in(node)
        if self.context.web_search is None:
            offered -= {WEB_SEARCH}
        return Loop(
            review=ReviewNode(confirmation=self.confirmation, context=self.context, offered=offered),
            confirm=ConfirmNode(confirmation=self.confirmation, context=self.context),
            model=ModelNode(
                conversation=self.conversation,
                asked=asked,
                executor=self.executor,
                context=lambda room: self._describe(main_circuit, editor, room, span, node=node),
                system_message=system_message,
                watch=self.watch,
                span=span,
                node=node,
                offered=offered,
                history_share=self.deps.shares.history_percent / 100,
                compress=self.compressing.in_turn,
                running=self.deps.running,
            ),
            tools=ToolsNode(
                conversation=self.conversation,
                executor=self.executor,
                context=self.context,
                watch=self.watch,
                span=span,
                offered=self.executor.names_in(node),  # one that is switched off says so itself
                running=self.deps.running,
            ),
        )

    def state(self, *, ended: str = "") -> AgentState:
        """The loop's state for the newest turn, as its transcript tells it."""
        messages = self.record.messages_of_turn()
        return {
            "session_id": self.conversation.session_id,
            "turn_id": str(messages[0].id) if messages else "",
            "agent_round": self.record.answers_asked,
            "agent_steps": self.record.ids_of_turn(),
            "agent_pending": [call.call_id for call in self.record.open_calls()],
            "agent_question": "",
            "agent_ended": ended,
            "agent_seconds": 0.0,
            "agent_usage": self.usage().to_plain(),
        }

    async def note_on(self, ended: str, seconds: float) -> Message | None:
        """Which limit or guardrail ended the newest turn, or what is doubtful about its answer.

        `seconds` is the model time it has used.
        """
        move = await self.watch.next_move(seconds)
        if isinstance(move, End) and move.reason == ended and move.why is not None:
            return move.why
        answers = self.record.answers_of_turn()
        if ended != "completed" or not answers:
            return None
        notes = [
            _DOUBTED[kind](figures=words, claims=words)
            for kind, words in get_doubts(answers[-1]).items()
            if kind in _DOUBTED
        ]
        return (
            reduce(lambda one, more: msg("{first} {second}", first=one, second=more), notes)
            if notes
            else None
        )

    def usage(self) -> Usage:
        """Tokens of the newest turn."""
        answers = self.record.answers_of_turn()
        return sum((get_usage(answer) or Usage() for answer in answers), Usage())

    async def _describe(
        self,
        main_circuit: str,
        editor: EditorState | None,
        room: ModelRoom,
        span: Span,
        *,
        node: WorkflowNode,
    ) -> str:
        """The data blocks for the newest message.

        The built-in model reads no more than what files there are and which is in front, and a design's step
        has its netlist and figures in its task.
        """
        messages = self.record.messages_of_turn()
        with span.child("context") as collecting:
            block = await project_context(
                self.context,
                get_text(messages[0]) if messages else "",
                main_circuit=main_circuit,
                budget=context_budget(room.window, self.deps.shares),
                shares=self.deps.shares,
                editor=editor,
                events=self.conversation.events,
                last_answered=self.record.last_answered,
                is_brief=self.choice.provider == BUILTIN or node not in ("free_work", "asking"),
                span=collecting,
            )
        known = self.context.known_versions()
        changes = {
            (name, known[name]): version_hash(data) for name, data in block.compared.items() if name in known
        }
        self.context.told_changes.update(changes)
        await self._note_shown(block.shown)
        return block.text

    async def _note_shown(self, shown: Mapping[str, bytes]) -> None:
        """Keep which files the model has now seen whole, so that it is told when others change them."""
        new = {place: version_hash(data) for place, data in shown.items()}
        new = {
            place: sha256
            for place, sha256 in new.items()
            if sha256 not in (self.record.seen_versions.get(place), self.record.shown_versions.get(place))
        }
        if not new:
            return
        for place in new:
            await asyncio.to_thread(keep_seen, self.project, shown[place])
        await self.conversation.note_seen(new)

    async def forget_result(self, call_id: str) -> None:
        """Remove what a simulation that did not come to its end has left."""
        await asyncio.to_thread(self.context.services.results.forget, self.project.root, call_id)


_DOUBTED: Mapping[str, Callable[..., Message]] = {
    "figures": template("These figures of the answer are in no result: {figures}."),
    "stale": template(
        "These figures of the answer are from before the last change of the circuit: {figures}."
    ),
    "claims": template("The answer says this was done or shown, but no tool did it: {claims}."),
    "contradicted": template("The results say otherwise: {claims}."),
}


def _goals_of(project: ProjectFiles, circuit: str) -> tuple[DesignGoal, ...]:
    """What is asked of the circuit at a place in the project; blocking."""
    return read_goals(project, circuit).goals
