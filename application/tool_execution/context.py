"""What a tool gets beside its arguments: its project, session, and the services it may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from application.optimization.optimizing import OptimizeCircuit
    from application.ports.project import ProjectFiles
    from application.ports.simulation import ResultStore, SourceReaders, WaveformReader
    from application.results.exporting import ExportResult
    from application.search.searching import SearchProject
    from application.search.web_searching import SearchWeb
    from application.simulation.checking import CheckCircuit
    from application.simulation.convergence import AnalyzeConvergence
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.studies.studying import RunStudy
    from application.tool_execution.definition import Tool
    from application.tool_execution.operations import Operations
    from domain.llm.chat import WebSource
    from domain.llm.tools.result import ToolResult
    from domain.llm.web_search import WebSearchSettings
    from shared.cpu_executor import CpuTaskExecutor


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """A file or folder of a project, met while walking through it."""

    name: str
    """Relative to the project, forward slashes; a name that is no text has its bytes escaped."""
    path: Path
    kind: Literal["file", "folder", "link", "special"]
    """link: one that leads out of the project, or to a folder; special: a pipe, socket or device."""
    size: int
    """Bytes; 0 for what is no file."""


class ProjectView(Protocol):
    """A project's files as tools may see them; nothing outside is opened or told about.

    Blocking: called off the loop. Travels to worker processes by pickle.
    """

    @property
    def root(self) -> Path:
        """The project folder, links resolved."""
        ...

    @property
    def libraries(self) -> tuple[Path, ...]:
        """Folders (or single files) outside that may be read, never written."""
        ...

    def locate(self, text: str) -> Path:
        """The real path of an existing file a tool may read: of the project, or of a library folder.

        Raises UserInputError ("bad_path", "outside_project", "file_not_found", "not_a_file").
        """
        ...

    def locate_for_writing(self, text: str, suffixes: tuple[str, ...] = ...) -> Path:
        """The real path of a file a tool may write; it and its folders need not exist.

        `suffixes` are the kinds allowed, in lower case; without them those of texts.

        Raises UserInputError ("bad_path", "outside_project", "not_a_file", "suffix_not_allowed",
        "protected_path").
        """
        ...

    def locate_for_moving(self, text: str) -> Path:
        """The place of a file or folder a tool may move or delete, all that is in it included.

        Raises UserInputError as `locate_for_writing`, and "file_not_found", "not_a_file" for a link.
        """
        ...

    def locate_for_making(self, text: str, *, is_folder: bool, moved: Path | None = None) -> Path:
        """The real path of a file or folder a tool may make (`moved`: by moving that). It may be there.

        Raises UserInputError as `locate_for_writing`, and "target_exists" for a name that differs from one
        that is there in letter case only.
        """
        ...

    def locate_folder(self, text: str) -> Path:
        """The real path of a folder of the project ("" and "." are the project itself).

        Raises UserInputError ("bad_path", "outside_project", "file_not_found", "not_a_folder").
        """
        ...

    def locate_result(self, text: str) -> Path | None:
        """The real path of a stored result (its folder, result.json or raw file), None when it names none.

        Raises UserInputError ("bad_path", "outside_project", "file_not_found").
        """
        ...

    def newest_result(self, circuit: Path | None, *, ours: bool = True) -> Path | None:
        """The result.json of the newest stored result (of one circuit); None when there is none.

        Those made here, or (`ours` false) those made on another computer or changed by another program.
        """
        ...

    def numbered_result(self, number: int) -> Path | None:
        """The result.json of the run the list of results counts as `number` (1 = the oldest kept)."""
        ...

    def for_network(self) -> ProjectView:
        """The view of a model on the network: without what ``.circuitaiignore`` names.

        Its `locate` and `locate_for_writing` raise UserInputError ("ignored") for such a file.
        """
        ...

    def open(self, path: Path) -> BufferedReader:
        """A located file, open for reading. Raises OSError when it is no regular file (any more)."""
        ...

    def name_of(self, path: Path) -> str:
        """How a tool names `path`: relative to the project with forward slashes, absolute outside."""
        ...

    def walk(self, folder: Path) -> Iterator[FolderEntry]:
        """What is in `folder` and below, sorted, folders before what is in them, links not followed.

        Hidden files and folders are left out, and what cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """The use cases tools are thin callers of."""

    sources: SourceReaders
    check: CheckCircuit
    simulate: RunSimulation
    study: RunStudy
    optimize: OptimizeCircuit
    measure: MeasureResult
    export: ExportResult
    analyze_convergence: AnalyzeConvergence
    results: ResultStore
    waveforms: WaveformReader
    views: Callable[[Path], ProjectView]
    """Makes the view of a project from its root."""
    search: SearchProject
    cpu: CpuTaskExecutor
    """Reads and searches in worker processes, which a stop ends at once."""
    search_web: SearchWeb | None = None


class Gate(Protocol):
    """Decides about a call whose arguments are checked; see application.tool_execution.confirming."""

    async def __call__(
        self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall
    ) -> ToolResult | None:
        """None when it may run, else its result. Raises CircuitAIError when that can't be decided."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One project and one session, for all calls of a run."""

    project: ProjectFiles
    session_id: str
    operations: Operations
    services: ToolServices
    gate: Gate | None = None
    """Asked right before a call runs: None lets it run, else this is its result."""
    seen_versions: MutableMapping[str, str] = field(default_factory=dict)
    """Relative path -> version hash of what the model saw last; shared by all calls of the session."""

    is_on_network: bool = False
    """The model that calls is not on this computer: some files are kept back from it."""
    web_search: WebSearchSettings | None = None
    """What the general web search asks; None when it is switched off."""
    web_sources: Callable[[], Sequence[WebSource]] = tuple
    """The pages that searches of the turn have found so far."""

    @property
    def view(self) -> ProjectView:
        """The project's files as tools may see them."""
        view = self.services.views(self.project.root)
        return view.for_network() if self.is_on_network else view


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as accepted from a model (or the command line), under our own id."""

    call_id: str
    """Our own ULID: the key of its operation, its result and its place in the transcript."""
    name: str
    arguments: Mapping[str, object]
    provider_id: str = ""
    problem: str = ""
    """Why the arguments could not be read (English, for the model); "" when they could."""
