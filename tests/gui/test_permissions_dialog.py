"""The dialog of the confirmation rules, by clicks and keys, over the real file of decisions."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from domain.llm.tools.confirmation import Permissions, Rule
from presentation.dialogs.permissions import PermissionsDialog
from presentation.ui.workspace import WindowServices
from shared.paths import user_home
from tests.gui.conftest import Until

LEFT = Qt.MouseButton.LeftButton


async def test_rules_are_added_refused_and_removed(
    services: WindowServices, project: Path, until: Until, tmp_path: Path
) -> None:
    store = services.app.conversations.permissions
    await asyncio.to_thread(store.consent, project, "https://api.example.com:443", is_given=True)

    async def kept() -> Permissions:
        return await asyncio.to_thread(store.of_project, project)

    dialog = PermissionsDialog(services, services.app.conversations, project)
    dialog.open()
    await until(lambda: dialog.shown)
    names = [dialog.tool.itemData(row) for row in range(dialog.tool.count())]
    tools = services.app.conversations.run_tool.executor.names - {"other_tool"}  # no rule would hold for it
    assert names == ["*", *sorted(tools)]
    assert dialog.shown == [("Send", "", "https://api.example.com:443", "may be sent there")]

    dialog.decision.setCurrentIndex(dialog.decision.findData("deny"))
    dialog.tool.setCurrentIndex(dialog.tool.findData("delete_file"))
    QTest.keyClicks(dialog.path, "lib/**")
    dialog.effect.setCurrentIndex(dialog.effect.findData("delete"))
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    await until(lambda: len(dialog.shown) == 2)
    assert dialog.isVisible(), "Enter in the field adds, it does not close"
    rule = Rule(decision="deny", tool="delete_file", path="lib/**", effect="delete")
    assert (await kept()).rules == (rule,)

    order = (dialog.decision, dialog.tool, dialog.path, dialog.effect, dialog.add_button, dialog.close_button)
    dialog.decision.setFocus()
    for widget in order:
        assert dialog.focusWidget() is widget
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    dialog.path.setFocus()

    # What could never hold is refused in the dialog, and stays to be mended.
    QTest.keyClicks(dialog.path, "../elsewhere")
    QTest.mouseClick(dialog.add_button, LEFT)
    await until(lambda: "matches no file of the project" in dialog.error.text())
    assert dialog.path.text() == "../elsewhere"
    dialog.path.selectAll()
    dialog.decision.setCurrentIndex(dialog.decision.findData("protected"))
    assert not dialog.tool.isEnabled()
    QTest.keyClicks(dialog.path, "filter.cir")
    QTest.mouseClick(dialog.add_button, LEFT)
    await until(lambda: len(dialog.shown) == 3)
    assert (await kept()).protected == ("filter.cir",)
    assert not dialog.error.isVisible()

    for language, word in (("zh", "拒绝"), ("en", "Deny")):
        services.language.set(language)
        assert dialog.shown[0][0] == word
        for theme in ("light", "dark"):
            services.theme.set_mode(theme)
            assert dialog.grab().save(str(tmp_path / f"{language}-{theme}.png"))

    dialog.table.setFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert dialog.table.selected_rows() == [0], "the first row too is reached by the keyboard"
    dialog.table.selectAll()
    QTest.keyClick(dialog.table, Qt.Key.Key_Delete)
    await until(lambda: not dialog.shown)
    assert await kept() == Permissions()
    QTest.mouseClick(dialog.close_button, LEFT)
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_damaged_file_is_said_and_nothing_can_be_added(
    services: WindowServices, project: Path, until: Until
) -> None:
    home = user_home()
    home.mkdir(parents=True, exist_ok=True)
    (home / "permissions.json").write_text("{")
    dialog = PermissionsDialog(services, services.app.conversations, project)
    dialog.open()
    await until(dialog.error.text)
    assert "permissions.json" in dialog.error.text()
    assert not dialog.add_button.isEnabled()
    QTest.keyClicks(dialog.path, "x")
    QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    assert (home / "permissions.json").read_text() == "{"
    await until(lambda: not services.app.program.tasks.handles)
