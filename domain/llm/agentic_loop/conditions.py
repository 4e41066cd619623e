"""Under which values of parts, sources and temperature each result was measured.

A value that an answer gives under one of them has to stand in a result that was measured so: the run behind
"CL = 330 pF", the sweep with the larger capacitor, the netlist before the second change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from domain.circuit.figures_in_text import figures_in, plain
from domain.llm.agentic_loop.part_values import cards_in, written
from domain.llm.agentic_loop.quantities import column_units
from domain.llm.agentic_loop.rows import (
    RUN,
    UNITS,
    Row,
    Table,
    courses_of,
    numbers,
    study_rows,
)
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_MEASURED = 60
_SAME = 1e-4
_VERDICT = late_pattern(r"\b(?P<how>met|MISSED) \w+ = ")
_DIFFERENCE = late_pattern(r"^@@ ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measured:
    """One result that tells what was measured."""

    text: str
    values: Mapping[str, float]
    """Of parts, sources and what else was set for it, by name in lower case."""
    free: frozenset[str] = frozenset()
    """What was searched, so that it has no one value."""


@dataclass(slots=True)
class Bench:
    """What stands in the circuit while a conversation goes on."""

    values: dict[str, float] = field(default_factory=lambda: {"temp": 27.0})
    _of_runs: dict[str, Mapping[str, float]] = field(default_factory=dict)
    _of_results: list[dict[str, float]] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Take over the cards of a netlist, or those that a difference puts in.

        What it takes out stood there before, though no netlist was read: with what was measured then.
        """
        flat = plain(text[: 4 * _MOST_READ])
        is_difference = _DIFFERENCE.search(flat) is not None
        for name, value, sign in cards_in(flat):
            if sign == "-" and is_difference and name not in self.values:
                for values in self._of_results:
                    values.setdefault(name, value)
            elif sign != "-" and (sign == "+" or not is_difference):
                self.values[name] = value

    def measured(self, text: str, given: Mapping[str, Any]) -> Measured:
        """A result under what stands in the circuit now, and what its call set."""
        values: dict[str, float] = dict(self.values)
        run = RUN.search(text)
        if run is not None and run["run"] in self._of_runs and text.startswith("Data of"):
            values = dict(self._of_runs[run["run"]])
        for key in ("parameters", "set", "values"):
            if isinstance(given.get(key), Mapping):
                values |= {
                    str(name).lower(): value
                    for name, each in given[key].items()
                    if (value := written(str(each))) is not None
                }
        for each in given.get("parameters") or ():
            if isinstance(each, Mapping) and (share := written(str(each.get("tolerance", "")))) is not None:
                values[f"%{str(each.get('name', ' '))[0].lower()}"] = share  # "with 1 % resistors"
        if run is not None:
            self._of_runs.setdefault(run["run"], values)
        searched = given.get("parameters") if given.get("kind") == "optimize" else ()
        free = {
            str(each.get("name", "") if isinstance(each, Mapping) else each).partition(" ")[0].lower()
            for each in searched or ()
        }
        self._of_results.append(values)
        return Measured(text, values, frozenset(free))


def conditioned(measured: Sequence[Measured], others: Sequence[str]) -> tuple[Table, Table]:
    """All that was measured, by what of the circuit was not always the same; and how far each course went.

    A course is one of the things that a study varied, with the other held. `others` are the other results.
    """
    measured = measured[-_MOST_MEASURED:]
    values = [
        {**each.values, **{name: value for name, value, _ in row.varied}}
        for each in measured
        for row in _rows_of(each)
    ]
    seen: dict[str, set[float]] = {}
    for stood in values:
        for name, value in stood.items():
            seen.setdefault(name, set()).add(value)
    contested = {name for name, own in seen.items() if max(own) - min(own) > _SAME * max(map(abs, own))}
    known = {value for text in others for value in numbers(plain(text[:_MOST_READ]))}
    results, courses = Table(others=known, is_of_states=True), Table(is_of_states=True)
    for each in measured:
        rows = _rows_of(each)
        swept = {name for row in rows for name, *_ in row.varied}
        stood_so = tuple(
            (name, value, UNITS.get(name[0], ""))
            for name, value in each.values.items()
            if name in contested - swept - each.free
        )
        results.rows += [replace(row, varied=(*row.varied, *stood_so)) for row in rows]
        courses.rows += [replace(row, varied=(*row.varied, *stood_so)) for row in _courses(each)]
    return results, courses


def _rows_of(measured: Measured) -> list[Row]:
    flat = plain(measured.text[:_MOST_READ])
    if rows := study_rows(flat):
        return rows
    units = frozenset(figure.unit for figure in figures_in(flat)) | {"1"}
    verdicts = {each["how"] for each in _VERDICT.finditer(flat)}
    is_missed = "MISSED" in verdicts if verdicts else None
    return [Row(frozenset(), (), frozenset(numbers(flat)), (), units, is_missed)]


def _courses(measured: Measured) -> Iterator[Row]:
    flat = plain(measured.text[:_MOST_READ])
    units = column_units(flat)
    for held, column, low, high in courses_of(study_rows(flat)):
        unit = frozenset({units.get(column, "")} - {""})
        yield Row(frozenset(), (held,), frozenset({high - low}), (), unit)
