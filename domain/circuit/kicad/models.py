"""A symbol of KiCad's as lines of a netlist: what its fields say it is.

Fields of KiCad 7 and later (``Sim.Device``, ``Sim.Type``, ``Sim.Params``, ``Sim.Pins``, ``Sim.Library``,
``Sim.Name``), of KiCad 4 to 6 (``Spice_Primitive``, ``Spice_Model``, ``Spice_Lib_File``,
``Spice_Node_Sequence``); resistors, capacitors, inductors and plain sources without such fields are known by
their reference and value. What a field means: KiCad's manual, "Simulator", and ngspice's of each element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.circuit.kicad.nets import in_order
from domain.circuit.kicad.values import pairs, parameter_value, part_value
from domain.circuit.numbers import place_of
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_PIN_PAIR = late_pattern(r"(?<!\S)([^\s=]+)=(\S+)")
_FUNCTIONS: Mapping[str, tuple[str, Sequence[str]]] = {
    "SIN": ("SIN", ("dc", "ampl", "f", "td", "theta", "phase")),
    "PULSE": ("PULSE", ("y1", "y2", "td", "tr", "tf", "tw", "per", "np")),
    "EXP": ("EXP", ("y1", "y2", "td1", "tau1", "td2", "tau2")),
}
"""Sources over time: ngspice's word, and KiCad's names of its numbers in order."""
_MODEL_PINS: Mapping[str, Sequence[str]] = {
    "R": ("+", "-"), "C": ("+", "-"), "L": ("+", "-"), "V": ("+", "-"), "I": ("+", "-"), "D": ("A", "K"),
    "Q": ("C", "B", "E", "S"), "M": ("D", "G", "S", "B"), "J": ("D", "G", "S"), "Z": ("D", "G", "S"),
    "E": ("+", "-", "C+", "C-"), "G": ("+", "-", "C+", "C-"), "F": ("+", "-"), "H": ("+", "-"),
    "S": ("NO+", "NO-", "CTRL+", "CTRL-"), "T": ("1+", "1-", "2+", "2-"), "B": ("+", "-"),
}  # fmt: skip
"""KiCad's names of an element's nodes, in SPICE's order."""
_KINDS: Mapping[tuple[str, str], tuple[str, str]] = {
    # (device, type): letter, what stands on the .model card
    ("D", ""): ("D", "D"),
    ("NPN", "GUMMELPOON"): ("Q", "NPN"), ("PNP", "GUMMELPOON"): ("Q", "PNP"),
    ("NPN", ""): ("Q", "NPN"), ("PNP", ""): ("Q", "PNP"),
    ("NPN", "VBIC"): ("Q", "NPN level=4"), ("PNP", "VBIC"): ("Q", "PNP level=4"),
    ("NJFET", "SHICHMANHODGES"): ("J", "NJF"), ("PJFET", "SHICHMANHODGES"): ("J", "PJF"),
    ("NJFET", ""): ("J", "NJF"), ("PJFET", ""): ("J", "PJF"),
    ("NJFET", "PARKERSKELLERN"): ("J", "NJF level=2"), ("PJFET", "PARKERSKELLERN"): ("J", "PJF level=2"),
    ("NMES", "STATZ"): ("Z", "NMF"), ("PMES", "STATZ"): ("Z", "PMF"),
    ("NMOS", "VDMOS"): ("M", "VDMOS nchan"), ("PMOS", "VDMOS"): ("M", "VDMOS pchan"),
    **{
        (f"{kind}MOS", name): ("M", f"{kind}MOS level={level}")
        for kind in "NP"
        for name, level in (("MOS1", 1), ("MOS2", 2), ("MOS3", 3), ("MOS6", 6), ("MOS9", 9), ("BSIM3", 8),
                            ("BSIM4", 14))
    },
}  # fmt: skip
_OF_PLACED = frozenset(
    {"area", "areac", "areab", "m", "off", "ic", "temp", "dtemp", "w", "l", "ad", "as", "pd", "ps", "nrd",
     "nrs", "thermal", "nf"}
)  # fmt: skip
"""Parameters of a placed element; the others are its model's."""
_FLAGS = frozenset({"off", "thermal"})
_COUPLED: Mapping[str, tuple[str, Sequence[str], Sequence[str]]] = {
    "K": ("K", ("l1", "l2", "k"), ()), "E": ("E", ("gain",), ()), "G": ("G", ("gain",), ()),
    "F": ("F", ("gain", "control"), ()), "H": ("H", ("gain", "control"), ()),
    "TLINE": ("T", ("z0",), ("td",)),
}  # fmt: skip
"""Letter, and KiCad's names of the parameters a device has to have and may have."""
_VDMOS, _VDMOS_HOT = ("D", "G", "S"), ("D", "G", "S", "TJ", "TCASE")
_SUBSTRATE = 3
"""The fourth node of a bipolar transistor may be left out."""
_LETTERS: Mapping[str, str] = {
    "npn": "Q", "pnp": "Q", "lpnp": "Q", "nmos": "M", "pmos": "M", "vdmos": "M", "njf": "J", "pjf": "J",
    "d": "D", "nmf": "Z", "pmf": "Z", "r": "R", "res": "R", "c": "C", "cap": "C", "l": "L", "ind": "L",
    "sw": "S", "ltra": "O",
}  # fmt: skip
"""An element's letter by the type of its model."""


class FoundModel(NamedTuple):
    """A model in a library."""

    letter: str
    """X for a subcircuit."""
    ports: Sequence[str]
    """Of a subcircuit."""
    include: str
    """The library as the netlist names it; "" where its lines go into the netlist."""
    lines: Sequence[str] = ()
    kind: str = ""
    """The type on a `.model` card."""


FindModel = Callable[[str, str], "FoundModel | None"]
"""A model by its library, as the sheet names it, and its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of the circuit: all units of one reference."""

    reference: str
    symbol: str
    """``Device:R_Small``."""
    fields: Mapping[str, str]
    pins: Mapping[str, str]
    """The net of each pin, by its number."""

    def field(self, name: str) -> str:
        text = self.fields.get(name, "").strip()
        return "" if text == "~" else text

    @property
    def numbers(self) -> list[str]:
        return sorted(self.pins, key=in_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Lines of one part."""

    lines: Sequence[str]
    """Its element's last; before it the blocks of lines it needs, each once for all parts."""
    include: str = ""
    notes: Sequence[Message] = ()


class NotWritten(ValueError):
    """A part cannot be told as an element."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


def is_left_out(component: Component) -> bool:
    """Whether its fields say that it is not simulated."""
    old, new = component.field("Spice_Netlist_Enabled"), component.field("Sim.Enable")
    return old[:1].upper() in ("N", "0", "F") if old else new[:1] == "0"


def write(component: Component, find: FindModel) -> Written:
    """The lines of a part. Raises NotWritten."""
    device = component.field("Sim.Device").upper()
    if device == "SPICE" or (not device and component.field("Spice_Primitive")):
        return _raw(component)
    if component.field("Sim.Library") and component.field("Sim.Name"):
        return _of_library(component, find)
    if device == "SUBCKT":
        raise _failed(component, msg("it names no library with its subcircuit"))
    if device:
        return _of_device(component, device)
    return _inferred(component)


# ---- of a library ----------------------------------------------------------------------------


def _of_library(component: Component, find: FindModel) -> Written:
    library, name = component.field("Sim.Library"), component.field("Sim.Name")
    if component.field("Sim.Device").upper() == "IBIS":
        raise _failed(component, msg("ngspice has no IBIS models"))
    model = find(library, name)
    if model is None:
        raise _failed(
            component,
            msg("model {model} is not in {file} beside the schematic", model=name, file=library),
        )
    if model.letter == "X":
        known = [port.lower() for port in model.ports]
        nodes = _nodes(component, model.ports, known)
        given = pairs(component.field("Sim.Params"))
        values = [f"{key}={parameter_value(value)}" for key, value in given.items() if _is_name(key)]
        line = " ".join([_named("X", component), *nodes, name, *values])
        return Written(lines=(*model.lines, line), include=model.include)
    given = pairs(component.field("Sim.Params"))
    nodes, notes = _semiconductor_nodes(component, model.letter, model.kind, given)
    placed = _placed_parameters({key: value for key, value in given.items() if key in _OF_PLACED})
    own = [f"{key}={parameter_value(value)}" for key, value in given.items() if key not in _OF_PLACED]
    own = [each for each in own if not each.startswith(("type=", "model=", "lib="))]
    if own:
        raise _failed(
            component, msg("it changes parameters of a library's model: {values}", values=" ".join(own))
        )
    line = " ".join([_named(model.letter, component), *nodes, name, *placed])
    return Written(lines=(*model.lines, line), include=model.include, notes=notes)


def _raw(component: Component) -> Written:
    """Type and text of a SPICE line; KiCad 4 to 6 have them in fields of their own."""
    given = pairs(component.field("Sim.Params"))
    letter = given.get("type", component.field("Spice_Primitive")).upper()[:1]
    text = given.get("model", component.field("Spice_Model")) or component.field("Value")
    library = given.get("lib", component.field("Spice_Lib_File"))
    if not letter.isalpha() or not text:
        raise _failed(component, msg("its fields name no element and model"))
    order = _sequence(component)
    nodes = [component.pins.get(number, _open(component, place)) for place, number in enumerate(order)]
    return Written(lines=(" ".join([_named(letter, component), *nodes, text]),), include=library)


def _sequence(component: Component) -> list[str]:
    """Pin numbers in the order of the element's nodes."""
    old = component.field("Spice_Node_Sequence").replace(",", " ").split()
    if old:
        numbers = component.numbers
        # Places among the pins, or, where these are no such places, the pins' own numbers.
        places = [place for each in old if (place := place_of(each)) and place <= len(numbers)]
        if len(places) == len(old):
            return [numbers[place - 1] for place in places]
        return old
    told = _PIN_PAIR.findall(component.field("Sim.Pins"))
    placed = [(place, number) for number, each in told if (place := place_of(each)) is not None]
    if told and len(placed) == len(told):
        return [number for _, number in sorted(placed, key=lambda pair: pair[0])]
    return component.numbers


# ---- of its own ------------------------------------------------------------------------------


def _of_device(component: Component, device: str) -> Written:
    kind = component.field("Sim.Type").upper()
    given = pairs(component.field("Sim.Params"))
    if device in ("R", "C", "L"):
        return _passive(component, device, given, is_formula=kind == "=")
    if device in ("V", "I"):
        return _source(component, device, kind, given)
    if device in _COUPLED:
        return _coupled(component, device, given)
    if device == "SW" and kind in ("", "V"):
        return _switch(component, given)
    if (device, kind) in _KINDS:
        return _semiconductor(component, *_KINDS[device, kind], given)
    raise _failed(component, msg("{device} is not read", device=f"{device} {kind}".strip()))


def _coupled(component: Component, device: str, given: Mapping[str, str]) -> Written:
    """Coupled inductors, controlled sources, a line: nodes and the parameters each has to have."""
    letter, needed, optional = _COUPLED[device]
    values = {name: component.field(name) or given.get(name, "") for name in (*needed, *optional)}
    if not all(values[name] for name in needed):
        raise _failed(component, msg("it does not have all of {names}", names=", ".join(needed)))
    if letter == "K":
        notes: list[Message] = []
        nodes = [values["l1"], values["l2"]]
        words = [parameter_value(values["k"])]
    else:
        nodes, notes = _element_nodes(component, letter, _MODEL_PINS[letter])
        words = [values["control"]] if "control" in values else []
        words += [parameter_value(values["gain"])] if "gain" in values else []
        words += [f"{name}={parameter_value(values[name])}" for name in ("z0", "td") if values.get(name)]
    return Written(lines=(" ".join([_named(letter, component), *nodes, *words]),), notes=notes)


def _passive(component: Component, letter: str, given: Mapping[str, str], *, is_formula: bool) -> Written:
    nodes, notes = _element_nodes(component, letter, _MODEL_PINS[letter])
    text = given.get(letter.lower()) or component.field("Value")
    if is_formula or text.startswith("=") or re.match(rf"{letter}\s*=", text, re.IGNORECASE):
        return Written(
            lines=(f"{_named(letter, component)} {' '.join(nodes)} {letter}={_formula(text)}",),
            notes=notes,
        )
    value = part_value(text)
    if value is None:
        raise _failed(component, msg("its value “{value}” is not a number", value=text))
    rest = _placed_parameters({key: value for key, value in given.items() if key in _OF_PLACED})
    return Written(lines=(" ".join([_named(letter, component), *nodes, value, *rest]),), notes=notes)


def _source(component: Component, letter: str, kind: str, given: Mapping[str, str]) -> Written:
    nodes, notes = _element_nodes(component, letter, _MODEL_PINS[letter])
    value = component.field("Value")
    if kind == "=":
        text = _formula(given.get(letter.lower()) or value)
        return Written(lines=(f"{_named('B', component)} {' '.join(nodes)} {letter}={text}",), notes=notes)
    if not given and kind in ("", "DC"):
        number = part_value(value)
        words = [number] if number is not None else _plain_source(component, value)
        return Written(lines=(" ".join([_named(letter, component), *nodes, *words]),), notes=notes)
    words = [f"DC {parameter_value(given['dc'])}"] if "dc" in given else []
    if kind in _FUNCTIONS:
        word, names = _FUNCTIONS[kind]
        told = [given.get(name) for name in names]
        while told and told[-1] is None:
            told.pop()
        if kind == "SIN" and "f" not in given:
            raise _failed(component, msg("its sine has no frequency"))
        numbers = " ".join("0" if each is None else parameter_value(each) for each in told)
        words.append(f"{word}({numbers})")
    elif kind == "PWL":
        points = given.get("pwl", "").replace(",", " ").split()
        if len(points) < 2:
            raise _failed(component, msg("its PWL source has no points"))
        words.append(f"PWL({' '.join(map(parameter_value, points))})")
    elif kind == "WHITENOISE":
        rms, step = (parameter_value(given.get(name, "0")) for name in ("rms", "dt"))
        words.append(f"TRNOISE({rms} {step} 0 0 0 0 0)")
    elif kind not in ("", "DC"):
        raise _failed(component, msg("{device} is not read", device=f"{letter} {kind}"))
    if "ac" in given:
        words.append(f"AC {parameter_value(given['ac'])} {parameter_value(given.get('ph', '0'))}")
    if not words:
        number = part_value(value)
        words = ["0"] if number is None else [number]
    return Written(lines=(" ".join([_named(letter, component), *nodes, *words]),), notes=notes)


def _plain_source(component: Component, value: str) -> list[str]:
    """A source's value in words of SPICE: ``dc 5 ac 1``, ``SIN(0 1 1k)``."""
    if re.match(r"(?:dc|ac|sin|pulse|pwl|exp|sffm|am|trnoise)\b", value, re.IGNORECASE):
        return [value]
    raise _failed(component, msg("its value “{value}” is not a number", value=value))


def _switch(component: Component, given: Mapping[str, str]) -> Written:
    nodes, notes = _element_nodes(component, "S", _MODEL_PINS["S"])
    names = {"thr": "vt", "vt": "vt", "his": "vh", "vh": "vh", "ron": "ron", "roff": "roff"}
    values = [f"{names[key]}={parameter_value(value)}" for key, value in given.items() if key in names]
    model = f"model_{_plain(component.reference)}"
    start = ["on" if given["ic"] in ("1", "on") else "off"] if "ic" in given else []
    line = " ".join([_named("S", component), *nodes, model, *start])
    card = f".model {model} SW({' '.join(values)})"
    return Written(lines=(" ".join(card.split()), line), notes=notes)


def _semiconductor(component: Component, letter: str, card: str, given: Mapping[str, str]) -> Written:
    nodes, notes = _semiconductor_nodes(component, letter, card.split(maxsplit=1)[0], given)
    own = {key: value for key, value in given.items() if key not in _OF_PLACED}
    values = " ".join(f"{key.rstrip('_')}={parameter_value(value)}" for key, value in own.items())
    model = f"model_{_plain(component.reference)}"
    kind, _, level = card.partition(" ")
    inner = " ".join(word for word in (level, values) if word)
    placed = _placed_parameters({key: value for key, value in given.items() if key in _OF_PLACED})
    line = " ".join([_named(letter, component), *nodes, model, *placed])
    return Written(lines=(" ".join(f".model {model} {kind}({inner})".split()), line), notes=notes)


def _inferred(component: Component) -> Written:
    """By the reference and value, where no field says what it is."""
    letter = component.reference[:1].upper()
    is_told = re.fullmatch(
        r"[A-Za-z](?:_\w+)?", symbol := component.symbol.rpartition(":")[2]
    ) is not None and (symbol[0].upper() == letter)
    is_known = is_told or re.fullmatch(r"\w\d+[A-Za-z]?", component.reference)
    if letter in "RCLVI" and letter and is_known and len(component.pins) == 2:
        if letter in "RCL":
            return _passive(component, letter, {}, is_formula=False)
        return _source(component, letter, "", {})
    raise _failed(component, msg("it has no simulation model"))


# ---- nodes -----------------------------------------------------------------------------------


def _semiconductor_nodes(
    component: Component, letter: str, kind: str, given: Mapping[str, str]
) -> tuple[list[str], list[Message]]:
    """The nodes of an element with a model; a VDMOS has no bulk, and two for its heat where asked for."""
    if kind.lower() != "vdmos":
        return _element_nodes(component, letter, _MODEL_PINS.get(letter, ()))
    return _element_nodes(component, "", _VDMOS_HOT if "thermal" in given else _VDMOS)


def _element_nodes(
    component: Component, letter: str, wanted: Sequence[str]
) -> tuple[list[str], list[Message]]:
    """The nodes of an element that is no subcircuit."""
    has_bulk = letter == "M"
    given = _given_pins(component)
    if given is None:
        numbers = component.numbers
        nodes: list[str | None] = [component.pins[number] for number in numbers[: len(wanted)]]
        nodes += [None] * (len(wanted) - len(nodes))
    else:
        nodes = [_node_of(component, given, name, place) for place, name in enumerate(wanted)]
    notes = []
    if letter == "Q" and nodes[_SUBSTRATE] is None:
        del nodes[_SUBSTRATE]
    if has_bulk and nodes[3] is None:
        nodes[3] = nodes[2]
        notes.append(msg("{name} has no pin for its bulk, which is connected to its source.",
                         name=component.reference))  # fmt: skip
    if None in nodes:
        raise _failed(component, msg("not all of its nodes have a pin"))
    return [node for node in nodes if node is not None], notes


def _nodes(component: Component, ports: Sequence[str], known: Sequence[str]) -> list[str]:
    """The nodes of a subcircuit; one without a pin is open."""
    given = _given_pins(component)
    if given is None:
        numbers = component.numbers
        if len(numbers) > len(ports):
            raise _failed(component, msg("its subcircuit has {count} nodes", count=len(ports)))
        found: list[str | None] = [component.pins[number] for number in numbers]
        found += [None] * (len(ports) - len(found))
    else:
        strangers = [
            place
            for place in given
            if place.lower() not in known and not 0 < (place_of(place) or 0) <= len(ports)
        ]
        if strangers:
            raise _failed(component, msg("its subcircuit has no node {name}", name=strangers[0]))
        found = [_node_of(component, given, port, place) for place, port in enumerate(ports)]
    return [_open(component, place) if node is None else node for place, node in enumerate(found)]


def _given_pins(component: Component) -> dict[str, str] | None:
    """The symbol's pin by the model's (name or place); None where nothing is said."""
    told = _PIN_PAIR.findall(component.field("Sim.Pins"))
    return {model.lower(): number for number, model in told} or None


def _node_of(component: Component, given: Mapping[str, str], name: str, place: int) -> str | None:
    number = given.get(name.lower()) or given.get(f"<{name.lower()}>") or given.get(str(place + 1))
    if number is None:
        return None
    return component.pins.get(number)  # a unit that is not placed has none


def _open(component: Component, place: int) -> str:
    return f"NC_{_plain(component.reference)}_{place}"


def _named(letter: str, component: Component) -> str:
    reference = _plain(component.reference)
    return reference if reference[:1].upper() == letter else f"{letter}{reference}"


def _plain(reference: str) -> str:
    return re.sub(r"[^\w.+-]", "_", reference)


def _formula(text: str) -> str:
    """What stands behind the sign of ``=time``, ``R = 'time'``."""
    return re.sub(r"^\s*(?:[A-Za-z]\s*)?=\s*", "", text).strip()


def _placed_parameters(given: Mapping[str, str]) -> list[str]:
    return [key if key in _FLAGS else f"{key}={parameter_value(value)}" for key, value in given.items()]


def _is_name(key: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", key) is not None and key not in ("type", "model", "lib")


def _failed(component: Component, reason: Message) -> NotWritten:
    return NotWritten(
        msg("{name} is not in the netlist: {reason}.", name=component.reference or "?", reason=reason)
    )


def letter_of_model(kind: str) -> str | None:
    """The element's letter for the type on a `.model` card."""
    return _LETTERS.get(kind.lower())
