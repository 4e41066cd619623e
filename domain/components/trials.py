"""What a component is loaded in to see whether ngspice takes it: itself, what it is made of, every pin to
ground through 1 kΩ, one operating point.

Of its library only the lines go in that it needs (names are followed from line to line), so that a library of
thousands is tried in thousands of small decks, and a fault is the fault of who has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from domain.circuit.netlist import Netlist
from domain.components.component import Component
from shared.late_patterns import late_pattern

_WORD = late_pattern(rb"[^\s(){},=;'\"]+")
_FOREVER = frozenset({"param", "func", "csparam", "global"})
_VALUES = {"R": "1k", "C": "1n", "L": "1u"}
"""Of elements whose card has a value before its model."""
_UNTRIED = frozenset("WX")


class TrialDeck(NamedTuple):
    """A deck with one component."""

    deck: bytes
    lines: tuple[int, ...]
    """For each line of the deck that of the library; 0 for one of ours."""

    def line_of(self, line: int | None) -> int | None:
        """The library's line for one of the deck; None for none."""
        if line is None or not 1 <= line <= len(self.lines):
            return None
        return self.lines[line - 1] or None


class Trials:
    """Decks for the components of one library, in ngspice's words."""

    def __init__(self, text: bytes, components: Sequence[Component]) -> None:
        """`components`: of this text, as `reading` gives them."""
        self._lines = re.split(rb"\r\n|\n|\r", text)
        self._parts: dict[str, list[Component]] = {}
        for each in components:
            self._parts.setdefault(each.name.lower(), []).append(each)
        netlist = Netlist.parse(text, has_title=False)
        self._always = [
            (card.section or "", number)
            for card in netlist.statements
            if card.kind == "directive" and card.keyword in _FOREVER and not card.scope
            for number in dict.fromkeys(chunk.line for chunk in card.chunks)
        ]

    def deck(self, component: Component) -> TrialDeck | None:
        """The deck of one; None for a model that no element of ours takes, or a faulty one."""
        element = _element(component)
        if element is None:
            return None
        section = component.section
        wanted = self._closure(component)
        numbers = {number for place, number in self._always if place in ("", section.lower())}
        for each in wanted:
            numbers.update(range(each.line, each.last_line + 1))
        taken = sorted(number for number in numbers if 1 <= number <= len(self._lines))
        nodes = [f"n{at}" for at in range(1, _count(component) + 1)]
        ours = [element, *(f"rpin{at} {node} 0 1k" for at, node in enumerate(nodes)), ".op", ".end", ""]
        body = [self._lines[number - 1] for number in taken]
        deck = b"\n".join((b"* trial", *body, *(line.encode() for line in ours)))
        return TrialDeck(deck, (0, *taken, *(0 for _ in ours)))

    def _closure(self, component: Component) -> list[Component]:
        """It, and what its lines name, and what the lines of these name."""
        found, waiting = {id(component): component}, [component]
        while waiting:
            each = waiting.pop()
            text = b"\n".join(self._lines[each.line - 1 : each.last_line])
            for word in {match[0].lower() for match in _WORD.finditer(text)}:
                for other in self._parts.get(word.decode("latin-1"), ()):
                    is_seen = other.section in ("", component.section)
                    if is_seen and id(other) not in found:
                        found[id(other)] = other
                        waiting.append(other)
        return list(found.values())


def _count(component: Component) -> int:
    return 4 if component.letter == "S" else len(component.ports)


def _element(component: Component) -> str | None:
    if component.fault or component.card not in ("model", "subckt") or component.kind == "other":
        return None
    if component.card == "model" and component.letter in _UNTRIED:
        return None
    nodes = tuple(f"n{at}" for at in range(1, _count(component) + 1))
    if component.card == "model" and component.letter in _VALUES:
        return f"{component.letter}1 {' '.join(nodes)} {_VALUES[component.letter]} {component.name}"
    return component.element(f"{component.letter}1", nodes)
