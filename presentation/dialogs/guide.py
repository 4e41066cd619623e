"""The documents of the program, read in the window: guide, references; links between them are followed."""

from __future__ import annotations

import re
from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QDesktopServices, QImage, QTextCursor, QTextDocument
from PyQt6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from presentation.ui.fitting import fit
from presentation.ui.parts import SpokenName, arrange, push_button, text_label
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.uninterrupted import off_loop

FOLDER = Path(__file__).resolve().parents[2] / "docs"
_SIZE = (900, 780)
_PICTURE = re.compile(r"^!\[[^\]]*\]\((pictures/[\w.-]+\.png)\)", re.MULTILINE)
GUIDE, TUTORIAL = "user-guide.md", "tutorial.md"
_TWINS = {GUIDE: "user-guide.zh.md", TUTORIAL: "tutorial.zh.md"}
"""Pages that are there in Chinese too."""
_PAGES: tuple[tuple[str, Message], ...] = (
    (GUIDE, msg("User guide")),
    (TUTORIAL, msg("A first hour")),
    ("keys-and-gestures.md", msg("Keys and gestures")),
    ("settings.md", msg("Settings")),
    ("measurements.md", msg("Measurements")),
    ("tools-reference.md", msg("Tools of the assistant")),
    ("command-reference.md", msg("Commands")),
)


class _Page(QTextBrowser):
    """Shows a page with the pictures that were read for it, and loads nothing by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures: Mapping[str, QImage] = {}

    def loadResource(self, _kind: int, name: QUrl) -> Any:  # noqa: N802 - Qt's name
        """A picture of the page; None for all else."""
        return self.pictures.get(name.toString())


class GuideDialog(QDialog):
    """Open it with `open()`. Pages are the files of `FOLDER` alone; what is elsewhere a browser opens."""

    def __init__(self, services: WindowServices, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._services = services
        self._past: list[str] = []
        self.shown = ""
        """The page that is read."""
        self.setObjectName("guide")
        self.choice = QComboBox()
        self.choice.setObjectName("guidePages")
        SpokenName(services, self.choice, msg("Pages"))
        self.choice.activated.connect(lambda _at: self.go(str(self.choice.currentData())))
        self.back = push_button(name="guideBack", clicked=self._go_back)
        self.note = text_label(name="guideNote", role="error")
        self.note.hide()
        self.text = _Page()
        self.text.setObjectName("guideText")
        self.text.setOpenLinks(False)
        self.text.anchorClicked.connect(self._follow)
        SpokenName(services, self.text, msg("Text of the page"))
        self._head = QWidget()
        mark_area(self._head, surface="raised", line="bottom")
        self._row = arrange(QHBoxLayout(self._head), (self.choice, 1), self.back)
        arrange(QVBoxLayout(self), self._head, self.note, (self.text, 1), edges=0, gap=0)
        services.dress(self)

    def open(self) -> None:
        scale = self._services.theme.theme.scale
        fit(self, *(round(side * scale) for side in _SIZE))
        super().open()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        arrange(self._row, edges=theme.size("space.3"), gap=theme.size("space.2"))
        document = self.text.document()
        assert document is not None
        document.setDocumentMargin(theme.size("space.4"))

    def retranslate(self) -> None:
        say = self._services.language
        self.setWindowTitle(say(msg("User guide")))
        self.back.setText(say(msg("Back")))
        chosen = max(self.choice.currentIndex(), 0)
        self.choice.clear()
        for name, title in _PAGES:
            self.choice.addItem(say(title), name)
        self.choice.setCurrentIndex(chosen)
        for page, twin in _TWINS.items():
            if self.shown in (page, twin):
                self.go(page)

    def go(self, page: str) -> None:
        """Show a page: a file's name; one of both languages in the language in force."""
        self._start(self._show(self._of_language(page)))

    @property
    def _room(self) -> int:
        """Pixels from edge to edge of the page, beside its scroll bar."""
        return max(self.text.width() - 5 * self._services.theme.theme.size("space.4"), 1)

    def _of_language(self, page: str) -> str:
        return _TWINS.get(page, page) if self._services.language.name == "zh" else page

    async def _show(self, page: str, *, is_back: bool = False) -> None:
        path = FOLDER / page
        try:
            text = await off_loop(path.read_text, "utf-8")
            pictures = await off_loop(_pictures_of, text, self._room)
        except OSError:
            self.note.setText(self._services.language(msg("The page {name} is not there.", name=page)))
            self.note.show()
            return
        self.note.hide()
        if self.shown and not is_back and self.shown != page:
            self._past.append(self.shown)
        self.shown = page
        document = self.text.document()
        assert document is not None
        # Without HTML: nothing but what the page says is loaded.
        features = QTextDocument.MarkdownFeature
        self.text.pictures = pictures
        document.setMarkdown(
            _without_comments(text, pictures), features.MarkdownDialectGitHub | features.MarkdownNoHTML
        )
        self._space(document)
        self.text.moveCursor(self.text.textCursor().MoveOperation.Start)
        names = [self._of_language(name) for name, _ in _PAGES]
        self.choice.setCurrentIndex(names.index(page) if page in names else -1)
        self.back.setEnabled(bool(self._past))

    def _space(self, document: QTextDocument) -> None:
        """Room above headings and paragraphs; tables have their own."""
        theme = self._services.theme.theme
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        block = document.begin()
        while block.isValid():
            cursor.setPosition(block.position())
            if cursor.currentTable() is None and block.textList() is None:
                look = block.blockFormat()
                look.setTopMargin(theme.size("space.4" if look.headingLevel() else "space.2"))
                cursor.setBlockFormat(look)
            block = block.next()
        cursor.endEditBlock()

    def _follow(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
            return
        page = url.path()
        if not page:  # a place of this page: headings have no anchors here
            return
        if url.scheme() or "/" in page or not page.endswith(".md"):
            self.note.setText(self._services.language(msg("The page {name} is not there.", name=page)))
            self.note.show()
            return
        self.go(page)

    def _go_back(self) -> None:
        if self._past:
            self._start(self._show(self._past.pop(), is_back=True))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._services.start(work, kind="guide")


def _pictures_of(text: str, room: int) -> dict[str, QImage]:
    """Those the page shows, by their names in it, at most `room` pixels wide. Off the loop.

    Raises OSError."""
    found = {}
    for name in _PICTURE.findall(text):
        picture = QImage.fromData((FOLDER / name).read_bytes())
        if picture.width() > room:
            picture = picture.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
        found[name] = picture
    return found


def _without_comments(text: str, pictures: Collection[str]) -> str:
    """Without what is not shown: comments, pictures from elsewhere, names of blocks behind their language."""
    lines = []
    for line in text.splitlines():
        picture = line.startswith("![")
        known = picture and any(f"]({name})" in line for name in pictures)
        if line.startswith("<!--") or (picture and not known):
            continue
        lines.append(line.partition(" ")[0] if line.startswith("```") else line)
    return "\n".join(lines) + "\n"
