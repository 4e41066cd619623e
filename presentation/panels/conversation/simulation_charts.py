"""The small pictures on the cards of runs and studies: read off the loop one by one, the newest first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from PyQt6.QtCore import QObject, pyqtSignal

from application.groups.simulation import Simulation
from presentation.panels.conversation.card_pictures import stored_picture, with_picture
from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.items import (
    Item,
    OperationCard,
    SimulationCard,
    Step,
    Steps,
    has_result,
)
from presentation.panels.conversation.study_charts import StudyPicture
from presentation.ui.workspace import WindowServices

_MOST = 40
"""Pictures that are kept, of the newest runs of what is shown."""


class SimulationCharts(QObject):
    """Puts pictures on cards; `made` has the key of a card whose picture is there now."""

    made = pyqtSignal(str)

    def __init__(self, services: WindowServices, simulation: Simulation, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._simulation = simulation
        self._pictures: dict[str, Chart | StudyPicture | None] = {}
        self._wanted: dict[str, OperationCard | SimulationCard] = {}
        self._is_reading = False
        services.workspace.project_closed.connect(self._forget)

    def on(self, item: Item) -> Item:
        """The item with the pictures there are; those that are missing are read."""
        if isinstance(item, Steps):
            return replace(item, items=tuple(cast("Step", self.on(each)) for each in item.items))
        if not has_result(item):
            return item
        if item.key in self._pictures:
            return with_picture(item, self._pictures[item.key])
        self._wanted[item.key] = item
        while len(self._wanted) > _MOST:
            del self._wanted[next(iter(self._wanted))]
        root = self._services.workspace.root
        if not self._is_reading and root is not None:
            self._is_reading = True
            self._services.start(self._read(root), kind="draw charts")
        return item

    def _forget(self) -> None:
        self._wanted.clear()
        self._pictures.clear()

    async def _read(self, root: Path) -> None:
        try:
            while self._wanted and root == self._services.workspace.root:
                key, card = self._wanted.popitem()
                self._pictures[key] = await stored_picture(self._simulation.waveforms, root, card)
                while len(self._pictures) > _MOST:
                    del self._pictures[next(iter(self._pictures))]
                if self._pictures.get(key) is not None:
                    self.made.emit(key)
        finally:
            self._is_reading = False
