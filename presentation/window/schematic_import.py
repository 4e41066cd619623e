"""File > Import LTspice schematic: its netlist is put into the project and opened."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from presentation.ui.questions import choose_files, tell
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.uninterrupted import off_loop


def import_schematic(services: WindowServices, project: Project, window: QWidget) -> None:
    root = services.workspace.root
    if root is not None:
        services.start(_import(services, project, window, root), kind="import schematic")


async def _import(services: WindowServices, project: Project, window: QWidget, root: Path) -> None:
    title = msg("Import an LTspice schematic")
    for source in await choose_files(services, window, title, root, filters=("LTspice (*.asc *.ASC)",)):
        target = await off_loop(_free, root, source)
        made = await project.import_schematic(source, target)
        services.workspace.file_activated.emit(made.path, None)
        services.workspace.status_changed.emit(msg("Netlist: {path}", path=made.path.name))
        if made.missing:
            lines = [services.language(each) for each in made.missing]
            tell(
                services,
                window,
                title=msg("Not everything of {name} could be read", name=source.name),
                text="\n".join(lines),
                copies=True,
            )


def _free(root: Path, source: Path) -> Path:
    """Beside the sheet when it lies in the project, else at its top; under a name that is not taken."""
    folder = source.parent if source.parent.is_relative_to(root) else root
    number, target = 1, folder / f"{source.stem}.cir"
    while target.exists():
        number += 1
        target = folder / f"{source.stem}-{number}.cir"
    return target
