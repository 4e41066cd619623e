"""Which quantity of a circuit stands at a place of its text: ``R1``, ``M1.w``, a `.param`."""

from __future__ import annotations

import re
from typing import NamedTuple

from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number
from domain.circuit.statements import Field

_WITH_VALUE = "rclvi"
_NUMBER = re.compile(rb"[+-]?\.?[0-9]")
_ENDS = (b" ", b"\t", b"\n", b"\r", b"=", b"(", b",")
"""What stands before a word."""


class NumberPlace(NamedTuple):
    """A number that a study can change, and its bytes in the file."""

    name: str
    start: int
    end: int


def quantity_at(data: bytes, offset: int, *, has_title: bool = True) -> str | None:
    """The name by which `simulate --set` and studies know the value at a byte of a netlist, else the value of
    its line's element or parameter; None where there is none that stands at the top level.

    `has_title`: the first line is one; not so in a part that circuits include.
    """
    return _quantity(Netlist.parse(data, has_title=has_title), data, offset)


def number_at(data: bytes, offset: int, *, has_title: bool = True) -> NumberPlace | None:
    """The number that itself stands at a byte, named as by `quantity_at`; None at a formula, at 0, which has
    no usual range, and anywhere else on the line."""
    if _NUMBER.match(data, _word_start(data, offset)) is None:
        return None  # most places hold none, and reading a long circuit takes its time
    netlist = Netlist.parse(data, has_title=has_title)
    line = data.count(b"\n", 0, offset) + 1
    fields = [each.value for each in netlist.parameters if not each.scope]
    for element in netlist.elements:
        if not element.scope and element.statement.line <= line <= element.statement.last_line:
            fields += element.params.values()
            if element.value is not None and element.letter in _WITH_VALUE:
                fields.append(element.value)
    field = next((each for each in fields if _holds(each, offset)), None)
    written = None if field is None else read_number(field.text)
    name = _quantity(netlist, data, offset)
    if field is None or written is None or not written.value or name is None or len(field.spans) != 1:
        return None
    return NumberPlace(name, *field.spans[0])


def _quantity(netlist: Netlist, data: bytes, offset: int) -> str | None:
    line = data.count(b"\n", 0, offset) + 1
    for element in netlist.elements:
        if element.scope or not element.statement.line <= line <= element.statement.last_line:
            continue
        sized = [key for key, value in element.params.items() if _holds(value, offset)]
        if sized:
            return f"{element.name}.{sized[0]}"
        if element.value is not None and element.letter in _WITH_VALUE:
            return element.name
        first = next(iter(element.params), None)
        return None if first is None else f"{element.name}.{first}"
    on_line = [
        each
        for each in netlist.parameters
        if not each.scope and data.count(b"\n", 0, each.value.spans[0][0]) + 1 == line
    ]
    here = [each for each in on_line if _holds(each.value, offset)]
    return next((each.name for each in (*here, *on_line)), None)


def _word_start(data: bytes, offset: int) -> int:
    return max(data.rfind(end, 0, offset) for end in _ENDS) + 1


def _holds(field: Field, offset: int) -> bool:
    return any(start <= offset <= end for start, end in field.spans)
