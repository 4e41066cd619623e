"""Findings about a netlist: their form, and the closed list of codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from shared.message import Message

Severity = Literal["error", "warning", "info"]

CODES: dict[str, str] = {
    "after-end": "Cards stand behind .end; ngspice reads them all the same.",
    "bad-analysis": "An analysis card that ngspice refuses, or that hangs it.",
    "bad-expression": "An expression that cannot be read.",
    "bad-value": "A value that is no number, parameter or model.",
    "duplicate-element": "Two elements of one name in the same circuit or subcircuit.",
    "duplicate-model": "A model name defined twice; the first one counts.",
    "duplicate-subcircuit": "A subcircuit name defined twice; the first one counts.",
    "encoding": "The file's encoding, or a byte in a card, is not UTF-8, which ngspice needs.",
    "ends-name": ".ends names another subcircuit than the one it closes.",
    "farad-trap": "F behind a number is femto: 1F is 1e-15.",
    "floating-node": "A node with one terminal on it and nothing that looks at it.",
    "foreign-form": "A card or device in the form of another program.",
    "include-cycle": "A file includes itself, directly or through others.",
    "include-missing": "An included file was not found.",
    "include-refused": "An included file lies outside the allowed folders or is no ordinary file.",
    "inductor-loop": "Inductors (and sources of 0 V DC) form a loop, whose direct current is not defined.",
    "lib-section-missing": "The library has no such section, or the section has no .endl.",
    "lib-without-section": ".lib needs a file and a section.",
    "line-ends": "Line ends that ngspice does not see as such.",
    "mega-trap": "M is milli in SPICE; mega is Meg.",
    "missing-model": "A device line without its model.",
    "missing-plus": "A line that reads like the continuation of the card above.",
    "missing-value": "An element line without its value.",
    "model-level": "A model of a level that ngspice does not have.",
    "model-type": "A model of a type that does not fit the device.",
    "no-analysis": "Nothing in the deck asks for an analysis.",
    "osdi-missing": "A Verilog-A device (N) whose compiled model no command loads.",
    "no-bin": "A MOSFET whose length and width are in no bin of its model.",
    "no-dc-path": "A node without a DC path to ground.",
    "no-ground": "No node 0 in the circuit.",
    "library-model": "A model of the program's own library, which bare ngspice does not find.",
    "include-above": "An included file is found from a folder above the circuit's.",
    "include-otherwise": "An included file is called so in other letter case, or with other slashes.",
    "non-ascii-name": "A name with other than ASCII letters, which ngspice replaces in its results.",
    "number-tail": "Characters behind a number that ngspice ignores: 4k7 is 4k.",
    "parted-value": "A space between a number and its scale or unit: 4.7 k.",
    "parameter-cycle": "Parameters that are defined through each other.",
    "recursive-subcircuit": "A subcircuit that contains itself.",
    "shorted-source": "A voltage source with both ends on one node.",
    "source-loop": "Voltage sources (and inductors) form a loop.",
    "stray-ends": ".ends without .subckt.",
    "stray-directive": ".endc, .endif, .else or .endl without its beginning.",
    "title-is-card": "The first line is the title, but looks like a card.",
    "too-few-nodes": "An element line with too few nodes.",
    "unclosed-bracket": "A quote, brace or parenthesis that is not closed.",
    "unclosed-control": ".control without .endc.",
    "unclosed-if": ".if without .endif.",
    "unclosed-subckt": ".subckt without .ends.",
    "undefined-function": "A function that is not defined.",
    "undefined-model": "A model that is not defined.",
    "undefined-node": "An expression looks at a node that no element touches.",
    "undefined-parameter": "A parameter that is not defined.",
    "undefined-source": "A source or inductor is named that does not exist.",
    "undefined-subcircuit": "A subcircuit that is not defined.",
    "unknown-directive": "A directive ngspice 39 does not know.",
    "unknown-element": "A line that begins like no element.",
    "unknown-subcircuit-parameter": "An X line sets a parameter its subcircuit does not have.",
    "unused-subcircuit": "A subcircuit nobody uses.",
    "wrong-node-count": "An X line with another number of nodes than its subcircuit.",
}
"""Every code `check` can give, with its meaning."""


class Diagnostic(NamedTuple):
    """One finding."""

    severity: Severity
    code: str
    """A key of `CODES`; stable."""
    message: Message
    file: Path | None
    line: int
    """1-based; 1 is the title."""
    column: int | None = None
    """1-based, in characters; None when the whole line is meant."""


class Place(Protocol):
    """Something with a place in a file: a card, a field, a directive that was refused."""

    @property
    def line(self) -> int:
        """1-based line."""

    @property
    def column(self) -> int:
        """1-based column, in characters."""


_NAMES_COMPARED = 50


@dataclass(slots=True, kw_only=True)
class Findings:
    """Collects diagnostics."""

    all: list[Diagnostic] = field(default_factory=list)
    functions: frozenset[str] = frozenset()
    """Known in expressions beside ngspice's own."""

    def has(self, *codes: str) -> bool:
        return any(diagnostic.code in codes for diagnostic in self.all)

    def near(self, name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
        """The known name most like `name`; None behind many findings, where comparing would cost minutes."""
        if len(self.all) >= _NAMES_COMPARED:
            return None
        import difflib

        return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=cutoff)), None)

    def add(
        self,
        severity: Severity,
        code: str,
        message: Message,
        *,
        file: Path | None,
        at: Place | int,
    ) -> None:
        """Note a finding at a card, a field of it, or a line."""
        assert code in CODES, code
        line, column = (at, None) if isinstance(at, int) else (at.line, at.column)
        self.all.append(
            Diagnostic(severity=severity, code=code, message=message, file=file, line=line, column=column)
        )
