"""Circuits checked, simulated and measured, and what a result shows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.components.billing import CountParts
    from application.components.curves import SimulateComponent
    from application.components.finding import FindComponents
    from application.groups.outside import ProgramParts, SimulationParts
    from application.ports.simulation import ModelLibrary, SimulatorSettingsStore
    from application.results.exporting import ExportResult
    from application.results.networks import ExportNetwork
    from application.simulation.checking import CheckCircuit
    from application.simulation.convergence import AnalyzeConvergence
    from application.simulation.device_tables import DeviceTables
    from application.simulation.exchanging import ExportCircuit
    from application.simulation.finding_places import FindPlaces
    from application.simulation.measuring import MeasureResult
    from application.simulation.reading_names import ReadNames
    from application.simulation.schematics import DrawSchematic
    from application.simulation.simulating import RunSimulation
    from application.simulation.waveforms import LoadWaveforms
    from application.studies.idle_yield import EstimateYield
    from application.studies.offering import OfferStudies
    from application.studies.reading import ReadStudy
    from application.studies.studying import RunStudy
    from application.studies.written_values import WriteValues


class Simulation:
    """Simulations and their results."""

    def __init__(self, parts: SimulationParts, program: ProgramParts) -> None:
        self._parts = parts
        self._program = program

    @property
    def settings(self) -> SimulatorSettingsStore:
        """What the user set for the circuits of each project."""
        return self._parts.settings

    @cached_property
    def check(self) -> CheckCircuit:
        from application.simulation.checking import CheckCircuit

        return CheckCircuit(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
            cpu=lambda: self._program.cpu,
        )

    @cached_property
    def names(self) -> ReadNames:
        """The names of a circuit, as an editor needs them."""
        from application.simulation.reading_names import ReadNames

        return ReadNames(check=lambda: self.check, sources=self._parts.sources, models=self._parts.models)

    @cached_property
    def places(self) -> FindPlaces:
        """Where a name is defined and used."""
        from application.simulation.finding_places import FindPlaces

        return FindPlaces(names=self.names)

    @property
    def models(self) -> ModelLibrary:
        """The models that come with the program."""
        return self._parts.models

    @cached_property
    def components(self) -> FindComponents:
        """What the libraries hold, and the values of the E-series."""
        from application.components.finding import FindComponents
        from shared.paths import MODEL_LIBRARY

        return FindComponents(
            index=self._parts.components,
            cpu=lambda: self._program.cpu,
            shipped=MODEL_LIBRARY,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def component_curves(self) -> SimulateComponent:
        """What a component does, simulated."""
        from application.components.curves import SimulateComponent

        return SimulateComponent(batch=self._parts.batch, find=self.components)

    @cached_property
    def bill(self) -> CountParts:
        """The parts of a circuit."""
        from application.components.billing import CountParts

        return CountParts(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
            write_file=self._program.write_file,
        )

    @cached_property
    def run(self) -> RunSimulation:
        from application.simulation.simulating import RunSimulation

        return RunSimulation(
            simulator=self._parts.simulator,
            waveforms=self._parts.waveforms,
            sources=self._parts.sources,
            results=self._parts.results,
            joiner=self._parts.joiner,
            events=self._program.events,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def study(self) -> RunStudy:
        """Sweep, Monte Carlo, corners, worst case, sensitivity."""
        from application.studies.studying import RunStudy

        return RunStudy(
            batch=self._parts.batch_at,
            simulator=self._parts.simulator,
            sources=self._parts.sources,
            results=self._parts.results,
            events=self._program.events,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def study_offer(self) -> OfferStudies:
        """What the studies of a circuit can be made of."""
        from application.studies.offering import OfferStudies

        return OfferStudies(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def idle_yield(self) -> EstimateYield:
        """The yield of a circuit's goals, by a few runs."""
        from application.studies.idle_yield import EstimateYield

        return EstimateYield(
            batch=self._parts.batch,
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def read_study(self) -> ReadStudy:
        """A study that was kept."""
        from application.studies.reading import ReadStudy

        return ReadStudy(results=self._parts.results)

    @cached_property
    def write_values(self) -> WriteValues:
        """What a circuit's file is with values that a study found."""
        from application.studies.written_values import WriteValues

        return WriteValues(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def device_tables(self) -> DeviceTables:
        """gm/Id tables of MOSFET models."""
        from application.simulation.device_tables import DeviceTables

        return DeviceTables(
            batch=self._parts.batch,
            simulator=self._parts.simulator,
            sources=self._parts.sources,
            results=self._parts.results,
            models=self._parts.models,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def analyze_convergence(self) -> AnalyzeConvergence:
        """Find out why a circuit does not converge."""
        from application.simulation.convergence import AnalyzeConvergence

        return AnalyzeConvergence(
            simulator=self._parts.simulator,
            sources=self._parts.sources,
            results=self._parts.results,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
        )

    @cached_property
    def measure(self) -> MeasureResult:
        from application.simulation.measuring import MeasureResult

        return MeasureResult(results=self._parts.results, waveforms=self._parts.waveforms)

    @cached_property
    def waveforms(self) -> LoadWaveforms:
        from application.simulation.waveforms import LoadWaveforms

        return LoadWaveforms(
            results=self._parts.results,
            waveforms=self._parts.waveforms,
            figures=self._parts.figures,
            columns=self._parts.columns,
            tasks=self._program.tasks,
        )

    @cached_property
    def schematic(self) -> DrawSchematic:
        from application.simulation.schematics import DrawSchematic

        return DrawSchematic(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
            writer=self._parts.schematics,
            cpu=lambda: self._program.cpu,
        )

    @cached_property
    def export_network(self) -> ExportNetwork:
        """Network parameters of a result as a Touchstone file."""
        from application.results.networks import ExportNetwork

        return ExportNetwork(
            results=self._parts.results, waveforms=self._parts.waveforms, write_file=self._program.write_file
        )

    @cached_property
    def export_circuit(self) -> ExportCircuit:
        """Circuits for LTspice, KiCad and PySpice."""
        from application.simulation.exchanging import ExportCircuit

        return ExportCircuit(
            sources=self._parts.sources,
            settings=self._parts.settings,
            libraries=lambda: self._program.libraries,
            write_file=self._program.write_file,
        )

    @cached_property
    def export(self) -> ExportResult:
        from application.results.exporting import ExportResult

        return ExportResult(
            results=self._parts.results,
            waveforms=self._parts.waveforms,
            tables=self._parts.tables,
            pictures=self._parts.pictures,
            cpu=self._program.cpu,
        )
