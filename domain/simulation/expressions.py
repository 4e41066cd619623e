"""The expression language of measure, goals, calculator and optimiser: text and plots in, number out.

`evaluate` gives one number with its unit, `evaluate_vector` a vector for plotting. The grammar is in
`expression_syntax`, the choice of the analysis in `plot_choice`, the functions in `vector_functions`
and `measurements`; docs/measurements.md is the reference for users.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from domain.simulation import units
from domain.simulation.expression_syntax import (
    Binary,
    Call,
    Negation,
    Node,
    Number,
    SignalRef,
    children,
    parse,
)
from domain.simulation.measurements import MEASUREMENTS, Measurement
from domain.simulation.plot_choice import AxisKind, Preference, axis_kind, candidates, value_of
from domain.simulation.result import Quantity
from domain.simulation.signals import Signal, figure
from domain.simulation.vector_functions import VECTOR_FUNCTIONS, Scalar, Value, array_of
from domain.simulation.waveform import Array, Plot
from shared.errors import CircuitError, UserInputError
from shared.message import Message, msg

_CONSTANTS = {"pi": math.pi}
_OF_A_VALUE = frozenset({"max", "min", "avg", "rms", "peak", "pp"})
"""Measurements that a single value (of an operating point) answers too."""


def evaluate(expression: str, plots: Sequence[Plot]) -> Quantity:
    """The number an expression stands for, on the plots of one result.

    A complex number is given by its magnitude. Raises UserInputError for an expression that cannot be
    read, an unknown name or function, or one that stays a vector; CircuitError when the data do not
    show what is asked, with the figures that say why.
    """
    tree = parse(expression)
    with np.errstate(all="ignore"):
        value = _Evaluation(plots, "value").value(tree)
    if isinstance(value, Signal):
        if len(value.x) != 1:
            raise _stays_vector(expression, value)
        value = Scalar(value=complex(value.y[0]), unit=value.unit)
    number = abs(value.value) if value.value.imag else value.value.real
    if not math.isfinite(number):
        raise CircuitError(
            msg("The value of {expression} is not a finite number (a division by zero, or the logarithm "
                "of zero).", expression=expression)
        )  # fmt: skip
    return Quantity(value=float(number), unit=value.unit)


def evaluate_vector(expression: str, plots: Sequence[Plot]) -> Signal:
    """The vector an expression stands for, with its axis. Raises as `evaluate`, and UserInputError when
    it is a single number."""
    with np.errstate(all="ignore"):
        value = _Evaluation(plots, "vector").value(parse(expression))
    if isinstance(value, Scalar):
        raise UserInputError(
            msg("{expression} is a single number, not a vector.", expression=expression),
            error_type="bad_expression",
        )
    return value


class _Evaluation:
    """One evaluation of a tree; `outside` is what signals outside any measurement are looked for as."""

    def __init__(self, plots: Sequence[Plot], outside: Preference) -> None:
        self._plots = plots
        self._outside = outside

    def value(self, tree: Node) -> Value:
        references = list(_references(tree))
        if not references:
            return self._of(tree, None)
        plots = candidates(self._plots, references, self._outside)
        if (axis := _axis_wanted(tree)) is not None:
            # db(v(out)) beside an operating point does not mean the dB of a DC voltage
            plots = sorted(plots, key=lambda plot: axis_kind(plot) not in axis)
        return self._of(tree, plots[0])

    def _of(self, node: Node, plot: Plot | None) -> Value:
        match node:
            case Number():
                return Scalar(value=complex(node.value), unit="1")
            case SignalRef():
                return self._signal(node, plot)
            case Negation():
                operand = self._of(node.operand, plot)
                return _same_shape(operand, -array_of(operand), operand.unit)
            case Binary():
                return _combined(node.operator, self._of(node.left, plot), self._of(node.right, plot))
            case Call():
                return self._call(node, plot)

    def _signal(self, node: SignalRef, plot: Plot | None) -> Value:
        if _is_constant(node):
            return Scalar(value=complex(_CONSTANTS[node.text.lower()]), unit="1")
        assert plot is not None, "a plot was chosen for every reference"
        return value_of(plot, node)

    def _call(self, node: Call, plot: Plot | None) -> Value:
        if (function := VECTOR_FUNCTIONS.get(node.function)) is not None:
            if len(node.arguments) != 1:
                raise _wrong_count(node, f"{node.function}(x)")
            return function.apply(self._of(node.arguments[0], plot))
        if (measurement := MEASUREMENTS.get(node.function)) is None:
            raise _unknown_function(node)
        count = len(node.arguments)
        if node.function in ("max", "min") and count == 2:
            return self._larger_or_smaller(node)
        if count - measurement.signals not in measurement.numbers:
            raise _wrong_count(node, measurement.usage)
        return self._measured(node, measurement)

    def _measured(self, node: Call, measurement: Measurement) -> Value:
        subjects = node.arguments[: measurement.signals]
        numbers = [self._number(node, argument) for argument in node.arguments[measurement.signals :]]
        values = self._subjects(node, subjects, measurement, numbers)
        first = values[0]
        if isinstance(first, Scalar):
            return _measured_value(node, first)
        for value in values:
            _check_finite(node, value)
        try:
            result = complex(measurement.compute(*values, *numbers))
        except (OverflowError, ZeroDivisionError) as error:
            raise CircuitError(
                msg("{function} cannot be computed from these numbers: {reason}.",
                    function=node.function, reason=error)
            ) from error  # fmt: skip
        return Scalar(value=result, unit=measurement.unit(first))

    def _subjects(
        self, node: Call, subjects: Sequence[Node], measurement: Measurement, numbers: Sequence[float]
    ) -> list[Value]:
        """The measured signals, all from the plot that suits the measurement best."""
        references = [reference for subject in subjects for reference in _references(subject)]
        if not references:
            return [self._of(subject, None) for subject in subjects]
        preference: Preference = measurement.domain
        suits = {suit for subject in subjects for suit in _suits(subject)}
        if preference == "any" and (node.function == "peak" or "frequency" in suits):
            preference = "any_frequency"
        plots = candidates(self._plots, references, preference)
        plot = _reaching(plots, numbers[0]) if node.function == "at" else plots[0]
        return [self._of(subject, plot) for subject in subjects]

    def _number(self, node: Call, argument: Node) -> float:
        value = self.value(argument)
        if isinstance(value, Signal):
            raise UserInputError(
                msg("An argument of {function} must be a single number, not a vector.",
                    function=node.function),
                error_type="bad_expression",
            )  # fmt: skip
        if not math.isfinite(abs(value.value)):
            raise CircuitError(
                msg("An argument of {function} is not a finite number.", function=node.function)
            )
        return value.value.real

    def _larger_or_smaller(self, node: Call) -> Value:
        first, second = (self._number(node, argument) for argument in node.arguments)
        choose = max if node.function == "max" else min
        left = self.value(node.arguments[0])
        return Scalar(value=complex(choose(first, second)), unit=left.unit)


def _references(node: Node) -> Iterator[SignalRef]:
    """The signals under a node that are not inside a measurement of their own."""
    if isinstance(node, SignalRef):
        if not _is_constant(node):
            yield node
    elif not (isinstance(node, Call) and node.function in MEASUREMENTS):
        for child in children(node):
            yield from _references(child)


def _is_constant(node: SignalRef) -> bool:
    return node.kind == "plain" and node.text.lower() in _CONSTANTS


def _suits(node: Node) -> Iterator[str]:
    """Where the vector functions under a node are at home."""
    if isinstance(node, Call):
        if node.function in MEASUREMENTS:
            return
        if (function := VECTOR_FUNCTIONS.get(node.function)) is not None:
            yield function.suits
    for child in children(node):
        yield from _suits(child)


def _axis_wanted(tree: Node) -> tuple[AxisKind, ...] | None:
    """The axes an expression outside any measurement is about, when its functions tell."""
    suits = set(_suits(tree))
    if "frequency" in suits:
        return ("frequency",)
    return ("time", "sweep", "frequency") if "axis" in suits else None


def _reaching(plots: Sequence[Plot], position: float) -> Plot:
    """The first plot whose axis reaches a place; when none does, the one that comes nearest, to say so."""

    def distance(plot: Plot) -> float:
        if plot.axis is None:
            return math.inf
        low, high = float(plot.axis.data.real.min()), float(plot.axis.data.real.max())
        if low <= position <= high:
            return 0.0
        nearest = low if position < low else high
        is_comparable = nearest > 0 and position > 0
        return abs(math.log(position / nearest)) if is_comparable else 1e3 + abs(position - nearest)

    return min(plots, key=distance)


def _measured_value(node: Call, value: Scalar) -> Scalar:
    """A measurement of a single value, as of an operating point."""
    if node.function not in _OF_A_VALUE:
        raise UserInputError(
            msg("{function} needs a vector over time, frequency or a sweep, not a single value.",
                function=node.function),
            error_type="bad_expression",
        )  # fmt: skip
    if node.function == "pp":
        return Scalar(value=0j, unit=value.unit)
    if node.function == "rms" or value.value.imag:
        return Scalar(value=complex(abs(value.value)), unit=value.unit)
    return value


def _check_finite(node: Call, value: Value) -> None:
    if isinstance(value, Scalar):
        raise UserInputError(
            msg("{function} needs a vector over time, frequency or a sweep, not a single value.",
                function=node.function),
            error_type="bad_expression",
        )  # fmt: skip
    bad = np.flatnonzero(~np.isfinite(value.y) | ~np.isfinite(value.x))
    if len(bad):
        raise CircuitError(
            msg("The argument of {function} is not a finite number at {place}.",
                function=node.function, place=figure(float(value.x[bad[0]]), value.axis_unit))
        )  # fmt: skip


def _same_shape(value: Value, data: Array, unit: str) -> Value:
    if isinstance(value, Signal):
        return replace(value, y=data, unit=unit)
    return Scalar(value=complex(data[0]), unit=unit)


def _combined(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Signal) and isinstance(right, Signal):
        _check_same_axis(left, right)
    shape = right if isinstance(left, Scalar) else left
    a, b = array_of(left), array_of(right)
    match operator:
        case "+":
            return _same_shape(shape, a + b, units.total(left.unit, right.unit))
        case "-":
            return _same_shape(shape, a - b, units.total(left.unit, right.unit))
        case "*":
            return _same_shape(shape, a * b, units.product(left.unit, right.unit))
        case "/":
            return _same_shape(shape, a / b, units.quotient(left.unit, right.unit))
        case _:
            exponent = right.value.real if isinstance(right, Scalar) else math.nan
            return _same_shape(shape, np.power(a, b), units.power(left.unit, exponent))


def _check_same_axis(left: Signal, right: Signal) -> None:
    if left.x is not right.x and not np.array_equal(left.x, right.x):
        raise UserInputError(
            msg("The two sides of an operation come from different analyses ({left} and {right}).",
                left=left.axis_name, right=right.axis_name),
            error_type="bad_expression",
        )  # fmt: skip


def _stays_vector(expression: str, value: Signal) -> UserInputError:
    return UserInputError(
        msg("{expression} is a vector of {count} points over {axis}, where a single number is needed.",
            expression=expression, count=len(value.x), axis=value.axis_name),
        advice=_how_to_reduce(expression, value),
        error_type="stays_vector",
    )  # fmt: skip


def _how_to_reduce(expression: str, value: Signal) -> Message:
    place = "1k" if value.is_over_frequency else "1m" if value.axis_unit == "s" else "0.5"
    return msg(
        "Measure it: max({expression}), avg({expression}), or at({expression}, {place}) for its value at "
        "one place.",
        expression=expression,
        place=place,
    )


def _wrong_count(node: Call, usage: str) -> UserInputError:
    return UserInputError(
        msg("{function} was given {count} arguments (at character {position}); it is used as {usage}.",
            function=node.function, count=len(node.arguments), position=node.position + 1, usage=usage),
        error_type="bad_expression",
    )  # fmt: skip


def _unknown_function(node: Call) -> UserInputError:
    known = [*MEASUREMENTS, *VECTOR_FUNCTIONS]
    close = difflib.get_close_matches(node.function, known, n=4, cutoff=0.5)
    return UserInputError(
        msg("There is no function {function} (at character {position}).",
            function=node.function, position=node.position + 1),
        advice=msg("Functions are: {names}", names=", ".join(close or known)),
        error_type="bad_expression",
    )  # fmt: skip
