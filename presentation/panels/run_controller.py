"""Running the main circuit: save, simulate, tell everybody; one run at a time, stopped at any moment."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from shared.errors import CircuitAIError, Stopped, UserInputError, internal_error
from shared.message import msg

if TYPE_CHECKING:
    from domain.simulation.result import SimulationResult
    from presentation.window.workspace import WindowServices

RUN_SCOPE = "run"
"""The scope a StopController stops a run by."""


class RunController(QObject):
    """Answers `workspace.run_requested`; what becomes of the run is told by the workspace's signals."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._circuit: Path | None = None
        services.workspace.run_requested.connect(self.start)

    @property
    def circuit(self) -> Path | None:
        """The circuit that is being simulated now."""
        return self._circuit

    def start(self) -> None:
        """Save the buffers and simulate the main circuit; what stands against it is said in words.

        Where no circuit is the main one yet, the person is asked which.
        """
        workspace = self._services.workspace
        refusal = self._refusal()
        if refusal is not None:
            workspace.error_occurred.emit(refusal)
            return
        circuit = workspace.main_circuit
        if circuit is None:
            workspace.main_circuit_needed.emit()
            return
        self._circuit = circuit
        self._services.start(self._save_and_run(circuit), kind="simulation", scope=RUN_SCOPE)

    def stop(self) -> None:
        """End the run that is under way, if any."""
        if self._circuit is not None:
            self._services.start(
                self._services.app.stop.stop("user", scope=RUN_SCOPE), kind="stop run", scope="stop run"
            )

    def _refusal(self) -> UserInputError | None:
        workspace = self._services.workspace
        if self._circuit is not None:
            return UserInputError(
                msg("{name} is being simulated already.", name=self._circuit.name),
                advice=msg("Wait for its end, or stop it with Escape."),
            )
        if workspace.root is None:
            return UserInputError(msg("No project is open."), advice=msg("Open a folder with File > Open."))
        return None

    async def _save_and_run(self, circuit: Path) -> None:
        workspace, is_saved = self._services.workspace, False
        try:
            is_saved = workspace.buffers is None or await workspace.buffers.save_unsaved()
        finally:
            if not is_saved:
                self._circuit = None
        if is_saved:
            await self._run(circuit)
            return
        workspace.error_occurred.emit(
            UserInputError(
                msg("Not run: a changed file could not be saved."),
                advice=msg("The editor says which and why; save it and run again."),
            )
        )

    async def _run(self, circuit: Path) -> None:
        from application.simulation.simulating import SimulationRequest

        workspace = self._services.workspace
        workspace.run_started.emit(circuit)
        outcome: SimulationResult | CircuitAIError = Stopped(msg("Stopped."))
        try:
            outcome = await self._services.app.simulate(
                SimulationRequest(circuit=circuit, analysis=workspace.analysis),
                on_progress=workspace.run_progressed.emit,
            )
        except asyncio.CancelledError:
            raise
        except CircuitAIError as error:
            outcome = error
        except Exception as error:
            outcome = CircuitAIError(internal_error(error))
            raise
        finally:
            self._circuit = None
            workspace.run_finished.emit(outcome)
