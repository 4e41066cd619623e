"""The model library that comes with the program: what an entry is, and putting one into a netlist.

Each model is a file ``NAME.lib`` that begins with comment lines: ``* NAME: title``, ``* pins:``,
``* figures:`` and ``* source:``. A circuit that includes ``NAME.lib`` gets it like a file of a library folder
of the user.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from shared.message import Message, msg

SHIPPED_KINDS = {
    "rectifier": msg("rectifier diode"),
    "Schottky rectifier": msg("Schottky rectifier"),
    "fast signal diode": msg("fast signal diode"),
    "Zener diode": msg("Zener diode"),
    "NPN switching transistor": msg("NPN switching transistor"),
    "PNP switching transistor": msg("PNP switching transistor"),
    "NPN small-signal transistor": msg("NPN small-signal transistor"),
    "PNP small-signal transistor": msg("PNP small-signal transistor"),
    "op-amp": msg("op-amp"),
    "dual op-amp": msg("dual op-amp"),
    "quad op-amp": msg("quad op-amp"),
    "JFET-input op-amp": msg("JFET-input op-amp"),
    "dual JFET-input op-amp": msg("dual JFET-input op-amp"),
    "quad JFET-input op-amp": msg("quad JFET-input op-amp"),
    "timer": msg("timer"),
    "N-channel power MOSFET": msg("N-channel power MOSFET"),
    "P-channel power MOSFET": msg("P-channel power MOSFET"),
    "level-1 NMOS": msg("level-1 NMOS"),
    "level-1 PMOS": msg("level-1 PMOS"),
    "BSIM3 NMOS (level 8)": msg("BSIM3 NMOS (level 8)"),
    "BSIM3 PMOS (level 8)": msg("BSIM3 PMOS (level 8)"),
    "single-pole op-amp": msg("single-pole op-amp"),
    "ideal op-amp": msg("ideal op-amp"),
}
"""What titles begin with, to be translated."""
_REST = {
    "55 V, 47 A, logic level": msg("55 V, 47 A, logic level"),
    "one amplifier": msg("one amplifier"),
    "one amplifier, single supply": msg("one amplifier, single supply"),
    "one amplifier, low-noise audio": msg("one amplifier, low-noise audio"),
    "one amplifier, audio": msg("one amplifier, audio"),
    "precision, low offset": msg("precision, low offset"),
    "general purpose": msg("general purpose"),
    "one amplifier, rail-to-rail, 1.8 V to 6 V": msg("one amplifier, rail-to-rail, 1.8 V to 6 V"),
    "one amplifier, rail-to-rail output, 2.7 V to 5.5 V": msg(
        "one amplifier, rail-to-rail output, 2.7 V to 5.5 V"
    ),
    "precision, rail-to-rail, 2.7 V to 5.5 V": msg("precision, rail-to-rail, 2.7 V to 5.5 V"),
    "a textbook 1 um process": msg("a textbook 1 um process"),
    "like a 1.8 V, 180 nm process": msg("like a 1.8 V, 180 nm process"),
    "gain a0, gain-bandwidth gbw (Hz), no limits": msg("gain a0, gain-bandwidth gbw (Hz), no limits"),
    "gain 1e6, no limits": msg("gain 1e6, no limits"),
}
"""What titles say behind the kind, where it is more than ratings."""


_PINS = {
    "anode cathode": msg("anode, cathode"),
    "collector base emitter": msg("collector, base, emitter"),
    "drain gate source": msg("drain, gate, source"),
    "drain gate source bulk": msg("drain, gate, source, bulk"),
}


def title_words(title: str) -> Message:
    """The title of a model, to be translated."""
    kind, mark, rest = re.match(r"([^,:]*)([,:] )?(.*)", title, re.DOTALL).groups()  # type: ignore[union-attr]
    told = SHIPPED_KINDS.get(kind, msg("{text}", text=kind))
    if not mark:
        return told
    return msg("{kind}, {ratings}", kind=told, ratings=_REST.get(rest, rest))


def pin_words(pins: str) -> Message:
    """The pins of a model in their order, to be translated where they are words."""
    return _PINS.get(pins, msg("{text}", text=pins))


class LibraryModel(NamedTuple):
    """One model of the library."""

    name: str
    """As an element names it: ``2N3904``; the file is ``2N3904.lib``."""
    title: str
    pins: str
    """In the order of an element's nodes."""
    figures: str
    """What a data sheet says and the model was checked against."""
    source: str
    """Where its parameters are from."""
    text: str
    """The whole file: comments and cards."""

    @property
    def words(self) -> Message:
        """The title, to be translated."""
        return title_words(self.title)

    @property
    def include(self) -> str:
        """The card that brings it into a circuit."""
        return f".include {self.name}.lib"

    @property
    def is_subcircuit(self) -> bool:
        """Its elements are X lines."""
        return ".subckt" in self.text

    def element(self, name: str) -> str:
        """A line with an element of it, its nodes called after the pins, in their order."""
        size = " W=10u L=1u" if "bulk" in self.pins else ""
        return f"{name} {' '.join(self._nodes())} {self.name}{size}"

    @property
    def letter(self) -> str:
        """What the names of its elements begin with."""
        if self.is_subcircuit:
            return "X"
        found = re.search(rf"^\.model\s+{re.escape(self.name)}\s+(\w+)", self.text, re.MULTILINE)
        kind = found[1].upper() if found is not None else ""
        return {"D": "D", "NPN": "Q", "PNP": "Q", "NMOS": "M", "PMOS": "M", "VDMOS": "M"}[kind]

    def _nodes(self) -> list[str]:
        card = re.search(rf"^\.subckt\s+{re.escape(self.name)}\s+(.+)$", self.text, re.MULTILINE)
        words = self.pins.split() if card is None else card[1].split()
        return [word for word in words if "=" not in word]


def read_library_model(name: str, text: str) -> LibraryModel:
    """A file of the library. Raises ValueError when one of its comment lines is missing."""
    keys = (re.escape(name), "pins", "figures", "source")
    title, pins, figures, source = (re.search(rf"^\* {key}: (.+)$", text, re.MULTILINE) for key in keys)
    if title is None or pins is None or figures is None or source is None:
        raise ValueError(f"{name}.lib lacks a line about itself")
    return LibraryModel(
        name=name, title=title[1], pins=pins[1], figures=figures[1], source=source[1], text=text
    )


def includes_file(text: str, file: str) -> bool:
    """Whether a netlist has a card that includes a file of this name (letter case does not count)."""
    return (
        re.search(
            rf"^[ \t]*\.(?:include|inc|lib)[ \t]+[\"']?{re.escape(file)}[\"']?[ \t]*\r?$",
            text,
            re.MULTILINE | re.IGNORECASE,
        )
        is not None
    )


class Inserted(NamedTuple):
    """A netlist with an element of a model more."""

    text: str
    line: int
    """Of the element, from 1."""
    element: str


class Addition(NamedTuple):
    """An element to be put into a netlist."""

    letter: str
    """What its name begins with."""
    line_after_name: str
    include: str
    """The card that brings its model in; "" for none."""
    file: str
    """As that card names it."""


def with_addition(text: str, added: Addition, *, behind: int, has_title: bool) -> Inserted:
    """The netlist with an element more behind a line (from 1), under the first free name, and with the card
    that includes its model; never behind `.end`, nor between a card and its continuation."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(end)
    if lines[-1] == "":
        lines.pop()
    name = free_name(text, added.letter, has_title=has_title)
    element = f"{name} {added.line_after_name}"
    last = next((at for at, line in enumerate(lines) if line.strip().lower() == ".end"), len(lines))
    place = min(max(behind, int(has_title)), last)
    while place < last and lines[place].lstrip().startswith("+"):
        place += 1
    lines.insert(place, element)
    if added.include and not includes_file(text, added.file):
        lines.insert(int(has_title and len(lines) > 1), added.include)
        place += 1
    return Inserted(text=end.join(lines) + end, line=place + 1, element=element)


def free_name(text: str, letter: str, *, has_title: bool) -> str:
    """The first name of this letter and a number that no line of the netlist begins with."""
    lines = text.splitlines()[has_title:]
    names = {line.split()[0].upper() for line in lines if line.strip()}
    return next(f"{letter}{n}" for n in range(1, len(lines) + 2) if f"{letter}{n}" not in names)
