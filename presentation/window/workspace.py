"""What the panels of a window share: the open project, its circuits, buffers, runs and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject, pyqtSignal

if TYPE_CHECKING:
    from application.app import Application
    from presentation.window.icons import Icons
    from presentation.window.language import LanguageManager
    from presentation.window.theme import ThemeManager


class Buffers(Protocol):
    """The editor's open files, for those who have to respect unsaved text."""

    def save_all(self) -> bool:
        """Write every unsaved buffer (the old content is kept); False when one could not be."""
        ...

    def is_dirty(self, path: Path) -> bool:
        """Whether a buffer of this file holds unsaved text."""
        ...

    def show(self, path: Path, line: int | None = None) -> None:
        """Open a file (or bring it to the front), at a line from 1."""
        ...


class Workspace(QObject):
    """The open project of one window, and what happens in it. Signals carry plain values."""

    project_opened = pyqtSignal(object)
    """root: Path"""
    project_closed = pyqtSignal()
    main_circuit_changed = pyqtSignal(object)
    """Path or None"""
    file_changed = pyqtSignal(object)
    """path: Path; something on the disk is another than before (made, changed, removed)"""
    file_activated = pyqtSignal(object, object)
    """path: Path, line: int | None; somebody wants to see a file"""
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
        self.buffers: Buffers | None = None
        """Set by the editor."""


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
