"""Calls of PySpice's elements as cards of ngspice.

Source: PySpice 1.5, `PySpice.Spice.BasicElement` and `HighLevelElement`: names, order and defaults of what is
given by place, what the keywords are called on a card.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class CannotFollow(Exception):
    """A value depends on what is not known here."""


@dataclass(slots=True, eq=False)
class Named:
    """What a script calls by a name: an element, a circuit, a subcircuit."""

    title: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One element."""

    name: str
    words: tuple[str, ...]
    told: dict[str, Any] = field(default_factory=dict)
    """What the call said, by PySpice's names; a period with its frequency."""

    def __str__(self) -> str:
        return " ".join((self.name, *self.words))


@dataclass(frozen=True, slots=True)
class _Shape:
    """How calls of an element become a card: its letter, its nodes, what follows by place, what by name."""

    letter: str
    nodes: int
    places: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


_KEYS = {
    "multiplier": "m",
    "temperature": "temp",
    "device_temperature": "dtemp",
    "initial_condition": "ic",
    "length": "l",
    "width": "w",
    "drain_area": "ad",
    "source_area": "as",
    "drain_perimeter": "pd",
    "source_perimeter": "ps",
    "drain_number_square": "nrd",
    "source_number_square": "nrs",
    "current_expression": "i",
    "voltage_expression": "v",
    "impedance": "Z0",
    "time_delay": "TD",
    "frequency": "F",
    "normalized_length": "NL",
}
_OFF = ("off",)
_BY_SHAPE: tuple[tuple[tuple[str, ...], _Shape], ...] = (
    (("R", "Resistor", "SemiconductorResistor"), _Shape("R", 2, ("resistance", "model"))),
    (("BehavioralResistor",), _Shape("R", 2, ("resistance_expression",))),
    (("C", "Capacitor", "SemiconductorCapacitor"), _Shape("C", 2, ("capacitance", "model"))),
    (("BehavioralCapacitor",), _Shape("C", 2, ("capacitance_expression",))),
    (("L", "Inductor"), _Shape("L", 2, ("inductance", "model"))),
    (("BehavioralInductor",), _Shape("L", 2, ("inductance_expression",))),
    (("K", "CoupledInductor"), _Shape("K", 0, ("inductor1", "inductor2", "coupling_factor"))),
    (("S", "VCS", "VoltageControlledSwitch"), _Shape("S", 4, ("model", "initial_state"))),
    (("W", "CCS", "CurrentControlledSwitch"), _Shape("W", 2, ("source", "model", "initial_state"))),
    (("V", "VoltageSource"), _Shape("V", 2, ("dc_value",))),
    (("I", "CurrentSource"), _Shape("I", 2, ("dc_value",))),
    (("VCVS", "VoltageControlledVoltageSource"), _Shape("E", 4, ("voltage_gain",))),
    (("VCCS", "VoltageControlledCurrentSource"), _Shape("G", 4, ("transconductance",))),
    (("F", "CCCS", "CurrentControlledCurrentSource"), _Shape("F", 2, ("source", "current_gain"))),
    (("H", "CCVS", "CurrentControlledVoltageSource"), _Shape("H", 2, ("source", "transresistance"))),
    (("B", "BehavioralSource"), _Shape("B", 2)),
    (("D", "Diode"), _Shape("D", 2, ("model",), _OFF)),
    (("Q", "BJT", "BipolarJunctionTransistor"), _Shape("Q", 3, ("model",), _OFF)),
    (("J", "JFET", "JunctionFieldEffectTransistor"), _Shape("J", 3, ("model",), _OFF)),
    (("Z", "MESFET", "Mesfet"), _Shape("Z", 3, ("model",), _OFF)),
    (("M", "MOSFET", "Mosfet"), _Shape("M", 4, ("model",), _OFF)),
    (("LosslessTransmissionLine", "TransmissionLine"), _Shape("T", 4)),
)
_SHAPES = {name: shape for names, shape in _BY_SHAPE for name in names}
_PINS = {
    "S": ("output_plus", "output_minus", "input_plus", "input_minus"),
    "E": ("output_plus", "output_minus", "input_plus", "input_minus"),
    "G": ("output_plus", "output_minus", "input_plus", "input_minus"),
    "Q": ("collector", "base", "emitter"),
    "J": ("drain", "gate", "source"),
    "Z": ("drain", "gate", "source"),
    "M": ("drain", "gate", "source", "bulk"),
    "D": ("cathode", "anode"),
}
"""Names of the pins where they are given as keywords; of all others plus and minus."""
_WAVES: Mapping[str, tuple[tuple[str, Any], ...]] = {
    "Sinusoidal": (
        ("dc_offset", 0), ("ac_magnitude", 1), ("offset", 0), ("amplitude", 1), ("frequency", 50),
        ("delay", 0), ("damping_factor", 0),
    ),
    "Pulse": (
        ("initial_value", None), ("pulsed_value", None), ("pulse_width", None), ("period", None),
        ("delay_time", 0), ("rise_time", 0), ("fall_time", 0), ("phase", ""), ("dc_offset", 0),
    ),
    "Exponential": (
        ("initial_value", None), ("pulsed_value", None), ("rise_delay_time", 0), ("rise_time_constant", ""),
        ("fall_delay_time", ""), ("fall_time_constant", ""),
    ),
    "PieceWiseLinear": (("values", None), ("repeat_time", ""), ("delay_time", ""), ("dc", "")),
    "SingleFrequencyFM": (
        ("offset", None), ("amplitude", None), ("carrier_frequency", None), ("modulation_index", None),
        ("signal_frequency", None),
    ),
    "AmplitudeModulated": (
        ("offset", None), ("amplitude", None), ("modulating_frequency", None), ("carrier_frequency", None),
        ("signal_delay", 0),
    ),
}  # fmt: skip
_WAVE = re.compile(rf"(?P<kind>{'|'.join(_WAVES)})(?P<of>Voltage|Current)Source$")


def card_of(name: str, places: list[Any], named: dict[str, Any]) -> Card:
    """The card of a call ``circuit.NAME(*places, **named)``.

    Raises CannotFollow where it is of no known element, or of values that have no text.
    """
    if name in ("X", "SubCircuitElement"):
        part, model, *nodes = map(text_of, places)
        values = [f"{key}={text_of(value)}" for key, value in named.items()]
        return _card("X", part, [*map(node_of, nodes), model, *values])
    if name == "AcLine":
        part, first, second, *rest = places
        given = _by_name((("rms_voltage", None), ("frequency", 50)), rest, named)
        peak = text_of(number_of(given["rms_voltage"]) * math.sqrt(2))
        wave = f"DC 0 AC 1 SIN(0 {peak} {text_of(given['frequency'])} 0 0)"
        return _card("V", text_of(part), [node_of(first), node_of(second), wave], _timed(given))
    if (found := _WAVE.match(name)) is not None:
        part, first, second, *rest = places
        given = _by_name(_WAVES[found["kind"]], rest, named)
        words = [node_of(first), node_of(second), _wave(found["kind"], given)]
        return _card(found["of"][0].replace("C", "I"), text_of(part), words, _timed(given))
    if name in ("NonLinearVoltageSource", "NonLinearCurrentSource"):
        part, first, second = places
        points = " ".join(f"({text_of(x)},{text_of(y)})" for x, y in named["table"])
        words = [node_of(first), node_of(second), f"TABLE {{{text_of(named['expression'])}}} = {points}"]
        return _card("E" if "Voltage" in name else "G", text_of(part), words)
    shape = _SHAPES.get(name)
    if shape is None:
        raise CannotFollow
    part, *given_places = places
    raw = text_of(named.pop("raw_spice", ""))
    pins = _PINS.get(shape.letter, ("plus", "minus"))[: shape.nodes]
    told = {**dict(zip(shape.places, given_places[shape.nodes :], strict=False)), **named}
    nodes = [named.pop(pin) for pin in pins if pin in named]
    nodes += [given_places.pop(0) for _ in range(shape.nodes - len(nodes))]
    words = [named.pop(place, "") for place in shape.places]
    if shape.letter == "Q" and "substrate" in named:
        nodes.append(named.pop("substrate"))
    for index, value in enumerate(given_places):
        words[index] = value
    flags = [flag for flag in shape.flags if named.pop(flag, False)]
    told_words = [text_of(word) if word != "" else "" for word in words]
    keys = [f"{_KEYS.get(key, key)}={_key_value(value)}" for key, value in named.items() if value is not None]
    return _card(shape.letter, text_of(part), [*map(node_of, nodes), *told_words, *keys, *flags, raw], told)


def _card(letter: str, name: str, words: Sequence[str], told: Mapping[str, Any] | None = None) -> Card:
    return Card(f"{letter}{name}", tuple(filter(None, words)), dict(told or {}))


def _timed(given: Mapping[str, Any]) -> dict[str, Any]:
    """With the period of a frequency, and the other way round."""
    found = dict(given)
    for one, other in (("frequency", "period"), ("period", "frequency")):
        if given.get(one):
            found[other] = 1 / number_of(given[one])
    return found


def _by_name(
    wanted: Sequence[tuple[str, Any]], places: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    given = dict(zip((key for key, _ in wanted), places, strict=False))
    found = {key: named.get(key, given.get(key, usual)) for key, usual in wanted}
    if None in found.values():
        raise CannotFollow
    return found


def _wave(kind: str, given: Mapping[str, Any]) -> str:
    told = {key: text_of(value) if key != "values" else value for key, value in given.items()}

    def listed(*keys: str) -> str:
        return " ".join(filter(None, (told[key] for key in keys)))

    match kind:
        case "Sinusoidal":
            inner = listed("offset", "amplitude", "frequency", "delay", "damping_factor")
            return f"DC {told['dc_offset']} AC {told['ac_magnitude']} SIN({inner})"
        case "Pulse":
            inner = listed(
                "initial_value", "pulsed_value", "delay_time", "rise_time", "fall_time", "pulse_width",
                "period", "phase",
            )  # fmt: skip
            return f"DC {told['dc_offset']} PULSE({inner})"
        case "PieceWiseLinear":
            points = " ".join(text_of(each) for pair in told["values"] for each in pair)
            keys = (("r", told["repeat_time"]), ("td", told["delay_time"]))
            further = "".join(f" {key}={value}" for key, value in keys if value)
            return f"DC {told['dc'] or '0'} PWL({points}){further}"
    short = {"Exponential": "EXP", "SingleFrequencyFM": "SFFM", "AmplitudeModulated": "AM"}[kind]
    return f"{short}({listed(*given)})"


def number_of(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CannotFollow
    return value


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, Named) and value.title:
        return value.title
    raise CannotFollow


def node_of(value: Any) -> str:
    text = text_of(value)
    if not text or " " in text:
        raise CannotFollow
    return text


def _key_value(value: Any) -> str:
    return ",".join(map(text_of, value)) if isinstance(value, list) else text_of(value)
