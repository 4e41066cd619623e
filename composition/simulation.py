"""ngspice in its box, and the files of results."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.ports.components import ComponentIndex
    from application.ports.simulation import (
        BatchSimulator,
        ColumnBuilder,
        ModelLibrary,
        RunJoiner,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
        WaveformReader,
    )
    from application.project.cleaning import ResultShelves, ScratchFolders
    from application.results.exporting import PictureWriter, TableWriter
    from application.simulation.schematics import SchematicWriter
    from application.simulation.waveforms import FigureStore
    from composition.program import ProgramAdapters
    from domain.simulation.retention import RetentionPolicy
    from infrastructure.ngspice.batch.simulator import NgspiceBatch
    from infrastructure.ngspice.confined import ConfinedNgspice
    from infrastructure.persistence.results import ResultFolders


class SimulationAdapters:
    """Implements application.groups.outside.SimulationParts."""

    def __init__(self, program: ProgramAdapters, simulator: Simulator | None) -> None:
        """`simulator` takes the place of ngspice."""
        self._program = program
        self._given_simulator = simulator

    @property
    def quota(self) -> RetentionPolicy:
        from domain.simulation.retention import ResultSettings

        return (self._program.settings.results or ResultSettings()).policy

    @cached_property
    def settings(self) -> SimulatorSettingsStore:
        from infrastructure.persistence.settings import SimulatorSettingsFile

        return SimulatorSettingsFile(user_home=self._program.home, environment=self._program.environment)

    @cached_property
    def sources(self) -> SourceReaders:
        from infrastructure.persistence.source_files import SourceReaderFactory

        return SourceReaderFactory()

    @cached_property
    def models(self) -> ModelLibrary:
        from infrastructure.persistence.examples import ShippedModels

        return ShippedModels()

    @cached_property
    def components(self) -> ComponentIndex:
        from infrastructure.components.index import SqliteComponentIndex

        return SqliteComponentIndex(self._program.home)

    @cached_property
    def simulator(self) -> Simulator:
        if self._given_simulator is not None:
            return self._given_simulator
        from domain.simulation.retention import ResultSettings
        from infrastructure.ngspice.runner import NgspiceRunner

        program = self._program
        return NgspiceRunner(
            self._ngspice, run_bytes=lambda: (program.settings.results or ResultSettings()).run_bytes
        )

    @cached_property
    def batch(self) -> NgspiceBatch:
        from infrastructure.ngspice.batch.simulator import NgspiceBatch

        return NgspiceBatch(self._ngspice)

    @property
    def library(self) -> NgspiceBatch:
        return self.batch

    def batch_at(self, cluster: str | None) -> BatchSimulator:
        """The batch simulator behind a scheduler's address, or of this machine."""
        if cluster is None:
            return self.batch
        from infrastructure.cluster.dask_batch import DaskBatch

        return DaskBatch(cluster, local=self.batch)

    @cached_property
    def _ngspice(self) -> ConfinedNgspice:
        from infrastructure.ngspice.confined import ConfinedNgspice

        return ConfinedNgspice(
            processes=self._program.processes, ngspice_path=self._program.settings.ngspice_path
        )

    @cached_property
    def joiner(self) -> RunJoiner:
        from infrastructure.ngspice.stepped_runs import StepJoiner

        return StepJoiner()

    @cached_property
    def results(self) -> ResultFolders:
        from infrastructure.persistence.results import ResultFolders

        return ResultFolders(
            user_home=self._program.home, quota=lambda: self.quota, seals=self._program.seals
        )

    @property
    def shelves(self) -> ResultShelves:
        return self.results.shelf

    @cached_property
    def scratch(self) -> ScratchFolders:
        from infrastructure.ngspice.scratch import TemporaryScratch

        return TemporaryScratch()

    @cached_property
    def waveforms(self) -> WaveformReader:
        from infrastructure.waveforms.raw_file import RawFileReader

        return RawFileReader(key=self._program.user_key)

    @cached_property
    def figures(self) -> FigureStore:
        from infrastructure.persistence.result_figures import ResultFigures

        return ResultFigures(self._program.seals)

    @cached_property
    def columns(self) -> ColumnBuilder:
        from infrastructure.waveforms.column_file import ColumnFileBuilder

        return ColumnFileBuilder(self._program.user_key)

    @cached_property
    def tables(self) -> TableWriter:
        from infrastructure.exports.tables import TableFiles

        return TableFiles()

    @cached_property
    def pictures(self) -> PictureWriter:
        from infrastructure.exports.pictures import PictureFiles

        return PictureFiles(cache=self._program.home / "cache" / "matplotlib")

    @cached_property
    def schematics(self) -> SchematicWriter:
        from infrastructure.exports.schematics import SchematicFiles

        return SchematicFiles(cache=self._program.home / "cache" / "matplotlib")
