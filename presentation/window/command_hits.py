"""What the command box finds: files of the project, rows of the outline, commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject

from application.groups.project import Project
from domain.circuit.netlist import CIRCUIT_SUFFIXES, NETLIST_SUFFIXES
from presentation.panels.project.outline import OutlinePane
from presentation.ui.hit_list import Hit
from presentation.ui.parts import once_after
from presentation.ui.workspace import WindowServices
from presentation.window.command_box import CommandBox
from presentation.window.commands import Commands
from shared.errors import UserInputError
from shared.message import msg

_MOST_FILES = 2000


def _is_no_circuit(path: Path) -> bool:
    return path.suffix.lower() not in CIRCUIT_SUFFIXES


class Finder(QObject):
    """Feeds the box."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        box: CommandBox,
        commands: Commands,
        outline: OutlinePane,
    ) -> None:
        super().__init__(box)
        self._services = services
        self._project = project
        self._box = box
        self._commands = commands
        self._outline = outline
        self._files: tuple[Path, ...] = ()
        self._nodes: Mapping[str, int] = {}
        """Of the shown file, with their first lines."""
        self._timer = once_after(self, 300, self._list_files)
        box.add_source(self._command_hits, "command")
        box.add_source(self._file_hits, "file")
        for source in (self._outline_hits, self._node_hits):
            box.add_source(source, "symbol")
        workspace = services.workspace
        workspace.project_opened.connect(lambda _root: self._list_files())
        workspace.project_closed.connect(self._forget)
        workspace.file_changed.connect(lambda _path: self._timer.start())
        workspace.file_shown.connect(lambda _path: self._find_nodes())

    def _forget(self) -> None:
        self._timer.stop()
        self._files = ()

    def _list_files(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._read_files(root), kind="list files")
        self._find_nodes()

    def _find_nodes(self) -> None:
        self._nodes = {}
        shown = self._services.workspace.shown_file
        if shown is not None and shown.suffix.lower() in NETLIST_SUFFIXES:
            self._services.start(self._read_nodes(shown), kind="list nodes")

    async def _read_nodes(self, shown: Path) -> None:
        try:
            nodes = await self._project.browse.nodes(shown)
        except UserInputError:  # gone or not to be read: the editor tells
            return
        if shown == self._services.workspace.shown_file:
            self._nodes = nodes

    async def _read_files(self, root: Path) -> None:
        files = await self._project.browse.files(root, _MOST_FILES)
        if root == self._services.workspace.root:
            self._files = tuple(sorted(files, key=_is_no_circuit))

    def _file_hits(self) -> Sequence[Hit]:
        root, workspace = self._services.workspace.root, self._services.workspace
        if root is None:
            return ()
        return [
            Hit(
                text=path.name,
                detail="" if path.parent == root else path.parent.relative_to(root).as_posix(),
                icon="file-code" if path.suffix.lower() in NETLIST_SUFFIXES else "file-text",
                act=partial(workspace.file_activated.emit, path, None),
                # With its folder, too, behind those whose names begin so.
                also=() if path.parent == root else (f"./{path.relative_to(root).as_posix()}",),
            )
            for path in self._files
        ]

    def _outline_hits(self) -> Sequence[Hit]:
        shown = self._services.workspace.shown_file
        if shown is None:
            return ()
        return [
            Hit(text=name, detail=shown.name, icon="list-tree", act=self._goer(shown, name))
            for name in self._outline.names
        ]

    def _node_hits(self) -> Sequence[Hit]:
        workspace, language = self._services.workspace, self._services.language
        shown = workspace.shown_file
        if shown is None:
            return ()
        detail = language(msg("node in {name}", name=shown.name))
        return [
            Hit(
                text=node,
                detail=detail,
                icon="circle-dashed",
                act=partial(workspace.file_activated.emit, shown, line),
            )
            for node, line in self._nodes.items()
        ]

    def _goer(self, shown: Path, name: str) -> Callable[[], object]:
        return lambda: self._services.workspace.file_activated.emit(shown, self._outline.line_of(name))

    def _command_hits(self) -> Sequence[Hit]:
        """What can be done; where commands alone are looked for the others too, with the reason."""
        language, shortcuts = self._services.language, self._services.shortcuts
        hits = []
        for command in self._commands.all:
            row, reason = command.action, command.refusal()
            if not row.in_box or (reason is not None and self._box.kind != "command"):
                continue
            act = command.act
            if reason is not None:
                act = partial(self._services.workspace.status_changed.emit, reason)
            hits.append(
                Hit(
                    text=language(row.title),
                    detail=shortcuts.shown(row.name) if reason is None else language(reason),
                    icon=row.icon,
                    act=act,
                    also=(str(row.title),),  # the words of the trade are English in every language
                )
            )
        return hits
