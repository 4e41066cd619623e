"""The files as calls that wait for a permission would leave them: what can be tried before it is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from application.ports.project_view import ProjectView
from application.tool_execution.definition import BadArgumentsError
from application.tool_execution.tools.edits import PATCH_FILE, REWRITE_FILE, content_after
from application.tool_execution.tools.moves import DELETE_FILE
from domain.llm.tools.confirmation_card import CallOnCard
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedContents:
    """The use case; it changes nothing."""

    views: Callable[[Path], ProjectView]

    async def __call__(self, root: Path, calls: Sequence[CallOnCard]) -> dict[Path, bytes | None]:
        """What each file would hold (None: it would be gone) that the calls write or delete, done in their
        order; calls that do something else, or would be refused, are left out."""
        return await off_loop(self._contents, root, tuple(calls))

    def _contents(self, root: Path, calls: Sequence[CallOnCard]) -> dict[Path, bytes | None]:
        view = self.views(root)
        found: dict[Path, bytes | None] = {}
        for call in calls:
            try:
                _take(view, call, found)
            except (CircuitAIError, BadArgumentsError, OSError):  # the call itself will say so
                continue
        return found


def _take(view: ProjectView, call: CallOnCard, found: dict[Path, bytes | None]) -> None:
    if call.tool == DELETE_FILE.name:
        path = view.locate_for_moving(DELETE_FILE.read_arguments(call.arguments).path)
        if path.is_file():
            found[path] = None
        return
    tool = next((each for each in (REWRITE_FILE, PATCH_FILE) if each.name == call.tool), None)
    if tool is None:
        return
    arguments = tool.read_arguments(call.arguments)
    path = view.locate_for_writing(arguments.path)
    before = found[path] if path in found else _present(view, path)
    after = content_after(view, arguments, before)
    if after is not None:
        found[path] = after


def _present(view: ProjectView, path: Path) -> bytes | None:
    try:
        with view.open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None
