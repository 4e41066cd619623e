"""What a design report tells of a circuit: gathered from its files, a run of them, and its rounds.

Every figure is the simulator's or measured on its data. What cannot be had is said in the report, with the
reason; only a circuit that cannot be read has none.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from application.reports.drawn_schematic import DrawnSchematic, drawn_schematic
from application.results.exporting import ExportRequest, PictureOptions
from application.results.tables import curves_in
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.design.rounds import DesignRounds
    from application.project.browsing import BrowseProject
    from application.project.sharing import ShareProject
    from application.reports.kept_studies import KeptStudies, ReportStudy
    from application.results.exporting import ExportResult
    from application.simulation.judging import JudgedGoal
    from application.simulation.measuring import MeasureResult
    from application.simulation.schematics import DrawSchematic
    from application.simulation.simulating import RunSimulation
    from application.simulation.waveforms import LoadWaveforms
    from domain.circuit.schematic.placing import Place
    from domain.simulation.goal_conditions import Settings
    from domain.simulation.goals import DesignGoal
    from domain.simulation.result import SimulationResult

_DRAWN, _MOST_OF_A_KIND = ("ac", "tran", "dc", "noise"), 3
_WIDTH_MM, _HEIGHT_MM = 170.0, 92.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPicture:
    """Curves of one analysis."""

    analysis: str
    """ac, tran, dc, noise; the second of a kind is tran2."""
    signals: tuple[str, ...]
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitReport:
    """What there is to tell of a circuit."""

    project: str
    """The name of its folder."""
    circuit: str
    """Its place in the project, forward slashes."""
    netlist: str
    included: tuple[str, ...]
    """The other files it is made of; paths within the project, absolute outside."""
    result: SimulationResult
    """A run of the circuit as it is, successful or not."""
    schematic: DrawnSchematic
    goals: tuple[JudgedGoal, ...] = ()
    pictures: tuple[ReportPicture, ...] = ()
    undrawn: Mapping[str, Message] = field(default_factory=dict)
    """Why there are no curves of an analysis."""
    studies: tuple[ReportStudy, ...] = ()
    rounds: DesignRounds | None = None
    """Of the last design of this circuit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportCircuit:
    """The use case."""

    browse: BrowseProject
    share: ShareProject
    simulate: RunSimulation
    measure: MeasureResult
    waveforms: LoadWaveforms
    export: ExportResult
    schematics: DrawSchematic
    kept: KeptStudies

    async def __call__(
        self,
        folder: Path,
        circuit: Path | None = None,
        *,
        words: Mapping[str, str],
        studies: Sequence[str] | None = None,
        places: Mapping[str, Mapping[str, Place]] | None = None,
    ) -> CircuitReport:
        """Gather it; the circuit is simulated unless a stored run is of the same files.

        `circuit`: in the project; None for its only one. `words`: those in the pictures, as in
        `PictureOptions`. `studies`: as in `KeptStudies.chosen`. `places`: as of `drawn_schematic`. Raises
        UserInputError when it is not clear which circuit is meant, it can't be read, or a study is not
        there; EnvironmentProblem without ngspice.
        """
        opened = await self.browse.open(folder)
        root = opened.root
        chosen = await self._chosen(root, opened.circuits, circuit)
        place = chosen.relative_to(root).as_posix()
        netlist = await self.share.text(root, place)
        files = await self.simulate.files_of(chosen)
        told = await self.kept.chosen(root, chosen, studies)
        goals = await self.browse.goals(root, chosen)
        judged: tuple[JudgedGoal, ...] = ()
        conditions, lacking = await self._conditions(chosen, goals)
        # The circuit as it is comes last, so that it stays its newest run.
        from application.simulation.simulating import SimulationRequest

        result = await self.simulate(SimulationRequest(circuit=chosen, reuse=True))
        if goals and result.ok:
            from application.simulation.judging import judge

            judged = await judge(self.measure, result.result_path, goals, conditions, lacking=lacking)
        pictures, undrawn = await self._pictures(result, words)
        rounds = await self.browse.rounds(root, chosen)
        is_of_it = rounds is not None and any(each.circuit == chosen for each in rounds.rounds)
        return CircuitReport(
            project=root.name,
            circuit=place,
            netlist=netlist,
            included=tuple(
                path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
                for path in files
                if path != chosen
            ),
            result=result,
            schematic=await drawn_schematic(self.schematics, chosen, places or {}),
            studies=told,
            goals=judged,
            pictures=pictures,
            undrawn=undrawn,
            rounds=rounds if is_of_it else None,
        )

    async def _chosen(self, root: Path, circuits: tuple[Path, ...], named: Path | None) -> Path:
        if named is not None:
            path = named if named.is_absolute() else root / named
            chosen = await off_loop(path.resolve)
            if not chosen.is_relative_to(root) or not await off_loop(chosen.is_file):
                raise UserInputError(
                    msg("There is no circuit {path} in this project.", path=named),
                    file=named,
                    error_type="file_not_found",
                )
            return chosen
        if len(circuits) == 1:
            return circuits[0]
        names = ", ".join(path.relative_to(root).as_posix() for path in circuits)
        raise UserInputError(
            msg("The project has several circuits: {names}.", names=names)
            if circuits
            else msg("The project has no circuit."),
            advice=msg("Specify one with --circuit.") if circuits else None,
            error_type="which_circuit" if circuits else "no_circuit",
        )

    async def _conditions(
        self, circuit: Path, goals: tuple[DesignGoal, ...]
    ) -> tuple[dict[Settings, Path | Message], frozenset[str]]:
        """The runs in which single goals have to hold, or why there are none; corners that are lacking."""
        if not goals:
            return {}, frozenset()
        from application.simulation.judging import lacking_corners
        from application.simulation.simulating import SimulationRequest
        from domain.simulation.goal_conditions import distinct_settings

        lacking = frozenset(await lacking_corners(self.simulate, circuit, goals))
        found: dict[Settings, Path | Message] = {}
        for settings in distinct_settings(goals, lacking):
            try:
                result = await self.simulate(
                    SimulationRequest(circuit=circuit, assignments=settings, reuse=True)
                )
            except UserInputError as error:
                found[settings] = error.message
            else:
                found[settings] = result.result_path if result.ok else _first_error(result)
        return found, lacking

    async def _pictures(
        self, result: SimulationResult, words: Mapping[str, str]
    ) -> tuple[tuple[ReportPicture, ...], dict[str, Message]]:
        """Curves of each analysis that has some, and why others have none."""
        if not result.run.raw_paths:
            return (), {}
        pictures: list[ReportPicture] = []
        undrawn: dict[str, Message] = {}
        for kind in await self._kinds(result.result_path):
            out = io.BytesIO()
            try:
                drawn = await self.export.picture(
                    ExportRequest(source=result.result_path, target=out, analysis=kind),
                    PictureOptions(format="svg", width_mm=_WIDTH_MM, height_mm=_HEIGHT_MM, words=words),
                )
            except CircuitAIError as error:
                undrawn[kind] = error.message
                continue
            signals = tuple(column.name for table in drawn.tables for column in table.columns)
            svg = out.getvalue().decode("utf-8")
            pictures.append(ReportPicture(analysis=kind, signals=signals, svg=svg))
        return tuple(pictures), undrawn

    async def _kinds(self, result: Path) -> list[str]:
        source = await self.waveforms.open(result)

        def kinds() -> list[str]:
            with source:
                there = curves_in(source.outlines)
            return [
                name
                for kind in _DRAWN
                for name in [each for each, its in there.items() if its == kind][:_MOST_OF_A_KIND]
            ]

        return await off_loop(kinds)


def _first_error(result: SimulationResult) -> Message:
    errors = [issue for issue in result.issues if issue.severity == "error"]
    return errors[0].message if errors else msg("The simulation failed.")
