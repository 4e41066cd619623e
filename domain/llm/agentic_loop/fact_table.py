"""All that results measured, as one table: quantity, place, value, and of which state of the circuit.

A figure of an answer with two digits or more mostly is one cell of it. Where all the cells that it may be are
of one state, of one row or of one quantity, what the answer says of it can be held against that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import is_rounding
from domain.llm.agentic_loop.quantities import DEVICE, column_units
from domain.llm.agentic_loop.rows import study_rows
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_RESULTS = 60
_GIVEN = late_pattern(r"^-?(?P<label>[A-Za-z_][^=\n;<>≥≤|]{0,90}?) = (?P<value>[-+]?\d[^;\n]{0,30})$")
_BARE = late_pattern(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d{1,3})?(?![\w.])", re.IGNORECASE)
_STATISTICS = late_pattern(r"^(?P<label>\w+) \[[^\]\n]{1,12}\]: (?P<rest>[^\n]*)")
_STATISTIC = late_pattern(r"\b(?P<what>[a-z]+) (?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?![\w.])")
_VERDICT = late_pattern(r"\b(?:met|MISSED) (?P<label>\w+) = (?P<value>[-+]?\d[^(;\n]{0,30})")
_OF_DEVICE = late_pattern(r"\b(?P<label>[A-Za-z]{1,5}) (?P<value>-?\d+(?:\.\d*)?(?:e[-+]?\d+)? [A-Za-zμ]+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One value that was measured."""

    label: str
    """What a result calls it, with the statistic, in lower case."""
    row: tuple[tuple[str, float], ...]
    """What was varied, and what it was; () outside of studies."""
    unit: str
    value: float
    """Magnitude, SI."""
    is_old: bool
    """Measured before the last change of the circuit."""


class FactTable:
    """The cells of all results."""

    def __init__(self, results: Sequence[str], earlier: Sequence[str]) -> None:
        """`results` are of the circuit as it is, `earlier` of before its last change."""
        self.cells: list[Cell] = []
        for texts, is_old in ((results, False), (earlier, True)):
            for text in texts[-_MOST_RESULTS:]:
                self.cells += (Cell(*each, is_old) for each in _cells_of(text[:_MOST_READ]))
        self._series = {(each.label, each.row, each.is_old) for each in self.cells}

    def of(self, figure: TextFigure) -> list[Cell]:
        """The cells that a figure may be."""
        return [
            each
            for each in self.cells
            if (value := _in_unit(each, figure.unit)) is not None
            and is_rounding(figure, value, is_rough=False)
        ]

    def is_only(self, figure: TextFigure, *, is_old: bool) -> bool:
        """Whether a figure is something that was measured in both states, and has it in one of them only."""
        cells = self.of(figure)
        return bool(cells) and all(
            each.is_old is is_old and (each.label, each.row, not is_old) in self._series for each in cells
        )


def _in_unit(cell: Cell, unit: str) -> float | None:
    if cell.unit == unit:
        return cell.value
    return 100 * cell.value if unit == "%" and cell.unit in ("", "1") else None


@lru_cache(maxsize=128)
def _cells_of(text: str) -> tuple[tuple[str, tuple[tuple[str, float], ...], str, float], ...]:
    return tuple(_read(plain(text)))


def _read(flat: str) -> Iterator[tuple[str, tuple[tuple[str, float], ...], str, float]]:
    units = column_units(flat)
    for row in study_rows(flat):
        place = tuple((name, value) for name, value, _ in row.varied)
        place += tuple((word, 1.0) for word in sorted(row.words))
        yield from ((name, place, units.get(name, ""), abs(value)) for name, value in row.columns)
    for line in flat.split("\n"):
        if (given := _GIVEN.match(line)) is not None:
            figure = next(figures_in(given["value"]), None)
            if figure is not None and figure.start <= 1:
                yield given["label"].lower(), (), figure.unit, abs(figure.value)
            elif (bare := _BARE.match(given["value"])) is not None:
                yield given["label"].lower(), (), "", abs(float(bare[0]))
        elif (spread := _STATISTICS.match(line)) is not None:
            name = spread["label"].lower()
            for each in _STATISTIC.finditer(spread["rest"]):
                yield f"{name} {each['what']}", (), units.get(name, ""), abs(float(each["number"]))
    for verdict in _VERDICT.finditer(flat):
        figure = next(figures_in(verdict["value"]), None)
        if figure is not None and figure.start <= 1:
            yield verdict["label"].lower(), (), figure.unit, abs(figure.value)
    for device in DEVICE.finditer(flat):
        for each in _OF_DEVICE.finditer(device["rest"]):
            figure = next(figures_in(each["value"]), None)
            if figure is not None:
                yield f"{device['name']}.{each['label']}".lower(), (), figure.unit, abs(figure.value)
