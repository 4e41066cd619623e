"""A circuit kept on a warm worker while somebody moves values: only the newest wish is simulated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal

from application.app import Application
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.optimization.tuning import LiveTuning
    from domain.studies.study_spec import StudySpec


class TuneWork(QObject):
    """The tuning of one page."""

    begun = pyqtSignal(object, object, object)
    """StudySpec, the values as written by name, the `TunedPoint` there"""
    evaluated = pyqtSignal(object)
    """`TunedPoint` of the newest wish"""
    ended = pyqtSignal()
    failed = pyqtSignal(object)
    """CircuitAIError"""

    def __init__(self, services: WindowServices, app: Application, circuit: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._app = app
        self._circuit = circuit
        self._scope = f"tune {id(self)}"
        self._wanted: Mapping[str, float] | None = None
        self._is_wanted = asyncio.Event()
        self._next: Mapping[str, Any] | None = None
        """A specification to begin with when the present tuning has ended."""
        self.is_running = False
        self.run_s = 0.0
        """What the last simulation took, from the wish to its figures."""

    def start(self, document: Mapping[str, Any]) -> None:
        """Load the circuit; what was loaded before is given up."""
        if self.is_running:
            self._next = document
            self.stop()
            return
        self.is_running = True
        self._services.start(self._run(document), kind="tune", scope=self._scope)

    def stop(self) -> None:
        if self.is_running:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind="stop tuning", scope=f"stop {self._scope}")

    def want(self, values: Mapping[str, float]) -> None:
        """Simulate with these values next; a wish that waits is forgotten."""
        self._wanted = dict(values)
        self._is_wanted.set()

    async def _run(self, document: Mapping[str, Any]) -> None:
        from application.optimization.tuning import TuneRequest
        from domain.studies.study_spec import read_study_spec

        error: CircuitAIError | None = None
        try:
            spec = await off_loop(read_study_spec, document)
            request = TuneRequest(circuit=self._circuit, spec=spec)
            async with self._app.design.tune(request) as tuning:
                await self._follow(tuning, spec)
        except CircuitAIError as problem:
            error = problem
        finally:
            self.is_running = False
            again, self._next = self._next, None
            self._wanted = None
            self._is_wanted.clear()
            if again is not None:
                self.start(again)
            elif error is not None:
                self.failed.emit(error)
            else:
                self.ended.emit()

    async def _follow(self, tuning: LiveTuning, spec: StudySpec) -> None:
        started = time.monotonic()
        point = await tuning.evaluate({})
        self.run_s = time.monotonic() - started
        self.begun.emit(spec, dict(tuning.nominals), point)
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            wanted = self._wanted
            if wanted is not None:
                started = time.monotonic()
                point = await tuning.evaluate(wanted)
                self.run_s = time.monotonic() - started
                if point is not None:
                    self.evaluated.emit(point)
