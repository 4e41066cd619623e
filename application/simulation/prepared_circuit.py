"""A circuit file made ready for a simulator: read with all it includes, edited, its files listed.

Whether it was simulated before just as it would be now is told by everything a run depends on: the deck as
the simulator reads it, the content of every file it includes or reads numbers from, the compatibility mode,
and the simulator's version. A circuit that draws random numbers or has commands of its own (`.control`) gives
something else each time, or does more than compute: no stored run stands for it.
"""

from __future__ import annotations

import hashlib
import json
import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from application.simulation.circuit_files import read_circuit_file
from application.simulation.great_runs import signals_that_fit
from application.simulation.translated_circuits import (
    CircuitTranslator,
    TranslatingReader,
    with_paths_to_ground,
    with_stand_ins,
)
from domain.circuit.analyses import Analysis
from domain.circuit.cards import Measure
from domain.circuit.control_blocks import (
    KeptPlots,
    PlottedCurves,
    assigned_vectors,
    commands_of,
    keeping_plots,
    plotted_curves,
    read_files,
    stops_itself,
    written_folders,
)
from domain.circuit.dependencies import (
    Definer,
    DependencyTree,
    SourceFile,
    SourceReader,
    SourceRefusal,
    resolve_dependencies,
)
from domain.circuit.hierarchy import read_circuit
from domain.circuit.measure_cards import one_name_each, with_nodes_of_par, without_measures
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number
from domain.circuit.parameters import RANDOM_FUNCTIONS
from domain.circuit.simulator_settings import Dialect, SimulatorSettings
from domain.circuit.statements import Statement
from domain.circuit.watched_signals import SHOWING, asked_curves, shown_curves
from domain.simulation.branch_currents import with_saves
from domain.simulation.notes import SimulationNote
from domain.simulation.output_names import outputs_of
from domain.simulation.request import TAKEN_NAMES, ResourceLimits, SimulationJob
from domain.simulation.result import SimulationIssue
from domain.simulation.wiring import MOST_PARTS, Wiring, wiring_of
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import PROJECT_FOLDER, project_root_of

if TYPE_CHECKING:  # a single run needs no numpy to begin
    from application.ports.simulation import SourceReaders
    from domain.simulation.batch import BatchCircuit, Varied

_SCHEME = "4"
"""Raised when our own part of a result (metrics, operating point, steps) comes out differently: then older
runs are redone."""
_PER_CARD = 12
"""Signals on one line of `.save`."""
_ALSO_RANDOM = ("trnoise", "trrandom", "rnd", "sgauss", "sunif")
_RANDOM = re.compile(
    rf"\b(?:{'|'.join(sorted((*RANDOM_FUNCTIONS, *_ALSO_RANDOM)))})\b".encode(), re.IGNORECASE
)


def prepare_circuit(
    sources: SourceReaders,
    circuit: Path,
    *,
    libraries: Sequence[Path] = (),
    user_libraries: Sequence[Path] = (),
    assignments: Sequence[tuple[str, str]] = (),
    analyses: Sequence[str] | None = None,
    settings: SimulatorSettings | None = None,
    dialect: Dialect | None = None,
    data: bytes | None = None,
) -> PreparedCircuit:
    """Read `circuit`, set the `assignments` and replace its analyses by `analyses` (None: its own) in a copy.

    `libraries` are the caller's folders, which have to exist; `user_libraries` those of every circuit.
    `settings` are those of the circuit's project; `dialect` is what the caller says it is written in (None:
    the settings', else told by the text). `data` stands in for what the file holds: a copy that was edited.
    ``corner`` is the process (`domain.studies.corners`), where nothing in the circuit is called so.
    Blocking: called off the loop. Raises UserInputError for what cannot be read, set or analysed.
    """
    for folder in libraries:
        if not folder.is_dir():
            raise UserInputError(
                msg("{path} is not a folder and cannot be used as a library.", path=folder),
                advice=msg("Specify an existing folder with --library."),
            )
    settings = settings or SimulatorSettings()
    folders = (*libraries, *user_libraries, *settings.readable)
    found, real, plain_reader = read_circuit_file(sources, circuit, folders)
    data = found if data is None else data
    translator = CircuitTranslator(settings, dialect, plain_reader)
    reader = TranslatingReader(plain_reader, translator)
    netlist = translator.main(data, real)
    corners = [value for name, value in assignments if _is_corner(netlist, name, value)]
    for name, value in assignments:
        if not _is_corner(netlist, name, value):
            netlist = _assigned(netlist, name, value)
    if analyses is not None:
        netlist = netlist.with_analyses(analyses)
    tree = resolve_dependencies(netlist, reader)
    seen: SourceReader = reader
    for corner in corners[-1:]:
        from domain.studies.corners import Process, with_process

        netlist, texts = with_process(tree, Process(name=corner, sections=(("", corner.strip()),)))
        seen = _SeenAs(reader, texts)
        tree = resolve_dependencies(netlist, seen)
    netlist, tree = with_stand_ins(netlist, tree, translator, seen)
    netlist, tree = with_paths_to_ground(netlist, tree, translator, seen)
    only = _what_fits(netlist, tree, translator)
    data_files = tuple(_data_files(tree, reader, real))
    for path in data_files:
        reader.read(str(path), including_file=real)
    return PreparedCircuit(
        circuit=real,
        sha256=hashlib.sha256(data).hexdigest(),
        lines=len(Netlist.parse(data).source.lines),
        text=data,
        netlist=netlist,
        tree=tree,
        reader=seen,
        data_files=data_files,
        read_beside={
            str(path): digest
            for path, digest in reader.sha256_of.items()
            if path != real and (path in tree.files or path in data_files)
        },
        project=project_root_of(real),
        library_folders=tuple(path.resolve() for path in folders if path.is_dir()),
        dialect=translator.dialect,
        compatibility=translator.compatibility,
        notes=tuple(translator.notes),
        only=only,
    )


def _what_fits(netlist: Netlist, tree: DependencyTree, translator: CircuitTranslator) -> tuple[str, ...]:
    """As `PreparedCircuit.only`; where it is not all, that is told."""
    if translator.dialect != "ltspice":
        return ()
    only = signals_that_fit(tree, netlist.analyses)
    if only:
        told = msg(
            "All voltages of this run would be more than a run may write. Those within subcircuits are left "
            "out, as LTspice leaves them out, and currents other than those of sources. A larger greatest "
            "step in .tran leaves room for all."
        )
        translator.notes.append(SimulationNote(message=told, file=netlist.path, line=1))
    return only


@dataclass(frozen=True, kw_only=True)
class PreparedCircuit:
    """A circuit ready to run."""

    circuit: Path
    sha256: str
    lines: int
    """How many the circuit's file has."""
    text: bytes
    """What the circuit's file holds, as `sha256` has it."""
    netlist: Netlist
    tree: DependencyTree
    reader: SourceReader
    """Through which its includes are seen."""
    data_files: tuple[Path, ...]
    read_beside: Mapping[str, str]
    """SHA-256 of what a run reads beside the circuit's own file (includes, numbers), by path."""
    project: Path | None
    library_folders: tuple[Path, ...]
    dialect: Dialect = "ngspice"
    """What its main file is written in."""
    compatibility: str | None = None
    """ngspice's `ngbehavior` for it; None for ngspice's own ways."""
    notes: tuple[SimulationNote, ...] = ()
    """What was done to it so that ngspice reads it."""
    only: tuple[str, ...] = ()
    """The signals that are saved, where all would be more than a run may write; () for all."""

    def job(self, output_dir: Path, *, timeout_s: float) -> SimulationJob:
        """One run of it whose data go to `output_dir`."""
        kept = self._kept_plots()
        tree, scripts = (self.tree, {}) if kept is None else (kept.tree, kept.scripts)
        deck, companions = without_measures(tree).portable((*TAKEN_NAMES, *scripts))
        saved = () if self.wiring is None else self.wiring.saved
        if saved:
            deck = deck.with_cards([".save all", *_save_cards(saved)])
        if self.only:
            deck = deck.with_cards(_save_cards(self.only))
        return SimulationJob(
            deck=deck.to_bytes(),
            data_files=self.data_files,
            companions={**companions, **scripts},
            deck_path=self.circuit,
            included_files=self._included_files(),
            readable_dirs=self._readable_dirs(),
            hidden_dirs=self._hidden_dirs(),
            analyses=self.analyses(),
            has_control_block=self.has_control_block,
            output_folders=written_folders(commands_of(tree)) if self.has_control_block else (),
            ends_with_commands=kept is not None and kept.quits,
            stop_time_s=self._stop_time(),
            saved_beside=saved,
            output_dir=output_dir,
            compatibility=self.compatibility,
            limits=ResourceLimits(wall_s=timeout_s),
        )

    @cached_property
    def wiring(self) -> Wiring | None:
        """What tells the currents of its elements from the data of a run, with what the run saves for it.

        None for a circuit whose commands may change it under way, and a very large one. A circuit that says
        itself what is saved gets nothing besides. Takes a while for a large circuit at its first use.
        """
        if self.only or self._kept_plots() is not None or len(self.tree.expanded) > MOST_PARTS:
            return None
        wiring = wiring_of(read_circuit(self.tree))
        keywords = {placed.statement.keyword for placed in self.tree.expanded}
        if wiring is None or keywords & {"save", "probe"}:
            return wiring
        return with_saves(wiring, frozenset(analysis.kind for analysis in self.analyses()))

    def _kept_plots(self) -> KeptPlots | None:
        """The copy that writes its plots itself; None for a circuit whose cards ngspice runs."""
        has_analyses = bool(self.analyses())
        if self.has_control_block:
            return keeping_plots(self.tree, has_analyses=has_analyses)
        if has_analyses and stops_itself(self.tree):
            return keeping_plots(self.tree, has_analyses=True, runs=True)
        return None

    def edited(self, netlist: Netlist, texts: Mapping[Path, bytes] | None = None) -> PreparedCircuit:
        """The same circuit with another main netlist, whose includes are found anew, with `texts` in place of
        what files hold (blocking)."""
        reader = _SeenAs(self.reader, texts) if texts else self.reader
        tree = resolve_dependencies(netlist, reader)
        files = tuple(_data_files(tree, reader, self.circuit))
        return replace(self, netlist=netlist, tree=tree, reader=reader, data_files=files)

    def batch_circuit(self, varied: tuple[Varied, ...]) -> BatchCircuit:
        """It as workers load it once, for many runs that differ in `varied`."""
        from domain.simulation.batch import BatchCircuit

        deck, companions = without_measures(self.tree).portable(TAKEN_NAMES)
        return BatchCircuit(
            deck=deck.to_bytes(),
            data_files=self.data_files,
            companions=companions,
            deck_path=self.circuit,
            included_files=self._included_files(),
            readable_dirs=self._readable_dirs(),
            hidden_dirs=self._hidden_dirs(),
            analyses=self.analyses(),
            has_control_block=self.has_control_block,
            varied=varied,
            compatibility=self.compatibility,
        )

    def _included_files(self) -> tuple[Path, ...]:
        return tuple(path for path in self.tree.files if path != self.circuit)

    def _readable_dirs(self) -> tuple[Path, ...]:
        return (*((self.project,) if self.project else ()), *self.library_folders)

    def _hidden_dirs(self) -> tuple[Path, ...]:
        return (self.project / PROJECT_FOLDER,) if self.project else ()

    @cached_property
    def run_hash(self) -> str:
        """SHA-256 (hexadecimal) of all a run of it depends on; "" when no run is like another.

        To be had before the run: a file with numbers that changes under way must not pass for what was run.
        Blocking at its first use: those files are read again.
        """
        return self.content_hash(str(self.circuit), self.sha256)

    def content_hash(self, *circuit: str) -> str:
        """The same of the texts that are simulated alone, wherever they come from (but for `circuit`)."""
        deck, companions = self.tree.portable(TAKEN_NAMES)
        texts = {"": deck.to_bytes(), **companions}
        texts |= {str(path): netlist.to_bytes() for path, netlist in self.tree.files.items()}
        if self.has_control_block or any(_RANDOM.search(text) for text in texts.values()):
            return ""
        parts = [
            ["scheme", _SCHEME],
            ["compatibility", self.compatibility or ""],
            ["circuit", *circuit],
            *(["text", name, hashlib.sha256(text).hexdigest()] for name, text in sorted(texts.items())),
            *(["data", name, digest] for name, digest in sorted(self._data_hashes())),
        ]
        plain = json.dumps(parts, ensure_ascii=True)
        return hashlib.sha256(plain.encode()).hexdigest()

    def fingerprint(self, simulator_version: str) -> str:
        """The key of its stored run: its hash with the simulator's version; "" stays ""."""
        if not self.run_hash:
            return ""
        return hashlib.sha256(f"{self.run_hash} {simulator_version}".encode()).hexdigest()

    def _data_hashes(self) -> Iterator[tuple[str, str]]:
        """The files with numbers and the hash of each."""
        for path in self.data_files:
            found = self.reader.read(str(path), including_file=self.circuit)
            digest = hashlib.sha256(found.data).hexdigest() if isinstance(found, SourceFile) else "unreadable"
            yield str(path), digest

    @property
    def has_control_block(self) -> bool:
        """It, or a file it includes, has commands of its own for the simulator."""
        return self.netlist.has_control_block or any(
            source.has_control_block for source in self.tree.files.values()
        )

    def placed(self, issue: SimulationIssue) -> SimulationIssue:
        """`issue` without a place behind the end of the file, where an analysis of the request stands."""
        if issue.file == self.circuit and issue.line is not None and issue.line > self.lines:
            return replace(issue, file=None, line=None)
        return issue

    def analyses(self) -> tuple[Analysis, ...]:
        """Its analysis cards, those of the included files too."""
        return tuple(
            analysis
            for source in self._sources()
            for analysis in source.analyses
            if (source.path, analysis.line) in self._places
        )

    def measures(self) -> list[tuple[Path, Measure]]:
        """The `.meas` cards of the circuit and of what it includes, with their files, each under its own name
        (domain.circuit.measure_cards)."""
        cards = [
            (source.path or self.circuit, card)
            for source in self._sources()
            for card in source.measures
            if (source.path, card.line) in self._places
        ]
        return one_name_each(with_nodes_of_par(cards, self.tree.expanded))

    def curves(self) -> tuple[PlottedCurves, ...]:
        """What its own commands and cards show; where no node is called an output, also what it measures, and
        the voltages of its loads."""
        plotted = plotted_curves(commands_of(self.tree)) if self.has_control_block else ()
        shown = shown_curves([card for keyword in SHOWING for _, card in self._cards(keyword)])
        nodes = () if self.wiring is None else {node for part in self.wiring.parts for node in part.nodes}
        if self.wiring is None or outputs_of(f"v({node})" for node in nodes):
            return (*plotted, *shown)
        asked = asked_curves([card for _, card in self.fouriers()], [card for _, card in self.measures()])
        loaded = tuple(f"v({node})" for node in self.wiring.loaded)
        return (*plotted, *shown, *asked, *([PlottedCurves(analysis="", expressions=loaded)] * bool(loaded)))

    def assigned(self) -> tuple[str, ...]:
        """The vectors that its own commands set."""
        return assigned_vectors(commands_of(self.tree)) if self.has_control_block else ()

    def digital_notes(self) -> tuple[SimulationNote, ...]:
        """Where the digital nodes are that its commands print: ngspice keeps them in no plot."""
        if not self.has_control_block:
            return ()
        printing = [command for command in commands_of(self.tree) if command.name == "eprint"]
        text = msg(
            "ngspice plots contain no digital nodes: the run's log shows the output of eprint as text."
        )
        return tuple(
            SimulationNote(message=text, file=command.file or self.circuit, line=command.line)
            for command in printing[:1]
        )

    def fouriers(self) -> list[tuple[Path, Statement]]:
        """The `.four` cards of the circuit and of what it includes, with their files."""
        return self._cards("four")

    def _cards(self, keyword: str) -> list[tuple[Path, Statement]]:
        return [
            (source.path or self.circuit, card)
            for source in self._sources()
            for card in source.directives(keyword)
            if (source.path, card.line) in self._places
        ]

    def _sources(self) -> tuple[Netlist, ...]:
        return (self.netlist, *self.tree.files.values())

    @cached_property
    def _places(self) -> frozenset[tuple[Path | None, int]]:
        """Where the statements stand that ngspice really reads (library sections picked out)."""
        return frozenset((placed.file, placed.statement.line) for placed in self.tree.expanded)

    def _stop_time(self) -> float | None:
        for analysis in self.analyses():
            fields = analysis.text.split()
            if analysis.kind == "tran" and len(fields) > 2:
                try:
                    return parse_number(fields[2]) or None
                except ValueError:  # an expression: progress is then not shown
                    return None
        return None


def _save_cards(signals: Sequence[str]) -> list[str]:
    rows = [signals[start : start + _PER_CARD] for start in range(0, len(signals), _PER_CARD)]
    return [f".save {' '.join(row)}" for row in rows]


class _SeenAs(NamedTuple):
    """A SourceReader with other texts in place of what some files hold, by real path."""

    reader: SourceReader
    texts: Mapping[Path, bytes]

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        found = self.reader.read(reference, including_file=including_file)
        if isinstance(found, SourceFile) and found.path in self.texts:
            return found._replace(data=self.texts[found.path], rewritten=True)
        return found

    def find(self, name: str) -> Path | None:
        return self.reader.find(name)

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        return self.reader.defining(name, including_file=including_file)


def _is_corner(netlist: Netlist, name: str, value: str) -> bool:
    """Whether it picks library sections (``corner=SS``): no number, and nothing else is called so."""
    if name.strip().lower() != "corner" or not re.fullmatch(r"\s*[^\W\d][\w.-]*\s*", value):
        return False
    names = [each.name for each in netlist.parameters if not each.scope]
    names += [each.name for each in netlist.elements if not each.scope]
    return not any(each.lower() == "corner" for each in names)


def _assigned(netlist: Netlist, name: str, value: str) -> Netlist:
    """With a quantity set; ``temp`` is the circuit's temperature unless a `.param` is called so."""
    is_parameter = any(parameter.name == "temp" for parameter in netlist.parameters if not parameter.scope)
    if name.strip().lower() != "temp" or is_parameter:
        return netlist.with_value(name, value)
    try:
        degrees = parse_number(value)
    except ValueError as error:
        raise UserInputError(
            msg("{name} must be a temperature in degrees Celsius, not {value}.", name=name, value=value)
        ) from error
    return netlist.with_cards([f".temp {degrees:.15g}"])  # the last one counts


def _data_files(tree: DependencyTree, reader: SourceReader, circuit: Path) -> Iterator[Path]:
    """The data files beside the circuit that may be read; ngspice 39 looks for them in lower case."""
    named = (*tree.data_files, *read_files(commands_of(tree)))
    for name in dict.fromkeys(spelt for written in named for spelt in (written, written.lower())):
        path = Path(os.path.normpath(circuit.parent / name))
        found = reader.read(name, including_file=circuit)
        if isinstance(found, SourceFile) and found.path == path.resolve():
            yield path
