"""Which quantity of a circuit stands at a place of its text: ``R1``, ``M1.w``, a `.param`."""

from __future__ import annotations

from domain.circuit.netlist import Netlist
from domain.circuit.statements import Field

_WITH_VALUE = "rclvi"


def quantity_at(data: bytes, offset: int, *, has_title: bool = True) -> str | None:
    """The name by which `simulate --set` and studies know the value at a byte of a netlist, else the value of
    its line's element or parameter; None where there is none that stands at the top level.

    `has_title`: the first line is one; not so in a part that circuits include.
    """
    netlist = Netlist.parse(data, has_title=has_title)
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


def _holds(field: Field, offset: int) -> bool:
    return any(start <= offset <= end for start, end in field.spans)
