"""The theme as Qt knows it: palette, style sheet, default font, and the ring of the keyboard's focus.

The style sheets in ``resources/styles`` are templates: ``@surface.base`` is a colour of the theme,
``@row.menu`` a size in pixels, ``@inside(control.height)`` that size less a border of 1 px on both sides,
``@ringed(control.height)`` less the ring of the focus,
``@font(small)`` the declarations of a type style, ``@weight`` that of buttons, ``@image(check)``
the path of a picture in the colours of the theme. A widget says what it is by a property (`mark`), never by
a colour of its own:

    kind     of a button: primary, secondary, danger, danger-text, ok, warn, quiet, link; of a tab bar: line
    small    of a button or input: true
    chip     of a button that is a word among others: true
    surface  of a pane: chrome, panel, base, raised, sunken
    role     of a label: title, display, strong, heading, secondary, tertiary, small, caption, mono, error,
             ok, warn, link
    line     of a pane, the side with a line: top, bottom, left, right
    card     of a frame: true; active, while what is in it has the focus: true
    plain    of a text editor without border: true
    part     of a dialog: footer
    state    of an input: error; of a progress bar: ok, warn, error
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from PyQt6.QtCore import QEvent, QLocale, QObject, Qt
from PyQt6.QtGui import QColor, QFocusEvent, QFontDatabase, QKeyEvent, QPalette
from PyQt6.QtWidgets import QApplication, QDialog, QWidget

from presentation.look import tokens
from presentation.ui.language import LanguageManager
from presentation.ui.theme import Theme, ThemeManager

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "styles"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_HOLE = re.compile(r"@([a-z_]+(?:\.[a-z0-9_]+)*)(?:\(([a-z_.-]+)\))?")
_EDGES = {"inside": 1, "ringed": 2}
"""Pixels of a border at each side."""
_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class UnknownToken(KeyError):
    """A style sheet names something that is not among the tokens."""


@cache
def templates() -> str:
    """The style sheets in the order of their names."""
    whole = "\n".join(path.read_text("utf-8") for path in sorted(FOLDER.glob("*.qss")))
    return _COMMENT.sub("", whole)


def style_sheet(theme: Theme, template: str | None = None) -> str:
    """A template (default: all of ours) with its holes filled."""
    return _HOLE.sub(lambda hole: _filled(theme, hole), templates() if template is None else template)


def _filled(theme: Theme, hole: re.Match[str]) -> str:
    name, argument = hole[1], hole[2]
    if name == "weight":
        return str(theme.weight)
    if name == "image" and argument:
        return (FOLDER / "images" / theme.name / f"{argument}.svg").as_posix()
    if name == "font" and argument:
        return _font_rule(theme, argument.replace("-", "_"))
    try:
        if name in _EDGES and argument:
            return f"{theme.size(argument) - 2 * _EDGES[name]}px"
        if name.split(".")[0] in tokens()["theme"][theme.name]:
            return _qss_color(theme.color(name))
        return f"{theme.size(name)}px"
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnknownToken(f"{hole[0]} in resources/styles") from error


def _font_rule(theme: Theme, style: str) -> str:
    font = theme.font(style)
    families = ", ".join(f'"{family}"' for family in font.families())
    return f"font-family: {families}; font-size: {font.pixelSize()}px; font-weight: {font.weight()}"


def _qss_color(color: QColor) -> str:
    return color.name(QColor.NameFormat.HexArgb if color.alpha() < 255 else QColor.NameFormat.HexRgb)


def palette(theme: Theme) -> QPalette:
    """For what style sheets don't reach, and for Fusion."""
    made = QPalette()
    role = QPalette.ColorRole
    colors = {
        role.Window: "surface.panel",
        role.WindowText: "text.primary",
        role.Base: "surface.base",
        role.AlternateBase: "surface.line",
        role.Text: "text.primary",
        role.PlaceholderText: "text.tertiary",
        role.Button: "surface.base",
        role.ButtonText: "text.primary",
        role.BrightText: "text.inverse",
        role.ToolTipBase: "surface.raised",
        role.ToolTipText: "text.primary",
        role.Highlight: "surface.selected",
        role.HighlightedText: "text.primary",
        role.Accent: "accent.base",
        role.Link: "text.link",
        role.LinkVisited: "text.link",
        role.Light: "surface.raised",
        role.Midlight: "border.subtle",
        role.Mid: "border.default",
        role.Dark: "border.strong",
        role.Shadow: "border.strong",
    }
    for each, name in colors.items():
        made.setColor(each, theme.color(name))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText, role.PlaceholderText):
        made.setColor(QPalette.ColorGroup.Disabled, each, theme.color("text.disabled"))
    for each, name in ((role.Highlight, "surface.selected_inactive"), (role.Accent, "border.strong")):
        made.setColor(QPalette.ColorGroup.Inactive, each, theme.color(name))
        made.setColor(QPalette.ColorGroup.Disabled, each, theme.color("surface.selected_inactive"))
    return made


class ApplicationStyle(QObject):
    """Keeps the QApplication in the theme's and the language's dress, and marks the keyboard's focus."""

    def __init__(self, theme: ThemeManager, language: LanguageManager) -> None:
        super().__init__()
        self._theme = theme
        self._language = language
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        self._reason: Qt.FocusReason | None = None
        self._apply_base()
        theme.changed.connect(self.dress)
        language.changed.connect(self._speak)
        if language.name == "zh":
            self._speak()

    def dress(self, _changed: object = None) -> None:
        """Put the style sheet on, or on anew; until then palette and font alone are the theme's."""
        # Qt puts a sheet in another's place on each widget once for every widget that it lies in, nine times
        # on those of a window: off and on again, each takes it twice.
        self._application.setStyleSheet("")
        self._apply_base()
        self._application.setStyleSheet(style_sheet(self._theme.theme))

    def complete(self) -> None:
        """What the first paint of Latin text does not need, and would take some 15 ms of it.

        The focus that comes by a key is marked from now on. And the locale is set, whose class makes a
        thousand members of enumerations when it is first used.
        """
        self._speak()
        self._application.focusChanged.connect(self._follow_focus)
        self._watch(self._application.focusWidget() or self._application.activeWindow())

    def _speak(self, _changed: object = None) -> None:
        """Han shapes and the forms of dates are the language's."""
        QLocale.setDefault(self._language.locale)

    def _apply_base(self) -> None:
        theme = self._theme.theme
        self._application.setPalette(palette(theme))
        self._application.setFont(theme.font("ui"))

    # A filter on the application would be simpler: a hundred thousand events pass it while a window is made,
    # and take as long as the making. So only a widget that gets the focus is watched: when it loses it, it is
    # told why, and so why the next one gets it.

    def _follow_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        reason, self._reason = self._reason, None
        self._watch(now or self._application.activeWindow())
        if now is None:
            return
        _mark_focus(now, by_key=reason in _KEYBOARD)
        dialog = now.window()
        if isinstance(dialog, QDialog) and dialog.contentsMargins().isNull():
            # Where no window manager draws a frame the style's line is all that holds it together.
            dialog.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
            dialog.setContentsMargins(1, 1, 1, 1)

    def _watch(self, widget: QWidget | None) -> None:
        # It stays on a widget that has had the focus: who knows whether Qt has deleted that one since.
        if widget is not None:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Give the widget that got the focus by a key the property `kbdFocus`; everything passes."""
        if isinstance(event, QFocusEvent) and isinstance(watched, QWidget):
            self._reason = event.reason()
            _mark_focus(watched, by_key=event.gotFocus() and event.reason() in _KEYBOARD)
        elif isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            # Where nothing has the focus yet, the window is asked for the next one.
            self._reason = Qt.FocusReason.TabFocusReason if event.type() == QEvent.Type.KeyPress else None
        return False


def _mark_focus(widget: QWidget, *, by_key: bool) -> None:
    if bool(widget.property("kbdFocus")) != by_key:
        mark(widget, kbdFocus=by_key)


def mark(widget: QWidget, **properties: str | bool) -> None:
    """Say what a widget is (``mark(button, kind="primary")``) and have it drawn so."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    # Before its first showing a widget has not been styled yet, and need not be styled twice.
    style = widget.style() if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished) else None
    if style is not None:
        style.unpolish(widget)
        style.polish(widget)
    widget.update()


def mark_area(widget: QWidget, **properties: str | bool) -> None:
    """`mark` a pane or bar that has a background or a line of its own: Qt paints none of its own accord."""
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    mark(widget, **properties)


FONTS = Path(__file__).resolve().parents[2] / "resources" / "fonts"


def load_fonts(folder: Path = FONTS) -> tuple[Path, ...]:
    """Make the bundled faces known to Qt; returns the files it would not take (the system's serve then)."""
    return tuple(
        path for path in sorted(folder.glob("*.ttf")) if QFontDatabase.addApplicationFont(str(path)) < 0
    )
