"""Parameters that are called like functions of ngspice, or like what it defines itself in LTspice's mode.

LTspice and PSpice tell the channel length ``Ln`` from ``ln(x)`` by the parenthesis. A `.param VT=2` would be
ngspice's own thermal voltage, 26 mV, without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern

FUNCTIONS = frozenset(
    ("sqr", "sqrt", "sin", "cos", "exp", "ln", "arctan", "abs", "pow", "pwr", "max", "min", "int", "log",
     "log10", "sinh", "cosh", "tanh", "sgn", "gauss", "agauss", "unif", "aunif", "limit", "ceil", "floor",
     "asin", "acos", "atan", "tan", "nint", "ternary_fcn", "vt", "uplim", "dnlim", "pwrs")
)  # fmt: skip
"""Each tried in braces as a parameter's name: ngspice 39 ends, or takes its own (the last four)."""

_STEPPED = late_pattern(r"\.step\s+(?:(?:lin|dec|oct)\s+)?param\s+(?P<name>\w+)", re.IGNORECASE)
_VALUES = late_pattern(r"[\w.]+\s*=|[{']")
_SIGNAL = late_pattern(r"\b[vi]\w*\s*\((?=(?P<inside>[^()]*))", re.IGNORECASE)
_IS_KEY = late_pattern(r"\s*=(?!=)")
_HOLDS_KEYS = frozenset(("x", "param", "subckt"))
"""Cards whose keys are parameters."""


def with_names_apart(netlist: Netlist, known: set[str]) -> Netlist:
    """The file with such parameters called otherwise (``Ln_``); the very same object without one.

    `known` are those of the files that were read before (lower case), to which its own are added.
    """
    names = {parameter.name for parameter in netlist.parameters}
    names |= {key for subcircuit in netlist.subcircuits for key in subcircuit.params}
    for card in netlist.directives("step"):
        if match := _STEPPED.match(card.raw):
            names.add(match["name"].lower())
    known |= names & FUNCTIONS
    if not known:
        return netlist
    word = re.compile(rf"(?<![\w.#$:])(?:{'|'.join(sorted(known))})(?![\w.]|\s*\()", re.IGNORECASE)
    tail = "_"
    while any(f"{name}{tail}" in names for name in known):
        tail += "_"
    edits = []
    for card in netlist.statements:
        for end in _ends_of(card, word) if card.kind in ("element", "directive") else ():
            (span,) = card.span_of(end - 1, end)
            edits.append((span[1], span[1], tail))
    return netlist.edited(edits) if edits else netlist


def _ends_of(card: Statement, word: re.Pattern[str]) -> Iterator[int]:
    """Where the names end on a card; words that are nodes, elements or keys of a model are none."""
    raw = card.raw
    if card.keyword in ("lib", "include"):
        return
    first = re.match(r"\s*\S+\s*", raw) if card.keyword in ("param", "step") else _VALUES.search(raw)
    if first is None:
        return
    at = first.end() if card.keyword in ("param", "step") else first.start()
    signals = (match.span("inside") for match in _SIGNAL.finditer(raw))
    first_in, behind = next(signals, (len(raw), len(raw)))
    for match in word.finditer(raw, at):
        while behind < match.start():
            first_in, behind = next(signals, (len(raw), len(raw)))
        is_key = _IS_KEY.match(raw, match.end()) is not None and card.keyword not in _HOLDS_KEYS
        if not is_key and match.start() < first_in:
            yield match.end()
