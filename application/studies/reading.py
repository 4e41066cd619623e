"""Stored studies read again: the document with its figures, and the rows of its runs.

A result may have come with somebody else's project: what is no figure where one belongs is left out.
"""

from __future__ import annotations

import csv
import io
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.circuit.numbers import place_of
from domain.simulation.goals import DesignGoal
from shared.errors import UserInputError
from shared.message import Message, message_from_plain, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import ResultStore

_log = logging.getLogger(__name__)
MOST_ROWS = 100_000
_FIXED = ("run", "corner", "label", "goals_met", "state", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """One run of a stored study."""

    run: int
    corner: str = ""
    label: str = ""
    parameters: Mapping[str, float]
    metrics: Mapping[str, float]
    """NaN for what could not be measured."""
    is_ok: bool
    goals_met: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A study as it was kept."""

    path: Path
    """Its result.json."""
    kind: str
    """As the command line calls it: ``montecarlo``, ``optimize`` ..."""
    circuit: Path
    created: str
    """ISO 8601, UTC."""
    is_stopped: bool
    is_under_way: bool = False
    """Its runs go on: this is what came so far, and no file has it yet."""
    is_ours: bool
    """Run by this user, and not changed since."""
    netlist_sha256: str
    parameters: tuple[str, ...]
    units: Mapping[str, str]
    goals: tuple[DesignGoal, ...]
    rows: tuple[StoredRow, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    """All that its result.json says."""
    worst_first: tuple[StoredRow, ...] = ()
    """The rows: those that failed, then by the least margin; without goals by the distance from the mean of
    the first metric."""
    middles: Mapping[str, float] = field(default_factory=dict)
    """Of each metric the median of its amounts; what no run has is left out."""
    failed: int = 0
    """So many rows failed."""

    @property
    def scattering(self) -> tuple[str, ...] | None:
        """The parameters whose deviation is a share of their value; None of a study that does not tell."""
        found = self.document.get("scattering")
        return tuple(map(str, found)) if isinstance(found, list) else None

    def part(self, *keys: str) -> Mapping[str, Any]:
        """A part of the document by its keys; nothing where it has none."""
        found: Any = self.document
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def figure(self, *keys: str) -> float:
        """A number of the document by its keys; NaN where it has none."""
        return figure_of(self.part(*keys[:-1]).get(keys[-1]))

    def texts(self, name: str) -> tuple[Message, ...]:
        """What it says in words: ``assumed``, ``warnings``, ``errors``."""
        found = [message_from_plain(each) for each in _list(self.part("texts").get(name))]
        return tuple(each for each in found if each is not None)

    def row(self, run: int) -> StoredRow | None:
        return next((row for row in self.rows if row.run == run), None)

    def margin(self, row: StoredRow) -> float | None:
        """The share by which the goal that is met least is met by a run, negative where it is missed; None
        without goals, and where a metric is missing."""
        musts = [goal for goal in self.goals if goal.weight == "must"] or list(self.goals)
        found = [goal.margin(row.metrics.get(goal.metric, math.nan)) for goal in musts]
        return min((each for each in found if each is not None), default=None) if None not in found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStudy:
    """The use case."""

    results: ResultStore

    async def __call__(self, result: Path) -> StoredStudy:
        """Read a study's result.json and its table. Raises UserInputError when it is none."""
        return await off_loop(self.read, result)

    async def table(self, result: Path) -> bytes:
        """The rows as they are stored: a table for spreadsheets. Raises UserInputError when it is gone."""
        return await off_loop(self.results.study_rows, result)

    def read(self, result: Path) -> StoredStudy:
        """The same, blocking."""
        document = self.results.study_document(result)
        kind, netlist = document.get("study"), document.get("netlist")
        if document.get("kind") != "study" or not isinstance(kind, str) or not isinstance(netlist, Mapping):
            raise UserInputError(
                msg("{path} is not a study.", path=result),
                advice=msg("Specify the result of a study."),
                file=result,
                error_type="bad_result",
            )
        units = {str(name): str(unit) for name, unit in _members(document.get("units")).items()}
        study = StoredStudy(
            path=result,
            kind=kind,
            circuit=Path(str(netlist.get("path", ""))),
            created=str(document.get("created", "")),
            is_stopped=document.get("stopped") is True or document.get("status") == "cancelled",
            is_ours=self.results.origin_of(result) == "here",
            netlist_sha256=str(netlist.get("sha256", "")),
            parameters=tuple(str(name) for name in _list(document.get("parameters"))),
            units=units,
            goals=tuple(_goals(document.get("goals"), units)),
            rows=tuple(islice(_rows(self.results.study_rows(result), units), MOST_ROWS)),
            document=document,
        )
        return arranged(study)


def arranged(study: StoredStudy) -> StoredStudy:
    """The same with what its rows are ordered, counted and typeset by: of thousands it takes a while."""
    return replace(
        study,
        worst_first=tuple(_worst_first(study)),
        middles=dict(_middles(study)),
        failed=sum(not row.is_ok for row in study.rows),
    )


def _worst_first(study: StoredStudy) -> list[StoredRow]:
    if study.goals:
        margins = {row.run: study.margin(row) for row in study.rows}

        def rank(row: StoredRow) -> tuple[bool, float]:
            margin = margins[row.run]
            return (row.is_ok and margin is not None, 0.0 if margin is None else margin)

        return sorted(study.rows, key=rank)
    metric = next(iter(study.units), "")
    mean, sigma = (study.figure("statistics", metric, key) for key in ("mean", "sigma"))

    def distance(row: StoredRow) -> tuple[bool, float]:
        value = row.metrics.get(metric, math.nan)
        away = abs(value - mean) / sigma if sigma > 0 else 0.0
        return (row.is_ok, -away if math.isfinite(away) else -math.inf)

    return sorted(study.rows, key=distance)


def _middles(study: StoredStudy) -> Iterator[tuple[str, float]]:
    for metric in study.units:
        values = sorted(
            abs(v) for row in study.rows if not math.isnan(v := row.metrics.get(metric, math.nan))
        )
        if values:
            yield metric, values[len(values) // 2]


def figure_of(value: object) -> float:
    """A number that is one; NaN for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return math.nan


def figures_of(value: object) -> dict[str, float]:
    """The numbers of an object by their names."""
    found = {str(name): figure_of(each) for name, each in _members(value).items()}
    return {name: each for name, each in found.items() if not math.isnan(each)}


def _members(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _goals(value: object, units: Mapping[str, str]) -> Iterator[DesignGoal]:
    for item in _list(value):
        found = _members(item)
        low, high = (figure_of(found.get(key)) for key in (">=", "<="))
        metric = str(found.get("metric", ""))
        if metric and not (math.isnan(low) and math.isnan(high)):
            yield DesignGoal(
                metric=metric,
                expression="",
                unit=units.get(metric, ""),
                minimum=None if math.isnan(low) else low,
                maximum=None if math.isnan(high) else high,
                weight="wish" if found.get("weight") == "wish" else "must",
            )


def _rows(table: bytes, units: Mapping[str, str]) -> Iterator[StoredRow]:
    lines = _lines(table)
    head = next(lines, [])
    columns = {
        (f"{metric} [{unit}]" if unit and unit != "1" else metric): metric for metric, unit in units.items()
    }
    # Parameters stand before metrics, and may be called as one of them is.
    places = {name: place for place, name in reversed(list(enumerate(head))) if name in _FIXED}
    last: dict[str, int] = {name: place for place, name in enumerate(head)}
    metrics = {metric: last[column] for column, metric in columns.items() if column in last}
    taken = {*places.values(), *metrics.values()}
    parameters = {name: place for place, name in enumerate(head) if place not in taken}

    def text(line: Sequence[str], name: str) -> str:
        place = places.get(name)
        return line[place] if place is not None and place < len(line) else ""

    for line in lines:
        run = place_of(text(line, "run"))
        if run is None:
            continue
        met = text(line, "goals_met")
        yield StoredRow(
            run=run,
            corner=text(line, "corner"),
            label=text(line, "label"),
            parameters={
                name: value for name, at in parameters.items() if not math.isnan(value := _cell(line, at))
            },
            metrics={name: _cell(line, at) for name, at in metrics.items()},
            is_ok=text(line, "state") == "ok",
            goals_met={"True": True, "False": False}.get(met),
            reason=text(line, "reason"),
        )


def _lines(table: bytes) -> Iterator[list[str]]:
    """Those up to one that no table has: with a field of 128 KB, or with an end of line within it."""
    try:
        yield from csv.reader(io.StringIO(table.decode("utf-8", errors="replace")))
    except csv.Error as error:
        _log.warning("The rows of a study are read up to one that is damaged: %s", error)


def _cell(line: Sequence[str], place: int) -> float:
    try:
        value = float(line[place])
    except (ValueError, IndexError):
        return math.nan
    return value if math.isfinite(value) else math.nan
