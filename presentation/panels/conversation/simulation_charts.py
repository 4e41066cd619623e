"""The small pictures on the cards of simulations: read off the loop one by one, the newest first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from PyQt6.QtCore import QObject, pyqtSignal

from application.groups.simulation import Simulation
from presentation.panels.conversation.charts import Chart, stored_chart
from presentation.panels.conversation.items import Item, SimulationCard, Step, Steps, result_folder
from presentation.ui.workspace import WindowServices
from shared import paths

_MOST = 40
"""Pictures that are kept, of the newest runs of what is shown."""


class SimulationCharts(QObject):
    """Puts pictures on cards; `made` has the key of a card whose picture is there now."""

    made = pyqtSignal(str)

    def __init__(self, services: WindowServices, simulation: Simulation, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._simulation = simulation
        self._charts: dict[str, Chart | None] = {}
        self._wanted: dict[str, SimulationCard] = {}
        self._is_reading = False
        services.workspace.project_closed.connect(self._forget)

    def on(self, item: Item) -> Item:
        """The item with the pictures there are; those that are missing are read."""
        if isinstance(item, Steps):
            return replace(item, items=tuple(cast("Step", self.on(each)) for each in item.items))
        if not isinstance(item, SimulationCard) or item.state != "done" or not item.path:
            return item
        if item.key in self._charts:
            return replace(item, chart=self._charts[item.key])
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
        self._charts.clear()

    async def _read(self, root: Path) -> None:
        try:
            while self._wanted and root == self._services.workspace.root:
                key, card = self._wanted.popitem()
                result = result_folder(root, card) / paths.RESULT_FILE
                self._charts[key] = await stored_chart(self._simulation.waveforms, result)
                while len(self._charts) > _MOST:
                    del self._charts[next(iter(self._charts))]
                if self._charts.get(key) is not None:
                    self.made.emit(key)
        finally:
            self._is_reading = False
