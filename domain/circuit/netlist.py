"""A netlist, read without losing a byte and edited without touching what was not meant.

`Netlist.parse(data).to_bytes() == data` for any bytes. Edits give a new Netlist whose bytes differ only
where they must; no edit ever moves an existing line, so that line numbers in the simulator's messages
stay those of the user's file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from domain.circuit.elements import SHAPES, Element, canonical_node, is_value, parse_element
from domain.circuit.numbers import parse_number
from domain.circuit.statements import Field, Source, Statement, read_statements, unquoted
from domain.simulation.request import Analysis
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from domain.circuit.dependencies import DependencyTree

ANALYSIS_KINDS = frozenset({"op", "dc", "ac", "tran", "noise", "tf", "sens", "pz", "disto", "sp", "pss"})
LIBRARY_SUFFIXES = frozenset({".lib", ".inc", ".mod", ".sub", ".model", ".mdl"})
"""Files with these suffixes are fragments to be included: their first line is no title."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcircuit:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A `.model` card."""

    name: str
    type: str
    """Lower case: d, npn, nmos, sw ..."""
    line: int
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
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


class Netlist:
    """An immutable netlist. All views are computed at first use."""

    def __init__(self, data: bytes, *, path: Path | None = None, has_title: bool = True) -> None:
        self._data = data
        self.path = path
        self._has_title = has_title

    @classmethod
    def parse(cls, data: bytes, *, path: Path | None = None, has_title: bool = True) -> Netlist:
        """Read any bytes; nothing is refused. `has_title` is False for files that are included."""
        return cls(data, path=path, has_title=has_title)

    def to_bytes(self) -> bytes:
        """The file's bytes, exactly."""
        return self._data

    @cached_property
    def source(self) -> Source:
        """The bytes with their encoding and physical lines."""
        return Source(self._data)

    @property
    def encoding(self) -> str:
        """utf-8, utf-8-sig, gbk, latin-1, or utf-16 (which ngspice cannot read)."""
        return self.source.encoding

    @property
    def title(self) -> str:
        """The first line, or the last `.title` card; "" for included files."""
        cards = self.directives("title")
        if cards:
            words = cards[-1].text.split(None, 1)
            return words[1] if len(words) > 1 else ""
        first = self.statements[:1]
        return first[0].text if first and first[0].kind == "title" else ""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All cards, the title and control lines among them; comments and blank lines are left out."""
        if self.encoding == "utf-16":
            return ()
        return read_statements(self.source, has_title=self._has_title)

    @cached_property
    def _directives(self) -> dict[str, tuple[Statement, ...]]:
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            if statement.kind == "directive":
                found.setdefault(statement.keyword, []).append(statement)
        return {keyword: tuple(cards) for keyword, cards in found.items()}

    def directives(self, keyword: str) -> tuple[Statement, ...]:
        """The cards of one directive (without its dot; `inc`, `measure`, `macro` ... count as their like)."""
        return self._directives.get(keyword, ())

    def elements_with(self, models: frozenset[str]) -> tuple[Element, ...]:
        """The elements, read knowing the models (lower case) of the included files too."""
        return tuple(
            parse_element(statement, models) for statement in self.statements if statement.kind == "element"
        )

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """All elements in order, those in subcircuits too (see `Element.scope`)."""
        return self.elements_with(frozenset(model.name.lower() for model in self.models))

    @cached_property
    def analyses(self) -> tuple[Analysis, ...]:
        """The analysis cards at the top level."""
        return tuple(
            Analysis(kind=card.keyword, text=card.text.strip()[1:], line=card.line)
            for card in self._analysis_cards
        )

    @property
    def _analysis_cards(self) -> tuple[Statement, ...]:
        return tuple(s for s in self.statements if s.kind == "directive" and s.keyword in ANALYSIS_KINDS)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The `.meas` cards that are complete enough to have a name."""
        return tuple(
            Measure(
                name=card.words[2].key, analysis=card.words[1].key, text=card.text.strip()[1:], line=card.line
            )
            for card in self.directives("meas")
            if len(card.words) > 2
        )

    @cached_property
    def subcircuits(self) -> tuple[Subcircuit, ...]:
        """All `.subckt` cards, nested ones too."""
        ends = self._ends_of()
        return tuple(subcircuit_of(card, ends.get(card.line)) for card in self.directives("subckt"))

    def _ends_of(self) -> dict[int, int]:
        """Line of a `.subckt` -> line of its `.ends`."""
        ends: dict[int, int] = {}
        still_open: list[int] = []
        for statement in self.statements:
            if statement.kind != "directive":
                continue
            if statement.keyword == "subckt":
                still_open.append(statement.line)
            elif statement.keyword == "ends" and still_open:
                ends[still_open.pop()] = statement.line
        return ends

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """All `.model` cards, those in subcircuits too."""
        return tuple(
            Model(
                name=card.words[1].text,
                type=card.words[2].key if len(card.words) > 2 else "",
                line=card.line,
                statement=card,
            )
            for card in self.directives("model")
            if len(card.words) > 1
        )

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All ``name=value`` pairs of `.param` cards, those in subcircuits too."""
        return tuple(pair for card in self.directives("param") for pair in assignments_of(card))

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        """All `.include` cards, and all `.lib` cards that refer to a file."""
        found = [_include(card) for keyword in ("include", "lib") for card in self.directives(keyword)]
        return tuple(sorted((item for item in found if item is not None), key=lambda item: item.line))

    @cached_property
    def has_control_block(self) -> bool:
        """Something in it would be run as a command: `.control` or a `*#` line."""
        return any(statement.kind == "control" for statement in self.statements)

    @property
    def end_line(self) -> int | None:
        """Line of the first `.end`. ngspice goes on reading after it."""
        cards = self.directives("end")
        return cards[0].line if cards else None

    # ---- edits -------------------------------------------------------------------------------

    def with_value(self, name: str, value_text: str) -> Netlist:
        """A value set: of an element (``R1``), an instance parameter (``m1.w``), a `.param`.

        ``x1.r2`` means R2 inside the subcircuit of X1, when X1 is its only instance. Raises
        UserInputError for an unknown name (near names are listed), for one that has no single value,
        and for a value that is no number or braced expression.
        """
        _check_value(value_text)
        edits = _ValueEditor(self).find(name.strip(), value_text.strip())
        return self._edited(edits)

    def with_analyses(self, cards: Sequence[str]) -> Netlist:
        """All analysis cards replaced by `cards` (``ac dec 20 1 10meg``, a leading dot is allowed).

        Old cards become comments where they stand and the new ones go to the end of the file, where
        ngspice reads them too: no existing line moves. Raises UserInputError for a card that is not an
        analysis.
        """
        new_cards = [_checked_analysis(card) for card in cards]
        edits = [(self._first_byte(line), self._first_byte(line), "*") for line in self._lines_of_analyses()]
        ending = self._line_ending()
        if not self.source.lines or not self._data.endswith((b"\n", b"\r")):  # the first line is the title
            new_cards.insert(0, "")
        tail = "".join(card + ending for card in new_cards)
        return self._edited([*edits, (len(self._data), len(self._data), tail)])

    def with_include_paths(self, tree: DependencyTree) -> Netlist:
        """Its own `.include` and `.lib` paths made absolute as resolved in `tree`; lines stay in place.

        Directives that could not be resolved stay as they are. A path with a quote or a line end in it
        stays as it is too: SPICE has no way to write it.
        """
        edits = []
        for include in self.includes:
            target = tree.target_of(self.path, include.line)
            if target is None or include.field is None or re.search(r"[\"'\r\n]", str(target)):
                continue
            start, end = include.field.spans[0][0], include.field.spans[-1][1]
            edits.append((start, end, f'"{target}"'))
        return self._edited(edits)

    def _line_ending(self) -> str:
        view = self.source.view
        if "\n" not in view and "\r" in view:
            return "\r"
        return "\r\n" if view.count("\r\n") * 2 > view.count("\n") else "\n"

    def _lines_of_analyses(self) -> Iterator[int]:
        for card in self._analysis_cards:
            yield from sorted({chunk.line for chunk in card.chunks})

    def _first_byte(self, line: int) -> int:
        found = self.source.lines[line - 1]
        text = self.source.view[found.start : found.end]
        return found.start + len(text) - len(text.lstrip())

    def _edited(self, edits: Sequence[tuple[int, int, str]]) -> Netlist:
        """Replace byte ranges; the new text is written in the file's encoding."""
        encoding = {"utf-8-sig": "utf-8"}.get(self.encoding, self.encoding)
        data = self._data
        for start, end, text in sorted(edits, reverse=True):
            data = data[:start] + text.encode(encoding, errors="replace") + data[end:]
        return Netlist(data, path=self.path, has_title=self._has_title)


def subcircuit_of(card: Statement, end_line: int | None = None) -> Subcircuit:
    """Read a `.subckt` card."""
    words = card.words
    name = words[1].text if len(words) > 1 else ""
    ports, index = [], 2
    while index < len(words):
        if words[index].key == "params:" or (index + 1 < len(words) and words[index + 1].text == "="):
            break
        ports.append(words[index])
        index += 1
    params = {pair.name: pair.value for pair in assignments_of(card)}
    return Subcircuit(
        name=name, ports=tuple(ports), params=params, line=card.line, end_line=end_line, statement=card
    )


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


def _include(card: Statement) -> Include | None:
    words = card.words
    if card.keyword == "lib" and len(words) == 2:
        return None  # the beginning of a section
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


def _check_value(text: str) -> None:
    stripped = text.strip()
    quoted = stripped[:1] + stripped[-1:] in {"{}", "''"} and len(stripped) > 2
    if quoted and "\n" not in stripped and "\r" not in stripped:
        return
    try:
        parse_number(stripped)
    except ValueError:
        raise UserInputError(
            msg("“{value}” is not a value SPICE can read.", value=text),
            advice=msg("Write a number such as 4.7k, 10Meg or 100n, or an expression in braces: {example}.",
                       example="{2*rload}"),
        ) from None  # fmt: skip


_ANALYSIS_SHAPES: dict[str, tuple[str, str]] = {
    "op": (r"op", "op"),
    "dc": (r"dc\s+\S+(\s+\S+){3}(\s+\S+(\s+\S+){3})?", "dc V1 0 5 0.1"),
    "ac": (r"ac\s+(dec|oct|lin)(\s+\S+){3}", "ac dec 20 1 10meg"),
    "tran": (r"tran(\s+\S+){2,4}(\s+uic)?", "tran 1u 10m"),
    "noise": (r"noise\s+v\s*\([^)]*\)\s*\S+\s+(dec|oct|lin)(\s+\S+){3,4}", "noise v(out) V1 dec 10 1 1meg"),
    "tf": (r"tf\s+[vi]\s*\([^)]*\)\s*\S+", "tf v(out) V1"),
    "sens": (r"sens\s+[vi]\s*\([^)]*\)(\s+ac\s+(dec|oct|lin)(\s+\S+){3}|\s+dc)?", "sens v(out)"),
    "pz": (r"pz(\s+\S+){4}\s+(cur|vol)\s+(pol|zer|pz)", "pz in 0 out 0 vol pz"),
    "disto": (r"disto\s+(dec|oct|lin)(\s+\S+){3,4}", "disto dec 10 1k 1meg"),
    "sp": (r"sp\s+(dec|oct|lin)(\s+\S+){3}(\s+\S+)?", "sp dec 10 1meg 1g"),
    "pss": (r"pss(\s+\S+){6,8}(\s+uic)?", "pss 1meg 1u out 1024 10 50 5m"),
}
_NUMERIC_FIELDS = {"ac": (2, 5), "tran": (1, 3), "disto": (2, 5), "sp": (2, 5), "dc": (2, 5)}


def analysis_problem(text: str) -> str | None:
    """None when an analysis card (without its dot) has the right shape, else an example of a right one."""
    kind = text.split(None, 1)[0].lower() if text.split() else ""
    pattern, example = _ANALYSIS_SHAPES[kind]
    if not re.fullmatch(pattern, text.strip(), re.IGNORECASE):
        return example
    fields = text.split()
    first, last = _NUMERIC_FIELDS.get(kind, (0, 0))
    if not all(is_value(word) for word in fields[first:last]):
        return example
    return example if kind == "dc" and any(_is_zero(step) for step in fields[4::4]) else None


def _is_zero(text: str) -> bool:
    """A sweep step of 0: ngspice 39 never ends."""
    try:
        return parse_number(text) == 0
    except ValueError:
        return False


def _checked_analysis(card: str) -> str:
    text = card.strip().removeprefix(".").strip()
    kind = text.split(None, 1)[0].lower() if text else ""
    if kind not in ANALYSIS_KINDS or "\n" in text or "\r" in text:
        raise UserInputError(
            msg("“{text}” is not an analysis ngspice knows.", text=card.strip()),
            advice=msg("Write one such as {examples}.", examples="op, ac dec 20 1 10meg, tran 1u 10m"),
        )
    example = analysis_problem(text)
    if example is not None:
        raise UserInputError(
            msg("“{text}” is not a complete {kind} analysis.", text=text, kind=kind),
            advice=msg("Write it like {example}.", example=example),
        )
    return "." + text


_Edits = list[tuple[int, int, str]]


class _ValueEditor:
    """Finds the bytes a name's value stands in."""

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        self._top = {e.key: e for e in reversed(netlist.elements) if not e.scope}
        self._params = {p.name: p for p in netlist.parameters if not p.scope}  # the last one counts

    def find(self, name: str, value: str) -> _Edits:
        key = name.lower()
        element, parameter = self._top.get(key), self._params.get(key)
        if element is not None and element.value is not None and parameter is not None:
            # `.param R1=1k` with `R1 a b {R1}`: both are meant, the parameter is where the number stands.
            is_same = element.value.text.strip("{}' ").lower() == key
            element = None if is_same else element
        if element is not None:
            return self._element_value(element, value)
        if parameter is not None:
            return _replace(parameter.value, value)
        if "." in key:
            return self._member(name, value)
        raise self._unknown(name)

    def _element_value(self, element: Element, value: str) -> _Edits:
        if element.value is not None:
            return _replace(element.value, value)
        if element.letter in "vi" and len(element.nodes) == 2:
            at = element.nodes[1].spans[-1][1]
            return [(at, at, f" {'DC ' if element.words else ''}{value}")]
        usual = ", ".join(
            f"{element.name}.{p}" for p in [*element.params, *SHAPES[element.letter].parameters][:4]
        )
        raise UserInputError(
            msg("{name} has no single value that could be set.", name=element.name),
            advice=msg("Set one of its parameters, for example {examples}.", examples=usual)
            if usual
            else None,
            file=self._netlist.path,
            line=element.line,
        )

    def _member(self, name: str, value: str) -> _Edits:
        """``m1.w``, ``x1.gain``, or ``x1.r2`` inside a subcircuit."""
        owner_name, _, member = name.lower().partition(".")
        owner = self._top.get(owner_name)
        if owner is None:
            raise self._unknown(name)
        if member in owner.params:
            return _replace(owner.params[member], value)
        if owner.letter != "x":
            if member not in SHAPES[owner.letter].parameters:
                raise self._unknown(name)
            return self._append(owner, member, value)
        subcircuit = self._subcircuit_of(owner)
        if subcircuit is not None and member in subcircuit.params:
            return self._append(owner, member, value)
        if subcircuit is not None:
            inside = [e for e in self._netlist.elements if e.scope == subcircuit.path and e.key == member]
            if inside and self._is_only_instance(owner):
                return self._element_value(inside[0], value)
            if inside:
                raise UserInputError(
                    msg("{name} stands in subcircuit {subckt}, which is used more than once.",
                        name=name, subckt=subcircuit.name),
                    advice=msg("Give the subcircuit a parameter for it, and set that."),
                )  # fmt: skip
        raise self._unknown(name)

    def _append(self, element: Element, member: str, value: str) -> _Edits:
        end = element.statement.fields[-1].spans[-1][1]
        return [(end, end, f" {member}={value}")]

    def _subcircuit_of(self, instance: Element) -> Subcircuit | None:
        if instance.model is None:
            return None
        for subcircuit in self._netlist.subcircuits:
            if subcircuit.name.lower() == instance.model.key and not subcircuit.statement.scope:
                return subcircuit
        return None

    def _is_only_instance(self, instance: Element) -> bool:
        assert instance.model is not None
        target = instance.model.key
        return sum(e.letter == "x" and e.model is not None and e.model.key == target
                   for e in self._netlist.elements) == 1  # fmt: skip

    def _unknown(self, name: str) -> UserInputError:
        known: dict[str, str] = {e.key: e.name for e in self._top.values()}
        known |= {p.name: p.name for p in self._params.values()}
        for element in self._top.values():
            for member in [*element.params, *self._subcircuit_params(element)]:
                known[f"{element.key}.{member}"] = f"{element.name}.{member}"
        near = difflib.get_close_matches(name.lower(), known, n=5, cutoff=0.5) or sorted(known)[:8]
        return UserInputError(
            msg("The netlist has no element or parameter named {name}.", name=name),
            advice=msg("Near names are: {names}.", names=", ".join(known[n] for n in near)) if near else None,
            file=self._netlist.path,
        )

    def _subcircuit_params(self, element: Element) -> Sequence[str]:
        subcircuit = self._subcircuit_of(element) if element.letter == "x" else None
        return tuple(subcircuit.params) if subcircuit is not None else ()


def _replace(target: Field, text: str) -> _Edits:
    """Put `text` where the field is; what lies on further lines of a broken field is taken away."""
    first, *further = target.spans
    return [(*first, text), *((start, end, "") for start, end in further)]


__all__ = [
    "ANALYSIS_KINDS",
    "LIBRARY_SUFFIXES",
    "Element",
    "Include",
    "Measure",
    "Model",
    "Netlist",
    "Parameter",
    "Subcircuit",
    "analysis_problem",
    "canonical_node",
]
