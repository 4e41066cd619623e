"""Compressing a conversation by its button: the hint, the dialog, the row, and the way back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QTextCursor
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QListWidget, QPlainTextEdit, QPushButton, QSpinBox, QTextBrowser

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import CompressedRow, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from shared.paths import user_home
from tests.fakes.llm_server import FakeLLMServer, Script, answer
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, top_dialog, type_and_send

LEFT = Qt.MouseButton.LeftButton
USED = {"prompt_tokens": 22_000, "completion_tokens": 400, "total_tokens": 22_400}
SUMMARY = "- Task: a corner of 1.6 kHz.\n- Open: the load."


def script(body: dict[str, Any]) -> Script:
    if "memory of a conversation" in str(body["messages"][0]["content"]):
        return answer(SUMMARY)
    return answer("The filter is loaded by what follows it. " * 30, usage=USED)


@pytest.fixture
def server() -> Iterator[FakeLLMServer]:
    """With the settings of its models, which are read when the program starts."""
    with FakeLLMServer(script) as running:
        small = {"provider": "openai-compatible", "model": "small", "base_url": running.base_url}
        settings = {"models": {"m": {"context_tokens": 32_000}}, "small_model": small}
        user_home().mkdir(parents=True, exist_ok=True)
        (user_home() / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        yield running


@pytest.fixture
async def panel(
    server: FakeLLMServer, services: WindowServices, project: Path, until: Until
) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    made.model.set_choice(ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url))
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def part(dialog: object, kind: type, name: str) -> object:
    found = dialog.findChild(kind, name)  # type: ignore[attr-defined]
    assert found is not None, name
    return found


def place_of_link(view: QTextBrowser, act: str) -> QPoint | None:
    """Where on the screen a link is that does something."""
    document = view.document()
    assert document is not None
    block = document.begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            fragment = place.fragment()
            if act in fragment.charFormat().anchorHref():
                cursor = QTextCursor(document)
                cursor.setPosition(fragment.position() + fragment.length() // 2)
                return view.cursorRect(cursor).center()
            place += 1
        block = block.next()
    return None


def click_link(panel: ConversationPanel, act: str) -> None:
    browser = panel.view.findChild(QTextBrowser)
    assert browser is not None
    at = place_of_link(browser, act)
    assert at is not None, act
    if not browser.viewport().rect().contains(at):  # type: ignore[union-attr]
        bar = browser.verticalScrollBar()
        assert bar is not None
        bar.setValue(bar.value() + at.y() - 100)
        at = place_of_link(browser, act)
        assert at is not None
    QTest.mouseClick(browser.viewport(), LEFT, pos=at)


async def test_the_button_the_dialog_the_row_and_the_way_back(
    panel: ConversationPanel, server: FakeLLMServer, services: WindowServices, until: Until, tmp_path: Path
) -> None:
    button = panel.status_line.compress
    assert button.isHidden()
    for number in range(5):
        wish = "The corner must be 1.6 kHz. Never touch C1. " if not number else f"Step {number}: go on."
        type_and_send(panel, wish)
        await until(lambda: not panel.is_running)
    await until(button.isVisible)
    assert "70 %" in button.toolTip()
    for language in ("zh", "en"):
        services.language.set(language)
        assert panel.grab().save(str(tmp_path / f"hint-{language}.png"))

    QTest.mouseClick(button, LEFT)
    await until(lambda: top_dialog("compressDialog"))
    dialog = top_dialog("compressDialog")
    assert dialog is not None
    do, draft = part(dialog, QPushButton, "doCompress"), part(dialog, QPushButton, "previewSummary")
    note, figures = part(dialog, QLabel, "compressNote"), part(dialog, QLabel, "compressFigures")
    text, keep = part(dialog, QPlainTextEdit, "compressText"), part(dialog, QSpinBox, "keepMessages")
    pins = part(dialog, QListWidget, "pinMessages")
    assert isinstance(do, QPushButton)
    assert isinstance(draft, QPushButton)
    assert isinstance(note, QLabel)
    assert isinstance(figures, QLabel)
    assert isinstance(text, QPlainTextEdit)
    assert isinstance(keep, QSpinBox)
    assert isinstance(pins, QListWidget)
    # All ten messages would stay: nothing to do, and that is said.
    await until(figures.text)
    assert "no older messages" in figures.text()
    assert not do.isEnabled()
    keep.setFocus()
    keep.selectAll()
    QTest.keyClicks(keep, "5")
    await until(do.isEnabled)
    assert "4 of 10 messages" in figures.text()
    assert "Never touch C1." in text.toPlainText()
    assert pins.count() == 4
    # Keep the second answer whole.
    item = pins.item(1)
    assert item is not None
    box = pins.visualItemRect(item)
    QTest.mouseClick(pins.viewport(), LEFT, pos=QPoint(box.left() + 8, box.center().y()))
    assert item.checkState() == Qt.CheckState.Checked
    await until(lambda: "kept whole" in text.toPlainText())
    QTest.mouseClick(draft, LEFT)
    await until(lambda: "small" in note.text())
    assert SUMMARY in text.toPlainText()
    for language in ("zh", "en"):
        services.language.set(language)
        for theme in ("dark", "light"):
            services.theme.set_mode(theme)
            assert dialog.grab().save(str(tmp_path / f"dialog-{language}-{theme}.png"))
    asked = len(server.requests)
    QTest.mouseClick(do, LEFT)
    await until(lambda: of(panel, CompressedRow))
    assert len(server.requests) == asked  # what was shown is what is taken
    await until(lambda: top_dialog("compressDialog") is None)
    (row,) = of(panel, CompressedRow)
    assert (row.done.messages, row.done.by, row.is_in_force) == (4, "small", True)
    assert "4 messages summarized" in shown(panel)
    assert len(of(panel, UserText)) == 5  # the originals stay where they were
    assert panel.model.context_tokens < 22_400
    for language in ("zh", "en"):
        services.language.set(language)
        assert panel.grab().save(str(tmp_path / f"row-{language}.png"))

    type_and_send(panel, "And now?")
    await until(lambda: not panel.is_running)
    sent = server.requests[-1]["messages"]
    assert "summarized here" in str(sent[1]["content"])
    assert "Never touch C1." in str(sent[1]["content"])

    click_link(panel, "restore")
    await until(lambda: not of(panel, CompressedRow)[0].is_in_force)
    type_and_send(panel, "And then?")
    await until(lambda: not panel.is_running)
    assert "summarized here" not in str(server.requests[-1]["messages"])


async def test_it_goes_on_in_a_new_conversation(
    panel: ConversationPanel, server: FakeLLMServer, until: Until
) -> None:
    type_and_send(panel, "The corner must be 1.6 kHz. Never touch C1.")
    await until(lambda: not panel.is_running)
    old = panel.session_id
    panel.show_compression()
    await until(lambda: top_dialog("compressDialog"))
    carry = part(top_dialog("compressDialog"), QPushButton, "carryOver")
    assert isinstance(carry, QPushButton)
    await until(carry.isEnabled)
    QTest.mouseClick(carry, LEFT)
    await until(lambda: panel.session_id != old and of(panel, CompressedRow))
    assert "Begins with the summary" in shown(panel)
    assert "(continued)" in panel.model.name
    type_and_send(panel, "Go on.")
    await until(lambda: not panel.is_running)
    begins, said = (str(one["content"]) for one in server.requests[-1]["messages"][1:3])
    assert "Never touch C1." in begins
    assert said.endswith("Go on.")
