"""`.meas` cards computed from the data, with the values ngspice 39 itself would print.

ngspice skips `.meas` when it writes a raw file in batch mode, so it is done here. What ngspice does was
found by trying it (tests/integration/measurements compares card by card); its manual (section 15.4)
says less. Kept as it does them:

- AVG, MIN, MAX, PP take the whole samples between FROM and TO; an empty window gives 0, and the average
  of a single sample fails. RMS and INTEG interpolate at FROM and TO and use Simpson's rule over equal steps.
- TO=0 means no end. TD counts only for conditions (WHEN, TRIG, TARG) in transient analyses.
- In ac a vector stands for its real part; vm vr vi vp vdb(node) give magnitude, real and imaginary part,
  phase in radians, dB. All interpolation is linear, also over frequency.
- A condition looks at the samples from the third of its window on. A rise between the first two counts,
  and is placed by the straight line through the second and third; a fall there is lost. TRIG and TARG
  need RISE, FALL, CROSS or AT; a missing VAL is 0; TRIG's FROM holds for TARG too.
- PARAM (or EXPR) is computed last, from parameters and all measurements above it; at the operating point
  from voltages and currents too, as LTspice has it.

Beyond ngspice 39, which refuses them: INTEGRAL, DERIV (at a place, or WHEN), v(a,b), TARG AT= (a crash
there), measurements of every analysis in the deck (ngspice does those of the last one only), noise, and
FIND of an expression at the operating point (LTspice's ``.meas op``), and an expression in a vector's place
(``max mag(v(out))``, ``when mag(v(out))=peak/sqrt(2)``), as LTspice has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.circuit.numbers import digits_times_power, read_number
from domain.circuit.parameters import ExpressionError, parse_expression
from domain.simulation import units
from domain.simulation.expressions import evaluate, evaluate_vector
from domain.simulation.meas_cards import MeasClause, MeasStatement
from domain.simulation.meas_numerics import LAST, Passing, area_under, cut
from domain.simulation.result import Quantity
from domain.simulation.waveform import Plot, RealArray, Vector, canonical_name
from shared.errors import CircuitAIError
from shared.message import Message, msg

_GROUND = frozenset(("0", "gnd"))
_NAME = re.compile(r"\b[a-z]\w*\([^()]*\)|\b[a-z_]\w*\b(?!\()")
"""A name alone; what stands in a function's parentheses without others in them are nodes and elements."""
_SIGNAL = re.compile(r"\b(?:v|i[bcdegs]?)\([^()]*\)")
"""In a formula, which is in lower case."""
_COMPLEX_PART = re.compile(r"v(m|r|i|p|db)\((.*)\)")


class _Failure(Exception):
    """A measurement that has no value."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def evaluate_meas(
    statements: Sequence[MeasStatement], plots: Sequence[Plot], parameters: Mapping[str, float]
) -> dict[str, Quantity | Message]:
    """The value of each measurement by its name, or why it has none.

    `parameters` are the deck's, by lower-case name. Measurements of an analysis use its first plot.
    """
    results: dict[str, Quantity | Message] = {
        statement.name: msg("Not measured.") for statement in statements
    }
    known = dict(parameters)
    with np.errstate(all="ignore"):
        for statement in sorted(statements, key=lambda statement: statement.function == "param"):
            try:
                quantity = _measured(statement, plots, known | _of_its_analysis(known, statement.analysis))
                if not math.isfinite(quantity.value):
                    raise _Failure(_out_of_interval(statement))
            except _Failure as failure:
                results[statement.name] = failure.reason
            else:
                results[statement.name] = quantity
                known[statement.name] = quantity.value
    return results


def _of_its_analysis(known: Mapping[str, float], analysis: str) -> dict[str, float]:
    """What ``gain@ac`` says under the name `gain`, in the formulas of that analysis."""
    mark = f"@{analysis}"
    return {name.removesuffix(mark): value for name, value in known.items() if name.endswith(mark)}


def _out_of_interval(statement: MeasStatement) -> Message:
    return msg(
        "The measurement {name} failed: no point meets its condition within the simulated (or given) "
        "interval.",
        name=statement.name,
    )


def _measured(statement: MeasStatement, plots: Sequence[Plot], known: Mapping[str, float]) -> Quantity:
    if statement.formula is not None:
        formula = statement.formula
        if statement.analysis == "op":  # there a signal is a number, and LTspice takes it
            formula = _SIGNAL.sub(lambda each: f"({_of_point(statement, each[0], plots).value!r})", formula)
        return Quantity(value=_number(statement, formula, known), unit="")
    if statement.analysis == "op":
        return _at_operating_point(statement, plots)
    plot = _plot_of(statement, plots)
    data = _Data(statement, plot, known)
    if statement.function in ("trig", "when", "min_at", "max_at"):
        return Quantity(value=data.place(), unit=data.axis_unit)
    value, unit = data.value()
    return Quantity(value=value, unit=unit)


def _at_operating_point(statement: MeasStatement, plots: Sequence[Plot]) -> Quantity:
    """A single point has values only, which FIND (and what is the same of one value) asks for."""
    if statement.function not in ("find", "avg", "min", "max") or statement.condition is not None:
        raise _Failure(
            msg("The measurement {name} failed: at an operating point only FIND and PARAM have a value.",
                name=statement.name)
        )  # fmt: skip
    return _of_point(statement, statement.subject.vector or "", plots)


def _of_point(statement: MeasStatement, expression: str, plots: Sequence[Plot]) -> Quantity:
    points = [plot for plot in plots if plot.analysis == "op" and plot.points]
    if not points:
        raise _Failure(_no_analysis(statement))
    try:
        return evaluate(expression, points[:1])
    except CircuitAIError as error:
        raise _Failure(
            msg("The measurement {name} failed: {text} cannot be computed ({reason}).",
                name=statement.name, text=expression, reason=error.message)
        ) from error  # fmt: skip


def _no_analysis(statement: MeasStatement) -> Message:
    return msg(
        "The measurement {name} failed: there is no {analysis} analysis in this result.",
        name=statement.name,
        analysis=statement.analysis,
    )


def _plot_of(statement: MeasStatement, plots: Sequence[Plot]) -> Plot:
    kinds = (statement.analysis,) if statement.analysis != "sp" else ("other",)
    for plot in plots:
        if plot.analysis in kinds and plot.points and plot.axis is not None:
            return plot
    raise _Failure(_no_analysis(statement))


def _number(statement: MeasStatement, text: str, known: Mapping[str, float]) -> float:
    """A number with suffix (units after it ignored), a parameter, or an expression of parameters."""
    plain = text.strip()
    if plain in known:
        return known[plain]
    number = read_number(plain)
    if number is not None and not number.rest:
        return number.value
    try:
        return parse_expression(plain).evaluate(known)
    except ExpressionError as error:
        raise _Failure(
            msg("The measurement {name} failed: {text} cannot be computed ({reason}).",
                name=statement.name, text=plain, reason=str(error))
        ) from error  # fmt: skip


class _Data:
    """The vectors of one analysis, as one statement sees them."""

    def __init__(self, statement: MeasStatement, plot: Plot, known: Mapping[str, float]) -> None:
        assert plot.axis is not None
        self._statement = statement
        self._plot = plot
        self._known = known
        self._x: RealArray = plot.axis.data.real
        self._is_dc = statement.analysis == "dc"
        self.axis_unit = plot.axis.unit

    def place(self) -> float:
        """What TRIG, WHEN, MIN_AT and MAX_AT give: a place (or a distance) on the axis."""
        subject = self._statement.subject
        if self._statement.function == "trig":
            return self.trigger_to_target()
        if self._statement.function == "when":
            return self.place_of(subject)
        return self.extreme(subject, self._statement.function.removesuffix("_at"))[0]

    def value(self) -> tuple[float, str]:
        """What the other functions give, and its unit."""
        function = self._statement.function
        values, unit = self.values(self._statement.subject)
        if function == "find":
            return self.interpolated(values, self.position()), unit
        if function == "deriv":
            slope = self.interpolated(np.gradient(values, self._x), self.position())
            return slope, units.quotient(unit, self.axis_unit)
        if function in ("rms", "integ"):
            return self.rms_or_integral(self._statement.subject, is_rms=function == "rms")
        return self.statistic(function), unit

    def values(self, clause: MeasClause, name: str | None = None) -> tuple[RealArray, str]:
        """The real numbers a vector name stands for, and their unit."""
        wanted = name or clause.vector
        if wanted is None:
            raise _Failure(
                msg("The measurement {name} failed: it names no vector.", name=self._statement.name)
            )
        part = _COMPLEX_PART.fullmatch(wanted) if self._statement.analysis in ("ac", "sp") else None
        vector = self._vector(f"v({part[2]})" if part else wanted)
        if (
            vector is None
            and not _COMPLEX_PART.fullmatch(wanted)
            and (computed := self._computed(wanted)) is not None
        ):
            return computed
        if vector is None or len(vector.data) != len(self._x):
            raise _Failure(
                msg("The measurement {name} failed: there is no vector {vector} in the {analysis} analysis.",
                    name=self._statement.name, vector=wanted, analysis=self._statement.analysis)
            )  # fmt: skip
        return _part_of(vector, part[1] if part else "r")

    def _computed(self, text: str) -> tuple[RealArray, str] | None:
        """What an expression gives at each sample (``mag(v(out))``, ``v(a)-v(b)``); None for one that cannot
        be computed. Parameters and measurements above are numbers in it."""
        known = self._known

        def number(found: re.Match[str]) -> str:
            return f"({known[found[0]]!r})" if found[0] in known else found[0]

        try:
            signal = evaluate_vector(_NAME.sub(number, text), [self._plot])
        except CircuitAIError:
            return None
        data = np.asarray(signal.y.real)
        return (data, signal.unit) if len(data) == len(self._x) else None

    def _vector(self, name: str) -> Vector | None:
        vectors = self._plot.vectors
        found = vectors.get(canonical_name(name)) or vectors.get(f"v({name})")
        if found is None and name.startswith("v(") and name.count(",") == 1:
            pair = [node.strip() for node in name[2:-1].split(",")]
            first, second = (vectors.get(f"v({node})") for node in pair)
            if first is not None and second is not None:
                return Vector(name=name, unit=first.unit, data=np.subtract(first.data, second.data))
            if first is not None and pair[1] in _GROUND:
                return first
            if second is not None and pair[0] in _GROUND:
                return Vector(name=name, unit=second.unit, data=np.negative(second.data))
        return found

    def _option(self, clause: MeasClause, key: str, default: float = 0.0) -> float:
        text = clause.options.get(key)
        return default if text is None else _number(self._statement, text, self._known)

    def _count(self, clause: MeasClause, key: str) -> int:
        text = clause.options.get(key)
        if text is None:
            return -1
        if text == "last":
            return LAST
        wanted = _number(self._statement, text, self._known)
        return math.floor(wanted + 0.5) if abs(wanted) < 2**31 else -1

    def _window(self, clause: MeasClause) -> tuple[float, float]:
        """FROM and TO; without them everything (from 0 on, but in dc)."""
        low = self._border(clause, "from", -1e99 if self._is_dc else 0.0)
        high = self._border(clause, "to", 1e99 if self._is_dc else 0.0)
        if self._is_dc:
            return min(low, high), max(low, high)
        return low, high or math.inf

    def _border(self, clause: MeasClause, key: str, default: float) -> float:
        text = clause.options.get(key, "").strip()
        is_plain = text not in self._known and (number := read_number(text)) is not None and not number.rest
        return digits_times_power(text) if is_plain else self._option(clause, key, default)

    def _inside(self, clause: MeasClause) -> NDArray[np.intp]:
        """Indices of the whole samples of the window."""
        low, high = self._window(clause)
        return np.flatnonzero((self._x >= low) & (self._x <= high))

    def position(self) -> float:
        """Where FIND and DERIV look: AT, or the place of their WHEN."""
        statement = self._statement
        if statement.condition is not None:
            return self.place_of(statement.condition)
        if "at" not in statement.subject.options:
            raise _Failure(msg("The measurement {name} failed: AT= or WHEN is missing.", name=statement.name))
        return self._option(statement.subject, "at")

    def interpolated(self, values: RealArray, at: float) -> float:
        """The value at a place on the axis, by a straight line; NaN outside."""
        left = self._left_of(at)
        if left is None:
            return math.nan
        x0, x1 = self._x[left : left + 2]
        y0, y1 = values[left : left + 2]
        return float(y0 + (at - x0) * (y1 - y0) / (x1 - x0))

    def _left_of(self, at: float) -> int | None:
        x0, x1 = self._x[:-1], self._x[1:]
        passed = (x0 <= at) & (x1 >= at)
        if self._is_dc:
            passed |= (x0 >= at) & (x1 <= at)
        found = np.flatnonzero(passed)
        return int(found[0]) if len(found) else None

    def trigger_to_target(self) -> float:
        trigger, target = self._statement.subject, self._statement.condition
        assert target is not None
        start = trigger.options.get("from") or target.options.get("from")
        if start is not None and not self._is_dc:
            trigger, target = _starting(trigger, start), _starting(target, start)
        return self._trigger_place(target) - self._trigger_place(trigger)

    def _trigger_place(self, clause: MeasClause) -> float:
        if "at" in clause.options:
            return self._option(clause, "at")
        if not {"rise", "fall", "cross"} & clause.options.keys():
            raise _Failure(
                msg("The measurement {name} failed: TRIG and TARG need RISE=, FALL=, CROSS= or AT=.",
                    name=self._statement.name)
            )  # fmt: skip
        return self.place_of(clause)

    def place_of(self, clause: MeasClause) -> float:
        """Where on the axis a condition is met; NaN when nowhere."""
        values, _ = self.values(clause)
        levels = self._levels(clause)
        inside = self._inside(clause)
        if self._statement.analysis == "tran":
            inside = inside[self._x[inside] >= self._option(clause, "td")]
        counts = {key: self._count(clause, key) for key in ("rise", "fall", "cross")}
        restart = float(self._x[0]) if self._is_dc else None
        return Passing(self._x[inside], values[inside], levels[inside], counts, restart).place()

    def _levels(self, clause: MeasClause) -> RealArray:
        if clause.equals is None:
            return np.full(len(self._x), self._option(clause, "val"))
        part = _COMPLEX_PART.fullmatch(clause.equals)
        is_number = read_number(clause.equals) is not None or clause.equals in self._known
        if not is_number and self._vector(f"v({part[2]})" if part else clause.equals) is not None:
            return self.values(clause, clause.equals)[0]
        try:
            return np.full(len(self._x), _number(self._statement, clause.equals, self._known))
        except _Failure:
            computed = self._computed(clause.equals)
            if computed is None:
                raise
            return computed[0]

    def statistic(self, function: str) -> float:
        """AVG, MIN, MAX or PP over the whole samples of the window."""
        subject = self._statement.subject
        if function == "pp":
            return self.extreme(subject, "max")[1] - self.extreme(subject, "min")[1]
        if function != "avg":
            return self.extreme(subject, function)[1]
        inside = self._inside(subject)
        if not len(inside):
            return 0.0
        x, y = self._x[inside], self.values(subject)[0][inside]
        steps = np.diff(x)
        return float((0.5 * (y[1:] + y[:-1]) * steps).sum() / np.float64(steps.sum()))

    def extreme(self, clause: MeasClause, which: str) -> tuple[float, float]:
        """(place, value) of the smallest or largest sample, the last of equal ones; zeros when none."""
        inside = self._inside(clause)
        values, _ = self.values(clause)
        if not len(inside):
            return 0.0, 0.0
        reversed_values = values[inside][::-1]
        best = int(np.argmin(reversed_values) if which == "min" else np.argmax(reversed_values))
        index = inside[len(inside) - 1 - best]
        return float(self._x[index]), float(values[index])

    def rms_or_integral(self, clause: MeasClause, *, is_rms: bool) -> tuple[float, str]:
        """Value and unit, the window's ends interpolated."""
        values, unit = self.values(clause)
        x, y, span = cut(self._x, values, *self._window(clause))
        area = area_under(x, y * y if is_rms else y)
        if not is_rms:
            return area, units.product(unit, self.axis_unit)
        square = area / span if span else math.nan
        return (math.sqrt(square) if square >= 0 else math.nan), unit


def _starting(clause: MeasClause, start: str) -> MeasClause:
    return MeasClause(vector=clause.vector, equals=clause.equals, options={"from": start, **clause.options})


def _part_of(vector: Vector, part: str) -> tuple[RealArray, str]:
    data = vector.data
    match part:
        case "m":
            return np.abs(data), vector.unit
        case "i":
            return np.asarray(data.imag), vector.unit
        case "p":
            return np.angle(data), "rad"
        case "db":
            return 20 * np.log10(np.abs(data)), "dB"
        case _:
            return np.asarray(data.real), vector.unit
