"""The numbers that an answer may rest on: of results, of calls that succeeded, and of the user's words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, permutations

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import ABOVE, BELOW, is_rounding
from domain.llm.agentic_loop.follows import Given, by_law, derived, values_of
from domain.llm.agentic_loop.part_values import SCALES, cards_in, written
from domain.llm.agentic_loop.quantities import YIELD, column_units, named_figures
from domain.llm.agentic_loop.rows import courses_of, study_rows, with_bare
from shared.late_patterns import late_pattern

MOST_FIGURES = 120
_MOST_BACKING = 400_000
"""Characters of results that are read, the newest first."""
MOST_DERIVED_FROM = 30
MOST_BY_LAW = 16
_MOST_LINES = 400
_MOST_TOGETHER = 8
_FEW = 6
_FEW_EXACT = 3
_COARSE = 2
"""Digits with which a figure is of anything."""
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
_SHARE_GIVEN = late_pattern(r"(?:settling|rise|fall)_time\([^\n=]{1,80}?,\s*(0?\.\d+)(?:,\s*(0?\.\d+))?\s*\)")
"""Within which share of the step it has settled, between which shares it rises: 0.02 is told as 2 %."""
_PART_UNITS = {"r": "Ohm", "c": "F", "l": "H", "v": "V", "i": "A"}
_PASSIVE = late_pattern(
    r"^(?P<sign>[-+ ]?)(?P<name>[RCL]\w*)[ \t]+(?P<one>\w+)[ \t]+(?P<other>\w+)[ \t]+(?P<value>\d+(?:\.\d+)?(?:e[-+]?\d+)?\w*)",  # noqa: E501
    re.MULTILINE | re.IGNORECASE,
)
_HAS = late_pattern(
    r"\b(?P<part>[RCL])(?:\d\w{0,3}|[A-Z]{1,2}\d?)\s?(?:is|was|现在?是|目前[为是]|原来?[为是])\s?"
    r"(?:currently |now |still )?(?P<value>\d+(?:\.\d+)?\s?(?:meg|[pnumkM])?)"
)
"""What the user says of a part that is there."""
_LOAD = late_pattern(r"r_?l(?:oad)?\d*|rload\w*")
_GAIN = late_pattern(
    r"^[+ ]?E\w*(?:[ \t]+\w+){4}[ \t]+(?P<value>\d+(?:\.\d+)?(?:e\d+)?\w*)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SINE = late_pattern(r"\bsin\s?\(\s?[-+.\w]+[ \t,]+[-+.\w]+[ \t,]+(?P<value>\d[.\w]*)", re.IGNORECASE)
_AMPLIFIER = 100
"""A gain above it is that of an amplifier without feedback."""
_MOST_CARDS = 24
_FEW_PRODUCTS = 24
_RATIOS = (0.7, 1.4)
_TEMPERATURE = late_pattern(r"\btemp\w*\s?=\s?-?(?P<number>\d+(?:\.\d+)?)(?![\w.])", re.IGNORECASE)
"""Of a corner or a point of a sweep."""
_RESISTOR = late_pattern(
    r"^[-+ ]?(?P<name>R\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<number>\d+(?:\.\d+)?)(?P<scale>meg|[mkg])?\w*[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SPAN = late_pattern(
    r"^[-+ ]?\.ac[ \t]+(?P<how>lin|dec|oct)[ \t]+(?P<points>\d{1,9})[ \t]+(?P<low>\w[.\w]*)"
    r"[ \t]+(?P<high>\w[.\w]*)",
    re.MULTILINE | re.IGNORECASE,
)
_WINDOW = late_pattern(
    r",\s?(?P<one>\d+(?:\.\d+)?)(?P<one_scale>[pnum])?,\s?(?P<other>\d+(?:\.\d+)?)(?P<other_scale>[pnum])?\)"
)
"""In which a value was measured: "pp(v(out),350u,400u)"."""
_OF_FREQUENCY = frozenset(("gain", "dcgain", "peak", "mag"))
"""Measured over frequency, where sources are 1 V or 1 A: a voltage is a ratio there, too."""
_SHARES = late_pattern(r"^ *variance from [^\n]+", re.MULTILINE)
_SHARE = late_pattern(r"\b(?P<part>[A-Za-z]\w*) (?P<share>\d+(?:\.\d+)?) %")
_POWER = late_pattern(r"^[^=\n]+ = (?P<value>\d+(?:\.\d*)?(?:e[-+]?\d+)?) (?:W|[VA]\^2)$", re.MULTILINE)
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
    measured: Sequence[str] | None = None
    """Those of the results that tell what was measured; None where that is not known."""


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
        self._studied: set[Given] = set()
        self._measured_courses: dict[str, list[Given]] = {}
        self._courses: list[list[float]] = []
        """Of one study each."""
        self._measured_at: dict[tuple[str, tuple[tuple[str, float, str], ...]], list[float]] = {}
        """What several studies measured at one point, the newest first."""
        self._varied_courses: dict[str, list[Given]] = {}
        """What studies measured, and what they varied, by name."""
        self._cards: dict[str, tuple[Given, set[str]]] = {}
        """Resistors, capacitors and inductors with their nodes, the newest by name."""
        self._replaced: dict[str, tuple[Given, set[str]]] = {}
        """Those that a change took out."""
        self._gains: set[float] = set()
        self._sines: set[float] = set()
        """Frequencies of sources."""
        self._parts: dict[str, Given] = {}
        """Unit and newest value by name, in lower case."""
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
        for text in backing.words:  # "C1 is 22n": a fact, not a wish
            for told in _HAS.finditer(plain(text)):
                if size := written(told["value"]):
                    unit = _PART_UNITS[told["part"].lower()]
                    self._by_unit.setdefault(unit, set()).add(size)
                    self._bare.add(size)
        self._asked_bare = {  # "I changed CG to 22n": told again behind a run it is that one
            figure.value
            for text in (backing.words if backing.measured else ())
            for figure in islice(with_bare(plain(text)), MOST_FIGURES)
            if not figure.unit
        }

    def _read(self, text: str) -> None:
        self._read_named(text)
        self._read_study(text)
        for shares in _SHARES.finditer(text):
            self._by_unit.setdefault("%", set()).update(_sums(shares[0]))
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
        units, varied, courses = column_units(text), dict[str, list[Given]](), dict[str, list[float]]()
        for row in study_rows(text):
            points = [(name, (unit, abs(value))) for name, value, unit in row.varied]
            measured = [(units.get(name, ""), abs(value)) for name, value in row.columns]
            self._lines.append([*(point for _, point in points), *measured])
            self._studied |= set(measured)
            for name, point in points:
                varied.setdefault(name, []).append(point)
            for name, value in zip((name for name, _ in row.columns), measured, strict=True):
                self._measured_courses.setdefault(name, []).append(value)
                courses.setdefault(name, []).append(value[1])
                self._measured_at.setdefault((name, row.varied), []).append(value[1])
        self._lines.extend(varied.values())
        self._courses.extend(courses.values())
        for name, those in varied.items():
            self._varied_courses.setdefault(name, []).extend(those)
        self._lines.extend(
            [(units.get(column, ""), abs(end)) for end in ends]
            for _, column, *ends in courses_of(study_rows(text))
        )

    def _read_worked_out(self, text: str) -> None:
        """Resistances of cards, shares of samples, how long a window of time is, temperatures."""
        for card in _RESISTOR.finditer(text):
            ohms = float(card["number"]) * SCALES.get((card["scale"] or "").lower(), 1.0)
            if ohms:
                self._ohms.add(ohms)
        for name, value, sign in cards_in(text):
            if sign != "-" and value and name[0] in _PART_UNITS and "." not in name:
                self._parts.setdefault(name, (_PART_UNITS[name[0]], abs(value)))
        for card in _PASSIVE.finditer(text):
            name, size_of_part = card["name"].lower(), written(card["value"])
            if size_of_part:
                nodes = {card["one"].lower(), card["other"].lower()}
                those = self._replaced if card["sign"] == "-" else self._cards
                those.setdefault(name, ((_PART_UNITS[name[0]], abs(size_of_part)), nodes))
        self._gains |= {size for each in _GAIN.finditer(text) if (size := written(each["value"]))}
        self._sines |= {size for each in _SINE.finditer(text) if (size := written(each["value"]))}
        for samples in YIELD.finditer(text):
            good = 100 * int(samples["good"]) / max(int(samples["all"]), 1)
            self._by_unit.setdefault("%", set()).update((good, 100 - good))
        for each in _WINDOW.finditer(text):
            begin, end = (
                float(each[which]) * SCALES.get(each[f"{which}_scale"] or "", 1.0)
                for which in ("one", "other")
            )
            self._by_unit.setdefault("s", set()).add(abs(end - begin))
        self._read_sources(text)
        for each in _SHARE_GIVEN.finditer(text):
            self._by_unit.setdefault("%", set()).update(
                100 * float(share) for share in each.groups() if share
            )
        for each in _TEMPERATURE.finditer(text):
            self._by_unit.setdefault("degC", set()).add(float(each["number"]))

    def _read_sources(self, text: str) -> None:
        """How far a sweep of frequency goes, period and duty of pulses."""
        for each in _SPAN.finditer(text.replace("\\n", "\n")):
            low, high = written(each["low"]), written(each["high"])
            if low and high:
                span, steps = abs(high - low), int(each["points"]) - 1
                self._by_unit.setdefault("Hz", set()).add(span)
                if each["how"].lower() == "lin" and steps > 0:
                    self._by_unit["Hz"].add(span / steps)
        for each in _PULSE.finditer(text):
            width, period = (
                float(found[1]) * SCALES.get((found[2] or "").lower(), 1.0) if found else 0.0
                for found in (_SCALED.match(each[which]) for which in ("width", "period"))
            )
            if period:
                self._by_unit.setdefault("Hz", set()).add(1 / period)
                self._by_unit.setdefault("%", set()).add(100 * width / period)
                self._by_unit.setdefault("s", set()).update((width, period))

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
        if figure.unit == "degC" and figure.digits > _COARSE and not values:
            # In a circuit that stands for something that gets warm, volts are degrees.
            values |= self._by_unit.get("V", set())
        values |= self._bare if figure.unit in _SCIENTIFIC_UNITS else self._precise
        values |= self._asked_bare if figure.unit in _PART_UNITS.values() else set()
        values.update(self._converted(figure.unit))
        return any(is_rounding(figure, value, is_rough=is_rough) for value in values)

    def exactly(self, figure: TextFigure) -> list[Given]:
        """The values that a figure rounds, with its unit; none where they are many: it may be any of them."""
        values = [
            value
            for value in self._by_unit.get(figure.unit, ())
            if is_rounding(figure, value, is_rough=False)
        ]
        return [(figure.unit, value) for value in values] if len(values) <= _FEW_EXACT else []

    def is_measured(self, figure: TextFigure) -> bool:
        """Whether a figure of some digits rounds a value of a study, whose names are the caller's own."""
        return figure.digits > 1 and any(
            unit == figure.unit and is_rounding(figure, value, is_rough=False)
            for unit, value in self._studied
        )

    def _converted(self, unit: str) -> Iterator[float]:
        ratios = self._by_unit.get("1", set()) | self._precise | self._driven
        if unit == "%":
            yield from (100 * value for value in ratios if value < 10)
        elif unit == "Ohm":
            yield from self._driven
        elif unit == "dB":
            yield from (abs(20 * math.log10(value)) for value in ratios)
        elif unit == "1":
            yield from self._driven
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

    def operands(self) -> Iterator[Given]:
        """What a model may have reckoned with: measured values, parts, and what was asked for."""
        asked = values_of(self.asked)
        yield from dict.fromkeys(
            (unit or "1", float(f"{value:.6g}"))
            for unit, value in (
                *self.named(),
                *(each for values in self._measured_courses.values() for each in values),
                *asked,
                *self._parts.values(),
                *(each for those in self.powers for each in those),
            )
            if value
        )

    def shares_of_courses(self) -> Iterator[Given]:
        """By how much what a study measured went from end to end, from least to most, from study to study."""
        ends = {pair for each in self._courses for pair in ((each[0], each[-1]), (min(each), max(each)))}
        ends |= {pair for values in self._measured_at.values() for pair in pairwise(values)}
        for one, other in ends:
            if one and other:
                yield from (("%", 100 * abs(other / one - 1)), ("%", 100 * abs(one / other - 1)))

    def courses(self) -> tuple[list[list[Given]], list[list[Given]]]:
        """The values of each quantity that was measured more than once, and of each that was varied."""
        measured, varied = (
            [list(dict.fromkeys(values)) for values in those]
            for those in (
                [*self._named.values(), *self._measured_courses.values()],
                self._varied_courses.values(),
            )
        )
        return [each for each in measured if len(each) > 1], varied

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

    def sources(self) -> list[Given]:
        """Voltages and currents of the circuit's sources."""
        return [given for given in self._parts.values() if given[0] in ("V", "A")][:_FEW]

    def loads(self) -> list[Given]:
        """Resistances of the circuit's loads."""
        return [given for name, given in self._parts.items() if _LOAD.fullmatch(name)][:_FEW]

    def off_sources(self) -> Iterator[Given]:
        """How far what a study measured is from the circuit's sources."""
        yield from (
            (unit, abs(value - source))
            for unit, value in islice(self._studied, MOST_FIGURES)
            for same, source in self.sources()
            if unit == same
        )

    def ratios(self) -> list[float]:
        """Results near to 1 that have no unit: "ic(q2)/i(q1) = 1.0042"."""
        values = self._by_unit.get("1", set()) | self._precise
        return [value for value in values if value != 1 and _RATIOS[0] < value < _RATIOS[1]][:_FEW]

    def of_neighbors(self) -> list[Given]:
        """What parts that share a node make together: time constants, corners, resonances, dividers, sums.

        Of amplifiers with one pole also gain times pole, and all of it divided by what the circuit amplifies.
        """
        found: list[Given] = []
        cards = list(self._cards.values())[:_MOST_CARDS]
        old = list(self._replaced.values())[:_MOST_CARDS]
        for (one, ends), (other, more) in (*combinations(cards, 2), *combinations(old, 2)):
            if not (ends & more) - {"0", "gnd"}:
                continue
            found += [
                each
                for each in by_law([one, other])
                if each[0] in ("Hz", "s", "Ohm") and each not in (one, other)
            ]
            if one[0] == other[0] == "Ohm":
                found += [("V", one[1] / (one[1] + other[1])), ("V", other[1] / (one[1] + other[1]))]
        poles = [value for unit, value in found if unit == "Hz"]
        for gain in self._gains:
            found += [("Hz", gain * pole) for pole in poles if gain > _AMPLIFIER]
        products = [value for unit, value in found[-_FEW_PRODUCTS:] if unit == "Hz" and self._gains]
        found += [("Hz", each / gain) for each in products for gain in self._own_gains()]
        return [*found, *(("Hz", 2 * each) for each in self._sines)]

    def losses(self) -> Iterator[Given]:
        """What the powers of a result, and those that voltages and currents make, leave of each other."""
        taken = [one * other for unit, one in self.newest() if unit == "V"
                 for same, other in self.newest() if same == "A"]  # fmt: skip
        for powers in self.powers:
            sizes = [value for _, value in powers]
            yield from (("W", abs(one - other)) for one, other in combinations([*sizes, *taken], 2))

    def edges(self) -> Iterator[Given]:
        """Half a swing to each side of a mean; half a bandwidth to each side of a frequency, which may be the
        middle of the two or the root of their product.
        """
        means = [*self._named.get("avg", ()), *self._named.get("mean", ())]
        for unit, mean in means:
            for same, swing in self._named.get("pp", ()):
                yield from ((unit, abs(mean + half)) for half in (swing / 2, -swing / 2) if same == unit)
        for together in self._lines[:_MOST_LINES]:
            rates = [value for unit, value in together if unit == "Hz"][:_FEW]
            for middle, width in permutations(rates, 2):
                for center in (middle, math.hypot(middle, width / 2)) if width < middle else ():
                    yield from (("Hz", center - width / 2), ("Hz", center + width / 2))

    def _own_gains(self) -> list[float]:
        """What the circuit was measured to amplify."""
        return [10 ** (value / 20) for value in self._by_unit.get("dB", ()) if 0 < value < 200][:_FEW]

    def resistances(self) -> list[float]:
        """Of the cards that were read, a few."""
        return sorted(self._ohms)[:MOST_BY_LAW]

    def newest(self) -> list[Given]:
        """The newest values with names, a few."""
        return [
            given
            for values in islice(self._named.values(), _FEW)
            for given in {unit: (unit, value) for unit, value in reversed(values)}.values()
        ]

    def has_value(self, value: float) -> bool:
        """Whether the value of a part stands somewhere in a result."""
        return any(math.isclose(value, each, rel_tol=6e-3) for each in self._bare)


def _sums(line: str) -> set[float]:
    """What parts make of the variance together: any two, the first few, those of one kind, the others."""
    shares = [(each["part"][0].lower(), float(each["share"])) for each in _SHARE.finditer(line)][
        :_MOST_TOGETHER
    ]
    sums = {one + other for (_, one), (_, other) in combinations(shares, 2)}
    sums |= {sum(share for _, share in shares[:count]) for count in range(1, len(shares) + 1)}
    sums |= {sum(share for own, share in shares if own == kind) for kind, _ in shares}
    return sums | {100 - each for each in sums if each < 100}
