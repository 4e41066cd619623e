"""The start page's box, and coming from a schematic of another program: from the page, and in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton

from presentation.dialogs.import_file import ImportDialog
from presentation.panels.editor import nothing_open
from presentation.ui.new_project import WantedDesign
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.uninterrupted import off_loop
from tests.gui.conftest import Until
from tests.gui.test_main_window import (
    MakeWindow,
    Settled,
    answer_of,
    dialog,
    editor_of,
    make,
    press,
    settled,
)

__all__ = ["make", "settled"]

PLOTS = """[Transient Analysis]
{
   Npanes: 2
   {
      traces: 2 {524290,0,"V(out)"} {524291,0,"V(n007)"}
      X: ('m',1,0,0.0005,0.005)
      Log: 0 0 0
   },
   {
      traces: 2 {34603010,1,"V(in)*I(R1)"} {34603011,1,"Ix(U1:2)"}
      Log: 0 0 0
   }
}
"""
SHEET = """Version 4
SHEET 1 880 680
WIRE 48 48 -64 48
WIRE 208 48 128 48
WIRE 208 80 208 48
FLAG 208 144 0
FLAG -64 144 0
FLAG 208 48 out
FLAG -64 48 in
SYMBOL res 144 32 R90
SYMATTR InstName R1
SYMATTR Value 1k
SYMBOL cap 192 80 R0
SYMATTR InstName C1
SYMATTR Value {C}
SYMBOL voltage -64 48 R0
SYMATTR InstName V1
SYMATTR Value AC 1
TEXT -64 240 Left 2 !.ac dec 20 10 100k
TEXT -64 260 Left 2 !.include lib/parts.lib
TEXT -64 280 Left 2 !.include absent.lib
"""


@pytest.fixture
def sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's folder of LTspice; his home is beside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "sheets"
    (folder / "lib").mkdir(parents=True)
    (folder / "low pass.asc").write_text(SHEET)
    (folder / "low pass.plt").write_text(PLOTS, encoding="utf-16-le")
    (folder / "lib" / "parts.lib").write_text(".param C=100n\n.include more.lib\n")
    (folder / "lib" / "more.lib").write_text(".model dx d\n")
    return folder


async def test_a_sentence_names_its_folder_until_another_one_is_given(
    make: MakeWindow,
    services: WindowServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
    settled: Settled,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "Circuits" / "RC-low-pass").mkdir(parents=True)
    window = await make()
    box = window.welcome.box
    wanted: list[WantedDesign] = []
    box.wanted.disconnect()
    box.wanted.connect(wanted.append)
    assert not box.design.isEnabled()
    assert box.change.isHidden()
    assert box.model_button.text().strip() == "Built-in designer"
    QTest.keyClicks(box.text, "An RC low-pass")
    await until(lambda: "~/Circuits/RC-low-pass-2," in box.into.toolTip() + box.into.text())
    QTest.mouseClick(box.change, Qt.MouseButton.LeftButton)
    await until(lambda: dialog(window, SmallDialog))
    asked = dialog(window, SmallDialog)
    assert asked is not None
    assert answer_of(asked, QLineEdit).text() == "RC-low-pass"
    answer_of(asked, QLineEdit).setText("mine")
    press(asked, "OK")
    await until(lambda: "~/Circuits/mine," in box.into.toolTip() + box.into.text())
    QTest.keyClicks(box.text, " of 1 kHz")
    QTest.keyClick(box.text, Qt.Key.Key_Return)
    assert wanted == [WantedDesign(text="An RC low-pass of 1 kHz", name="mine", place=tmp_path / "Circuits")]
    await settled()
    assert box.text.toPlainText(), "until its project is there"
    services.workspace.design_requested.disconnect(window.parts.conversation.design)
    services.workspace.design_requested.emit(wanted[0].text)
    assert not box.text.toPlainText(), "the page comes back for the next one, which names its own folder"
    QTest.keyClicks(box.text, "buck")
    assert "~/Circuits/buck," in box.into.toolTip() + box.into.text()
    await settled()


async def test_every_kind_of_circuit_puts_a_sentence_of_it_into_the_box(
    make: MakeWindow, services: WindowServices, until: Until, settled: Settled
) -> None:
    window = await make()
    QTest.mouseClick(window.welcome.all_kinds, Qt.MouseButton.LeftButton)
    await until(lambda: dialog(window, SmallDialog))
    press(dialog(window, SmallDialog), "OK")
    await until(window.welcome.text.toPlainText)
    await settled()


async def test_a_schematic_from_the_start_page_becomes_a_project_with_its_libraries(
    make: MakeWindow, services: WindowServices, sheets: Path, until: Until, settled: Settled
) -> None:
    window = await make()
    for answer in ("Cancel", "Import"):
        services.workspace.import_wanted.emit(sheets / "low pass.asc")
        await until(lambda: dialog(window, ImportDialog))
        shown = dialog(window, ImportDialog)
        assert isinstance(shown, ImportDialog)
        netlist = shown.findChild(QPlainTextEdit, "importedNetlist")
        assert netlist is not None
        assert "R1 out in 1k" in netlist.toPlainText()
        texts = [label.text() for label in shown.findChildren(QLabel)]
        assert any("lib/parts.lib, lib/more.lib" in text for text in texts)
        assert any("Not beside it: absent.lib." in text for text in texts)
        assert any("~/Circuits/low pass/low pass.cir" in text for text in texts)
        press(shown, answer)
        await until(lambda: dialog(window, ImportDialog) is None)
        await settled()
        assert (services.workspace.root is None) == (answer == "Cancel")
    made = Path.home() / "Circuits" / "low pass"
    assert services.workspace.root == made
    assert (made / "lib" / "more.lib").read_text() == ".model dx d\n"
    await until(lambda: services.workspace.main_circuit == made / "low pass.cir")
    assert services.workspace.shown_file == made / "low pass.cir"
    view = services.workspace.views.of(made / "low pass.cir")
    assert view.traces == {"tran": ["v(out)", "v(in)*i(r1)"]}
    assert view.looks["tran"].views["LTspice"].panes == {"v(in)*i(r1)": 1}
    assert any("v(out), v(in)*i(r1)" in text for text in texts)
    assert any("no counterpart here: V(n007), Ix(U1:2)" in text for text in texts)
    await settled()


async def test_a_folder_with_a_schematic_and_no_circuit_offers_to_import_it(
    make: MakeWindow, services: WindowServices, sheets: Path, until: Until, settled: Settled
) -> None:
    assert await off_loop(nothing_open._schematics, sheets.parent) == (sheets / "low pass.asc",)
    window = await make(sheets)
    empty = editor_of(window)._empty
    await until(lambda: "low pass.asc" in empty._label.text())
    assert window.focusWidget() is window.parts.tree.view
    button = next(each for each in empty.findChildren(QPushButton) if not each.isHidden())
    assert button.text() == "Import…"  # before all else that could be done here
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    await until(lambda: dialog(window, ImportDialog))
    press(dialog(window, ImportDialog), "Cancel")
    await until(lambda: dialog(window, ImportDialog) is None)
    # Who opens the sheet instead is offered the same above its text, and by F5.
    services.workspace.file_activated.emit(sheets / "low pass.asc", None)
    await until(lambda: services.workspace.shown_file == sheets / "low pass.asc")
    services.workspace.run_requested.emit()
    await until(lambda: dialog(window, ImportDialog))
    press(dialog(window, ImportDialog), "Cancel")
    await until(lambda: dialog(window, ImportDialog) is None)
    page = editor_of(window).current_page()
    assert page is not None
    press(page.notices, "Import…")
    await until(lambda: dialog(window, ImportDialog))
    press(dialog(window, ImportDialog), "Import")
    await until(lambda: services.workspace.shown_file == sheets / "low pass.cir")
    assert (sheets / "low pass.asc").read_text() == SHEET
    await settled()
