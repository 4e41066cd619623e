"""Calculations that an answer writes out with figures: "(24 V - 0.09 V)/480 Ω ≈ 49.8 mA".

Each is reckoned anew, in SI units: its result is right or wrong whatever its operands come from. What has
letters for values ("R·C") is left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.circuit.figures_in_text import TextFigure
from shared.late_patterns import late_pattern

_MOST_TOKENS = 60
_OFF = 0.06
"""A result may be this far off (a share): its operands were rounded."""
_TOKEN = late_pattern(
    r"\s*+(?:(?P<number>(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?![A-Za-z_\d]|\.\d))"
    r"|(?P<pi>π|pi\b)|(?P<root>√|sqrt(?=\())"
    r"|(?P<square>²|\^2(?!\d))|(?P<parallel>‖|∥|\|\|)|(?P<times>\*|x(?= ))|(?P<over>/|÷)|(?P<sign>[-+])"
    r"|(?P<open>\()|(?P<close>\))|(?P<equals>=|≈))"
)
_LINE_ENDS = late_pattern(r"\s*[^\S ]")


@dataclass(frozen=True, slots=True)
class Reckoned:
    """A calculation with its result."""

    start: int
    end: int
    result: int
    """Where the figure stands that it gives."""
    is_right: bool


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int
    value: float = 0.0
    figure: TextFigure | None = None


def reckoned(flat: str, figures: Sequence[TextFigure]) -> Iterator[Reckoned]:
    """The calculations in a text in plain form, in their order."""
    for run in _runs(flat, figures):
        segments: list[list[_Token]] = [[]]
        for token in run:
            if token.kind == "equals":
                segments.append([])
            else:
                segments[-1].append(token)
        for one, other in pairwise(segments):
            # Behind the result the sentence goes on: "= 5.0 V (…)".
            is_result = len(other) == 1 or (len(other) > 1 and other[1].kind == "open")
            result = other[0] if is_result and other[0].kind in ("figure", "number") else None
            expression = _from_last_aside(one)
            is_whole = result is not None and not _is_cut(flat, expression, result)
            if is_whole and result is not None and (value := _value_of(expression)) is not None:
                yield _judged(expression, expression[0].start, other[0].end, value, result)
        for segment in segments:
            # a result before its calculation, which stands in parentheses
            for place, token in enumerate(segment[:-1]):
                if token.figure is not None and segment[place + 1].kind == "open":
                    expression = _aside(segment[place + 1 :])
                    if (value := _value_of(expression)) is not None and not _is_range(expression, value):
                        yield _judged(expression, token.start, expression[-1].end, value, token)


def _judged(expression: Sequence[_Token], start: int, end: int, value: float, result: _Token) -> Reckoned:
    figure = result.figure
    step = figure.step * (result.value / figure.value) if figure is not None and figure.value else 0.0
    is_right = abs(abs(value) - result.value) <= _OFF * result.value + step / 2
    if figure is not None and all(each.figure is None for each in expression):
        # "37.871/10.016 ≈ 3.78 kHz": in thousands, as the result
        written = re.match(r"[-+±]?([\d.]+)", figure.text)
        told = float(written[1].rstrip(".")) if written is not None else math.inf
        is_right |= abs(abs(value) - told) <= _OFF * told
    return Reckoned(start, end, result.start, is_right)


def _is_range(expression: Sequence[_Token], value: float) -> bool:
    """Whether it is no difference but from where to where: "11.04 V (10.85-11.15 V)"."""
    is_difference = len(expression) == 3 and expression[1].kind == "sign"
    # Of a range the unit stands behind both.
    return is_difference and (
        value < 0 or (expression[0].figure is None and expression[2].figure is not None)
    )


def _is_cut(flat: str, expression: Sequence[_Token], result: _Token) -> bool:
    """Whether it is an argument of a function ("log10(4.5)"), or its result has a strange unit ("72 mJ")."""
    if not expression:
        return True
    before = flat[: expression[0].start].rstrip(" (")[-1:]
    is_argument = before.isalnum() and flat[len(flat[: expression[0].start].rstrip(" (")) :][:1] == "("
    behind = flat[result.end :][:3].lstrip()[:1]
    return is_argument or (result.figure is None and (behind.isalpha() or behind == "%"))


def _runs(flat: str, figures: Sequence[TextFigure]) -> Iterator[list[_Token]]:
    """Signs, figures and bare numbers with nothing else between them."""
    at = {figure.start: figure for figure in figures}
    run: list[_Token] = []
    place = 0
    while place < len(flat):
        blank = place
        while blank < len(flat) and flat[blank] == " ":
            blank += 1
        signed = at.get(blank)
        # "1/3.3 us": the range's unit is no operand's; a sign is an operator.
        is_own = signed is not None and signed.text[-1:].isdigit() is False and signed.text[:1] not in "+-±"
        figure = signed if is_own else None
        if figure is not None and figure.unit != "?":
            value = figure.value / 100 if figure.unit == "%" else figure.value
            run.append(_Token("figure", figure.start, figure.end, value, figure))
            place = figure.end
        elif (found := _TOKEN.match(flat, place)) is not None:
            kind = found.lastgroup or ""
            number = float(found["number"]) if kind == "number" else math.pi
            number = -1.0 if found[kind] == "-" else number
            run.append(_Token(kind, found.start(kind), found.end(), number))
            place = found.end()
        else:
            if len(run) > 2:
                yield run[:_MOST_TOKENS]
            run = []
            if (ends := _LINE_ENDS.match(flat, blank)) is not None:
                place = ends.end()  # not again from each of them
                continue
            # A word, or one character, is none of it.
            place = blank + 1
            while place < len(flat) and flat[place - 1].isalnum() and flat[place].isalnum():
                place += 1
    if len(run) > 2:
        yield run[:_MOST_TOKENS]


def _from_last_aside(tokens: list[_Token]) -> list[_Token]:
    """What stands behind the last parenthesis that is not closed: "(simulated 1 V; 1 V * 2 = ..."."""
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        depth += {"close": 1, "open": -1}.get(tokens[place].kind, 0)
        if depth < 0:
            return tokens[place + 1 :]
    return tokens


def _aside(tokens: list[_Token]) -> list[_Token]:
    """What stands within the parentheses that a list begins with; empty where they do not close."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if not depth:
            return tokens[1:place]
    return []


def _value_of(tokens: Sequence[_Token]) -> float | None:
    """What a calculation gives; None where it is none, or of decibels, of which products mean nothing."""
    operands = [token for token in tokens if token.kind in ("figure", "number")]
    signs = {token.kind for token in tokens} & {"times", "over", "sign", "parallel", "root", "square"}
    decibels = [
        token for token in operands if token.figure is not None and token.figure.unit in ("dB", "deg")
    ]
    if not signs or not operands or (decibels and signs != {"sign"}):
        return None
    units = {token.figure.unit for token in operands if token.figure is not None}
    if "sign" in signs and len(operands) == 2 and len(units) != 1 and signs == {"sign"}:
        return None  # "980-1020 Hz"
    try:
        value, rest = _sum(list(tokens))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return None if rest or not math.isfinite(value) else value


def _sum(tokens: list[_Token]) -> tuple[float, list[_Token]]:
    value, tokens = _product(tokens)
    while tokens and tokens[0].kind == "sign":
        factor = -1.0 if tokens[0].value < 0 else 1.0
        other, tokens = _product(tokens[1:])
        value += factor * other
    return value, tokens


def _product(tokens: list[_Token]) -> tuple[float, list[_Token]]:
    value, tokens = _power(tokens)
    while tokens:
        match tokens[0].kind:
            case "times":
                other, tokens = _power(tokens[1:])
                value *= other
            case "over":
                other, tokens = _power(tokens[1:])
                value /= other
            case "parallel":
                other, tokens = _power(tokens[1:])
                value = value * other / (value + other)
            case "pi" | "root" | "open":  # "2π", "2π√(...)"
                other, tokens = _power(tokens)
                value *= other
            case _:
                break
    return value, tokens


def _power(tokens: list[_Token]) -> tuple[float, list[_Token]]:
    if not tokens:
        raise ValueError
    first, rest = tokens[0], tokens[1:]
    match first.kind:
        case "figure" | "number" | "pi":
            value = first.value
        case "open":
            inside = _aside(tokens)
            value, left = _sum(list(inside))
            if left:
                raise ValueError
            rest = tokens[len(inside) + 2 :]
        case "root":
            value, rest = _power(rest)
            value = math.sqrt(value)
        case _:
            raise ValueError
    while rest and rest[0].kind == "square":
        value, rest = value * value, rest[1:]
    return value, rest
