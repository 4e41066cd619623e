"""The measured figures of stored results, read back from their ``result.json``."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from application.simulation.waveforms import StoredFigures
from domain.simulation.result import Quantity
from infrastructure.persistence.regular import read_regular_file
from shared import paths

_MAX_BYTES = 16 * 2**20
_MOST_LOOKED_AT = 100


class ResultFigures:
    """Implements application.simulation.waveforms.FigureStore."""

    def read(self, source: Path) -> StoredFigures | None:
        """The figures of a result (its result.json or its folder); None for anything else."""
        path = source / paths.RESULT_FILE if source.is_dir() else source
        if path.name != paths.RESULT_FILE:
            return None
        try:
            content: Any = json.loads(read_regular_file(Path(os.path.realpath(path)), max_bytes=_MAX_BYTES))
            if content.get("kind") == "study":
                return None
            return StoredFigures(
                result_path=path,
                circuit=Path(str(content["netlist"]["path"])),
                netlist_sha256=str(content["netlist"]["sha256"]),
                number=_number_of(path.parent),
                ok=content["ok"] is True,
                metrics=dict(_metrics(content["metrics"])),
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def previous(self, figures: StoredFigures) -> StoredFigures | None:
        """The newest good result of the same circuit that is older, among the last hundred."""
        folder = figures.result_path.parent
        try:
            names = sorted(entry.name for entry in folder.parent.iterdir() if entry.name < folder.name)
        except OSError:
            return None
        for name in reversed(names[-_MOST_LOOKED_AT:]):
            found = self.read(folder.parent / name)
            if found is not None and found.ok and found.circuit == figures.circuit:
                return found
        return None


def _number_of(folder: Path) -> int:
    """Which result of its project this is, from 1."""
    try:
        names = [entry.name for entry in folder.parent.iterdir() if entry.name <= folder.name]
    except OSError:
        return 1
    return sum(os.path.lexists(folder.parent / name / paths.RESULT_FILE) for name in names)


def _metrics(content: Mapping[str, Any]) -> list[tuple[str, Quantity]]:
    return [
        (str(name), Quantity(value=_number(item["value"]), unit=str(item["unit"])))
        for name, item in content.items()
    ]


def _number(value: object) -> float:
    """What JSON could not say (NaN, infinity) is null there."""
    return float(value) if isinstance(value, int | float) else math.nan
