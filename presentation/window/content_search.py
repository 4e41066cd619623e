"""Lines of the project's files in the command box, and the index they are found in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

from application.ports.events import EmbeddingChanged
from presentation.ui.hit_list import Hit
from presentation.ui.workspace import WindowServices
from presentation.window.command_box import CommandBox

if TYPE_CHECKING:
    from application.groups.program import Program
    from application.groups.project import Project
    from application.ports.search import Match

_AFTER_OPENING_MS = 1000
"""The window is drawn and filled first."""
_AFTER_CHANGE_MS = 200
_AFTER_TYPING_MS = 120
_MOST = 6
_SHOWN = 80


class ContentSearch(QObject):
    """Keeps the open project's index up to date in the background; finds what is typed in it."""

    def __init__(self, services: WindowServices, project: Project, program: Program, box: CommandBox) -> None:
        super().__init__(box)
        self._services = services
        self._project = project
        self._program = program
        self._box = box
        self._found: tuple[str, tuple[Match, ...]] = ("", ())
        """What was typed, and the lines that have it."""
        self._is_refreshing = self._is_stale = False
        self._refreshing = self._timer(self._refresh_index)
        self._typing = self._timer(self._find)
        box.add_source(self._hits, "content", is_looking=self._is_looking)
        box.textEdited.connect(lambda _text: self._typing.start(_AFTER_TYPING_MS))
        forget = program.events.subscribe(EmbeddingChanged, lambda _event: self._refreshing.start(0))
        self.destroyed.connect(forget)
        workspace = services.workspace
        workspace.project_opened.connect(lambda _root: self._refreshing.start(_AFTER_OPENING_MS))
        workspace.project_closed.connect(self._forget)
        workspace.file_changed.connect(lambda _path: self._refreshing.start(_AFTER_CHANGE_MS))
        workspace.file_moved.connect(lambda _old, _new: self._refreshing.start(_AFTER_CHANGE_MS))

    def _timer(self, act: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(act)
        return timer

    def _forget(self) -> None:
        self._refreshing.stop()
        self._typing.stop()
        self._found = ("", ())

    def _refresh_index(self) -> None:
        self._is_stale = True
        if not self._is_refreshing and self._services.workspace.root is not None:
            self._services.start(self._refresh(), kind="index project")

    async def _refresh(self) -> None:
        self._is_refreshing = True
        workspace = self._services.workspace
        try:
            while self._is_stale and (root := workspace.root) is not None:
                self._is_stale = False
                await self._project.search.refresh(root, goes_on=partial(self._is_open, root))
        finally:
            self._is_refreshing = False
        if self._box.hasFocus():  # somebody typed before there was an index to look in
            self._find()

    def _is_open(self, root: Path) -> bool:
        return self._services.workspace.root == root

    def _find(self) -> None:
        text, root = self._box.wanted, self._services.workspace.root
        if root is not None and _is_enough(text):
            self._services.start(self._look_for(text, root), kind="search contents")

    def _is_looking(self) -> bool:
        """Whether the answer for what stands in the box is still to come."""
        text = self._box.wanted
        is_indexing = self._is_refreshing or self._refreshing.isActive()
        return (
            self._services.workspace.root is not None
            and _is_enough(text)
            and (is_indexing or text != self._found[0])
        )

    async def _look_for(self, text: str, root: Path) -> None:
        from domain.search.query import SearchQuery  # late: the window is painted without it

        query = SearchQuery(text=text, kind="content", most=_MOST)
        found = await self._project.search.exact(root, query, is_fresh=True)
        if root == self._services.workspace.root and text == self._box.wanted:
            self._found = text, tuple(match for match in found.matches if match.page is None)
            if self._box.hasFocus():
                self._box.search_again()

    def _hits(self) -> Sequence[Hit]:
        root, workspace = self._services.workspace.root, self._services.workspace
        text, matches = self._found
        if root is None or text != self._box.wanted:
            return ()
        return [
            Hit(
                text=" ".join(match.text.split())[:_SHOWN],
                detail=f"{match.source}:{match.line}",
                icon="search",
                act=partial(workspace.file_activated.emit, root / match.source, match.line),
                is_content=True,
            )
            for match in matches
        ]


def _is_enough(text: str) -> bool:
    return len(text) > 1 or not text.isascii()
