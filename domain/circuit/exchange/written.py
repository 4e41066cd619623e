"""A circuit written for another program, as one file that stands by itself.

The cards are those ngspice reads, of the circuit and of all it includes (library sections picked out), one
after the other. What the other program has no counterpart for is never written as something else: it is told,
and stands in the file as a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.exchange.ltspice_cards import KEPT, LEFT_OUT, NO_ANALYSES, dropped_options, ltspice_card
from domain.circuit.exchange.ltspice_expressions import Unsayable
from domain.circuit.statements import Statement
from shared.message import Message, msg

Target = Literal["ltspice", "kicad"]
_OF_FILES = frozenset({"include", "lib", "endl", "end", "title"})
_CHOICES = frozenset({"if", "elseif", "else", "endif"})
_LINE = 500


@dataclass(slots=True)
class Written:
    """What was made."""

    text: str = ""
    missing: list[Message] = field(default_factory=list)
    """Without which the other program simulates another circuit."""
    notes: list[Message] = field(default_factory=list)
    """What is otherwise there, or left out without harm to the circuit."""


def written_for(target: Target, title: str, statements: Sequence[Statement]) -> Written:
    """The circuit for `target`."""
    return _for_ltspice(title, statements) if target == "ltspice" else _for_kicad(title, statements)


def circuit_cards(statements: Iterable[Statement]) -> list[Statement]:
    """The elements and directives, without what only holds files together."""
    return [
        each
        for each in statements
        if each.kind in ("element", "directive")
        and not (each.kind == "directive" and each.keyword in _OF_FILES)
    ]


def commands_note(statements: Iterable[Statement]) -> list[Message]:
    """What is said of a control block, if there is one."""
    if any(each.kind == "control" for each in statements):
        return [msg("The .control block is left out: its commands are ngspice's own.")]
    return []


def _for_ltspice(title: str, statements: Sequence[Statement]) -> Written:
    made = Written(notes=commands_note(statements))
    lines = [f"* {one_line(title)}", "* For LTspice."]
    for each in circuit_cards(statements):
        try:
            card = _ltspice_card(each, made)
        except Unsayable as error:
            card = ""
            told = msg(
                "Line {line}, {card}: {reason}.", line=each.line, card=_head(each), reason=error.reason
            )
            (made.notes if each.keyword == "meas" and each.kind == "directive" else made.missing).append(told)
        lines.append(card or f"* {one_line(each.text)}")
    made.text = "\n".join((*lines, ".end", ""))
    return made


def _ltspice_card(each: Statement, made: Written) -> str:
    if each.kind == "directive":
        if each.keyword in LEFT_OUT:
            return ""
        if each.keyword in NO_ANALYSES or each.keyword not in KEPT:
            if each.keyword in _CHOICES:
                raise Unsayable(".if")
            made.notes.append(msg("Line {line}: LTspice has no .{card}.", line=each.line, card=each.keyword))
            return ""
        if each.keyword == "options" and (gone := dropped_options(each.text)):
            made.notes.append(
                msg("Line {line}: options that LTspice does not have: {names}.",
                    line=each.line, names=", ".join(gone))
            )  # fmt: skip
    return "\n+ ".join(_cut(ltspice_card(each)))


def _for_kicad(title: str, statements: Sequence[Statement]) -> Written:
    """KiCad simulates by ngspice; its deck is made of the sheet, which includes this file."""
    made = Written(notes=commands_note(statements))
    lines = [
        f"* {one_line(title)}",
        '* For the simulator of KiCad. Put this text on a sheet:  .include "THIS FILE"',
        "* and the analysis as another text, one of:",
    ]
    cards = []
    for each in circuit_cards(statements):
        text = one_line(each.text)
        if each.kind == "directive" and each.keyword in ANALYSIS_KINDS:
            lines.append(f"*   {text}")
        elif each.kind == "directive" and each.keyword in ("step", "print", "plot", "save", "probe", "width"):
            cards.append(f"* {text}")
            if each.keyword == "step":
                made.notes.append(msg("Line {line}: KiCad has no .step.", line=each.line))
        else:
            cards.append("\n+ ".join(_cut(text)))
    made.notes.append(msg("In KiCad's simulator, choose the compatibility mode NGspice."))
    made.text = "\n".join((*lines, *cards, ""))
    return made


def one_line(text: str) -> str:
    """A card or title as one line."""
    return " ".join(text.split())


def _head(statement: Statement) -> str:
    return one_line(statement.text).split(" ", 1)[0][:40]


def _cut(text: str) -> list[str]:
    """A long card in pieces, at its blanks outside of braces."""
    pieces, rest = [], text
    while len(rest) > _LINE:
        blanks = [at for at in range(1, _LINE) if rest[at] == " " and _is_outside(rest[:at])]
        if not blanks:
            break
        pieces.append(rest[: blanks[-1]])
        rest = rest[blanks[-1] + 1 :]
    return [*pieces, rest]


def _is_outside(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("'") % 2 == 0
