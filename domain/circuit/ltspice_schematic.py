"""LTspice's sheets (`.asc`) as netlists: wires, labels and symbols become nodes and element lines.

What LTspice writes itself with View > SPICE Netlist is the measure: element lines in the order of the sheet,
``letter + name`` where a name does not begin with its letter, the attributes SpiceModel, Value, Value2,
SpiceLine, SpiceLine2 behind the nodes, directives as they stand, `.lib` of the standard models. Nodes
without a label have LTspice's numbers: N001 ... in the order of the sheet's wires, P001 ... where pins meet
without one, NC_01 ... for open pins. The format is plain text, told by its files; a rotation is clockwise,
``M`` is a mirror at the upright axis behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from domain.circuit.ltspice_guessed import REGULATOR_PORTS, guessed, is_made_by_ltspice
from domain.circuit.ltspice_opamps import USUAL, USUAL_PORTS, five_pin_outlines, ports_of
from domain.circuit.ltspice_symbols import (
    JUMPER,
    Symbol,
    is_jumper,
    library_symbol,
    path_of,
    plain_name,
)
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import place_of
from domain.circuit.outline_places import Place
from domain.circuit.stand_ins import kind_comment
from shared.message import Message, msg

MOST_RECORDS = 100_000
_MOST_DEPTH = 12
_MOST_GUESSED = 300
"""Kinds of symbols that are not here and are told by their wires: only a sheet made for it has more."""
_MOST_NAMED = 20
_MOST_SLANTING = 200
"""Wires that are neither level nor upright: nobody draws more, and each is held against every place."""
_EMPTY = '""'
_NO_ELEMENT = ".*+;$&#"
"""What begins a directive, a comment or the rest of a line: no prefix of an element."""
_ROTATIONS: Mapping[str, tuple[int, int, int, int]] = {
    # x' = a x + b y, y' = c x + d y
    "R0": (1, 0, 0, 1), "R90": (0, -1, 1, 0), "R180": (-1, 0, 0, -1), "R270": (0, 1, -1, 0),
    "M0": (-1, 0, 0, 1), "M90": (0, 1, 1, 0), "M180": (1, 0, 0, -1), "M270": (0, -1, -1, 0),
}  # fmt: skip
_ATTRIBUTES = ("spicemodel", "value", "value2", "spiceline", "spiceline2")
_STANDARD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "d": ("dio", ("D",)), "q": ("bjt", ("NPN", "PNP")), "m": ("mos", ("NMOS", "PMOS")),
    "j": ("jft", ("NJF", "PJF")),
}  # fmt: skip
"""LTspice's own models by an element's letter: the file, and the bare kinds that have no parameters."""
_SIZED = re.compile(r"\b[lw]\s*=", re.IGNORECASE)
"""A MOSFET of an integrated circuit: its model is a process's."""
_MODEL_FILE = re.compile(r"\.(?:lib|sub|mod|cir|inc|txt|asc)$", re.IGNORECASE)
_SUFFIXES_OF_MODELS = (".lib", ".sub", ".cir", ".mod", ".inc", ".txt")

_BUS = re.compile(r"\[\d+:\d+\]")
"""Of a label: ``data[0:7]``, the eight lines of a bus."""
_RUN = re.compile(r"\s*\.(?:tran|ac|dc|noise|op|tf)\b", re.IGNORECASE)
_PLAIN_OP_AMP = re.compile(r"\bopamp\.sub\b|\.subckt\s+opamp\b", re.IGNORECASE)
"""What defines the op-amp without supplies."""
_LIBRARY = re.compile(r"\.(?:lib|inc\w*)\s+[\"']?(?P<file>[^\"'\s]+)", re.IGNORECASE)

Find = Callable[[str], str | None]
"""The text of a file, by its name with folders; None where there is none that can be read."""


class Part(NamedTuple):
    """A symbol on a sheet."""

    symbol: str
    """As the sheet writes it."""
    at: Place
    turn: str
    """R0 ... M270."""
    attributes: Mapping[str, str]
    """By name in lower case."""

    @property
    def name(self) -> str:
        return self.attributes.get("instname", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What is on a sheet."""

    wires: tuple[tuple[Place, Place], ...]
    labels: tuple[tuple[Place, str], ...]
    parts: tuple[Part, ...]
    directives: tuple[str, ...]
    """SPICE lines, without their mark."""
    comments: tuple[str, ...]
    outputs: tuple[Place, ...] = ()
    """Where labels stand that are drawn as output ports."""
    unread: tuple[str, ...] = ()
    """Records that mean something to the circuit and are not understood: buses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A netlist made of a sheet."""

    text: str
    missing: tuple[Message, ...] = ()
    """Parts that are not in it, and why: the netlist has a comment in their place."""
    notes: tuple[Message, ...] = ()
    """What was assumed."""
    outputs: tuple[str, ...] = ()
    """Nodes whose labels are drawn as output ports."""
    passed_over: frozenset[str] = frozenset()
    """Symbols (lower case) of which no part is what the file of that name says."""


class NoSheet(ValueError):
    """The text is no sheet of LTspice's."""


def read_sheet(text: str) -> Sheet:
    """The sheet in `text`. Raises NoSheet; records that only draw are passed over."""
    lines = _records(text)
    if not text.lstrip("\ufeff").lower().startswith("version") or len(lines) > MOST_RECORDS:
        raise NoSheet
    wires: list[tuple[Place, Place]] = []
    labels: list[tuple[Place, str]] = []
    outputs: list[Place] = []
    inputs: list[Place] = []
    parts: list[Part] = []
    attributes: list[dict[str, str]] = []
    directives: list[str] = []
    comments: list[str] = []
    unread: list[str] = []
    for line in lines:
        words = line.split()
        match words:
            case ["WIRE", *ends] if (found := _integers(ends, 4)) is not None:
                wires.append(((found[0], found[1]), (found[2], found[3])))
            case ["FLAG", x, y, *_] if (found := _integers([x, y], 2)) is not None:
                name = line.split(None, 3)[3].strip() if len(words) > 3 else ""
                labels.append(((found[0], found[1]), name))
            case ["IOPIN", x, y, ("Out" | "In") as way] if (found := _integers([x, y], 2)) is not None:
                (outputs if way == "Out" else inputs).append((found[0], found[1]))
            case ["SYMBOL", *_]:
                part = _part(line)
                if part is not None:
                    attributes.append({})
                    parts.append(part._replace(attributes=attributes[-1]))
            case ["SYMATTR", key, *_] if parts:
                rest = line.split(None, 2)
                attributes[-1][key.lower()] = rest[2] if len(rest) > 2 else ""
            case ["TEXT", *_]:
                said = line.split(None, 5)
                body = said[5] if len(said) > 5 else ""
                (directives if body.startswith("!") else comments).extend(_unescaped(body[1:]).split("\n"))
            case ["BUSTAP", *_]:
                unread.append(line)
    if len(directives) > MOST_RECORDS:
        raise NoSheet
    named = {at: name.lower() for at, name in labels}
    linked = {named[at] for at in inputs if at in named}  # from place to place on the sheet: no output of it
    return Sheet(
        wires=tuple(wires),
        labels=tuple(labels),
        parts=tuple(parts),
        directives=tuple(directives),
        comments=tuple(comments),
        outputs=tuple(at for at in outputs if named.get(at) not in linked),
        unread=tuple(unread),
    )


def _records(text: str) -> list[str]:
    r"""Its lines; a lone ``\r`` ends one too, as it does for whoever reads what is written of them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unescaped(text: str) -> str:
    r"""Text of a sheet: ``\n`` is a line end, ``\\`` a backslash (``..\\models\\nmos.inc``)."""
    return re.sub(r"\\(?:\\|n)", lambda found: "\n" if found[0] == "\\n" else "\\", text)


def _integers(words: Sequence[str], count: int) -> tuple[int, ...] | None:
    if len(words) < count or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words[:count]):
        return None
    return tuple(map(int, words[:count]))


def _part(line: str) -> Part | None:
    """``SYMBOL Opamps\\opamp 32 64 R0``: the name may have blanks."""
    found = re.fullmatch(r"SYMBOL\s+(.+?)\s+(-?\d{1,9})\s+(-?\d{1,9})\s+([RM]\d+)\s*", line)
    if found is None or found[4] not in _ROTATIONS:
        return None
    return Part(found[1], (int(found[2]), int(found[3])), found[4], {})


def read_symbol(text: str) -> Symbol | None:
    """The symbol in an `.asy` file; None for one that is not complete. A prefix of "" is a sheet's symbol."""
    attributes: dict[str, str] = {}
    pins: list[tuple[int, Place, str]] = []
    for line in _records(text)[:MOST_RECORDS]:
        words = line.split(None, 2)
        match words:
            case ["SYMATTR", key, value]:
                attributes[key.lower()] = value
            case ["PIN", x, rest] if (found := _integers([x, rest.split()[0]], 2)) is not None:
                pins.append((len(pins) + 1, (found[0], found[1]), ""))
            case ["PINATTR", "SpiceOrder", order] if pins and (place := place_of(order.strip())) is not None:
                pins[-1] = (place, *pins[-1][1:])
            case ["PINATTR", "PinName", name] if pins:
                pins[-1] = (*pins[-1][:2], name.strip())
    if not pins:
        return None
    pins.sort()
    return Symbol(
        prefix=attributes.get("prefix", ""),
        pins=tuple(place for _, place, _ in pins),
        names=tuple(name for _, _, name in pins),
        model=attributes.get("spicemodel", ""),
        value=attributes.get("value", ""),
        value2=attributes.get("value2", ""),
        spice_line=attributes.get("spiceline", ""),
        spice_line2=attributes.get("spiceline2", ""),
        model_file=attributes.get("modelfile", ""),
    )


def netlist_of(sheet: Sheet, *, title: str, find: Find, find_beside: Find | None = None) -> Converted:
    """The netlist of a sheet.

    `find` reads symbols and sheets: ``filter.asy`` for a symbol that is not of LTspice's library,
    ``filter.asc`` for what is behind it. What `find_beside` finds, in the sheet's own folder, goes before
    LTspice's library, as in LTspice; what lies elsewhere does not.
    """
    said = "\n".join(sheet.directives).lower()
    writer = _Writer(find=find, find_beside=find_beside or find, directives=said)
    writer.models.update(_models_in(sheet.directives))
    body = writer.lines_of(sheet, depth=0)
    directives = [_with_letters(line, writer.lettered) for line in sheet.directives]
    lines = [f"* {title}", *body]
    for block in writer.blocks.values():
        lines += ["", *block]
    if writer.blocks:
        lines.append("")
    for letter, (file, kinds) in _STANDARD.items():
        if letter in writer.letters:
            lines += [*(f".model {kind} {kind}" for kind in kinds), f".lib standard.{file}"]
    defines = (_defines_plain_op_amp(line, writer.find_beside) for line in sheet.directives)
    if writer.names_plain_op_amp and not any(defines):
        writer.libraries.setdefault("opamp.sub")
        writer.notes.append(
            msg(
                "The sheet has LTspice's op-amp without supplies and does not name its library: "
                ".lib opamp.sub was added."
            )
        )
    lines += [f".lib {name}" for name in writer.libraries]
    lines += directives
    if not any(line.strip().lower() == ".backanno" for line in sheet.directives):
        lines.append(".backanno")
    lines.append(".end")
    if writer.lacks_symbols:
        writer.notes.append(
            msg(
                "To find missing symbols, add the folder that holds their .asy files to the library folders "
                "(Components > Add library), then import again."
            )
        )
    return Converted(
        text="\n".join(lines) + "\n",
        missing=tuple(writer.missing),
        notes=tuple(writer.notes),
        outputs=writer.outputs,
        passed_over=frozenset(writer.passed_over - writer.taken),
    )


def _defines_plain_op_amp(directive: str, find: Find) -> bool:
    """Whether a directive may bring the op-amp without supplies: by a library that has it, or is not here."""
    if _PLAIN_OP_AMP.search(directive):
        return True
    named = _LIBRARY.match(directive.strip())
    text = None if named is None else find(re.split(r"[\\/]", named["file"])[-1])
    return named is not None and (text is None or _PLAIN_OP_AMP.search(text) is not None)


class Library(NamedTuple):
    """A file that defines a subcircuit of so many ports."""

    file: str
    ports: int


@dataclass(slots=True, kw_only=True)
class _Writer:
    """Writes sheets as lines; remembers what they lean on."""

    find: Find
    find_beside: Find
    directives: str
    """Of the sheet, in lower case: what it names needs no library more."""
    models: set[str] = field(default_factory=set)
    """Those the sheets define, and the bare kinds, in lower case: nothing has to be told about them."""
    blocks: dict[str, list[str]] = field(default_factory=dict)
    """The subcircuits of sheets behind symbols, by their names."""
    lettered: Mapping[str, str] = field(default_factory=dict)
    """Of the last sheet, the elements that are called with their letter in front, by their own names."""
    letters: set[str] = field(default_factory=set)
    outputs: tuple[str, ...] = ()
    """Of the last sheet, the nodes whose labels are drawn as output ports."""
    libraries: dict[str, None] = field(default_factory=dict)
    missing: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    lacks_symbols: bool = False
    names_plain_op_amp: bool = False
    """The one symbol of LTspice's with a model that does not name its library."""
    taken: set[str] = field(default_factory=set)
    passed_over: set[str] = field(default_factory=set)
    """Symbols (lower case) of parts that are as their file says, and of those that are not."""
    _symbols: dict[str, Symbol | None] = field(default_factory=dict)

    def lines_of(self, sheet: Sheet, *, depth: int) -> list[str]:
        """The element lines of a sheet, without its directives."""
        drawn = {end for wire in sheet.wires for end in wire} | {place for place, _ in sheet.labels}
        placed = [
            (part, _fitted(part, self._symbol(part), drawn))
            for part in sheet.parts
            if not is_jumper(part.symbol)
        ]
        placed = list(self._with_guesses(placed, drawn))
        nets = _Nets(sheet, [_at(part, pin) for part, symbol in placed for pin in _pins(symbol)])
        # What a tap leads to is called by its own label; only a label of several lines means something by it.
        if sheet.unread and any(_BUS.search(name) for _, name in sheet.labels):
            self.missing.append(
                msg(
                    "Bus taps are not read: {count} of them leave nodes unconnected.", count=len(sheet.unread)
                )
            )
        names = frozenset(part.name.lower() for part, _ in placed)
        lines = []
        for part, symbol in placed:
            if symbol is None or (symbol.is_assumed and not nets.touches(part, symbol)):
                self.lacks_symbols = True
                self.missing.append(
                    msg(
                        "{name} is not in the netlist: its symbol {symbol} is not in LTspice's library, "
                        "beside the schematic or in a library folder.",
                        name=part.name or "?",
                        symbol=re.sub(r"[\\/]+", lambda _: "\\", part.symbol),
                    )
                )
                lines.append(f"* {part.name}: symbol {part.symbol} is missing")
                continue
            nodes = [
                # A pin of LTspice's own devices that is left open is at ground.
                "0"
                if pin is None or (symbol.prefix == "A" and nets.is_open(_at(part, pin)))
                else nets.name_at(_at(part, pin))
                for pin in symbol.pins
            ]
            nodes += _fourth(part.attributes.get("prefix", symbol.prefix)[:1].upper(), nodes)
            lines.append(self._line(part, symbol, nodes, names, depth))
        self.lettered = dict(_lettered(placed, names))
        labelled = {place for place, _ in sheet.labels}
        self.outputs = tuple(dict.fromkeys(nets.name_at(at) for at in sheet.outputs if at in labelled))
        return [_with_letters(line, self.lettered) for line in lines]

    def _with_guesses(
        self, placed: Sequence[tuple[Part, Symbol | None]], drawn: Set[Place]
    ) -> Iterator[tuple[Part, Symbol | None]]:
        """Symbols that are not here, or don't fit, are those their names and the ends of the wires tell."""
        unfit: dict[str, list[Part]] = {}
        for part, symbol in placed:
            if _is_of_another(part, symbol, drawn) or (
                symbol is not None
                and symbol.is_assumed
                and not all(_at(part, pin) in drawn for pin in _pins(symbol))
            ):
                unfit.setdefault(part.symbol.lower(), []).append(part)
        ends = drawn | {
            _at(part, pin)
            for part, symbol in placed
            if part.symbol.lower() not in unfit
            for pin in _pins(symbol)
        }
        made = {
            key: library
            for key, parts in islice(unfit.items(), _MOST_GUESSED)
            if is_made_by_ltspice(parts[0].symbol)
            and (library := self._library_of(plain_name(parts[0].symbol))) is not None
        }
        found = {
            key: guessed(
                parts[0].symbol,
                [partial(_is_drawn, part, ends) for part in parts],
                models={model for part in parts if (model := _model_of(part))},
                ports=made[key].ports if key in made else None,
            )
            for key, parts in islice(unfit.items(), _MOST_GUESSED)
        }
        for key, symbol in found.items():
            if symbol is not None:
                parts = [part.name for part in unfit[key]]
                names = ", ".join([*parts[:_MOST_NAMED], *["…"] * (len(parts) > _MOST_NAMED)])
                self.notes.append(_told_guess(unfit[key][0].symbol, symbol, names))
                library = made.get(key)
                if library is not None and symbol.prefix == "X" and len(symbol.pins) == library.ports:
                    self._add_library(library, symbol.value)
                    found[key] = replace(symbol, model_file="", is_assumed=False)
        told = {id(part): found.get(key) for key, parts in unfit.items() for part in parts}
        for part, symbol in placed:
            own = None if _is_of_another(part, symbol, drawn) else symbol
            chosen = (told[id(part)] or own) if id(part) in told else symbol
            (self.taken if chosen is not None and chosen is symbol else self.passed_over).add(
                part.symbol.lower()
            )
            yield part, chosen

    def _library_of(self, name: str) -> Library | None:
        """A file here that is called like a subcircuit and defines it, where the sheet does not name it: the
        symbol LTspice made of the subcircuit would."""
        for suffix in _SUFFIXES_OF_MODELS:
            file = f"{name}{suffix}"
            text = None if file.lower() in self.directives else self.find(file)
            if text is None:
                continue
            read = Netlist.parse(text.encode("utf-8"), has_title=False)
            for each in read.subcircuits:
                if each.name.lower() == name.lower():
                    return Library(file, len(each.ports))
        return None

    def _add_library(self, library: Library, name: str) -> None:
        if library.file not in self.libraries:
            self.libraries[library.file] = None
            self.notes.append(
                msg("{file} has the subcircuit {name} and was added.", file=library.file, name=name)
            )

    def _symbol(self, part: Part) -> Symbol | None:
        key = part.symbol.lower()
        if key not in self._symbols:
            file = f"{path_of(part.symbol)}.asy"
            found = _symbol_in(self.find_beside(file)) or library_symbol(part.symbol)
            if found is None or found.is_assumed:
                found = _symbol_in(self.find(file)) or found
            self._symbols[key] = found
        return self._symbols[key]

    def _line(
        self, part: Part, symbol: Symbol, nodes: Sequence[str], names: Collection[str], depth: int
    ) -> str:
        name = part.name or "?"
        given = part.attributes
        prefix = given.get("prefix", symbol.prefix)
        if not prefix:
            return self._block_line(part, symbol, nodes, depth)
        letter = prefix[0]
        if letter in _NO_ELEMENT:
            self.missing.append(
                msg(
                    "{name} is not in the netlist: {prefix} is not a kind of element.",
                    name=name,
                    prefix=prefix,
                )
            )
            return f"* {name}: no element {prefix}"
        self.letters.add(letter.lower())
        named = _called(name, letter, names)
        texts = {
            "spicemodel": given.get("spicemodel", symbol.model),
            "value": given.get("value", symbol.value),
            "value2": given.get("value2", symbol.value2),
            "spiceline": given.get("spiceline", symbol.spice_line),
            "spiceline2": given.get("spiceline2", symbol.spice_line2),
        }
        file = given.get("modelfile", symbol.model_file)
        if _MODEL_FILE.search(texts["spicemodel"]):  # a file: the value is the name of the subcircuit in it
            file, texts["spicemodel"] = texts["spicemodel"], ""
            if texts["value2"]:
                texts["value"] = ""
        if file:
            self.libraries.setdefault(file)
        # A pair of quotes is nothing; more than one word are nodes without a pin: "VDD 0".
        is_name = texts["spicemodel"].strip() != _EMPTY and len(texts["spicemodel"].split()) == 1
        if letter in "Xx" and is_name and "=" not in texts["value"]:
            texts["value"] = ""  # it is only shown
        if letter in "Xx" and texts["value2"].strip() == texts["value"].strip():
            texts["value2"] = ""  # the name of the subcircuit again; LTspice writes it once
        behind = " ".join(texts[key].strip() for key in _ATTRIBUTES if texts[key].strip() not in ("", _EMPTY))
        words = behind.split()
        self.names_plain_op_amp |= letter in "Xx" and words[:1] == ["opamp"] and not file
        kind = _drawn_kind(letter.lower(), prefix, part.symbol)
        model = words[0] if words and "=" not in words[0] else ""
        is_told = not model or model.lower() in self.models or _SIZED.search(behind)
        said = "" if is_told else kind_comment(letter.lower(), model, kind)
        return " ".join([named, *nodes, behind, said]).rstrip()

    def _block_line(self, part: Part, symbol: Symbol, nodes: Sequence[str], depth: int) -> str:
        """A sheet behind a symbol is a subcircuit; its nodes are called as the symbol's pins."""
        plain = plain_name(part.symbol)
        called = re.sub(r"\s+", "_", plain)
        name = f"X{part.name}"
        if called not in self.blocks:
            behind = self.find(f"{path_of(part.symbol)}.asc")
            sheet = None
            if behind is not None and depth < _MOST_DEPTH:
                try:
                    sheet = read_sheet(behind)
                except NoSheet:
                    sheet = None
            library = self._library_of(plain) if behind is None else None
            if library is not None and library.ports == len(nodes):
                self._add_library(library, plain)
                return " ".join([name, *nodes, plain])
            if sheet is None:
                self.missing.append(
                    msg("{name} is not in the netlist: there is no schematic {file} behind its symbol.",
                        name=part.name or "?", file=f"{plain}.asc")
                )  # fmt: skip
                return f"* {part.name}: schematic {plain}.asc is missing"
            self.blocks[called] = []  # a sheet that holds itself ends here
            ports = " ".join(re.sub(r"\s+", "_", port) for port in symbol.names)
            inner = self.lines_of(sheet, depth=depth + 1)
            directives = [_with_letters(line, self.lettered) for line in _without_runs(sheet.directives)]
            self.blocks[called] = [f".subckt {called} {ports}", *inner, *directives, f".ends {called}"]
        given = {key: part.attributes.get(key, "").strip() for key in _ATTRIBUTES}
        values = " ".join(
            text
            for key, text in given.items()
            if text not in ("", _EMPTY) and ("=" in text or key.startswith("spiceline"))
        )
        return " ".join([name, *nodes, called, *([values] if values else [])])


def _called(name: str, letter: str, names: Collection[str]) -> str:
    """What an element is called in the netlist: LTspice's X1 is an XX1, a resistor B is RB, or R_B where the
    sheet has an RB too (`names`, lower case)."""
    if name[:1].lower() == letter.lower() and letter not in "Xx":
        return name
    return f"{letter}_{name}" if f"{letter}{name}".lower() in names else f"{letter}{name}"


def _lettered(
    placed: Sequence[tuple[Part, Symbol | None]], names: Collection[str]
) -> Iterator[tuple[str, str]]:
    for part, symbol in placed:
        prefix = part.attributes.get("prefix", symbol.prefix if symbol is not None else "")
        if prefix and prefix[0] not in "Xx" and (called := _called(part.name, prefix[0], names)) != part.name:
            yield part.name.lower(), called


def _with_letters(line: str, names: Mapping[str, str]) -> str:
    """A line whose references to other elements have the names those got: ``I(Ix)`` of a source that is
    called Ix on the sheet means VIx."""
    if not names:
        return line

    def letter(found: re.Match[str]) -> str:
        return names.get(found[0].lower(), found[0])

    line = re.sub(r"(?<=\bi\()[^()\s,]+(?=\))", letter, line, flags=re.IGNORECASE)
    if re.match(r"[FHW]", line, re.IGNORECASE):
        nodes = re.match(r"\S+\s+\S+\s+\S+", line)
        behind = nodes.end() if nodes is not None else len(line)
        return line[:behind] + re.sub(r"(?<!\S)\S+", letter, line[behind:], count=1)
    if re.match(r"K|\.(?:dc|tf|noise|step)\b", line, re.IGNORECASE):
        return re.sub(r"(?<!\S)\S+", letter, line)
    return line


def _without_runs(directives: Sequence[str]) -> Iterator[str]:
    """Of a sheet behind a symbol: the analyses it has for itself are none of the circuit, as in LTspice."""
    is_run = False
    for line in directives:
        is_run = _RUN.match(line) is not None or (is_run and line.lstrip().startswith("+"))
        if not is_run:
            yield line


def _models_in(directives: Sequence[str]) -> Iterator[str]:
    yield from (kind.lower() for _, kinds in _STANDARD.values() for kind in kinds)
    for line in directives:
        words = line.split(None, 2)
        if len(words) > 1 and words[0].lower() == ".model":
            yield words[1].lower()


def _drawn_kind(letter: str, prefix: str, symbol: str) -> str:
    """What a transistor's or a diode's symbol says of it: npn, pmos, schottky."""
    if letter == "d":
        return plain_name(symbol).lower()
    is_p = prefix[1:2].upper() == "P"
    return {"q": ("npn", "pnp"), "m": ("nmos", "pmos"), "j": ("njf", "pjf")}.get(letter, ("", ""))[is_p]


def _fitted(part: Part, symbol: Symbol | None, drawn: Set[Place]) -> Symbol | None:
    """An op-amp that is not in the table has the one outline at whose pins something is drawn.

    So has a known one that lies beside its wires: LTspice has changed the outlines of some.
    """
    if symbol is None or symbol.prefix != "X" or len(symbol.pins) != len(USUAL):
        return symbol
    is_beside = ports_of(symbol.value) == USUAL_PORTS and not all(
        _at(part, pin) in drawn for pin in _pins(symbol)
    )
    if not is_beside and not (symbol.is_assumed and symbol.pins == USUAL):
        return symbol
    fitting = [
        outline
        for outline, no_pins in five_pin_outlines().items()
        if all(_at(part, pin) in drawn for pin in outline)
        and not any(_at(part, place) in drawn for place in no_pins)
    ]
    return replace(symbol, pins=fitting[0]) if len(fitting) == 1 else symbol


def _model_of(part: Part) -> str:
    return next(
        (text for key in ("spicemodel", "value") if (text := part.attributes.get(key, "").strip())), ""
    )


def _is_of_another(part: Part, symbol: Symbol | None, drawn: Set[Place]) -> bool:
    """Whether a symbol is not here: the one LTspice made of a subcircuit is not a file of that name elsewhere
    that has a pin nowhere where something is drawn."""
    if symbol is None:
        return True
    return is_made_by_ltspice(part.symbol) and not any(_at(part, pin) in drawn for pin in _pins(symbol))


def _is_drawn(part: Part, drawn: Set[Place], pin: Place) -> bool:
    return _at(part, pin) in drawn


def _told_guess(name: str, symbol: Symbol, parts: str) -> Message:
    shown = re.sub(r"[\\/]+", lambda _: "\\", name)
    if is_made_by_ltspice(name) and symbol.prefix == "X":
        return msg(
            "The symbol {symbol} is not here. LTspice makes such symbols itself: {count} nodes in the order "
            "of the subcircuit, down the left side, then down the right ({names}).",
            symbol=shown,
            count=len(symbol.pins),
            names=parts,
        )
    if symbol.prefix == "X" and len(symbol.pins) == len(REGULATOR_PORTS):
        return msg(
            "The symbol {symbol} is not here. It is taken for a regulator: input at the left, output at the "
            "right, ground below ({names}).",
            symbol=shown,
            names=parts,
        )
    if symbol.prefix == "X":
        return msg(
            "The symbol {symbol} is not here. Its wires end where those of LTspice's op-amps do: the pins "
            "are taken as theirs ({names}).",
            symbol=shown,
            names=parts,
        )
    if symbol.prefix[:1] in "RCLVI":
        return msg(
            "The symbol {symbol} is not here. Its name and the ends of its wires tell what it is ({names}).",
            symbol=shown,
            names=parts,
        )
    return msg(
        "The symbol {symbol} is not here. Its wires end where those of LTspice's transistors and diodes do: "
        "the pins are taken as theirs ({names}).",
        symbol=shown,
        names=parts,
    )


def _symbol_in(text: str | None) -> Symbol | None:
    return None if text is None else read_symbol(text)


def _fourth(letter: str, nodes: Sequence[str]) -> list[str]:
    """What LTspice writes behind the nodes of a transistor's symbol with three pins: bulk or substrate."""
    if len(nodes) != 3:
        return []
    return [nodes[2]] if letter == "M" else ["0"] if letter == "Q" else []


def _pins(symbol: Symbol | None) -> Iterator[Place]:
    return iter(()) if symbol is None else (pin for pin in symbol.pins if pin is not None)


def _at(part: Part, pin: Place) -> Place:
    a, b, c, d = _ROTATIONS[part.turn]
    return part.at[0] + a * pin[0] + b * pin[1], part.at[1] + c * pin[0] + d * pin[1]


class _Nets:
    """Which places of a sheet are one node, and what it is called."""

    def __init__(self, sheet: Sheet, pins: Sequence[Place]) -> None:
        self._above: dict[Place, Place] = {}
        self._names: dict[Place, str] = {}
        self._counts: dict[str, int] = {}
        self._taken = {name.lower() for _, name in sheet.labels}
        self._pins: dict[Place, int] = {}
        """How many pins are at a place."""
        for pin in pins:
            self._pins[pin] = self._pins.get(pin, 0) + 1
        places = dict.fromkeys([*(end for wire in sheet.wires for end in wire), *pins])
        places |= dict.fromkeys(place for place, _ in sheet.labels)
        jumpers = [
            (_at(part, JUMPER[0]), _at(part, JUMPER[1])) for part in sheet.parts if is_jumper(part.symbol)
        ]
        self._touched = {place for place, _ in sheet.labels}
        for pair in (*sheet.wires, *jumpers):
            self._join(*pair)
        places |= dict.fromkeys(end for pair in jumpers for end in pair)
        self._join_touching(sheet.wires, list(places))
        by_name: dict[str, Place] = {}
        for place, name in sheet.labels:
            if name:
                self._join(by_name.setdefault(name.lower(), place), place)
        for place, name in sheet.labels:
            root = self._root(place)
            # Of two names of one node ground goes first, then the first one that was given.
            if name and (name == "0" or root not in self._names):
                self._names[root] = name
        # As LTspice has it: what is wired in the order of the wires, then pins that meet, then open ones.
        joined: dict[Place, int] = {}
        for pin in pins:
            root = self._root(pin)
            joined[root] = joined.get(root, 0) + 1
        wired = {self._root(one) for one, _ in sheet.wires}
        for one, _ in sheet.wires:
            self._number(self._root(one), "N{:03}")
        for root, count in joined.items():
            self._number(root, "NC_{:02}" if count == 1 and root not in wired else "P{:03}")

    def name_at(self, place: Place) -> str:
        """The name of the node there."""
        return re.sub(r"\s+", "_", self._names[self._root(place)])

    def _number(self, root: Place, form: str) -> None:
        """The next number of that form for what has no name yet."""
        while root not in self._names:
            self._counts[form] = self._counts.get(form, 0) + 1
            name = form.format(self._counts[form])
            if name.lower() not in self._taken:
                self._names[root] = name

    def is_open(self, place: Place) -> bool:
        """Whether nothing but one pin is there."""
        return place not in self._touched and self._pins.get(place) == 1

    def touches(self, part: Part, symbol: Symbol) -> bool:
        """Whether something is at each of its pins: at those of a wrong outline there seldom is."""
        return not any(self.is_open(_at(part, pin)) for pin in _pins(symbol))

    def _root(self, place: Place) -> Place:
        above = self._above.setdefault(place, place)
        while above != place:
            self._above[place] = self._above[above]
            place, above = above, self._above[above]
        return place

    def _join(self, one: Place, other: Place) -> None:
        self._above[self._root(other)] = self._root(one)

    def _join_touching(self, wires: Sequence[tuple[Place, Place]], places: Sequence[Place]) -> None:
        """Ends, pins and labels that lie on a wire belong to it; wires that cross do not touch."""
        for axis in (0, 1):  # upright wires by their x, level ones by their y
            lines: dict[int, list[tuple[int, int]]] = {}
            for one, other in wires:
                if one[axis] == other[axis]:
                    low, high = sorted((one[1 - axis], other[1 - axis]))
                    lines.setdefault(one[axis], []).append((low, high))
            on: dict[int, list[Place]] = {}
            for place in places:
                if place[axis] in lines:
                    on.setdefault(place[axis], []).append(place)
            for at, stretches in lines.items():
                self._join_along(
                    _merged(stretches), sorted(on[at], key=lambda each: each[1 - axis]), 1 - axis
                )
        slanting = [(one, other) for one, other in wires if one[0] != other[0] and one[1] != other[1]]
        for one, other in slanting[:_MOST_SLANTING]:
            on_it = [each for each in places if _is_between(each, one, other)]
            self._touched.update(on_it)
            for each in on_it:
                self._join(one, each)

    def _join_along(self, stretches: Sequence[tuple[int, int]], places: Sequence[Place], along: int) -> None:
        """`stretches` of one line do not touch each other; both they and the places are in order."""
        waiting = iter(places)
        place = next(waiting, None)
        for low, high in stretches:
            first: Place | None = None
            while place is not None and place[along] <= high:
                if place[along] >= low:
                    first = first or place
                    self._touched.add(place)
                    self._join(first, place)
                place = next(waiting, None)


def _merged(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of one line, those joined that touch."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(stretches):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found


def _is_between(place: Place, one: Place, other: Place) -> bool:
    """Whether a place lies on a slanting line."""
    (x, y), (x1, y1), (x2, y2) = place, one, other
    is_on = (x2 - x1) * (y - y1) == (y2 - y1) * (x - x1)
    return is_on and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2)
