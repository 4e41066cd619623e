"""The program's models in the editor: a missing one is one key away."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

BARE = "* follower\r\nV1 vcc 0 5\r\nQ1 vcc b e 2n3904\r\nR1 e 0 1k\r\nV2 b 0 2\r\n.op\r\n.end\r\n"


def _codes(page: Any) -> list[str]:
    return [problem.code for problem in page.examination.problems]


async def test_a_missing_model_of_the_library_is_included_by_its_quick_fix(bench: Bench) -> None:
    circuit = bench.root / "follower.cir"
    circuit.write_bytes(BARE.encode())
    await bench.front("follower.cir")
    area = bench.window.parts.editor
    page = area.current_page()
    await bench.until(lambda: "undefined-model" in _codes(page))
    page.editor.setFocus()
    page.editor.go_to(3)
    (problem,) = [each for each in page.examination.problems if each.code == "undefined-model"]
    assert bench.services.language(problem.fix.title) == "Add .include 2N3904.lib"
    QTest.keyClick(page.editor, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    if page.editor.text() == BARE:  # without a window manager no widget has the focus its key needs
        bench.services.shortcuts.trigger("editor.quick_fix")
    await bench.until(lambda: _codes(page) == ["library-model"])
    assert page.editor.text() == BARE.replace("V1 vcc", ".include 2N3904.lib\r\nV1 vcc")
    result = await bench.run("follower.cir")
    assert result.ok
    assert result.operating_point.devices[0].region == "active"
    page.editor.undo()  # one step
    assert page.editor.text() == BARE
