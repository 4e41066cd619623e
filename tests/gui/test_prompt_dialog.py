"""The prompt settings, driven by clicks and keys."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from PyQt6 import sip
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from application.conversation.prompting import Prompting
from domain.llm.prompts.catalogue import TASKS
from domain.llm.prompts.library import names_in
from infrastructure.persistence.project import ProjectFolder
from infrastructure.persistence.prompt_files import PromptFiles
from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog
from presentation.dialogs.prompt_editor.page import PromptPage
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "user"


@pytest.fixture
def prompting(home: Path) -> Prompting:
    return Prompting(store=PromptFiles(user_home=home), plain_folder=ProjectFolder)


@pytest.fixture
async def dialog(
    services: WindowServices, prompting: Prompting, tmp_path: Path, until: Until
) -> PromptSettingsDialog:
    made = PromptSettingsDialog(services, prompting, project=tmp_path)
    made.open()
    await until(lambda: made.drafts is not None)
    return made


def is_open(dialog: PromptSettingsDialog) -> bool:
    return not sip.isdeleted(dialog) and dialog.isVisible()


def button(widget: QWidget, name: str) -> QPushButton:
    found = widget.findChild(QPushButton, name)
    assert found is not None, name
    return found


def click(widget: QWidget, name: str) -> None:
    QTest.mouseClick(button(widget, name), LEFT)


def choose(page: PromptPage, title: str) -> None:
    """Click the row of this title."""
    for row in range(page.list.count()):
        item = page.list.item(row)
        assert item is not None
        if item.text() == title or item.data(Qt.ItemDataRole.UserRole + 1) == title:
            viewport = page.list.viewport()
            QTest.mouseClick(viewport, LEFT, pos=page.list.visualItemRect(item).center())
            return
    pytest.fail(f"no row {title}")


def answer(dialog: PromptSettingsDialog, text: str) -> None:
    box = dialog.findChild(SmallDialog)
    assert box is not None
    for each in box.buttons():
        if each.text() == text:
            QTest.mouseClick(each, LEFT)
            return
    pytest.fail(f"no button {text}")


async def test_a_template_is_changed_saved_and_used(
    dialog: PromptSettingsDialog, prompting: Prompting, home: Path, until: Until
) -> None:
    page = dialog.pages["workflow"]
    choose(page, "Fix simulation error")
    assert page.key == "FIX_ERROR"
    assert not button(dialog, "applyPrompts").isEnabled()
    QTest.keyClick(page.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.editor, " Be kind.")
    assert dialog.drafts is not None
    assert [draft.key for draft in dialog.drafts.modified()] == ["FIX_ERROR"]
    assert dialog.state.whole == "1 text changed, not saved"
    saved: list[object] = []
    dialog.saved.connect(saved.append)
    click(dialog, "applyPrompts")
    await until(lambda: saved)
    assert dialog.drafts.modified() == []
    assert (await prompting.load()).templates["FIX_ERROR"].content.endswith(" Be kind.")
    assert dialog.isVisible()
    assert button(dialog, "resetPrompt").isEnabled()
    click(dialog, "resetPrompt")
    click(dialog, "okPrompts")
    await until(lambda: not is_open(dialog))
    assert json.loads((home / "prompts/custom/user_prompts.json").read_text())["templates"] == {}


async def test_an_unknown_variable_is_marked_and_mended_by_a_click(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    choose(page, "Analyze simulation")
    QTest.keyClick(page.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    page.editor.insertPlainText("😀")  # two units of UTF-16, one character
    QTest.keyClicks(page.editor, " {user_langage.")
    assert page.problem.isHidden()
    QTest.keyClick(page.editor, Qt.Key.Key_Backspace)
    QTest.keyClicks(page.editor, "}")
    assert "user_langage" in page.problem.whole
    QTest.mouseClick(page.problem, LEFT)
    assert page.editor.textCursor().selectedText() == "{user_langage}"
    click(page, "promptMend")
    assert page.editor.content().endswith("{user_language}")
    assert page.problem.isHidden()


async def test_a_chip_inserts_at_the_cursor_and_undo_takes_it_back(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    choose(page, "Initial design")
    before = page.editor.content()
    QTest.keyClick(page.editor, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    click(page, "variable:circuit_type")
    assert page.editor.content() == "{circuit_type}" + before
    QTest.keyClick(page.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.editor.content() == before
    assert dialog.drafts is not None
    assert dialog.drafts.modified() == []


async def test_edits_of_several_texts_wait_while_others_are_shown(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    for title in ("Initial design", "Fix simulation error"):
        choose(page, title)
        QTest.keyClicks(page.editor, "XY")
    choose(page, "Initial design")
    assert page.editor.content().startswith("XY")
    dialog.tabs.setCurrentIndex(1)
    QTest.keyClicks(dialog.pages["identity"].editor, "Z")
    assert dialog.state.whole == "3 texts changed, not saved"


async def test_an_empty_text_is_not_saved(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    QTest.keyClick(page.editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(page.editor, Qt.Key.Key_Delete)
    assert "empty" in page.problem.whole
    assert not button(dialog, "okPrompts").isEnabled()
    click(dialog, "resetPrompt")
    assert button(dialog, "okPrompts").isEnabled()
    QTest.keyClick(page.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.editor.content() == ""


@pytest.mark.parametrize(
    ("words", "stays", "is_saved"),
    [("Save and close", False, True), ("Don't save", False, False), ("Cancel", True, False)],
)
async def test_unsaved_changes_are_asked_about(
    dialog: PromptSettingsDialog, home: Path, until: Until, words: str, stays: bool, is_saved: bool
) -> None:
    QTest.keyClicks(dialog.pages["workflow"].editor, "X")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await until(lambda: dialog.findChild(SmallDialog) is not None)
    answer(dialog, words)
    await until(lambda: is_open(dialog) == stays)
    assert (home / "prompts/custom/user_prompts.json").exists() == is_saved


async def test_without_changes_it_just_closes(dialog: PromptSettingsDialog) -> None:
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not is_open(dialog)


async def test_a_variable_of_ones_own(
    dialog: PromptSettingsDialog, prompting: Prompting, until: Until
) -> None:
    dialog.tabs.setCurrentIndex(1)
    page = dialog.pages["identity"]
    assert not page.variables.remove.isEnabled()
    click(page, "addVariable")
    question = dialog.findChild(QWidget, "addVariableDialog")
    assert question is not None
    name, value = (question.findChild(QLineEdit, each) for each in ("variableName", "variableValue"))
    assert name is not None
    assert value is not None
    for refused in ("project_name", "1a", "a b"):
        name.setText(refused)
        assert not button(question, "confirmAdd").isEnabled()
        problem = question.findChild(QLabel, "variableProblem")
        assert problem is not None
        assert problem.text()
    name.clear()
    QTest.keyClicks(name, "bench")
    QTest.keyClicks(value, "E24 {project_name}")
    click(question, "confirmAdd")
    click(page, "variable:bench")
    click(dialog, "okPrompts")
    await until(lambda: not is_open(dialog))
    identity = (await prompting.load()).identity
    assert identity.variables[-1].value == "E24 {project_name}"
    assert "{bench}" in identity.content


async def test_removing_a_variable_marks_where_it_is_used(dialog: PromptSettingsDialog) -> None:
    from domain.llm.prompts.library import IdentityVariable

    dialog.tabs.setCurrentIndex(1)
    page = dialog.pages["identity"]
    assert dialog.drafts is not None
    dialog.drafts.add_variable(IdentityVariable(name="bench", value="x"))
    click(page, "variable:bench")
    click(page, "removeVariable")
    question = dialog.findChild(QWidget, "removeVariablesDialog")
    assert question is not None
    question.boxes["bench"].click()  # type: ignore[attr-defined]
    click(question, "confirmRemove")
    assert "bench" in page.problem.whole
    assert (
        page.findChild(QPushButton, "variable:bench") is None
        or not button(page, "variable:bench").isVisible()
    )


async def test_preferences_are_kept_for_all_and_for_this_project(
    dialog: PromptSettingsDialog, prompting: Prompting, tmp_path: Path, until: Until
) -> None:
    dialog.tabs.setCurrentIndex(1)
    page = dialog.pages["identity"]
    choose(page, "My preferences")
    QTest.keyClicks(page.editor, "E24 {only}")
    assert page.problem.isHidden()
    choose(page, "About this project")
    QTest.keyClicks(page.editor, "3.3 V")
    click(dialog, "okPrompts")
    await until(lambda: not is_open(dialog))
    preferences = (await prompting.load()).preferences
    assert preferences.mine == "E24 {only}"
    assert list(preferences.projects.values()) == ["3.3 V"]


async def test_find_and_replace_all_is_one_edit(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    page.editor.replace_content("one two One")
    QTest.keyClick(page.editor, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.find_bar.needle, "one")
    assert page.find_bar.count.text() == "2 found"
    QTest.keyClick(page.find_bar.needle, Qt.Key.Key_Return)
    assert page.editor.textCursor().selectedText() == "One"
    QTest.keyClicks(page.find_bar.replacement, "one more")
    click(page, "replaceAll")
    assert page.editor.content() == "one more two one more"
    page.editor.undo()
    assert page.editor.content() == "one two One"
    QTest.keyClick(page.find_bar.needle, Qt.Key.Key_Escape)
    assert page.find_bar.isHidden()
    assert dialog.isVisible()


async def test_the_filter_hides_other_rows_and_enter_does_not_close(dialog: PromptSettingsDialog) -> None:
    page = dialog.pages["workflow"]
    QTest.keyClicks(page.filter, "error")
    shown = [row for row in range(page.list.count()) if not page.list.item(row).isHidden()]  # type: ignore[union-attr]
    assert len(shown) == 1
    QTest.keyClick(page.filter, Qt.Key.Key_Return)
    assert dialog.isVisible()


async def test_language_and_theme_switch_live(dialog: PromptSettingsDialog, services: WindowServices) -> None:
    QTest.keyClicks(dialog.pages["workflow"].editor, "X")
    services.language.set("zh")
    assert dialog.windowTitle() == "提示词设置"
    assert dialog.tabs.tabText(0) == "工作流模板"
    assert dialog.state.whole == "1 处内容已修改，未保存"
    choose(dialog.pages["workflow"], "修复仿真错误")
    before = dialog.grab().toImage().pixelColor(5, dialog.height() - 5)
    services.theme.set_mode("dark")
    after = dialog.grab().toImage().pixelColor(5, dialog.height() - 5)
    assert before.lightness() > 200 > 60 > after.lightness()


async def test_a_place_that_cannot_be_written_keeps_dialog_and_text(
    dialog: PromptSettingsDialog, home: Path, until: Until
) -> None:
    await asyncio.to_thread(home.write_text, "in the way")
    QTest.keyClicks(dialog.pages["workflow"].editor, "X")
    click(dialog, "okPrompts")
    await until(lambda: "cannot be written" in dialog.state.whole)
    assert dialog.isVisible()
    assert dialog.drafts is not None
    assert len(dialog.drafts.modified()) == 1


async def test_a_broken_file_is_told(services: WindowServices, home: Path, until: Until) -> None:
    path = home / "prompts/custom/user_prompts.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    made = PromptSettingsDialog(services, Prompting(store=PromptFiles(user_home=home)))
    made.open()
    await until(lambda: made.drafts is not None)
    assert "user_prompts.json" in made.state.whole
    assert [draft.key for draft in made.drafts.of("identity")] == ["identity", "my_preferences"]  # type: ignore[union-attr]


async def test_what_was_not_sent_is_filled_on_the_open_project(
    dialog: PromptSettingsDialog, tmp_path: Path, until: Until
) -> None:
    await asyncio.to_thread((tmp_path / "amp.cir").write_text, "* amplifier\nR1 in 0 {rin}\n.end\n")
    page = dialog.pages["workflow"]
    choose(page, "Fix simulation error")
    assert page.sent.text() == "Not sent since the program started."
    QTest.keyClick(page.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.editor, " Be kind.")
    click(page, "promptAsSent")
    await until(lambda: "R1 in 0 {rin}" in page.sent_text.content())
    shown = page.sent_text.content()
    assert "Be kind." in shown
    assert "Message of ngspice: {error_message}" in shown
    assert "Filled with the values of the open project." in page.sent.text()
    assert "error_message" in page.sent.text()
    assert "netlist" not in page.sent.text()
    assert page.sent_text.isVisible()
    QTest.keyClick(page.sent_text, Qt.Key.Key_Tab)
    assert page.sent_text.content() == shown
    click(page, "promptAsSent")
    assert page.editor.isVisible()
    choose(page, "Summarize conversation")
    assert page.sent.text().startswith("Not sent since")
    assert "summary" in page._origin.whole


async def test_what_was_sent_is_shown_as_it_was_with_its_time_and_circuit(
    dialog: PromptSettingsDialog, prompting: Prompting, tmp_path: Path, until: Until
) -> None:
    page = dialog.pages["workflow"]
    choose(page, "Fix simulation error")
    click(page, "promptAsSent")
    await until(lambda: "Filled" in page.sent.text())
    folder = await asyncio.to_thread(ProjectFolder, tmp_path)
    await prompting.system_message(
        folder,
        task="FIX_ERROR",
        values={"netlist": "R1 a 0 1k", "error_message": "no such model qx"},
        main_circuit="amp.cir",
        session_id="s",
    )
    await asyncio.to_thread(folder.close)
    # The dialog is open while a design sends it.
    await until(lambda: page.sent.text().startswith("Last sent"))
    assert re.fullmatch(
        rf'Last sent: \d\d:\d\d, step "action/fix_error", amp\.cir in project {tmp_path.name}\.',
        page.sent.text(),
    )
    message = '<data name="error_message">no such model qx</data>'
    assert f"Message of ngspice: {message}" in page.sent_text.content()
    assert not page.compare.isEnabled()
    click(page, "promptAsSent")
    QTest.keyClicks(page.editor, "Mine. ")
    click(page, "promptAsSent")
    assert "Mine." not in page.sent_text.content()
    QTest.mouseClick(page.compare, LEFT)
    assert not page.as_sent.isChecked()
    choose(page, "Initial design")
    assert page.sent.text().startswith("Not sent")
    dialog.tabs.setCurrentIndex(1)
    identity = dialog.pages["identity"]
    await until(lambda: 'step "action/fix_error"' in identity.sent.text())
    choose(identity, "My preferences")
    assert identity.sent.isHidden()
    assert identity.as_sent.isHidden()


async def test_each_template_is_shown_with_its_values(prompting: Prompting, tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "amp.cir").write_text, "* amplifier\nR1 in 0 1k\n.end\n")
    library = await prompting.load()
    assert len(library.templates) == len(TASKS) == 10
    for task in TASKS:
        text = library.templates[task].content
        filled = await prompting.preview(tmp_path, task, text=text, main_circuit="amp.cir")
        left = {name for name in names_in(text) if f"{{{name}}}" in filled.text}
        assert left == set(filled.missing), task  # what has no value yet is named, all else is filled in
        assert ("R1 in 0 1k" in filled.text) == ("{netlist}" in text), task
