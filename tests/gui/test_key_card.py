"""The card of keys: searched, other keys pressed and in force at once, clashes said, kept for later."""

from __future__ import annotations

import json

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton

from presentation.actions.shortcuts import Shortcuts, unusable
from presentation.dialogs.key_card import KeyCard
from presentation.ui.workspace import WindowServices
from tests.ground.cases import for_each
from tests.gui.conftest import Until

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def _action(name: str) -> object:
    return next(action for action in Shortcuts().actions if action.name == name)


async def test_keys_are_searched_pressed_and_kept(services: WindowServices, until: Until) -> None:
    program, shortcuts = services.app.program, services.shortcuts
    idle = lambda: not program.tasks.handles  # noqa: E731
    card = KeyCard(services, program.user_keys, None)
    card.open()
    await until(idle)
    assert len(card.table.rows) == len(shortcuts.actions)
    QTest.keyClicks(card.search, "main circuit run")
    assert [row[0].text for row in card.table.rows] == ["Run the main circuit"]
    assert card.chosen_action is not None
    assert not card.set_button.isEnabled()

    QTest.keyClick(card.new_key, Qt.Key.Key_R, CONTROL)
    assert (card.new_key.text(), card.told.text()) == ("Ctrl+R", "")
    QTest.mouseClick(card.set_button, Qt.MouseButton.LeftButton)
    await until(lambda: shortcuts.keys_of("runMain") == ("Ctrl+R",))
    assert card.table.rows[0][2].text == "Ctrl+R"

    QTest.keyClick(card.new_key, Qt.Key.Key_F5)  # another action's
    assert card.told.text() == "F5 is the key of “Run the current circuit”, which loses it."
    QTest.mouseClick(card.add_key_button, Qt.MouseButton.LeftButton)
    await until(lambda: shortcuts.keys_of("run") == ("Alt+R",))
    assert shortcuts.keys_of("runMain") == ("Ctrl+R", "F5")

    for key, held, words in (
        (Qt.Key.Key_C, CONTROL, "Ctrl+C belongs to “Copy” and stays there."),
        (Qt.Key.Key_R, Qt.KeyboardModifier.NoModifier, "R is typed into texts: hold Ctrl or Alt with it."),
        (Qt.Key.Key_Left, SHIFT, ""),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, "Left is needed to write and to move about."),
        (
            Qt.Key.Key_Q,
            CONTROL | Qt.KeyboardModifier.AltModifier,
            "Ctrl+Alt+Q writes a sign on many keyboards (AltGr).",
        ),
        (Qt.Key.Key_E, CONTROL, "In one place (Plot) Ctrl+E stays the key of “Show everything”."),
    ):
        QTest.keyClick(card.new_key, key, held)
        if words:
            assert card.told.text() == words
            assert card.set_button.isEnabled() == ("stays the key" in words)

    again = KeyCard(services, program.user_keys, None)  # another window, or the next start
    shortcuts.set_changes({})
    again.open()
    await until(lambda: shortcuts.keys_of("runMain") == ("Ctrl+R", "F5"))
    assert again.all_button.isEnabled()
    QTest.mouseClick(again.all_button, Qt.MouseButton.LeftButton)
    await until(lambda: not shortcuts.changes)
    assert shortcuts.keys_of("run") == ("F5", "Alt+R")
    again.close()
    services.language.set("zh")
    card.close()
    await until(idle)


async def test_the_plots_card_has_its_keys_and_what_the_mouse_does(
    services: WindowServices, until: Until
) -> None:
    card = KeyCard(services, services.app.program.user_keys, None, "plot")
    card.open()
    texts = [row[0].text for row in card.table.rows]
    assert {"Fit y", "Select cursor A", "Zoom y"} <= set(texts)
    assert "Open folder" not in texts
    card.table.selectRow(len(texts) - 1)  # a gesture of the mouse
    assert not card.new_key.isEnabled()
    assert not any(card.findChild(QPushButton, name).isEnabled() for name in ("setKey", "noKey", "usualKey"))  # type: ignore[union-attr]
    card.close()
    await until(lambda: not services.app.program.tasks.handles)


def test_what_a_file_asks_for_is_used_as_far_as_it_can_be_and_told() -> None:
    shortcuts = Shortcuts()
    changes = json.loads(
        '{"run": ["ctrl+shift+r"], "quit": ["hullabaloo"], "save": ["s"], "gone": ["F2"],'
        ' "openFolder": ["Ctrl+N"], "plot.fit": ["Q"]}'
    )
    told = shortcuts.set_changes({name: tuple(keys) for name, keys in changes.items()})
    assert shortcuts.keys_of("run") == ("Ctrl+Shift+R",)
    assert shortcuts.keys_of("quit") == ("Ctrl+Q",)
    assert shortcuts.keys_of("plot.fit") == ("Q",), "letters are for the plot"
    assert [str(each) for each in told] == [
        "“hullabaloo” is not a key.",
        "S is typed into texts: hold Ctrl or Alt with it.",
        "Ctrl+N is set for two actions: Open folder…, New project…. The first one has it.",
    ]


@for_each("key", ["F9", "Ctrl+R", "Alt+Return", "Shift+F1", "Ctrl++", "Alt+-"])
def test_keys_that_can_be_given(key: str) -> None:
    assert unusable(_action("run"), key) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "key", ["", "R", "Shift+R", "Space", "Ctrl+Alt+R", "Return", "Esc", "Ctrl+K, Ctrl+S"]
)
def test_keys_that_cannot_be_given(key: str) -> None:
    assert unusable(_action("run"), key) is not None  # type: ignore[arg-type]
