"""Transfer functions of the Laplace variable: an expression in, two polynomials in s out."""

from __future__ import annotations

import re

from domain.circuit.numbers import read_number

Polynomial = tuple[float, ...]
"""Coefficients, the highest power of s first."""

_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*)|(?P<name>[a-zA-Z_]\w*)|"
                    r"(?P<sign>\*\*|[-+*/^()]))")  # fmt: skip
_HIGHEST = 20


class NotRational(ValueError):
    """The expression is no quotient of polynomials in s (a delay, a root), or holds parameters."""


def transfer_of(text: str) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of an expression such as ``1/(1+s/6283)``. Raises NotRational."""
    parser = _Parser(text.strip().strip("{}'\""))
    above, below = parser.sum()
    if not parser.is_done or not any(below):
        raise NotRational(text)
    above, below = _trimmed(above), _trimmed(below)
    if len(above) > len(below) or len(below) > _HIGHEST:
        raise NotRational(text)
    scale = below[0]
    return tuple(number / scale for number in above), tuple(number / scale for number in below)


Fraction = tuple[Polynomial, Polynomial]


class _Parser:
    def __init__(self, text: str) -> None:
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
        self._at = 0

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
        if self._take("-"):
            return _scaled(self._unary(), -1.0)
        if self._take("+"):
            return self._unary()
        base = self._primary()
        if self._take("^", "**"):
            power = self._unary()
            exponent = power[0][0] / power[1][0] if len(power[0]) == len(power[1]) == 1 else 0.5
            if exponent != int(exponent) or abs(exponent) > _HIGHEST:
                raise NotRational("power")
            if exponent < 0:
                base, exponent = (base[1], base[0]), -exponent
            result: Fraction = ((1.0,), (1.0,))
            for _ in range(int(exponent)):
                result = (_times(result[0], base[0]), _times(result[1], base[1]))
            return result
        return base

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
        if token.lower() == "s":
            return (1.0, 0.0), (1.0,)
        if token.lower() == "pi":
            return (3.141592653589793,), (1.0,)
        number = read_number(token)
        if number is None:
            raise NotRational(token)
        return (number.value,), (1.0,)


def _trimmed(polynomial: Polynomial) -> Polynomial:
    first = next((i for i, number in enumerate(polynomial) if number), len(polynomial) - 1)
    return polynomial[first:]


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
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
