"""One text on the screen: QScintilla in the theme's dress, with problems, changes and a note on a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits

from PyQt6.Qsci import QsciScintilla
from PyQt6.QtCore import QEvent, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QMenu, QToolTip

from presentation.panels.editor.editor_menu import add_commands, add_fixes
from presentation.panels.editor.examination import Problem
from presentation.panels.editor.overlay import SQUIGGLES, LineHint, Note, Overlay, OverviewBar
from presentation.panels.editor.spice_lexer import SpiceLexer
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.parts import once_after
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_NUMBERS, _SYMBOLS, _CHANGES, _FOLDS = range(4)
_ERROR, _WARNING, _BULB, _CHANGED = range(4)
"""Markers."""
_MATCH = 11
"""Indicator of the places of a search."""
_GLOW = 13
"""Indicator of what somebody pointed at elsewhere."""
_GLOW_MS = 2000
_ICONS = {
    _ERROR: ("circle-x", "error.icon"),
    _WARNING: ("triangle-alert", "warn.icon"),
    _BULB: ("lightbulb", "warn.icon"),
}
_FREED_KEYS = (
    *("Ctrl+L", "Ctrl+Shift+L", "Ctrl+T", "Ctrl+Shift+T", "Ctrl+U", "Ctrl+Shift+U"),
    *("Ctrl++", "Ctrl+-", "Ctrl+/", "Ctrl+Shift+/", "Ctrl+\\", "Ctrl+Shift+\\", "Ctrl+D", "Esc", "Ins"),
    *("Ctrl+[", "Ctrl+]", "Ctrl+Shift+[", "Ctrl+Shift+]", "Alt+Shift+Up", "Alt+Shift+Down"),
)
"""What Scintilla would take from the window's commands; a size of its own the window could not take back."""


class CodeEditor(QsciScintilla):
    """Shows and edits one text; what it knows of files, encodings and checks it is told."""

    fix_chosen = pyqtSignal(object)
    """problem: Problem; its quick fix was clicked"""
    save_requested = pyqtSignal()
    edited = pyqtSignal()
    """The text is another (styling does not count)."""
    caret_moved = pyqtSignal(int, int)
    """line, column, from 1"""
    caret_added = pyqtSignal(int)
    """Alt+click: the byte where one caret more is wanted"""
    definition_wanted = pyqtSignal()
    """Ctrl+click: where is defined what stands at the caret?"""
    rested = pyqtSignal(int, QPoint)
    """byte, global place: the pointer rests in the text"""
    menu_opens = pyqtSignal(object, int)
    """menu: QMenu, the byte it is for: entries may be added before it is shown"""
    escaped = pyqtSignal()
    """Esc was pressed in the text."""

    def __init__(self, services: WindowServices, *, is_spice: bool, has_title: bool) -> None:
        super().__init__()
        self._services = services
        self._problems: tuple[Problem, ...] = ()
        self._overlay = Overlay(self)
        self._overview = OverviewBar(services)
        self._lexer = SpiceLexer(self, has_title=has_title) if is_spice else None
        self.replaceVerticalScrollBar(self._overview)
        self._set_up()
        if self._lexer is not None:
            self.setLexer(self._lexer)
            # A double click takes a whole number, as 1.6k.
            self.SendScintilla(self.SCI_SETWORDCHARS, 0, f"{ascii_letters}{digits}_.".encode())
        self._glowing = once_after(self, _GLOW_MS, lambda: self.glow(()))
        self.restyle()
        self.retranslate()
        self.textChanged.connect(self.edited)
        self.linesChanged.connect(self._set_number_width)
        self.cursorPositionChanged.connect(self._on_caret_moved)
        self.marginClicked.connect(self._on_margin_clicked)

    def save(self) -> None:
        """Ask for the text to be written: the window's menu calls this on the widget in focus."""
        self.save_requested.emit()

    # ---- text --------------------------------------------------------------------------------

    def load(self, text: str, line_end: str) -> None:
        """Show a text from its beginning; there is nothing to undo, nothing unsaved."""
        modes = {
            "\n": self.EolMode.EolUnix,
            "\r\n": self.EolMode.EolWindows,
            "\r": self.EolMode.EolMac,
        }
        self.setEolMode(modes[line_end])
        self.setText(text)
        self.ask(self.SCI_EMPTYUNDOBUFFER)
        self.ask(self.SCI_GOTOPOS, 0)
        self.setModified(False)

    def apply(self, edits: Sequence[TextEdit]) -> None:
        """Carry out edits (descending) as one step of undo; caret and view stay where they were."""
        top = self.ask(self.SCI_GETFIRSTVISIBLELINE)
        self.ask(self.SCI_BEGINUNDOACTION)
        for edit in edits:
            self.ask(self.SCI_SETTARGETRANGE, edit.start, edit.end)
            self.SendScintilla(self.SCI_REPLACETARGET, len(edit.text), edit.text)
        self.ask(self.SCI_ENDUNDOACTION)
        self.ask(self.SCI_SETFIRSTVISIBLELINE, top)

    def bytes_between(self, start: int, end: int) -> bytes:
        """A piece of the UTF-8 text."""
        # QScintilla puts a NUL behind what was asked for.
        return self.bytes(start, end).data()[: end - start] if end > start else b""

    def text_before(self, count: int) -> str:
        """The last characters of the line before the caret, or before what is selected."""
        caret = self.ask(self.SCI_GETSELECTIONSTART)
        start = max(self.ask(self.SCI_POSITIONFROMLINE, self._line_of(caret)), caret - 4 * count)
        return self.bytes_between(start, caret).decode(errors="ignore")[-count:]

    def piece_before(self, lines: int) -> tuple[int, str, int]:
        """The text from some lines before the caret (or what is selected) to the end of its line: the number
        of its first line (from 1), the text with LF for every line end, the caret's index in it."""
        caret = self.ask(self.SCI_GETSELECTIONSTART)
        line = self._line_of(caret)
        first = max(line - lines, 0)
        start = self.ask(self.SCI_POSITIONFROMLINE, first)
        before, behind = (
            self.bytes_between(*ends).decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
            for ends in ((start, caret), (caret, self.ask(self.SCI_GETLINEENDPOSITION, line)))
        )
        return first + 1, before + behind, len(before)

    @property
    def line_end(self) -> bytes:
        """What lines end with in this text."""
        return (b"\r\n", b"\r", b"\n")[self.ask(self.SCI_GETEOLMODE)]

    def byte_length(self) -> int:
        """Bytes of the UTF-8 text."""
        return self.ask(self.SCI_GETLENGTH)

    def selected_bytes(self) -> tuple[int, int]:
        return self.ask(self.SCI_GETSELECTIONSTART), self.ask(self.SCI_GETSELECTIONEND)

    def select_bytes(self, start: int, end: int) -> None:
        for position in (start, end):
            self.ask(self.SCI_ENSUREVISIBLE, self._line_of(position))
        self.ask(self.SCI_SETSEL, start, end)
        self._bring_into_view(self._line_of(start))

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the caret at a line and column (from 1, in characters), within the text."""
        wanted = min(max(line, 1), self.lines()) - 1
        start = self.ask(self.SCI_POSITIONFROMLINE, wanted)
        end = self.ask(self.SCI_GETLINEENDPOSITION, wanted)
        position = start
        for _ in range(column - 1):
            position = min(self.ask(self.SCI_POSITIONAFTER, position), end)
        self.ask(self.SCI_ENSUREVISIBLE, wanted)
        self.ask(self.SCI_GOTOPOS, position)
        self._bring_into_view(wanted)

    def caret(self) -> tuple[int, int]:
        """Line and column from 1."""
        line, column = self.getCursorPosition()
        return line + 1, column + 1

    def place(self) -> tuple[int, int, int]:
        """The caret's line and column, and the first line that is seen, from 1."""
        first = self.ask(self.SCI_DOCLINEFROMVISIBLE, self.ask(self.SCI_GETFIRSTVISIBLELINE))
        return *self.caret(), first + 1

    def go_to_place(self, line: int, column: int, first: int) -> None:
        """Be where one was: `place` of before."""
        self.go_to(line, column)
        self.ask(self.SCI_SETFIRSTVISIBLELINE, self.ask(self.SCI_VISIBLEFROMDOCLINE, first - 1))

    # ---- marks -------------------------------------------------------------------------------

    def show_problems(self, problems: Sequence[Problem], models: frozenset[str]) -> None:
        """Squiggles, margin, overview and hover for the problems of this text."""
        self._problems = tuple(problem for problem in problems if problem.end > problem.start)
        if self._lexer is not None:
            self._lexer.set_models(models)
        for indicator in SQUIGGLES.values():
            self.ask(self.SCI_SETINDICATORCURRENT, indicator)
            self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.byte_length())
        for marker in _ICONS:
            self.markerDeleteAll(marker)
        for problem in self._problems:
            self.ask(self.SCI_SETINDICATORCURRENT, SQUIGGLES[problem.severity])
            self.ask(self.SCI_INDICATORFILLRANGE, problem.start, problem.end - problem.start)
        for line, marker in self._margin_symbols().items():
            self.markerAdd(line, marker)
        self._refresh_overview()
        self._refresh_note()

    def show_changes(self, changed: Sequence[tuple[int, int]]) -> None:
        """The bar beside changed lines (first and last from 1)."""
        self.markerDeleteAll(_CHANGED)
        for first, last in changed:
            for line in range(first - 1, min(last, self.lines())):
                self.markerAdd(line, _CHANGED)
        self._overview.set_changes(changed, self.lines())

    def show_matches(self, matches: Sequence[tuple[int, int]]) -> None:
        """Mark the places of a search, in bytes."""
        self.ask(self.SCI_SETINDICATORCURRENT, _MATCH)
        self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.byte_length())
        for start, end in matches:
            self.ask(self.SCI_INDICATORFILLRANGE, start, end - start)

    def problem_at_caret(self) -> Problem | None:
        """The problem of the caret's line: one with a fix first, then the worst."""
        return next(iter(self.problems_of_line()), None)

    def problems_of_line(self) -> list[Problem]:
        """Those of the caret's line: with a fix first, then the worst."""
        line = self.getCursorPosition()[0]
        here = [p for p in self._problems if self._line_of(p.start) == line]
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(here, key=lambda p: (p.fix is None, order[p.severity], p.start))

    def _margin_symbols(self) -> dict[int, int]:
        symbols: dict[int, int] = {}
        for problem in self._problems:
            line = self._line_of(problem.start)
            wanted = _ERROR if problem.severity == "error" else _BULB if problem.fix else _WARNING
            if problem.severity != "info" or problem.fix is not None:
                symbols[line] = min(symbols.get(line, wanted), wanted, key=(_ERROR, _BULB, _WARNING).index)
        return symbols

    def _refresh_overview(self) -> None:
        marks = [(self._line_of(p.start) + 1, p.severity) for p in self._problems if p.severity != "info"]
        self._overview.set_problems(marks, self.lines())

    def _refresh_note(self) -> None:
        problem, language = self.problem_at_caret(), self._services.language
        self._overlay.note = None
        if problem is not None and problem.fix is not None:
            self._overlay.note = Note(problem, language(problem.fix.reason), language(problem.fix.title))
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()

    # ---- look --------------------------------------------------------------------------------

    def _set_up(self) -> None:
        self.setUtf8(True)
        self.setAutoIndent(False)
        self.setIndentationsUseTabs(False)
        self.setTabWidth(8)
        self.setIndentationWidth(4)
        self.setBraceMatching(self.BraceMatch.SloppyBraceMatch)
        self.setCaretLineVisible(True)
        self.setScrollWidth(1)
        self.setScrollWidthTracking(True)
        self.ask(self.SCI_SETIDLESTYLING, self.SC_IDLESTYLING_ALL)
        self.ask(self.SCI_SETMULTIPLESELECTION, 1)
        self.ask(self.SCI_SETADDITIONALSELECTIONTYPING, 1)
        self.ask(self.SCI_SETMULTIPASTE, self.SC_MULTIPASTE_EACH)
        self.ask(self.SCI_SETENDATLASTLINE, 0)
        self.ask(self.SCI_SETCARETLINEVISIBLEALWAYS, 1)
        self.ask(self.SCI_USEPOPUP, 0)
        self.setMarginType(_NUMBERS, self.MarginType.NumberMargin)
        for margin in (_SYMBOLS, _CHANGES):
            self.setMarginType(margin, self.MarginType.SymbolMargin)
        self.setMarginMarkerMask(_SYMBOLS, 1 << _ERROR | 1 << _WARNING | 1 << _BULB)
        self.setMarginMarkerMask(_CHANGES, 1 << _CHANGED)
        self.setMarginSensitivity(_SYMBOLS, True)
        self.setFolding(self.FoldStyle.PlainFoldStyle, _FOLDS)
        self.ask(self.SCI_SETFOLDFLAGS, 0)
        keys = self.standardCommands()
        for name in _FREED_KEYS if keys is not None else ():
            combination = QKeySequence(name)[0].toCombined()
            command = keys.boundTo(combination) if keys is not None else None
            if command is not None and command.key() == combination:
                command.setKey(0)
            elif command is not None:
                command.setAlternateKey(0)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        mono = theme.font("mono")
        # QScintilla takes points, the tokens are pixels
        mono.setPointSizeF(theme.font("mono").pixelSize() * 72 / max(self.logicalDpiY(), 1))
        base, primary = theme.color("surface.base"), theme.color("text.primary")
        self.setFont(mono)
        self.setPaper(base)
        self.setColor(theme.color("syntax.plain"))
        if self._lexer is not None:
            self._lexer.restyle(theme)
        self.setMarginsFont(mono)
        self.setMarginsBackgroundColor(base)
        self.setMarginsForegroundColor(theme.color("syntax.line_number"))
        self.setFoldMarginColors(base, base)
        self.setCaretForegroundColor(primary)
        self.setCaretWidth(theme.size("space.half"))
        self.ask(self.SCI_SETADDITIONALCARETFORE, _scintilla_color(primary))
        self.ask(self.SCI_SETADDITIONALSELBACK, _scintilla_color(theme.color("surface.selected")))
        self.setCaretLineBackgroundColor(theme.color("surface.line"))
        self.setSelectionBackgroundColor(theme.color("surface.selected"))
        self.resetSelectionForegroundColor()
        self.setMatchedBraceForegroundColor(theme.color("accent.text"))
        self.setMatchedBraceBackgroundColor(theme.color("accent.subtle"))
        self.setUnmatchedBraceForegroundColor(theme.color("error.text"))
        self.setUnmatchedBraceBackgroundColor(theme.color("error.subtle"))
        self._dress_indicators(theme)
        self._dress_markers(theme)
        self._dress_rows(theme)
        self.setScrollWidth(1)  # Scintilla remembers the widest line, in the type of before
        self._overview.restyle()
        self._refresh_note()

    def _dress_indicators(self, theme: Theme) -> None:
        for indicator in SQUIGGLES.values():  # painted by the overlay: Scintilla's run into the letters
            self.indicatorDefine(self.IndicatorStyle.HiddenIndicator, indicator)
        self.indicatorDefine(self.IndicatorStyle.StraightBoxIndicator, _MATCH)
        match = theme.color("warn.fill")
        match.setAlphaF(0.3)
        self.setIndicatorForegroundColor(match, _MATCH)
        self.setIndicatorOutlineColor(match, _MATCH)
        self.setIndicatorDrawUnder(True, _MATCH)
        self.indicatorDefine(self.IndicatorStyle.StraightBoxIndicator, _GLOW)
        glow = theme.color("accent.base")
        glow.setAlphaF(0.35)
        self.setIndicatorForegroundColor(glow, _GLOW)
        self.setIndicatorOutlineColor(glow, _GLOW)
        self.setIndicatorDrawUnder(True, _GLOW)

    def _dress_markers(self, theme: Theme) -> None:
        size = theme.size("icon.small")
        for marker, (icon, token) in _ICONS.items():
            self._define_image(marker, icon, token, size)
        self.markerDefine(self.MarkerSymbol.FullRectangle, _CHANGED)
        self.setMarkerBackgroundColor(theme.color("info.icon"), _CHANGED)
        small = theme.size("space.3")
        for marker in (self.SC_MARKNUM_FOLDEROPEN, self.SC_MARKNUM_FOLDEROPENMID):
            self._define_image(marker, "chevron-down", "text.tertiary", small)
        for marker in (self.SC_MARKNUM_FOLDER, self.SC_MARKNUM_FOLDEREND):
            self._define_image(marker, "chevron-right", "text.tertiary", small)
        for marker in (self.SC_MARKNUM_FOLDERSUB, self.SC_MARKNUM_FOLDERTAIL, self.SC_MARKNUM_FOLDERMIDTAIL):
            self.ask(self.SCI_MARKERDEFINE, marker, self.SC_MARK_EMPTY)

    def _define_image(self, marker: int, icon: str, token: str, size: int) -> None:
        ratio = self.devicePixelRatioF()
        picture = self._services.icons.get(icon, token, size).pixmap(size, size).toImage()
        picture = picture.convertToFormat(QImage.Format.Format_RGBA8888)
        self.ask(self.SCI_RGBAIMAGESETSCALE, round(picture.devicePixelRatio() * 100 or ratio * 100))
        self.markerDefine(picture, marker)

    def _dress_rows(self, theme: Theme) -> None:
        wanted = theme.size("row.editor")
        for style in (self.SCI_SETEXTRAASCENT, self.SCI_SETEXTRADESCENT):
            self.ask(style, 0)
        spare = wanted - self.ask(self.SCI_TEXTHEIGHT, 0)
        self.setExtraAscent((spare + 1) // 2)
        self.setExtraDescent(spare // 2)
        self._set_number_width()
        self.setMarginWidth(_SYMBOLS, theme.size("icon.small") + theme.size("space.1"))
        self.setMarginWidth(_CHANGES, theme.size("space.1"))
        self.setMarginWidth(_FOLDS, theme.size("space.3"))
        self.ask(self.SCI_SETMARGINLEFT, 0, 0)

    def _set_number_width(self) -> None:
        digits = max(len(str(self.lines())), 4)
        width = QFontMetricsF(self._services.theme.theme.font("mono")).horizontalAdvance("0" * digits)
        self.setMarginWidth(_NUMBERS, round(width) + self._services.theme.theme.size("space.3"))

    def retranslate(self) -> None:
        self.setAccessibleName(self._services.language(msg("File contents")))
        self._refresh_note()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """A view that gets lower keeps the caret's line, if it was seen."""
        if event is None:
            return
        before, height = event.oldSize().height(), event.size().height()
        was_seen = height < before and self._caret_is_within(before)
        super().resizeEvent(event)
        if was_seen and not self._caret_is_within(height):
            self.ask(self.SCI_SCROLLCARET)

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Scintilla's text, then what it has no way to show."""
        if event is None:
            return
        super().paintEvent(event)
        viewport = self.viewport()
        if viewport is not None:
            painter = QPainter(viewport)
            self._overlay.paint(painter, self._services.theme.theme)
            painter.end()

    # ---- pointer, keys, menu -----------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """A sign with Ctrl is a command, bound or not: Scintilla would write Ctrl++ as "+" into the text."""
        control = Qt.KeyboardModifier.ControlModifier
        held = control | Qt.KeyboardModifier.AltModifier  # both are AltGr, which writes
        if event is None:
            return
        if event.modifiers() & held == control and event.text() > " ":
            event.ignore()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent | None) -> None:  # noqa: N802 - Qt's name
        """The text alone has no size of its own: View > Zoom is for the whole window."""
        if event is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """A click on the note carries out its fix, Alt adds a caret, Ctrl asks for the definition."""
        if event is None:
            return
        problem = self._overlay.action_at(event.position())
        if problem is not None:
            self.fix_chosen.emit(problem)
            event.accept()
            return
        modifier, held = Qt.KeyboardModifier, event.modifiers()
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and held in (modifier.AltModifier, modifier.ControlModifier):
            point = event.position().toPoint()
            position = self.ask(self.SCI_POSITIONFROMPOINT, point.x(), point.y())
            if held == modifier.AltModifier:
                self.caret_added.emit(position)
            else:
                self.ask(self.SCI_GOTOPOS, position)
                self.definition_wanted.emit()
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        super().mouseMoveEvent(event)
        viewport = self.viewport()
        if viewport is not None and self._overlay.action_at(event.position()) is not None:
            viewport.setCursor(Qt.CursorShape.PointingHandCursor)

    def viewportEvent(self, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """The pointer rests: over the text others show what stands there, in the margins what is wrong."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            position = self.ask(self.SCI_POSITIONFROMPOINTCLOSE, event.pos().x(), event.pos().y())
            if event.pos().x() >= self._margins_width() and position >= 0:
                self.rested.emit(position, event.globalPos())
            elif text := self.hover_text(event.pos()):
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def hover_text(self, point: QPoint) -> str:
        """The problems under a point of the viewport; in the margins those of the whole line."""
        left = self._margins_width()
        if point.x() < left:
            line = self._line_of(self.ask(self.SCI_POSITIONFROMPOINT, left + 1, point.y()))
            found = [p.message for p in self._problems if self._line_of(p.start) == line]
        else:
            found = self.problems_at(self.ask(self.SCI_POSITIONFROMPOINTCLOSE, point.x(), point.y()))
        return "\n".join(dict.fromkeys(self._services.language(message) for message in found))

    def problems_at(self, position: int) -> list[Message]:
        """What is wrong at a byte."""
        return [problem.message for problem in self._problems if problem.start <= position < problem.end]

    def _margins_width(self) -> int:
        return sum(self.marginWidth(margin) for margin in (_NUMBERS, _SYMBOLS, _CHANGES, _FOLDS))

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """Our own menu: Scintilla's speaks English only."""
        if event is None:
            return
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            self._follow(self.ask(self.SCI_POSITIONFROMPOINT, event.pos().x(), event.pos().y()))
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        add_fixes(menu, self, self._services, self.fix_chosen.emit)
        self.menu_opens.emit(menu, self.caret_byte())
        add_commands(menu, self, self._services, is_spice=self._lexer is not None)
        menu.popup(event.globalPos())

    def _follow(self, position: int) -> None:
        """The caret goes where the menu opens, unless that is within what is selected."""
        start, end = self.selected_bytes()
        if not start <= position <= end:
            self.ask(self.SCI_GOTOPOS, position)

    def show_hints(self, hints: Mapping[int, LineHint], *, is_stale: bool = False) -> None:
        """Figures behind lines (from 0)."""
        if hints or self._overlay.hints:
            self._overlay.hints, self._overlay.are_hints_stale = hints, is_stale
            self._update_view()

    def mark_hints(self) -> None:
        """The figures behind the lines are of an older text."""
        self._overlay.are_hints_stale = True
        self._update_view()

    @property
    def hints(self) -> Mapping[int, LineHint]:
        """What stands behind the lines."""
        return self._overlay.hints

    @property
    def are_hints_stale(self) -> bool:
        """Whether that is of an older text."""
        return self._overlay.are_hints_stale

    def _update_view(self) -> None:
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()

    def glow(self, places: Sequence[tuple[int, int]]) -> None:
        """Have some pieces of the text (bytes) stand out for two seconds."""
        self.ask(self.SCI_SETINDICATORCURRENT, _GLOW)
        self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.length())
        for start, end in places:
            self.ask(self.SCI_INDICATORFILLRANGE, start, end - start)
        if places:
            self._glowing.start()

    def caret_byte(self) -> int:
        """Where the caret is, in bytes of UTF-8."""
        return self.ask(self.SCI_GETCURRENTPOS)

    def line_of(self, position: int) -> int:
        """The line of a byte, from 0."""
        return self._line_of(position)

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and not _is_left(event):
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and not _is_left(event):
            super().dragMoveEvent(event)

    def _on_margin_clicked(self, margin: int, line: int, _state: object) -> None:
        if margin != _SYMBOLS:
            return
        self.setCursorPosition(line, self.getCursorPosition()[1] if line == self.caret()[0] - 1 else 0)
        problem = self.problem_at_caret()
        if problem is not None:
            self.select_bytes(problem.start, problem.end)

    def _on_caret_moved(self, line: int, column: int) -> None:
        self._refresh_note()
        self.caret_moved.emit(line + 1, column + 1)

    def _caret_is_within(self, height: int) -> bool:
        """Whether the caret's line is seen whole in a view of so many pixels."""
        below = self.ask(self.SCI_POINTYFROMPOSITION, 0, self.ask(self.SCI_GETCURRENTPOS))
        return 0 <= below <= height - self.ask(self.SCI_TEXTHEIGHT, 0)

    def _bring_into_view(self, line: int) -> None:
        shown = self.ask(self.SCI_VISIBLEFROMDOCLINE, line)
        first, count = self.ask(self.SCI_GETFIRSTVISIBLELINE), self.ask(self.SCI_LINESONSCREEN)
        if not first <= shown < first + count - 1:
            self.ask(self.SCI_SETFIRSTVISIBLELINE, max(shown - count // 3, 0))

    def _line_of(self, position: int) -> int:
        return self.ask(self.SCI_LINEFROMPOSITION, position)

    def ask(self, message: int, first: int = 0, second: int = 0) -> int:
        return self.SendScintilla(message, first, second)


def _scintilla_color(color: QColor) -> int:
    return color.blue() << 16 | color.green() << 8 | color.red()


def _is_left(event: QDragMoveEvent) -> bool:
    """Leave files to the window; text is for the editor."""
    data = event.mimeData()
    if data is None or not data.hasUrls():
        return False
    event.ignore()
    return True
