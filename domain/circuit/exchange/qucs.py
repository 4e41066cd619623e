"""Netlists of Qucs and Qucs-S (the form of Qucsator) as cards of ngspice.

Source: Qucs technical papers, "Qucs netlist grammar", and the components' reference. A line is
``Type:Name node... Property="value unit"...``; ``.Def:NAME node...`` begins a subcircuit, ``.Def:End`` ends
it. (What Qucs-S writes for ngspice is a netlist of ngspice already and is opened as it is.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.late_patterns import late_pattern
from shared.message import Message, msg

_LINE = late_pattern(r"^(?P<kind>\.?[A-Za-z_]\w*):(?P<name>[^\s\"]+)(?P<rest>.*)$")
_PROPERTY = late_pattern(r'(?P<name>[A-Za-z_]\w*)="(?P<value>[^"]*)"')
_NUMBER = late_pattern(
    r"^(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<scale>[TGMkmunpfa]|µ|μ)?\s*"
    r"(?:Ohm|Hz|F|H|V|A|s|S|W|K|Vs|dBm)?$"
)
_USUAL_POINTS, _MOST_POINTS = 101, 1e9
_SCALES: Mapping[str, tuple[str, float]] = {
    "": ("", 1.0),
    "T": ("T", 1e12),
    "G": ("G", 1e9),
    "M": ("Meg", 1e6),
    "k": ("k", 1e3),
    "m": ("m", 1e-3),
    "u": ("u", 1e-6),
    "µ": ("u", 1e-6),
    "μ": ("u", 1e-6),
    "n": ("n", 1e-9),
    "p": ("p", 1e-12),
    "f": ("f", 1e-15),
    "a": ("e-18", 1e-18),
}
"""A scale as ngspice writes it, and as a factor."""
_OF_RESULTS = late_pattern(r"\b(?:dB|real|imag|phase|max|min|avg)\s*\(|\.[vVi]\b")
"""What an equation of Qucs has that looks at results."""
MOST_LINES = 50_000

Properties = Mapping[str, str]
_Plain = Callable[[str, list[str], Properties], list[str]]
_Maker = Callable[[str, list[str], Properties], list[str] | None]


class NotQucs(ValueError):
    """The text is no netlist of Qucs."""


@dataclass(slots=True)
class QucsNetlist:
    """What was read."""

    text: str = ""
    missing: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


def looks_like_qucs(text: str) -> bool:
    """Whether a text is of this form: its first lines that say something are."""
    told = [
        line.strip() for line in text.splitlines()[:200] if line.strip() and not line.lstrip().startswith("#")
    ]
    return bool(told) and all(_LINE.match(line) for line in told[:5])


def read_qucs(text: str, title: str) -> QucsNetlist:
    """The circuit in cards of ngspice. Raises NotQucs."""
    if not looks_like_qucs(text):
        raise NotQucs(title)
    made = QucsNetlist()
    cards = [f"* {' '.join(title.split())}"]
    scopes: list[str] = []
    for number, written in enumerate(text.splitlines()[:MOST_LINES], 1):
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            made.missing.append(msg("Line {line} cannot be read.", line=number))
            continue
        kind, name, rest = match["kind"], match["name"], match["rest"]
        given = {each["name"]: each["value"].strip() for each in _PROPERTY.finditer(rest)}
        nodes = [_node(each) for each in _PROPERTY.sub("", rest).split()]
        if kind == ".Def":
            if name == "End":
                cards.append(f".ends {scopes.pop()}" if scopes else "*")
            else:
                scopes.append(_plain(name))
                cards.append(f".subckt {' '.join([_plain(name), *nodes, *_defaults(given)])}")
            continue
        made_cards = _card(kind, _plain(name), nodes, given)
        if made_cards is None:
            made.missing.append(
                msg("Line {line}: {kind} {name} has no counterpart that is known here.",
                    line=number, kind=kind, name=name)
            )  # fmt: skip
            cards.append(f"* {' '.join(line.split())}")
        else:
            cards += made_cards
    made.text = "\n".join((*cards, *(f".ends {each}" for each in reversed(scopes)), ".end", ""))
    return made


def _card(kind: str, name: str, nodes: list[str], given: Properties) -> list[str] | None:
    """The cards of one component; None for one that is not known."""
    if kind.startswith("."):
        return _analysis(kind[1:], given)
    make = _MAKERS.get(kind)
    least = _NODES.get(kind, 2)
    if make is None or len(nodes) < least:
        return None
    return make(name, nodes, given)


def _passive(letter: str, key: str) -> _Plain:
    def make(name: str, nodes: list[str], given: Properties) -> list[str]:
        start = {"C": "V", "L": "I"}.get(letter, "")
        ic = f" ic={_value(given[start])}" if start and _value(given.get(start, "")) not in ("", "0") else ""
        return [f"{letter}{name} {nodes[0]} {nodes[1]} {_value(given.get(key, '0'))}{ic}"]

    return make


def _source(letter: str, key: str) -> _Plain:
    def make(name: str, nodes: list[str], given: Properties) -> list[str]:
        size = _value(given.get(key, "0"))
        if "f" not in given:
            return [f"{letter}{name} {nodes[0]} {nodes[1]} DC {size}"]
        told = [_value(given.get(each, "0")) or "0" for each in ("f", "Theta", "Phase")]
        sine = f"SIN(0 {size} {told[0]} 0 {told[1]} {told[2]})"
        return [f"{letter}{name} {nodes[0]} {nodes[1]} DC 0 AC {size} {told[2]} {sine}"]

    return make


def _current(
    make: Callable[[str, list[str], Properties], list[str]],
) -> _Plain:
    """Qucs's current sources drive out of their first terminal, those of SPICE into it."""
    return lambda name, nodes, given: make(name, [nodes[1], nodes[0]], given)


def _pulse(letter: str, low: str, high: str) -> _Plain:
    def make(name: str, nodes: list[str], given: Properties) -> list[str]:
        told = {each: _value(given.get(each, "0")) or "0" for each in (low, high, "T1", "T2", "Tr", "Tf")}
        wide = f"{{{told['T2']}-{told['T1']}-{told['Tr']}}}"
        times = f"{told['T1']} {told['Tr']} {told['Tf']} {wide}"
        return [f"{letter}{name} {nodes[0]} {nodes[1]} PULSE({told[low]} {told[high]} {times})"]

    return make


def _rectangle(name: str, nodes: list[str], given: Properties) -> list[str]:
    told = {each: _value(given.get(each, "0")) or "0" for each in ("U", "TH", "TL", "Tr", "Tf", "Td")}
    times = f"{told['Td']} {told['Tr']} {told['Tf']} {told['TH']} {{{told['TH']}+{told['TL']}}}"
    return [f"V{name} {nodes[0]} {nodes[1]} PULSE(0 {told['U']} {times})"]


def _port(name: str, nodes: list[str], given: Properties) -> list[str]:
    number, impedance = _value(given.get("Num", "1")), _value(given.get("Z", "50"))
    return [f"V{name} {nodes[0]} {nodes[1]} DC 0 AC 1 portnum {number} z0 {impedance}"]


_LEFT_OUT_OF_MODELS = frozenset(("Temp", "Tnom", "Type", "Symbol", "Area", "L", "W", "UseGlobTemp"))


def _model(name: str, kind: str, given: Properties) -> str:
    told = [
        f"{key}={_value(value)}"
        for key, value in given.items()
        if key not in _LEFT_OUT_OF_MODELS and _value(value)
    ]
    return f".model {kind}_{name} {kind.upper()}({' '.join(told)})"


def _diode(name: str, nodes: list[str], given: Properties) -> list[str]:
    return [f"D{name} {nodes[1]} {nodes[0]} d_{name}", _model(name, "d", given)]  # cathode first there


def _bipolar(name: str, nodes: list[str], given: Properties) -> list[str]:
    kind = "pnp" if given.get("Type", "npn").lower() == "pnp" else "npn"
    base, collector, emitter = nodes[:3]
    return [f"Q{name} {collector} {base} {emitter} {kind}_{name}", _model(name, kind, given)]


def _mosfet(name: str, nodes: list[str], given: Properties) -> list[str]:
    kind = "pmos" if given.get("Type", "nfet").lower().startswith("p") else "nmos"
    gate, drain, source = nodes[:3]
    bulk = nodes[3] if len(nodes) > 3 else source
    size = " ".join(f"{key}={_value(given[key])}" for key in ("L", "W") if key in given)
    return [
        f"M{name} {drain} {gate} {source} {bulk} {kind}_{name} {size}".rstrip(),
        _model(name, kind, given),
    ]


def _controlled(letter: str) -> _Maker:
    """Nodes there: control plus, output plus, output minus, control minus."""

    def make(name: str, nodes: list[str], given: Properties) -> list[str]:
        cp, op, om, cm = nodes[:4]
        gain = _value(given.get("G", "1"))
        if letter in "EG":
            return [f"{letter}{name} {op} {om} {cp} {cm} {gain}"]
        return [f"V_{name} {cp} {cm} 0", f"{letter}{name} {op} {om} V_{name} {gain}"]

    return make


def _subcircuit(name: str, nodes: list[str], given: Properties) -> list[str]:
    told = [f"{key}={_value(value)}" for key, value in given.items() if key != "Type"]
    return [" ".join([f"X{name}", *nodes, _plain(given.get("Type", "")), *told])]


def _equation(_name: str, _nodes: list[str], given: Properties) -> list[str] | None:
    values = {key: _value(value) for key, value in given.items() if key != "Export"}
    is_plain = all(
        value and not re.search(r"\b(?:dB|real|imag|phase|max|min|avg)\s*\(|\.[vVi]\b", value)
        for value in values.values()
    )
    return [f".param {key}={value}" for key, value in values.items()] if is_plain else None


_MAKERS: dict[str, _Maker] = {
    "R": _passive("R", "R"),
    "C": _passive("C", "C"),
    "L": _passive("L", "L"),
    "Vdc": _source("V", "U"),
    "Vac": _source("V", "U"),
    "Idc": _current(_source("I", "I")),
    "Iac": _current(_source("I", "I")),
    "Vpulse": _pulse("V", "U1", "U2"),
    "Ipulse": _current(_pulse("I", "I1", "I2")),
    "Vrect": _rectangle,
    "Pac": _port,
    "Diode": _diode,
    "BJT": _bipolar,
    "MOSFET": _mosfet,
    "VCVS": _controlled("E"),
    "VCCS": _controlled("G"),
    "CCVS": _controlled("H"),
    "CCCS": _controlled("F"),
    "Sub": _subcircuit,
    "Eqn": _equation,
}
_NODES = {"BJT": 3, "MOSFET": 3, "VCVS": 4, "VCCS": 4, "CCVS": 4, "CCCS": 4, "Sub": 0, "Eqn": 0}


def _analysis(kind: str, given: Properties) -> list[str] | None:
    first, last = (_value(given.get(each, "")) for each in ("Start", "Stop"))
    if kind in ("AC", "SP") and first and last:
        points = _points(given)
        card = "ac" if kind == "AC" else "sp"
        if given.get("Type", "lin").lower() == "log":
            return [f".{card} dec {_per_decade(given, points)} {first} {last}"]
        return [f".{card} lin {points} {first} {last}"]
    if kind == "TR" and last:
        points = max(_points(given), 2)
        try:
            step = (_as_number(given["Stop"]) - _as_number(given.get("Start") or "0")) / (points - 1)
        except ValueError:
            return None
        return [f".tran {step:.12g} {last} {first or '0'}"]
    return [".op"] if kind == "DC" else None


def _points(given: Properties) -> int:
    found = _NUMBER.match(given.get("Points") or "101")
    return _USUAL_POINTS if found is None else int(min(max(float(found["number"]), 1.0), _MOST_POINTS))


def _per_decade(given: Properties, points: int) -> int:
    import math

    try:
        first, last = (float(_as_number(given[each])) for each in ("Start", "Stop"))
        return max(round((points - 1) / math.log10(last / first)), 1)
    except (ValueError, KeyError, ZeroDivisionError, OverflowError):
        return 20


def _as_number(text: str) -> float:
    match = _NUMBER.match(text.strip())
    if match is None:
        raise ValueError(text)
    return float(match["number"]) * _SCALES[match["scale"] or ""][1]


def _value(text: str) -> str:
    """``"10 kOhm"`` as ``10k``; an expression in braces; "" for none."""
    text = text.strip()
    match = _NUMBER.match(text)
    if match is not None:
        return f"{match['number']}{_SCALES[match['scale'] or ''][0]}"
    return f"{{{text}}}" if text and re.fullmatch(r"[\w.+\-*/()^, ]+", text) else ""


def _defaults(given: Properties) -> list[str]:
    return [f"{key}={_value(value)}" for key, value in given.items() if _value(value)]


def _node(name: str) -> str:
    return "0" if name.lower() == "gnd" else re.sub(r"[^\w.#+\-]", "_", name)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.]", "_", name)
