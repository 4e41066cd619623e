"""What the panels of a window share: the open project, its circuits, buffers, runs and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from PyQt6.QtCore import QObject, pyqtSignal

if TYPE_CHECKING:
    from application.app import Application
    from presentation.window.icons import Icons
    from presentation.window.language import LanguageManager
    from presentation.window.theme import ThemeManager
    from shared.message import Message


class Buffers(Protocol):
    """The editor's open files, for those who have to respect unsaved text."""

    def save_all(self) -> bool:
        """Write every unsaved buffer (the old content is kept); False when one could not be."""
        ...

    async def save_unsaved(self) -> bool:
        """The same without holding the loop: what everybody uses who can wait."""
        ...

    def is_dirty(self, path: Path) -> bool:
        """Whether a buffer of this file holds unsaved text."""
        ...

    def show(self, path: Path, line: int | None = None) -> None:
        """Open a file (or bring it to the front), at a line from 1."""
        ...

    def open_files(self) -> tuple[Path, ...]:
        """The files of the tabs, from left to right."""
        ...

    def unsaved(self) -> tuple[Path, ...]:
        """Those with unsaved text."""
        ...

    def close_all(self) -> None:
        """Close every tab without a question (whoever calls has asked)."""
        ...


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
    """The open project of one window, and what happens in it. Signals carry plain values."""

    project_opened = pyqtSignal(object)
    """root: Path"""
    project_closed = pyqtSignal()
    main_circuit_changed = pyqtSignal(object)
    """Path or None"""
    main_circuit_chosen = pyqtSignal(object)
    """path: Path; make it the main circuit (an accepted design's, say)"""
    main_circuit_needed = pyqtSignal()
    """Somebody wants to run, and it is not known which of the circuits: ask, and then run"""
    file_changed = pyqtSignal(object)
    """path: Path; something on the disk is another than before (made, changed, removed)"""
    file_activated = pyqtSignal(object, object)
    """path: Path, line: int | None; somebody wants to see a file"""
    file_offered = pyqtSignal(object)
    """path: Path; a file comes to the front of the editor; the keyboard stays where it is"""
    file_shown = pyqtSignal(object)
    """path: Path | None; the editor's front tab is another (None: no file is open). From the editor"""
    file_moved = pyqtSignal(object, object)
    """old: Path, new: Path; a file (or a folder) has another name now; its tab, cursor and history stay"""
    analysis_changed = pyqtSignal(object)
    """str | None; the analysis the next run is limited to, see `analysis`"""
    changes_accepted = pyqtSignal()
    """The files as they stand are the accepted state from now on: no file is marked as changed"""
    agent_status_changed = pyqtSignal(object)
    """AgentStatus; from the conversation, for the status bar"""
    mode_switch_requested = pyqtSignal()
    """Free work or workflow, the other one; for the conversation"""
    design_requested = pyqtSignal(str)
    """A sentence to be designed from, for the conversation; from the welcome page"""
    error_occurred = pyqtSignal(object)
    """CircuitAIError | Message; what a person has to know, for the status bar"""
    run_requested = pyqtSignal()
    """F5, the run button, a card"""
    run_started = pyqtSignal(object)
    """circuit: Path"""
    run_progressed = pyqtSignal(float)
    """0..1"""
    run_finished = pyqtSignal(object)
    """result: SimulationResult | CircuitAIError"""
    result_selected = pyqtSignal(object)
    """result_path: Path; a result to be shown in the waveforms and measurements"""
    result_offered = pyqtSignal(object)
    """result_path: Path; the same for a run that nobody looks at yet: no pane or tab comes to the front"""
    picture_offered = pyqtSignal(str, bytes)
    """name, content: a picture file for the message that is being written"""
    status_changed = pyqtSignal(object)
    """text: Message; the left end of the status bar"""
    cursor_moved = pyqtSignal(int, int)
    """line, column of the editor, from 1"""
    problems_changed = pyqtSignal(int, int)
    """errors, warnings of the shown file"""

    def __init__(self) -> None:
        super().__init__()
        self.root: Path | None = None
        self.main_circuit: Path | None = None
        self.shown_file: Path | None = None
        """The file of the editor's front tab; follows `file_shown`."""
        self.analysis: str | None = None
        """One of the main circuit's analysis cards, or None for all of them: SimulationRequest.analysis."""
        self.buffers: Buffers | None = None
        """Set by the editor."""
        self.file_shown.connect(self._on_file_shown)

    def _on_file_shown(self, path: Path | None) -> None:
        self.shown_file = path


@dataclass(frozen=True, slots=True)
class WindowServices:
    """Handed to every panel: what it may use."""

    app: Application
    theme: ThemeManager
    language: LanguageManager
    icons: Icons
    workspace: Workspace
    start: Callable[..., object]
    """start(coroutine, *, kind, scope=None): run it as a task; its error is shown, not lost."""
