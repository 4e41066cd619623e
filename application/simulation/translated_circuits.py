"""Reading circuits of other SPICEs and design kits: text, variables and dialect set right on the way in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from domain.circuit.dependencies import SourceFile, SourceReader, SourceRefusal
from domain.circuit.dialects import (
    PROGRAMS,
    Dialect,
    Evidence,
    compatibility_mode,
    evidence_in,
    plain_text,
    refuse_encrypted,
)
from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import SimulatorSettings, with_variables
from domain.circuit.translation import translate
from domain.simulation.notes import SimulationNote
from shared.message import msg


@dataclass(slots=True)
class CircuitTranslator:
    """Turns the files of one circuit into what ngspice reads, and remembers what it did."""

    settings: SimulatorSettings
    wanted: Dialect | None = None
    """What the user says it is; None = the settings', else told by the text."""
    dialect: Dialect = "ngspice"
    """Of the circuit's main file."""
    notes: list[SimulationNote] = field(default_factory=list)
    _included: set[Dialect] = field(default_factory=set)

    @property
    def compatibility(self) -> str | None:
        """ngspice's `ngbehavior` for the circuit, once its files were read."""
        return compatibility_mode(self.dialect, frozenset(self._included))

    def main(self, data: bytes, path: Path) -> Netlist:
        """The circuit's main file. Raises UserInputError when it is encrypted."""
        plain = self._plain(data, path)
        netlist = Netlist.parse(plain, path=path)
        evidence = evidence_in(netlist)
        chosen = self.wanted or self.settings.dialect
        self.dialect = chosen or (evidence[0].dialect if evidence else "ngspice")
        if self.dialect != "ngspice":
            self.notes.append(self._dialect_note(path, () if chosen else evidence))
        netlist = self._translated(netlist, self.dialect)
        cards = [model.card for model in self.settings.model_files]
        return netlist.with_cards(cards) if cards else netlist

    def included(self, found: SourceFile) -> SourceFile:
        """An included file. Raises UserInputError when it is encrypted."""
        plain = self._plain(found.data, found.path)
        netlist = Netlist.parse(plain, path=found.path, has_title=False)
        evidence = evidence_in(netlist)
        dialect = evidence[0].dialect if evidence else self.dialect
        self._included.add(dialect)
        data = self._translated(netlist, dialect).to_bytes()
        return found if data == found.data else replace(found, data=data, rewritten=True)

    def _plain(self, data: bytes, path: Path) -> bytes:
        refuse_encrypted(data, path)
        return with_variables(plain_text(data), self.settings.variables)

    def _translated(self, netlist: Netlist, dialect: Dialect) -> Netlist:
        done = translate(netlist, dialect)
        self.notes += [
            SimulationNote(message=text, file=netlist.path, line=line) for line, text in done.notes
        ]
        return done.netlist

    def _dialect_note(self, path: Path, evidence: Sequence[Evidence]) -> SimulationNote:
        program, mode = PROGRAMS[self.dialect], compatibility_mode(self.dialect, frozenset())
        if not evidence:
            return SimulationNote(
                message=msg("Read as a circuit for {program}, as asked for (ngspice mode {mode}).",
                            program=program, mode=mode),
                file=path,
            )  # fmt: skip
        return SimulationNote(
            message=msg("Read as a circuit for {program} (ngspice mode {mode}), because of {word} in line "
                        "{line}.",
                        program=program, mode=mode, word=evidence[0].word, line=evidence[0].line),
            file=path,
            line=evidence[0].line,
        )  # fmt: skip


class TranslatingReader:
    """A SourceReader whose files come translated; each is translated once."""

    def __init__(self, reader: SourceReader, translator: CircuitTranslator) -> None:
        self._reader = reader
        self._translator = translator
        self._known: dict[Path, SourceFile] = {}

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """As `SourceReader.read`. Raises UserInputError for an encrypted library."""
        found = self._reader.read(reference, including_file=including_file)
        if not isinstance(found, SourceFile):
            return found
        if found.path not in self._known:
            self._known[found.path] = self._translator.included(found)
        return self._known[found.path]
