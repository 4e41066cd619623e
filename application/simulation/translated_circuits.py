"""Reading circuits of other SPICEs and design kits: text, variables and dialect set right on the way in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.dependencies import (
    Definer,
    DependencyTree,
    Refusal,
    SourceFile,
    SourceReader,
    SourceRefusal,
    resolve_dependencies,
)
from domain.circuit.diagnostics import diagnose
from domain.circuit.dialects import (
    PROGRAMS,
    QSPICE_TITLE,
    Evidence,
    compatibility_mode,
    evidence_in,
    functions_of_mode,
    plain_text,
    refuse_encrypted,
    refuse_endless,
    refuse_schematic,
    utf8_text,
)
from domain.circuit.foreign_pwl import MOST_BYTES_OF_POINTS
from domain.circuit.hierarchy import read_circuit
from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import Dialect, SimulatorSettings, with_variables
from domain.circuit.stand_ins import lacks_only_known_parts, stand_ins_for
from domain.circuit.wiring_checks import floating_nodes
from domain.simulation.notes import SimulationNote
from shared.message import msg

if TYPE_CHECKING:
    from domain.circuit.translation import Instances

_MOST_NAMED = 6
_LONGEST_CARD = 60


@dataclass(slots=True)
class CircuitTranslator:
    """Turns the files of one circuit into what ngspice reads, and remembers what it did."""

    settings: SimulatorSettings
    wanted: Dialect | None = None
    """What the user says it is; None = the settings', else told by the text."""
    sources: SourceReader | None = None
    """Where libraries are looked up; None: nowhere."""
    dialect: Dialect = "ngspice"
    """Of the circuit's main file."""
    notes: list[SimulationNote] = field(default_factory=list)
    may_lack_parts: bool = False
    """A library that comes with LTspice or PSpice was named: stand-ins may be of use."""
    _included: set[Dialect] = field(default_factory=set)
    _named: dict[str, set[str]] = field(default_factory=dict)
    """By the name of an LTspice file's file (lower case) the directives that bring it in."""
    _instances: Instances | None = None

    @property
    def compatibility(self) -> str | None:
        """ngspice's `ngbehavior` for the circuit, once its files were read."""
        return compatibility_mode(self.dialect, frozenset(self._included))

    def main(self, data: bytes, path: Path) -> Netlist:
        """The circuit's main file. Raises UserInputError when it is encrypted or endless."""
        refuse_schematic(data, path)
        plain = self._plain(data, path)
        netlist = Netlist.parse(plain, path=path)
        evidence = evidence_in(netlist)
        chosen = self.wanted or self.settings.dialect
        self.dialect = chosen or (evidence[0].dialect if evidence else "ngspice")
        if self.dialect != "ngspice":
            self.notes.append(self._dialect_note(path, () if chosen else evidence))
        netlist = self._translated(netlist, self.dialect, has_title=True)
        cards = [model.card for model in self.settings.model_files]
        return netlist.with_cards(cards) if cards else netlist

    def included(self, found: SourceFile) -> SourceFile:
        """An included file. Raises UserInputError when it is encrypted or endless."""
        plain = self._plain(found.data, found.path).removeprefix(codecs.BOM_UTF8)  # part of a name to ngspice
        netlist = Netlist.parse(plain, path=found.path, has_title=False)
        evidence = evidence_in(netlist)
        dialect = evidence[0].dialect if evidence else self.dialect
        self._included.add(dialect)
        if self.dialect == "ltspice" and self._named.get(found.path.name.lower()) == {"lib"}:
            netlist = self._definitions_alone(netlist)
        data = self._translated(netlist, dialect, has_title=False).to_bytes()
        return found if data == found.data else found._replace(data=data, rewritten=True)

    def _definitions_alone(self, netlist: Netlist) -> Netlist:
        """Without elements outside of its subcircuits: LTspice takes none of a library that `.lib` names, so
        that a line of prose ("License Statement.") does no harm there."""
        loose = [card for card in netlist.statements if card.kind == "element" and not card.scope]
        if not loose:
            return netlist
        first = loose[0]
        card = first.text.strip()[:_LONGEST_CARD]
        text = msg("LTspice takes only definitions from a library: “{card}” was left out.", card=card)
        if len(loose) > 1:
            text = msg(
                "LTspice takes only definitions from a library: {count} elements outside of its subcircuits "
                "were left out, the first is “{card}”.",
                count=len(loose),
                card=card,
            )
        self.notes.append(SimulationNote(message=text, file=netlist.path, line=first.line))
        lines = netlist.source.lines
        starts = sorted({lines[chunk.line - 1].start for card in loose for chunk in card.chunks})
        return netlist.edited([(start, start, "* ") for start in starts])

    def _plain(self, data: bytes, path: Path) -> bytes:
        refuse_encrypted(data, path)
        refuse_endless(data, path)
        return with_variables(plain_text(data), self.settings.variables)

    def _translated(self, netlist: Netlist, dialect: Dialect, *, has_title: bool) -> Netlist:
        if dialect == "ngspice":
            return netlist
        # Most circuits are ngspice's own: its patterns and tables are not theirs to wait for.
        from domain.circuit.translation import Instances, translate

        self._instances = self._instances or Instances()
        path = netlist.path
        if dialect in ("ltspice", "pspice") and not netlist.encoding.startswith("utf"):
            text = utf8_text(netlist.to_bytes(), netlist.encoding)
            netlist = Netlist.parse(text, path=path, has_title=has_title)
        for card in (*netlist.directives("lib"), *netlist.directives("include")):
            name = re.split(r"[\\/]", " ".join(word.text for word in card.words[1:]).strip("\"' "))[
                -1
            ].lower()
            self._named.setdefault(name, set()).add(card.keyword)
        find = None if self.sources is None or path is None else lambda name: self._find(name, path)
        read = None if self.sources is None or path is None else lambda name: self._points(name, path)
        done = translate(netlist, dialect, find=find, read=read, instances=self._instances)
        self.may_lack_parts = self.may_lack_parts or done.may_lack_parts
        self.notes += [
            SimulationNote(message=text, file=netlist.path, line=line) for line, text in done.notes
        ]
        return done.netlist

    def _find(self, reference: str, including_file: Path) -> str | None:
        """The path of a library here: as it is named, else of a file of that name."""
        assert self.sources is not None
        found = self.sources.read(reference, including_file=including_file)
        if isinstance(found, SourceFile):
            return str(found.path)
        by_name = self.sources.find(reference.rpartition("/")[2])
        return None if by_name is None else str(by_name)

    def _points(self, reference: str, including_file: Path) -> str | None:
        """The text of a file of points, by its path or, of one on another computer, by its name."""
        assert self.sources is not None
        found = self.sources.read(reference, including_file=including_file)
        if not isinstance(found, SourceFile):
            by_name = self.sources.find(reference.rpartition("/")[2])
            found = (
                found if by_name is None else self.sources.read(str(by_name), including_file=including_file)
            )
        is_text = isinstance(found, SourceFile) and len(found.data) <= MOST_BYTES_OF_POINTS
        return found.data.decode("latin-1") if is_text and isinstance(found, SourceFile) else None

    def _dialect_note(self, path: Path, evidence: Sequence[Evidence]) -> SimulationNote:
        program, mode = PROGRAMS[self.dialect], compatibility_mode(self.dialect, frozenset())
        if not evidence:
            return SimulationNote(
                message=msg("Read by the rules of {program}, as requested (ngspice mode {mode}).",
                            program=program, mode=mode),
                file=path,
            )  # fmt: skip
        program = "QSPICE" if evidence[0].word == QSPICE_TITLE else program
        return SimulationNote(
            message=msg(
                "Read by the rules of {program} (ngspice mode {mode}) because of {word} on line {line}.",
                line=evidence[0].line,
                mode=mode,
                program=program,
                word=evidence[0].word,
            ),
            file=path,
            line=evidence[0].line,
        )


def with_stand_ins(
    netlist: Netlist, tree: DependencyTree, translator: CircuitTranslator, reader: SourceReader
) -> tuple[Netlist, DependencyTree]:
    """The circuit with models of ours for parts of LTspice's and PSpice's own libraries that are not here."""
    lost = _lost_libraries(netlist, tree, translator)
    if not translator.may_lack_parts and not lost:
        return netlist, tree
    circuit = read_circuit(tree)
    if lost and lacks_only_known_parts(circuit) and not _lacks_parameters(netlist, tree, translator):
        netlist = netlist.edited([(start, start, "* ") for start in lost.values()])
        translator.notes += [
            SimulationNote(
                message=msg("The file {file} was not found. Generic models take the place of its parts.",
                            file=refusal.reference),
                file=refusal.file,
                line=refusal.line,
            )
            for refusal in lost
        ]  # fmt: skip
        tree = resolve_dependencies(netlist, reader)
    elif not translator.may_lack_parts:
        return netlist, tree
    stand_ins = stand_ins_for(circuit)
    if not stand_ins:
        return netlist, tree
    translator.notes += [
        SimulationNote(
            message=msg("{name} is not defined here; it may be built into {program}. Our generic {kind} is "
                        "used in its place: currents, speed and limits only roughly match the real part.",
                        name=item.name, kind=item.kind, program=PROGRAMS[translator.dialect]),
            file=item.file,
            line=item.line,
        )
        for item in stand_ins
    ]  # fmt: skip
    completed = netlist.with_cards([card for item in stand_ins for card in item.cards])
    return completed, resolve_dependencies(completed, reader)


def _lacks_parameters(netlist: Netlist, tree: DependencyTree, translator: CircuitTranslator) -> bool:
    """Whether the circuit's own file has undefined parameters: a lost file may be no library of parts."""
    found = diagnose(netlist, tree, functions=functions_of_mode(translator.compatibility))
    return any(each.code == "undefined-parameter" and each.file == netlist.path for each in found)


def _lost_libraries(
    netlist: Netlist, tree: DependencyTree, translator: CircuitTranslator
) -> dict[Refusal, int]:
    """Libraries the circuit's own file names that are not here, with where their lines begin: parts that are
    only in LTspice users' own folders."""
    if translator.dialect != "ltspice":
        return {}
    lines = netlist.source.lines
    return {
        refusal: lines[refusal.line - 1].start
        for refusal in tree.refusals
        if refusal.file == netlist.path and refusal.reference and refusal.refusal.reason in _NOT_HERE
    }


_NOT_HERE = ("missing", "outside")


def with_paths_to_ground(
    netlist: Netlist, tree: DependencyTree, translator: CircuitTranslator, reader: SourceReader
) -> tuple[Netlist, DependencyTree]:
    """LTspice warns of a node that floats and goes on, where ngspice finds the equations singular: what is
    LTspice's gets 1 TOhm to ground there; where such a node is in a subcircuit, from every node."""
    if translator.dialect != "ltspice":
        return netlist, tree
    found = floating_nodes(read_circuit(tree), tree)
    floating = (*found.of_top, *found.within)
    if not floating:
        return netlist, tree
    names = [node for node in dict.fromkeys(floating) if "#" not in node] or list(floating)  # his, not ours
    named = ", ".join(names[:_MOST_NAMED]) + (" ..." if len(names) > _MOST_NAMED else "")
    text = msg(
        "Without a DC path to ground, as LTspice allows: {nodes}. Each node has 1 TΩ to ground in this run.",
        nodes=named,
    )
    translator.notes.append(SimulationNote(message=text, file=netlist.path, line=1))
    paths = [
        f"r_to_ground_{number} {node} 0 1e12 noisy=0" for number, node in enumerate(found.of_top, start=1)
    ]
    completed = netlist.with_cards([".options rshunt=1e12"] if found.within else paths)
    return completed, resolve_dependencies(completed, reader)


class TranslatingReader:
    """A SourceReader whose files come translated; each is translated once."""

    def __init__(self, reader: SourceReader, translator: CircuitTranslator) -> None:
        self._reader = reader
        self._translator = translator
        self._known: dict[Path, SourceFile] = {}
        self.sha256_of: dict[Path, str] = {}
        """Of the files as they were first read, untranslated."""

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """As `SourceReader.read`. Raises UserInputError for an encrypted library."""
        found = self._reader.read(reference, including_file=including_file)
        if not isinstance(found, SourceFile):
            return found
        if found.path not in self._known:
            import hashlib  # 3 ms that `check` needs for nothing else

            self.sha256_of[found.path] = hashlib.sha256(found.data).hexdigest()
            self._known[found.path] = self._translator.included(found)
        return self._known[found.path]

    def find(self, name: str) -> Path | None:
        return self._reader.find(name)

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        return self._reader.defining(name, including_file=including_file)
