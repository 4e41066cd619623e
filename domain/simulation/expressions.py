"""The expression language of measure, goals, calculator and optimiser: text and plots in, number out.

`evaluate` gives one number with its unit, `evaluate_vector` a vector for plotting; `compile_expression`
does the reading once for both, for thousands of results. The grammar is in
`expression_syntax`, the choice of the analysis in `plot_choice`, the functions in `vector_functions`
and `measurements`; docs/measurements.md is the reference for users.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from domain.simulation import units
from domain.simulation.expression_syntax import (
    Binary,
    Call,
    Negation,
    Node,
    Number,
    SignalRef,
    StepRef,
    children,
    parse,
)
from domain.simulation.measurements import MEASUREMENTS, Measurement
from domain.simulation.plot_choice import (
    AxisKind,
    PlotChoice,
    Preference,
    axis_kind,
    is_first_choice,
    value_of,
    vector_names,
)
from domain.simulation.result import Quantity
from domain.simulation.signals import Signal, figure
from domain.simulation.vector_functions import VECTOR_FUNCTIONS, Scalar, Value, array_of, same_shape
from domain.simulation.waveform import Plot
from shared.errors import CircuitError, UserInputError
from shared.message import Message, msg

_CONSTANTS = {"pi": math.pi}
_OF_A_VALUE = frozenset({"max", "min", "avg", "rms", "peak", "pp"})
"""Measurements that a single value (of an operating point) answers too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompiledExpression:
    """An expression that was read and checked once, for data that come again and again."""

    text: str
    signals: frozenset[str]
    """Canonical names of every vector that may serve its signals; of those that stand for one signal
    (``i(r1)`` is also ``@r1[i]``) one is enough. Axes are not among them."""
    _whole: _Whole

    def evaluate(self, plots: Sequence[Plot]) -> Quantity:
        """The number it stands for on the plots of one result. Raises as `evaluate`."""
        with np.errstate(all="ignore"):
            return self.evaluate_quietly(plots)

    def evaluate_quietly(self, plots: Sequence[Plot]) -> Quantity:
        """The same where numpy says nothing: somebody who evaluates many switches its warnings off once."""
        value = self._whole(plots, "value")
        if isinstance(value, Signal):
            if len(value.x) != 1:
                raise _stays_vector(self.text, value)
            value = Scalar(value=complex(value.y[0]), unit=value.unit)
        number = abs(value.value) if value.value.imag else value.value.real
        if not math.isfinite(number):
            raise CircuitError(
                msg("The value of {expression} is not a finite number (a division by zero, or the logarithm "
                    "of zero).", expression=self.text)
            )  # fmt: skip
        return Quantity(value=float(number), unit=value.unit)

    def evaluate_vector(self, plots: Sequence[Plot]) -> Signal:
        """The vector it stands for, with its axis. Raises as `evaluate_vector`."""
        with np.errstate(all="ignore"):
            value = self._whole(plots, "vector")
        if isinstance(value, Scalar):
            raise UserInputError(
                msg("{expression} is a single number, not a vector.", expression=self.text),
                error_type="bad_expression",
            )
        return value


def compile_expression(text: str) -> CompiledExpression:
    """Read and check an expression. Raises UserInputError when it cannot be read, for an unknown function
    or a wrong number of arguments; names of signals are checked against the data."""
    tree = parse(text)
    return CompiledExpression(text=text, signals=frozenset(_vectors(tree)), _whole=_compile_whole(tree))


def signals_in(expression: str) -> tuple[SignalRef, ...]:
    """The signals an expression names, in their order. Raises UserInputError for one that cannot be read."""
    return tuple(_references(parse(expression)))


def set_by(expression: str, assigned: Sequence[str]) -> str:
    """The first voltage, current or power in it that is among the vectors that were `assigned` ("*" in a name
    stands for anything); "" for none. A name of the circuit's own (``gain``) is no such signal."""
    signals = (node for node in _nodes(parse(expression)) if isinstance(node, SignalRef))
    for reference in signals:
        if reference.kind == "plain":
            continue
        plain = "".join(reference.text.lower().split())
        spelt = {plain.rpartition(".")[2] if "(" not in plain else plain, *reference.names}
        spelt |= {f"{reference.kind}({name})" for name in reference.names}
        spelt |= {f"{name}#branch" for name in reference.names}
        if any(fnmatchcase(name, pattern) for pattern in assigned for name in spelt):
            return reference.text
    return ""


def evaluate(expression: str, plots: Sequence[Plot]) -> Quantity:
    """The number an expression stands for, on the plots of one result.

    A complex number is given by its magnitude. Raises UserInputError for an expression that cannot be
    read, an unknown name or function, or one that stays a vector; CircuitError when the data do not
    show what is asked, with the figures that say why.
    """
    return compile_expression(expression).evaluate(plots)


def evaluate_vector(expression: str, plots: Sequence[Plot]) -> Signal:
    """The vector an expression stands for, with its axis. Raises as `evaluate`, and UserInputError when
    it is a single number."""
    return compile_expression(expression).evaluate_vector(plots)


# ---- compiling: everything that does not depend on the data is found out once ------------------------

_Whole = Callable[[Sequence[Plot], Preference], Value]
"""An expression that chooses its analysis itself; the preference is what signals outside any measurement
are looked for as."""
_Step = Callable[[Sequence[Plot], Preference, Plot | None], Value]
"""A part of one, on the plot that was chosen for the signals around it."""


def _compile_whole(tree: Node) -> _Whole:
    step = _compile(tree)
    references = tuple(_references(tree))
    if not references:
        return lambda plots, outside: step(plots, outside, None)
    axis, choice = _axis_wanted(tree), PlotChoice(references)

    def whole(plots: Sequence[Plot], outside: Preference) -> Value:
        suitable = choice.of(plots, outside)
        if axis is not None and len(suitable) > 1:
            # db(v(out)) beside an operating point does not mean the dB of a DC voltage
            suitable.sort(key=lambda plot: axis_kind(plot) not in axis)
        return step(plots, outside, suitable[0])

    return whole


def _compile(node: Node) -> _Step:
    match node:
        case Number():
            return _always(node.value)
        case SignalRef():
            return _compile_signal(node)
        case Negation():
            operand = _compile(node.operand)

            def negated(plots: Sequence[Plot], outside: Preference, plot: Plot | None) -> Value:
                value = operand(plots, outside, plot)
                return same_shape(value, -array_of(value), value.unit)

            return negated
        case Binary():
            operator, left, right = node.operator, _compile(node.left), _compile(node.right)
            return lambda plots, outside, plot: _combined(
                operator, left(plots, outside, plot), right(plots, outside, plot)
            )
        case Call():
            return _compile_call(node)


def _always(number: float) -> _Step:
    value = Scalar(value=complex(number), unit="1")
    return lambda _plots, _outside, _plot: value


def _compile_signal(node: SignalRef) -> _Step:
    if _is_constant(node):
        return _always(_CONSTANTS[node.text.lower()])

    def signal(_plots: Sequence[Plot], _outside: Preference, plot: Plot | None) -> Value:
        assert plot is not None, "a plot was chosen for every reference"
        return value_of(plot, node)

    return signal


def _compile_call(node: Call) -> _Step:
    if (function := VECTOR_FUNCTIONS.get(node.function)) is not None:
        if len(node.arguments) != 1:
            raise _wrong_count(node, f"{node.function}(x)")
        apply, argument = function.apply, _compile(node.arguments[0])
        return lambda plots, outside, plot: apply(argument(plots, outside, plot))
    if (measurement := MEASUREMENTS.get(node.function)) is None:
        raise _unknown_function(node)
    count = len(node.arguments)
    if _chooses(node):
        return _larger_or_smaller(node)
    if count - measurement.signals not in measurement.numbers:
        raise _wrong_count(node, measurement.usage)
    return _compile_measurement(node, measurement)


def _compile_measurement(node: Call, measurement: Measurement) -> _Step:
    numbers = [_compile_number(node, argument) for argument in node.arguments[measurement.signals :]]
    subjects = node.arguments[: measurement.signals]
    steps = [_compile(subject) for subject in subjects]
    references = tuple(reference for subject in subjects for reference in _references(subject))
    preference, choice = _preference(node, measurement), PlotChoice(references)

    def measured(plots: Sequence[Plot], outside: Preference, _plot: Plot | None) -> Value:
        given = [number(plots, outside) for number in numbers]
        plot = None
        if references:
            # the measured signals all come from the plot that suits the measurement best
            suitable = choice.of(plots, preference)
            plot = _reaching(suitable, given[0]) if node.function == "at" else suitable[0]
        values = [step(plots, outside, plot) for step in steps]
        first = values[0]
        if isinstance(first, Scalar):
            return _measured_value(node, first)
        for value in values:
            _check_finite(node, value)
        try:
            result = complex(measurement.compute(*values, *given))
        except (ArithmeticError, ValueError, IndexError) as error:  # of numpy too: a fit without an end
            raise CircuitError(
                msg("{function} cannot be computed from these values: {reason}.",
                    function=node.function, reason=error)
            ) from error  # fmt: skip
        return Scalar(value=result, unit=measurement.unit(first))

    return measured


def _compile_number(node: Call, argument: Node) -> Callable[[Sequence[Plot], Preference], float]:
    whole = _compile_whole(argument)
    return lambda plots, outside: _as_number(node, whole(plots, outside))


def _as_number(node: Call, value: Value) -> float:
    if isinstance(value, Signal):
        raise UserInputError(
            msg("An argument of {function} must be a single number, not a vector.", function=node.function),
            error_type="bad_expression",
        )
    if not math.isfinite(abs(value.value)):
        raise CircuitError(msg("An argument of {function} is not a finite number.", function=node.function))
    return value.value.real


def _larger_or_smaller(node: Call) -> _Step:
    left, right = (_compile_whole(argument) for argument in node.arguments)
    choose = max if node.function == "max" else min

    def chosen(plots: Sequence[Plot], outside: Preference, _plot: Plot | None) -> Value:
        first, second = left(plots, outside), right(plots, outside)
        number = choose(_as_number(node, first), _as_number(node, second))
        return Scalar(value=complex(number), unit=first.unit)

    return chosen


def step_named_in(expression: str) -> StepRef | None:
    """The run of a `.step` that an expression names (``v(out)@2``), the first of several; None for none, and
    for what cannot be read."""
    if "@" not in expression:
        return None

    def named(node: Node) -> Iterator[StepRef]:
        if isinstance(node, SignalRef) and node.step is not None:
            yield node.step
        for child in children(node):
            yield from named(child)

    try:
        return next(named(parse(expression)), None)
    except UserInputError:
        return None


def is_read_from(expression: str, card: str) -> bool:
    """Whether what an expression measures is read from the analysis of a card where there are others, too.

    ``max(v(out))`` is: of ``tran 1u 1m``; not of ``op``, where it is a value that no transient has.
    """

    def fits(node: Node) -> bool:
        measurement = MEASUREMENTS.get(node.function) if isinstance(node, Call) else None
        if isinstance(node, Call) and measurement is not None and not _chooses(node):
            signals = [each for part in node.arguments[: measurement.signals] for each in _references(part)]
            is_free = any(each.analysis is None for each in signals)
            if is_free and not is_first_choice(card, _preference(node, measurement)):
                return False
        return all(map(fits, children(node)))

    return fits(parse(expression))


def _chooses(node: Call) -> bool:
    """The larger or smaller of two numbers, not of a vector."""
    return node.function in ("max", "min") and len(node.arguments) == 2


def _preference(node: Call, measurement: Measurement) -> Preference:
    suits = {suit for subject in node.arguments[: measurement.signals] for suit in _suits(subject)}
    if measurement.domain == "any" and (node.function == "peak" or "frequency" in suits):
        return "any_frequency"
    return measurement.domain


def _vectors(node: Node) -> Iterator[str]:
    """The canonical names that may serve the signals anywhere under a node."""
    if isinstance(node, SignalRef):
        if not _is_constant(node):
            yield from vector_names(node)
    else:
        for child in children(node):
            yield from _vectors(child)


def _references(node: Node) -> Iterator[SignalRef]:
    """The signals under a node that are not inside a measurement of their own."""
    if isinstance(node, SignalRef):
        if not _is_constant(node):
            yield node
    elif not (isinstance(node, Call) and node.function in MEASUREMENTS):
        for child in children(node):
            yield from _references(child)


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _nodes(child)


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
    if not value.is_finite():
        bad = np.flatnonzero(~np.isfinite(value.y) | ~np.isfinite(value.x))
        raise CircuitError(
            msg("The argument of {function} is not a finite number at {place}.",
                function=node.function, place=figure(float(value.x[bad[0]]), value.axis_unit))
        )  # fmt: skip


def _combined(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Signal) and isinstance(right, Signal):
        _check_same_axis(left, right)
    shape = right if isinstance(left, Scalar) else left
    a, b = array_of(left), array_of(right)
    match operator:
        case "+":
            return same_shape(shape, a + b, units.total(left.unit, right.unit))
        case "-":
            return same_shape(shape, a - b, units.total(left.unit, right.unit))
        case "*":
            return same_shape(shape, a * b, units.product(left.unit, right.unit))
        case "/":
            return same_shape(shape, a / b, units.quotient(left.unit, right.unit))
        case _:
            exponent = right.value.real if isinstance(right, Scalar) else math.nan
            return same_shape(shape, np.power(a, b), units.power(left.unit, exponent))


def _check_same_axis(left: Signal, right: Signal) -> None:
    if left.x is not right.x and not np.array_equal(left.x, right.x):
        raise UserInputError(
            msg("The two sides of an operation come from different analyses ({left} and {right}).",
                left=left.axis_name, right=right.axis_name),
            error_type="bad_expression",
        )  # fmt: skip


def _stays_vector(expression: str, value: Signal) -> UserInputError:
    return UserInputError(
        msg("{expression} is a vector of {count} {count:point|points} over {axis}, where a "
            "single number is needed.",
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
        msg("{function} was given {count} {count:argument|arguments} (at character {position}); "
            "usage: {usage}.",
            function=node.function, count=len(node.arguments), position=node.position + 1, usage=usage),
        error_type="bad_expression",
    )  # fmt: skip


_MEANT = {
    "peaking": "db(peak(x)/dcgain(x))",
    "cutoff": "bandwidth(x)", "corner": "bandwidth(x)", "f3db": "bandwidth(x)", "fc": "bandwidth(x)",
    "mean": "avg(x)", "average": "avg(x)", "pk2pk": "pp(x)", "peak_to_peak": "pp(x)", "p2p": "pp(x)",
    "stdev": "rms(x-avg(x))", "dutycycle": "duty(x)", "duty_cycle": "duty(x)", "phase_shift": "ph(at(x,f))",
}  # fmt: skip
"""What other programs and papers call a measurement, and how it is written here."""


def _unknown_function(node: Call) -> UserInputError:
    known = [*MEASUREMENTS, *VECTOR_FUNCTIONS]
    close = difflib.get_close_matches(node.function, known, n=2, cutoff=0.75)
    if meant := _MEANT.get(node.function.lower()):
        close = [meant]
    return UserInputError(
        msg("There is no function {function} (at character {position}).",
            function=node.function, position=node.position + 1),
        advice=msg("Did you mean {names}?", names=", ".join(close))
        if close
        else msg("Available functions: {names}", names=", ".join(known)),
        error_type="bad_expression",
    )  # fmt: skip
