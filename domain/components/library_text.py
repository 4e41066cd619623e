"""A library file of another maker as it would be kept here: what it holds, what it is written for, what of it
would not be a library's.

Lines of a circuit (elements and analyses at its top level, commands, `.end`) become comments: a circuit that
includes the file would take them in. Syntax of another simulator is rewritten where `translation` can.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from domain.circuit.dialects import (
    compatibility_mode,
    evidence_in,
    plain_text,
    refuse_encrypted,
    refuse_endless,
    refuse_schematic,
    utf8_text,
)
from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import Dialect
from domain.circuit.statements import Statement
from domain.components.component import Component
from domain.components.reading import read_components
from shared.message import Message

_KEPT = frozenset({
    "subckt", "ends", "macro", "eom", "model", "param", "func", "lib", "endl", "include", "options", "global",
    "if", "elseif", "else", "endif", "temp", "csparam",
})  # fmt: skip
"""Directives that a library may have at its top level."""
_TITLE_SUFFIXES = (".cir", ".ckt", ".sp", ".spi", ".spice", ".net", ".cki")


class LibraryNote(NamedTuple):
    """What is to be said of a line."""

    line: int
    text: Message


class LibraryText(NamedTuple):
    """One library file, read."""

    name: str
    """Of the file."""
    text: bytes
    """As it would be kept: UTF-8, lines of a circuit commented out."""
    converted: bytes
    """The same in ngspice's words; `text` itself where there is nothing to rewrite."""
    dialect: Dialect
    evidence: str
    """The word that tells the dialect; "" for ngspice's own."""
    evidence_line: int
    mode: str | None
    """ngspice's `ngbehavior` in which `converted` counts as a file of this dialect."""
    notes: tuple[LibraryNote, ...]
    """What could not be rewritten, or means something else."""
    components: tuple[Component, ...]
    """Of `text`, in its order; places are those of `text`, which has the lines of the file."""
    converted_components: tuple[Component, ...]
    """Of `converted`: the same ones, where rewriting has added lines at other places."""
    circuit_lines: tuple[int, ...]
    """Lines of a circuit, which are comments in `text`."""
    includes: tuple[tuple[int, str], ...]
    """Line and path of each other file that it leans on."""


def read_library_text(data: bytes, file: str) -> LibraryText:
    """Read a file. Raises UserInputError for one that is encrypted, a drawing, or endless.

    Lines stay where they are: places in `text` are those in the file.
    """
    name = file.replace("\\", "/").rpartition("/")[2]
    refuse_encrypted(data, Path(name))
    refuse_schematic(data, Path(name))
    plain = plain_text(data).removeprefix(codecs.BOM_UTF8)
    refuse_endless(plain, Path(name))
    netlist = Netlist.parse(plain, has_title=False)
    if b"\0" in plain[:4096]:
        return _unread(name, plain, read_components(plain, file))
    if not netlist.encoding.startswith("utf"):
        netlist = Netlist.parse(utf8_text(plain, netlist.encoding), has_title=False)
    has_title = name.lower().endswith(_TITLE_SUFFIXES)
    of_circuit = [each for each in netlist.statements if _is_circuits(each, has_title=has_title)]
    evidence = evidence_in(netlist)
    netlist = netlist.without(of_circuit) if of_circuit else netlist
    dialect: Dialect = evidence[0].dialect if evidence else "ngspice"
    converted, notes = netlist, tuple[LibraryNote, ...]()
    if dialect != "ngspice":
        from domain.circuit.translation import translate

        done = translate(netlist, dialect)
        converted = done.netlist
        notes = tuple(LibraryNote(line, text) for line, text in done.notes)
    text = netlist.to_bytes()
    components = read_components(text, file)
    theirs = components if converted is netlist else read_components(converted.to_bytes(), file)
    if len(theirs) != len(components):  # what it is then nobody knows: kept as it is written
        converted, theirs = netlist, components
    return LibraryText(
        name=name,
        text=text,
        converted=converted.to_bytes(),
        dialect=dialect,
        evidence=evidence[0].word if evidence else "",
        evidence_line=evidence[0].line if evidence else 0,
        mode=compatibility_mode(dialect, frozenset()) if dialect != "ngspice" else None,
        notes=notes,
        components=components,
        converted_components=theirs,
        circuit_lines=tuple(sorted({each.line for each in of_circuit})),
        includes=tuple((each.line, each.path) for each in netlist.includes if each.path),
    )


def _unread(name: str, data: bytes, components: tuple[Component, ...]) -> LibraryText:
    return LibraryText(name, data, data, "ngspice", "", 0, None, (), components, components, (), ())


def _is_circuits(statement: Statement, *, has_title: bool) -> bool:
    """Whether a statement is a circuit's, not a library's."""
    if statement.kind == "control":
        return True
    if statement.scope:
        return False
    if statement.kind in ("title", "unknown"):
        return True
    if statement.line == 1 and has_title:
        return not (statement.kind == "directive" and statement.keyword in _KEPT)
    if statement.kind == "element":
        return True
    return statement.kind == "directive" and statement.keyword not in _KEPT


def with_pin_lines(text: bytes, lines: Sequence[tuple[int, str]]) -> bytes:
    """With comments in front of these lines (from 1)."""
    if not lines:
        return text
    netlist = Netlist.parse(text, has_title=False)
    starts = netlist.source.lines
    edits = [
        (starts[line - 1].start, starts[line - 1].start, told + netlist.line_ending) for line, told in lines
    ]
    return netlist.edited(edits).to_bytes()
