"""Files protected in the project tree: the menu's item, the mark, and what a model may then do."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtGui import QAction

from domain.llm.tools.confirmation import Permissions
from presentation.panels.project.tree import ProjectTree
from presentation.ui.rows import Role
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until


async def test_protection_is_kept_by_the_project_and_shown_by_a_lock(
    services: WindowServices, project: Path, until: Until
) -> None:
    file, link = project / "filter.cir", project / "link.cir"
    link.symlink_to("filter.cir")
    tree = ProjectTree(services, services.app.project, services.app.conversations)
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: tree.model.index_of(file).isValid() and tree.model.index_of(link).isValid())

    def item(path: Path) -> QAction:
        menu = tree.context_menu(tree.model.index_of(path))
        menu.deleteLater()
        return next(a for a in menu.actions() if a.text() == "Always ask before a model changes it")

    def icon() -> str:
        return str(tree.model.index_of(file).data(Role.LOOK).icon)

    async def kept() -> Permissions:
        return await asyncio.to_thread(services.app.conversations.permissions.of_project, project)

    assert not item(file).isChecked()
    item(link).toggle()  # whatever name it is protected by
    await until(lambda: icon() == "lock")
    assert (await kept()).protected == ("filter.cir",)
    assert (await kept()).protects("filter.cir")
    assert item(file).isChecked()
    services.workspace.project_opened.emit(project)  # as after a restart
    await until(lambda: tree.model.index_of(file).isValid() and icon() == "lock")
    item(file).toggle()
    await until(lambda: icon() == "file-code")
    assert (await kept()) == Permissions()
    await until(lambda: not services.app.program.tasks.handles)
    tree.deleteLater()
