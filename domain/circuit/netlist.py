"""A netlist, read without losing a byte and edited without touching what was not meant.

`Netlist.parse(data).to_bytes() == data` for any bytes. Edits give a new Netlist whose bytes differ only
where they must; no edit ever moves an existing line, so that line numbers in the simulator's messages
stay those of the user's file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from domain.circuit.analyses import ANALYSIS_KINDS, Analysis, checked_analysis
from domain.circuit.cards import (
    Include,
    Measure,
    Model,
    Parameter,
    Subcircuit,
    assignments_of,
    include_of,
    model_of,
    subcircuit_of,
)
from domain.circuit.elements import Element, parse_element
from domain.circuit.statements import Source, Statement, read_statements

LIBRARY_SUFFIXES = frozenset({".lib", ".inc", ".mod", ".sub", ".model", ".mdl"})
"""Files with these suffixes are fragments to be included: their first line is no title."""
CIRCUIT_SUFFIXES = frozenset({".cir", ".ckt", ".sp", ".spi", ".spice", ".net", ".cki"})
"""Of files whose first line is the title."""
NETLIST_SUFFIXES = CIRCUIT_SUFFIXES | LIBRARY_SUFFIXES

_SHORT = 16 * 1024
"""Bytes of a text that is remembered once it was read: of a circuit, not of a library."""


class Netlist:
    """An immutable netlist. All views are computed at first use."""

    def __init__(self, data: bytes, *, path: Path | None = None, has_title: bool = True) -> None:
        self._data = data
        self.path = path
        self.has_title = has_title
        """It is a circuit, whose first line is its title, and not a file that is included."""
        self._elements_read: tuple[frozenset[str], dict[int, Element]] = (frozenset(), {})

    @classmethod
    def parse(cls, data: bytes, *, path: Path | None = None, has_title: bool = True) -> Netlist:
        """Read any bytes; nothing is refused. `has_title` is False for files that are included.

        The same text is read once: checked, hashed, judged and run, a step asks for it several times.
        """
        if len(data) > _SHORT:
            return cls(data, path=path, has_title=has_title)
        return _read_lately(data, path, has_title)

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
        if len(self._data) > _SHORT:
            return read_statements(self.source, has_title=self.has_title)
        return _statements_lately(self._data, self.has_title)

    @property
    def cards_sha256(self) -> str:
        """Of the cards alone: the same whatever comments, blank lines and white space there are."""
        cards = "\n".join(" ".join(statement.text.split()) for statement in self.statements)
        import hashlib

        return hashlib.sha256(cards.encode("utf-8", "surrogateescape")).hexdigest()

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
            self.element_with(statement, models)
            for statement in self.statements
            if statement.kind == "element"
        )

    def element_with(self, statement: Statement, models: frozenset[str]) -> Element:
        """One of its element lines, likewise; read once as long as the models are the same."""
        known, read = self._elements_read
        if models is not known:
            read = read if models == known else {}
            self._elements_read = models, read  # at once: threads share a netlist
        found = read.get(statement.line)
        if found is None:
            found = read[statement.line] = parse_element(statement, models)
        return found

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
        found = (model_of(card) for card in self.directives("model"))
        return tuple(model for model in found if model is not None)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All ``name=value`` pairs of `.param` cards, those in subcircuits too."""
        return tuple(pair for card in self.directives("param") for pair in assignments_of(card))

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        """All `.include` cards, and all `.lib` cards that refer to a file."""
        found = [include_of(card) for keyword in ("include", "lib") for card in self.directives(keyword)]
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
        from domain.circuit.value_edits import value_edits

        edits = value_edits(self, name.strip(), value_text.strip())
        return self.edited(edits)

    def with_parameter(self, name: str, value_text: str) -> Netlist:
        """A top-level `.param` set, also where an element has its name. Raises KeyError where there is none,
        UserInputError for a value that SPICE cannot read.
        """
        from domain.circuit.value_edits import parameter_edits

        return self.edited(parameter_edits(self, name.strip(), value_text.strip()))

    def with_analyses(self, cards: Sequence[str]) -> Netlist:
        """All analysis cards replaced by `cards` (``ac dec 20 1 10meg``, a leading dot is allowed).

        Old cards become comments where they stand and the new ones go to the end of the file, where
        ngspice reads them too: no existing line moves. Raises UserInputError for a card that is not an
        analysis.
        """
        new_cards = [checked_analysis(card) for card in cards]
        return self.edited([*self._commented(self._analysis_cards), self._at_end(new_cards)])

    def without(self, statements: Sequence[Statement]) -> Netlist:
        """These of its cards turned into comments where they stand: no line moves."""
        return self.edited(self._commented(statements))

    def with_cards(self, cards: Sequence[str]) -> Netlist:
        """Lines added at the end of the file, where ngspice reads them too (also behind `.end`)."""
        return self.edited([self._at_end(list(cards))])

    def with_cards_before_end(self, cards: Sequence[str]) -> Netlist:
        """The same before its `.end`, for a text that is read by people and other simulators too: what
        stands from there on moves."""
        line = self.end_line
        if not cards:
            return self
        if line is None:
            return self.with_cards(cards)
        at = self.source.lines[line - 1].start
        return self.edited([(at, at, "".join(card + self.line_ending for card in cards))])

    def _at_end(self, cards: list[str]) -> tuple[int, int, str]:
        if not self.source.lines or not self._data.endswith((b"\n", b"\r")):  # the first line is the title
            cards = ["", *cards]
        return len(self._data), len(self._data), "".join(card + self.line_ending for card in cards)

    @property
    def line_ending(self) -> str:
        view = self.source.view
        if "\n" not in view and "\r" in view:
            return "\r"
        return "\r\n" if view.count("\r\n") * 2 > view.count("\n") else "\n"

    def _commented(self, statements: Sequence[Statement]) -> list[tuple[int, int, str]]:
        lines = {chunk.line for card in statements for chunk in card.chunks}
        return [(self._first_byte(line), self._first_byte(line), "*") for line in sorted(lines)]

    def _first_byte(self, line: int) -> int:
        found = self.source.lines[line - 1]
        text = self.source.view[found.start : found.end]
        return found.start + len(text) - len(text.lstrip())

    def edited(self, edits: Sequence[tuple[int, int, str]]) -> Netlist:
        """A copy with byte ranges (first, behind the last) replaced by text in the file's encoding."""
        encoding = {"utf-8-sig": "utf-8"}.get(self.encoding, self.encoding)
        data = self._data
        kept: list[bytes] = []
        behind = len(data)
        for start, end, text in sorted(edits, reverse=True):
            kept += (data[end:behind], text.encode(encoding, errors="replace"))
            behind = start
        kept.append(data[:behind])
        return Netlist(b"".join(reversed(kept)), path=self.path, has_title=self.has_title)


@lru_cache(maxsize=16)
def _statements_lately(data: bytes, has_title: bool) -> tuple[Statement, ...]:
    """Of texts that are read under several paths: as the file, as what is checked, as what is run."""
    return read_statements(Source(data), has_title=has_title)


@lru_cache(maxsize=16)
def _read_lately(data: bytes, path: Path | None, has_title: bool) -> Netlist:
    return Netlist(data, path=path, has_title=has_title)
