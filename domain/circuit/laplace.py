"""Transfer functions of the Laplace variable: an expression in, two polynomials in s out; and the elements
that realise them.

ngspice 39's XSPICE filter (s_xfer) gives its initial condition, not the direct-current gain, as the
operating point, and every transient analysis starts there. Integrators made of capacitors and linear sources
are right in every analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from domain.circuit.numbers import read_number
from shared.late_patterns import late_pattern

Polynomial = tuple[float, ...]
"""Coefficients, the highest power of s first."""

_TOKEN = late_pattern(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*)|(?P<name>[a-zA-Z_]\w*)|"
    r"(?P<sign>\*\*|[-+*/^(),]))")  # fmt: skip
_HIGHEST = 20
_MOST_TERMS = 200
"""Of a polynomial on the way: powers of powers and long products would be multiplied out for ever."""
_MOST_TOKENS, _DEEPEST = 10_000, 50


class NotRational(ValueError):
    """The expression is no quotient of polynomials in s (a delay, a root), or holds parameters."""


def transfer_of(text: str, values: Mapping[str, float] | None = None) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of an expression such as ``1/(1+s/6283)``. Raises NotRational.

    `values` has the parameters (lower case) that do not change during a run.
    """
    parser = _Parser(text.strip().strip("'\"").replace("{", "(").replace("}", ")"), values or {})
    above, below = parser.sum()
    if not parser.is_done or not any(below):
        raise NotRational(text)
    above, below = _trimmed(above), _trimmed(below)
    if len(above) > len(below) or len(below) > _HIGHEST:
        raise NotRational(text)
    scale = below[0]
    above, below = tuple(number / scale for number in above), tuple(number / scale for number in below)
    if not all(map(math.isfinite, above + below)):
        raise NotRational(text)  # numbers beyond what a double holds
    return above, below


def realised(name: str, seen: str, out: str, above: Polynomial, below: Polynomial) -> list[str]:
    """Elements that make V(out) = above/below * V(seen): the controllable canonical form.

    `above` and `below` as `transfer_of` gives them. A chain of integrators runs at the geometric mean of
    the poles, so that all their voltages are of one order. A pole at 0 has no operating point of its own; a
    leak of 1e-9 of the integrator's conductance gives it one. Raises NotRational for poles so far apart that
    an element would have a value no double holds.
    """
    try:
        elements = list(_elements(name, seen, out, above, below))
    except (OverflowError, ZeroDivisionError) as error:
        raise NotRational(name) from error
    return elements


def _elements(name: str, seen: str, out: str, above: Polynomial, below: Polynomial) -> Iterator[str]:
    order = len(below) - 1
    powers = below[::-1]  # of s^0, s^1, ...
    lowest = next(i for i, number in enumerate(powers) if number)
    rate = abs(powers[lowest]) ** (1 / (order - lowest)) if lowest < order else 1.0
    feedback = [number * rate ** (k - order) for k, number in enumerate(powers[:-1])]
    size = abs(feedback[lowest]) if lowest < order else 1.0  # the first state is then as large as the input
    numerator = [number * rate ** (k - order) for k, number in enumerate(above[::-1])]
    direct = numerator[order] if len(numerator) > order else 0.0
    if not all(map(math.isfinite, (*feedback, *numerator, 1 / rate, 1 / size))):
        raise OverflowError
    nodes = [f"{name}_{k}" for k in range(1, order + 1)]
    for node, following in zip_longest(nodes, nodes[1:]):
        yield f"c_{node} {node} 0 {1 / rate:.15g}"
        if following is not None:
            yield f"g_{node} 0 {node} {following} 0 1"
    if order:
        last = nodes[-1]
        yield f"g_{name}_in 0 {last} {seen} 0 {size:.15g}"
        for k, (node, weight) in enumerate(zip(nodes, feedback, strict=True)):
            if weight:
                yield f"g_{name}_f{k} {last} 0 {node} 0 {weight:.15g}"
        if not feedback[0]:
            yield f"r_{name}_leak {nodes[0]} 0 1e9"
    weights = [
        ((numerator[k] if k < len(numerator) else 0.0) - direct * feedback[k]) / size for k in range(order)
    ]
    terms = [f"({weight:.15g})*v({node})" for node, weight in zip(nodes, weights, strict=True) if weight]
    if direct or not terms:
        terms.append(f"({direct:.15g})*v({seen})")
    yield f"b_{name}_out {out} 0 v={'+'.join(terms)}"


Fraction = tuple[Polynomial, Polynomial]


class _Parser:
    def __init__(self, text: str, values: Mapping[str, float]) -> None:
        self._values = values
        self._tokens: list[str] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                if not text[at:].strip():
                    break
                raise NotRational(text)
            self._tokens.append(match[0].strip())
            at = match.end()
        if len(self._tokens) > _MOST_TOKENS:
            raise NotRational("length")
        self._at = 0
        self._depth = 0

    @property
    def is_done(self) -> bool:
        return self._at == len(self._tokens)

    def _take(self, *options: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at] in options:
            self._at += 1
            return self._tokens[self._at - 1]
        return None

    def sum(self) -> Fraction:
        left = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            left = _added(left, right if sign == "+" else _scaled(right, -1.0))
        return left

    def _product(self) -> Fraction:
        left = self._unary()
        while sign := self._take("*", "/"):
            right = self._unary()
            if sign == "/":
                right = (right[1], right[0])
            left = (_times(left[0], right[0]), _times(left[1], right[1]))
        return left

    def _unary(self) -> Fraction:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotRational("depth")
        try:
            return self._signed()
        finally:
            self._depth -= 1

    def _signed(self) -> Fraction:
        if self._take("-"):
            return _scaled(self._unary(), -1.0)
        if self._take("+"):
            return self._unary()
        base = self._primary()
        return _power(base, self._unary()) if self._take("^", "**") else base

    def _primary(self) -> Fraction:
        if self._take("("):
            inner = self.sum()
            if not self._take(")"):
                raise NotRational("parenthesis")
            return inner
        if self._at >= len(self._tokens):
            raise NotRational("end")
        token = self._tokens[self._at]
        self._at += 1
        if token.lower() in ("pow", "pwr", "sqrt") and self._take("("):
            return self._called(token.lower())
        if token.lower() == "s":
            return (1.0, 0.0), (1.0,)
        if token.lower() == "pi":
            return (3.141592653589793,), (1.0,)
        if (known := self._values.get(token.lower())) is not None:
            return (known,), (1.0,)
        number = read_number(token)
        if number is None:
            raise NotRational(token)
        return (number.value,), (1.0,)

    def _called(self, name: str) -> Fraction:
        """``pow(s,2)``, ``sqrt(L/C)``, behind the parenthesis."""
        base = self.sum()
        power: Fraction = ((0.5,), (1.0,))
        if name != "sqrt":
            if not self._take(","):
                raise NotRational(name)
            power = self.sum()
        if not self._take(")"):
            raise NotRational("parenthesis")
        return _power(base, power)


def _power(base: Fraction, power: Fraction) -> Fraction:
    """Whole powers of anything, any power of a number. Raises NotRational for the others."""
    if not (_is_number(power) and power[1][0]):
        raise NotRational("power")
    exponent = power[0][0] / power[1][0]
    if _is_number(base) and base[1][0] and base[0][0] / base[1][0] > 0:
        try:
            return ((base[0][0] / base[1][0]) ** exponent,), (1.0,)
        except OverflowError as error:
            raise NotRational("power") from error
    if not abs(exponent) <= _HIGHEST or exponent != int(exponent):
        raise NotRational("power")
    if exponent < 0:
        base, exponent = (base[1], base[0]), -exponent
    result: Fraction = ((1.0,), (1.0,))
    for _ in range(int(exponent)):
        result = (_times(result[0], base[0]), _times(result[1], base[1]))
    return result


def _is_number(value: Fraction) -> bool:
    return len(value[0]) == len(value[1]) == 1


def _trimmed(polynomial: Polynomial) -> Polynomial:
    first = next((i for i, number in enumerate(polynomial) if number), len(polynomial) - 1)
    return polynomial[first:]


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left) + len(right) > _MOST_TERMS:
        raise NotRational("degree")
    result = [0.0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return tuple(result)


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    size = max(len(left), len(right))
    a, b = (0.0,) * (size - len(left)) + left, (0.0,) * (size - len(right)) + right
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _added(left: Fraction, right: Fraction) -> Fraction:
    if left[1] == right[1]:
        return _plus(left[0], right[0]), left[1]
    return _plus(_times(left[0], right[1]), _times(right[0], left[1])), _times(left[1], right[1])


def _scaled(value: Fraction, factor: float) -> Fraction:
    return tuple(factor * number for number in value[0]), value[1]
