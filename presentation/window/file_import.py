"""File > Import: what is made of files of other programs is put into the project and opened."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.project.importing import target_of
from presentation.ui.questions import choose_files, tell
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.uninterrupted import off_loop

_FILTERS = (
    "LTspice, Touchstone, Qucs (*.asc *.ASC *.s?p *.S?P *.net *.txt)",
    "LTspice (*.asc *.ASC)",
    "Touchstone (*.s?p *.S?P)",
    "Qucs (*.net *.txt)",
)


def import_files(services: WindowServices, project: Project, window: QWidget) -> None:
    root = services.workspace.root
    if root is not None:
        services.start(_import(services, project, window, root), kind="import")


async def _import(services: WindowServices, project: Project, window: QWidget, root: Path) -> None:
    title = msg("Import files of other programs")
    for source in await choose_files(services, window, title, root, filters=_FILTERS):
        target = await off_loop(_free, root, source)
        made = await project.import_file(source, target)
        services.workspace.file_activated.emit(made.path, None)
        services.workspace.status_changed.emit(msg("Imported: {path}", path=made.path.name))
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
    usual = target_of(folder / source.name)
    number, target = 1, usual
    while target.exists():
        number += 1
        target = usual.with_stem(f"{usual.stem}-{number}")
    return target
