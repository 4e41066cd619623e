"""A component of a library: what it is, its rated figures, how it is brought into a circuit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Literal, NamedTuple

from domain.circuit.figures import with_unit
from shared.message import Message, msg, template

Card = Literal["model", "subckt", "value", "file"]
"""What defines it: a `.model` card, a `.subckt` block, a value of an E-series; "file": a library that could
not be read stands for what is in it."""

KINDS: Mapping[str, Message] = {
    "npn": msg("NPN transistor"),
    "pnp": msg("PNP transistor"),
    "nmos": msg("N-channel MOSFET"),
    "pmos": msg("P-channel MOSFET"),
    "njf": msg("N-channel JFET"),
    "pjf": msg("P-channel JFET"),
    "diode": msg("diode"),
    "schottky": msg("Schottky diode"),
    "zener": msg("Zener diode"),
    "opamp": msg("op-amp"),
    "comparator": msg("comparator"),
    "regulator": msg("voltage regulator"),
    "reference": msg("voltage reference"),
    "timer": msg("timer"),
    "resistor": msg("resistor"),
    "capacitor": msg("capacitor"),
    "inductor": msg("inductor"),
    "switch": msg("switch"),
    "subcircuit": msg("subcircuit"),
    "other": msg("model"),
}
"""What components are told apart by."""

GROUPS: Mapping[str, tuple[Message, tuple[str, ...]]] = {
    "bjt": (msg("BJT"), ("npn", "pnp")),
    "mosfet": (msg("MOSFET"), ("nmos", "pmos")),
    "jfet": (msg("JFET"), ("njf", "pjf")),
    "diode": (msg("Diode"), ("diode", "schottky", "zener")),
    "opamp": (msg("Op-amp"), ("opamp", "comparator")),
    "passive": (msg("Passive"), ("resistor", "capacitor", "inductor")),
    "other": (msg("Other"), ("regulator", "reference", "timer", "switch", "subcircuit", "other")),
}
"""Kinds that are chosen together."""

UNITS: Mapping[str, str] = {
    "v": "V",
    "i": "A",
    "f": "Hz",
    "slew": "V/s",
    "hfe": "",
    "ron": "Ohm",
    "vth": "V",
    "p": "W",
    "vz": "V",
    "trr": "s",
    "value": "",
}
"""The quantities of figures. `v` and `i` are what a part is rated for, `f` is the transition frequency of a
transistor and the gain-bandwidth product of an op-amp; voltages and currents of P types have no sign."""

_SYMBOLS: Mapping[str, Mapping[str, str]] = {
    "v": {"npn": "Vceo", "pnp": "Vceo", "nmos": "Vds", "pmos": "Vds", "diode": "VR", "schottky": "VR"},
    "i": {"npn": "Ic", "pnp": "Ic", "nmos": "Id", "pmos": "Id", "diode": "IF", "schottky": "IF"},
    "f": {"npn": "fT", "pnp": "fT", "opamp": "GBW"},
    "slew": {},
    "hfe": {},
    "ron": {"nmos": "RDS(on)", "pmos": "RDS(on)"},
    "vth": {"nmos": "Vth", "pmos": "Vth", "njf": "Vp", "pjf": "Vp"},
    "p": {},
    "vz": {},
    "trr": {},
}
_PLAIN = {"v": "V", "i": "I", "f": "f", "slew": "SR", "hfe": "hFE", "ron": "R", "vth": "Vth", "p": "P",
          "vz": "VZ", "trr": "trr"}  # fmt: skip


class Component(NamedTuple):
    """One component."""

    name: str
    kind: str
    """A key of KINDS."""
    title: str
    """What its library says of it, in the library's words; "" where it says nothing."""
    card: Card
    ports: tuple[str, ...]
    """The pins in the order of a netlist: words like ``collector``, or the names its `.subckt` gives them."""
    roles: tuple[str, ...]
    """What the pins of a subcircuit are for, as far as its library says; as many as `ports`, or none."""
    figures: Mapping[str, float]
    """By the keys of UNITS, in SI."""
    file: str
    """Absolute path; "" for values."""
    line: int = 0
    """Of its card, from 1."""
    last_line: int = 0
    section: str = ""
    """Of the library (`.lib section`), as written."""
    fault: str = ""
    """Why it cannot be used: a code, with what it is about behind a colon; see `faults`."""
    letter: str = "X"
    """What the names of its elements begin with."""

    @property
    def file_name(self) -> str:
        return PurePath(self.file).name

    @property
    def group(self) -> str:
        """The key of GROUPS."""
        return next(key for key, (_, kinds) in GROUPS.items() if self.kind in kinds)

    def pin_label(self, at: int) -> str:
        """What a pin is called: its use where the library says it, else its name."""
        return self.roles[at] if at < len(self.roles) else self.ports[at]

    def include_card(self, path: str) -> str:
        """The card that brings it into a circuit by this path of its file."""
        sign = "'" if '"' in path else '"'
        quoted = (
            f"{sign}{path}{sign}" if any(each in path for each in " \t'();,$") or not path.isascii() else path
        )
        return f".lib {quoted} {self.section}" if self.section else f".include {quoted}"

    def element(self, name: str, nodes: tuple[str, ...]) -> str:
        """A line with an element of it."""
        if self.card == "value":
            return f"{name} {' '.join(nodes)} {self.name}"
        size = " W=10u L=1u" if len(self.ports) == 4 and self.letter == "M" else ""
        return f"{name} {' '.join(nodes)} {self.name}{size}"


def figure_words(kind: str, figures: Mapping[str, float]) -> str:
    """The figures in a line, with the symbols data sheets use: ``Vceo 40 V, Ic 200 mA``."""
    told = []
    for key, plain in _PLAIN.items():
        if (value := figures.get(key)) is not None:
            symbol = _SYMBOLS[key].get(kind, plain)
            if key == "slew":
                told.append(f"{symbol} {value / 1e6:.3g} V/µs")
            elif key == "hfe":
                told.append(f"{symbol} {value:.4g}")
            else:
                told.append(f"{symbol} {with_unit(value, UNITS[key])}")
    return ", ".join(told)


_FAULTS: Mapping[str, tuple[Callable[..., Message], Message]] = {
    "no-ends": (
        template("The .subckt block of {name} has no .ends."),
        msg("Add .ends behind its last line, or get the library again: the download may be cut off."),
    ),
    "no-pins": (template("The .subckt card of {name} has no pins."), msg("Add the pins behind its name.")),
    "pin-twice": (
        template("The .subckt card of {name} has pin {what} twice."),
        msg("Give each pin a name of its own, also in the lines below."),
    ),
    "no-type": (
        template("The .model card of {name} has no type."),
        msg("Write D, NPN, NMOS ... behind its name."),
    ),
    "type": (
        template("ngspice has no model type {what}, which {name} is of."),
        msg("Look for a SPICE3 or PSpice version of this model."),
    ),
    "level": (
        template("ngspice has no level {what} of the type of {name}."),
        msg("Look for a version of the model with another level."),
    ),
    "number": (
        template("{what} in the .model card of {name} is not a number."),
        msg("Correct the value in the library file."),
    ),
    "ako": (
        template("{name} is built on model {what} (AKO), which ngspice reads in PSpice circuits only."),
        msg("Read the circuit as PSpice, or copy the parameters of both into one card."),
    ),
    "encrypted": (
        template("{name} is encrypted for another simulator."),
        msg("Ask the vendor for a model without encryption; ngspice cannot read this one."),
    ),
    "utf-16": (
        template("{name} is a UTF-16 text, which ngspice cannot read."),
        msg("Save it as UTF-8 or ASCII."),
    ),
    "binary": (template("{name} is not a text."), msg("Get the library of this part as a SPICE text file.")),
    "too-large": (
        template("{name} has more than {what}, which is more than a library is searched for."),
        msg("Split it into smaller files."),
    ),
    "unreadable": (template("{name} cannot be read: {what}."), msg("Check the file and its permissions.")),
}  # fmt: skip


def fault_words(component: Component) -> tuple[Message, Message] | None:
    """What is wrong with it and what to do; None for one without a known fault."""
    if not component.fault:
        return None
    code, _, what = component.fault.partition(":")
    problem, advice = _FAULTS[code]
    return problem(name=component.name, what=what), advice
