"""File > Export the circuit: the circuit that F5 runs, written for another program."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.app import Application
from application.simulation.exchanging import SUFFIXES, CircuitFormat
from presentation.ui.questions import choose_target, tell
from presentation.ui.workspace import WindowServices
from shared.message import msg

_PROGRAMS: dict[CircuitFormat, str] = {
    "ltspice": "LTspice",
    "kicad": "KiCad",
    "pyspice": "PySpice",
}


def export_circuit(services: WindowServices, app: Application, window: QWidget, form: CircuitFormat) -> None:
    root, circuit = services.workspace.root, services.workspace.run_target
    if root is not None and circuit is not None:
        work = _export(services, app, window, circuit, form=form)
        services.start(work, kind="export circuit")


async def _export(
    services: WindowServices,
    app: Application,
    window: QWidget,
    circuit: Path,
    *,
    form: CircuitFormat,
) -> None:
    workspace, program = services.workspace, _PROGRAMS[form]
    start = circuit.with_name(f"{circuit.stem}-{form}{SUFFIXES[form]}")
    title = msg("{name} for {program}", name=circuit.name, program=program)
    target = await choose_target(services, window, title, start)
    if target is None:
        return
    if workspace.buffers is not None:  # what stands in the editor is written
        await workspace.buffers.save_unsaved()
    made = await app.simulation.export_circuit(circuit, form, target, overwrite=True)
    workspace.status_changed.emit(msg("Written: {path}", path=target.name))
    lines = [services.language(each) for each in (*made.missing, *made.notes)]
    if lines:
        tell(
            services,
            window,
            title=msg("Not everything of {name} is there in {program}", name=circuit.name, program=program)
            if made.missing
            else msg("{name} was written to {path}", name=circuit.name, path=target.name),
            text="\n".join(lines),
            copies=True,
        )
