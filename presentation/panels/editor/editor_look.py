"""How a text looks and behaves before anything is said of it: margins, type, colors, keys."""

from __future__ import annotations

from PyQt6.QtGui import QColor, QFontMetricsF, QImage, QKeySequence

from presentation.panels.editor.byte_text import ByteText
from presentation.panels.editor.marked_text import (
    BULB,
    CHANGED,
    ERROR,
    GLOW,
    MATCH,
    PUT_IN,
    SIGNS,
    TAKEN_OUT,
    WARNING,
)
from presentation.panels.editor.overlay import BARS, SQUIGGLES
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices

NUMBERS, SYMBOLS, CHANGES, FOLDS = range(4)
"""Margins, from the left."""
_FREED_KEYS = (
    *("Ctrl+L", "Ctrl+Shift+L", "Ctrl+T", "Ctrl+Shift+T", "Ctrl+U", "Ctrl+Shift+U"),
    *("Ctrl++", "Ctrl+-", "Ctrl+/", "Ctrl+Shift+/", "Ctrl+\\", "Ctrl+Shift+\\", "Ctrl+D", "Esc", "Ins"),
    *("Ctrl+[", "Ctrl+]", "Ctrl+Shift+[", "Ctrl+Shift+]", "Alt+Shift+Up", "Alt+Shift+Down"),
)
"""What Scintilla would take from the window's commands; a size of its own the window could not take back."""


def set_up(editor: ByteText) -> None:
    """How it behaves, whatever it looks like."""
    editor.setUtf8(True)
    editor.setAutoIndent(False)
    editor.setIndentationsUseTabs(False)
    editor.setTabWidth(8)
    editor.setIndentationWidth(4)
    editor.setBraceMatching(editor.BraceMatch.SloppyBraceMatch)
    editor.setCaretLineVisible(True)
    editor.setScrollWidth(1)
    editor.setScrollWidthTracking(True)
    editor.ask(editor.SCI_SETIDLESTYLING, editor.SC_IDLESTYLING_ALL)
    editor.ask(editor.SCI_SETMULTIPLESELECTION, 1)
    editor.ask(editor.SCI_SETADDITIONALSELECTIONTYPING, 1)
    editor.ask(editor.SCI_SETMULTIPASTE, editor.SC_MULTIPASTE_EACH)
    editor.ask(editor.SCI_SETENDATLASTLINE, 0)
    editor.ask(editor.SCI_SETCARETLINEVISIBLEALWAYS, 1)
    editor.ask(editor.SCI_USEPOPUP, 0)
    editor.setMarginType(NUMBERS, editor.MarginType.NumberMargin)
    for margin in (SYMBOLS, CHANGES, BARS):
        editor.setMarginType(margin, editor.MarginType.SymbolMargin)
    editor.setMarginMarkerMask(SYMBOLS, 1 << ERROR | 1 << WARNING | 1 << BULB)
    editor.setMarginMarkerMask(CHANGES, 1 << CHANGED)
    editor.setMarginMarkerMask(BARS, 0)
    editor.setMarginWidth(BARS, 0)
    editor.setMarginSensitivity(SYMBOLS, True)
    editor.setFolding(editor.FoldStyle.PlainFoldStyle, FOLDS)
    editor.ask(editor.SCI_SETFOLDFLAGS, 0)
    _free_keys(editor)


def _free_keys(editor: ByteText) -> None:
    keys = editor.standardCommands()
    for name in _FREED_KEYS if keys is not None else ():
        combination = QKeySequence(name)[0].toCombined()
        command = keys.boundTo(combination) if keys is not None else None
        if command is not None and command.key() == combination:
            command.setKey(0)
        elif command is not None:
            command.setAlternateKey(0)


def dress(editor: ByteText, services: WindowServices) -> None:
    """Put the theme's type, colors and sizes on it."""
    theme = services.theme.theme
    mono = theme.font("mono")
    # QScintilla takes points, the tokens are pixels
    mono.setPointSizeF(theme.font("mono").pixelSize() * 72 / max(editor.logicalDpiY(), 1))
    base, primary = theme.color("surface.base"), theme.color("text.primary")
    editor.setFont(mono)
    editor.setPaper(base)
    editor.setColor(theme.color("syntax.plain"))
    editor.setMarginsFont(mono)
    editor.setMarginsBackgroundColor(base)
    editor.setMarginsForegroundColor(theme.color("syntax.line_number"))
    editor.setFoldMarginColors(base, base)
    editor.setCaretForegroundColor(primary)
    editor.setCaretWidth(theme.size("space.half"))
    editor.ask(editor.SCI_SETADDITIONALCARETFORE, _scintilla_color(primary))
    editor.ask(editor.SCI_SETADDITIONALSELBACK, _scintilla_color(theme.color("surface.selected")))
    editor.setCaretLineBackgroundColor(theme.color("surface.line"))
    editor.setSelectionBackgroundColor(theme.color("surface.selected"))
    editor.resetSelectionForegroundColor()
    editor.setMatchedBraceForegroundColor(theme.color("accent.text"))
    editor.setMatchedBraceBackgroundColor(theme.color("accent.subtle"))
    editor.setUnmatchedBraceForegroundColor(theme.color("error.text"))
    editor.setUnmatchedBraceBackgroundColor(theme.color("error.subtle"))
    _dress_indicators(editor, theme)
    _dress_markers(editor, services)
    _dress_rows(editor, theme)
    editor.setScrollWidth(1)  # Scintilla remembers the widest line, in the type of before


def _dress_indicators(editor: ByteText, theme: Theme) -> None:
    for indicator in SQUIGGLES.values():  # painted by the overlay: Scintilla's run into the letters
        editor.indicatorDefine(editor.IndicatorStyle.HiddenIndicator, indicator)
    editor.indicatorDefine(editor.IndicatorStyle.StraightBoxIndicator, MATCH)
    match = theme.color("warn.fill")
    match.setAlphaF(0.3)
    editor.setIndicatorForegroundColor(match, MATCH)
    editor.setIndicatorOutlineColor(match, MATCH)
    editor.setIndicatorDrawUnder(True, MATCH)
    editor.indicatorDefine(editor.IndicatorStyle.StraightBoxIndicator, GLOW)
    glow = theme.color("accent.base")
    glow.setAlphaF(0.35)
    editor.setIndicatorForegroundColor(glow, GLOW)
    editor.setIndicatorOutlineColor(glow, GLOW)
    editor.setIndicatorDrawUnder(True, GLOW)


def dress_taken_out(editor: ByteText, theme: Theme) -> None:
    """After the lexer, which makes all styles alike first."""
    font = theme.font("mono")
    editor.SendScintilla(editor.SCI_STYLESETFONT, TAKEN_OUT, font.family().encode())
    editor.ask(
        editor.SCI_STYLESETSIZE, TAKEN_OUT, round(font.pixelSize() * 72 / max(editor.logicalDpiY(), 1))
    )
    editor.ask(editor.SCI_STYLESETFORE, TAKEN_OUT, _scintilla_color(theme.color("diff.del_text")))
    editor.ask(editor.SCI_STYLESETBACK, TAKEN_OUT, _scintilla_color(theme.color("diff.del_bg")))


def _dress_markers(editor: ByteText, services: WindowServices) -> None:
    theme = services.theme.theme
    size = theme.size("icon.small")
    for marker, (icon, token) in SIGNS.items():
        _define_image(editor, marker, _picture(services, icon, token, size))
    editor.markerDefine(editor.MarkerSymbol.FullRectangle, CHANGED)
    editor.setMarkerBackgroundColor(theme.color("info.icon"), CHANGED)
    editor.markerDefine(editor.MarkerSymbol.Background, PUT_IN)
    editor.setMarkerBackgroundColor(theme.color("diff.add_bg"), PUT_IN)
    small = theme.size("space.3")
    for marker in (editor.SC_MARKNUM_FOLDEROPEN, editor.SC_MARKNUM_FOLDEROPENMID):
        _define_image(editor, marker, _picture(services, "chevron-down", "text.tertiary", small))
    for marker in (editor.SC_MARKNUM_FOLDER, editor.SC_MARKNUM_FOLDEREND):
        _define_image(editor, marker, _picture(services, "chevron-right", "text.tertiary", small))
    for marker in (
        editor.SC_MARKNUM_FOLDERSUB,
        editor.SC_MARKNUM_FOLDERTAIL,
        editor.SC_MARKNUM_FOLDERMIDTAIL,
    ):
        editor.ask(editor.SCI_MARKERDEFINE, marker, editor.SC_MARK_EMPTY)


def _picture(services: WindowServices, icon: str, token: str, size: int) -> QImage:
    picture = services.icons.get(icon, token, size).pixmap(size, size).toImage()
    return picture.convertToFormat(QImage.Format.Format_RGBA8888)


def _define_image(editor: ByteText, marker: int, picture: QImage) -> None:
    scale = picture.devicePixelRatio() or editor.devicePixelRatioF()
    editor.ask(editor.SCI_RGBAIMAGESETSCALE, round(scale * 100))
    editor.markerDefine(picture, marker)


def _dress_rows(editor: ByteText, theme: Theme) -> None:
    wanted = theme.size("row.editor")
    for style in (editor.SCI_SETEXTRAASCENT, editor.SCI_SETEXTRADESCENT):
        editor.ask(style, 0)
    spare = wanted - editor.ask(editor.SCI_TEXTHEIGHT, 0)
    editor.setExtraAscent((spare + 1) // 2)
    editor.setExtraDescent(spare // 2)
    fit_numbers(editor, theme)
    editor.setMarginWidth(SYMBOLS, theme.size("icon.small") + theme.size("space.1"))
    editor.setMarginWidth(CHANGES, theme.size("space.1"))
    editor.setMarginWidth(FOLDS, theme.size("space.3"))
    editor.ask(editor.SCI_SETMARGINLEFT, 0, 0)


def fit_numbers(editor: ByteText, theme: Theme) -> None:
    """Room for the number of the last line."""
    digits = max(len(str(editor.lines())), 4)
    width = QFontMetricsF(theme.font("mono")).horizontalAdvance("0" * digits)
    editor.setMarginWidth(NUMBERS, round(width) + theme.size("space.3"))


def _scintilla_color(color: QColor) -> int:
    return color.blue() << 16 | color.green() << 8 | color.red()
