"""The editor of a prompt: line numbers, placeholders in the accent's colour, unknown ones underlined."""

from __future__ import annotations

from collections.abc import Collection

from PyQt6.QtCore import QPointF, QRect, QSize, Qt
from PyQt6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PyQt6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from domain.llm.prompts.library import placeholders
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices

_INDENT = "    "


class ContentEditor(QPlainTextEdit):
    """Plain text with marked placeholders. `set_variables(None)`: braces are plain text in it.

    `is_view`: it is only read, and names it does not know are plain text.
    """

    def __init__(
        self, services: WindowServices, parent: QWidget | None = None, *, is_view: bool = False
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._variables: frozenset[str] | None = frozenset()
        self.setObjectName("promptSentText" if is_view else "promptEditor")
        self.setReadOnly(is_view)
        # A variable's name is not broken: wrap at words only.
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        document = self.document()
        assert document is not None
        self._highlighter = _Highlighter(document, services, marks_unknown=not is_view)
        self._numbers = _LineNumbers(self)
        self.blockCountChanged.connect(self._lay_out)
        self.updateRequest.connect(self._on_update)
        self.cursorPositionChanged.connect(self._mark_line)
        self.textChanged.connect(self._mark_line)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def set_content(self, text: str) -> None:
        """Show another text; its history of undo begins here."""
        self.setPlainText(text)

    def content(self) -> str:
        """The text. (`toPlainText` would turn non-breaking spaces into plain ones.)"""
        document = self.document()
        raw = document.toRawText() if document is not None else ""
        return raw.replace("\u2029", "\n").replace("\u2028", "\n")

    def replace_content(self, text: str) -> None:
        """Replace the text as one edit that can be undone."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def set_variables(self, names: Collection[str] | None) -> None:
        """The names that are known; the others are underlined. None: nothing is a placeholder."""
        self._variables = None if names is None else frozenset(names)
        self._highlighter.set_variables(self._variables)

    def insert_variable(self, name: str) -> None:
        """Put ``{name}`` in place of the selection or at the cursor."""
        self.insertPlainText(f"{{{name}}}")
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_range(self, start: int, end: int) -> None:
        """Select a part of the text and bring it into view."""
        self.setTextCursor(self._cursor_of(start, end))
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def replace_range(self, start: int, end: int, text: str) -> None:
        """Replace a part of the text, as an edit that can be undone."""
        self._cursor_of(start, end).insertText(text)

    def _cursor_of(self, start: int, end: int) -> QTextCursor:
        # Qt counts UTF-16 units, Python characters.
        before = self.content()
        cursor = QTextCursor(self.document())
        cursor.setPosition(_utf16_length(before[:start]))
        cursor.setPosition(_utf16_length(before[:end]), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self.setFont(theme.font("mono"))
        self.setTabStopDistance(QFontMetricsF(self.font()).horizontalAdvance(" ") * len(_INDENT))
        self.setCursorWidth(max(theme.size("space.half"), 1))
        self._highlighter.restyle()
        self._lay_out()
        self._mark_line()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Tab is four blanks; Backtab leaves the editor."""
        is_tab = event is not None and event.key() == Qt.Key.Key_Tab and not event.modifiers()
        if is_tab and not self.isReadOnly():
            self.insertPlainText(_INDENT)
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._place_numbers()

    @property
    def number_width(self) -> int:
        """Room for the line numbers, logical pixels."""
        theme = self._services.theme.theme
        digits = max(2, len(str(max(self.blockCount(), 1))))
        advance = QFontMetricsF(self.font()).horizontalAdvance("0")
        return round(advance * digits) + theme.size("space.2") + theme.size("space.3")

    def paint_numbers(self, event: QPaintEvent) -> None:
        """Draw the numbers of the visible lines, on the base line of their text."""
        theme = self._services.theme.theme
        painter = QPainter(self._numbers)
        painter.fillRect(event.rect(), theme.color("surface.base"))
        painter.setFont(theme.font("mono"))
        caret = self.cursorRect()
        painter.fillRect(0, caret.top(), self._numbers.width(), caret.height(), theme.color("surface.line"))
        metrics = QFontMetricsF(theme.font("mono"))
        right = self._numbers.width() - theme.size("space.2")
        current = self.textCursor().blockNumber()
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > event.rect().bottom():
                break
            layout = block.layout()
            if layout is not None and layout.lineCount():
                line = layout.lineAt(0)
                is_current = block.blockNumber() == current
                number = str(block.blockNumber() + 1)
                painter.setPen(
                    theme.color("syntax.line_number_current" if is_current else "syntax.line_number")
                )
                left = right - metrics.horizontalAdvance(number)
                painter.drawText(QPointF(left, box.top() + line.y() + line.ascent()), number)
            block = block.next()

    def _lay_out(self, _count: int = 0) -> None:
        self.setViewportMargins(self.number_width, 0, 0, 0)
        self._place_numbers()

    def _place_numbers(self) -> None:
        viewport = self.viewport()
        if viewport is not None:
            box = viewport.geometry()
            self._numbers.setGeometry(
                box.left() - self.number_width, box.top(), self.number_width, box.height()
            )

    def _on_update(self, area: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, area.y(), self._numbers.width(), area.height())

    def _mark_line(self) -> None:
        document = self.document()
        if document is None or document.isEmpty():
            self.setExtraSelections([])  # it would hide the text that stands in an empty editor
            return
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(self._services.theme.theme.color("surface.line"))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = self.textCursor()
        selection.cursor.clearSelection()
        self.setExtraSelections([selection])
        self._numbers.update()


class _LineNumbers(QWidget):
    def __init__(self, editor: ContentEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self._editor.number_width, 0)

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None:
            self._editor.paint_numbers(event)


class _Highlighter(QSyntaxHighlighter):
    """Colours placeholders."""

    def __init__(self, document: QTextDocument, services: WindowServices, *, marks_unknown: bool) -> None:
        super().__init__(document)
        self._services = services
        self._marks_unknown = marks_unknown
        self._variables: frozenset[str] | None = frozenset()
        self._known, self._unknown = QTextCharFormat(), QTextCharFormat()

    def set_variables(self, names: frozenset[str] | None) -> None:
        if names != self._variables:
            self._variables = names
            self.rehighlight()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._known, self._unknown = QTextCharFormat(), QTextCharFormat()
        for each in (self._known, self._unknown):
            each.setForeground(theme.color("accent.text"))
            each.setFontWeight(theme.font("mono", weight=600).weight())
        self._unknown.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        self._unknown.setUnderlineColor(theme.color("error.icon"))
        self.rehighlight()

    def highlightBlock(self, text: str | None) -> None:  # noqa: N802 - Qt's name
        if self._variables is None or not text:
            return
        for found in placeholders(text):
            if found.name not in self._variables and not self._marks_unknown:
                continue
            start = _utf16_length(text[: found.start])
            length = found.end - found.start  # a placeholder is ASCII
            self.setFormat(start, length, self._known if found.name in self._variables else self._unknown)


def _utf16_length(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


class DifferenceView(QPlainTextEdit):
    """A unified difference, read only: what is another than in the built-in text."""

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("promptDifference")
        self.setReadOnly(True)
        mark(self, kind="difference")
        document = self.document()
        assert document is not None
        self._highlighter = _DifferenceColours(document, services)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def restyle(self, _theme: object = None) -> None:
        self._highlighter.rehighlight()


class _DifferenceColours(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument, services: WindowServices) -> None:
        super().__init__(document)
        self._services = services

    def highlightBlock(self, text: str | None) -> None:  # noqa: N802 - Qt's name
        kind = {"+": "add", "-": "del"}.get((text or "")[:1])
        theme = self._services.theme.theme
        colours = QTextCharFormat()
        colours.setFont(theme.font("mono_small"))
        if kind is None:
            colours.setForeground(
                theme.color("text.tertiary" if (text or "").startswith("@@") else "text.primary")
            )
        else:
            colours.setForeground(theme.color(f"diff.{kind}_text"))
            colours.setBackground(theme.color(f"diff.{kind}_bg"))
        self.setFormat(0, _utf16_length(text or ""), colours)
