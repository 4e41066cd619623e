"""Running one study of a circuit at a time: how far it is, and what was kept, also of one stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from application.app import Application
from application.ports.events import OptimizationProgressed, StudyProgressed
from domain.studies.setup import SetupKind, StudySetup
from presentation.progress_words import progress_of
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, internal_error
from shared.setting import to_plain
from shared.ulid import new_ulid
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from domain.studies.optimization import OptimizationResult
    from domain.studies.study import StudyResult


class StudyWork(QObject):
    """The studies of one page."""

    state_changed = pyqtSignal()
    """one begins or has ended"""
    progressed = pyqtSignal(object)
    """`presentation.progress_words.Progress`"""
    seen = pyqtSignal(str, object)
    """kind, `StoredStudy`: what came so far, where somebody looks"""
    kept = pyqtSignal(str, object)
    """kind, path: a result is stored; also of a study that was stopped"""
    failed = pyqtSignal(str, object)
    """kind, CircuitAIError"""

    def __init__(
        self,
        services: WindowServices,
        app: Application,
        circuit: Path,
        parent: QWidget,
    ) -> None:
        """`parent`: the page; what came so far is made up for it only while it is seen."""
        super().__init__(parent)
        self._page = parent
        self._services = services
        self._app = app
        self._circuit = circuit
        self._scope = f"study {id(self)}"
        self._key = ""
        self._started = 0.0
        self.running: SetupKind | None = None

    def start(self, kind: SetupKind, document: Mapping[str, Any], setup: StudySetup) -> None:
        """Run the study that a specification asks for, unless one is running; `setup` is kept with it."""
        if self.running is None:
            self.running = kind
            self._services.start(self._run(kind, document, to_plain(setup)), kind="study", scope=self._scope)
            self.state_changed.emit()

    def stop(self) -> None:
        """Stop it; what was simulated is kept."""
        if self.running is not None:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop study", scope=f"stop {self._scope}")

    async def _run(self, kind: SetupKind, document: Mapping[str, Any], setup: Mapping[str, Any]) -> None:
        self._key, self._started = new_ulid(), time.monotonic()
        events = self._app.program.events
        ends = [
            events.subscribe(StudyProgressed, self._on_progress),
            events.subscribe(OptimizationProgressed, self._on_progress),
        ]
        kept: list[Path] = []
        error: CircuitAIError | None = None
        try:
            result = await self._simulate(
                kind, document, setup, lambda partial: kept.append(partial.result_path)
            )
            kept.append(result.result_path)
        except CircuitAIError as problem:
            error = problem
        except Exception as problem:
            error = CircuitAIError(internal_error(problem))
            raise
        finally:
            for end in ends:
                end()
            self.running = None
            self.state_changed.emit()
            if kept:
                self.kept.emit(kind, kept[-1])
            elif error is not None:
                self.failed.emit(kind, error)

    async def _simulate(
        self,
        kind: SetupKind,
        document: Mapping[str, Any],
        setup: Mapping[str, Any],
        keep: Callable[[StudyResult | OptimizationResult], None],
    ) -> StudyResult | OptimizationResult:
        from application.optimization.optimizing import OptimizeRequest
        from application.studies.studying import StudyRequest
        from application.studies.under_way import Watcher
        from domain.studies.study_spec import read_study_spec

        spec = await off_loop(read_study_spec, document)
        if kind == "tune":
            raise ValueError(kind)  # its page has a worker of its own
        watcher = Watcher(looks=self._page.isVisible, show=lambda study: self.seen.emit(kind, study))
        if kind == "optimize":
            search = OptimizeRequest(circuit=self._circuit, spec=spec, call_id=self._key, setup=setup)
            return await self._app.design.optimize(search, on_stopped=keep, watcher=watcher)
        request = StudyRequest(circuit=self._circuit, kind=kind, spec=spec, call_id=self._key, setup=setup)
        return await self._app.simulation.study(request, on_stopped=keep, watcher=watcher)

    def _on_progress(self, event: StudyProgressed | OptimizationProgressed) -> None:
        if event.key == self._key:
            self.progressed.emit(progress_of(event, time.monotonic() - self._started))
