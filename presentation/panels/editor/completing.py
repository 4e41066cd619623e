"""Completion in the editor: the list while one types, and the words of a template one after the other.

The list is never in the way: what is typed goes on into the text, Enter ends the line unless a row was chosen
or the list was asked for, Esc puts it away. Tab takes the first row.
"""

from __future__ import annotations

from functools import partial

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtGui import QKeyEvent

from domain.circuit.completion import Candidate, Completion, Facts, complete
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.over_text import OverText
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.hit_list import Hit
from presentation.ui.workspace import WindowServices

HOLES = 12
"""Indicator of the words of a template that are still to be written over; it moves with the text."""
_LINES_BEFORE = 400
"""So many lines before the caret are looked at for the beginning of its card."""
_ICONS = {
    "element": "cpu",
    "node": "git-branch",
    "model": "package",
    "subcircuit": "package",
    "parameter": "sliders-horizontal",
    "function": "sigma",
    "directive": "terminal",
    "keyword": "tag",
    "file": "file-code",
}
_OPENING = frozenset("({.@=")
"""Signs behind which something is offered at once; behind others at the first letter."""


class Completer(QObject):
    """Offers what can stand at the caret of one editor."""

    def __init__(self, services: WindowServices, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self.facts = Facts()
        """What is known of the circuit; told from outside."""
        self._list = OverText(services, editor, "completionList", is_eager=False)
        self._list.taken.connect(self._take)
        self._completion = Completion(0, ())
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._offer_while_typing)
        editor.indicatorDefine(editor.IndicatorStyle.HiddenIndicator, HOLES)
        editor.installEventFilter(self)
        editor.SCN_CHARADDED.connect(lambda _sign: self._later.start())
        editor.caret_moved.connect(lambda _line, _column: self._on_caret_moved())

    # ---- offering ----------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._list.is_open

    @property
    def shown(self) -> tuple[Candidate, ...]:
        """The candidates of the open list."""
        return self._completion.candidates if self.is_open else ()

    def ask(self) -> None:
        """Ctrl+Space: offer everything that can stand here."""
        self._offer(was_asked=True)

    def close(self) -> None:
        self._later.stop()
        self._list.close()

    def _offer_while_typing(self) -> None:
        before = self._editor.text_before(1)
        is_word = before[-1:].isalnum() or before[-1:] == "_"
        if is_word or (before[-1:] in _OPENING and before):
            self._offer(was_asked=self._list.is_eager and self.is_open)
        else:
            self.close()

    def _offer(self, *, was_asked: bool) -> None:
        editor = self._editor
        if editor.isReadOnly() or editor.ask(editor.SCI_GETSELECTIONS) > 1:
            self.close()
            return
        first, text, position = editor.piece_before(_LINES_BEFORE)
        self._completion = complete(text, position, self.facts, first_line=first)
        self._list.is_eager = was_asked
        if not self._completion.candidates:
            self.close()
            return
        self._show(len(text[self._completion.start : position].encode()))

    def _show(self, typed_bytes: int) -> None:
        editor, language = self._editor, self._services.language
        hits = [
            Hit(
                text=each.text,
                detail=each.detail if isinstance(each.detail, str) else language(each.detail),
                icon=_ICONS[each.kind],
                act=partial(self._take, row),
            )
            for row, each in enumerate(self._completion.candidates)
        ]
        self._list.show(hits, editor.ask(editor.SCI_GETSELECTIONSTART) - typed_bytes)

    def _on_caret_moved(self) -> None:
        if self.is_open and not self._later.isActive():
            first, text, position = self._editor.piece_before(_LINES_BEFORE)
            if self._completion != complete(text, position, self.facts, first_line=first):
                self.close()

    # ---- keys --------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Tab from word to word of a template."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or self.is_open:
            return super().eventFilter(watched, event)
        return self._is_for_holes(event) or super().eventFilter(watched, event)

    def _is_for_holes(self, event: QKeyEvent) -> bool:
        is_tab = event.key() == Qt.Key.Key_Tab and not event.modifiers()
        return is_tab and self._go_to_hole(self._editor.ask(self._editor.SCI_GETCURRENTPOS))

    # ---- taking ------------------------------------------------------------------------------

    def _take(self, row: int) -> None:
        """Put a candidate into the text as one step of undo, with the card that it needs."""
        completion = self._completion
        self.close()
        if not 0 <= row < len(completion.candidates):
            return
        editor, candidate = self._editor, completion.candidates[row]
        _, text, position = editor.piece_before(_LINES_BEFORE)
        start = editor.ask(editor.SCI_GETSELECTIONSTART) - len(text[completion.start : position].encode())
        end = editor.ask(editor.SCI_GETSELECTIONEND)
        insert, holes = candidate.filled
        edits = [TextEdit(start, end, insert.encode())]
        if candidate.include:
            head = editor.ask(editor.SCI_POSITIONFROMLINE, 1) if self.facts.has_title else 0
            card = candidate.include.encode() + editor.line_end
            edits.append(TextEdit(head, head, card))
            start += len(card)
        editor.apply(edits)
        editor.ask(editor.SCI_GOTOPOS, start + len(insert.encode()))
        editor.ask(editor.SCI_SETINDICATORCURRENT, HOLES)
        for first, last in holes:
            offset = start + len(insert[:first].encode())
            editor.ask(editor.SCI_INDICATORFILLRANGE, offset, len(insert[first:last].encode()))
        if holes:
            self._go_to_hole(start)
        editor.setFocus()

    def _go_to_hole(self, position: int) -> bool:
        """Select the next word to be written over behind a byte of its line; whether there is one."""
        editor = self._editor
        line_end = editor.ask(
            editor.SCI_GETLINEENDPOSITION, editor.ask(editor.SCI_LINEFROMPOSITION, position)
        )
        at = position
        while at < line_end:
            end = editor.ask(editor.SCI_INDICATOREND, HOLES, at)
            end = line_end if end <= at else min(end, line_end)
            if editor.ask(editor.SCI_INDICATORVALUEAT, HOLES, at):
                editor.ask(editor.SCI_SETINDICATORCURRENT, HOLES)
                editor.ask(editor.SCI_INDICATORCLEARRANGE, at, end - at)
                editor.ask(editor.SCI_SETSEL, at, end)
                return True
            at = end
        self._forget_holes()
        return False

    def _forget_holes(self) -> None:
        editor = self._editor
        editor.ask(editor.SCI_SETINDICATORCURRENT, HOLES)
        editor.ask(editor.SCI_INDICATORCLEARRANGE, 0, editor.byte_length())
