"""The DC operating point beside a run: a run of its own, so the circuit's own results stay as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from application.simulation.second_try import run_patiently
from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.hierarchy import read_circuit
from domain.simulation.branch_currents import with_saves
from domain.simulation.operating_point import Inventory, OperatingPoint, inventory_of, operating_point
from domain.simulation.wiring import Wiring, wiring_of
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from pathlib import Path

    from application.ports.simulation import Simulator, WaveformReader
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.circuit.netlist import Netlist
    from domain.simulation.result import SimulationRun

_LONGEST_S = 10.0
"""What takes longer to find its operating point is told without one."""
_MOST_CARDS = 20_000
"""Of a larger circuit no second run is made."""
_PER_CARD = 12
_OTHERS = ANALYSIS_KINDS | {"save", "probe", "print", "plot", "meas", "four", "step", "end"}
"""Directives that a run of `.op` alone has no use for, and that could make it fail."""
_UNKNOWN = re.compile(r"unrecognized variable - (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOperatingPoint:
    """Finds the operating point of a prepared circuit."""

    simulator: Simulator
    waveforms: WaveformReader

    async def __call__(
        self, prepared: PreparedCircuit, folder: Path, *, timeout_s: float
    ) -> OperatingPoint | None:
        """None when there is none, or when it takes too long; `folder` is made, and left to the caller.

        Cancelling ends the run; raises nothing that is about the circuit: the run beside it tells that.
        """
        made = await off_loop(_prepared_for_op, prepared)
        if made is None:
            return None
        deck, inventory, wiring = made
        try:
            await off_loop(folder.mkdir)
            job = await off_loop(lambda: deck.job(folder, timeout_s=min(timeout_s, _LONGEST_S)))
            run = await run_patiently(self.simulator, job)
            return await off_loop(self._read, run, inventory, wiring)
        except CircuitAIError:
            return None

    def _read(self, run: SimulationRun, inventory: Inventory, wiring: Wiring | None) -> OperatingPoint | None:
        plots = [plot for path in run.raw_paths[:1] for plot in self.waveforms.read(path)]
        plot = next((each for each in plots if each.analysis == "op" and each.points), None)
        if plot is None or run.status != "ok":
            return None
        values = {name: float(vector.data.real[0]) for name, vector in plot.vectors.items()}
        log = run.log_path.read_bytes().decode("utf-8", "replace")
        unknown = {name.lower() for name in _UNKNOWN.findall(log)}
        found = operating_point(inventory, values, unknown)
        if wiring is None:
            return found
        from domain.simulation.element_signals import element_points

        known = {name: vector for name, vector in plot.vectors.items() if name not in unknown}
        return replace(found, elements=element_points(replace(plot, vectors=known, elements=None), wiring))


def _prepared_for_op(
    prepared: PreparedCircuit,
) -> tuple[PreparedCircuit, Inventory, Wiring | None] | None:
    """The circuit with `.op` as its one analysis, saving what tells of its devices. Blocking."""
    if len(prepared.tree.expanded) > _MOST_CARDS:
        return None
    if any(source.has_control_block for source in prepared.tree.files.values()):
        return None
    circuit = read_circuit(prepared.tree)
    inventory, wiring = inventory_of(circuit), wiring_of(circuit)
    wanted = inventory.vectors()
    if wiring is not None:
        wiring = with_saves(wiring, {"op"}, is_bounded=False)
        wanted = list(dict.fromkeys((*wanted, *wiring.saved)))
    cards = [".save all", *(f".save {' '.join(wanted[at : at + _PER_CARD])}"
                            for at in range(0, len(wanted), _PER_CARD)), ".op"]  # fmt: skip
    return prepared.edited(_bare(prepared.netlist).with_cards(cards)), inventory, wiring


def _bare(netlist: Netlist) -> Netlist:
    """Without analyses, outputs and commands; lines stay in place."""
    return netlist.without(
        [
            statement
            for statement in netlist.statements
            if statement.kind == "control" or (statement.kind == "directive" and statement.keyword in _OTHERS)
        ]
    )
