"""Circuits written for other programs: LTspice, the simulator of KiCad, PySpice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from application.simulation.prepared_circuit import prepare_circuit
from domain.circuit.exchange.pyspice import pyspice_script
from domain.circuit.exchange.written import written_for
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import SimulatorSettingsStore, SourceReaders

CircuitFormat = Literal["ltspice", "kicad", "pyspice"]
SUFFIXES: dict[CircuitFormat, str] = {"ltspice": ".net", "kicad": ".cir", "pyspice": ".py"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangedCircuit:
    """What was written."""

    path: Path
    missing: tuple[Message, ...]
    """What the other program has no counterpart for: it would simulate another circuit."""
    notes: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExportCircuit:
    """The use case."""

    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]]
    write_file: Callable[[Path, bytes], None]

    async def __call__(
        self, circuit: Path, form: CircuitFormat, target: Path, *, overwrite: bool = False
    ) -> ExchangedCircuit:
        """Write `circuit`, with all it includes, to one file.

        Raises UserInputError for a circuit that cannot be read whole, or a target that is there (or is the
        circuit itself); EnvironmentProblem when it can't be written.
        """
        return await off_loop(self._export, circuit, form, target, overwrite)

    def _export(self, circuit: Path, form: CircuitFormat, target: Path, overwrite: bool) -> ExchangedCircuit:
        if target.exists() and (not overwrite or target.samefile(circuit)):
            raise UserInputError(
                msg("{path} exists already.", path=target),
                advice=msg("Choose another name."),
                file=target,
                error_type="target_exists",
            )
        prepared = prepare_circuit(
            self.sources,
            circuit,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(circuit),
        )
        tree = prepared.tree
        lacking = [each.message for each in tree.refusals] + [each.message for each in tree.cycles]
        lacking += [
            msg("There is no section {section} in {path}.", section=each.section, path=each.target)
            for each in tree.missing_sections
        ]
        if lacking:
            raise UserInputError(
                lacking[0],
                advice=msg("Fix what the circuit includes first."),
                file=circuit,
                error_type="include_missing",
            )
        title = prepared.netlist.title or circuit.name
        statements = [placed.statement for placed in tree.expanded]
        made = (
            pyspice_script(title, statements) if form == "pyspice" else written_for(form, title, statements)
        )
        self.write_file(target, made.text.encode("utf-8"))
        data = tuple(
            msg("{name} is read by the circuit and has to go along.", name=path.name)
            for path in prepared.data_files
        )
        return ExchangedCircuit(path=target, missing=tuple(made.missing), notes=(*made.notes, *data))
