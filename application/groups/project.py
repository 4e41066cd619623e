"""Projects: their files, what was done to them, searching them, keeping them tidy."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.components.importing import ImportLibrary
    from application.goal_checks.case_runs import RunCases
    from application.groups.outside import Outside
    from application.groups.simulation import Simulation
    from application.ports.search import Embedder
    from application.project.adopting import AdoptProject
    from application.project.browsing import BrowseProject
    from application.project.change_pieces import ChangePieces
    from application.project.cleaning import CleanProject
    from application.project.editing import EditFiles
    from application.project.importing import ImportFile
    from application.project.named_cases import NamedCases
    from application.project.run_circuits import CircuitOfRun
    from application.project.saved_setups import SavedSetups
    from application.project.sharing import ShareProject
    from application.project.undo_retention import TidyUndoData
    from application.project.undoing import ProjectOperations
    from application.project.unsaved_texts import UnsavedTexts
    from application.search.searching import SearchProject
    from application.search.setting_up import ChosenEmbedder, SetUpEmbedding
    from application.tool_execution.tools.proposed import ProposedContents


class Project:
    """Projects and their files."""

    def __init__(self, outside: Outside, simulation: Simulation) -> None:
        self._outside = outside
        self._simulation = simulation
        self._parts = outside.project

    @property
    def unsaved_texts(self) -> UnsavedTexts:
        return self._parts.unsaved_texts

    @cached_property
    def browse(self) -> BrowseProject:
        """Projects, their files and results as lists."""
        from application.project.browsing import BrowseProject

        return BrowseProject(
            projects=self._parts.projects,
            views=self._parts.view,
            sources=self._outside.simulation.sources,
            results=self._parts.results,
            examples=self._parts.examples,
            measure=lambda: self._simulation.measure,
            simulate=lambda: self._simulation.run,
            libraries=lambda: self._outside.program.libraries,
        )

    @cached_property
    def proposed(self) -> ProposedContents:
        """The files as calls of a model that are asked about would leave them."""
        from application.tool_execution.tools.proposed import ProposedContents

        return ProposedContents(views=self._parts.view)

    @cached_property
    def setups(self) -> SavedSetups:
        """Set-ups of studies that have a name."""
        from application.project.saved_setups import SavedSetups

        return SavedSetups(projects=self._parts.projects)

    @cached_property
    def cases(self) -> NamedCases:
        """Cases that are kept with a circuit."""
        from application.project.named_cases import NamedCases

        return NamedCases(
            projects=self._parts.projects,
            operations=self.operations,
            write_values=self._simulation.write_values,
        )

    @cached_property
    def circuit_of_run(self) -> CircuitOfRun:
        """The circuit of one run in a file of its own."""
        from application.project.run_circuits import CircuitOfRun

        return CircuitOfRun(operations=self.operations, write_values=self._simulation.write_values)

    @cached_property
    def run_cases(self) -> RunCases:
        """How the goals of a circuit stand in its cases."""
        from application.goal_checks.case_runs import RunCases

        simulation = self._outside.simulation
        return RunCases(
            projects=self._parts.projects,
            batch=simulation.batch,
            sources=simulation.sources,
            settings=simulation.settings,
            libraries=lambda: self._outside.program.libraries,
        )

    @cached_property
    def edit(self) -> EditFiles:
        """Reading and saving files as text."""
        from application.project.editing import EditFiles

        return EditFiles(
            projects=self._parts.projects,
            plain_folder=self._parts.plain_folder,
            write_file=self._outside.program.write_file,
        )

    @cached_property
    def share(self) -> ShareProject:
        """Its texts, for a model of another program."""
        from application.project.sharing import ShareProject

        return ShareProject(views=self._parts.view)

    @cached_property
    def import_file(self) -> ImportFile:
        """Schematics, netlists and network data of other programs."""
        from application.project.importing import ImportFile

        return ImportFile(
            views=self._parts.view,
            write_file=self._outside.program.write_file,
            libraries=lambda: self._outside.program.libraries,
        )

    @cached_property
    def import_library(self) -> ImportLibrary:
        """Model libraries of vendors and other programs."""
        from application.components.importing import ImportLibrary

        return ImportLibrary(
            views=self._parts.view,
            find=self._simulation.components,
            batch=self._outside.simulation.batch,
            operations=self.operations,
            write_file=self._outside.program.write_file,
        )

    @cached_property
    def operations(self) -> ProjectOperations:
        """What was done to a project's files, and taking it back."""
        from application.project.undoing import ProjectOperations

        return ProjectOperations(projects=self._parts.projects, events=self._outside.program.events)

    @cached_property
    def pieces(self) -> ChangePieces:
        """What an operation changed, piece by piece."""
        from application.project.change_pieces import ChangePieces

        return ChangePieces(projects=self._parts.projects, events=self._outside.program.events)

    @cached_property
    def adopt(self) -> AdoptProject:
        """What another installation wrote into a project, and making it one's own."""
        from application.project.adopting import AdoptProject

        return AdoptProject(projects=self._parts.projects, count_results=self._parts.count_results)

    @cached_property
    def search(self) -> SearchProject:
        """Search a project by text, name and meaning; keep its index up to date."""
        from application.ports.events import EmbeddingChanged
        from application.search.searching import SearchProject

        program = self._outside.program
        found = SearchProject(index=self._parts.index, cpu=program.cpu, embedder=self._kept_embedder)
        program.events.subscribe(EmbeddingChanged, lambda _event: found.forget_embedder())
        return found

    @cached_property
    def embedding(self) -> SetUpEmbedding:
        """Which server gives the vectors of searches by meaning; a trial of it."""
        from application.search.setting_up import SetUpEmbedding

        models = self._outside.models
        return SetUpEmbedding(
            store=models.embedding,
            connect=self._embedder.once,
            is_local=models.stays_here,
            events=self._outside.program.events,
        )

    @cached_property
    def clean(self) -> CleanProject:
        """Remove results by rules, pin them, remove what killed runs left."""
        from application.project.cleaning import CleanProject

        simulation = self._outside.simulation
        return CleanProject(
            shelves=simulation.shelves,
            scratch=simulation.scratch,
            quota=lambda: simulation.quota,
            undo_data=self.tidy_undo_data,
        )

    @cached_property
    def tidy_undo_data(self) -> TidyUndoData:
        """Remove undo data beyond its retention."""
        from application.project.undo_retention import TidyUndoData

        return TidyUndoData(projects=self._parts.projects)

    def _kept_embedder(self) -> Embedder | None:
        return self._embedder.kept()

    @cached_property
    def _embedder(self) -> ChosenEmbedder:
        from application.search.setting_up import ChosenEmbedder

        models = self._outside.models
        return ChosenEmbedder(store=models.embedding, keys=models.keys, make=models.embedder)

    async def close(self) -> None:
        """End what was begun: the index of a search."""
        if "search" in vars(self):
            await self.search.close()
