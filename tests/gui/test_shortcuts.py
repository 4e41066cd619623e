"""The table of actions: keys in Qt's own writing, each answered, each in a menu; panels before the window."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtGui import QKeyEvent, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit, QMenu, QVBoxLayout, QWidget

from presentation.actions.action import SCOPES
from presentation.actions.shortcuts import Shortcuts, names_of
from presentation.actions.table import all_actions
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from presentation.window.menu import panel_actions
from scripts.keys_page import PAGE, page
from tests.gui.conftest import Until
from tests.gui.whole_window import end_window, open_window, without_web_view

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
async def window(
    services: WindowServices, project: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MainWindow]:
    without_web_view(monkeypatch)
    window = await open_window(services, until, project)
    window.activateWindow()
    await until(window.isActiveWindow)
    yield window
    await end_window(window, services, until)


def test_the_table_is_written_as_qt_does_and_gives_no_key_twice() -> None:
    actions = all_actions(panel_actions())
    assert max(Counter(action.name for action in actions).values()) == 1
    whose = {"focus": "window"}  # a key of every field is one of the window's
    keys: Counter[tuple[str, str]] = Counter()
    for action in actions:
        assert action.scope in SCOPES
        for key in (*action.usual_keys, *action.fixed_keys):
            assert QKeySequence(key).toString() == key, action.name
            keys[whose.get(action.scope, action.scope), key] += 1
            # AltGr is Ctrl+Alt, and writes; the menus have these letters.
            assert not key.startswith("Ctrl+Alt+"), action.name
            assert key not in {f"Alt+{letter}" for letter in "FEVCSDH"}, action.name
            # IBus and the Chinese input methods take these for themselves, where they have no twin.
            assert key not in {"Ctrl+Shift+U", "Ctrl+Shift+E"}, action.name
            if key in {"Ctrl+Space", "Ctrl+."}:
                assert len(action.usual_keys) > 1, f"{action.name} needs a twin"
    assert keys.most_common(1)[0][1] == 1, keys.most_common(3)


async def test_every_action_is_answered_and_stands_in_a_menu_with_its_key(
    window: MainWindow, services: WindowServices
) -> None:
    entries = {
        entry.objectName(): entry.text()
        for menu in window.header.menu_bar.findChildren(QMenu)
        for entry in menu.actions()
    }
    for action in services.shortcuts.actions:
        if action.menu is None:
            assert action.scope == "list" or action.name == "openMenus"
            continue
        key = services.shortcuts.shown(action.name)
        shown = window.commands.action(action.name).shortcut().toString()
        assert shown == key or entries[action.name].endswith(f"\t{key}") or not key, action.name
    services.shortcuts.set_changes({"run": ("Ctrl+R", "F9"), "editor.find": ("Alt+7",), "plot.fit": ()})
    assert [key.toString() for key in window.commands.action("run").shortcuts()] == ["Ctrl+R", "F9"]
    assert window.commands.action("editor.find").text().endswith("\tAlt+7")
    assert "\t" not in window.commands.action("plot.fit").text()
    assert window.header.run_group.run.toolTip().endswith("(Ctrl+R)")
    services.shortcuts.set_changes({})
    assert window.header.run_group.run.toolTip().endswith("(F5)")


async def test_keys_lead_to_tabs_panes_and_the_palette(window: MainWindow, until: Until) -> None:
    bottom, box = window.parts.bottom, window.header.command_box
    for number, key in enumerate(
        ("waveforms", "measurements", "iterations", "problems", "console", "operating_point")
    ):
        QTest.keyClick(window, Qt.Key(Qt.Key.Key_1 + number), ALT)
        assert bottom.shown_tab == key
        assert bottom.tabs.currentIndex() == number
    QTest.keyClick(window, Qt.Key.Key_M, CONTROL | SHIFT)
    assert bottom.shown_tab == "problems"
    runs: list[str] = []
    window.services.workspace.run_requested.disconnect()
    window.services.workspace.run_requested.connect(lambda: runs.append("run"))
    for key, held in ((Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_R, ALT)):
        QTest.keyClick(window, key, held)
    assert runs == ["run", "run"]
    QTest.keyClick(window, Qt.Key.Key_F11)
    assert bottom.shown_tab == "waveforms"
    assert not any(pane.isVisible() for pane in (window.panes.left, window.panes.right, window.parts.editor))
    assert all(window.panes.wanted.values()), "nothing of it is remembered"
    QTest.keyClick(window, Qt.Key.Key_F11)
    assert all(pane.isVisible() for pane in (window.panes.left, window.panes.right, window.parts.editor))

    QTest.keyClick(window, Qt.Key.Key_F1)
    assert box.text() == ">"
    assert len(box.shown_hits) > 10
    QTest.keyClicks(box, "high contr")
    assert box.shown_hits == ("High contrast",)
    QTest.keyClick(box, Qt.Key.Key_Escape)
    QTest.keyClick(window, Qt.Key.Key_P, CONTROL | SHIFT)
    QTest.keyClicks(box, "stop the simulation")
    assert box.shown_hits == ("Stop the simulation",), "also what cannot be done now, with the reason"
    told: list[object] = []
    window.services.workspace.status_changed.connect(told.append)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert [str(message) for message in told] == ["No simulation is running."]  # type: ignore[comparison-overlap]

    window.services.workspace.file_activated.emit(window.services.workspace.main_circuit, None)
    await until(lambda: window.parts.outline.names and window.parts.editor.isAncestorOf(window.focusWidget()))
    QTest.keyClick(window, Qt.Key.Key_O, CONTROL | SHIFT)
    QTest.keyClicks(box, "r1")
    assert "R1" in box.shown_hits
    QTest.keyClick(box, Qt.Key.Key_Escape)
    QTest.keyClick(window, Qt.Key.Key_F, CONTROL | SHIFT)
    QTest.keyClicks(box, "R1")
    await until(lambda: box.shown_hits)
    assert all("R1" in hit.upper() and hit.upper() != "R1" for hit in box.shown_hits), "lines alone"


def test_a_panel_answers_before_the_window_and_fields_within_keep_their_letters(qtbot: object) -> None:
    shortcuts, done = Shortcuts(), list[str]()
    panel = QWidget()
    field, bare = QLineEdit(), QWidget()
    bare.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    row = QVBoxLayout(panel)
    row.addWidget(field)
    row.addWidget(bare)
    shortcuts.answer(
        panel,
        {name: lambda name=name: done.append(name) for name in ("plot.fit", "plot.zoom_in", "plot.keys")},
    )
    panel.show()
    QTest.keyClick(bare, Qt.Key.Key_F)
    QTest.keyClick(bare, Qt.Key.Key_Plus, SHIFT)
    QTest.keyClick(bare, Qt.Key.Key_Plus, Qt.KeyboardModifier.KeypadModifier)
    QTest.keyClick(bare, Qt.Key.Key_Question, SHIFT)
    QTest.keyClick(bare, Qt.Key.Key_F1)
    assert done == ["plot.fit", "plot.zoom_in", "plot.zoom_in", "plot.keys", "plot.keys"]
    done.clear()
    QTest.keyClicks(field, "F+")
    assert (field.text(), done) == ("F+", [])
    with pytest.raises(KeyError):
        shortcuts.answer(panel, {"plot.dance": panel.close})
    shortcuts.trigger("plot.fit")
    assert done == ["plot.fit"]
    assert str(shortcuts.refusal("editor.find")) == "Nothing is open that this could be done with."
    panel.deleteLater()


@pytest.mark.parametrize(
    ("key", "held", "names"),
    [
        (Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier, ("Return",)),
        (Qt.Key.Key_Backtab, CONTROL | SHIFT, ("Ctrl+Shift+Tab",)),
        (Qt.Key.Key_Shift, SHIFT, ()),
        (Qt.Key.Key_F, SHIFT, ("Shift+F",)),
        (Qt.Key.Key_Question, SHIFT, ("Shift+?", "?")),
    ],
)
def test_pressed_keys_are_called_as_in_the_table(
    key: Qt.Key, held: Qt.KeyboardModifier, names: tuple[str, ...]
) -> None:
    assert names_of(QKeyEvent(QEvent.Type.KeyPress, key.value, held)) == names


def test_the_page_of_keys_is_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it again: python -m scripts.keys_page"
