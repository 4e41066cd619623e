"""Conversations with a model that has the project's tools: turns, what is kept of them, what is sent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from application.conversation.turn_deps import ConversationsAtWork

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from application.agent.attachments import Attachments
    from application.components.billing import CountParts
    from application.components.finding import FindComponents
    from application.conversation.chatting import ChatWithModel
    from application.conversation.chosen_models import ChosenModels
    from application.conversation.compressing_by_hand import CompressConversation
    from application.conversation.consents import Consents
    from application.conversation.inspecting import InspectContext, NextStep
    from application.conversation.prompting import Prompting
    from application.conversation.sessions import Sessions
    from application.goal_checks.case_runs import RunCases
    from application.goal_checks.since_when import FindCulprit
    from application.groups.design import Design
    from application.groups.models import Models
    from application.groups.outside import Outside
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.optimization.influencing import FindInfluence
    from application.optimization.optimizing import OptimizeCircuit
    from application.ports.permissions import PermissionStore
    from application.ports.project_view import ProjectView
    from application.ports.reports import ReportMaker
    from application.ports.simulation import ModelLibrary, ResultStore, SourceReaders, WaveformReader
    from application.project.goals_watch import WatchGoals
    from application.results.exporting import ExportResult
    from application.search.conversations import SearchConversations
    from application.search.searching import SearchProject
    from application.search.web_searching import SearchWeb
    from application.simulation.checking import CheckCircuit
    from application.simulation.convergence import AnalyzeConvergence
    from application.simulation.device_tables import DeviceTables
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.studies.studying import RunStudy
    from application.tool_execution.definition import Tool, ToolServices
    from application.tool_execution.executor import ToolExecutor
    from application.tool_execution.run_tool import RunTool
    from application.tool_execution.server_tools import ToolServers
    from domain.llm.service import Alternatives
    from shared.cpu_executor import CpuTaskExecutor
    from shared.message import Message


@dataclass(frozen=True, slots=True, eq=False)
class ToolUseCases:
    """Implements application.tool_execution.definition.ToolServices; made is what a tool asks for."""

    outside: Outside
    _: KW_ONLY
    simulation: Callable[[], Simulation]
    design: Callable[[], Design]
    models: Callable[[], Models]
    project: Callable[[], Project]

    @property
    def sources(self) -> SourceReaders:
        return self.outside.simulation.sources

    @property
    def model_library(self) -> ModelLibrary:
        return self.outside.simulation.models

    @property
    def components(self) -> FindComponents:
        return self.simulation().components

    @property
    def bill(self) -> CountParts:
        return self.simulation().bill

    @property
    def device_tables(self) -> DeviceTables:
        return self.simulation().device_tables

    @property
    def check(self) -> CheckCircuit:
        return self.simulation().check

    @property
    def simulate(self) -> RunSimulation:
        return self.simulation().run

    @property
    def run_cases(self) -> RunCases | None:
        return self.project().run_cases if self.outside.program.runs_cases else None

    @property
    def study(self) -> RunStudy:
        return self.simulation().study

    @property
    def optimize(self) -> OptimizeCircuit:
        return self.design().optimize

    @property
    def influence(self) -> FindInfluence:
        return self.design().influence

    @property
    def since_when(self) -> FindCulprit:
        return self.design().since_when

    @property
    def measure(self) -> MeasureResult:
        return self.simulation().measure

    @property
    def export(self) -> ExportResult:
        return self.simulation().export

    @property
    def make_report(self) -> ReportMaker:
        return self.design().make_report

    @property
    def analyze_convergence(self) -> AnalyzeConvergence:
        return self.simulation().analyze_convergence

    @property
    def results(self) -> ResultStore:
        return self.outside.simulation.results

    @property
    def waveform_reader(self) -> WaveformReader:
        return self.outside.simulation.waveforms

    @property
    def search(self) -> SearchProject:
        return self.project().search

    @property
    def cpu(self) -> CpuTaskExecutor:
        return self.outside.program.cpu

    @property
    def search_web(self) -> SearchWeb:
        return self.models().search_web

    def view(self, root: Path) -> ProjectView:
        return self.outside.project.view(root)


class Conversations:
    """Talks with models, and the tools they have."""

    def __init__(
        self,
        outside: Outside,
        *,
        tools: ToolServices,
        search_web: Callable[[], SearchWeb],
        watch_goals: Callable[[], WatchGoals | None],
    ) -> None:
        self._outside = outside
        self._parts = outside.conversations
        self._tools = tools
        self._watch_goals = watch_goals
        self._search_web = search_web
        self._at_work = ConversationsAtWork()

    @property
    def permissions(self) -> PermissionStore:
        """What the user has decided about calls, project by project."""
        return self._parts.permissions

    @cached_property
    def chat(self) -> ChatWithModel:
        """One turn with a model that has the project's tools."""
        from application.conversation.chatting import ChatWithModel
        from application.conversation.turn_deps import TurnDeps
        from domain.llm.agent_limits import AgentLimits
        from domain.llm.context_block import USUAL

        models = self._outside.models
        deps = TurnDeps(
            models=models.providers,
            checkpointers=self._parts.checkpointers,
            tracer=self._outside.program.tracer,
            executor=lambda: self._executor.with_tools(self._tools_of_servers),
            connect_servers=self._connect_servers,
            services=self._tools,
            prompts=lambda: self.prompts,
            permissions=self._parts.permissions,
            consents=lambda: self._consents,
            used_answers=lambda: self._parts.used_answers,
            events=self._outside.program.events,
            alternatives=self._alternatives,
            watch_goals=self._watch_goals,
            at_work=self._at_work,
        )

        def as_set(deps: TurnDeps) -> TurnDeps:
            return replace(
                deps,
                limits=models.limits or AgentLimits(),
                shares=models.shares or USUAL,
                small_model=self._chosen.small() if models.small_model else None,
            )

        return ChatWithModel(
            projects=self._outside.project.projects, deps=deps, as_set=as_set, search_web=self._search_web
        )

    @cached_property
    def tool_servers(self) -> ToolServers:
        """Servers of the Model Context Protocol that the user has set up: their tools."""
        from application.tool_execution.server_tools import ToolServers

        return ToolServers(
            connector=lambda: self._parts.tool_servers,
            configured=lambda: self._parts.configured_servers,
            tasks=lambda: self._outside.program.tasks,
        )

    @property
    def _tools_of_servers(self) -> tuple[Tool[Any], ...]:
        return self.tool_servers.tools if self._parts.configured_servers else ()

    async def _connect_servers(self) -> tuple[Message, ...]:
        import asyncio

        return await (await asyncio.to_thread(lambda: self.tool_servers)).connect()

    @property
    def compresses_itself(self) -> bool:
        """Whether conversations are compressed without being asked for."""
        limits = self._outside.models.limits
        return limits is None or limits.compress

    @cached_property
    def compress(self) -> CompressConversation:
        """A summary in place of older messages, made by hand and taken back."""
        from application.conversation.compressing_by_hand import CompressConversation

        return CompressConversation(chat=self.chat)

    @cached_property
    def sessions(self) -> Sessions:
        from application.conversation.sessions import Sessions

        return Sessions(
            projects=self._outside.project.projects,
            write_file=self._outside.program.write_file,
            read_file=self._outside.program.read_file,
            forget_checkpoints=self._parts.forget_checkpoints,
            index=self._parts.index,
            views=self._outside.project.view,
            at_work=self._at_work,
            alternatives=self._alternatives,
            kept_days=self._parts.removed_days,
        )

    @cached_property
    def search(self) -> SearchConversations:
        """Words in what was said in all conversations of a project."""
        from application.search.conversations import SearchConversations

        return SearchConversations(
            projects=self._outside.project.projects,
            index=self._parts.index,
            cpu=self._outside.program.cpu,
        )

    @cached_property
    def attachments(self) -> Attachments:
        """Files and pictures for messages, before they are sent and when they are shown."""
        from application.agent.attachments import Attachments

        return Attachments(
            projects=self._outside.project.projects,
            reader=self._parts.attachments,
            cpu=self._outside.program.cpu,
        )

    @cached_property
    def inspect_context(self) -> InspectContext:
        """What a model would be sent with the next message, by part, with its size."""
        from application.conversation.inspecting import InspectContext
        from domain.llm.agent_limits import AgentLimits

        return InspectContext(
            projects=self._outside.project.projects,
            plain_folder=self._outside.project.plain_folder,
            models=self._outside.models.providers,
            prompts=self.prompts,
            executor=lambda: self._executor.with_tools(self._tools_of_servers),
            tools=self._tools,
            cpu=self._outside.program.cpu,
            limits=lambda: self._outside.models.limits or AgentLimits(),
            next_step=partial(_next_step, known=self._outside.conversations.checkpoint_texts),
            searches_web=lambda choice: self._search_web().of_choice(choice) is not None,
            exact=self._outside.models.vocabularies.counter,
            shares=lambda: self._outside.models.shares,
        )

    @cached_property
    def prompts(self) -> Prompting:
        """The texts models are instructed with."""
        from application.conversation.prompting import Prompting

        return Prompting(
            store=self._parts.prompts,
            results=lambda: self._outside.project.results,
            events=self._outside.program.events,
            plain_folder=self._outside.project.plain_folder,
        )

    @cached_property
    def run_tool(self) -> RunTool:
        from application.tool_execution.run_tool import RunTool

        return RunTool(
            events=self._outside.program.events,
            executor=self._executor,
            services=self._tools,
            projects=self._outside.project.projects,
            plain_folder=self._outside.project.plain_folder,
            permissions=self._parts.permissions,
        )

    @cached_property
    def _consents(self) -> Consents:
        from application.conversation.consents import Consents

        return Consents(models=self._outside.models.providers, store=self._parts.permissions)

    @property
    def _chosen(self) -> ChosenModels:
        from application.conversation.chosen_models import ChosenModels

        models = self._outside.models
        return ChosenModels(
            small=models.small_model,
            small_of=models.small_model_of,
            alternatives=models.alternatives,
            switches_automatically=models.switches_automatically,
            settings=models.settings,
        )

    def _alternatives(self) -> Alternatives:
        return self._chosen.alternatives()

    @cached_property
    def _executor(self) -> ToolExecutor:
        from application.tool_execution.executor import ToolExecutor
        from application.tool_execution.registry import TOOLS

        return ToolExecutor(TOOLS)


async def _next_step(*given: Any, **more: Any) -> NextStep:
    from application.workflow.next_step import next_step

    return await next_step(*given, **more)
