"""Files and pictures in the conversation: pasted, dropped, chosen, removed, sent, shown again."""

from __future__ import annotations

import base64
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.attachment_chips import AttachmentChip
from presentation.panels.conversation.attachment_dialog import AttachmentDialog
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import Confirmation, ErrorBlock, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, type_and_send


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 700)
    made.show()
    yield made
    made.close_panel()
    clipboard().clear()
    await until(lambda: not services.app.program.tasks.handles)


def clipboard() -> Any:
    found = QGuiApplication.clipboard()
    assert found is not None
    return found


def files(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    mime.setText("\n".join(map(str, paths)))  # as file managers do
    return mime


def drop(panel: ConversationPanel, mime: QMimeData) -> bool:
    """As the window system does it; whether it was taken."""
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action, at = Qt.DropAction.CopyAction, panel.rect().center()
    entering = QDragEnterEvent(at, action, mime, buttons, keys)
    QApplication.sendEvent(panel, entering)
    if not entering.isAccepted():
        return False
    dropping = QDropEvent(QPointF(at), action, mime, buttons, keys)
    QApplication.sendEvent(panel, dropping)
    return dropping.isAccepted()


def chips(panel: ConversationPanel) -> tuple[AttachmentChip, ...]:
    return panel.composer.chips.chips


def names(panel: ConversationPanel) -> list[str]:
    return [chip.file.name for chip in chips(panel)]


async def settled(panel: ConversationPanel, until: Until, count: int) -> None:
    await until(lambda: len(chips(panel)) == count and not panel.model.pending.is_reading)


def pictures_in(body: Any) -> list[Image.Image]:
    parts = [part for message in body["messages"] for part in message["content"] if isinstance(part, dict)]
    found = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in found]


def tab_stops(panel: ConversationPanel) -> list[QWidget]:
    """What Tab reaches, from the message on."""
    found: list[QWidget] = [panel.composer.edit]
    while (after := found[-1].nextInFocusChain()) not in (None, panel.composer.edit):
        assert after is not None
        found.append(after)
    return [each for each in found if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisible()]


def dialogs() -> list[AttachmentDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, AttachmentDialog)]


async def test_paste_drop_remove_send_and_see_again(
    panel: ConversationPanel, services: WindowServices, project: Path, tmp_path: Path, until: Until
) -> None:
    model, edit = panel.model, panel.composer.edit
    photo = tmp_path / "board.png"
    Image.new("RGB", (300, 200), "green").save(photo)
    # A screenshot from the clipboard has no text beside it.
    shot = QImage(64, 32, QImage.Format.Format_RGB32)
    shot.fill(Qt.GlobalColor.red)
    clipboard().setImage(shot)
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    await settled(panel, until, 1)
    assert not edit.toPlainText()
    assert chips(panel)[0].button.accessibleName().startswith("picture-")
    # Files on the panel; text that is pasted stays text.
    assert drop(panel, files(photo, project / "filter.cir"))
    await settled(panel, until, 3)
    words = QMimeData()
    words.setText("hello")
    assert not drop(panel, words)
    clipboard().setText("Why? ")
    QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert edit.toPlainText() == "Why? "
    # The same file again is one; by the keyboard one goes, and the next has the focus.
    clipboard().setMimeData(files(photo))
    QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    await settled(panel, until, 3)
    first = chips(panel)[0]
    stops = tab_stops(panel)
    assert stops[:3] == [edit, first.button, first.cross]
    buttons = ("attachPicture", "attachFile", "searchSwitch", "modelButton", "sendButton")
    reached = [each.objectName() for each in stops]
    assert [name for name in reached if name in buttons] == [name for name in buttons if name in reached]
    assert reached.index("attachPicture") == 7  # behind the cross of the last chip
    first.cross.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(first.cross, Qt.Key.Key_Delete)
    assert names(panel) == ["board.png", "filter.cir"]
    assert panel.model.pending.tokens > 0
    # The plot of the results comes the same way.
    services.workspace.picture_offered.emit("Run_1_ac.png", photo.read_bytes() + b"\n")
    await settled(panel, until, 3)
    QTest.mouseClick(chips(panel)[2].cross, Qt.MouseButton.LeftButton)
    assert names(panel) == ["board.png", "filter.cir"]
    with FakeLLMServer(lambda _body: answer("I see a board.")) as server:
        model.set_choice(
            ProviderChoice(provider="openai-compatible", model="gpt-4o", base_url=server.base_url)
        )
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert not chips(panel)
        await until(lambda: not panel.is_running)
        assert [picture.size for picture in pictures_in(server.requests[0])] == [(300, 200)]
        assert "attached file filter.cir" in str(server.requests[0])
        assert "board.png (300 × 200" in shown(panel)
        # Another conversation and back: read from the project.
        session_id = model.session_id
        model.new_conversation()
        panel.open_session(session_id)
        await until(lambda: of(panel, UserText))
        (said,) = of(panel, UserText)
        assert [each.prepared for each in said.attached] == [None, None]
        page = HtmlItems(str)(said)
        assert 'src="data:image/png;base64,' in page
        assert "filter.cir" in page
        # A click shows it large.
        panel._messages.acted.emit("attachment", said.key, "0")
        (viewer,) = dialogs()
        await until(lambda: not viewer.picture.pixmap().isNull())
        assert viewer.picture.pixmap().width() == 300
        for language, word in (("zh", "关闭"), ("en", "Close")):
            services.language.set(language)
            assert [button.text() for button in viewer.findChildren(QPushButton)] == [word]
        viewer.reject()
        for number in ("0", "1"):  # closed while it is still read: nothing is left to show it in
            panel._messages.acted.emit("attachment", said.key, number)
            dialogs()[-1].reject()
        panel._messages.acted.emit("attachment", said.key, "1")
        await until(lambda: any(".ac" in viewer.text.toPlainText() for viewer in dialogs()))
        for viewer in dialogs():
            viewer.reject()


async def test_what_can_not_be_attached_is_said_beside_the_message(
    panel: ConversationPanel, project: Path, tmp_path: Path, until: Until
) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 50)
    assert drop(panel, files(broken, tmp_path / "gone.txt"))
    await until(lambda: not panel.model.pending.files)
    assert "gone.txt" in panel.notice or "broken.png" in panel.notice
    dot = tmp_path / "dot.png"
    Image.new("RGB", (9, 9), "red").save(dot)
    assert drop(panel, files(dot))
    await settled(panel, until, 1)
    # A design takes none: nothing is sent, all of it stays.
    panel.model.set_mode("workflow")
    type_and_send(panel, "a low-pass at 1 kHz")
    assert "text only" in panel.notice
    assert (names(panel), panel.composer.text) == (["dot.png"], "a low-pass at 1 kHz")
    # The built-in model says that it can't see; another one that can gets the same message.
    panel.model.set_mode("free")
    type_and_send(panel, "What is this?")
    await until(lambda: not panel.is_running and of(panel, ErrorBlock))
    (block,) = of(panel, ErrorBlock)
    assert "built-in" in str(block.message)
    # A retry as a design is refused, and takes neither the message nor its ways on.
    panel.model.set_mode("workflow")
    panel._messages.acted.emit("retry", block.key, "")
    assert "text only" in panel.notice
    assert [item.text for item in of(panel, UserText)] == ["What is this?"]
    assert of(panel, ErrorBlock) == [block]
    panel.model.set_mode("free")
    with FakeLLMServer(lambda _body: answer("A dot.")) as server:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="gpt-4o", base_url=server.base_url)
        )
        panel._messages.acted.emit("retry", block.key, "")
        await until(lambda: server.requests and not panel.is_running)
        assert [picture.size for picture in pictures_in(server.requests[0])] == [(9, 9)]


async def test_a_long_text_is_offered_as_a_file(panel: ConversationPanel, until: Until) -> None:
    edit = panel.composer.edit
    for wish, length in (("Paste as text", 21_000), ("Attach as a file", 0)):
        clipboard().setText("R1 a b 1k\n" * 2_100)
        QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert not edit.toPlainText()
        await until(questions)
        (question,) = questions()
        button = next(each for each in question.buttons() if each.text() == wish)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: not questions())
        await until(lambda length=length: len(edit.toPlainText()) == length)
        await settled(panel, until, 0 if length else 1)
        edit.clear()
    assert names(panel) == ["pasted.txt"]


def questions() -> list[SmallDialog]:
    return [
        each for each in QApplication.topLevelWidgets() if isinstance(each, SmallDialog) and each.isVisible()
    ]


async def test_files_wait_with_the_message_that_waits(
    panel: ConversationPanel, tmp_path: Path, until: Until
) -> None:
    dot = tmp_path / "dot.png"
    Image.new("RGB", (9, 9), "red").save(dot)
    slow = replace(answer("First."), piece_delay_s=0.05)
    with FakeLLMServer([slow, answer("Second.")]) as server:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="gpt-4o", base_url=server.base_url)
        )
        type_and_send(panel, "one")
        await until(lambda: panel.is_running)
        panel.model.pending.attach_paths([dot])
        await settled(panel, until, 1)
        type_and_send(panel, "two")
        assert not chips(panel)
        (entry,) = panel.model.queue.entries
        assert [file.attachment.name for file in entry.attached] == ["dot.png"]
        await until(lambda: len(server.requests) == 2 and not panel.is_running)
        assert not pictures_in(server.requests[0])
        assert len(pictures_in(server.requests[1])) == 1


async def test_what_waits_keeps_its_texts_and_its_files(
    panel: ConversationPanel, project: Path, tmp_path: Path, until: Until
) -> None:
    model, places = panel.model, [tmp_path / f"{number}.txt" for number in range(9)]
    for place in places:
        place.write_text(f"content of {place.name}")
    deleting = answer("", calls=[call("delete_file", {"path": "filter.cir"})])
    with FakeLLMServer([deleting, answer("a", stall=True), answer("Done.")]) as server:
        model.set_choice(
            ProviderChoice(provider="openai-compatible", model="gpt-4o", base_url=server.base_url)
        )
        type_and_send(panel, "delete it")
        assert model.send("first") is None  # before the question comes
        await until(lambda: any(item.state == "open" for item in of(panel, Confirmation)))
        assert model.send("second") is None  # no answer to the question: the turn is given up
        await until(lambda: len(server.completions) == 2 and panel.is_running)
        assert server.completions[1].body["messages"][-1]["content"].endswith("first")
        model.pending.attach_paths(places[:5])
        await settled(panel, until, 5)
        type_and_send(panel, "third")
        model.pending.attach_paths(places[5:])
        await settled(panel, until, 4)
        type_and_send(panel, "fourth")
        assert [(entry.text, len(entry.attached)) for entry in model.queue.entries] == [
            ("second", 0),
            ("third", 5),
            ("fourth", 4),
        ]
        assert not chips(panel)
        model.stop()
        await until(lambda: not panel.is_running)
        assert panel.composer.text == "second\nthird\nfourth", "a stop sends nothing and loses nothing"
        assert len(server.completions) == 2
        assert len(chips(panel)) == 9
        type_and_send(panel, panel.composer.text)
        assert "at most 8" in panel.notice
        assert panel.composer.text == "second\nthird\nfourth"
        model.pending.remove(next(chip.file.key for chip in chips(panel) if chip.file.name == "5.txt"))
        type_and_send(panel, panel.composer.text)
        await until(lambda: len(server.completions) == 3 and not panel.is_running)
    sent = str(server.completions[2].body["messages"][-1]["content"])
    assert [place.name for place in places if f"content of {place.name}" not in sent] == ["5.txt"]
