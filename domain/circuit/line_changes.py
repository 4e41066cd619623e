"""Values of a netlist as changes of its lines: what they become, quoted so that it stands there once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.circuit.netlist import Netlist
from shared.errors import CircuitError
from shared.message import msg


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """Neighbouring lines of a file and what they become."""

    before: str
    after: str
    search: str
    replace: str


def value_changes(text: str, values: Sequence[tuple[str, str]], *, has_title: bool) -> list[LineChange]:
    """The lines of a netlist that have to change to give elements or parameters new values.

    `has_title`: the first line is a title. Raises UserInputError for an unknown name or value, CircuitError
    ("ambiguous_element") for a name that several subcircuits have and the top level has not.
    """
    old = text.split("\n")
    new = list(old)
    for name, value in values:
        netlist = Netlist.parse("\n".join(new).encode(errors="replace"), has_title=has_title)
        first, last = _lines_of(netlist, name)
        lines = "\n".join(new[first:last]).encode(errors="replace")
        part = Netlist.parse(lines, has_title=has_title and first == 0)
        new[first:last] = part.with_value(name, value).to_bytes().decode().split("\n")
    changed = [at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    return [_quoted(old, new, first, last) for first, last in _runs(changed)]


def _lines_of(netlist: Netlist, name: str) -> tuple[int, int | None]:
    """The lines to look at: all of them, or the one card of an element that only a subcircuit has."""
    named = [element for element in netlist.elements if element.key == name.lower()]
    if not named or any(not element.scope for element in named):
        return 0, None
    if len(named) > 1:
        raise CircuitError(
            msg("{name} appears in several subcircuits (lines {lines}).",
                name=name, lines=", ".join(str(element.line) for element in named)),
            advice=msg("Change it in the file itself, or use a language model."),
            error_type="ambiguous_element",
        )  # fmt: skip
    statements = netlist.statements
    following = [statement.line for statement in statements if statement.line > named[0].line]
    return named[0].line - 1, (following[0] - 1 if following else None)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _quoted(old: Sequence[str], new: Sequence[str], first: int, last: int) -> LineChange:
    """The change of some lines, quoted with as many lines around as make the quotation unique."""
    text = "\n".join(old)
    low, high = first, last + 1
    while text.count("\n".join(old[low:high])) > 1 and high - low < len(old):
        low, high = max(low - 1, 0), min(high + 1, len(old))
    return LineChange(
        before="\n".join(old[first : last + 1]),
        after="\n".join(new[first : last + 1]),
        search="\n".join(old[low:high]),
        replace="\n".join([*old[low:first], *new[first : last + 1], *old[last + 1 : high]]),
    )
