"""What a front end may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from application.agent.attachments import Attachments
    from application.conversation.chatting import ChatWithModel
    from application.conversation.inspecting import InspectContext
    from application.conversation.prompting import Prompting
    from application.conversation.sessions import Sessions
    from application.conversation.trying import TryModel
    from application.examining import ExamineEnvironment
    from application.optimization.optimizing import OptimizeCircuit
    from application.optimization.tuning import TuneCircuit
    from application.ports.conversation import ChatModels
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import ModelSettingsStore
    from application.ports.permissions import PermissionStore
    from application.ports.simulation import SimulatorSettingsStore
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
    from application.tool_execution.run_tool import RunTool
    from application.tracing import ReadTraces
    from application.workflow.designing import DesignCircuit
    from shared.events import EventBus
    from shared.message import Message
    from shared.stop import StopController
    from shared.tasks import AsyncTaskRegistry


class Application(Protocol):
    """The use cases of the program, made by bootstrap, each at its first use.

    A quick command pays only for what it touches: `check` loads neither numpy nor LangGraph.
    """

    @property
    def language(self) -> str:
        """Language of texts for people: "en" or "zh"."""
        ...

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What was wrong with the user's settings, if anything."""
        ...

    @property
    def events(self) -> EventBus:
        """Facts for whoever watches."""
        ...

    @property
    def tasks(self) -> AsyncTaskRegistry:
        """Every task of the program."""
        ...

    @property
    def stop(self) -> StopController:
        """Stops the work of one scope or of all."""
        ...

    @property
    def check(self) -> CheckCircuit:
        """Diagnose a netlist."""
        ...

    @property
    def analyze_convergence(self) -> AnalyzeConvergence:
        """Find out why a circuit does not converge."""
        ...

    @property
    def simulator_settings(self) -> SimulatorSettingsStore:
        """What the user set for the circuits of each project."""
        ...

    @property
    def simulate(self) -> RunSimulation:
        """Run a circuit."""
        ...

    @property
    def study(self) -> RunStudy:
        """Sweep, Monte Carlo, corners, worst case, sensitivity."""
        ...

    @property
    def optimize(self) -> OptimizeCircuit:
        """Search for the values that meet goals."""
        ...

    @property
    def tidy_undo_data(self) -> TidyUndoData:
        """Remove undo data beyond its retention."""
        ...

    @property
    def clean(self) -> CleanProject:
        """Remove results by rules, pin them, remove what killed runs left."""
        ...

    @property
    def tune(self) -> TuneCircuit:
        """Keep a circuit loaded for values that change under a slider."""
        ...

    @property
    def measure(self) -> MeasureResult:
        """Evaluate expressions on a result."""
        ...

    @property
    def export(self) -> ExportResult:
        """Write a result's vectors as tables and pictures."""
        ...

    @property
    def design(self) -> DesignCircuit:
        """From a sentence to a proved circuit."""
        ...

    @property
    def chat(self) -> ChatWithModel:
        """One turn with a model that has the project's tools."""
        ...

    @property
    def attachments(self) -> Attachments:
        """Files and pictures for messages, before they are sent and when they are shown."""
        ...

    @property
    def inspect_context(self) -> InspectContext:
        """What a model would be sent with the next message, by part, with its size."""
        ...

    @property
    def search_web(self) -> SearchWeb:
        """The general web search: its engines, and asking one."""
        ...

    @property
    def sessions(self) -> Sessions:
        """The conversations of a project."""
        ...

    @property
    def traces(self) -> ReadTraces:
        """What turns did, how long it took, and what failed in them."""
        ...

    @property
    def operations(self) -> ProjectOperations:
        """What was done to a project's files, and taking it back."""
        ...

    @property
    def adopt(self) -> AdoptProject:
        """What another installation wrote into a project, and making it one's own."""
        ...

    @property
    def search(self) -> SearchProject:
        """Search a project by text, name and meaning; keep its index up to date."""
        ...

    @property
    def set_up_embedding(self) -> SetUpEmbedding:
        """Which server gives the vectors of searches by meaning; a trial of it."""
        ...

    @property
    def run_tool(self) -> RunTool:
        """One tool, called by hand."""
        ...

    @property
    def permissions(self) -> PermissionStore:
        """What the user has decided about calls, project by project."""
        ...

    @property
    def try_model(self) -> TryModel:
        """Whether a model answers, how fast, and whether it calls tools."""
        ...

    @property
    def keys(self) -> KeyStore:
        """Where the keys of providers are kept."""
        ...

    @property
    def model_settings(self) -> ModelSettingsStore:
        """What the user has set for the providers."""
        ...

    @property
    def models(self) -> ChatModels:
        """The providers of language models."""
        ...

    @property
    def window_state(self) -> WindowStates:
        """What the window remembers between two starts."""
        ...

    @property
    def unclean_ends(self) -> UncleanEnds:
        """Runs of the window that ended by a fault."""
        ...

    @property
    def unsaved_texts(self) -> UnsavedTexts:
        """Text that was typed and not saved."""
        ...

    @property
    def prompts(self) -> Prompting:
        """The texts models are instructed with."""
        ...

    @property
    def browse(self) -> BrowseProject:
        """Projects, their files and results as lists."""
        ...

    @property
    def edit(self) -> EditFiles:
        """Reading and saving files as text."""
        ...

    @property
    def waveforms(self) -> LoadWaveforms:
        """What a stored result shows."""
        ...

    @property
    def examine(self) -> ExamineEnvironment:
        """What works on this machine."""
        ...

    def warm_up(self) -> Iterator[None]:
        """Import what is slow to import (the graph), in pieces; off the loop, after the first paint."""
        ...

    async def close(self) -> None:
        """Stop what runs and release everything."""
        ...
