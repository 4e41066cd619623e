"""How each circuit's results are looked at: traces, zoom, custom measurements; no circuit has another's."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from application.project.window_state import CircuitView


class PlotViews(QObject):
    """The views of the open project's circuits."""

    changed = pyqtSignal()
    """somebody looks at a circuit in another way: worth keeping"""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._views: dict[Path | None, CircuitView] = {}
        self._moves: list[tuple[datetime, Path, Path]] = []

    def clear(self) -> None:
        """Forget them all: another project's circuits have views of their own."""
        self._views.clear()
        self._moves.clear()

    def place_of(self, circuit: Path, created: str) -> Path:
        """Where the circuit of a run is now; `created` is the run's time (ISO 8601, UTC).

        A file that later took a name that had become free is another circuit.
        """
        if self._moves:
            made = datetime.fromisoformat(created)
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
