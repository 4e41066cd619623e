"""Circuits that ask to be simulated again and again: `.step` of LTspice and PSpice, several temperatures on
`.temp`, HSPICE's ``sweep`` on an analysis.

ngspice has none of these (it refuses `.step`, and takes 27 degrees for two temperatures). Each card is an
axis; a circuit is simulated at every combination, the first card changing fastest, as LTspice does.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from domain.circuit.netlist import Netlist
from domain.circuit.numbers import format_number, parse_number, read_number
from domain.circuit.parameters import ExpressionError, parse_expression
from domain.circuit.statements import Statement
from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import msg

MOST_STEPS = 1000

StepKind = Literal["param", "source", "temp", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAxis:
    """One quantity and the values it takes."""

    kind: StepKind
    name: str
    """Lower case: of the `.param` or the source; ``temp``; ``model.parameter``."""
    values: tuple[float, ...]
    """SI; temperatures in degrees Celsius."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPoint:
    """One combination."""

    values: tuple[tuple[StepAxis, float], ...]

    @property
    def label(self) -> str:
        """``r1=1k, temp=27``."""
        return ", ".join(f"{axis.name}={step_value(value, 6)}" for axis, value in self.values)


def step_value(value: float, digits: int = 4) -> str:
    """``10k``; 0.02 and 0.5 are a share or a position as often as ohms: no ``20m`` beside a 0.5."""
    return f"{value:.{digits}g}" if 0.01 <= abs(value) < 1 else format_number(value, digits)


def step_axes(netlist: Netlist) -> tuple[StepAxis, ...]:
    """The axes of a circuit, the fastest first; () for one that is simulated once.

    Raises UserInputError for a card that cannot be understood.
    """
    try:
        return tuple(_axes_of(netlist))
    except UserInputError as error:
        error.file = netlist.path
        raise


def _axes_of(netlist: Netlist) -> list[StepAxis]:
    cards = [card for card in netlist.directives("step") if not card.scope]
    values_of = functools.cache(lambda: _constants(netlist))
    axes: list[StepAxis] = []
    if cards:
        parameters = {parameter.name for parameter in netlist.parameters if not parameter.scope}
        parts = {part.key for part in netlist.elements if not part.scope and part.letter in "rlc"}
        axes = [_axis_of(card, parameters, parts, values_of) for card in cards]
    for card in netlist.statements:
        if card.kind == "directive" and card.keyword in ("tran", "ac", "dc") and not card.scope:
            axis = _swept(card, values_of)
            if axis is not None and axis not in axes:
                axes.append(axis)
    for card in netlist.directives("temp")[-1:]:
        if len(given := _temperatures(card)) > 1:  # one, also an expression, is ngspice's own
            values = tuple(_temperature(card, text) for text in given)
            axes.append(StepAxis(kind="temp", name="temp", values=values, line=card.line))
    return axes


def step_points(axes: tuple[StepAxis, ...]) -> tuple[StepPoint, ...]:
    """Every combination, the first axis changing fastest. Raises UserInputError for too many."""
    count = math.prod(len(axis.values) for axis in axes)
    if count > MOST_STEPS:
        raise UserInputError(
            msg("The circuit's .step directives give more than {limit} runs.", limit=MOST_STEPS),
            advice=msg("Use larger steps, or the sweep command."),
            line=max(axes, key=lambda axis: len(axis.values)).line,
        )
    slowest_first = itertools.product(*(axis.values for axis in reversed(axes)))
    return tuple(
        StepPoint(values=tuple(zip(axes, reversed(combination), strict=True)))
        for combination in slowest_first
    )


def without_steps(netlist: Netlist) -> Netlist:
    """The circuit with its stepping cards turned into comments, no line moved."""
    values_of = functools.cache(lambda: _constants(netlist))
    edits = [
        (start, start, "* ")
        for card in _stepping_cards(netlist)
        for start in (netlist.source.lines[line - 1].start for line in {chunk.line for chunk in card.chunks})
    ]
    for card in netlist.statements:
        if (
            card.kind == "directive"
            and (match := _SWEEP.search(card.raw))
            and _swept(card, values_of) is not None
        ):
            edits += [
                (first, last, " " * (last - first))
                for first, last in card.span_of(match.start("sweep"), len(card.raw))
            ]
    return netlist.edited(edits) if edits else netlist


def unstepped(netlist: Netlist, axes: tuple[StepAxis, ...]) -> Netlist:
    """The circuit to be simulated once: without its stepping cards, and what only they define at the first
    value."""
    known = {parameter.name for parameter in netlist.parameters if not parameter.scope}
    cards = [
        f".param {axis.name}={axis.values[0]:.15g}"
        for axis in axes
        if axis.kind == "param" and axis.name not in known
    ]
    plain = without_steps(netlist)
    return plain.with_cards(cards) if cards else plain


def at_point(netlist: Netlist, point: StepPoint) -> Netlist:
    """A circuit without its stepping cards, at one combination, but for `model_values`."""
    tail: list[str] = []
    known = {parameter.name for parameter in netlist.parameters if not parameter.scope}
    for axis, value in point.values:
        text = f"{value:.15g}"
        if axis.kind == "temp":
            tail.append(f".temp {text}")
        elif axis.kind == "model":
            continue
        elif axis.kind == "source":
            netlist = _with_value(netlist, axis, text)
        elif axis.name in known:  # a source may have the parameter's name: Vin in 0 {Vin}
            netlist = netlist.with_parameter(axis.name, text)
        else:  # LTspice lets a stepped parameter have no other definition
            tail.append(f".param {axis.name}={text}")
    return netlist.with_cards(tail) if tail else netlist


def _with_value(netlist: Netlist, axis: StepAxis, text: str) -> Netlist:
    try:
        return netlist.with_value(axis.name, text)
    except UserInputError as error:  # a name of another program's, such as Xyce's VS:VA
        error.file, error.line = netlist.path, axis.line
        raise


def model_values(point: StepPoint) -> dict[str, str]:
    """The parameters of models at one combination, by ``model.parameter``: the card may stand in any file."""
    return {axis.name: f"{value:.15g}" for axis, value in point.values if axis.kind == "model"}


_MODEL = late_pattern(r"[a-z]\w*\s+(?P<model>[^\s()]+)\s*\(\s*(?P<parameter>\w+)\s*\)", re.IGNORECASE)
_SWEEP = late_pattern(r"\.\w+\s+[^\s=](?:(?!\ssweep\s).)*(?P<sweep>\ssweep\s+(?P<rest>.+))$", re.IGNORECASE)


def _stepping_cards(netlist: Netlist) -> Iterator[Statement]:
    yield from (card for card in netlist.directives("step") if not card.scope)
    temperatures = netlist.directives("temp")
    if temperatures and len(_temperatures(temperatures[-1])) > 1:
        yield from temperatures


def _temperatures(card: Statement) -> list[str]:
    """What a `.temp` card lists; HSPICE takes ``.temp=25`` too."""
    return [word.text for word in card.words[1:] if word.text != "="]


def _temperature(card: Statement, text: str) -> float:
    try:
        return parse_number(text)
    except ValueError as error:
        raise UserInputError(
            msg("The temperatures of “{card}” (line {line}) must be numbers; {text} is not a number.",
                card=card.text.strip()[:100], line=card.line, text=text),
            advice=msg("Write .temp -40 27 125; a single temperature may be an expression: .temp {example}.",
                       example="{tamb}"),
            line=card.line,
        ) from error  # fmt: skip


_Constants = Callable[[], Mapping[str, float]]
"""The values of the circuit's parameters; only looked up where a step is written with one."""


def _constants(netlist: Netlist) -> dict[str, float]:
    """Parameters of the top level that have a value as they stand, one after the other."""
    known: dict[str, float] = {}
    for parameter in netlist.parameters:
        if not parameter.scope:
            with contextlib.suppress(ExpressionError):
                known[parameter.name] = parse_expression(parameter.value.text.strip("{}'")).evaluate(known)
    return known


def _in_numbers(words: Iterable[str], values_of: _Constants) -> list[str]:
    """The words with a parameter's name, or an expression in braces or quotes, as its number."""
    found: list[str] = []
    for word in words:
        inner = word.strip("{}'")
        is_plain = read_number(word) is not None or (inner == word and inner.lower() not in values_of())
        value = None
        if not is_plain:
            with contextlib.suppress(ExpressionError):
                value = parse_expression(inner).evaluate(values_of())
        found.append(word if value is None else f"{value:.15g}")
    return found


def _swept(card: Statement, values_of: _Constants) -> StepAxis | None:
    """``sweep name start stop step``, ``sweep name poi n ...``, ``sweep name lin n start stop`` (HSPICE)."""
    match = _SWEEP.search(card.raw)
    if match is None:
        return None
    words = match["rest"].replace("=", " ").split()
    name, rest = words[0].lower(), words[1:]
    kind: StepKind = "param"
    if name == "temp":
        kind = "temp"
    elif card.keyword == "dc" and name[0] in "vi":  # of a source, or a parameter called like one
        kind = "source"
    if name in ("monte", "data", "optimize"):
        raise UserInputError(
            msg("HSPICE's sweep {word} is not simulated here.", word=name.upper()),
            advice=msg("Remove it, and use the montecarlo or sweep command."),
            line=card.line,
        )
    if not rest:
        raise _unreadable(card)
    rest = _in_numbers(rest, values_of)
    if rest[0].lower() == "poi":
        values = tuple(_number(card, word) for word in rest[2:])
    elif rest[0].lower() in ("lin", "dec", "oct"):
        values = _counted(card, rest[0].lower(), [_number(card, word) for word in rest[1:4]])
    else:
        values = _stepped(card, [_number(card, word) for word in rest[:3]])
    return StepAxis(kind=kind, name=name, values=values, line=card.line)


def _axis_of(card: Statement, parameters: Set[str], elements: Set[str], values_of: _Constants) -> StepAxis:
    """``.step [lin|dec|oct] [param] name start stop step``, ``.step [param] name list a b c``; of a model's
    parameter ``.step [lin|dec|oct] npn 2N2222(VAF) start stop step``."""
    raw = card.raw
    if (model := _MODEL.search(raw)) is not None:
        raw = f"{raw[: model.start()]} {model['model']}.{model['parameter']} {raw[model.end() :]}"
    words = raw.replace("=", " ").split()[1:]
    sweep = "lin"
    if words and words[0].lower() in ("lin", "dec", "oct"):
        sweep = words.pop(0).lower()
    kind: StepKind = "source" if model is None else "model"
    if words and words[0].lower() == "param":
        kind = "param"
        words.pop(0)
    if not words:
        raise _unreadable(card)
    name = words.pop(0).lower()
    if name in ("temp", "temper", "temperature"):
        kind, name = "temp", "temp"
    if words and words[0].lower() in ("lin", "dec", "oct"):
        sweep = words.pop(0).lower()
    if kind == "source" and name in parameters:  # Xyce needs no word for it
        kind = "param"
    if kind == "source" and ((name[0] not in "vi" and name not in elements) or len(words) < 1):
        raise _unreadable(card)
    words = _in_numbers(words, values_of)
    if words and words[0].lower() == "list":
        values = tuple(_number(card, word) for word in words[1:])
    elif sweep == "lin":
        values = _stepped(card, [_number(card, word) for word in words])
    else:
        values = _logarithmic(card, sweep, [_number(card, word) for word in words])
    if not values:
        raise _unreadable(card)
    return StepAxis(kind=kind, name=name, values=values, line=card.line)


def _stepped(card: Statement, numbers: list[float]) -> tuple[float, ...]:
    """From start to stop, the stop always among them, as in LTspice."""
    if len(numbers) != 3 or numbers[2] == 0 or not math.isfinite(numbers[1] - numbers[0]):
        raise _unreadable(card)
    start, stop, step = numbers
    step = math.copysign(step, stop - start)
    count = _whole((stop - start) / step)  # `step_points` tells that it is too many
    values = [start + step * index for index in range(count + 1)]
    if abs(values[-1] - stop) > 1e-6 * abs(step):
        values.append(stop)
    return tuple(values)


def _logarithmic(card: Statement, sweep: str, numbers: list[float]) -> tuple[float, ...]:
    """`numbers` = start, stop, points a decade or octave."""
    if len(numbers) != 3 or numbers[0] <= 0 or numbers[1] < numbers[0] or numbers[2] < 1:
        raise _unreadable(card)
    start, stop, per = numbers
    base = 10.0 if sweep == "dec" else 2.0
    count = _whole((math.log(stop) - math.log(start)) / math.log(base) * per)
    ratio = base ** (1 / per)
    try:
        values = [start * ratio**index for index in range(count + 1)]
    except OverflowError:
        raise _unreadable(card) from None  # more decades than a double has
    if values[-1] < stop * (1 - 1e-9):
        values.append(stop)
    return tuple(values)


def _whole(steps: float) -> int:
    """How many whole steps; one more than a bit less than one counts, and at most `MOST_STEPS`."""
    return math.floor(min(steps * (1 + 1e-9) + 1e-9, float(MOST_STEPS)))


def _counted(card: Statement, sweep: str, numbers: list[float]) -> tuple[float, ...]:
    if len(numbers) != 3 or numbers[0] < 1 or not math.isfinite(numbers[2] - numbers[1]):
        raise _unreadable(card)
    count, start, stop = numbers
    if sweep != "lin":
        return _logarithmic(card, sweep, [start, stop, count])
    points = round(min(count, MOST_STEPS + 1))
    return tuple(start + (stop - start) * index / max(points - 1, 1) for index in range(points))


def _number(card: Statement, text: str) -> float:
    try:
        number = parse_number(text)
    except ValueError:
        raise _unreadable(card) from None
    if not math.isfinite(number):
        raise _unreadable(card)
    return number


def _unreadable(card: Statement) -> UserInputError:
    return UserInputError(
        msg(
            "The steps of “{card}” (line {line}) cannot be understood.",
            card=card.text.strip(),
            line=card.line,
        ),
        advice=msg("Write it like {example}.", example=".step param R1 1k 10k 1k"),
        line=card.line,
    )
