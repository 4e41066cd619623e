"""The numbers that an answer may rest on: of results, of calls that succeeded, and of the user's words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import ABOVE, BELOW, is_rounding
from domain.llm.agentic_loop.follows import Given, derived, values_of
from domain.llm.agentic_loop.part_values import SCALES
from domain.llm.agentic_loop.quantities import YIELD, column_units, named_figures
from domain.llm.agentic_loop.rows import study_rows
from shared.late_patterns import late_pattern

MOST_FIGURES = 120
_MOST_BACKING = 400_000
"""Characters of results that are read, the newest first."""
MOST_DERIVED_FROM = 30
MOST_BY_LAW = 16
_MOST_LINES = 400
_MOST_TOGETHER = 8
_FEW = 6
_NEAR = 1.5
"""How far from a measured value a bound may be that is told of it."""

_NUMBER = late_pattern(
    r"(?<![\w.])[-+]?(?P<number>\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+)(?P<scale>meg"
    r"|[fpnumkgt])?(?P<rest>[a-zΩ°%]*)",
    re.IGNORECASE,
)
_SCALED = late_pattern(r"(\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+)(meg|[fpnumkgt])?", re.IGNORECASE)
_PULSE = late_pattern(
    r"\bpulse\s?\(\s?(?:[-+.\w]+[ \t,]+){5}(?P<width>[.\d]\w*(?:\.\w+)?(?:e-\d+\w*)?)[ \t,]+"
    r"(?P<period>[.\d]\w*(?:\.\w+)?(?:e-\d+\w*)?)\s?\)",
    re.IGNORECASE,
)
_TEMPERATURE = late_pattern(r"\btemp\w*\s?=\s?-?(?P<number>\d+(?:\.\d+)?)(?![\w.])", re.IGNORECASE)
"""Of a corner or a point of a sweep."""
_RESISTOR = late_pattern(
    r"^[-+ ]?(?P<name>R\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<number>\d+(?:\.\d+)?)(?P<scale>meg|[mkg])?\w*[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_WINDOW = late_pattern(
    r",\s?(?P<one>\d+(?:\.\d+)?)(?P<one_scale>[pnum])?,\s?(?P<other>\d+(?:\.\d+)?)(?P<other_scale>[pnum])?\)"
)
"""In which a value was measured: "pp(v(out),350u,400u)"."""
_OF_FREQUENCY = frozenset(("gain", "dcgain", "peak"))
"""Measured over frequency, where sources are 1 V or 1 A: a voltage is a ratio there, too."""
_POWER = late_pattern(r"^[^=\n]+ = (?P<value>\d[\d.]*(?:e[-+]?\d+)?) (?:W|[VA]\^2)$", re.MULTILINE)
_GOAL = late_pattern(r"\b(?:met|MISSED) (?P<name>\w+) = (?P<rest>[^;\n]+)")
_UNITS_BEHIND = frozenset(("", "hz", "v", "a", "w", "ω", "ohm", "ohms", "f", "h", "s", "siemens"))
"""What may follow a number that is none of bytes, points or names."""
_SCIENTIFIC_UNITS = frozenset(("Hz", "V", "A", "W", "Ohm", "F", "H", "s", "S"))
"""Units of which a netlist or a card writes bare numbers."""


@dataclass(frozen=True, slots=True)
class Backing:
    """What figures may come from."""

    results: Sequence[str] = ()
    """Of tools that succeeded and what they were given; data of the message. The newest last."""
    words: Sequence[str] = ()
    """The user's own, all turns."""


class Known:
    """The numbers of the backing, by unit; bare ones may have any that numbers of a netlist have."""

    def __init__(self, backing: Backing) -> None:
        self._by_unit: dict[str, set[float]] = {}
        self._lines: list[list[Given]] = []
        """Figures that stand together in one line."""
        self._named: dict[str, list[Given]] = {}
        """Those behind one name ("gain = "), the newest first."""
        self.judged: list[list[Given]] = []
        """What a goal is of, with its limits."""
        self.powers: list[list[Given]] = []
        """Those of each result; a voltage's or a current's square over a number is one, too."""
        self._driven: set[float] = set()
        """What a source of 1 V or 1 A gives over frequency."""
        self._bare: set[float] = set()
        self._ohms: set[float] = set()
        self._resistors: dict[str, float] = {}
        """The newest value by name."""
        self._precise: set[float] = set()
        """Bare ones with so many digits that they are no count of points."""
        room = _MOST_BACKING
        for text in reversed(backing.results):
            if room <= 0:
                break
            self._read(re.sub(r"(?<=[\da-zA-Z])\.\.+(?=\d)", " to ", plain(text[:room])))
            room -= len(text)
        self.asked: list[TextFigure] = [
            figure for text in backing.words for figure in islice(figures_in(text), MOST_FIGURES)
        ]

    def _read(self, text: str) -> None:
        self._read_named(text)
        self._read_study(text)
        line: list[Given] = []
        end, own = -1, set[int]()
        for figure in figures_in(text):
            value = (figure.unit, abs(figure.value))
            own.add(figure.start)
            self._by_unit.setdefault(figure.unit, set()).add(value[1])
            if figure.start > end:
                end = text.find("\n", figure.start)
                end = len(text) if end < 0 else end
                line = []
                self._lines.append(line)
            line.append(value)
        self.powers.append([("W", float(each["value"])) for each in _POWER.finditer(text)][:_MOST_TOGETHER])
        for goal in _GOAL.finditer(text):
            self.judged.append(values_of(figures_in(goal["rest"])))
        self._read_worked_out(text)
        for found in _NUMBER.finditer(text):
            number = abs(float(found["number"]))
            scale = (found["scale"] or "").lower()
            if found.start("number") in own:
                continue
            if math.isfinite(number) and number and found["rest"].lower() in _UNITS_BEHIND:
                self._bare.add(number * SCALES.get(scale, 1.0))
                if found["scale"] == "M":  # milli in a netlist, mega in words
                    self._bare.add(number * 1e6)
                if (
                    not scale
                    and not found["rest"]
                    and len(found["number"].lstrip("0.").replace(".", "")) >= 3
                ):
                    self._precise.add(number)

    def _read_named(self, text: str) -> None:
        """What stands behind names: those of one name belong together, and those of one unit."""
        of_unit: dict[str, list[Given]] = {}
        for name, values in named_figures(text).items():
            given = [(unit, abs(number)) for unit, number in values]
            self._named.setdefault(name, []).extend(given)
            self._lines.append(list(dict.fromkeys(given)))
            for unit, number in given:
                of_unit.setdefault(unit, []).append((unit, number))
                self._by_unit.setdefault(unit, set()).add(number)
                if name in _OF_FREQUENCY and unit in ("V", "A") and number:
                    self._driven.add(number)
        self._lines.extend(values for values in of_unit.values() if len(values) <= _MOST_TOGETHER)

    def _read_study(self, text: str) -> None:
        """What was varied and what was measured in one run, and what was varied in all."""
        units, varied = column_units(text), dict[str, list[Given]]()
        for row in study_rows(text):
            points = [(name, (unit, abs(value))) for name, value, unit in row.varied]
            measured = [(units.get(name, ""), abs(value)) for name, value in row.columns]
            self._lines.append([*(point for _, point in points), *measured])
            for name, point in points:
                varied.setdefault(name, []).append(point)
        self._lines.extend(varied.values())

    def _read_worked_out(self, text: str) -> None:
        """Resistances of cards, shares of samples, how long a window of time is, temperatures."""
        for card in _RESISTOR.finditer(text):
            ohms = float(card["number"]) * SCALES.get((card["scale"] or "").lower(), 1.0)
            if ohms:
                self._ohms.add(ohms)
                self._resistors.setdefault(card["name"].lower(), ohms)
        for samples in YIELD.finditer(text):
            self._by_unit.setdefault("%", set()).add(100 * int(samples["good"]) / max(int(samples["all"]), 1))
        for each in _WINDOW.finditer(text):
            begin, end = (
                float(each[which]) * SCALES.get(each[f"{which}_scale"] or "", 1.0)
                for which in ("one", "other")
            )
            self._by_unit.setdefault("s", set()).add(abs(end - begin))
        for each in _PULSE.finditer(text):
            width, period = (
                float(number) * SCALES.get(scale.lower(), 1.0)
                for number, scale in (_SCALED.match(each[which]).groups() for which in ("width", "period"))  # type: ignore[union-attr]
            )
            if period:
                self._by_unit.setdefault("Hz", set()).add(1 / period)
                self._by_unit.setdefault("%", set()).add(100 * width / period)
                self._by_unit.setdefault("s", set()).update((width, period))
        for each in _TEMPERATURE.finditer(text):
            self._by_unit.setdefault("degC", set()).add(float(each["number"]))

    @property
    def has_any(self) -> bool:
        """Whether anything was read, measured or given that has a number."""
        return bool(self._by_unit or self._bare)

    def has(self, figure: TextFigure, is_rough: bool, *, named: Sequence[float] = ()) -> bool:
        """Whether a figure is a rounding of one of them.

        Of a quantity with these values only they and figures with its unit count: bare numbers are of others.
        """
        values = set(self._by_unit.get(figure.unit, ()))
        if values:  # where nothing of the kind was measured, the user's words are a wish
            values |= {abs(each.value) for each in self.asked if each.unit == figure.unit}
        if named:
            return any(is_rounding(figure, value, is_rough=is_rough) for value in (*values, *named))
        values |= self._bare if figure.unit in _SCIENTIFIC_UNITS else self._precise
        values.update(self._converted(figure.unit))
        return any(is_rounding(figure, value, is_rough=is_rough) for value in values)

    def _converted(self, unit: str) -> Iterator[float]:
        ratios = self._by_unit.get("1", set()) | self._precise | self._driven
        if unit == "%":
            yield from (100 * value for value in ratios if value < 10)
        elif unit == "dB":
            yield from (abs(20 * math.log10(value)) for value in ratios)
        elif unit == "1":
            yield from (10 ** (value / 20) for value in self._by_unit.get("dB", ()) if value < 400)
        elif unit in ("Hz", "s"):
            yield from (1 / value for value in self._by_unit.get("s" if unit == "Hz" else "Hz", ()) if value)

    def keeps(self, figure: TextFigure, before: str) -> bool:
        """Whether a figure is a bound that one of them keeps, not far from it."""
        values = self._by_unit.get(figure.unit, ())
        if ABOVE.search(before):
            return any(figure.value <= value <= _NEAR * figure.value for value in values)
        return bool(BELOW.search(before)) and any(
            figure.value / _NEAR <= value <= figure.value for value in values
        )

    def of_lines(self, asked: Sequence[Given]) -> Iterator[Given]:
        """What follows from two of one line, from two of one name, and from one and what the user asked."""
        for together in (*self._lines[:_MOST_LINES], *self._named.values()):
            if len(together) <= _MOST_TOGETHER:
                yield from derived(together, ())
        for named in self._named.values():
            yield from derived(named[:1], asked)
        few = [
            (unit, value) for unit, values in self._by_unit.items() if len(values) <= _FEW for value in values
        ]
        yield from (
            (unit, abs(one - other)) for unit, one in few for same, other in (*few, *asked) if same == unit
        )

    def bounds(self) -> Iterator[Given]:
        """What the user allowed: 40 Hz to each side, 960 Hz and 1040 Hz for "1 kHz within 4 %"; "±1 dB"."""
        for unit, share in [(each.unit, each.value) for each in self.asked if each.text.startswith("±")]:
            for same, value in values_of(self.asked):
                if same == unit and value != share:
                    yield from ((unit, value - share), (unit, value + share))
        for share in (each.value / 100 for each in self.asked if each.unit == "%" and each.value < 100):
            for unit, value in values_of(self.asked):
                if unit != "%":
                    yield from (
                        (unit, value * share),
                        (unit, value * (1 - share)),
                        (unit, value * (1 + share)),
                    )

    def of_one_name(self) -> Iterator[tuple[str, list[Given]]]:
        """Names with values, a few of each."""
        yield from ((name, values[:_MOST_TOGETHER]) for name, values in self._named.items())

    def named(self) -> Iterator[Given]:
        """The values with names, of each name a few."""
        yield from (each for values in self._named.values() for each in values[:_FEW])

    def differences(self, said: Sequence[Given]) -> Iterator[Given]:
        """Of what an answer tells and what else stands in the results."""
        for unit, one in said:
            values = self._by_unit.get(unit, set())
            if len(values) <= MOST_DERIVED_FROM:
                yield from ((unit, abs(one - other)) for other in values)

    def alike(self) -> Iterator[list[Given]]:
        """The newest values of names that begin alike: "tpd_lh" and "tpd_hl"."""
        by_begin: dict[str, list[Given]] = {}
        for name, values in self._named.items():
            if values:
                by_begin.setdefault(name[:3], []).append(values[0])
        yield from (values for values in by_begin.values() if 1 < len(values) <= _FEW)

    def joined(self, said: str) -> Iterator[Given]:
        """In series and in parallel, what resistors that words name are together."""
        named = [
            ohms for name, ohms in self._resistors.items() if re.search(rf"\b{name}\b", said, re.IGNORECASE)
        ]
        for one, other in combinations(named[:MOST_BY_LAW], 2):
            yield from (("Ohm", one + other), ("Ohm", one * other / (one + other)))

    def resistances(self) -> list[float]:
        """Of the cards that were read, a few."""
        return sorted(self._ohms)[:MOST_BY_LAW]

    def newest(self) -> list[Given]:
        """The newest values with names, a few."""
        return [values[0] for values in islice(self._named.values(), _FEW) if values]

    def has_value(self, value: float) -> bool:
        """Whether the value of a part stands somewhere in a result."""
        return any(math.isclose(value, each, rel_tol=6e-3) for each in self._bare)
