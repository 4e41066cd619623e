"""Functions that turn a vector into a vector (or a number into a number): db, ph, deriv ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from domain.simulation import frequency_response, units
from domain.simulation.signals import Signal
from domain.simulation.waveform import Array
from shared.errors import CircuitError, UserInputError
from shared.message import msg


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One number with its unit."""

    value: complex
    unit: str


Value = Scalar | Signal
Suits = Literal["frequency", "axis", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFunction:
    """One function on vectors."""

    apply: Callable[[Value], Value]
    suits: Suits = "any"
    """"frequency" when it is at home there, so that max(db(v(out))) means the ac analysis; "axis" when a
    single value has no such thing."""


def same_shape(value: Value, data: Array, unit: str) -> Value:
    """`data` where `value` was: over its axis, or as a single number."""
    if isinstance(value, Signal):
        return value.with_data(data, unit)
    return Scalar(value=complex(data[0]), unit=unit)


def array_of(value: Value) -> Array:
    """(n,) the data of a vector, or one number as an array, real when it has no imaginary part."""
    if isinstance(value, Signal):
        return value.y
    data = np.array([value.value], dtype=np.complex128)
    return data if value.value.imag else data.real


def _elementwise(
    compute: Callable[[Array], Array],
    unit: Callable[[str], str],
    suits: Suits = "any",
) -> VectorFunction:
    return VectorFunction(
        apply=lambda value: same_shape(value, compute(array_of(value)), unit(value.unit)), suits=suits
    )


def _same(unit: str) -> str:
    return unit


def _number(_unit: str) -> str:
    return "1"


def _decibels(_unit: str) -> str:
    return "dB"


def _degrees(_unit: str) -> str:
    return "deg"


def _db(data: Array) -> Array:
    return 20 * np.log10(np.abs(data))


def _magnitude_or_real(data: Array) -> Array:
    return np.abs(data) if np.iscomplexobj(data) else data


def _square_root(data: Array) -> Array:
    return np.sqrt(data)


def _needs_signal(value: Value, name: str) -> Signal:
    if isinstance(value, Scalar):
        raise UserInputError(
            msg("{name} needs a vector over time, frequency or a sweep, not a single value.", name=name)
        )
    if len(value.x) < 2:
        raise CircuitError(msg("{name} needs at least two points.", name=name))
    return value


def _sweeps(signal: Signal) -> list[slice]:
    """The stretches between the restarts of a nested sweep."""
    restarts = np.flatnonzero(~signal.forward()) + 1
    bounds = [0, *restarts.tolist(), len(signal.x)]
    return [slice(first, stop) for first, stop in pairwise(bounds)]


def _derivative(value: Value) -> Value:
    signal = _needs_signal(value, "deriv")
    data = np.zeros_like(signal.y)
    for part in _sweeps(signal):
        if part.stop - part.start > 1:
            data[part] = np.gradient(signal.y[part], signal.x[part])
    return signal.with_data(data, units.quotient(signal.unit, signal.axis_unit))


def _integral(value: Value) -> Value:
    signal = _needs_signal(value, "integ")
    data = np.zeros_like(signal.y)
    for part in _sweeps(signal):
        x, y = signal.x[part], signal.y[part]
        data[part] = np.concatenate(([0.0], np.cumsum(np.diff(x) * (y[1:] + y[:-1]) / 2)))
    return signal.with_data(data, units.product(signal.unit, signal.axis_unit))


def _group_delay(value: Value) -> Value:
    signal = _needs_signal(value, "group_delay")
    if not signal.is_over_frequency or not np.iscomplexobj(signal.y):
        raise UserInputError(msg("group_delay needs a complex vector over frequency, such as v(out)."))
    return signal.with_data(frequency_response.group_delay(signal), "s")


_ALIASES = {
    "phase": "ph",
    "cph": "ph",
    "real": "re",
    "imag": "im",
    "magnitude": "mag",
    "log": "log10",
    "arctan": "atan",
}

VECTOR_FUNCTIONS: dict[str, VectorFunction] = {
    "db": _elementwise(_db, _decibels, "frequency"),
    "ph": _elementwise(frequency_response.phase_deg, _degrees, "frequency"),
    "re": _elementwise(np.real, _same, "frequency"),
    "im": _elementwise(np.imag, _same, "frequency"),
    "mag": _elementwise(np.abs, _same, "frequency"),
    "abs": _elementwise(np.abs, _same),
    "sqrt": _elementwise(_square_root, lambda unit: units.power(unit, 0.5)),
    "log10": _elementwise(lambda data: np.log10(_magnitude_or_real(data)), _number),
    "ln": _elementwise(lambda data: np.log(_magnitude_or_real(data)), _number),
    "exp": _elementwise(np.exp, _number),
    "sin": _elementwise(np.sin, _number),
    "cos": _elementwise(np.cos, _number),
    "tan": _elementwise(np.tan, _number),
    "atan": _elementwise(np.arctan, _number),
    "deriv": VectorFunction(apply=_derivative, suits="axis"),
    "integ": VectorFunction(apply=_integral, suits="axis"),
    "group_delay": VectorFunction(apply=_group_delay, suits="frequency"),
}
VECTOR_FUNCTIONS |= {alias: VECTOR_FUNCTIONS[name] for alias, name in _ALIASES.items()}
