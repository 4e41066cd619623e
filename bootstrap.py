# ruff: noqa: D102 - the properties are described in application.app.Application
"""The only composition root: names the concrete adapters and wires the use cases.

Two steps: `build()` makes everything cheap; `Composition.warm_up()` imports what is slow (the
graph), off the loop after the first paint. Each use case is made at its first use, so that a
quick sub-command pays only for what it touches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from shared import redaction
from shared.paths import user_home

if TYPE_CHECKING:
    from application.agent.attachments import Attachments
    from application.app import Application
    from application.conversation.chatting import ChatWithModel
    from application.conversation.inspecting import InspectContext
    from application.conversation.prompting import Prompting
    from application.conversation.sessions import Sessions
    from application.conversation.trying import TryModel
    from application.examining import ExamineEnvironment
    from application.optimization.optimizing import OptimizeCircuit
    from application.optimization.tuning import TuneCircuit
    from application.ports.conversation import ChatModels, Checkpointers, Designer
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import ModelSettingsStore
    from application.ports.permissions import PermissionStore
    from application.ports.project import Projects
    from application.ports.search import Embedder, EmbeddingStore
    from application.ports.simulation import (
        BatchSimulator,
        RunJoiner,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
        WaveformReader,
    )
    from application.ports.tracing import TurnTracer
    from application.project.adopting import AdoptProject
    from application.project.browsing import BrowseProject
    from application.project.cleaning import CleanProject
    from application.project.editing import EditFiles
    from application.project.unclean_ends import UncleanEnds
    from application.project.undo_retention import TidyUndoData
    from application.project.undoing import ProjectOperations
    from application.project.unsaved_texts import UnsavedTexts
    from application.project.window_state import WindowStates
    from application.results.exporting import ExportResult
    from application.search.searching import SearchProject
    from application.search.setting_up import SetUpEmbedding
    from application.search.web_searching import SearchWeb
    from application.simulation.checking import CheckCircuit
    from application.simulation.convergence import AnalyzeConvergence
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.simulation.waveforms import LoadWaveforms
    from application.studies.studying import RunStudy
    from application.tool_execution.context import ToolServices
    from application.tool_execution.executor import ToolExecutor
    from application.tool_execution.run_tool import RunTool
    from application.tracing import ReadTraces
    from application.workflow.designing import DesignCircuit
    from domain.llm.chat import ProviderChoice
    from domain.llm.service import Alternatives, NetworkSettings
    from domain.search.embedding import EmbeddingSettings
    from domain.simulation.retention import RetentionPolicy
    from infrastructure.ngspice.batch.simulator import NgspiceBatch
    from infrastructure.ngspice.confined import ConfinedNgspice
    from infrastructure.persistence.authenticity import UserKey
    from infrastructure.persistence.project import ProjectFolder
    from infrastructure.persistence.result_seals import ResultSeals
    from infrastructure.persistence.results import ResultFolders
    from infrastructure.persistence.settings import UserSettings
    from shared.cpu_executor import CpuTaskExecutor
    from shared.events import EventBus
    from shared.message import Message
    from shared.processes import ProcessManager
    from shared.stop import StopController
    from shared.tasks import AsyncTaskRegistry

_OF_TRACERS = ("LANGSMITH_", "LANGCHAIN_")
_SWITCHED_OFF = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    # A checkpoint file from someone else must not be able to revive arbitrary types.
    "LANGGRAPH_STRICT_MSGPACK": "true",
}


def _switch_off_tracing() -> None:
    """Before LangChain is imported: variables in the user's shell would make it upload every run.

    There are many (one for an older version even stops every model call), so all of them go.
    """
    for name in [name for name in os.environ if name.upper().startswith(_OF_TRACERS)]:
        del os.environ[name]
    os.environ.update(_SWITCHED_OFF)


def build(
    *,
    environment: Mapping[str, str] | None = None,
    simulator: Simulator | None = None,
    designers: Mapping[str, Designer] | None = None,
) -> Application:
    """The application, cheap to make. Tests hand in fakes at the ports."""
    _switch_off_tracing()
    redaction.install()
    environment = os.environ if environment is None else environment
    redaction.register_environment(environment)  # also for commands that ask no key store: exports
    return Composition(
        environment=environment,
        simulator=simulator,
        designers=designers,
    )


class Composition:
    """Everything wired; see `application.app.Application` for what it offers."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        simulator: Simulator | None,
        designers: Mapping[str, Designer] | None,
    ) -> None:
        self._environment = environment
        self._given_simulator = simulator
        self._given_designers = designers
        self._home: Path = user_home(environment)
        if "asyncio" in sys.modules:
            self.events  # noqa: B018 - made on a running loop it delivers there; threads may be first to use it

    @cached_property
    def events(self) -> EventBus:
        from shared.events import EventBus

        return EventBus()

    @property
    def tasks(self) -> AsyncTaskRegistry:
        """What runs in this program."""
        return self._work[0]

    @property
    def stop(self) -> StopController:
        """Stops it, and tells of each scope whether something runs there."""
        return self._work[1]

    @cached_property
    def _work(self) -> tuple[AsyncTaskRegistry, StopController]:
        """Made together: the controller follows the registry from its first task on."""
        from shared.stop import StopController
        from shared.tasks import AsyncTaskRegistry

        tasks = AsyncTaskRegistry(self.events)
        return tasks, StopController(registry=tasks, processes=self._processes, events=self.events)

    @cached_property
    def _processes(self) -> ProcessManager:
        from shared.processes import ProcessManager

        return ProcessManager()

    @cached_property
    def _cpu(self) -> CpuTaskExecutor:
        from shared.cpu_executor import CpuTaskExecutor

        return CpuTaskExecutor()

    @cached_property
    def language(self) -> str:
        return self._settings.language_in(self._environment)

    @cached_property
    def warnings(self) -> tuple[Message, ...]:
        from infrastructure.persistence.user_json import set_damaged_aside

        return (*self._settings.warnings, *set_damaged_aside(self._home))

    @cached_property
    def check(self) -> CheckCircuit:
        from application.simulation.checking import CheckCircuit

        return CheckCircuit(
            sources=self._sources,
            settings=self.simulator_settings,
            libraries=self._settings.libraries,
            cpu=lambda: self._cpu,
        )

    @cached_property
    def simulate(self) -> RunSimulation:
        from application.simulation.simulating import RunSimulation

        return RunSimulation(
            simulator=self._simulator,
            waveforms=self._waveforms,
            sources=self._sources,
            results=self._results,
            cpu=self._cpu,
            joiner=self._joiner,
            settings=self.simulator_settings,
            libraries=self._settings.libraries,
        )

    @cached_property
    def study(self) -> RunStudy:
        from application.studies.studying import RunStudy

        return RunStudy(
            batch=self._batch_at,
            simulator=self._simulator,
            sources=self._sources,
            results=self._results,
            cpu=self._cpu,
            events=self.events,
            settings=self.simulator_settings,
            libraries=self._settings.libraries,
        )

    @cached_property
    def optimize(self) -> OptimizeCircuit:
        from application.optimization.optimizing import OptimizeCircuit
        from infrastructure.persistence.atomic import write_atomically

        return OptimizeCircuit(
            batch=self._batch_at,
            simulator=self._simulator,
            waveforms=self._waveforms,
            sources=self._sources,
            results=self._results,
            cpu=self._cpu,
            events=self.events,
            settings=self.simulator_settings,
            write_file=write_atomically,
            libraries=self._settings.libraries,
        )

    @cached_property
    def tune(self) -> TuneCircuit:
        from application.optimization.tuning import TuneCircuit

        return TuneCircuit(
            batch=self._batch,
            sources=self._sources,
            cpu=self._cpu,
            settings=self.simulator_settings,
            libraries=self._settings.libraries,
        )

    @cached_property
    def analyze_convergence(self) -> AnalyzeConvergence:
        from application.simulation.convergence import AnalyzeConvergence

        return AnalyzeConvergence(
            simulator=self._simulator,
            sources=self._sources,
            results=self._results,
            cpu=self._cpu,
            settings=self.simulator_settings,
            libraries=self._settings.libraries,
        )

    @cached_property
    def clean(self) -> CleanProject:
        from application.project.cleaning import CleanProject
        from infrastructure.ngspice.scratch_leftovers import TemporaryScratch

        return CleanProject(
            shelves=self._results.shelf,
            scratch=TemporaryScratch(),
            cpu=self._cpu,
            quota=self._quota,
            undo_data=self.tidy_undo_data,
        )

    @cached_property
    def tidy_undo_data(self) -> TidyUndoData:
        from application.project.undo_retention import TidyUndoData

        return TidyUndoData(projects=self._projects)

    @cached_property
    def measure(self) -> MeasureResult:
        from application.simulation.measuring import MeasureResult

        return MeasureResult(results=self._results, waveforms=self._waveforms, cpu=self._cpu)

    @cached_property
    def export(self) -> ExportResult:
        from application.results.exporting import ExportResult
        from infrastructure.exports.pictures import PictureFiles
        from infrastructure.exports.tables import TableFiles

        return ExportResult(
            results=self._results,
            waveforms=self._waveforms,
            tables=TableFiles(),
            pictures=PictureFiles(cache=self._home / "cache" / "matplotlib"),
            cpu=self._cpu,
        )

    @cached_property
    def design(self) -> DesignCircuit:
        from application.workflow.designing import DesignCircuit
        from presentation.narration import Narrator

        return DesignCircuit(
            designers=self._designers,
            projects=self._projects,
            simulate=self.simulate,
            measure=self.measure,
            checkpointers=self._checkpointers,
            tracer=self._tracer,
            narrators=Narrator.answering,
        )

    @cached_property
    def models(self) -> ChatModels:
        from infrastructure.llm_adapters.model_facts import abilities_of, price_of
        from infrastructure.llm_adapters.registry import ModelRegistry
        from infrastructure.persistence.service_counts import ServiceCountsFile
        from infrastructure.persistence.token_factors import TokenFactorsFile
        from presentation.translation import Translator

        return ModelRegistry(
            environment=self._environment,
            speaker=Translator,
            keys=self.keys,
            settings=self.model_settings,
            tokens=TokenFactorsFile(user_home=self._home),
            network=self._network,
            counts=ServiceCountsFile(user_home=self._home),
            abilities=partial(abilities_of, added=self._settings.models),
            prices=lambda provider, model, is_own: price_of(
                provider, model, added=self._settings.prices, is_own_address=is_own
            ),
        )

    @cached_property
    def try_model(self) -> TryModel:
        from application.conversation.trying import TryModel

        return TryModel(self.models)

    def _small_model(self) -> ProviderChoice | None:
        """As set; where only the provider is named, its small model."""
        chosen = self._settings.small_model
        if chosen is None or chosen.model:
            return chosen
        from infrastructure.llm_adapters.model_facts import small_model_of

        return replace(chosen, model=small_model_of(chosen.provider))

    def _alternatives(self) -> Alternatives:
        """As set; else the models whose settings were tested are offered."""
        from domain.llm.service import Alternatives

        chosen = self._settings.alternatives
        if not chosen:
            kept = self.model_settings.load().providers
            chosen = tuple(row.choice(name) for name, row in kept.items() if row.verified_at)
        return Alternatives(choices=chosen, is_automatic=self._settings.switch_automatically)

    @cached_property
    def keys(self) -> KeyStore:
        from infrastructure.persistence.credentials import Credentials

        return Credentials(user_home=self._home, environment=self._environment)

    @cached_property
    def model_settings(self) -> ModelSettingsStore:
        from infrastructure.persistence.model_settings import ModelSettingsFile

        return ModelSettingsFile(user_home=self._home)

    @cached_property
    def chat(self) -> ChatWithModel:
        from application.conversation.chatting import ChatWithModel
        from domain.llm.agent_limits import AgentLimits
        from infrastructure.persistence.spent_answers import SpentAnswers

        return ChatWithModel(
            events=self.events,
            projects=self._projects,
            models=self.models,
            checkpointers=self._checkpointers,
            tracer=self._tracer,
            executor=lambda: self._executor,
            services=lambda: self._tool_services,
            prompts=self.prompts,
            permissions=self.permissions,
            used_answers=SpentAnswers(self._home),
            limits=self._settings.agent or AgentLimits(),
            small_model=self._small_model(),
            alternatives=self._alternatives,
            search_web=self.search_web,
        )

    @cached_property
    def attachments(self) -> Attachments:
        from application.agent.attachments import Attachments
        from infrastructure.attachments.reader import FileReader

        return Attachments(projects=self._projects, reader=FileReader(), cpu=self._cpu)

    @cached_property
    def inspect_context(self) -> InspectContext:
        from application.conversation.inspecting import InspectContext

        return InspectContext(
            projects=self._projects,
            plain_folder=self._plain_folder,
            models=self.models,
            prompts=self.prompts,
            executor=lambda: self._executor,
            cpu=self._cpu,
            searches_web=lambda choice: self.search_web.of_choice(choice) is not None,
        )

    @cached_property
    def search_web(self) -> SearchWeb:
        from application.search.web_searching import SearchWeb
        from infrastructure.web_search.registry import SearchEngines

        engines = SearchEngines(environment=self._environment, keys=self.keys, network=self._network)
        return SearchWeb(engines=engines, settings=self.model_settings, events=self.events)

    @cached_property
    def sessions(self) -> Sessions:
        from application.conversation.sessions import Sessions
        from infrastructure.persistence.atomic import write_atomically
        from infrastructure.persistence.checkpoint_rows import forget_thread

        return Sessions(
            projects=self._projects,
            write_file=write_atomically,
            forget_checkpoints=forget_thread,
            alternatives=self._alternatives,
        )

    @cached_property
    def traces(self) -> ReadTraces:
        from application.tracing import ReadTraces
        from infrastructure.tracing.store import SqliteTraces

        return ReadTraces(SqliteTraces())

    @cached_property
    def operations(self) -> ProjectOperations:
        from application.project.undoing import ProjectOperations

        return ProjectOperations(projects=self._projects, events=self.events)

    @cached_property
    def adopt(self) -> AdoptProject:
        from application.project.adopting import AdoptProject
        from infrastructure.persistence.result_catalogue import ResultList

        return AdoptProject(
            projects=self._projects, count_results=lambda root: ResultList(self._seals).stored(root).count
        )

    @cached_property
    def search(self) -> SearchProject:
        from application.search.searching import SearchProject
        from infrastructure.search.project_index import SqliteProjectIndex

        return SearchProject(index=SqliteProjectIndex, cpu=self._cpu, embedder=self._embedder)

    def _embedder(self) -> Embedder | None:
        """The client of the server of vectors, when the user has set one up. Blocking."""
        settings = self._embedding_store.load()
        return None if settings is None else self._embedder_of(settings)

    def _embedder_of(self, settings: EmbeddingSettings, key: str = "", *, tries: int = 3) -> Embedder:
        """`key` in place of the one that is kept. Blocking."""
        from domain.search.embedding import EMBEDDING_SERVERS
        from infrastructure.llm_adapters.embeddings import EmbeddingClient
        from infrastructure.llm_adapters.timing import RetryPolicy

        server = EMBEDDING_SERVERS[settings.provider]
        if not key and server.key_name:
            url = settings.base_url or server.base_url
            key = self.keys.find(server.key_name, server.key_variable, server=url, usual=(url,))
        return EmbeddingClient(
            settings,
            environment=self._environment,
            key=key,
            retries=RetryPolicy(tries=tries),
            network=self._network,
        )

    @cached_property
    def _embedding_store(self) -> EmbeddingStore:
        from infrastructure.persistence.embedding_settings import EmbeddingSettingsFile

        return EmbeddingSettingsFile(user_home=self._home)

    @cached_property
    def set_up_embedding(self) -> SetUpEmbedding:
        from application.search.setting_up import SetUpEmbedding
        from infrastructure.llm_adapters.embeddings import stays_here

        return SetUpEmbedding(
            store=self._embedding_store,
            connect=partial(self._embedder_of, tries=1),
            search=lambda: self.search,
            is_local=stays_here,
            events=self.events,
        )

    @cached_property
    def run_tool(self) -> RunTool:
        from application.tool_execution.run_tool import RunTool

        return RunTool(
            events=self.events,
            executor=self._executor,
            services=self._tool_services,
            projects=self._projects,
            plain_folder=self._plain_folder,
            permissions=self.permissions,
        )

    @cached_property
    def permissions(self) -> PermissionStore:
        from infrastructure.persistence.permissions import PermissionFile

        return PermissionFile(user_home=self._home)

    @cached_property
    def window_state(self) -> WindowStates:
        from infrastructure.persistence.window_state import WindowStateFile

        return WindowStateFile(user_home=self._home)

    @cached_property
    def unclean_ends(self) -> UncleanEnds:
        from infrastructure.persistence.unclean_ends import UncleanEndFiles

        return UncleanEndFiles(user_home=self._home)

    @cached_property
    def unsaved_texts(self) -> UnsavedTexts:
        from infrastructure.persistence.unsaved_texts import UnsavedTextFiles

        return UnsavedTextFiles(user_home=self._home)

    @cached_property
    def prompts(self) -> Prompting:
        from application.conversation.prompting import Prompting
        from infrastructure.persistence.prompt_files import PromptFiles
        from infrastructure.persistence.result_catalogue import ResultList

        return Prompting(
            store=PromptFiles(user_home=self._home), results=ResultList(self._seals), events=self.events
        )

    @cached_property
    def browse(self) -> BrowseProject:
        from application.project.browsing import BrowseProject
        from infrastructure.persistence.examples import BundledExamples
        from infrastructure.persistence.project_view import FolderView
        from infrastructure.persistence.result_catalogue import ResultList

        libraries = self._settings.libraries
        return BrowseProject(
            projects=self._projects,
            views=lambda root: FolderView(root=root, libraries=libraries, seals=self._seals),
            sources=self._sources,
            results=ResultList(self._seals),
            examples=BundledExamples(),
            measure=lambda: self.measure,
            libraries=libraries,
        )

    @cached_property
    def edit(self) -> EditFiles:
        from application.project.editing import EditFiles
        from infrastructure.persistence.atomic import write_atomically

        return EditFiles(
            projects=self._projects, plain_folder=self._plain_folder, write_file=write_atomically
        )

    @cached_property
    def waveforms(self) -> LoadWaveforms:
        from application.simulation.waveforms import LoadWaveforms
        from infrastructure.persistence.result_figures import ResultFigures
        from infrastructure.waveforms.column_file import ColumnFileBuilder

        return LoadWaveforms(
            results=self._results,
            waveforms=self._waveforms,
            figures=ResultFigures(self._seals),
            columns=ColumnFileBuilder(self._user_key),
            cpu=self._cpu,
            tasks=self.tasks,
        )

    @cached_property
    def examine(self) -> ExamineEnvironment:
        from application.examining import ExamineEnvironment

        return ExamineEnvironment(
            simulator=self._simulator,
            library=self._batch,
            processes=self._processes,
            environment=self._environment,
            keys=self.keys,
        )

    def warm_up(self) -> Iterator[None]:
        from application.workflow.designing import graph_imports

        yield from graph_imports()
        self.models.list()  # what was set and which keys there are is known from now on

    async def close(self) -> None:
        """Cancel what runs, kill what does not end, release executors."""
        await self.tasks.shutdown()
        self.stop.close()
        await self._processes.kill_all()
        if "search" in self.__dict__:
            await self.search.close()
        await self._cpu.shutdown()

    @cached_property
    def _settings(self) -> UserSettings:
        from infrastructure.persistence.settings import load_settings

        return load_settings(self._home)

    @property
    def _network(self) -> NetworkSettings:
        from domain.llm.service import NetworkSettings

        return self._settings.network or NetworkSettings()

    @property
    def _quota(self) -> RetentionPolicy:
        from domain.simulation.retention import DEFAULT_POLICY

        return self._settings.results or DEFAULT_POLICY

    @cached_property
    def _simulator(self) -> Simulator:
        if self._given_simulator is not None:
            return self._given_simulator
        from domain.simulation.request import DEFAULT_RUN_BYTES
        from infrastructure.ngspice.runner import NgspiceRunner

        settings = self._settings
        return NgspiceRunner(self._ngspice, run_bytes=lambda: settings.run_bytes or DEFAULT_RUN_BYTES)

    @cached_property
    def _batch(self) -> NgspiceBatch:
        from infrastructure.ngspice.batch.simulator import NgspiceBatch

        return NgspiceBatch(self._ngspice)

    @cached_property
    def _ngspice(self) -> ConfinedNgspice:
        from infrastructure.ngspice.confined import ConfinedNgspice

        return ConfinedNgspice(processes=self._processes, ngspice_path=self._settings.ngspice_path)

    def _batch_at(self, cluster: str | None) -> BatchSimulator:
        """The batch simulator behind a scheduler's address, or of this machine."""
        if cluster is None:
            return self._batch
        from infrastructure.cluster.dask_batch import DaskBatch

        return DaskBatch(cluster, local=self._batch)

    @cached_property
    def _designers(self) -> Mapping[str, Designer]:
        if self._given_designers is not None:
            return self._given_designers
        from infrastructure.llm_adapters.builtin import BuiltinDesigner
        from presentation.translation import Translator

        # The comments of a circuit are in the language of the sentence that asked for it.
        return {"builtin": BuiltinDesigner(speaker=Translator)}

    @cached_property
    def _projects(self) -> Projects:
        from infrastructure.persistence.project import ProjectFolders

        return ProjectFolders(self._user_key)

    def _plain_folder(self, folder: Path) -> ProjectFolder:
        """A folder as a project, whether it is one or not."""
        from infrastructure.persistence.project import ProjectFolder

        return ProjectFolder(folder, self._user_key)

    @cached_property
    def _user_key(self) -> UserKey:
        from infrastructure.persistence.authenticity import UserKey

        return UserKey(self._home)

    @cached_property
    def _checkpointers(self) -> Checkpointers:
        from infrastructure.persistence.checkpoints import SqliteCheckpointers

        return SqliteCheckpointers(self._user_key)

    @cached_property
    def _tracer(self) -> TurnTracer:
        from infrastructure.tracing.recorder import TurnSpans

        return TurnSpans()

    @cached_property
    def _executor(self) -> ToolExecutor:
        from application.tool_execution.executor import ToolExecutor
        from application.tool_execution.registry import TOOLS

        return ToolExecutor(TOOLS)

    @cached_property
    def _tool_services(self) -> ToolServices:
        from application.tool_execution.context import ToolServices
        from infrastructure.persistence.project_view import FolderView

        libraries = self._settings.libraries
        return ToolServices(
            sources=self._sources,
            check=self.check,
            simulate=self.simulate,
            study=self.study,
            optimize=self.optimize,
            measure=self.measure,
            export=self.export,
            analyze_convergence=self.analyze_convergence,
            results=self._results,
            waveforms=self._waveforms,
            views=lambda root: FolderView(root=root, libraries=libraries, seals=self._seals),
            search=self.search,
            cpu=self._cpu,
            search_web=self.search_web,
        )

    @cached_property
    def simulator_settings(self) -> SimulatorSettingsStore:
        from infrastructure.persistence.simulator_settings import SimulatorSettingsFile

        return SimulatorSettingsFile(user_home=self._home, environment=self._environment)

    @cached_property
    def _joiner(self) -> RunJoiner:
        from infrastructure.ngspice.stepped_runs import StepJoiner

        return StepJoiner()

    @cached_property
    def _waveforms(self) -> WaveformReader:
        from infrastructure.waveforms.raw_file import RawFileReader

        return RawFileReader(key=self._user_key)

    @cached_property
    def _sources(self) -> SourceReaders:
        from infrastructure.persistence.source_files import SourceReaderFactory

        return SourceReaderFactory()

    @cached_property
    def _results(self) -> ResultFolders:
        from infrastructure.persistence.results import ResultFolders

        return ResultFolders(user_home=self._home, quota=self._quota, seals=self._seals)

    @cached_property
    def _seals(self) -> ResultSeals:
        from infrastructure.persistence.result_seals import ResultSeals

        return ResultSeals(self._user_key)
