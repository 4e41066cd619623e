"""Analyses a circuit may be asked for, with figures that fit it: what its sources do says how long a
transient lasts, what its capacitors and inductors are says where its frequencies lie.

They are beginnings to be looked over, round figures of 1, 2 and 5; nothing is simulated for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from domain.circuit.analyses import checked_analysis
from domain.circuit.elements import Element
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number
from shared.errors import UserInputError
from shared.message import Message, msg

Kind = Literal["tran", "ac", "dc", "op", "noise"]
KINDS: tuple[Kind, ...] = ("tran", "ac", "dc", "op", "noise")
Values = Mapping[str, str]

_WAVEFORM = re.compile(r"\b(sin|sine|pulse)\b\s*\(?([^()]*)", re.IGNORECASE)
_AC = re.compile(r"\bac\b", re.IGNORECASE)
_OUTPUTS = ("out", "output", "vout", "o")
_STEPS = ((1e12, "t"), (1e9, "g"), (1e6, "meg"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"),
          (1e-12, "p"), (1e-15, "f"))  # fmt: skip
_PERIODS, _PULSES, _TIME_CONSTANTS = 10, 5, 10
_POINTS = 500
"""Of a transient, at least."""
_SHORTEST_S, _LONGEST_S = 1e-15, 1e6
"""A time constant beyond them is no circuit's."""
_DECADES = 3
"""Of frequency, on both sides of the corner."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One word of a card."""

    name: str
    label: Message
    is_optional: bool = False


FIELDS: Mapping[Kind, tuple[FormField, ...]] = {
    "tran": (
        FormField("stop", msg("Stop time")),
        FormField("step", msg("Time step")),
        FormField("start", msg("Save from"), is_optional=True),
    ),
    "ac": (
        FormField("points", msg("Points per decade")),
        FormField("start", msg("From")),
        FormField("stop", msg("To")),
    ),
    "dc": (
        FormField("source", msg("Source")),
        FormField("start", msg("From")),
        FormField("stop", msg("To")),
        FormField("step", msg("Step")),
    ),
    "op": (),
    "noise": (
        FormField("output", msg("Output node")),
        FormField("source", msg("Input source")),
        FormField("points", msg("Points per decade")),
        FormField("start", msg("From")),
        FormField("stop", msg("To")),
    ),
}


def kinds_for(netlist: Netlist) -> tuple[Kind, ...]:
    """The kinds, what the circuit's sources are made for first."""
    sources = _sources(netlist)
    if any(_WAVEFORM.search(source.statement.text) for source in sources):
        return KINDS
    if any(_AC.search(source.statement.text) for source in sources):
        return ("ac", "tran", "dc", "op", "noise")
    if any(element.letter in "cl" for element in netlist.elements):
        return ("tran", "ac", "op", "dc", "noise")
    return ("op", "dc", "tran", "ac", "noise")


def proposed(netlist: Netlist, kind: Kind) -> dict[str, str]:
    """A value for each field of a kind, "" where the circuit tells none."""
    sources = _sources(netlist)
    first = next((source for source in sources if source.letter == "v"), next(iter(sources), None))
    if kind == "tran":
        stop, finest = _duration(netlist, sources)
        return {"stop": number_word(stop), "step": number_word(min(stop / _POINTS, finest)), "start": ""}
    if kind == "dc":
        high = abs(_dc_of(first)) or 5.0
        name = "" if first is None else first.name
        return {"source": name, "start": "0", "stop": number_word(high), "step": number_word(high / 100)}
    if kind in ("ac", "noise"):
        low, high = _band(netlist)
        band = {"points": "20", "start": number_word(low), "stop": number_word(high)}
        if kind == "ac":
            return band
        nodes = [node.text for element in netlist.elements if not element.scope for node in element.nodes]
        nodes = [node for node in nodes if node.lower() not in ("0", "gnd")]
        output = next((node for node in nodes if node.lower() in _OUTPUTS), nodes[-1] if nodes else "")
        with_ac = next((source for source in sources if _AC.search(source.statement.text)), first)
        return {"output": output, "source": "" if with_ac is None else with_ac.name, **band}
    return {}


def card_of(kind: Kind, values: Values) -> str:
    """The directive with its dot, ``.tran 2u 1m``. Raises UserInputError for what no analysis can be."""
    given = {name: value.strip() for name, value in values.items()}
    for field in FIELDS[kind]:
        if not given.get(field.name) and not field.is_optional:
            raise UserInputError(msg("{field} is missing.", field=field.label))
    match kind:
        case "tran":
            words = [given["step"], given["stop"], given.get("start", "")]
        case "ac":
            words = ["dec", given["points"], given["start"], given["stop"]]
        case "dc":
            words = [given["source"], given["start"], given["stop"], given["step"]]
        case "noise":
            output = given["output"] if "(" in given["output"] else f"v({given['output']})"
            words = [output, given["source"], "dec", given["points"], given["start"], given["stop"]]
        case "op":
            words = []
    text = " ".join((kind, *filter(None, words)))
    _check_range(kind, given)
    return checked_analysis(text)


def read_card(text: str) -> tuple[Kind, dict[str, str]] | None:
    """The form's values of a card that is there; None for one the form cannot say whole."""
    words = text.strip().removeprefix(".").split()
    kind = words[0].lower() if words else ""
    names: tuple[str, ...] = ()
    if kind == "tran" and len(words) in (3, 4):
        names = ("step", "stop", "start")
    elif kind == "ac" and len(words) == 5 and words[1].lower() == "dec":
        del words[1]
        names = ("points", "start", "stop")
    elif kind == "dc" and len(words) == 5:
        names = ("source", "start", "stop", "step")
    elif kind == "noise" and len(words) == 7 and words[3].lower() == "dec":
        del words[3]
        names = ("output", "source", "points", "start", "stop")
    elif kind != "op" or len(words) > 1:
        return None
    found = next(known for known in KINDS if known == kind)
    empty = {field.name: "" for field in FIELDS[found]}
    return found, {**empty, **dict(zip(names, words[1:], strict=False))}


def missing_ac(netlist: Netlist) -> str:
    """The source an AC analysis needs a value of, when no source has one; "" else."""
    sources = _sources(netlist)
    if not sources or any(_AC.search(source.statement.text) for source in sources):
        return ""
    return sources[0].name


def number_word(value: float) -> str:
    """A number as netlists have it, three digits: ``2meg``, ``500n``."""
    if value == 0 or not math.isfinite(value):
        return "0"
    scale, suffix = next(((s, word) for s, word in _STEPS if abs(value) >= s * (1 - 1e-9)), _STEPS[-1])
    return f"{value / scale:.3g}{suffix}"


def _check_range(kind: Kind, given: Values) -> None:
    """What ngspice would end without a point."""
    start, stop = _number(given.get("start", "") or "0"), _number(given.get("stop", ""))
    if start is None or stop is None:
        return  # an expression
    if kind in ("ac", "noise") and not 0 < start < stop:
        raise UserInputError(msg("The frequencies must be more than 0 Hz, the lower one first."))
    if kind == "tran" and not start < stop:
        raise UserInputError(msg("The stop time must come after the start."))
    step = _number(given.get("step", ""))
    if kind == "tran" and step is not None and not 0 < step <= stop:
        raise UserInputError(msg("The time step must be more than 0 and no longer than the stop time."))
    if kind == "dc" and step is not None and (step == 0 or (stop - start) * step < 0):
        raise UserInputError(msg("The step must lead from the first value to the last."))


def _sources(netlist: Netlist) -> tuple[Element, ...]:
    return tuple(element for element in netlist.elements if element.letter in "vi" and not element.scope)


def _duration(netlist: Netlist, sources: Iterable[Element]) -> tuple[float, float]:
    """Stop time and the longest step that still sees the quickest course (s)."""
    lasting: list[float] = []
    finest = math.inf
    for source in sources:
        found = _WAVEFORM.search(source.statement.text)
        if found is None:
            continue
        numbers = [_number(word) for word in found[2].replace(",", " ").split()]
        if found[1].lower().startswith("sin"):
            frequency = _at(numbers, 2)
            if frequency > 0:
                lasting.append(_at(numbers, 3) + _PERIODS / frequency)
                finest = min(finest, 1 / frequency / 50)
            continue
        delay, rise, fall, width, period = (_at(numbers, place) for place in range(2, 7))
        once = rise + width + fall
        lasting.append(delay + (_PULSES * period if period > 0 else 2 * once))
        finest = min([finest, *(edge for edge in (rise, fall) if edge > 0)])
    known = [each for each in lasting if _SHORTEST_S <= each <= _LONGEST_S]
    if not known:
        tau = _time_constant(netlist)
        return _round(_TIME_CONSTANTS * tau if tau else 1e-2), math.inf
    return _round(max(known)), max(finest, max(known) / 1e5)


def _band(netlist: Netlist) -> tuple[float, float]:
    tau = _time_constant(netlist)
    if not tau:
        return 1.0, 1e6
    middle = round(math.log10(1 / (2 * math.pi * tau)))
    return max(10.0 ** (middle - _DECADES), 1e-3), 10.0 ** (middle + _DECADES)


def _time_constant(netlist: Netlist) -> float | None:
    """Of a usual resistor with a usual capacitor or inductor of the circuit (s)."""
    r, c, henries = (_usual(netlist.elements, letter) for letter in "rcl")
    if c and henries:
        tau = math.sqrt(henries * c)
    elif c:
        tau = (r or 1e3) * c
    elif henries:
        tau = henries / (r or 1e3)
    else:
        return None
    return tau if _SHORTEST_S <= tau <= _LONGEST_S else None


def _usual(elements: Sequence[Element], letter: str) -> float | None:
    written = [element.value for element in elements if element.letter == letter]
    values = [_number(value.text) for value in written if value is not None]
    known = [value for value in values if value is not None and value > 0]
    return median(known) if known else None


def _dc_of(source: Element | None) -> float:
    return 0.0 if source is None or source.value is None else _number(source.value.text) or 0.0


def _at(numbers: Sequence[float | None], place: int) -> float:
    return (numbers[place] if place < len(numbers) else None) or 0.0


def _number(text: str) -> float | None:
    try:
        return parse_number(text)
    except ValueError:
        return None  # an expression


def _round(value: float) -> float:
    """The next of 1, 2, 5, 10 upwards."""
    decade = 10.0 ** math.floor(math.log10(value))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= value * (1 - 1e-9))
