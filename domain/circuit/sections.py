"""A netlist as its author laid it out: the parts of the circuit under their headings, then everything else.

A heading is a comment at the top level that stands before two or more elements and after a blank line (or
a comment without words, `*`); ``* Stage 2: f0 = 9.93 kHz, Q = 1.432`` gives the name "Stage 2" and
the value "Q 1.432". Only for showing: nothing is concluded from comments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from domain.circuit.cards import Subcircuit
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.netlist import Netlist
from shared.late_patterns import late_pattern

SectionKind = Literal[
    "heading",
    "elements",
    "subcircuit",
    "sources",
    "nodes",
    "analyses",
    "measures",
    "models",
    "parameters",
    "includes",
]

_LONGEST = 60
_RULE = late_pattern(r"[-=*#~_+ .]*")
_ASSIGNMENT = late_pattern(r"([A-Za-z]\w*)\s*=\s*([+-]?[0-9.][^,;，；]*)")
_SOURCES = frozenset("vi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row: an element, an analysis, a measurement."""

    name: str
    value: str
    """As written: the value of a resistor, the model of a transistor, the waveform of a source; of a node the
    number of its terminals."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the netlist with its rows, in the order of the file."""

    kind: SectionKind
    name: str
    """The heading, or the subcircuit's name; "" for the kinds that have one name only."""
    value: str
    """The last ``name = value`` of the heading; the terminals of a subcircuit."""
    line: int
    items: tuple[Item, ...]


def sections_of(netlist: Netlist) -> tuple[Section, ...]:
    """The sections of a circuit or a library, empty ones left out."""
    top = [element for element in netlist.elements if not element.scope]
    parts = [element for element in top if element.letter not in _SOURCES]
    sources = [element for element in top if element.letter in _SOURCES]
    found = [
        *_headed(netlist, parts),
        *_subcircuits(netlist),
        _plain("sources", [_item(element) for element in sources]),
        _plain("nodes", _nodes(top)),
        _plain("analyses", [_card(item.kind, item.text, item.line) for item in netlist.analyses]),
        _plain(
            "measures",
            [Item(name=item.name, value=item.analysis, line=item.line) for item in netlist.measures],
        ),
        _plain(
            "parameters",
            [Item(name=p.name, value=p.value.text, line=p.line) for p in netlist.parameters if not p.scope],
        ),
        _plain("models", [Item(name=m.name, value=m.type, line=m.line) for m in netlist.models]),
        _plain(
            "includes",
            [Item(name=i.path, value=i.section or "", line=i.line) for i in netlist.includes],
        ),
    ]
    return tuple(section for section in found if section.items or section.kind == "subcircuit")


def _headed(netlist: Netlist, elements: list[Element]) -> list[Section]:
    """Elements under their headings, and those under none, by their first lines."""
    headings = _headings(netlist)
    lines = sorted(headings)

    def heading_of(element: Element) -> int:
        before = bisect_left(lines, element.line)
        return lines[before - 1] if before else 0

    groups = {line: list(group) for line, group in groupby(elements, key=heading_of)}
    for line in [line for line, group in groups.items() if line and len(group) < 2]:
        groups.setdefault(0, []).extend(groups.pop(line))
    sections = []
    for line, group in groups.items():
        name, value = _name_and_value(headings[line]) if line else ("", "")
        rows = tuple(_item(element) for element in sorted(group, key=lambda element: element.line))
        kind: SectionKind = "heading" if line else "elements"
        sections.append(Section(kind=kind, name=name, value=value, line=line or rows[0].line, items=rows))
    return sorted(sections, key=lambda section: section.items[0].line)


def _headings(netlist: Netlist) -> dict[int, str]:
    """Line of each comment that could be a heading -> its words."""
    found: dict[int, str] = {}
    is_free = False
    cards = {statement.line for statement in netlist.statements}
    for number in range(1, len(netlist.source.lines) + 1):
        text = netlist.source.line_text(number).strip()
        words = text.lstrip("*").strip()
        is_comment = text.startswith("*") and number not in cards
        if is_comment and is_free and words and not _RULE.fullmatch(words):
            found[number] = netlist.source.decode(words)
        is_free = not text or (is_comment and _RULE.fullmatch(words) is not None)
    return found


def _name_and_value(words: str) -> tuple[str, str]:
    words = words.strip("-=*#~_ ")
    name, colon, rest = words.partition("：") if "：" in words else words.partition(":")
    pairs = _ASSIGNMENT.findall(rest if colon else "")
    value = " ".join(part.strip() for part in pairs[-1]) if pairs else ""
    return name.strip()[:_LONGEST], value[:_LONGEST]


def _subcircuits(netlist: Netlist) -> Iterator[Section]:
    rows: dict[tuple[str, ...], list[Item]] = {}
    for element in netlist.elements if netlist.subcircuits else ():
        if element.scope:
            rows.setdefault(element.scope, []).append(_item(element))
    shown: set[tuple[str, ...]] = set()
    for item in netlist.subcircuits:
        # Those of one name have one scope: its elements stand under the first.
        yield _subcircuit(item, tuple(rows.get(item.path, ())) if item.path not in shown else ())
        shown.add(item.path)


def _subcircuit(item: Subcircuit, rows: tuple[Item, ...]) -> Section:
    ports = " ".join(port.text for port in item.ports)
    return Section(kind="subcircuit", name=item.name, value=ports[:_LONGEST], line=item.line, items=rows)


def _plain(kind: SectionKind, items: list[Item]) -> Section:
    return Section(kind=kind, name="", value="", line=items[0].line if items else 0, items=tuple(items))


def _item(element: Element) -> Item:
    return Item(name=element.name, value=_value_of(element)[:_LONGEST], line=element.line)


def _nodes(elements: list[Element]) -> list[Item]:
    """Each node at the top level with the number of its terminals, ground left out; by their first lines."""
    found: dict[str, tuple[str, int, int]] = {}
    for element in elements:
        for node in element.nodes:
            key = canonical_node(node.text)
            name, count, line = found.get(key, (node.text, 0, node.line))
            found[key] = (name, count + 1, line)
    found.pop(GROUND, None)
    return [Item(name=name, value=str(count), line=line) for name, count, line in found.values()]


def _value_of(element: Element) -> str:
    """What one looks for in a row: the value, the model, or for a source all behind its nodes."""
    if element.letter in _SOURCES:
        words = element.statement.text.split(None, 3)
        return " ".join(words[3:]).strip()
    if element.value is not None:
        return element.value.text
    if element.model is not None:
        return element.model.text
    return element.expressions[0].text if element.expressions else ""


def _card(name: str, text: str, line: int) -> Item:
    return Item(name=name, value=text.split(None, 1)[-1] if " " in text else "", line=line)
