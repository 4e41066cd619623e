"""The guide in the window: in the language in force, its links followed and taken back, nothing loaded."""

from __future__ import annotations

from PyQt6.QtCore import QUrl

from presentation.dialogs.guide import GUIDE, TUTORIAL, GuideDialog
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until


async def test_pages_are_read_and_links_followed(services: WindowServices, until: Until) -> None:
    dialog = GuideDialog(services, None)
    dialog.open()
    dialog.go(GUIDE)
    await until(lambda: dialog.shown == "user-guide.md")
    assert "The first circuit in a minute" in dialog.text.toPlainText()
    assert "<!--" not in dialog.text.toPlainText()
    assert "|---" not in dialog.text.toPlainText()
    dialog.text.anchorClicked.emit(QUrl("exchange.md"))
    await until(lambda: dialog.shown == "exchange.md")
    dialog.choice.setCurrentIndex(6)
    dialog.choice.activated.emit(6)
    await until(lambda: dialog.shown == "command-reference.md")
    assert "montecarlo" in dialog.text.toPlainText()
    for odd in ("../LICENSE", "file:///etc/passwd", "/etc/passwd", "no-such.md"):
        dialog.text.anchorClicked.emit(QUrl(odd))
        await until(lambda: not dialog.note.isHidden())
        assert dialog.shown == "command-reference.md"
        dialog.note.hide()
    dialog.back.click()
    await until(lambda: dialog.shown == "exchange.md")
    services.language.set("zh")
    dialog.go(GUIDE)
    await until(lambda: dialog.shown == "user-guide.zh.md")
    assert "一分钟完成第一个电路" in dialog.text.toPlainText()
    assert dialog.windowTitle() == "用户指南"
    # The tutorial has its pictures, and is in both languages.
    dialog.go(TUTORIAL)
    await until(lambda: dialog.shown == "tutorial.zh.md")
    document = dialog.text.document()
    assert document is not None
    picture = dialog.text.pictures["pictures/tutorial-1-fix.zh.png"]
    assert 0 < picture.width() < dialog.text.viewport().width()
    assert document.size().height() > 4 * picture.height(), "they are laid out"
    assert dialog.text.loadResource(2, QUrl("file:///etc/passwd")) is None
    services.language.set("en")
    await until(lambda: dialog.shown == "tutorial.md")
    assert "RL out 0 1Meg" in dialog.text.toPlainText()
    dialog.close()
    await until(lambda: not services.app.program.tasks.handles)
