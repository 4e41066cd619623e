"""The statements of a whole circuit: each with its file, and read again where a text was changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, overload

from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement


class Placed(NamedTuple):
    """A statement of the whole circuit, where it comes from and the subcircuits around it."""

    netlist: Netlist
    statement: Statement
    outer_scope: tuple[str, ...]
    """Scope of the directive that brought its file in."""

    @property
    def scope(self) -> tuple[str, ...]:
        """Names of the enclosing subcircuits over file borders, lower case."""
        return (*self.outer_scope, *self.statement.scope)

    @property
    def file(self) -> Path | None:
        return self.netlist.path


class ReadAgain(Sequence[Placed]):
    """The statements of a circuit whose texts were changed, read when somebody asks for them.

    Lines stand where they stood: each statement is found again by its line, one that has become a comment is
    gone, and what was added to the end of the root is read last.
    """

    def __init__(self, before: Sequence[Placed], changed: Mapping[Netlist, Netlist], root: Netlist) -> None:
        """`changed`: of each netlist of `before` the one it has become; `root`: that of the main file."""
        self._before = before
        self._changed = changed
        self._root = root

    @cached_property
    def _found(self) -> tuple[Placed, ...]:
        found: list[Placed] = []
        by_line: dict[Netlist, dict[int, Statement]] = {}
        end = 0
        for placed in self._before:
            netlist = self._changed.get(placed.netlist, placed.netlist)
            if netlist is placed.netlist:
                found.append(placed)
                continue
            if netlist not in by_line:
                by_line[netlist] = {card.line: card for card in netlist.statements}
            statement = by_line[netlist].get(placed.statement.line)
            if statement is not None:
                found.append(Placed(netlist, statement, placed.outer_scope))
            if netlist is self._root:
                end = max(end, placed.statement.last_line)
        if self._root in by_line:
            found += [Placed(self._root, card, ()) for card in self._root.statements if card.line > end]
        return tuple(found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Placed: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Placed]: ...
    def __getitem__(self, index: int | slice) -> Placed | Sequence[Placed]:
        return self._found[index]

    def __iter__(self) -> Iterator[Placed]:
        return iter(self._found)
