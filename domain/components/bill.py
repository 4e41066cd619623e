"""The bill of materials of a circuit: what has to be bought for it, alike parts on one line.

A subcircuit that a library defines is one part (an op-amp); one that the circuit itself defines is a piece of
the circuit, and its parts are counted in each instance (``X1.R1``). Sources are no parts and listed apart.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import Element
from domain.circuit.figures import with_unit
from domain.circuit.hierarchy import Block, read_circuit
from domain.circuit.instances import instances_of
from domain.circuit.netlist import LIBRARY_SUFFIXES
from domain.circuit.numbers import read_number
from domain.circuit.parameters import ExpressionError, parse_expression, resolve_parameters
from domain.circuit.preferred_values import SeriesName, neighbours
from domain.components.values import LETTERS, UNITS, coarsest_series
from shared.message import Message, msg
from shared.paths import MODEL_LIBRARY
from shared.spreadsheets import plain_cell

MOST_PARTS = 20_000
_KIND_OF = {letter.lower(): kind for kind, letter in LETTERS.items()}
_SOURCES = frozenset("viefghbak")
"""Supplies, signals, couplings and formulas: nothing that is bought as one part."""
_DEVICES = {"d": "diode", "q": "transistor", "j": "JFET", "m": "MOSFET", "z": "MESFET", "s": "switch",
            "w": "switch", "t": "line", "o": "line", "u": "line", "x": "subcircuit"}  # fmt: skip
_NATURAL = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class BillLine:
    """Parts that are alike."""

    kind: str
    """resistor, capacitor, inductor, diode, transistor, JFET, MOSFET, switch, line or subcircuit."""
    value: str
    """``10 kOhm``, or the model: ``2N3904``; an expression that has no fixed value as it is written."""
    size: str
    """Of a MOSFET: ``W=10u L=1u``."""
    references: tuple[str, ...]
    """In their order: R1, R2, R10."""
    series: SeriesName | None
    """Of a resistor, capacitor or inductor: the coarsest E-series with its value; None: in none."""
    nearest: str
    """The nearest value of E24, where no series has it."""
    amount: float | None
    """The value in SI."""

    @property
    def count(self) -> int:
        return len(self.references)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """All parts of a circuit."""

    lines: tuple[BillLine, ...]
    left_out: tuple[str, ...] = ()
    """References of what is not a part: sources, couplings."""
    is_cut: bool = False
    """There are more parts than are counted."""

    @property
    def count(self) -> int:
        return sum(line.count for line in self.lines)


def bill_of(tree: DependencyTree) -> Bill:
    """The parts of a circuit with all it includes."""
    circuit = read_circuit(tree)
    values = resolve_parameters(tree)
    found = _Found(values)
    for path, block, _ in instances_of(circuit, most=MOST_PARTS):
        if path and _is_inside_part(circuit.top, path):
            continue
        for element, _ in block.elements:
            if found.count >= MOST_PARTS:
                return found.bill(is_cut=True)
            found.add(element, path, block)
    return found.bill(is_cut=False)


def _is_inside_part(top: Block, path: tuple[str, ...]) -> bool:
    """Whether one of the instances that lead here is a part by itself."""
    block = top
    for name in path:
        element = next((each for each, _ in block.elements if each.key == name), None)
        inner = None if element is None or element.model is None else block.find_block(element.model.text)
        if inner is None or is_part(inner, top.file):
            return True
        block = inner
    return False


def is_part(block: Block, circuit: Path | None) -> bool:
    """Whether a subcircuit is a component of a library, not a piece of the circuit."""
    file = block.file
    return file is not None and file != circuit and (
        file.suffix.lower() in LIBRARY_SUFFIXES or file.parent == MODEL_LIBRARY
    )  # fmt: skip


@dataclass(slots=True)
class _Found:
    values: Mapping[str, float]
    groups: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    amounts: dict[tuple[str, str, str], float | None] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, element: Element, path: tuple[str, ...], block: Block) -> None:
        reference = ".".join((*(name.upper() for name in path), element.name))
        letter = element.letter
        if letter == "x":
            inner = block.find_block(element.model.text) if element.model else None
            top = next(reversed(list(block.lineage)))
            if inner is not None and not is_part(inner, top.file):
                return  # its own elements are counted
        elif letter in _SOURCES or (letter not in _KIND_OF and letter not in _DEVICES):
            self.left_out.append(reference)
            return
        key, amount = self._key(element, is_top=not path)
        self.groups.setdefault(key, []).append(reference)
        self.amounts[key] = amount
        self.count += 1

    def _key(self, element: Element, *, is_top: bool) -> tuple[tuple[str, str, str], float | None]:
        kind = _KIND_OF.get(element.letter)
        if kind is None:
            sizes = [f"{name.upper()}={element.params[name].text}" for name in ("w", "l", "area", "m")
                     if name in element.params]  # fmt: skip
            model = element.model.text if element.model else "?"
            return (_DEVICES[element.letter], model, " ".join(sizes)), None
        text = element.value.text if element.value is not None else ""
        text = text or (element.model.text if element.model is not None else "?")
        amount = self._amount(text, is_top=is_top)
        shown = text if amount is None else with_unit(amount, UNITS[kind], 6)
        return (kind, shown, ""), amount

    def _amount(self, text: str, *, is_top: bool) -> float | None:
        number = read_number(text)
        if number is not None and not number.rest:
            return number.value
        if not is_top:  # its block's own parameters are not those of the top level
            return None
        try:
            return parse_expression(text).evaluate(self.values)
        except (ExpressionError, ArithmeticError):
            return None

    def bill(self, *, is_cut: bool) -> Bill:
        order = {kind: at for at, kind in enumerate((*LETTERS, *dict.fromkeys(_DEVICES.values())))}
        lines = [self._line(key, references) for key, references in self.groups.items()]
        lines.sort(key=lambda line: (order[line.kind], line.amount or 0.0, line.value, line.size))
        return Bill(lines=tuple(lines), left_out=tuple(sorted(self.left_out, key=_natural)), is_cut=is_cut)

    def _line(self, key: tuple[str, str, str], references: list[str]) -> BillLine:
        kind, value, size = key
        amount = self.amounts[key]
        series = coarsest_series(amount) if amount is not None and amount > 0 else None
        nearest = ""
        if amount is not None and series is None and 1e-15 <= amount <= 1e12:
            below, above = neighbours(amount, "E24")
            nearest = with_unit(below if amount * amount <= below * above else above, UNITS[kind], 6)
        return BillLine(kind, value, size, tuple(sorted(references, key=_natural)), series, nearest, amount)


def _natural(reference: str) -> list[tuple[int, int | str]]:
    """R2 comes before R10."""
    return [(0, int(part[:18])) if part.isdecimal() and part.isascii() else (1, part.lower())
            for part in _NATURAL.split(reference)]  # fmt: skip


KINDS: Mapping[str, Message] = {
    "resistor": msg("resistor"),
    "capacitor": msg("capacitor"),
    "inductor": msg("inductor"),
    "diode": msg("diode"),
    "transistor": msg("transistor"),
    "JFET": msg("JFET"),
    "MOSFET": msg("MOSFET"),
    "MESFET": msg("MESFET"),
    "switch": msg("switch"),
    "line": msg("transmission line"),
    "subcircuit": msg("integrated circuit"),
}


def series_words(line: BillLine) -> Message:
    """What the E-series say of a line."""
    if line.kind not in UNITS:
        return msg("{text}", text="")
    if line.amount is None:
        return msg("an expression")
    if line.series is not None:
        return msg("{text}", text=line.series)
    if not line.nearest:
        return msg("in no E-series")
    return msg("in no E-series; nearest in E24: {value}", value=line.nearest)


_HEADS = ("Count", "Kind", "Value", "Size", "References", "Series", "Nearest E24")


def rows_of(bill: Bill) -> list[tuple[str, ...]]:
    """The table with its head, as files have it: English, plain."""
    return [
        _HEADS,
        *(
            (str(line.count), line.kind, line.value, line.size, " ".join(line.references), line.series or "",
             line.nearest)
            for line in bill.lines
        ),
    ]  # fmt: skip


def as_csv(bill: Bill) -> str:
    """The table as RFC 4180 writes it; what a spreadsheet would take for a formula gets a quote before it."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows_of(bill):
        writer.writerow(map(plain_cell, row))
    return text.getvalue()


def as_markdown(bill: Bill, title: str) -> str:
    """The table as a Markdown document."""
    rows = [[_plain(cell) for cell in row] for row in rows_of(bill)]
    lines = [f"# Bill of materials: {_plain(title)}", "", _line_of(rows[0]), f"| ---: |{' --- |' * 6}"]
    lines += map(_line_of, rows[1:])
    lines += ["", f"{bill.count} parts in {len(bill.lines)} lines."]
    if bill.left_out:
        lines += ["", f"Not parts: {_plain(', '.join(bill.left_out))}."]
    return "\n".join(lines) + "\n"


def _plain(cell: str) -> str:
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", cell.replace("\n", " "))


def _line_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
