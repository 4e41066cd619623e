"""Colours, sizes and type, from ``resources/look/tokens.json`` and nowhere else.

A change of theme is one event: everybody who paints listens to `ThemeManager.changed` and asks again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QGuiApplication

from presentation.look import ThemeName, hex_of, size_of, tokens

Mode = Literal["light", "dark", "system"]

MEDIUM = 500
"""The weight of `Theme.weight` where the face has it."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One theme's values by their dotted names."""

    name: ThemeName
    scale: float = 1.0
    """The user's factor on all sizes of type and rows."""
    has_medium: bool = True
    """False where words are Chinese: their faces have regular and bold only, and Qt would take bold."""
    is_high_contrast: bool = False
    """Quiet texts as strong as others, outlines that are seen: tokens.json has which."""

    def hex(self, name: str) -> str:
        """A colour as it stands in the tokens: ``hex("surface.base")``, ``hex("trace.0")``."""
        return hex_of(self.name, name, is_high_contrast=self.is_high_contrast)

    def color(self, name: str) -> QColor:
        """A colour; also the ``rgba(r,g,b,a)`` form."""
        return QColor(_color(self.name, name, self.is_high_contrast))  # a copy: whoever asked may change it

    def size(self, name: str) -> int:
        """A size in logical pixels: ``size("row.tree")``, ``size("space.3")``, ``size("pane.left_min")``."""
        return size_of(name, self.scale)

    def font(self, style: str, *, weight: int | None = None) -> QFont:
        """The font of a type style: ``ui``, ``small``, ``caption``, ``title``, ``mono`` ..."""
        weight = self.weight if weight == MEDIUM else weight
        return QFont(_font(style, weight, self.scale))  # a copy: whoever asked may change it

    @property
    def weight(self) -> int:
        """Of what is a little stronger than text: buttons, selected tabs."""
        return MEDIUM if self.has_medium else 400

    def tabular(self, style: str = "ui") -> QFont:
        """The same with figures of one width, for columns, readouts and meters."""
        return QFont(_tabular(style, self.scale))


@cache
def _color(theme: ThemeName, name: str, is_high_contrast: bool) -> QColor:
    text = hex_of(theme, name, is_high_contrast=is_high_contrast)
    if text.startswith("rgba("):
        red, green, blue, alpha = text[5:-1].split(",")
        return QColor(int(red), int(green), int(blue), round(float(alpha) * 255))
    return QColor(text)


@cache
def _font(style: str, weight: int | None, scale: float) -> QFont:
    kind = tokens()["type"][style]
    is_mono = style.startswith("mono")
    families = tokens()["font"]["mono" if is_mono else "ui"]
    cjk = tokens()["font"]["mono_cjk" if is_mono else "ui_cjk"]
    font = QFont()
    font.setFamilies([*families, *cjk])
    font.setPixelSize(max(round(kind["px"] * scale), 1))
    font.setWeight(QFont.Weight(weight or kind["weight"]))
    if is_mono:
        font.setStyleHint(QFont.StyleHint.Monospace)
        for tag, value in (("liga", 0), ("calt", 0), ("zero", 1)):
            font.setFeature(QFont.Tag(tag), value)
    return font


@cache
def _tabular(style: str, scale: float) -> QFont:
    font = QFont(_font(style, None, scale))
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


class ThemeManager(QObject):
    """The theme in force; `changed` is emitted with the new one."""

    changed = pyqtSignal(object)

    def __init__(self, mode: Mode = "system", *, scale: float = 1.0) -> None:
        super().__init__()
        self._mode: Mode = mode
        self._scale = scale
        self._has_medium = True
        self._wants_contrast = False
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._on_system_changed)
        if isinstance(application := QGuiApplication.instance(), QGuiApplication):
            # No signal of the contrast reaches Python: it is looked at when somebody comes back.
            application.applicationStateChanged.connect(self._on_system_changed)
        self._theme = self._resolve()

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def mode(self) -> Mode:
        return self._mode

    def set_mode(self, mode: Mode, *, scale: float | None = None) -> None:
        """Choose a theme (and a factor on all sizes)."""
        self._mode = mode
        self._scale = self._scale if scale is None else scale
        self._apply()

    @property
    def wants_contrast(self) -> bool:
        """Whether high contrast was chosen here; a system that asks for it has it in any case."""
        return self._wants_contrast

    def set_contrast(self, *, is_high: bool) -> None:
        self._wants_contrast = is_high
        self._apply()

    def speak(self, language: str) -> None:
        """Take the weights that the faces of a language ("en", "zh") have."""
        self._has_medium = language != "zh"
        self._apply()

    def _on_system_changed(self, _hint: object) -> None:
        self._apply()

    def _apply(self) -> None:
        theme = self._resolve()
        if theme != self._theme:
            self._theme = theme
            self.changed.emit(theme)

    def _resolve(self) -> Theme:
        name: ThemeName = "dark" if self._mode == "dark" else "light"
        hints = QGuiApplication.styleHints()
        if self._mode == "system" and hints is not None:
            name = "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"
        told = None if hints is None else hints.accessibility()
        asks = told is not None and told.contrastPreference() == Qt.ContrastPreference.HighContrast
        return Theme(name, self._scale, self._has_medium, self._wants_contrast or asks)
