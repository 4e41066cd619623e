"""Algebra of SI units, so that every computed number carries its unit.

Units are the strings of `Vector.unit`: "V", "A", "W", "V/sqrt(Hz)" ... "1" is a pure number and ""
an unknown unit, which makes every product with it unknown. "dB" and "deg" are kept when a plain
number is added or multiplied.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_BASE = ("V", "A", "s")
_Exponents = tuple[tuple[str, Fraction], ...]

_NAMED: dict[str, dict[str, int]] = {
    "V": {"V": 1},
    "A": {"A": 1},
    "s": {"s": 1},
    "Hz": {"s": -1},
    "W": {"V": 1, "A": 1},
    "Ohm": {"V": 1, "A": -1},
    "S": {"V": -1, "A": 1},
    "F": {"V": -1, "A": 1, "s": 1},
    "H": {"V": 1, "A": -1, "s": 1},
    "C": {"A": 1, "s": 1},
    "J": {"V": 1, "A": 1, "s": 1},
    "Wb": {"V": 1, "s": 1},
}
_PREFERRED = ("V", "A", "s", "Hz", "W", "Ohm", "S", "F", "H", "C", "J")
_FACTOR = re.compile(r"sqrt\((?P<root>\w+)\)|(?P<name>[A-Za-z]+)(?:\^(?P<power>-?\d+(?:\.5)?))?")


@lru_cache(maxsize=256)
def _exponents(unit: str) -> _Exponents | None:
    """The unit as powers of base symbols; None when it is unknown."""
    if unit == "":
        return None
    result: dict[str, Fraction] = {}
    if unit != "1":
        for position, part in enumerate(unit.split("/")):
            for factor in part.split("*"):
                match = _FACTOR.fullmatch(factor)
                if match is None:
                    if factor == "1":
                        continue
                    return None
                power = Fraction(1, 2) if match["root"] else Fraction(match["power"] or 1)
                name = match["root"] or match["name"]
                for base, exponent in _NAMED.get(name, {name: 1}).items():
                    sign = -1 if position else 1
                    result[base] = result.get(base, Fraction(0)) + sign * power * exponent
    return tuple(sorted((base, power) for base, power in result.items() if power))


def _combined(first: str, second: str, sign: int) -> str:
    left, right = _exponents(first), _exponents(second)
    if left is None or right is None:
        return ""
    result = dict(left)
    for base, power in right:
        result[base] = result.get(base, Fraction(0)) + sign * power
    return _written({base: power for base, power in result.items() if power})


def _written(powers: dict[str, Fraction]) -> str:
    """The shortest usual name of a product of powers."""
    if not powers:
        return "1"
    for name in _PREFERRED:
        if powers == {base: Fraction(power) for base, power in _NAMED[name].items()}:
            return name
    root = _density(powers)
    if root is not None:
        return root
    above = [_power(base, powers[base]) for base in sorted(powers, key=_order) if powers[base] > 0]
    below = [_power(base, -powers[base]) for base in sorted(powers, key=_order) if powers[base] < 0]
    return "/".join(["*".join(above) or "1", *below])


def _order(base: str) -> int:
    return _BASE.index(base) if base in _BASE else len(_BASE)


def _density(powers: dict[str, Fraction]) -> str | None:
    """V/sqrt(Hz), V^2/Hz and the like: noise densities are not written with seconds."""
    time = powers.get("s", Fraction(0))
    others = {base: power for base, power in powers.items() if base != "s"}
    if time == Fraction(1, 2) and others:
        return f"{_written(others)}/sqrt(Hz)"
    if time == 1 and any(power == 2 for power in others.values()):
        return f"{_written(others)}/Hz"
    return None


def _power(base: str, power: Fraction) -> str:
    if power == 1:
        return base
    if power == Fraction(1, 2):
        return f"sqrt({base})"
    return f"{base}^{power.numerator if power.denominator == 1 else float(power):g}"


def product(first: str, second: str) -> str:
    """Unit of a product ("V", "A" -> "W")."""
    return _combined(first, second, 1)


def quotient(first: str, second: str) -> str:
    """Unit of a quotient ("V", "A" -> "Ohm")."""
    return _combined(first, second, -1)


def power(unit: str, exponent: float) -> str:
    """Unit of a power; unknown unless the exponent is a multiple of one half."""
    found = _exponents(unit)
    if found is None:
        return ""
    if not found:
        return "1"
    twice = 2 * exponent
    if not abs(twice) < 100 or twice != round(twice):
        return ""
    factor = Fraction(round(twice), 2)
    return _written({base: value * factor for base, value in found if value * factor})


def total(first: str, second: str) -> str:
    """Unit of a sum: a plain number takes the other's unit; different units make an unknown one."""
    if second in (first, "1"):
        return first
    return second if first == "1" else ""


def integrated_density(unit: str) -> str:
    """Unit of integrated noise ("V/sqrt(Hz)" -> "V"; "V^2/Hz" -> "V")."""
    if unit.endswith("^2/Hz"):
        return unit.removesuffix("^2/Hz")
    return unit.removesuffix("/sqrt(Hz)")
