"""Ready sentences with gaps: filled in by Tab, in the message that is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QToolButton

from presentation.panels.conversation.items import UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import keys, of, offered, panel, use  # noqa: F401 - a fixture

TAB, BACK = Qt.Key.Key_Tab, Qt.Key.Key_Backtab


async def choose(
    shown: ConversationPanel, services: WindowServices, project: Path, until: Until, written: str
) -> None:
    """Write the beginning of a command, and take it."""
    services.workspace.shown_file = project / "filter.cir"
    edit = shown.composer.edit
    shown.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, written)
    assert len(offered(shown)) == 1
    keys(shown, Qt.Key.Key_Return)


@pytest.fixture
async def sweep(
    panel: ConversationPanel,  # noqa: F811
    services: WindowServices,
    project: Path,
    until: Until,
) -> ConversationPanel:
    """`/sweep` was chosen."""
    await choose(panel, services, project, until, "/sw")
    return panel


def chosen(shown: ConversationPanel) -> str:
    return shown.composer.edit.textCursor().selectedText()


def hints(shown: ConversationPanel) -> list[str]:
    return [each.text() for each in shown.composer.findChildren(QLabel) if each.text()]


async def test_tab_leads_from_field_to_field_and_what_is_missing_is_named(
    sweep: ConversationPanel, until: Until
) -> None:
    edit = sweep.composer.edit
    text = "Sweep <part> of @filter.cir from <first value> to <last value> in E6 values, then explain "
    assert sweep.composer.text == text + "what it does to the goals."
    assert chosen(sweep) == "<part>"
    assert edit._line_count() > 1
    await until(lambda: edit.height() == edit.sizeHint().height())  # all of its lines are seen
    assert "Tab: next field" in hints(sweep)
    marked = [each.cursor.selectedText() for each in edit.extraSelections()]
    assert marked == ["<part>", "<first value>", "<last value>", "E6 values", "what it does to the goals"]
    QTest.keyClicks(edit, "R1")
    keys(sweep, TAB)
    assert chosen(sweep) == "<first value>"
    QTest.keyClicks(edit, "500")
    keys(sweep, TAB, TAB)
    assert chosen(sweep) == "E6 values"
    keys(sweep, BACK, BACK, BACK)
    assert chosen(sweep) == "R1"
    keys(sweep, Qt.Key.Key_Return)
    assert sweep.notice == "Fill in: last value"
    assert chosen(sweep) == "<last value>"
    assert not of(sweep, UserText)
    QTest.keyClicks(edit, "2k")
    keys(sweep, TAB, TAB, TAB)
    assert edit.textCursor().atEnd()
    keys(sweep, TAB)
    assert chosen(sweep) == "R1"
    QTest.keyClicks(edit, "@")  # what is offered is narrowed by the same key
    await until(lambda: offered(sweep))
    keys(sweep, TAB)
    assert offered(sweep)
    assert chosen(sweep) == ""
    keys(sweep, Qt.Key.Key_Escape)
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    keys(sweep, Qt.Key.Key_Return)
    assert sweep.notice == "Fill in: part"
    QTest.keyClicks(edit, "R1")
    with FakeLLMServer([answer("Done.")]) as server:
        use(sweep, server)
        keys(sweep, Qt.Key.Key_Return)
        await until(lambda: of(sweep, UserText) and not sweep.is_running)
    (said,) = of(sweep, UserText)
    assert said.text.startswith("Sweep R1 of @filter.cir from 500 to 2k in E6 values, then explain what")
    assert edit.extraSelections() == []
    assert "Tab: next field" not in hints(sweep)


async def test_fields_are_kept_with_their_draft(sweep: ConversationPanel, until: Until) -> None:
    edit = sweep.composer.edit
    QTest.keyClicks(edit, "R1")
    marked = ["R1", "<first value>", "<last value>", "E6 values", "what it does to the goals"]

    def shown() -> list[str]:
        return [each.cursor.selectedText() for each in edit.extraSelections()]

    assert shown() == marked
    for tab in range(2):  # from the first conversation to a new one and back
        tabs = sweep.tab_row.tabs
        if tab:
            QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(0).center())
        else:
            QTest.mouseClick(sweep.findChild(QToolButton, "newConversation"), Qt.MouseButton.LeftButton)
            assert (sweep.composer.text, shown()) == ("", [])
            QTest.keyClicks(edit, "something else")
    assert shown() == marked
    assert "Tab: next field" in hints(sweep)
    keys(sweep, TAB)
    assert chosen(sweep) == "R1"
    keys(sweep, TAB)
    QTest.keyClicks(edit, "1k")
    keys(sweep, TAB)
    QTest.keyClicks(edit, "2k")
    with FakeLLMServer([answer("Done.", piece_delay_s=0.05), answer("Both.")]) as server:
        use(sweep, server)
        # Also where the conversation begins while they are filled in.
        sweep.composer.set_text("hello")
        keys(sweep, Qt.Key.Key_Return)
        await until(lambda: sweep.is_running)
        QTest.keyClicks(edit, "/sw")
        keys(sweep, Qt.Key.Key_Return)
        assert len(shown()) == 5
        assert not sweep.session_id
        await until(lambda: sweep.session_id and not sweep.is_running)
        assert len(shown()) == 5
        keys(sweep, Qt.Key.Key_Escape)
        assert sweep.model.shelf.fields == {}


async def test_fields_are_left_by_escape_and_with_their_text(sweep: ConversationPanel) -> None:
    edit, text = sweep.composer.edit, sweep.composer.text
    keys(sweep, Qt.Key.Key_Escape)
    assert sweep.composer.text == text
    assert edit.extraSelections() == []
    edit.clear()
    QTest.keyClicks(edit, "/monte")
    keys(sweep, Qt.Key.Key_Return)
    assert chosen(sweep) == "1 %"
    edit.selectAll()
    QTest.keyClicks(edit, "Something else")
    assert edit.extraSelections() == []
    keys(sweep, TAB)
    assert not edit.hasFocus(), "Tab leads on as everywhere"


async def test_fields_stand_in_the_order_of_the_language(
    panel: ConversationPanel,  # noqa: F811
    services: WindowServices,
    project: Path,
    until: Until,
) -> None:
    services.language.set("zh")
    await choose(panel, services, project, until, "/monte")
    assert panel.composer.text == "对 @filter.cir 做蒙特卡洛分析，电阻 1%，电容 5%。"
    QTest.keyClicks(panel.composer.edit, "2%")
    keys(panel, TAB)
    assert chosen(panel) == "5%"
    QTest.keyClicks(panel.composer.edit, "10%")
    assert panel.composer.text == "对 @filter.cir 做蒙特卡洛分析，电阻 2%，电容 10%。"
