"""Figures and units of goals as models write them: ``10000``, ``"10 kHz"``, ``">= 60 dB"``, ``"30毫伏"``."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

from domain.design.sentence import Bound, read_sentence
from domain.simulation import units
from domain.simulation.expression_syntax import Binary, Call, Negation, Node, Number, SignalRef, children
from domain.simulation.measurements import MEASUREMENTS
from shared.late_patterns import late_pattern

HUGE = 1e300
_LONGEST_FIGURE = 80
_LONGEST_UNIT = 24

_PLAIN = late_pattern(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?", re.IGNORECASE)
_ROOT = late_pattern(r"(?:sqrt|√)\(?(?P<inner>[^()]*)\)?", re.IGNORECASE)
_DEGREES = late_pattern(r"(?:deg(?:rees?)?|°|度)", re.IGNORECASE)
_SIGNS: tuple[tuple[str, Bound], ...] = (
    (">=", "at_least"), ("=>", "at_least"), ("≥", "at_least"), ("⩾", "at_least"), (">", "at_least"),
    ("<=", "at_most"), ("=<", "at_most"), ("≤", "at_most"), ("⩽", "at_most"), ("<", "at_most"),
)  # fmt: skip
_WORDS: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (late_pattern(r"(?:ge|gte?|min(?:imum)?|at[ _]least|(?:greater|more|higher|larger)[ _]than.*|above"
                  r"|lower.*|至少|不小于|不低于|大于(?:等于)?)", re.IGNORECASE), "at_least"),
    (late_pattern(r"(?:le|lte?|max(?:imum)?|at[ _]most|(?:less|smaller|lower)[ _]than.*|below|under|upper.*"
                  r"|最多|不大于|不超过|不高于|小于(?:等于)?)", re.IGNORECASE), "at_most"),
)  # fmt: skip
_ALIKE = {"": "1", "x": "1", "times": "1", "ratio": "1", "v/v": "1", "a/a": "1", "1": "1", "none": "1",
          "倍": "1", "dimensionless": "1", "db": "dB", "分贝": "dB", "v_pp": "V", "v_rms": "V", "vp": "V",
          "siemens": "S", "℃": "degC", "c": "degC", "va": "W", "j": "J"}  # fmt: skip
_BARE_PREFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "meg": 1e6, "Meg": 1e6, "MEG": 1e6, "G": 1e9, "m": 1e-3,
                  "u": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12, "千": 1e3, "万": 1e4, "兆": 1e6}  # fmt: skip


class BadFigureError(ValueError):
    """A figure or a unit that cannot be read; the text says why, in English, for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure, perhaps with words around it."""

    value: float
    """In SI where a unit was written; percent as a fraction. Always finite."""
    unit: str | None
    """The unit that was written with it; None when there was none, "%" for percent."""
    upper: float | None = None
    """The upper end of a range."""
    bound: Bound | None = None
    is_tolerance: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of ours, and what a figure in the written one has to be multiplied with."""

    name: str
    factor: float


def read_figure(given: object) -> Figure | None:
    """A figure as a number, a text, a pair (a range) or {"value", "unit"}; None for none.

    Raises BadFigureError.
    """
    match given:
        case None | "" | []:
            return None
        case int() | float() if not isinstance(given, bool):
            return Figure(value=_finite(given), unit=None)
        case str():
            return _of_text(given)
        case [low, high]:
            return _range(read_figure(low), read_figure(high))
        case {"value": (str() | int() | float()) as value, **rest}:
            unit = rest.get("unit")
            return read_figure(f"{value} {unit}" if isinstance(unit, str) else value)
    raise BadFigureError("is not one figure")


def _range(low: Figure | None, high: Figure | None) -> Figure | None:
    """Two figures as one; of an end that is None the other is the only bound."""
    if low is None or high is None:
        one = low or high
        bound: Bound = "at_least" if high is None else "at_most"
        return None if one is None else Figure(value=one.value, unit=one.unit, bound=bound)
    if low.upper is not None or high.upper is not None:
        raise BadFigureError("is not one figure")
    return Figure(value=low.value, unit=high.unit or low.unit, upper=high.value)


def read_unit(text: str) -> Unit:
    """``kHz``, ``千赫``, ``V/us``, ``nV/√Hz``, ``%``. Raises BadFigureError."""
    plain = "".join(unicodedata.normalize("NFKC", text).split())
    if len(plain) > _LONGEST_UNIT:
        raise BadFigureError(f"{text[:_LONGEST_UNIT]!r}... is no unit")
    if (whole := _simple_unit(plain)) is not None:
        return whole
    first, *others = plain.split("/")
    above = _simple_unit(first)
    if above is None or not others:
        raise BadFigureError(
            f"{text!r} is no unit such as Hz, V, A, s, Ohm, W, dB, deg, 1, V/s or V/sqrt(Hz)"
        )
    name, factor = above.name, above.factor
    for other in others:
        root = _ROOT.fullmatch(other)
        below = _simple_unit(root["inner"] if root else other)
        if below is None:
            raise BadFigureError(f"{text!r} is no unit such as V/s or V/sqrt(Hz)")
        name = f"{name}/sqrt({below.name})" if root else f"{name}/{below.name}"
        factor /= math.sqrt(below.factor) if root else below.factor
    return Unit(name=name, factor=factor)


def bound_of(text: str) -> Bound | Literal["equal", "between"] | None:
    """What a comparator means; None for one that is not known."""
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    for sign, bound in _SIGNS:
        if plain == sign:
            return bound
    for pattern, bound in _WORDS:
        if pattern.fullmatch(plain):
            return bound
    if plain in ("=", "==", "eq", "equal", "equals", "target", "around", "about", "≈", "~", "等于", "约"):
        return "equal"
    return "between" if plain in ("between", "range", "in", "within", "介于", "…", "..") else None


def unit_of_value(node: Node) -> str | None:
    """The unit an expression's value has whatever the data are; None where only they can tell."""
    match node:
        case Number():
            return "1"
        case SignalRef():
            if node.text.lower() == "pi":
                return "1"
            return {"v": "V", "i": "A", "terminal": "A"}.get(node.kind)
        case Negation():
            return unit_of_value(node.operand)
        case Binary():
            return _unit_of_operation(node)
        case Call():
            return _unit_of_call(node)


def is_number(node: Node) -> bool:
    """Whether an expression is one number for certain: every signal stands inside a measurement."""
    match node:
        case Number():
            return True
        case SignalRef():
            return node.text.lower() == "pi"
        case Call() if node.function in MEASUREMENTS:
            return True
        case _:
            return all(map(is_number, children(node)))


def has_signal(node: Node) -> bool:
    """Whether it depends on the simulation at all."""
    if isinstance(node, SignalRef):
        return node.text.lower() != "pi"
    return any(map(has_signal, children(node)))


def first_function(node: Node) -> str:
    """The function that names what is measured, from the outside in; "" when there is none."""
    if isinstance(node, Call) and node.function in MEASUREMENTS:
        return node.function
    return next((name for child in children(node) if (name := first_function(child))), "")


def _finite(number: float) -> float:
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not abs(value) < HUGE:  # NaN too
        raise BadFigureError("is no finite number")
    return value


def _of_text(text: str) -> Figure:
    plain = re.sub(r"[‒–—−﹣]", "-", unicodedata.normalize("NFKC", text)).replace("µ", "μ").strip()
    if len(plain) > _LONGEST_FIGURE:
        raise BadFigureError("is not one figure")
    is_tolerance = plain.startswith(("±", "+/-", "+-"))
    bare = plain.removeprefix("±").removeprefix("+/-").removeprefix("+-").lstrip("~≈=: ")
    bound: Bound | None = None
    for sign, meant in _SIGNS:
        if bare.startswith(sign):
            bare, bound = bare.removeprefix(sign).lstrip("= "), meant
            break
    number = _PLAIN.match(bare)
    if number is not None and (found := _number_with_unit(number[0], bare[number.end() :].strip())):
        value, unit = found
        return Figure(value=_finite(value), unit=unit, bound=bound, is_tolerance=is_tolerance)
    return _of_sentence(plain)


def _number_with_unit(number: str, rest: str) -> tuple[float, str | None] | None:
    value = float(number.replace(",", ""))
    if not rest:
        return value, None
    if rest in _BARE_PREFIXES:
        return value * _BARE_PREFIXES[rest], None
    try:
        unit = read_unit(rest)
    except BadFigureError:
        return None
    return value * unit.factor, unit.name


def _of_sentence(text: str) -> Figure:
    """Words around a figure, a range, Chinese numerals."""
    sentence = read_sentence(_DEGREES.sub("", text) if "°c" not in text.lower() else text)
    if len(sentence.mentions) != 1:
        raise BadFigureError("is not one figure")
    (mention,) = sentence.mentions
    unit: str | None = {"none": None, "x": "1"}.get(mention.dimension, mention.dimension)
    if unit is None and _DEGREES.search(text):
        unit = "deg"
    return Figure(
        value=_finite(mention.value),
        unit=unit,
        upper=None if mention.upper is None else _finite(mention.upper),
        bound=mention.bound,
        is_tolerance=mention.is_tolerance,
    )


def _simple_unit(text: str) -> Unit | None:
    lowered = text.lower()
    if lowered in _ALIKE:
        return Unit(name=_ALIKE[lowered], factor=1.0)
    if _DEGREES.fullmatch(text):
        return Unit(name="deg", factor=1.0)
    if text in ("%", "percent", "pct", "百分比"):
        return Unit(name="%", factor=0.01)
    mentions = read_sentence(f"1 {text}").mentions
    if len(mentions) != 1 or mentions[0].dimension == "none" or mentions[0].end != len(text) + 2:
        return None
    dimension = mentions[0].dimension
    name = {"x": "1"}.get(dimension, dimension)
    return Unit(name=name, factor=mentions[0].value)


_STAND_IN: dict[str, tuple[str, str]] = {
    "time": ("", "s"),
    "frequency": ("", "Hz"),
    "noise": ("", "Hz"),
    "any": ("", ""),
}


def _unit_of_call(node: Call) -> str | None:
    if not node.arguments:
        return None
    argument = unit_of_value(node.arguments[0])
    if (measurement := MEASUREMENTS.get(node.function)) is not None:
        _, axis = _STAND_IN[measurement.domain]
        rule: Callable[[Any], str] = measurement.unit
        return rule(SimpleNamespace(unit=argument or "", axis_unit=axis)) or None
    of_vectors = {"db": "dB", "ph": "deg", "phase": "deg", "group_delay": "s"}
    if node.function in of_vectors:
        return of_vectors[node.function]
    if node.function in ("re", "im", "mag", "abs", "real", "imag", "magnitude"):
        return argument
    return units.power(argument, 0.5) or None if node.function == "sqrt" and argument else None


def _unit_of_operation(node: Binary) -> str | None:
    left, right = unit_of_value(node.left), unit_of_value(node.right)
    if left is None or right is None:
        return None
    match node.operator:
        case "+" | "-":
            return units.total(left, right) or None
        case "*":
            return units.product(left, right) or None
        case "/":
            return units.quotient(left, right) or None
    return None
