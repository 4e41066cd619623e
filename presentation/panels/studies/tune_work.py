"""A circuit kept on a warm worker while somebody moves values under sliders."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal

from application.app import Application
from presentation.panels.studies.live_work import LiveWork
from presentation.ui.workspace import WindowServices
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.optimization.tuning import LiveTuning


class TuneWork(LiveWork):
    """The tuning of one page. It is ordered by a specification, and wished for are values by name."""

    begun = pyqtSignal(object, object, object)
    """StudySpec, the values as written by name, the `TunedPoint` there"""

    def __init__(self, services: WindowServices, app: Application, circuit: Path, parent: QObject) -> None:
        super().__init__(services, app, parent, kind="tune")
        self._circuit = circuit

    async def loading(self, order: Mapping[str, Any]) -> AbstractAsyncContextManager[LiveTuning]:
        from application.optimization.tuning import TuneRequest
        from domain.studies.study_spec import read_study_spec

        self._spec = await off_loop(read_study_spec, order)
        return self._app.design.tune(TuneRequest(circuit=self._circuit, spec=self._spec))

    async def begin(self, live: LiveTuning) -> None:
        point = await self.timed(live.evaluate({}))
        self.begun.emit(self._spec, dict(live.nominals), point)

    async def fulfil(self, live: LiveTuning, wish: Mapping[str, float]) -> None:
        point = await self.timed(live.evaluate(dict(wish)))
        if point is not None:
            self.evaluated.emit(point)
