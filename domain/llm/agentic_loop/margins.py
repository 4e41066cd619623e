"""What an answer works out of the table of facts: margins to what was asked, what one row gives together."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from domain.circuit.figures_in_text import figures_in
from domain.llm.agentic_loop.facts_by_row import rows_named
from domain.llm.agentic_loop.follows import Given, by_law
from domain.llm.agentic_loop.limits import Facts, facts_of, limits_in
from domain.llm.agentic_loop.quantities import column_units
from domain.llm.agentic_loop.rows import Row, Table, stands_in
from shared.late_patterns import late_pattern

_MOST_STATES = 24
_CUT = late_pattern(r"[,，;；、]|\b(?:and|but|to)\b|到|→|->", re.IGNORECASE)
"""Each part may name a row of its own."""
_POWERS = {"V^2": "W", "A^2": "W", "V*A": "W", "A*V": "W"}
"""Squares are measured over a number that stands for a resistance."""


class Margins:
    """What follows from results and the user's words, of what both have in common."""

    def __init__(self, results: Sequence[str], words: Sequence[str]) -> None:
        self._results, self._words = results, words
        self._facts: Facts = facts_of(results)
        self._table = Table(self._facts.rows)
        self._units = {name: unit for each in results for name, unit in _units_in(each).items()}

    @cached_property
    def to_limits(self) -> Sequence[Given]:
        """How far values are from the limits of their quantities, and from what was aimed at.

        Each result may be of another state of the circuit.
        """
        limits = limits_in(self._words, self._results)
        states = [self._facts, *(facts_of((each,)) for each in self._results[-_MOST_STATES:])]
        return [
            each
            for facts in (states if limits else ())
            for limit in limits
            for fact in facts.of(limit, limits)
            for end in (*limit.bounds, *([limit.aim] if limit.aim else []))
            for each in _off(limit.unit, fact.value, end)
        ]

    def of_rows(
        self, sentence: str, at: int, asked: Sequence[Given], loads: Sequence[Given]
    ) -> Iterator[Given]:
        """Powers, currents and efficiencies of the one row that is named where a sentence has a figure.

        Of what was measured there, and of the user's voltages, currents and loads.
        """
        cuts = [0, *(each.end() for each in _CUT.finditer(sentence)), len(sentence)]
        place = bisect_right(cuts, at)
        part = sentence[cuts[place - 1] : cuts[min(place, len(cuts) - 1)]]
        rows = rows_named(part, self._table) or rows_named(sentence, self._table) or self._rows_told(sentence)
        if len(rows) != 1:
            return
        own = list(self._values_of(rows[0]))
        given = [*own, *loads, *(each for each in asked if each[0] in ("V", "A", "Ohm"))]
        worked_out = [each for each in by_law(given) if each[0] in ("W", "A")]
        yield from worked_out
        for unit, taken in own:
            for same, one in (*own, *worked_out) if unit == "W" else ():
                if same == "W" and one < taken:
                    yield from (("W", taken - one), ("%", 100 * one / taken))

    def _rows_told(self, line: str) -> list[Row]:
        """The row of which a line of a table tells more than one value."""
        if not line.lstrip().startswith("|"):
            return []
        figures = [each for each in figures_in(line) if each.digits > 1]
        return [
            row
            for row in self._table.rows
            if sum(stands_in(row.values, each) for each in figures if each.unit != "%") > 1
        ]

    def measured_at(self, words: str, unit: str) -> list[float]:
        """What the one row of a study that words name has in a unit."""
        rows = rows_named(words, self._table) or []
        columns = rows[0].columns if len(rows) == 1 else ()
        return [abs(value) for name, value in columns if value and self._units.get(name) == unit]

    def _values_of(self, row: Row) -> Iterator[Given]:
        yield from ((unit, abs(value)) for _, value, unit in row.varied if unit and value)
        yield from (
            (_POWERS.get(unit, unit), abs(value))
            for name, value in row.columns
            if value and (unit := self._units.get(name, ""))
        )


def _units_in(result: str) -> dict[str, str]:
    return column_units(result) if " runs, " in result else {}


def _off(unit: str, value: float, end: float) -> Iterator[Given]:
    yield unit, abs(value - end)
    if end and unit not in ("dB", "deg", "degC"):
        yield "%", 100 * abs(value / end - 1)
    if value and unit == "%":
        yield "%", abs(value - end)
