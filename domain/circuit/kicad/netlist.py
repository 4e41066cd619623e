"""KiCad's sheets as a netlist: instances of sheets, their nets, their parts, their texts.

All instances of a sheet are written out, as KiCad's own netlist does; names of parts and nets are KiCad's,
so that what a text on the sheet says (``.ic v(/out)=0``) means the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from domain.circuit.cards import Model, Subcircuit
from domain.circuit.kicad import builtin
from domain.circuit.kicad.models import (
    Component,
    FoundModel,
    NotWritten,
    is_left_out,
    letter_of_model,
    write,
)
from domain.circuit.kicad.nets import At, Nets
from domain.circuit.kicad.sheet import NoSheet, Placed, Sheet, Sub, read_sheet
from domain.circuit.netlist import Netlist
from shared.message import Message, msg

_MOST_INSTANCES = 500
_DEEPEST = 20
_GLOBAL, _LOCAL, _PIN = 0, 1, 2
"""Ranks of a net's names, the strongest first."""
_ANALYSIS = re.compile(r"\.(?:tran|ac|dc|op|noise|tf|pz|sp|sens|disto|four)\b", re.IGNORECASE)
_COUPLING = re.compile(r"K\w*\s+L\w+\s+L\w+\s+\S+$", re.IGNORECASE)
_PROJECT = re.compile(r"^\$\{KIPRJMOD\}[\\/]*", re.IGNORECASE)
_MOST_TABS_BYTES = 1_000_000
_MOST_FILES = 20
"""Files a library may include that are looked through for a model."""

_Card = TypeVar("_Card", Model, Subcircuit)

Find = Callable[[str], str | None]
"""The text of a file beside the sheet or below, by its path; None where there is none that can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A netlist made of sheets."""

    text: str
    missing: tuple[Message, ...] = ()
    """Parts that are not in it, and why: the netlist has a comment in their place."""
    notes: tuple[Message, ...] = ()


class _Instance(NamedTuple):
    number: int
    path: str
    """As the symbols on it name it: ``/root/sheet``."""
    name: str
    """As names of nets begin: ``/``, ``/Filter/``."""
    sheet: Sheet


@dataclass(slots=True)
class _Part:
    """All units of one reference."""

    symbol: str
    fields: dict[str, str] = field(default_factory=dict)
    pins: dict[str, At] = field(default_factory=dict)
    units: set[int] = field(default_factory=set)


def netlist_of(text: str, *, title: str, find: Find) -> Converted:
    """The netlist of the sheet in `text` and the sheets in it. Raises NoSheet.

    `title` is the file's name: its workbook of analyses (``amp.wbk``) is looked for under it.
    """
    return _Writer(title=title, find=find).written(read_sheet(text))


@dataclass(slots=True, kw_only=True)
class _Writer:
    title: str
    find: Find
    nets: Nets = field(default_factory=Nets)
    missing: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    _sheets: dict[str, Sheet | None] = field(default_factory=dict)
    _libraries: dict[str, list[Netlist]] = field(default_factory=dict)

    def written(self, top: Sheet) -> Converted:
        instances: list[_Instance] = []
        self._gather(top, f"/{top.key}", "/", instances, depth=0)
        parts: dict[str, _Part] = {}
        for each in instances:
            self._connect(each, top, parts)
        self.nets.settle()
        includes: dict[str, None] = {}
        models: dict[str, None] = {}
        elements: list[str] = []
        for reference, part in parts.items():
            component = Component(
                reference=reference,
                symbol=part.symbol,
                fields=part.fields,
                pins={number: self.nets.name_at(at) for number, at in part.pins.items()},
            )
            self._write(component, includes, models, elements)
        directives = self._directives(instances)
        lines = [f"* {' '.join(self.title.split())}"]
        lines += [f'.include "{name}"' for name in includes]
        lines += [*elements, *models, *directives, ".end"]
        return Converted(text="\n".join(lines) + "\n", missing=tuple(self.missing), notes=tuple(self.notes))

    # ---- sheets ------------------------------------------------------------------------------

    def _gather(self, sheet: Sheet, path: str, name: str, found: list[_Instance], *, depth: int) -> _Instance:
        instance = _Instance(len(found), path, name, sheet)
        found.append(instance)
        if sheet.buses:
            self.missing.append(
                msg("{count} bus lines of {sheet} are not read: what only a bus connects is open.",
                    count=sheet.buses, sheet=name)
            )  # fmt: skip
        for sub in sheet.sheets:
            inner = self._sheet(sub)
            if inner is None or depth >= _DEEPEST or len(found) >= _MOST_INSTANCES:
                self.missing.append(
                    msg("Sheet {name} is not in the netlist: its file {file} is not beside the schematic, or "
                        "cannot be read.", name=sub.name or "?", file=sub.file or "?")
                )  # fmt: skip
                continue
            within = self._gather(
                inner, f"{path}/{sub.key}", f"{name}{sub.name or sub.key}/", found, depth=depth + 1
            )
            for text, place in sub.pins:
                self.nets.join(("local", within.number, text), (instance.number, place))
        return instance

    def _sheet(self, sub: Sub) -> Sheet | None:
        if sub.file not in self._sheets:
            text = self.find(sub.file) if sub.file else None
            try:
                self._sheets[sub.file] = None if text is None else read_sheet(text)
            except NoSheet:
                self._sheets[sub.file] = None
        return self._sheets[sub.file]

    def _connect(self, instance: _Instance, top: Sheet, parts: dict[str, _Part]) -> None:
        """Join what is joined on one instance, name its nets, and gather the pins of its parts."""
        number, sheet = instance.number, instance.sheet
        everywhere = [place for sub in sheet.sheets for _, place in sub.pins]
        for symbol in sheet.symbols:
            reference, unit = _reference(symbol, instance.path, top)
            pins = sheet.pins_of(symbol, unit)
            everywhere += [place for _, place in pins]
            drawing = sheet.drawings.get(symbol.drawing)
            if drawing is None:
                self.missing.append(
                    msg("{name} is not in the netlist: the schematic does not hold its symbol {symbol}.",
                        name=reference or "?", symbol=symbol.drawing)
                )  # fmt: skip
                continue
            for pin, place in pins:
                if pin.is_power_input and (drawing.is_power or pin.is_hidden):
                    name = symbol.fields.get("Value", "") if drawing.is_power else pin.name
                    self._name((number, place), name, instance, is_global=not drawing.is_power_local)
            if drawing.is_power or reference.startswith("#") or symbol.is_excluded:
                continue
            part = self._part(parts, reference, symbol, unit)
            for pin, place in pins:
                at = (number, place)
                self._name_pin(at, reference, pin.number, pin.name)
                self.nets.join(part.pins.setdefault(pin.number, at), at)
        touching = self.nets.add_sheet(number, sheet, everywhere)
        if touching:
            x, y = touching[0]
            self.notes.append(
                msg("{count} {count:place|places} of {sheet} touch a wire without a junction, as at {x} mm, "
                    "{y} mm: KiCad does not connect them.",
                    count=len(touching), sheet=instance.name, x=f"{x / 10_000:g}", y=f"{y / 10_000:g}")
            )  # fmt: skip
        for label in sheet.labels:
            self._name((number, label.at), label.text, instance, is_global=label.kind == "global")

    def _part(self, parts: dict[str, _Part], reference: str, symbol: Placed, unit: int) -> _Part:
        """The part a symbol is a unit of; a unit that is there twice is a part of its own."""
        name, count = reference, 1
        while name in parts and unit in parts[name].units:
            count += 1
            name = f"{reference}_{count}"
        if name != reference:
            self.notes.append(
                msg("{reference} is there more than once: one is called {name}.",
                    reference=reference or "?", name=name)
            )  # fmt: skip
        part = parts.setdefault(name, _Part(symbol.drawing))
        part.units.add(unit)
        for key, value in symbol.fields.items():
            if value or key not in part.fields:
                part.fields.setdefault(key, value)
        return part

    def _name(self, at: At, text: str, instance: _Instance, *, is_global: bool) -> None:
        if is_global and text:
            self.nets.join(("global", text), at)
            self.nets.name(at, text, rank=_GLOBAL)
        elif text:
            self.nets.join(("local", instance.number, text), at)
            depth = instance.name.count("/")
            self.nets.name(at, f"{instance.name}{text}", rank=_LOCAL, depth=depth)

    def _name_pin(self, at: At, reference: str, number: str, name: str) -> None:
        """Named pins go before numbered ones, as in KiCad."""
        told = name if name and name != number else f"Pad{number}"
        self.nets.name(at, f"Net-({reference}-{told})", rank=_PIN, depth=int(told != name))

    # ---- parts -------------------------------------------------------------------------------

    def _write(
        self,
        component: Component,
        includes: dict[str, None],
        models: dict[str, None],
        elements: list[str],
    ) -> None:
        if is_left_out(component) or (len(component.pins) < 2 and not component.field("Sim.Device")):
            return  # a mounting hole, a test point: nothing of a circuit
        try:
            made = write(component, self._model)
        except NotWritten as error:
            self.missing.append(error.message)
            elements.append(f"* {' '.join(component.reference.split())} is missing")
            return
        *blocks, line = made.lines
        models |= dict.fromkeys(blocks)
        elements.append(" ".join(line.split()))  # a field may have line ends
        self.notes += made.notes
        if made.include:
            includes[_plain_path(made.include)] = None

    def _model(self, library: str, name: str) -> FoundModel | None:
        path = _plain_path(library)
        if path.rpartition("/")[2].lower() == builtin.FILE:
            lines = builtin.SUBCIRCUITS.get(name.lower())
            if lines is None:
                return None
            return FoundModel("X", _ports(lines[0]), "", lines)
        if path not in self._libraries:
            self._libraries[path] = self._read_library(path)
        for part in self._libraries[path]:
            block = _named(part.subcircuits, name)
            if block is not None:
                return FoundModel("X", [port.text for port in block.ports], path)
            card = _named(part.models, name)
            letter = None if card is None else letter_of_model(card.type)
            if card is not None and letter is not None:
                return FoundModel(letter, (), path, kind=card.type)
        return None

    def _read_library(self, path: str) -> list[Netlist]:
        """A library and the files it includes."""
        found: dict[str, Netlist] = {}
        to_read = [path]
        while to_read and len(found) < _MOST_FILES:
            name = to_read.pop()
            text = None if name in found else self.find(name)
            if text is not None:
                found[name] = Netlist(text.encode("utf-8"), has_title=False)
                folder = name.rpartition("/")[0]
                inner = (_plain_path(each.path) for each in found[name].includes)
                to_read += [f"{folder}/{each}" if folder else each for each in inner]
        return list(found.values())

    # ---- texts -------------------------------------------------------------------------------

    def _directives(self, instances: Sequence[_Instance]) -> list[str]:
        """Texts that are SPICE; where they have no analysis, those of the sheet's workbook."""
        lines: list[str] = []
        for text in dict.fromkeys(text for each in instances for text in each.sheet.texts):
            lines += _spice_lines(text)
        if not any(_ANALYSIS.match(line.strip()) for line in lines):
            stem = self.title.rpartition(".")[0]
            added = _workbook_lines(self.find(f"{stem}.wbk"))
            if added:
                self.notes.append(
                    msg("The analyses are those of KiCad's workbook {file}.", file=f"{stem}.wbk")
                )
            lines += added
        return lines


def _reference(symbol: Placed, path: str, top: Sheet) -> tuple[str, int]:
    """The reference of a symbol on one instance of its sheet, and which unit it is there."""
    if path in symbol.references:
        return symbol.references[path]
    inner = path.partition("/")[2].partition("/")[2]  # KiCad 6 leaves the top sheet out
    old = top.old_references.get(f"/{inner}/{symbol.key}" if inner else f"/{symbol.key}")
    return old or (symbol.fields.get("Reference", ""), symbol.unit)


def _plain_path(library: str) -> str:
    """As the netlist names it: from the project's folder; of a path on another computer its last name."""
    path = _PROJECT.sub("", " ".join(library.split())).replace("\\", "/").replace('"', "")
    is_far = path.startswith(("/", "$", "~")) or path[1:2] == ":" or ".." in path.split("/")
    return path.rpartition("/")[2] if is_far else path


def _ports(block: str) -> list[str]:
    words = block.partition("\n")[0].split()[2:]
    stop = next((at for at, word in enumerate(words) if "=" in word or word.lower() == "params:"), len(words))
    return words[:stop]


def _spice_lines(text: str) -> list[str]:
    """A text's lines where it is SPICE: it begins with a directive, or couples inductors."""
    lines = [line.rstrip() for line in text.replace("\r", "").split("\n")]
    told = [line for line in lines if line.strip()]
    if not told or not (told[0].lstrip().startswith((".", "*.")) or _COUPLING.match(told[0].strip())):
        return []
    kept, is_control = [], False
    for line in told:
        word = line.strip().lower()
        is_control = is_control or word.startswith(".control")
        is_spice = is_control or word[0] in ".+*" or _COUPLING.match(word) is not None
        if word not in (".end", ".save all") and not word.startswith(".title"):
            kept.append(line if is_spice else f"* {line.strip()}")
        is_control = is_control and not word.startswith(".endc")
    return kept


def _workbook_lines(text: str | None) -> list[str]:
    """The analyses of a workbook: JSON since KiCad 7, lines of text before."""
    if text is None or len(text) > _MOST_TABS_BYTES:
        return []
    try:
        book = json.loads(text)
        tabs = book.get("tabs", []) if isinstance(book, dict) else []
        commands = [
            line
            for tab in tabs
            if isinstance(tab, dict) and isinstance(tab.get("commands"), list)
            for line in tab["commands"]
        ]
    except (ValueError, RecursionError):
        commands = text.splitlines()
    found = (each.strip() for each in commands if isinstance(each, str))
    return list(dict.fromkeys(line for line in found if _ANALYSIS.match(line) and "\n" not in line))


def _named(cards: Sequence[_Card], name: str) -> _Card | None:
    """The first one of this name, in any letter case."""
    return next((each for each in cards if each.name.lower() == name.lower()), None)
