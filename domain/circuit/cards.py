"""The cards of a netlist that define something: `.subckt`, `.model`, `.param`, `.include`, `.meas`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from domain.circuit.statements import Field, Statement, unquoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A `.meas` card."""

    name: str
    """Lower case."""
    analysis: str
    """Lower case: tran, ac, dc, noise ..."""
    text: str
    """The card without its dot, as written: ``meas tran tr trig v(out) ...``."""
    line: int


class Subcircuit(NamedTuple):
    """A `.subckt` card and what belongs to it."""

    name: str
    """As written."""
    ports: tuple[Field, ...]
    params: dict[str, Field]
    """Defaults by lower-case name."""
    line: int
    end_line: int | None
    """Line of its `.ends`; None when it is missing."""
    statement: Statement

    @property
    def path(self) -> tuple[str, ...]:
        """Scope inside it: enclosing subcircuits and itself, lower case."""
        return (*self.statement.scope, self.name.lower())


class Model(NamedTuple):
    """A `.model` card."""

    name: str
    type: str
    """Lower case: d, npn, nmos, sw ..."""
    line: int
    statement: Statement


class Parameter(NamedTuple):
    """One ``name=value`` of a `.param` card."""

    name: str
    """Lower case."""
    value: Field
    line: int
    statement: Statement

    @property
    def scope(self) -> tuple[str, ...]:
        """Names of the enclosing subcircuits, lower case; empty at the top level."""
        return self.statement.scope


class Include(NamedTuple):
    """An `.include` card, or a `.lib` card that names a file."""

    kind: Literal["include", "lib"]
    path: str
    """As written, without quotes; "" when the card names none."""
    section: str | None
    """Library section as written; None for `.include`."""
    line: int
    column: int
    field: Field | None
    statement: Statement


def subcircuit_of(card: Statement, end_line: int | None = None) -> Subcircuit:
    """Read a `.subckt` card."""
    words = card.words
    name = words[1].text if len(words) > 1 else ""
    ports, index = [], 2
    while index < len(words):
        if words[index].key in ("params:", "optional:") or (
            index + 1 < len(words) and words[index + 1].text == "="
        ):
            break
        ports.append(words[index])
        index += 1
    params = {pair.name: pair.value for pair in assignments_of(card)}
    return Subcircuit(
        name=name, ports=tuple(ports), params=params, line=card.line, end_line=end_line, statement=card
    )


def model_of(card: Statement) -> Model | None:
    """Read a `.model` card; None when it has no name."""
    words = card.head(3)
    if len(words) < 2:
        return None
    kind = words[2].key if len(words) > 2 else ""
    return Model(name=words[1].text, type=kind, line=card.line, statement=card)


def device_kind(letter: str, model: Model) -> str:
    """npn, pnp, nmos, pmos, njf, pjf, nmf, pmf or diode; "" for a model that does not fit the letter."""
    if letter == "d":
        return "diode" if model.type == "d" else ""
    if model.type == "vdmos":
        return "pmos" if any(word.key == "pchan" for word in model.statement.words) else "nmos"
    kinds = {"q": ("npn", "pnp"), "m": ("nmos", "pmos"), "j": ("njf", "pjf"), "z": ("nmf", "pmf")}
    return model.type if model.type in kinds[letter] else ""


def assignments_of(card: Statement) -> Iterator[Parameter]:
    """The ``name = value`` pairs of a card. A value runs to the next name that is followed by ``=``."""
    fields = card.fields
    signs = [i for i, f in enumerate(fields) if f.text == "=" and i > 1 and not fields[i - 1].is_punctuation]
    signs = [i for i in signs if not _is_comparison(card.raw, fields[i])]
    for position, sign in enumerate(signs):
        last = signs[position + 1] - 1 if position + 1 < len(signs) else len(fields)
        pieces = [f for f in fields[sign + 1 : last] if f.text != ","] or []
        if not pieces:
            continue
        value = card.field(pieces[0].start, pieces[-1].end)
        name = fields[sign - 1]
        yield Parameter(name=name.key, value=value, line=name.line, statement=card)


def _is_comparison(raw: str, sign: Field) -> bool:
    return raw[sign.start - 1 : sign.start] in {"<", ">", "!", "="} or raw[sign.end : sign.end + 1] == "="


def include_of(card: Statement) -> Include | None:
    """Read an `.include` card, or a `.lib` card; None for one that begins a section."""
    words = card.words
    if card.keyword == "lib" and len(words) == 2:
        return None
    kind: Literal["include", "lib"] = "lib" if card.keyword == "lib" else "include"
    target = words[1] if len(words) > 1 else None
    section = unquoted(words[2].text) if kind == "lib" and len(words) > 2 else None
    path = unquoted(target.text) if target is not None else ""
    place = target if target is not None else words[0]
    return Include(
        kind=kind,
        path=path,
        section=section,
        line=card.line,
        column=place.column,
        field=target,
        statement=card,
    )
