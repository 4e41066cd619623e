"""What the panels of a window share: the open project, its circuits, buffers, runs and results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from PyQt6.QtCore import QObject, pyqtSignal

from application.project.window_state import CircuitView
from presentation.ui.signals import Signal, signal
from shared.local_time import local_time

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun
    from application.goal_checks.previewing import ChangePreview
    from application.ports.simulation import GrowingData
    from application.project.goals_watch import Standing
    from application.project.unsaved_texts import UnsavedText
    from application.simulation.waveforms import StoredFigures
    from application.studies.idle_yield import CircuitYield
    from domain.simulation.description import Observed
    from domain.simulation.result import SimulationResult
    from domain.simulation.retention import CutOff
    from domain.simulation.steps_so_far import StepsSoFar
    from presentation.actions.shortcuts import Shortcuts
    from presentation.ui.icons import Icons
    from presentation.ui.language import LanguageManager
    from presentation.ui.previews import Previews
    from presentation.ui.theme import ThemeManager
    from shared.errors import CircuitAIError
    from shared.message import Message


class PlotViews(QObject):
    """The views of the open project's circuits."""

    changed = pyqtSignal()
    """somebody looks at a circuit in another way: worth keeping"""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.knows_plot = False
        """The user has zoomed with the mouse, and needs no hint any more."""
        self._views: dict[Path | None, CircuitView] = {}
        self._moves: list[tuple[datetime, Path, Path]] = []

    def clear(self) -> None:
        """Forget them all: another project's circuits have views of their own."""
        self._views.clear()
        self._moves.clear()

    def place_of(self, circuit: Path, created: str) -> Path:
        """Where the circuit of a run is now; `created` is the run's time (ISO 8601, UTC).

        A file that later took a name that had become free is another circuit. A time that can't be read, in a
        result of others, is before any move here.
        """
        if self._moves:
            made = local_time(created) or datetime.min.replace(tzinfo=UTC)
            for moved, old, new in self._moves:
                if made <= moved and circuit.is_relative_to(old):
                    circuit = new / circuit.relative_to(old)
        return circuit

    def of(self, circuit: Path | None) -> CircuitView:
        """The view of a circuit, to be changed in place; of None, that of data without a circuit."""
        return self._views.setdefault(circuit, CircuitView())

    def tell(self) -> None:
        self.changed.emit()

    def bring_back(self, root: Path, views: Mapping[str, CircuitView]) -> None:
        """Those of an earlier start, by the circuits' places in the project."""
        for place, view in views.items():
            self._views.setdefault(root / place, deepcopy(view))

    def kept(self, root: Path) -> dict[str, CircuitView]:
        """A copy of those that are worth keeping, by the circuits' places in the project."""
        return {
            path.relative_to(root).as_posix(): deepcopy(view)
            for path, view in self._views.items()
            if path is not None and path.is_relative_to(root) and view != CircuitView()
        }

    def follow(self, old: Path, new: Path) -> None:
        """A file or folder has another place: the views of its circuits go along."""
        self._moves.append((datetime.now(UTC), old, new))
        for path in [path for path in self._views if path is not None and path.is_relative_to(old)]:
            self._views[new / path.relative_to(old)] = self._views.pop(path)


DragPhase = Literal["taken", "held", "let go", "given up"]
"""What a hand does with the number it moves."""

Probed = Literal["usual", "voltage", "current", "power", "reference", "alone"]
"""What is plotted of a node or an element; "reference" makes it the node others are measured against, "alone"
takes all other traces away."""

Place = tuple[int, int, int]
"""The caret's line and column and the first line that is seen, from 1."""


class Buffers(Protocol):
    """The editor's open files, for those who have to respect unsaved text."""

    def save_all(self) -> bool:
        """Write every unsaved buffer (the old content is kept); False when one could not be."""

    async def save_unsaved(self) -> bool:
        """The same without holding the loop: what everybody uses who can wait."""

    def is_dirty(self, path: Path) -> bool:
        """Whether a buffer of this file holds unsaved text."""

    def show(self, path: Path, line: int | None = None) -> None:
        """Open a file (or bring it to the front), at a line from 1."""

    def open_files(self) -> tuple[Path, ...]:
        """The files of the tabs, from left to right."""

    def open_texts(self) -> Mapping[Path, str]:
        """What the editor has of each open file, unsaved changes included."""

    def front(self) -> tuple[Path, int, int, str] | None:
        """File, line and column (from 1) and selected text of the tab in front; None without one."""

    def selected_lines(self) -> tuple[Path, int, int] | None:
        """File, first and last line (from 1) of what is selected in the tab in front; None without."""

    def unsaved(self) -> tuple[Path, ...]: ...

    def close_all(self) -> None:
        """Close every tab without a question (whoever calls has asked)."""

    def unsaved_marks(self) -> Mapping[Path, Hashable]:
        """Of each file with unsaved text something that is another when the text is."""

    def unsaved_text(self, path: Path) -> UnsavedText:
        """The text of one of them as it is now. Raises KeyError."""

    def bring_back(self, kept: UnsavedText, done: Callable[[], object]) -> None:
        """Open a file with the unsaved text of an earlier start, behind the files that are being opened.

        `done` is called when the text is there; until then (and if the file can't be opened) it is not.
        """

    async def all_opened(self) -> None:
        """Wait until every file is open that was asked for before."""

    def places(self) -> Mapping[Path, Place]: ...

    def set_places(self, places: Mapping[Path, Place]) -> None:
        """Where one was in files that are opened from now on, if no line is named."""


class NewestRuns(Protocol):
    """What the newest runs of circuits have found, beside their texts as they stand in the editor."""

    async def of(self, file: Path) -> Observed | None:
        """The operating point of the circuit in a file, or of the one a run is meant for; None without."""

    async def run_of(self, circuit: Path) -> tuple[StoredFigures, bool] | None:
        """A circuit's newest run, and whether the text was another then; None for one without a run."""


class Figure(Protocol):
    """A value with its name, SI."""

    @property
    def name(self) -> Message: ...
    @property
    def value(self) -> float: ...
    @property
    def unit(self) -> str: ...


class Seen(Protocol):
    """The plot, for those who tell of a signal elsewhere."""

    async def figures(self, circuit: Path, expression: str) -> Sequence[Figure]:
        """What an expression comes to in the span of a circuit's plot that is seen; none where it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """What the status bar says of a conversation's run; a number that is not known is None."""

    state: Literal["idle", "running", "waiting", "stopping", "error"] = "idle"
    text: Message | None = None
    """In words: "Checkpoint 4: waiting for you"."""
    round_number: int | None = None
    most_rounds: int | None = None
    tokens: int | None = None
    context_share: float | None = None
    """0..1 of the model's window in use."""


class Workspace(QObject):
    """The open project of one window, and what happens in it: facts that panels tell each other."""

    project_opened: Signal[Path] = signal(object)
    """Its folder."""
    project_closed: Signal[[]] = signal()
    opening_changed: Signal[[]] = signal()
    """a project begins to open, or is open with its files, or could not be opened: `opening`"""
    main_circuit_changed: Signal[Path | None] = signal(object)
    main_circuit_chosen: Signal[Path] = signal(object)
    """Make it the main circuit (an accepted design's, say)"""
    main_circuit_needed: Signal[[]] = signal()
    """Somebody wants to run, and it is not known which of the circuits: ask, and then run"""
    file_changed: Signal[Path] = signal(object)
    """Something on the disk is another than before (made, changed, removed)"""
    change_made: Signal[Path, str] = signal(object, str)
    """A model changed this file; the id of the operation, whose pieces can be taken back"""
    piece_turned: Signal[str] = signal(str)
    """A place of such a change was undone or done again, in the editor: the id of the operation"""
    file_activated: Signal[Path, int | None] = signal(object, object)
    """Somebody wants to see a file, at a line from 1."""
    file_offered: Signal[Path] = signal(object)
    """A file comes to the front of the editor; the keyboard stays where it is"""
    text_checked: Signal[Path, str] = signal(object, str)
    """A file and what the editor has of it, unsaved changes included; some time after somebody wrote"""
    file_shown: Signal[Path | None] = signal(object)
    """The editor's front tab is another (None: no file is open). From the editor"""
    goals_changed: Signal[Path] = signal(object)
    """Other things are asked of this circuit"""
    file_moved: Signal[Path, Path] = signal(object, object)
    """Old, new: a file (or a folder) has another name now; its tab, cursor and history stay"""
    analysis_changed: Signal[str | None] = signal(object)
    """The analysis the next run is limited to, see `analysis`"""
    changes_accepted: Signal[[]] = signal()
    """The files as they stand are the accepted state from now on: no file is marked as changed"""
    agent_status_changed: Signal[AgentStatus] = signal(object)
    """From the conversation, for the status bar"""
    mode_switch_requested: Signal[[]] = signal()
    """Free work or workflow, the other one; for the conversation"""
    import_wanted: Signal[Path] = signal(object)
    """A file of another program, to be imported"""
    design_requested: Signal[str] = signal(str)
    """A sentence to be designed from, for the conversation; from the welcome page"""
    round_wanted: Signal[str, int] = signal(str, int)
    """The design of a conversation is to go back to this round"""
    error_occurred: Signal[CircuitAIError | Message] = signal(object)
    """What a person has to know, for the status bar"""
    command_wanted: Signal[str] = signal(str)
    """the name of one of the window's commands, from a pane that offers it"""
    run_requested: Signal[[]] = signal()
    """F5, the run button: the circuit in front, see `run_target`"""
    main_run_requested: Signal[[]] = signal()
    """Ctrl+F5: the main circuit, whatever is in front"""
    circuit_run_requested: Signal[Path] = signal(object)
    """This one, whatever is in front (a card, a result that is out of date)"""
    analysis_missing: Signal[Path] = signal(object)
    """It was to be run, and asks for no analysis: offer a way on"""
    run_target_changed: Signal[Path | None] = signal(object)
    """F5 means another circuit"""
    run_started: Signal[Path] = signal(object)
    run_progressed: Signal[float] = signal(float)
    """0..1"""
    run_stepped: Signal[StepsSoFar] = signal(object)
    """how far the steps of the circuit that is simulated are: each time one begins or ends"""
    run_paused: Signal[bool] = signal(bool)
    """the run stands still (True), or goes on"""
    run_growing: Signal[Path, GrowingData] = signal(object, object)
    """A circuit, and the data of its run that is under way"""
    run_silent: Signal[Path] = signal(object)
    """A circuit whose run is under way, and has no data to be drawn before its end"""
    run_finished: Signal[SimulationResult | CircuitAIError] = signal(object)
    result_selected: Signal[Path] = signal(object)
    """A result to be shown in the waveforms and measurements"""
    former_circuit_wanted: Signal[Path] = signal(object)
    """A result: its circuit's text as it was run is to be seen"""
    run_made: Signal[Path] = signal(object)
    """A result of a conversation's run: it is offered where the user's own curves are not in its place"""
    run_reported: Signal[Path] = signal(object)
    """A result of a conversation's run, a design's too: what it said is told, whoever's curves are shown"""
    result_waits: Signal[Path] = signal(object)
    """It is not, and waits to be looked at; what follows the newest run has another one"""
    result_offered: Signal[Path] = signal(object)
    """The same for a run that nobody looks at yet: no pane or tab comes to the front"""
    studies_wanted: Signal[Path | None, str, str] = signal(object, str, str)
    """A circuit (None: the one in front, else the main one), a kind of study ("" = the last one) and the
    name of a quantity ("" = none): the page of its studies is to be seen, with that quantity in it"""
    value_dragged: Signal[Path, str, float, DragPhase] = signal(object, str, float, str)
    """A circuit, a quantity of it: a hand in the text has moved it so far from where it was, as a share of
    its slider's length"""
    study_wanted: Signal[Path] = signal(object)
    """A stored study is to be seen on the page of its circuit"""
    study_comparison_wanted: Signal[Path] = signal(object)
    """A stored study is to be compared with the one of its kind that is shown there"""
    trace_wanted: Signal[Path, str] = signal(object, str)
    """A result, an expression: it is to be seen in the plot of this result"""
    probe_wanted: Signal[str, bool] = signal(str, bool)
    """An expression of the circuit in front, to be seen in the plot of its newest result; whether alone"""
    place_probed: Signal[Path, Path, int, str, Probed] = signal(object, object, int, str, str)
    """A file in the editor, it or one it includes, a line there from 1, a name, what of it is to be plotted:
    a node, two with a comma between (their difference), an element, or a pin of the line's element"""
    trace_located: Signal[Path, str] = signal(object, str)
    """A circuit, an expression: where it stands in the text is to be seen"""
    measurement_wanted: Signal[Path, str] = signal(object, str)
    """A result, the name of a figure: it is to be seen in the measurements of this result"""
    words_offered: Signal[str] = signal(str)
    """Put them into the message that is being written; the keyboard goes there"""
    picture_offered: Signal[str, bytes] = signal(str, bytes)
    """name, content: a picture file for the message that is being written"""
    goals_watched: Signal[Standing | None] = signal(object)
    """How the goals stand that were measured in idle time; None: nothing is known of them"""
    cases_judged: Signal[Path, tuple[CaseRun, ...]] = signal(object, object)
    """A run's result and how the goals stand in the kept cases of its circuit"""
    yield_estimated: Signal[CircuitYield | None] = signal(object)
    """The yields of the goals of the circuit in front, found in idle time; None: not known any more"""
    cut_off_found: Signal[tuple[CutOff, ...]] = signal(object)
    """What was under way when the program was killed; what of it is kept is among the results"""
    report_written: Signal[str, Path] = signal(str, object)
    """A design report: the circuit's name, the file"""
    change_previewed: Signal[ChangePreview | None] = signal(object)
    """What a change would do that somebody looks at, to be drawn beside what is; None: nobody does"""
    status_changed: Signal[Message] = signal(object)
    """The left end of the status bar"""
    cursor_moved: Signal[int, int] = signal(int, int)
    """line, column of the editor, from 1"""
    problems_changed: Signal[int, int] = signal(int, int)
    """errors, warnings: of the shown file, and of the last run"""

    def __init__(self) -> None:
        super().__init__()
        self.root: Path | None = None
        self.main_circuit: Path | None = None
        self.opening: Path | None = None
        """The project that is being opened; follows `set_opening`."""
        self.has_circuits = True
        """False when it is known that there is none in the project."""
        self.shown_file: Path | None = None
        """The file of the editor's front tab; follows `file_shown`."""
        self.front_circuit: Path | None = None
        """`shown_file` when it is a circuit."""
        self.run_main_for: set[Path] = set()
        """Circuits without an analysis: who looks at one of them wants F5 to run the main circuit."""
        self._analyses: dict[Path, str] = {}
        self._references: dict[Path, str] = {}
        self.views = PlotViews(self)
        """How each circuit's results are looked at."""
        self.project_closed.connect(self.views.clear)
        self.file_moved.connect(self.views.follow)
        self.export_folder: Path | None = None
        """Where the project's latest export went; None before the first one."""
        self.buffers: Buffers | None = None
        """Set by the editor."""
        self.newest: NewestRuns | None = None
        """Set by the editor."""
        self.seen: Seen | None = None
        """Set by the plot."""
        self.previews: Previews | None = None
        """Set by the window."""
        self.file_shown.connect(self._on_file_shown)
        self.main_circuit_changed.connect(lambda _path: self.run_target_changed.emit(self.run_target))
        self.project_closed.connect(self._forget_runs)
        self.file_moved.connect(self._on_moved)

    @property
    def run_target(self) -> Path | None:
        """The circuit that F5 simulates: the one in front, else the main one."""
        return self.front_circuit or self.main_circuit

    @property
    def reference_node(self) -> str:
        """The node that voltages of `run_target` are plotted against, "" for ground."""
        return "" if self.run_target is None else self._references.get(self.run_target, "")

    def set_reference_node(self, node: str) -> None:
        """Voltages of `run_target` that are probed from now on are measured against this node ("" ground)."""
        if self.run_target is not None:
            self._references[self.run_target] = node

    @property
    def analysis(self) -> str | None:
        """The analysis card the next run of `run_target` is limited to, None for all of them."""
        return self.analysis_of(self.run_target)

    @analysis.setter
    def analysis(self, card: str | None) -> None:
        if self.run_target is not None:
            self.choose_analysis(self.run_target, card)

    def choose_analysis(self, circuit: Path, card: str | None) -> None:
        """Limit the next runs of a circuit to one analysis; None = all of them."""
        if card is None:
            self._analyses.pop(circuit, None)
        else:
            self._analyses[circuit] = card
        self.analysis_changed.emit(card)

    def analysis_of(self, circuit: Path | None) -> str | None:
        """What was chosen for a circuit: SimulationRequest.analysis."""
        return None if circuit is None else self._analyses.get(circuit)

    def _on_moved(self, old: Path, new: Path) -> None:
        """A file or folder has another place: what was chosen for its circuits goes along."""

        def moved(path: Path) -> Path:
            return new / path.relative_to(old) if path.is_relative_to(old) else path

        self._analyses = {moved(path): card for path, card in self._analyses.items()}
        self._references = {moved(path): node for path, node in self._references.items()}
        self.run_main_for = {moved(path) for path in self.run_main_for}

    def _forget_runs(self) -> None:
        self._analyses.clear()
        self._references.clear()
        self.run_main_for.clear()

    def set_opening(self, place: Path | None) -> None:
        """Say which project is being opened; None when it is there."""
        if place != self.opening:
            self.opening = place
            self.opening_changed.emit()

    def set_has_circuits(self, *, has_circuits: bool) -> None:
        if has_circuits != self.has_circuits:
            self.has_circuits = has_circuits
            self.run_target_changed.emit(self.run_target)

    def set_front_circuit(self, circuit: Path | None) -> None:
        """Say whether the front file is a circuit (`shown_file`) or not (None)."""
        if circuit != self.front_circuit:
            self.front_circuit = circuit
            self.run_target_changed.emit(self.run_target)

    def _on_file_shown(self, path: Path | None) -> None:
        self.shown_file = path


class Dressed(Protocol):
    """What has a look and words."""

    def restyle(self) -> None: ...
    def retranslate(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WindowServices:
    """Handed to every panel: what it may use."""

    theme: ThemeManager
    language: LanguageManager
    icons: Icons
    workspace: Workspace
    shortcuts: Shortcuts
    start: Callable[..., object]
    """start(coroutine, *, kind, scope=None): run it as a task; its error is shown, not lost."""

    def with_key(self, text: str, action: str) -> str:
        """A tooltip with the key of an action behind it, where it has one."""
        key = self.shortcuts.shown(action)
        if not key:
            return text
        return f"{text}（{key}）" if self.language.name == "zh" else f"{text} ({key})"

    def dress(self, widget: Dressed) -> None:
        """Have a widget in the theme and the language in force, now and whenever they change."""
        self.theme.changed.connect(widget.restyle)
        self.language.changed.connect(widget.retranslate)
        self.shortcuts.changed.connect(widget.retranslate)
        widget.restyle()
        widget.retranslate()
