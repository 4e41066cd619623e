"""Lucide icons as local SVG, coloured by the theme."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QByteArray, QSize, Qt
from PyQt6.QtGui import QIcon, QPainter, QPixmap
from PyQt6.QtSvg import QSvgRenderer

from presentation.window.theme import ThemeManager

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "icons"


class Icons:
    """Icons by their Lucide name; asked again when the theme changes."""

    def __init__(self, theme: ThemeManager) -> None:
        self._theme = theme
        self._cache: dict[tuple[str, str, int, str], QIcon] = {}

    def get(self, name: str, color: str = "text.secondary", size: int = 16) -> QIcon:
        """The icon `name` in a colour of the tokens, sharp at one to three times its size."""
        key = (name, color, size, self._theme.theme.name)
        if key not in self._cache:
            self._cache[key] = self._render(name, color, size)
        return self._cache[key]

    def _render(self, name: str, color: str, size: int) -> QIcon:
        text = (FOLDER / f"{name}.svg").read_text("utf-8")
        text = text.replace("currentColor", self._theme.theme.hex(color))
        renderer = QSvgRenderer(QByteArray(text.encode()))
        icon = QIcon()
        for ratio in (1.0, 1.25, 1.5, 2.0, 3.0):
            pixmap = QPixmap(QSize(round(size * ratio), round(size * ratio)))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            renderer.render(painter)
            painter.end()
            pixmap.setDevicePixelRatio(ratio)
            icon.addPixmap(pixmap)
        return icon
