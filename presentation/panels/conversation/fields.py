"""The gaps of a ready sentence in the message that is written: filled in one after the other, as a form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QKeyEvent, QTextCursor, QTextFormat
from PyQt6.QtWidgets import QPlainTextEdit, QTextEdit

from application.project.window_state import DraftGap
from presentation.ui.workspace import WindowServices

_BEGIN, _END = "\ue000", "\ue001"
"""Around a gap in a translated sentence; characters that no text has."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands in a sentence where the user is to write."""

    label: str
    usual: str = ""
    """"" = something has to be written."""

    @property
    def shown(self) -> str:
        return self.usual or f"<{self.label}>"

    @property
    def marked(self) -> str:
        """As it goes into the sentence, to be found there again by `Fields.insert`."""
        return f"{_BEGIN}{self.shown}{_END}"


@dataclass(frozen=True, slots=True)
class KeptFields:
    """The fields of a draft that is not shown."""

    text: str
    """In which they stand; in another one they mean nothing."""
    spans: tuple[tuple[Gap, int, int], ...]
    """Each with its ends."""

    def in_draft(self, draft: str) -> tuple[DraftGap, ...]:
        """As they are kept with a draft, which has no blanks around it; () where it is another text."""
        if self.text.strip() != draft:
            return ()
        before, most = _units(self.text) - _units(self.text.lstrip()), _units(draft)

        def kept(position: int) -> int:
            return min(max(position - before, 0), most)

        return tuple(
            DraftGap(label=gap.label, usual=gap.usual, start=kept(start), end=kept(end))
            for gap, start, end in self.spans
        )

    @classmethod
    def of_draft(cls, draft: str, gaps: Sequence[DraftGap]) -> KeptFields | None:
        """Those that were kept with a draft; None where there are none in it."""
        spans = ((Gap(each.label, each.usual), each.start, each.end) for each in gaps)
        inside = tuple(span for span in spans if span[1] <= span[2] <= _units(draft))
        return cls(draft, inside) if inside else None


def _units(text: str) -> int:
    """Its length as Qt counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class _Field:
    """A gap in the text of a field; its ends move with what is written."""

    def __init__(self, edit: QPlainTextEdit, gap: Gap, start: int, end: int) -> None:
        self.gap = gap
        self._start, self._end = QTextCursor(edit.document()), QTextCursor(edit.document())
        self._start.setPosition(start)
        self._end.setPosition(end)
        self._start.setKeepPositionOnInsert(True)

    @property
    def cursor(self) -> QTextCursor:
        """All of it selected."""
        found = QTextCursor(self._end)
        found.setPosition(self._start.position())  # of what is kept there the anchor is not
        found.setPosition(self._end.position(), QTextCursor.MoveMode.KeepAnchor)
        return found

    @property
    def span(self) -> tuple[Gap, int, int]:
        return self.gap, self._start.position(), self._end.position()

    @property
    def text(self) -> str:
        return self.cursor.selectedText()

    @property
    def is_missing(self) -> bool:
        return not self.gap.usual and self.text.strip() in ("", self.gap.shown)

    def has(self, position: int) -> bool:
        return self._start.position() <= position <= self._end.position()


class Fields(QObject):
    """Of `edit`, as long as a sentence with gaps is written: Tab and Shift+Tab go from one to the next."""

    changed = pyqtSignal()
    """They are there now, or no longer."""

    def __init__(self, services: WindowServices, edit: QPlainTextEdit) -> None:
        super().__init__(edit)
        self._services = services
        self._edit = edit
        self._fields: tuple[_Field, ...] = ()
        edit.installEventFilter(self)
        edit.cursorPositionChanged.connect(self._mark)
        document = edit.document()
        assert document is not None, "an edit has one"
        document.contentsChange.connect(self._follow)

    @property
    def is_on(self) -> bool:
        return bool(self._fields)

    def insert(self, sentence: str, gaps: Sequence[Gap]) -> None:
        """Write a sentence with its gaps marked in place of all that stands there; the first is selected."""
        self._leave()
        plain, found, rest = "", [], sentence
        for _ in gaps:  # in the order of the sentence, which is the language's
            before, _, behind = rest.partition(_BEGIN)
            inside, _, rest = behind.partition(_END)
            plain += before
            found.append((next(gap for gap in gaps if gap.shown == inside), _units(plain)))
            plain += inside
        cursor = self._edit.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(plain + rest)
        self._edit.setTextCursor(cursor)
        self._fields = tuple(
            _Field(self._edit, gap, start, start + _units(gap.shown)) for gap, start in found
        )
        if self._fields:
            self._choose(self._fields[0])
            self.changed.emit()

    @property
    def kept(self) -> KeptFields | None:
        """Those there are, to be shown again when their draft is."""
        spans = tuple(field.span for field in self._fields)
        return KeptFields(self._edit.toPlainText(), spans) if spans else None

    def show(self, kept: KeptFields | None) -> None:
        """The fields of the draft that is shown now."""
        if kept is None or kept.text != self._edit.toPlainText():
            self._leave()
        elif kept != self.kept:
            self._fields = tuple(_Field(self._edit, *span) for span in kept.spans)
            self._mark()
            self.changed.emit()

    def take_missing(self) -> str:
        """What is still to be written, its field selected; "" when nothing is, and then they are over."""
        for field in self._fields:
            if field.is_missing:
                self._choose(field)
                return field.gap.label
        self._leave()
        return ""

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Tab, Shift+Tab, and Escape, which leaves the text as it is."""
        if watched is not self._edit or not self._fields or not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # else it stops the answer
            return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        match event.key():
            case Qt.Key.Key_Tab | Qt.Key.Key_Backtab:
                self._step(1 if event.key() == Qt.Key.Key_Tab else -1)
            case Qt.Key.Key_Escape:
                self._leave()
            case _:
                return False
        return True

    def _step(self, by: int) -> None:
        """To the next field or the one before; behind the last is the end of the sentence, then the first."""
        at = self._edit.textCursor().selectionStart()
        here = next((number for number, field in enumerate(self._fields) if field.has(at)), None)
        count = len(self._fields)
        to = (-1 if by > 0 else count) if here is None else here
        to = (to + by) % (count + 1)
        if to < count:
            self._choose(self._fields[to])
        else:
            self._edit.moveCursor(QTextCursor.MoveOperation.End)

    def _choose(self, field: _Field) -> None:
        self._edit.setTextCursor(field.cursor)
        self._edit.setFocus()

    def _follow(self, position: int, removed: int, added: int) -> None:
        """What replaces the whole text is another one."""
        document = self._edit.document()
        whole = 0 if document is None else document.characterCount() - 1
        if self._fields and not position and (not whole or (removed and added >= whole)):
            self._leave()
        self._mark()

    def _leave(self) -> None:
        if self._fields:
            self._fields = ()
            self._mark()
            self.changed.emit()

    def _mark(self) -> None:
        theme = self._services.theme.theme
        shown: list[QTextEdit.ExtraSelection] = []
        for field in self._fields:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = field.cursor
            mark.format.setBackground(QColor(theme.color("accent.subtle")))
            if field.is_missing:
                mark.format.setForeground(QColor(theme.color("text.tertiary")))
            mark.format.setProperty(QTextFormat.Property.OutlinePen, QColor(theme.color("border.default")))
            shown.append(mark)
        self._edit.setExtraSelections(shown)
