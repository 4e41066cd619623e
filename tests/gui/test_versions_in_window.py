"""A message edited and sent again, an answer regenerated, versions before: by real keys and clicks."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import AnswerText, ErrorBlock, Note, OperationCard, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_field import RowField
from presentation.ui.hit_list import HitList
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.conftest import Until
from tests.gui.test_compression_in_window import click_link, place_of_link
from tests.gui.test_conversation_panel import NoWebView, of, panel, shown, top_dialog, type_and_send, use

__all__ = ["panel"]
LEFT = Qt.MouseButton.LeftButton


def texts(panel: ConversationPanel) -> list[str]:
    return [row.text for row in panel.model.items if isinstance(row, UserText | AnswerText)]


def said_to(server: FakeLLMServer) -> list[str]:
    """What the last request has, but the system's message and the data of the project."""
    messages = server.requests[-1]["messages"][1:]
    return [str(message["content"]).rsplit("\n\n", 1)[-1] for message in messages]


def row_field(panel: ConversationPanel, at: int) -> RowField:
    """The message with this number as a field."""
    panel.view.acted.emit("edit", of(panel, UserText)[at].key, "")
    field = panel.findChild(RowField)
    assert field is not None
    return field


def change(panel: ConversationPanel, at: int, text: str) -> None:
    """Send another version of the message with this number."""
    field = row_field(panel, at)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def ask(panel: ConversationPanel, until: Until, *words: str) -> None:
    for text in words:
        type_and_send(panel, text)
        await until(lambda: not panel.is_running)


async def test_edit_send_again_look_back_and_regenerate(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    script = [answer(text) for text in ("A1.", "A2.", "B2.", "B3.", "C3.", "D1.")]
    with FakeLLMServer(script) as server:
        use(panel, server)
        await ask(panel, until, "first", "second")
        panel.composer.set_text("half a thought")
        change(panel, 1, "second, better")
        await until(lambda: not panel.is_running)
        assert texts(panel) == ["first", "A1.", "second, better", "B2."]
        assert said_to(server) == ["first", "A1.", "second, better"]
        assert panel.composer.text == "half a thought"
        assert "2 / 2" in shown(panel)

        click_link(panel, "version")  # the only one that leads anywhere
        await until(lambda: "A2." in texts(panel))
        assert texts(panel) == ["first", "A1.", "second", "A2."]
        assert "earlier version (1 of 2)" in services.language(of(panel, Note)[-1].text)
        assert not of(panel, AnswerText)[-1].can_regenerate
        await ask(panel, until, "third")  # goes behind what stands, whatever is looked at
        assert texts(panel) == ["first", "A1.", "second, better", "B2.", "third", "B3."]
        assert said_to(server) == ["first", "A1.", "second, better", "B2.", "third"]

        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="other", base_url=server.base_url)
        )
        click_link(panel, "again")
        await until(lambda: texts(panel)[-1] == "C3." and not panel.is_running)
        assert server.requests[-1]["model"] == "other"
        assert said_to(server) == ["first", "A1.", "second, better", "B2.", "third"]
        panel.activateWindow()
        panel.composer.edit.setFocus()
        QTest.keyClicks(panel.composer.edit, "/edit")  # by keys alone
        await until(lambda: any(hits.isVisible() for hits in panel.findChildren(HitList)))
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
        field = panel.findChild(RowField)
        assert field is not None
        assert field.toPlainText() == "third"
        change(panel, 0, "anew")
        await until(lambda: not panel.is_running)
        assert texts(panel) == ["anew", "D1."]
        assert said_to(server) == ["anew"]

    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    again.show()
    await until(lambda: texts(again) == ["anew", "D1."])
    (newest,) = of(again, UserText)
    assert len(newest.versions) == 2
    again.view.acted.emit("version", newest.key, "-1")
    await until(lambda: "C3." in texts(again))
    assert [row.versions.index(row.key) + 1 for row in of(again, UserText) if row.versions] == [1, 2, 2]
    again.view.acted.emit("version", of(again, UserText)[2].key, "-1")
    await until(lambda: texts(again)[-1] == "B3.")
    again.view.acted.emit("version", of(again, UserText)[0].key, "1")
    await until(lambda: texts(again) == ["anew", "D1."])
    again.close_panel()


@pytest.mark.parametrize("way", ["keep", "undo"])
async def test_changes_of_files_are_asked_about_never_undone_silently(
    panel: ConversationPanel, project: Path, until: Until, way: str
) -> None:
    await ask(panel, until, "set R1 to 2k in filter.cir")
    await until(lambda: of(panel, OperationCard)[-1].standing == "stands")
    with FakeLLMServer([answer("As you like.")]) as server:
        use(panel, server)
        change(panel, 0, "only tell me of R1")
        await until(lambda: top_dialog("question") is not None)
        question = top_dialog("question")
        assert question is not None
        assert panel.tabs.drafts() == {panel.session_id: "only tell me of R1"}  # what a kill leaves now
        buttons = {button.text(): button for button in question.findChildren(QPushButton)}
        QTest.mouseClick(buttons["Keep the files" if way == "keep" else "Undo the changes"], LEFT)
        await until(lambda: texts(panel) == ["only tell me of R1", "As you like."] and not panel.is_running)
        request = str(server.requests[-1])
    assert ("R1 in out 2k" in (project / "filter.cir").read_text()) is (way == "keep")
    assert "taken back" not in request  # the model knows nothing of what it did in a version before
    assert not any(message["role"] == "tool" for message in server.requests[-1]["messages"])


async def test_what_was_not_sent_replaces_nothing(panel: ConversationPanel, until: Until) -> None:
    with FakeLLMServer([answer("A1.")]) as server:
        use(panel, server)
        await ask(panel, until, "first")
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="m", base_url="none://at all")
        )
        change(panel, 0, "changed")
        await until(lambda: of(panel, ErrorBlock) and texts(panel) == ["first", "A1."])
        field = panel.findChild(RowField)
        assert field is not None
        assert (field.toPlainText(), panel.composer.text) == ("changed", "")
        assert panel.model.unsent == "changed"


@pytest.mark.timeout(240)
async def test_a_design_stays_where_it_is(panel: ConversationPanel, until: Until) -> None:
    panel.toggle_mode()
    type_and_send(panel, "Design an RC low-pass filter with a cutoff of 10 kHz")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=90)
    QTest.keyClick(top_dialog("goalsDialog"), Qt.Key.Key_Escape)
    await until(lambda: not panel.is_running)
    session, before = panel.session_id, texts(panel)
    assert row_field(panel, 0).toPlainText() == before[0]
    change(panel, 0, "Design an RC low-pass filter with a cutoff of 20 kHz")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=90)
    assert "20\u00a0kHz" in top_dialog("goalsDialog").limits  # type: ignore[union-attr]
    QTest.keyClick(top_dialog("goalsDialog"), Qt.Key.Key_Escape)
    await until(lambda: not panel.is_running)
    assert panel.session_id not in ("", session)
    panel.open_session(session)
    await until(lambda: texts(panel) == before)


async def test_a_message_is_changed_in_its_row_beside_what_is_written(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    with FakeLLMServer([answer(text) for text in ("A1.", "A2.", "B1.")]) as server:
        use(panel, server)
        await ask(panel, until, "first", "second")
        panel.composer.set_text("half a thought")
        versions, key = panel.model.versions, of(panel, UserText)[0].key
        panel.activateWindow()
        field = row_field(panel, 0)
        await until(field.hasFocus)
        assert panel.composer.text == "half a thought"
        assert "Replaces it and what follows; files stay" in shown(panel)
        QTest.keyClicks(field, ", changed")
        assert "first, changed" in panel.model.unsent, "kept, whatever happens"
        # Over its room in the row, between the lines around it; higher with another line.
        surface = panel.view.surface
        await until(lambda: field.isVisible() and surface.viewport().rect().contains(field.geometry()))
        before = field.height()
        QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert field.height() > before
        await until(lambda: place_of_link(surface, "leave_edit").y() > field.geometry().bottom())
        QTest.keyClick(field, Qt.Key.Key_Backspace)
        services.language.set("zh")  # drawn anew, with what was written and the caret where it was
        await until(lambda: "将替换" in shown(panel))
        assert panel.findChild(RowField) is field
        assert field.toPlainText() == "first, changed"
        services.language.set("en")
        QTest.keyClick(field, Qt.Key.Key_Tab)  # on to the buttons of the row
        assert surface.hasFocus()
        assert surface.textCursor().charFormat().anchorHref().startswith("act:leave_edit/")
        QTest.keyClick(field, Qt.Key.Key_Escape)  # the row is left, the input is not
        await until(lambda: of(panel, UserText)[0].edit is None)
        assert panel.composer.edit.hasFocus()
        assert (panel.composer.text, texts(panel)[0]) == ("half a thought", "first")
        assert panel.model.unsent == "half a thought"
        # Another conversation in its place: what was made of the message is a draft.
        session = panel.session_id
        versions.edit(key)
        versions.note_row(key, "first, kept")
        panel.model.new_conversation()
        panel.open_session(session)
        await until(lambda: panel.session_id == session and len(texts(panel)) == 4)
        assert panel.composer.text == "first, kept\nhalf a thought"
        panel.composer.set_text("half a thought")
        versions.edit(key)
        assert services.language(versions.send_row(key, "  ")) == "The message is empty."
        panel.view.focus_field()
        field = panel.findChild(RowField)
        field.selectAll()
        QTest.keyClicks(field, "first, sent")
        click_link(panel, "resend")
        await until(lambda: not panel.is_running and texts(panel) == ["first, sent", "B1."])
        assert of(panel, UserText)[0].versions[0] == key
        assert panel.composer.text == "half a thought"
        assert said_to(server) == ["first, sent"]
