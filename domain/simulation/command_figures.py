"""The numbers a circuit's own commands work out (`meas`, `print`, `let`, `echo`), as measurements with names.

ngspice 39 prints them with seven digits, in the order in which they come; a `meas` or `let` leaves its value
in the plot too, with all digits, until the next of its name replaces it there. What a command gives several
times (in a loop, of several plots) is called ``name@1``, ``name@2`` ... .
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from domain.simulation.meas_cards import parse_meas
from domain.simulation.result import Quantity
from domain.simulation.units import product
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from domain.circuit.control_blocks import ControlCommand
    from domain.simulation.waveform import Plot

_MOST = 500
"""Figures that are kept of one run: a loop of a thousand runs has its plots."""
_LONGEST_LINE = 400
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LINE = re.compile(
    rf"(?P<name>\S.*?)\s+=\s+(?P<value>{_NUMBER})(?:\s+(?:at|targ|from|with)=?\s.*)?", re.IGNORECASE
)
_ECHOED = re.compile(
    r"(?P<label>[^\W\d][\w ./()-]*?)\s*(?P<sign>[=:]|\bis\b)\s*\$&?[\w.{}]+\s*(?P<unit>[^\s\"',;]*)"
)
_UNITS = {
    "v": "V",
    "a": "A",
    "hz": "Hz",
    "s": "s",
    "w": "W",
    "db": "dB",
    "deg": "deg",
    "ohm": "Ohm",
    "f": "F",
    "h": "H",
}
_AXES = {"tran": "s", "ac": "Hz", "sp": "Hz", "noise": "Hz"}
_OF_THE_AXIS = frozenset(("when", "trig", "min_at", "max_at"))
_VOLTAGE = re.compile(r"v\([^()]*\)", re.IGNORECASE)
_CURRENT = re.compile(r"i\([^()]*\)|\S+#branch|@\S+\[i\w*\]", re.IGNORECASE)
_PARTS = {"vdb": "dB", "vp": "rad", "db": "dB", "ph": "rad", "cph": "rad"}
_SAME = 2e-6
"""How far a printed number may lie from the one in the plot: it has seven digits."""


def tell_figures(commands: Sequence[ControlCommand]) -> bool:
    """Whether any of the commands works out a number that has a name."""
    return any(True for _ in _asked(commands))


def command_figures(
    commands: Sequence[ControlCommand], log: str, plots: Sequence[Plot]
) -> dict[str, Quantity]:
    """The figures by lower-case name; NaN where a `meas` found nothing.

    What a `meas` found and a `print` of its name says again is one figure.
    """
    units = _units_of(commands)
    if not units:
        return {}
    echoed = list(_echo_patterns(commands))
    printed: dict[str, list[Quantity]] = {name: [] for name in units}
    said = _Said(commands)
    for line in log.splitlines():
        text = line[:_LONGEST_LINE].strip()
        if (match := _LINE.fullmatch(text)) and (name := _plain(match["name"])) in units:
            if not said.again(name, float(match["value"])):
                printed[name].append(Quantity(value=float(match["value"]), unit=units[name]))
        else:
            for name, pattern, unit in echoed:
                if found := pattern.search(text):
                    printed.setdefault(name, []).append(Quantity(value=float(found[1]), unit=unit))
    scalars = _scalars(plots)
    let = {_plain(command.words[1].partition("=")[0]) for command in commands if _is(command, "let", 2)}
    measured = {command.words[2].lower() for command in commands if _is(command, "meas", 3)}
    figures: dict[str, Quantity] = {}
    for name in dict.fromkeys([*printed, *let]):
        values = [_with_all_digits(figure, scalars.get(name, ())) for figure in printed.get(name, ())]
        if not values and name in let:
            values = [Quantity(value=value, unit=unit) for value, unit in scalars.get(name, ())]
        if not values and name in measured:
            values = [Quantity(value=math.nan, unit="")]
        for number, figure in enumerate(values, start=1):
            if len(figures) < _MOST:
                figures[name if len(values) == 1 else f"{name}@{number}"] = figure
    return figures


class _Said:
    """Which of the printed lines only repeat what a `meas` of the same name has just found."""

    def __init__(self, commands: Sequence[ControlCommand]) -> None:
        self._last: dict[str, float] = {}
        self._names = set[str]()
        """Those that a `meas` gives and a `print` behind it says once more."""
        measured = set[str]()
        for command in commands:
            if _is(command, "meas", 3):
                measured.add(command.words[2].lower())
            elif _is(command, "print", 2):
                self._names |= measured & {_plain(expression) for expression in _arguments(command)}

    def again(self, name: str, value: float) -> bool:
        before = self._last.pop(name, math.nan) if name in self._names else math.nan
        if math.isclose(before, value, rel_tol=_SAME):
            return True
        self._last[name] = value
        return False


def _is(command: ControlCommand, kind: str, words: int) -> bool:
    name = "meas" if command.name == "measure" else command.name
    return name == kind and len(command.words) > words - 1


def _plain(text: str) -> str:
    return "".join(text.split()).lower()


def _asked(commands: Sequence[ControlCommand]) -> Iterator[tuple[str, str]]:
    """The names under which values are printed, and the unit of each."""
    for command in commands:
        if _is(command, "meas", 4):
            yield command.words[2].lower(), _unit_of_meas(command)
        elif _is(command, "print", 2):
            for expression in _arguments(command):
                yield _plain(expression), _unit_of_expression(expression)
        elif _is(command, "let", 2):
            yield _plain(command.words[1].partition("=")[0]), ""
        elif _is(command, "echo", 2):
            yield "", ""  # its own patterns tell


def _units_of(commands: Sequence[ControlCommand]) -> dict[str, str]:
    """By name, in the order asked; a `print` of what a `meas` found knows none of its own."""
    units: dict[str, str] = {}
    for name, unit in _asked(commands):
        units[name] = units.get(name) or unit
    return units


def _arguments(command: ControlCommand) -> list[str]:
    """The expressions of a `print`: cut at blanks outside of brackets; what stands behind ``>`` is a file."""
    found, depth = [""], 0
    text = re.split(r"\s>>?", " ".join(command.words[1:]))[0]
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter.isspace() and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [
        expression for expression in found if expression and expression.lower() not in ("all", "line", "col")
    ]


def _unit_of_meas(command: ControlCommand) -> str:
    try:
        card = parse_meas(" ".join(command.words), command.line)
    except CircuitAIError:
        return ""
    axis = _AXES.get(card.analysis, "")
    if card.function in _OF_THE_AXIS:
        return axis
    unit = _unit_of_expression(card.subject.vector or "")
    if card.function == "integ":
        return product(unit, axis) if unit and axis else ""
    return unit if card.function not in ("deriv", "param") else ""


def _unit_of_expression(expression: str) -> str:
    plain = _plain(expression).lstrip("-+")
    part = re.fullmatch(r"(\w+)\((.*)\)", plain)
    if part and part[1] in _PARTS:
        return _PARTS[part[1]]
    if part and part[1] in (
        "mag",
        "abs",
        "real",
        "imag",
        "maximum",
        "minimum",
        "mean",
        "vecmax",
        "vecmin",
        "avg",
    ):
        return _unit_of_expression(part[2])
    plain = re.sub(r"\[\d+\]$", "", plain) if "@" not in plain else plain
    if _VOLTAGE.fullmatch(plain):
        return "V"
    return "A" if _CURRENT.fullmatch(plain) else ""


def _echo_patterns(commands: Sequence[ControlCommand]) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Of ``echo gain = $&gain V``: the name, what finds the number in the log, the unit."""
    for command in commands:
        if not _is(command, "echo", 2):
            continue
        for match in _ECHOED.finditer(" ".join(command.words[1:]).strip("\"'")):
            label = match["label"].strip()
            words = r"\s+".join(map(re.escape, label.split()))
            pattern = rf"(?<!\w){words}\s*{re.escape(match['sign'])}\s*({_NUMBER})(?![\w.])"
            yield " ".join(label.lower().split()), re.compile(pattern), _UNITS.get(match["unit"].lower(), "")


def _scalars(plots: Sequence[Plot]) -> Mapping[str, Sequence[tuple[float, str]]]:
    """Vectors of one number in plots of more, by name: what `meas` and `let` leave; with their units."""
    found: dict[str, list[tuple[float, str]]] = {}
    for plot in plots:
        for name, vector in plot.vectors.items():
            is_alone = len(vector.data) == 1 and (plot.points > 1 or plot.axis is None)
            if is_alone and vector.data[0].imag == 0:
                found.setdefault(name, []).append((float(vector.data[0].real), vector.unit))
    return found


def _with_all_digits(figure: Quantity, scalars: Sequence[tuple[float, str]]) -> Quantity:
    """The printed figure as it stands in a plot, where it does."""
    for value, unit in scalars:
        if math.isclose(value, figure.value, rel_tol=_SAME):
            return Quantity(value=value, unit=figure.unit or unit)
    return figure
