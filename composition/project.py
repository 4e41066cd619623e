"""Folders of projects, what is stored in them, the index of their texts."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.ports.project import Projects
    from application.ports.project_view import ProjectView
    from application.ports.search import ProjectIndex
    from application.project.browsing import Examples
    from application.project.unsaved_texts import UnsavedTexts
    from composition.program import ProgramAdapters
    from infrastructure.persistence.project import ProjectFolder
    from infrastructure.persistence.result_catalogue import ResultList


class ProjectAdapters:
    """Implements application.groups.outside.ProjectParts."""

    def __init__(self, program: ProgramAdapters) -> None:
        self._program = program

    @cached_property
    def projects(self) -> Projects:
        from infrastructure.persistence.project import ProjectFolders

        return ProjectFolders(self._program.user_key)

    def plain_folder(self, folder: Path) -> ProjectFolder:
        """A folder as a project, whether it is one or not."""
        from infrastructure.persistence.project import ProjectFolder

        return ProjectFolder(folder, self._program.user_key)

    def view(self, root: Path) -> ProjectView:
        from infrastructure.persistence.project_view import FolderView

        return FolderView(root=root, libraries=self._program.libraries, seals=self._program.seals)

    def index(self, root: Path) -> ProjectIndex:
        from infrastructure.search.project_index import SqliteProjectIndex

        return SqliteProjectIndex(root)

    @cached_property
    def results(self) -> ResultList:
        from infrastructure.persistence.result_catalogue import ResultList

        return ResultList(self._program.seals)

    def count_results(self, root: Path) -> int:
        return self.results.stored(root).count

    @cached_property
    def examples(self) -> Examples:
        from infrastructure.persistence.examples import BundledExamples

        return BundledExamples()

    @cached_property
    def unsaved_texts(self) -> UnsavedTexts:
        from infrastructure.persistence.unsaved_texts import UnsavedTextFiles

        return UnsavedTextFiles(user_home=self._program.home)
