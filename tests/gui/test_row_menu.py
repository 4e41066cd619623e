"""The menu of a row, by the right mouse button and by its key, in both views."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QContextMenuEvent, QTextCursor
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu, QWidget

from presentation.panels.conversation.items import (
    AnswerText,
    Item,
    OperationCard,
    Reset,
    RowEdit,
    Updated,
    UserText,
)
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.row_menu import RowMenu
from presentation.panels.conversation.web_view import WebConversation
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.row_states import row_states
from tests.gui.test_conversation_web_view import (  # noqa: F401 - fixtures
    Script,
    chromium,
    script,
    view,
)

pytestmark = pytest.mark.timeout(120)

ROWS: tuple[Item, ...] = (
    UserText(key="u", text="A low-pass of 10 kHz.", can_edit=True),
    *(row for row in row_states() if isinstance(row, OperationCard) and row.key == "o"),
    AnswerText(
        key="a",
        text="As it is:\n\n```spice\nV9 in 0 1\nR1 in out 1k\n```\n\nand the place:\n\n"
        "```\npart.lib:3\n```\n\nSo be it.",
        can_regenerate=True,
    ),
)
OF_ANSWER = [
    "Copy the answer", "Quote in the message", "Regenerate the answer\t/regenerate",
    "Branch from here\t/branch",
]  # fmt: skip
OF_NETLIST = ["Insert as file…", "Run…", "Copy the code", *OF_ANSWER]


def open_menu() -> QMenu | None:
    shown = QApplication.activePopupWidget()
    return shown if isinstance(shown, QMenu) else None


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


class Asked:
    """Menus of a view, and what is chosen in them."""

    def __init__(self, services: WindowServices, shown: Any, until: Until) -> None:
        self.acts: list[tuple[str, str, str]] = []
        self._menu = RowMenu(services, shown, lambda: ROWS, lambda: True, self._act)
        shown.menu_wanted.connect(self._menu.show)
        self._until = until

    def _act(self, act: str, key: str, argument: str) -> None:
        self.acts.append((act, key, argument))

    async def offers(self, wanted: list[str], choose: str = "") -> None:
        """The menu that is open now; it is closed again, by Esc or by choosing in it."""
        await self._until(lambda: open_menu() is not None)
        menu = open_menu()
        assert menu is not None
        assert entries(menu) == wanted
        if choose:
            action = next(each for each in menu.actions() if each.text() == choose)
            QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
        else:
            QTest.keyClick(menu, Qt.Key.Key_Escape)
        await self._until(lambda: open_menu() is None)


async def test_the_page_has_a_menu_for_each_row(
    services: WindowServices,
    view: WebConversation,  # noqa: F811
    script: Script,  # noqa: F811
    until: Until,
) -> None:
    view.apply([Reset(items=ROWS)])
    asked = Asked(services, view, until)
    surface = view._view.focusProxy()
    assert isinstance(surface, QWidget)

    async def click(selector: str) -> None:
        """With the right button, in the middle of the first that is so."""
        box = f"document.querySelector(`{selector}`).getBoundingClientRect()"
        x, y = await script(
            f"(() => {{ const at = {box}; return [at.x + at.width / 2, at.y + at.height / 2]; }})()"
        )
        QTest.mouseClick(surface, Qt.MouseButton.RightButton, pos=QPoint(round(x), round(y)))

    await click("[data-key=u] .user")
    await asked.offers(
        [
            "Copy the message",
            "Quote in the message",
            "Edit and send again\t/edit",
            "Branch from here",
        ],
        "Edit and send again\t/edit",
    )
    await click("[data-key=a] pre.code.spice")
    await asked.offers(OF_NETLIST, "Run…")
    await click("[data-key=a] pre.code:not(.spice)")
    await asked.offers(["Copy the code", *OF_ANSWER], "Copy the code")
    await click("[data-key=o] .head")
    await asked.offers(
        ["Copy text", "Quote in the message", "Undo this change", "Show in the editor"], "Undo this change"
    )
    await script("getSelection().selectAllChildren(document.querySelector('[data-key=a] p')); 1")
    await click("[data-key=a] p")
    chosen = ["Copy selected text\tCtrl+C", "Quote selected text", *OF_ANSWER[:1], *OF_ANSWER[2:]]
    await asked.offers(chosen, "Quote selected text")
    await script("getSelection().empty(); document.querySelector('[data-key=o] [data-act=undo]').focus(); 1")
    surface.setFocus()
    QTest.keyClick(surface, Qt.Key.Key_Menu)
    await asked.offers(["Copy text", "Quote in the message", "Undo this change", "Show in the editor"])
    view.apply([Updated(item=UserText(key="u", text="A low-pass.", edit=RowEdit(text="A low-pass.")))])
    await script("document.querySelector('textarea').select(); 1")
    await click("textarea")
    QApplication.clipboard().setText("")  # type: ignore[union-attr]
    await asked.offers(["Undo\tCtrl+Z", "Redo\tCtrl+Y", "Cut\tCtrl+X", "Copy\tCtrl+C", "Paste\tCtrl+V",
                        "Select all\tCtrl+A"], "Cut\tCtrl+X")  # fmt: skip
    await until(lambda: QApplication.clipboard().text() == "A low-pass.")  # type: ignore[union-attr]
    assert asked.acts == [
        ("edit", "u", ""), ("run_code", "a", "0"), ("copy_code", "a", "1"), ("undo", "o", ""),
        ("quote", "a", "As it is:"),
    ]  # fmt: skip


async def test_the_plain_view_has_the_same_menus(services: WindowServices, until: Until) -> None:
    plain = PlainConversation(services)
    plain.resize(440, 900)
    plain.apply([Reset(items=ROWS)])
    plain.show()
    asked, surface = Asked(services, plain, until), plain.surface
    viewport = surface.viewport()
    assert viewport is not None

    def ask(words: str, *, by_keys: bool = False) -> None:
        """At these words."""
        found = surface.text_document.find(words)
        assert found.hasSelection()
        place = surface.cursorRect(found).center()
        reason = QContextMenuEvent.Reason.Keyboard if by_keys else QContextMenuEvent.Reason.Mouse
        if by_keys:
            surface.setTextCursor(found)
        QApplication.sendEvent(viewport, QContextMenuEvent(reason, place, viewport.mapToGlobal(place)))

    ask("low-pass")
    await asked.offers(
        [
            "Copy the message",
            "Quote in the message",
            "Edit and send again\t/edit",
            "Branch from here",
        ]
    )
    ask("V9 in")
    await asked.offers(OF_NETLIST, "Run…")
    ask("part.lib:3")
    await asked.offers(["Copy the code", *OF_ANSWER], "Copy the code")
    ask("So be it")
    await asked.offers(OF_ANSWER)
    ask("be it", by_keys=True)
    chosen = ["Copy selected text\tCtrl+C", "Quote selected text", *OF_ANSWER[:1], *OF_ANSWER[2:]]
    await asked.offers(chosen, "Quote selected text")
    surface.moveCursor(QTextCursor.MoveOperation.Start)
    assert asked.acts == [("run_code", "a", "0"), ("copy_code", "a", "1"), ("quote", "a", "be it")]
    plain.close()
