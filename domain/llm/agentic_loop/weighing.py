"""Whether a figure that stands in nothing known is doubted: by what speaks for it and against it, weighed.

A figure that a model worked out by itself follows from others in ways nobody listed; one it made up does so
by chance. So all is reckoned that two figures, or two differences of them, give together, and the less likely
a hit is there, the more it speaks for the figure. The words beside it and how it is told speak, too. The
weights are learnt from answers whose truth is known (`scripts/learn_doubts.py`, `learnt_doubts.py`).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice, product

from domain.circuit.figures_in_text import TextFigure
from domain.circuit.said_figures import SIGHT, is_bound, sentence_before
from domain.llm.agentic_loop.follows import Given, by_law, derived
from domain.llm.agentic_loop.known import Known
from domain.llm.agentic_loop.learnt_doubts import LEARNT
from shared.late_patterns import late_pattern

_MOST_OPERANDS = 60
_MOST_NEAR = 8
_MOST_STEPS = 40
_SIGHT_NEAR = 120
"""Characters before and behind its sentence in which a figure's operands stand."""
_ROOM = 2.0
"""Values up to this factor off tell how crowded it is where a figure is."""
_LOGARITHMIC = ("dB", "deg", "degC", "%")
_MOST_DECADES = 3.0
_OFF_WHOLE = 0.06
_OF_SINE = (0.5, 2.0, math.sqrt(0.5), math.sqrt(2), math.sqrt(0.125), math.sqrt(8))
_WORD = late_pattern(r"[A-Za-z]{2,}|[=≈/*(+→:-]")
_CHINESE = late_pattern(r"[\u4e00-\u9fff]+")
_CLAUSES = late_pattern(r"[.。;；\n]\s|\n")
_RECKONED = late_pattern(r"[*/√+÷‖=≈]|\d\s-\s\d")
_EQUALS = late_pattern(r"[=≈]\s*\Z")
_FOUND = late_pattern(
    r"\b(?:simulat\w+|measured|ngspice|verified|ran|runs?|results?|now|final"
    r"|I (?:set|changed|raised|lowered|put|made))\b"
    r"|仿真|实测|测得|测量|结果|运行|现在|最终|已|[改调换设](?:成|为|到|至)"
)
_OLD = late_pattern(
    r"\b(?:before|was|were|had|original\w*|old|initial\w*|instead of|previous\w*|from)\b"
    r"|原|之前|先前|[改调换]前|由|从|比"
)
_BEFORE, _BEHIND = 40, 24


class Reach:
    """Numbers that something gives, by unit."""

    def __init__(self, values: Iterable[Given]) -> None:
        self._by_unit: dict[str, list[float]] = {}
        for unit, value in values:
            self._by_unit.setdefault(unit, []).append(abs(value))
        for those in self._by_unit.values():
            those.sort()

    def decades(self, figure: TextFigure, slack: float, unit: str | None = None) -> float | None:
        """How unlikely a hit by chance is where a figure is one of them, in decades; None: it is none."""
        those, value = self._by_unit.get(figure.unit if unit is None else unit, []), abs(figure.value)
        if bisect_right(those, value + slack) == bisect_left(those, value - slack):
            return None
        beside = bisect_right(those, value * _ROOM) - bisect_left(those, value / _ROOM)
        chance = beside * 2 * slack / (1.5 * value)
        return min(_MOST_DECADES, max(0.0, -math.log10(max(chance, 10**-_MOST_DECADES))))


def _slack_of(figure: TextFigure, *, is_rough: bool) -> float:
    value = abs(figure.value)
    if figure.unit in _LOGARITHMIC:
        most = 2.0 if is_rough else 0.5
    else:
        most = (0.03 if figure.digits > 1 else 0.16) * value
    return min(max(figure.step / 2, 0.06 * value if is_rough else 0.0), most) + 5e-5 * value


class Weighing:
    """What speaks for the figures of one answer and against them."""

    def __init__(
        self,
        flat: str,
        figures: Sequence[TextFigure],
        parts: Sequence[tuple[int, int, float, str]],
        known: Known,
    ) -> None:
        self._flat, self._known = flat, known
        self._told = [(figure.start, (figure.unit, abs(figure.value))) for figure in figures]
        self._told += [(start, (unit, value)) for start, _, value, unit in parts]
        self._operands = list(islice(known.operands(), _MOST_OPERANDS))
        self._far = [
            Reach(_of_two(combinations(self._operands, 2))),
            Reach(_of_one(self._operands)),
            Reach(_of_steps(known)),
        ]
        bare = [("", value) for _, value in self._operands]
        differences = (("", abs(one - other)) for (_, one), (_, other) in combinations(bare, 2))
        self._bare = Reach([*bare, *differences])

    def features(
        self, figure: TextFigure, named: Sequence[float], *, is_rough: bool, follows: bool
    ) -> dict[str, float]:
        """What is looked at of a figure. `named`: what the quantity that is named next to it has."""
        flat = self._flat
        before, behind = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        slack = _slack_of(figure, is_rough=is_rough)
        near = self._near(figure, before, behind)
        close = [
            Reach(_of_two(combinations(near, 2))),
            Reach(_of_one(near)),
            Reach(_of_two(product(near, self._operands))),
        ]
        of_close = [size for each in close if (size := each.decades(figure, slack)) is not None]
        # In a circuit that stands for something else, volts are degrees, or whatever is told.
        units = (figure.unit, "V") if figure.unit in ("degC", "?") else (figure.unit,)
        of_far = [
            size
            for each in self._far
            for unit in units
            if (size := each.decades(figure, slack, unit)) is not None
        ]
        line = flat[flat.rfind("\n", 0, figure.start) + 1 :].lstrip()[:1]
        analog = figure.digits > 1 and self._bare.decades(figure, slack, "") is not None
        found: dict[str, float] = {
            "near": max(of_close, default=0.0),
            "far": max(of_far, default=0.0),
            "best": max([*of_close, *of_far], default=0.0),
            "hits": float(len(of_close) + len(of_far)),
            "none": float(not of_close and not of_far),
            "follows": float(follows),
            "analog": float(analog and figure.unit in ("deg", "degC", "?", "1")),
            "named": float(bool(named)),
            "beside": float(any(0.5 < figure.value / each < 2.0 for each in named if each)),
            "bound": float(is_bound(before)),
            "rough": float(is_rough),
            "cell": float(line == "|"),
            "aside": float(flat[: figure.start].rstrip()[-1:] in ("(", "（")),
            "equals": float(_EQUALS.search(flat[: figure.start][-4:]) is not None),
            "reckoned": float(_RECKONED.search(before[-40:]) is not None),
            "found": float(_FOUND.search(f"{before}{_CLAUSES.split(behind)[0]}".lower()) is not None),
            "old": float(_OLD.search(before.lower()) is not None),
            f"digits {min(figure.digits, 3)}": 1.0,
            f"in {figure.unit}": 1.0,
        }
        return found | dict.fromkeys(self._words(figure), 1.0)

    def _near(self, figure: TextFigure, before: str, behind: str) -> list[Given]:
        """What is told near a figure."""
        begin = figure.start - len(before) - _SIGHT_NEAR
        end = figure.end + len(_CLAUSES.split(behind)[0]) + _SIGHT_NEAR // 2
        those = [
            (abs(start - figure.start), given)
            for start, given in self._told
            if begin <= start < end and start != figure.start and given[1]
        ]
        return list(dict.fromkeys(given for _, given in sorted(those)))[:_MOST_NEAR]

    def _words(self, figure: TextFigure) -> Iterator[str]:
        """The words right before and behind it, of Chinese pairs of characters."""
        before = _CLAUSES.split(self._flat[max(0, figure.start - _BEFORE) : figure.start].lower())[-1]
        behind = _CLAUSES.split(self._flat[figure.end : figure.end + _BEHIND])[0].lower()
        words = _WORD.findall(before)[-4:]
        yield from (f"<{word}" for word in words)
        if words:
            yield f"<<{words[-1]}"
        yield from (f">{word}" for word in _WORD.findall(behind)[:3])
        for mark, text in (("<", before[-12:]), (">", behind[:8])):
            for run in _CHINESE.findall(text):
                yield from (f"{mark}{run[at : at + 2]}" for at in range(len(run) - 1))


@cache
def learnt() -> Mapping[str, float]:
    """What each feature speaks against a figure, in nats; "" what is so of any."""
    rows = (line.rpartition(" ") for line in LEARNT.strip("\n").split("\n"))
    return {name: int(size) / 20 for name, _, size in rows}


def doubts(features: Mapping[str, float]) -> bool:
    """Whether more speaks against a figure than for it."""
    weights = learnt()
    return weights[""] + sum(weights.get(name, 0.0) * size for name, size in features.items()) > 0


def _of_two(pairs: Iterable[tuple[Given, Given]]) -> Iterator[Given]:
    """All that two figures give together."""
    for one, other in pairs:
        if one == other or not (one[1] and other[1]):
            continue
        (unit, value), (same, second) = one, other
        yield from by_law([one, other])
        if unit == same:
            yield from derived([one, other])
            if unit not in _LOGARITHMIC:
                yield from ((unit, (value + second) / 2), (unit, math.sqrt(value * second)))
            if unit == "W":
                yield "dB", 10 * abs(math.log10(value / second))
        for (unit, value), (share_unit, share) in ((one, other), (other, one)):
            if share_unit == "%" and unit not in _LOGARITHMIC:
                part = value * share / 100
                yield from ((unit, part), (unit, value - part), (unit, value + part))
            elif share_unit == "1" and unit not in ("1", *_LOGARITHMIC):
                yield from ((unit, value * share), (unit, value / share))


def _of_one(values: Iterable[Given]) -> Iterator[Given]:
    """What a figure is in other words: half of it, its effective value, the rate of a time, its share."""
    for unit, value in values:
        if unit in ("V", "A"):
            yield from ((unit, value * factor) for factor in _OF_SINE)
        elif unit in ("s", "Hz"):
            yield from ((unit, value * factor) for factor in (0.5, 2.0, 3.0, 4.0, 5.0))
            yield from [("Hz" if unit == "s" else "s", 1 / value)] if value else []
        elif unit in ("1", "") and value:
            yield from (("%", 100 * value), ("dB", 20 * abs(math.log10(value))), ("%", 100 * abs(value - 1)))
        elif unit == "dB" and value < 200:
            ratio = 10 ** (value / 20)
            yield from (("1", ratio), ("%", 100 / ratio), ("1", ratio**2))
        elif unit == "%":
            yield from (("%", abs(100 - value)), ("1", value / 100))


def _of_steps(known: Known) -> Iterator[Given]:
    """What takes more than two: slopes, shares and losses of powers, how far it is off a round number."""
    changes, moved = (
        [
            (unit, abs(one - other))
            for values in courses
            for (unit, one), (_, other) in combinations(values[:8], 2)
            if one != other
        ][:_MOST_STEPS]
        for courses in known.courses()
    )
    for one, other in product(changes, [*moved, *changes]):
        (unit, change), (per, by) = one, other
        yield from by_law([one, other])
        yield unit, change / by
        if unit == per:
            yield from (("1", change / by), ("%", 100 * change / by))
    told = [*(each for those in known.powers for each in those), *known.operands()]
    powers = list(islice(dict.fromkeys(value for unit, value in told if unit == "W" and value), 12))
    volts, amperes, ohms = (
        [value for own, value in known.operands() if own == unit][:20] for unit in ("V", "A", "Ohm")
    )
    taken_by = [
        *(volt**2 / ohm for volt, ohm in product(volts, ohms)),
        *(volt * ampere for volt, ampere in product(volts, amperes)),
        *(ampere**2 * ohm for ampere, ohm in product(amperes, ohms)),
    ]
    for taken, given in product(taken_by, powers):
        yield "W", abs(given - taken)
        yield from [("%", 100 * taken / given)] if taken < given else []
    for unit, value in known.operands():
        for scale in (1.0, 1e-3, 1e3, 1e6):
            whole = round(value / scale) * scale
            if whole and 0.3 < value / scale < 1e3 and 0 < (off := abs(value / whole - 1)) < _OFF_WHOLE:
                yield from ((unit, off * whole), ("%", 100 * off))
