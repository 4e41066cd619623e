"""An edit taken out of files that were edited since, as one operation that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.goal_checks.since_when import digest_of, texts_of
from domain.circuit.taken_out import without_edit
from domain.llm.tools.three_way import merge_files
from shared.errors import CircuitError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.goal_checks.since_when import Culprit
    from application.ports.project import OperationRecord, Projects
    from application.project.undoing import ProjectOperations

TAKE_BACK_TOOL = "take_edit_back"
"""How the log names an edit that was taken back although others came after it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TakeEditBack:
    """The use case."""

    projects: Projects
    operations: ProjectOperations

    async def __call__(self, root: Path, culprit: Culprit) -> OperationRecord:
        """Take this edit, or the one of its changes that lost the goal, out of the files as they are now, and
        leave every other one, as one operation.

        Raises CircuitError ("edits_overlap") where a later edit changed the same lines.
        """
        contents, expected = await off_loop(self._without, root, culprit)
        return await self.operations.rewrite(root, contents, expected=expected, tool=TAKE_BACK_TOOL)

    def _without(self, root: Path, culprit: Culprit) -> tuple[dict[Path, bytes], dict[Path, str]]:
        contents: dict[Path, bytes] = {}
        expected: dict[Path, str] = {}
        project = self.projects.open(root)
        try:
            edit = culprit.edit
            for place in culprit.texts or edit.changed:
                path = project.root / place
                before, after = culprit.texts.get(place) or texts_of(project, edit, place)
                now = project.read(path)
                merged = merge_files(after, now, before) or without_edit(before, after, now)
                if merged is None:
                    raise CircuitError(
                        msg("Later edits changed the same lines of {path}.", path=place),
                        advice=msg("Change the lines by hand."),
                        file=path,
                        error_type="edits_overlap",
                    )
                contents[path], expected[path] = merged, digest_of(now)
        finally:
            project.close()
        return contents, expected
