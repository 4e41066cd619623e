"""The measured figures of stored results, read back from their ``result.json``."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from application.simulation.waveforms import StoredFigures
from domain.simulation.notes import SimulationNote
from domain.simulation.operating_point import OperatingPoint, operating_point_from_plain
from domain.simulation.reach import reach_from_plain
from domain.simulation.result import Quantity, SimulationIssue
from domain.simulation.verdict import stored_verdict
from infrastructure.persistence import confined
from infrastructure.persistence.confined import is_file, names_in, open_regular_file, read_regular_file
from infrastructure.persistence.result_circuit import circuit_of, project_of
from infrastructure.persistence.stored_results import ResultSeals, issues_in, notes_in
from shared import paths
from shared.safe_json import read_bounded

_MAX_BYTES = 16 * 2**20
_MOST_CURVES = 50
_MOST_BESIDE = 200
_MOST_LOOKED_AT = 100


class ResultFigures:
    """Implements application.simulation.waveforms.FigureStore."""

    def __init__(self, seals: ResultSeals | None = None) -> None:
        self._seals = seals or ResultSeals()

    def read(self, source: Path) -> StoredFigures | None:
        path = source / paths.RESULT_FILE if source.is_dir() else source
        if path.name != paths.RESULT_FILE:
            return None
        try:
            content: Any = read_bounded(read_regular_file(path, max_bytes=_MAX_BYTES))
            if content.get("kind") == "study":
                return None
            return StoredFigures(
                result_path=path,
                circuit=circuit_of(content, path.parent),
                netlist_sha256=str(content["netlist"]["sha256"]),
                read_beside=_read_beside(content["netlist"], path.parent),
                number=_number_of(path.parent),
                ok=content["ok"] is True,
                status=str(content.get("status", "")),
                verdict=stored_verdict(
                    content.get("verdict"), ok=content["ok"] is True, has_data=bool(content.get("raw_paths"))
                ),
                reach=reach_from_plain(content.get("reach")),
                is_ours=self._seals.is_ours(content, path.parent),
                created=str(content.get("created", "")),
                metrics=dict(_metrics(content["metrics"])),
                curves=tuple(
                    (str(item["analysis"]), tuple(map(str, item["expressions"][:_MOST_CURVES])))
                    for item in content.get("curves", [])[:_MOST_CURVES]
                ),
                operating_point=_operating_point(content),
                is_stepped=bool(content.get("steps")),
                settings=_settings(content.get("request")),
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            return None

    def said(self, result: Path) -> tuple[tuple[SimulationIssue, ...], tuple[SimulationNote, ...]]:
        try:
            content: Any = read_bounded(read_regular_file(result, max_bytes=_MAX_BYTES))
            return issues_in(content), notes_in(content)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return (), ()

    def previous(self, figures: StoredFigures) -> StoredFigures | None:
        """The newest good result of the same circuit that is older, among the last hundred."""
        folder = figures.result_path.parent
        try:
            names = sorted(name for name in names_in(folder.parent) if name < folder.name)
        except OSError:
            return None
        for name in reversed(names[-_MOST_LOOKED_AT:]):
            found = self.read(folder.parent / name)
            if found is not None and found.ok and found.is_ours and found.circuit == figures.circuit:
                return found
        return None

    def log_tail(self, log: Path, most_bytes: int) -> str:
        try:
            with open_regular_file(_real(log)) as file:
                file.seek(max(os.fstat(file.fileno()).st_size - most_bytes, 0))
                return file.read(most_bytes).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def digest_of(self, circuit: Path) -> str | None:
        try:
            with open_regular_file(_real(circuit)) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return None

    def circuit_text(self, result: Path) -> bytes | None:
        figures = self.read(result)
        if figures is None:
            return None
        place = figures.result_path.with_name(paths.CIRCUIT_FILE)
        try:
            data = read_regular_file(place, max_bytes=_MAX_BYTES)
        except (OSError, ValueError):  # of an earlier version, a large one, somebody else's
            return None
        return data if hashlib.sha256(data).hexdigest() == figures.netlist_sha256 else None


def _real(path: Path) -> Path:
    """Where the user's own path leads; in a project's own folder no link is followed."""
    return path if confined.is_private(path) else Path(os.path.realpath(path))


def _read_beside(netlist: Any, folder: Path) -> dict[Path, str]:
    """The files of the project that a run read beside its circuit; of others nothing is looked at."""
    root, beside = project_of(folder), netlist.get("read_beside")
    found: dict[Path, str] = {}
    for place, digest in islice((beside if isinstance(beside, dict) else {}).items(), _MOST_BESIDE):
        path = PurePosixPath(str(place))
        if root is not None and not path.is_absolute() and ".." not in path.parts and "\0" not in str(place):
            found[root.joinpath(*path.parts)] = str(digest)
    return found


def _settings(request: Any) -> dict[str, str]:
    values = request.get("set") if isinstance(request, dict) else None
    return {str(name): str(value) for name, value in values.items()} if isinstance(values, dict) else {}


def _number_of(folder: Path) -> int:
    """Which result of its project this is, from 1."""
    try:
        names = [name for name in names_in(folder.parent) if name <= folder.name]
    except OSError:
        return 1
    return sum(is_file(folder.parent / name / paths.RESULT_FILE) for name in names)


def _operating_point(content: Mapping[str, Any]) -> OperatingPoint | None:
    """None also for one that somebody else wrote and nobody can read: the other figures stand without it."""
    try:
        return operating_point_from_plain(content.get("operating_point"))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _metrics(content: Mapping[str, Any]) -> list[tuple[str, Quantity]]:
    return [
        (str(name), Quantity(value=_number(item["value"]), unit=str(item["unit"])))
        for name, item in content.items()
    ]


def _number(value: object) -> float:
    """What JSON could not say (NaN, infinity) is null there."""
    return float(value) if isinstance(value, int | float) else math.nan
