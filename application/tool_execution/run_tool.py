"""Run one tool in one project: by hand, or for a model of another program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from application.ports.permissions import PermissionStore
from application.ports.project import ProjectFiles, Projects
from application.tool_execution.definition import ToolContext, ToolServices
from application.tool_execution.executor import Caller, Confirm, Judging, SingleCalls, ToolExecutor
from application.tool_execution.operations import Operations
from domain.llm.tools.result import ToolCall, ToolResult
from domain.llm.web_search import WEB_SEARCH, WebSearchSettings
from shared.errors import UserInputError
from shared.events import EventBus
from shared.message import msg
from shared.ulid import new_ulid

SESSION_ID = "command-line"
"""What calls by hand are logged under."""


class RunTool:
    """One call in one project, with an id of its own.

    Tools that only read work in any folder and leave nothing behind; one that has an effect makes the
    folder a project first, so that the effect is logged and can be undone.
    """

    def __init__(
        self,
        *,
        executor: ToolExecutor,
        services: ToolServices,
        projects: Projects,
        plain_folder: Callable[[Path], ProjectFiles],
        permissions: PermissionStore,
        events: EventBus | None = None,
    ) -> None:
        self.executor = executor
        self._events = events
        self._services = services
        self._projects = projects
        self._plain_folder = plain_folder
        """Makes the project object of a folder that need not be a project."""
        self._judging = Judging(permissions)

    async def __call__(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        project: Path,
        problem: str = "",
        confirm: Confirm | None = None,
        caller: Caller | None = None,
    ) -> ToolResult:
        """The outcome of the call; `problem` says why its arguments could not be read.

        `confirm` is asked about what has to be confirmed; with None it is not run. Without a `caller` it is a
        person's call, and the only one.
        Raises UserInputError when `project` is no folder, EnvironmentProblem when it cannot be used.
        """
        call = ToolCall(call_id=new_ulid(), name=name, arguments=arguments, problem=problem)
        rejected = self.executor.rejection(call)
        if rejected is not None:
            return rejected
        caller = caller or _by_hand()
        files = await asyncio.to_thread(self._open, name, project)
        try:
            context = ToolContext(
                project=files,
                session_id=caller.session_id,
                operations=Operations(log=files.operations, project=files, events=self._events),
                services=self._services,
                gate=SingleCalls(self._judging, confirm, caller),
                seen_versions=caller.seen_versions,
                is_on_network=not caller.is_person,
                web_search=await asyncio.to_thread(self._web_search) if name == WEB_SEARCH else None,
            )
            return await self.executor.execute(call, context)
        finally:
            await asyncio.to_thread(files.close)

    def _web_search(self) -> WebSearchSettings | None:
        """What was set up: who writes the call himself has switched the search on."""
        search = self._services.search_web
        return None if search is None else search.as_set()

    def _open(self, name: str, folder: Path) -> ProjectFiles:
        tool = self.executor.tool(name)
        assert tool is not None, "an unknown tool was refused"
        if not _is_usable(folder, may_be_made=tool.creates_project):
            raise UserInputError(
                msg("There is no folder {path}.", path=folder),
                advice=msg("Specify the project folder with --project."),
                file=folder,
                error_type="no_project",
            )
        if tool.effect in ("read", "outside"):
            return self._plain_folder(folder)
        return self._projects.open(folder, create=True)


def _by_hand() -> Caller:
    return Caller(
        session_id=SESSION_ID,
        is_person=True,
        way_to_allow=msg("Check what it would do; then add --yes to allow it."),
    )


def _is_usable(folder: Path, *, may_be_made: bool) -> bool:
    try:
        return folder.is_dir() or (may_be_made and not folder.exists())
    except (OSError, ValueError):  # a name no folder can have
        return False
