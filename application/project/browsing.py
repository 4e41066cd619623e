"""A project as a window shows it: its folders, circuits, results, and the parts of one netlist."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from application.design.circuit_goals import GoalBook, place_in, take_over_former
from application.project.runnable import Runnable, runnable
from application.simulation.circuit_files import load_circuit
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.circuit.sections import Section, sections_of
from domain.simulation.goals import DesignGoal
from shared import paths
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.design.rounds import DesignRounds
    from application.ports.project import Projects
    from application.ports.project_view import ProjectView
    from application.ports.simulation import SourceReaders
    from application.simulation.judging import JudgedGoal
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from domain.simulation.goal_conditions import Settings
    from domain.simulation.reach import Reach
    from domain.simulation.verdict import Verdict

MOST_RESULTS = 200
"""Results a list shows, the newest."""
_MOST_JUDGED = 20
_MOST_HASHED = 2000
_MOST_BYTES = 5_000_000
_MOST_OUTLINED = 2_000_000
"""Of a netlist whose parts are read at each pause of typing."""
_TEXT_SUFFIXES = LIBRARY_SUFFIXES | {".cir", ".sp", ".spice", ".net", ".ckt", ".txt", ".md", ".json", ".csv"}
_TEMPORARY = re.compile(r"^\.[0-9A-HJKMNP-TV-Z]{26}\.tmp$|^\.?#|~$|\.sw[a-p]$|^\.goutputstream-|\.part$")
_BAD_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f]')
_DIGITS = re.compile(r"\d+")
_LONGEST_NUMBER = 12
_NEW_CIRCUIT = "* {title}\n\n.end\n"


def is_ours_or_temporary(path: Path, root: Path) -> bool:
    """Whether a path is inside `.circuit_ai/`, or a temporary file of ours or of an editor."""
    inner = path.relative_to(root).parts if path.is_relative_to(root) else path.parts
    return paths.PROJECT_FOLDER in inner or bool(_TEMPORARY.search(path.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedProject:
    """A folder that is open now."""

    root: Path
    """Real path."""
    circuits: tuple[Path, ...]
    """Those that could be the main circuit: complete ones that no other includes."""
    file: Path | None = None
    """The file that was named instead of its folder."""
    warning: Message | None = None
    """What does not work in it: a read-only folder keeps no results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the project tree."""

    name: str
    path: Path
    kind: Literal["folder", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is in a folder."""

    entries: tuple[Entry, ...]
    hidden: int
    """How many more there are behind these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitParts:
    """What a circuit names at its top level, as it is written."""

    nodes: frozenset[str]
    elements: frozenset[str]
    measures: tuple[str, ...]
    """Of its `.meas` cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSummary:
    """A stored result as a list shows it."""

    path: Path
    """Its result.json."""
    number: int
    """Counted from the project's first result."""
    created: str
    """ISO 8601, UTC."""
    ok: bool
    status: str
    verdict: Verdict
    circuit: Path
    netlist_sha256: str
    is_ours: bool = True
    """False: it came with the project from elsewhere, and nobody has run it here."""
    goals_met: int | None = None
    """None when the project has no goals, or none of them can be measured on this result."""
    goals: int = 0
    is_pinned: bool = False
    """Clean-ups keep it."""
    note: str = ""
    """What its user wrote about it."""
    reach: Reach | None = None
    """How far a run came that ended early."""
    reason: Message | None = None
    """Of a run that failed: its first error."""
    own: Settings = ()
    """The values its run had, where these were not the circuit's."""
    analysis: str = ""
    """The card its run had in place of the circuit's own."""
    study: str = ""
    """The kind of study it is, as the command line calls it; "" = one run."""
    yield_share: float | None = None
    """Of a Monte Carlo with goals: the share of good runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A project that comes with the program."""

    name: str
    """Its folder's name."""
    circuit: Path
    """Its main circuit, in the program's own folder."""
    title: str = ""
    """The circuit's first line."""
    analyses: tuple[str, ...] = ()
    """Kinds, in the order of the file."""


class Examples(Protocol):
    """The bundled examples. Blocking: called off the loop."""

    def list(self) -> tuple[Example, ...]:
        """Each with its name and circuit."""

    def new_folder(self, name: str, into: Path) -> Path:
        """Make an empty folder under a free name; returns it."""

    def copy(self, name: str, into: Path) -> Path:
        """Copy one into a folder; returns the copy. Raises UserInputError, EnvironmentProblem."""


@dataclass(frozen=True, slots=True)
class StoredResults:
    """How much there is of stored runs."""

    count: int
    size: int
    """Bytes on the disk."""


class ResultCatalogue(Protocol):
    """Reads the stored results of a project. Blocking: called off the loop."""

    def stored(self, project: Path) -> StoredResults:
        """How many there are, and how large. Never raises."""

    def newest(self, project: Path, most: int, *, with_studies: bool = False) -> tuple[ResultSummary, ...]:
        """The newest results, the newest first; damaged ones are left out. Never raises."""

    def write_note(self, result: Path, text: str) -> None:
        """Keep a line about a result beside its result.json, "" for none. Raises EnvironmentProblem."""


class BrowseProject:
    """The use cases of the panes at the left."""

    def __init__(
        self,
        *,
        projects: Projects,
        views: Callable[[Path], ProjectView],
        sources: SourceReaders,
        results: ResultCatalogue,
        examples: Examples,
        measure: Callable[[], MeasureResult],
        simulate: Callable[[], RunSimulation],
        libraries: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        self._projects = projects
        self._views = views
        self._sources = sources
        self._results = results
        self._examples = examples
        self._measure = measure
        """Made when it is needed: it loads numpy."""
        self._simulate = simulate
        self._libraries = libraries
        self._judged: dict[tuple[Path, tuple[DesignGoal, ...]], tuple[int, int] | None] = {}

    async def open(self, place: Path, *, main: str = "") -> OpenedProject:
        """Open a folder, or the folder of a file, as a project; it becomes one when it is not yet.

        `main`: what was its main circuit, relative to it; looked at in any case.
        Raises UserInputError for a place that is none, or that is too wide (a home, a whole disk).
        """
        return await asyncio.to_thread(self._open, place, main)

    async def root_of(self, place: Path) -> Path:
        """The folder that is opened with a place: itself, or the one of a file."""
        return await asyncio.to_thread(lambda: _folder_of(Path(os.path.realpath(place))))

    async def folder(self, folder: Path, most: int | None = None) -> Listing:
        """What is in a folder, folders first; nothing when it cannot be read."""
        return await asyncio.to_thread(_listing, folder, most)

    async def files(self, root: Path, most: int) -> tuple[Path, ...]:
        """The first files of the project, as they stand in the tree."""
        return await asyncio.to_thread(lambda: tuple(islice(_files(root), most)))

    async def circuits(self, root: Path, known: Sequence[Path] = ()) -> tuple[Path, ...]:
        """Those that could be the main circuit; of very many those of `known` are looked at in any case."""
        return await asyncio.to_thread(self._circuits, root, known)

    async def runnable(self, root: Path, file: Path) -> Runnable | None:
        """What a file asks a simulation for; None when it is no circuit of its own."""
        return await asyncio.to_thread(self._runnable, root, file)

    async def circuits_reading(self, root: Path, file: Path) -> tuple[Path, ...]:
        """The circuits that include a file, by whatever other ones."""
        return await asyncio.to_thread(self._circuits_reading, root, file)

    async def sections(self, file: Path, *, text: str | None = None) -> tuple[Section, ...]:
        """The parts of a netlist: of `text`, where somebody is writing it, else of what is on the disk.

        Raises UserInputError when it can't be read.
        """
        return await asyncio.to_thread(self._sections, file, text)

    async def nodes(self, file: Path) -> Mapping[str, int]:
        """The nodes of a netlist on the disk, each with its first line. Raises UserInputError."""
        return await asyncio.to_thread(self._nodes, file)

    async def parts(self, file: Path) -> CircuitParts:
        """What a netlist on the disk names at its top level. Raises UserInputError."""
        return await asyncio.to_thread(self._parts, file)

    async def results(self, root: Path, *, with_studies: bool = False) -> tuple[ResultSummary, ...]:
        """The stored results, the newest first, without their goals; single runs unless studies are asked
        for, which have no waveforms."""
        return await asyncio.to_thread(self._results.newest, root, MOST_RESULTS, with_studies=with_studies)

    async def write_note(self, result: Path, text: str) -> None:
        """Keep a line about a result, "" for none. Raises EnvironmentProblem."""
        await off_loop(self._results.write_note, result, text)

    async def stored(self, root: Path) -> StoredResults:
        """How many results there are, and how much room they take."""
        return await asyncio.to_thread(self._results.stored, root)

    async def judged(self, root: Path, results: Sequence[ResultSummary]) -> Mapping[Path, tuple[int, int]]:
        """Of the newest results: how many goals each meets, and of how many.

        They are those of the result's own circuit, as they were when it was computed.
        """
        book = await asyncio.to_thread(self._goal_book, root)
        found: dict[Path, tuple[int, int]] = {}
        for result in results[:_MOST_JUDGED] if book is not None and book.all else ():
            goals = book.of_result(result.circuit, result.created) if book is not None else ()
            if not goals or not result.is_ours or result.study:  # what nobody ran here meets nothing
                continue
            key = (result.path, goals)
            if key not in self._judged:
                self._judged[key] = await self._met(result, goals)
            met = self._judged[key]
            if met is not None:
                found[result.path] = met
        return found

    async def goals(self, root: Path, circuit: Path, *, created: str = "") -> tuple[DesignGoal, ...]:
        """What is asked of a circuit, or was when a result of it was `created`."""
        book = await asyncio.to_thread(self._goal_book, root)
        if book is None:
            return ()
        if created:
            return book.of_result(circuit, created)
        found = book.of(place_in(book.root, circuit))
        return () if found is None else found.goals

    async def verdicts(self, result: ResultSummary, goals: Sequence[DesignGoal]) -> tuple[JudgedGoal, ...]:
        """How goals stand by a result; () by one that is not whole."""
        from application.simulation.judging import judge, lacking_corners
        from domain.simulation.goal_conditions import distinct_settings, is_set_by

        if not result.ok:
            return ()
        lacking = await lacking_corners(self._simulate(), result.circuit, goals)
        asked = (each for each in distinct_settings(goals) if is_set_by(each, dict(result.own)))
        own = next(asked, result.own)
        return await judge(
            self._measure(), result.path, goals, lacking=lacking, own=own, analysis=result.analysis
        )

    async def ask_of(self, root: Path, circuit: Path, goals: Sequence[DesignGoal]) -> None:
        """Make `goals` what is asked of a circuit from now on.

        Raises UserInputError for a circuit outside the project, EnvironmentProblem.
        """
        await off_loop(self._ask_of, root, circuit, tuple(goals))

    async def follow_move(self, root: Path, old: Path, new: Path) -> None:
        """A file or a folder of the project has another place: goals and set-ups of its circuits go along.

        Raises EnvironmentProblem.
        """
        await asyncio.to_thread(self._follow_move, root, old, new)

    async def rounds(self, root: Path, circuit: Path | None = None) -> DesignRounds | None:
        """The rounds of the last design of a circuit, else of the project; None when none can be read."""
        return await asyncio.to_thread(self._rounds, root, circuit)

    async def digests(self, root: Path) -> Mapping[str, str]:
        """SHA-256 of the project's text files by their relative paths: a state to compare with."""
        return await asyncio.to_thread(_digests, root)

    async def digest(self, file: Path) -> str | None:
        """SHA-256 of one file; None when there is no such file, or it is not one that is compared."""
        return await asyncio.to_thread(_digest, file)

    async def new_circuit(self, root: Path, name: str) -> Path:
        """A new empty circuit. Raises UserInputError for a name that cannot be, or is taken."""
        return await asyncio.to_thread(self._new_circuit, root, name)

    async def examples(self) -> tuple[Example, ...]:
        """The examples that come with the program."""
        return await asyncio.to_thread(self._listed_examples)

    async def new_folder(self, name: str, into: Path) -> Path:
        """Make an empty folder under a free name; returns it. Raises UserInputError, EnvironmentProblem."""
        return await asyncio.to_thread(self._examples.new_folder, name, into)

    async def copy_example(self, name: str, into: Path) -> Path:
        """Copy an example into a folder; returns the copy. Raises UserInputError, EnvironmentProblem."""
        return await asyncio.to_thread(self._examples.copy, name, into)

    def _listed_examples(self) -> tuple[Example, ...]:
        found = []
        for example in self._examples.list():
            netlist = Netlist.parse(example.circuit.read_bytes(), path=example.circuit)
            kinds = tuple(dict.fromkeys(analysis.kind for analysis in netlist.analyses))
            found.append(replace(example, title=netlist.title.lstrip("* "), analyses=kinds))
        return tuple(found)

    def _open(self, place: Path, main: str) -> OpenedProject:
        real = Path(os.path.realpath(place))
        file = real if real.is_file() else None
        folder = _folder_of(real)
        _check_folder(folder, place)
        warning = None
        try:
            project = self._projects.open(folder, create=True)
            try:
                take_over_former(project, main)
            finally:
                project.close()
        except EnvironmentProblem as error:
            warning = msg(
                "This folder is read-only ({reason}): results and conversations cannot be saved in it.",
                reason=error.message,
            )
        else:
            if not os.access(folder / paths.PROJECT_FOLDER, os.W_OK | os.X_OK):
                warning = msg(
                    "This project is read-only: its contents can be viewed, but nothing can be saved in it."
                )
        return OpenedProject(
            root=folder, circuits=self._circuits(folder, (folder / main,)), file=file, warning=warning
        )

    def _circuits(self, root: Path, known: Sequence[Path]) -> tuple[Path, ...]:
        from application.tool_execution.tools.circuit_choice import main_circuits

        found = [candidate.path for candidate in main_circuits(self._views(root), known)]
        return tuple(sorted(found))

    def _runnable(self, root: Path, file: Path) -> Runnable | None:
        from application.tool_execution.tools._common import CIRCUIT_SUFFIXES

        if file.suffix.lower() not in CIRCUIT_SUFFIXES:
            return None
        found = runnable(self._sources, file, self._libraries())
        if found is None or found.has_analysis or file in self._circuits(root, (file,)):
            return found
        return None  # a part that another one includes

    def _circuits_reading(self, root: Path, file: Path) -> tuple[Path, ...]:
        wanted, found = file.resolve(), []
        for circuit in self._circuits(root, ()):
            try:
                netlist, reader = load_circuit(self._sources, circuit, self._libraries())
            except CircuitAIError:  # gone meanwhile, or too large
                continue
            if wanted in resolve_dependencies(netlist, reader).files:
                found.append(circuit)
        return tuple(found)

    def _sections(self, file: Path, text: str | None) -> tuple[Section, ...]:
        is_part = file.suffix.lower() in LIBRARY_SUFFIXES
        if text is not None:
            netlist = Netlist.parse(text.encode(), path=file, has_title=not is_part)
        else:
            netlist, _reader = load_circuit(self._sources, file, self._libraries())
            if is_part:
                netlist = Netlist.parse(netlist.to_bytes(), path=netlist.path, has_title=False)
        if len(netlist.to_bytes()) > _MOST_OUTLINED:
            raise UserInputError(
                msg("{name} is larger than {limit} MB, so its outline is not read.", name=file.name,
                    limit=_MOST_OUTLINED // 1_000_000),
                file=file,
                error_type="too_large",
            )  # fmt: skip
        return sections_of(netlist)

    def _nodes(self, file: Path) -> Mapping[str, int]:
        netlist, _reader = load_circuit(self._sources, file, self._libraries())
        found: dict[str, int] = {}
        for element in netlist.elements:
            for node in element.nodes if not element.scope else ():
                found.setdefault(node.text, element.line)
        return found

    def _parts(self, file: Path) -> CircuitParts:
        netlist, _reader = load_circuit(self._sources, file, self._libraries())
        top = [element for element in netlist.elements if not element.scope]
        return CircuitParts(
            nodes=frozenset(node.text for element in top for node in element.nodes),
            elements=frozenset(element.name for element in top),
            measures=tuple(measure.name for measure in netlist.measures),
        )

    def _rounds(self, root: Path, circuit: Path | None) -> DesignRounds | None:
        from application.design.rounds import read_design_rounds

        try:
            project = self._projects.open(root)
            try:
                return read_design_rounds(project, circuit)
            finally:
                project.close()
        except CircuitAIError:  # no project yet, or a folder that is read-only
            return None

    def _goal_book(self, root: Path) -> GoalBook | None:
        from application.design.circuit_goals import GoalBook

        try:
            project = self._projects.open(root)
            try:
                return GoalBook(project)
            finally:
                project.close()
        except CircuitAIError:  # no project: a read-only folder
            return None

    def _ask_of(self, root: Path, circuit: Path, goals: tuple[DesignGoal, ...]) -> None:
        from application.design.circuit_goals import ask_of

        project = self._projects.open(root, create=True)
        try:
            ask_of(project, circuit, goals)
        finally:
            project.close()

    def _follow_move(self, root: Path, old: Path, new: Path) -> None:
        from application.design.circuit_goals import follow_move
        from application.project import saved_setups

        source, target = place_in(root, old), place_in(root, new)
        if source and target and paths.is_project(root):
            project = self._projects.open(root)
            try:
                follow_move(project, source, target)
                saved_setups.follow_move(project, source, target)
            finally:
                project.close()

    async def _met(self, result: ResultSummary, goals: Sequence[DesignGoal]) -> tuple[int, int] | None:
        """How many goals a result meets, and of how many it can judge; None when it answers none of them."""
        judged = [each for each in await self.verdicts(result, goals) if each.is_judged]
        if all(each.reason is not None for each in judged):
            return None
        return sum(each.verdict.met for each in judged), len(judged)

    def _new_circuit(self, root: Path, name: str) -> Path:
        name = name.strip()
        if not name or name.startswith(".") or _BAD_NAME.search(name):
            raise UserInputError(
                msg("{name} cannot be used as a file name.", name=repr(name)),
                advice=msg("Use letters, digits, _ and -, for example filter.cir."),
                error_type="bad_path",
            )
        if Path(name).suffix.lower() not in _TEXT_SUFFIXES:
            name += ".cir"
        path = root / name
        if os.path.lexists(path):
            raise UserInputError(
                msg("The file {name} already exists.", name=name), advice=msg("Choose another name.")
            )
        project = self._projects.open(root)
        try:
            project.write(path, _NEW_CIRCUIT.format(title=path.stem).encode())
        finally:
            project.close()
        return path


def _folder_of(real: Path) -> Path:
    return paths.project_root_of(real) or real.parent if real.is_file() else real


def _check_folder(folder: Path, place: Path) -> None:
    if not folder.is_dir():
        raise UserInputError(
            msg("There is no folder {path}.", path=place),
            advice=msg("Choose a project folder, or one of its files."),
            error_type="file_not_found",
        )
    if folder in (Path(folder.anchor), Path.home()) and not paths.is_project(folder):
        raise UserInputError(
            msg("{path} is too large for a project; choose a subfolder.", path=folder),
            advice=msg("Choose a folder inside it."),
            error_type="bad_path",
        )


def _listing(folder: Path, most: int | None = None) -> Listing:
    try:
        with os.scandir(folder) as found:
            # Texts only: many thousand objects at once would make the collector hold every thread.
            rows = [row for entry in found if (row := _row_of(entry)) is not None]
    except OSError:
        return Listing(entries=(), hidden=0)
    rows.sort()
    shown = rows if most is None else rows[:most]
    return Listing(entries=tuple(_entry_of(folder, row) for row in shown), hidden=len(rows) - len(shown))


def _row_of(entry: os.DirEntry[str]) -> str | None:
    """Its place in the order, NUL, its name: what sorts as people sort; None for what is not shown."""
    if entry.name.startswith(".") or _TEMPORARY.search(entry.name):
        return None
    # A linked folder could lead in a circle, or out of the project.
    if entry.is_symlink() and entry.is_dir():
        return None
    is_file = not entry.is_dir(follow_symlinks=False)
    return f"{is_file:d}{_natural(entry.name)}\0{entry.name}"


def _entry_of(folder: Path, row: str) -> Entry:
    name = row.rpartition("\0")[2]
    return Entry(name=name, path=folder / name, kind="file" if row.startswith("1") else "folder")


def _natural(name: str) -> str:
    """A key that puts run2 before run10. One text: comparing tuples of thousands would hold every thread."""
    return _DIGITS.sub(lambda digits: digits[0].zfill(_LONGEST_NUMBER), name.casefold())


def _files(folder: Path) -> Iterator[Path]:
    waiting = [folder]
    while waiting:
        entries = _listing(waiting.pop()).entries
        yield from (entry.path for entry in entries if entry.kind == "file")
        waiting.extend(entry.path for entry in reversed(entries) if entry.kind == "folder")


def _digests(root: Path) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in islice(_files(root), _MOST_HASHED):
        digest = _digest(path)
        if digest is not None:
            found[path.relative_to(root).as_posix()] = digest
    return found


def _digest(file: Path) -> str | None:
    if file.suffix.lower() not in _TEXT_SUFFIXES:
        return None
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return None
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None
