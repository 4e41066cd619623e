"""From the text and the plot into the message: lines are named, a change is begun, a picture is attached."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

CONTROL = Qt.KeyboardModifier.ControlModifier
DECK = "* RC\nV1 in 0 AC 1\nR1 in out\n+ 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n"


async def test_lines_and_pictures_come_into_the_message(bench: Bench) -> None:
    (bench.root / "two words.cir").write_text(DECK)
    await bench.front("two words.cir")
    window = bench.window
    editor, composer = window.parts.editor.current_editor(), window.parts.conversation.composer
    assert editor is not None
    told: list[str] = []
    bench.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    # Without a selection the caret goes to the message, as from everywhere in the window, and back again.
    editor.setFocus()
    for is_shown, focused in ((True, composer.edit), (False, editor), (True, composer.edit)):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_L, CONTROL)
        assert window.panes.right.isVisible() == is_shown
        assert window.focusWidget() is focused
    assert composer.text == ""
    editor.setFocus()

    editor.setSelection(1, 0, 4, 3)
    QTest.keyClick(editor, Qt.Key.Key_L, CONTROL)
    assert composer.text == '@"two words.cir:2-5" '
    QTest.keyClicks(composer.edit, "why?")
    # The card at the caret, with its + lines; behind what is written already.
    editor.go_to(4)
    QTest.keyClick(editor, Qt.Key.Key_K, CONTROL)
    assert composer.text == '@"two words.cir:2-5" why? Change @"two words.cir:3-4": '
    bench.services.language.set("zh")
    composer.set_text("")
    QTest.keyClick(editor, Qt.Key.Key_K, CONTROL)
    assert composer.text == '修改 @"two words.cir:3-4"： '
    bench.services.language.set("en")

    # A file outside the project is not the conversation's.
    outside = bench.root.parent / "outside.cir"
    outside.write_text(DECK)
    bench.services.workspace.file_activated.emit(outside, None)
    await bench.until(lambda: bench.services.workspace.shown_file == outside)
    QTest.keyClick(window.parts.editor.current_editor(), Qt.Key.Key_K, CONTROL)
    assert told[-1] == "outside.cir is not in the project: the conversation cannot read it."

    await bench.run("two words.cir")
    QTest.keyClick(bench.panel.area, Qt.Key.Key_L, CONTROL)
    await bench.until(lambda: any("is attached to the message" in each for each in told))
    await bench.settled()
