"""Running a circuit: save, simulate, tell everybody; one run at a time, stopped at any moment."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject

from application.groups.program import Program
from application.groups.project import Project
from application.groups.simulation import Simulation
from application.project.importing import target_of
from domain.simulation.result import SimulationResult
from presentation.panels.editor.examination import is_schematic
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, Stopped, UserInputError, internal_error
from shared.message import msg
from shared.pausing import Pause, can_pause
from shared.uninterrupted import off_loop

RUN_SCOPE = "run"
"""The scope a StopController stops a run by."""


class RunController(QObject):
    """Answers the requests for a run; what becomes of one is told by the workspace's signals."""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, program: Program
    ) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._simulation = simulation
        self._program = program
        self.circuit: Path | None = None
        """The circuit that is being simulated now."""
        self._halt: asyncio.Event | None = None
        """Ends the run that is under way and keeps what came."""
        self._pause: Pause | None = None
        """Holds the run that is under way."""
        services.workspace.run_requested.connect(self.start)
        services.workspace.main_run_requested.connect(self.start_main)
        services.workspace.circuit_run_requested.connect(self.start_circuit)

    def start(self) -> None:
        """Save the buffers and simulate the circuit in front, else the main one; a refusal is told.

        Where no circuit is the main one yet, the person is asked which; a schematic in front is imported
        first. While one is simulated it is paused, or goes on: the same key again.
        """
        if self._pause is not None and can_pause():
            self.pause_or_go_on()
            return
        workspace = self._services.workspace
        self._begin(workspace.shown_file or workspace.main_circuit, is_named=False)

    def start_main(self) -> None:
        """The same for the main circuit, whatever is in front."""
        self._begin(self._services.workspace.main_circuit, is_named=True)

    def start_circuit(self, circuit: Path) -> None:
        self._begin(circuit, is_named=True)

    def stop(self) -> None:
        """End the run; what it has computed is its result. A second time: at once, without it."""
        if self._halt is not None and not self._halt.is_set():
            self._halt.set()
        elif self.circuit is not None:
            self._services.start(
                self._program.stop.stop("user", scope=RUN_SCOPE),
                kind="stop run",
                scope="stop run",
            )

    @property
    def is_paused(self) -> bool:
        return self._pause is not None and self._pause.is_held

    def pause_or_go_on(self) -> None:
        """Let the run stand still where it is, or go on from there."""
        if self._pause is not None and can_pause():
            self._services.start(self._toggle(self._pause), kind="pause run", scope="pause run")

    async def _toggle(self, pause: Pause) -> None:
        await (pause.go_on() if pause.is_held else pause.hold())
        if pause is self._pause:
            self._services.workspace.run_paused.emit(pause.is_held)

    def _refusal(self) -> UserInputError | None:
        workspace = self._services.workspace
        if self.circuit is not None:
            return UserInputError(
                msg("{name} is already being simulated.", name=self.circuit.name),
                advice=msg("Wait until it finishes, or stop it with Escape."),
            )
        if workspace.root is None:
            return UserInputError(msg("No project is open."), advice=msg("Open a folder with File > Open."))
        return None

    def _begin(self, file: Path | None, *, is_named: bool) -> None:
        workspace = self._services.workspace
        refusal = self._refusal()
        if refusal is not None:
            workspace.error_occurred.emit(refusal)
        elif file is None:
            workspace.main_circuit_needed.emit()
        else:
            self.circuit = file
            self._services.start(
                self._save_and_run(file, is_named=is_named), kind="simulation", scope=RUN_SCOPE
            )

    async def _save_and_run(self, file: Path, *, is_named: bool) -> None:
        workspace = self._services.workspace
        circuit: Path | None = None
        try:
            if workspace.buffers is None or await workspace.buffers.save_unsaved():
                # What is saved now may be a circuit that it was not when it was shown.
                circuit = await (self._named(file) if is_named else self._meant(file))
            else:
                workspace.error_occurred.emit(
                    UserInputError(
                        msg("Not run: a changed file could not be saved."),
                        advice=msg("The editor shows which file and why; save it and run again."),
                    )
                )
        finally:
            self.circuit = circuit
        if circuit is not None:
            await self._run(circuit)

    async def _named(self, file: Path) -> Path | None:
        """A circuit that was named; None when it asks for no analysis, and one is asked for instead."""
        workspace = self._services.workspace
        found = await self._project.browse.runnable(workspace.root, file) if workspace.root else None
        if found is None or found.is_whole or workspace.analysis_of(file) is not None:
            return file
        workspace.analysis_missing.emit(file)
        return None

    async def _meant(self, file: Path) -> Path | None:
        """The circuit that a person means who looks at `file`; None when it has to be asked."""
        workspace = self._services.workspace
        if workspace.root is None:
            return None
        found = await self._project.browse.runnable(workspace.root, file)
        if found is not None and (found.is_whole or workspace.analysis_of(file) is not None):
            return file
        main = workspace.main_circuit
        if found is not None and file not in workspace.run_main_for:
            workspace.analysis_missing.emit(file)
            return None
        if main is None and is_schematic(file) and not await off_loop(target_of(file).exists):
            workspace.import_wanted.emit(file)
        elif main is None:
            workspace.main_circuit_needed.emit()
        return main

    async def _run(self, circuit: Path) -> None:
        from application.ports.simulation import RunWatch
        from application.simulation.simulating import SimulationRequest

        workspace = self._services.workspace
        self._halt = halt = asyncio.Event()
        self._pause = Pause()
        workspace.run_started.emit(circuit)
        outcome: SimulationResult | CircuitAIError = Stopped(msg("Stopped."))
        try:
            outcome = await self._simulation.run(
                SimulationRequest(circuit=circuit, analysis=workspace.analysis_of(circuit)),
                on_progress=workspace.run_progressed.emit,
                watch=RunWatch(
                    halt=halt,
                    pause=self._pause,
                    on_growing=partial(workspace.run_growing.emit, circuit),
                    on_silent=partial(workspace.run_silent.emit, circuit),
                    on_step=workspace.run_stepped.emit,
                ),
            )
        except asyncio.CancelledError:
            raise
        except CircuitAIError as error:
            outcome = error
        except Exception as error:
            outcome = CircuitAIError(internal_error(error))
            raise
        finally:
            self.circuit = self._halt = self._pause = None
            workspace.run_finished.emit(outcome)
