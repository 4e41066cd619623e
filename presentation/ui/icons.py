"""Lucide icons as local SVG, coloured by the theme."""

from __future__ import annotations

from PyQt6.QtCore import QByteArray, QRect, QSize, Qt
from PyQt6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PyQt6.QtSvg import QSvgRenderer

from presentation.look import drawings
from presentation.ui.theme import ThemeManager


class UnknownIcon(KeyError):
    """An icon is asked for that is not in ``resources/icons``."""


class Icons:
    """Icons by their Lucide name; asked again when the theme changes."""

    def __init__(self, theme: ThemeManager) -> None:
        self._theme = theme
        self._cache: dict[tuple[str, str, int, str], QIcon] = {}

    def get(self, name: str, color: str = "text.secondary", size: int = 16) -> QIcon:
        """The icon `name` in a colour of the tokens, sharp at every ratio of the screen.

        Disabled it is drawn in ``text.disabled``. Raises UnknownIcon.
        """
        theme = self._theme.theme
        key = (name, color, size, f"{theme.name}{theme.is_high_contrast}")
        if key not in self._cache:
            if name not in drawings():
                raise UnknownIcon(f"{name}: there is no {name}.svg in resources/icons")
            theme = self._theme.theme
            self._cache[key] = QIcon(
                _Drawing(name, size, color=theme.color(color), disabled=theme.color("text.disabled"))
            )
        return self._cache[key]

    def pixmap(
        self, name: str, color: str = "text.secondary", size: int = 16, *, ratio: float = 1.0
    ) -> QPixmap:
        """The same as a picture of `size` logical pixels, for delegates and labels."""
        return self.get(name, color, size).pixmap(QSize(size, size), ratio)


class _Drawing(QIconEngine):
    """Draws one icon when it is needed, in the size that is needed, and keeps what it drew."""

    def __init__(self, name: str, size: int, *, color: QColor, disabled: QColor) -> None:
        super().__init__()
        self._name = name
        self._size = size
        self._color = color
        self._disabled = disabled
        self._drawn: dict[tuple[bool, int, int], QPixmap] = {}

    def clone(self) -> QIconEngine:
        """For a copy of the icon that is changed."""
        return _Drawing(self._name, self._size, color=self._color, disabled=self._disabled)

    def availableSizes(  # noqa: N802 - Qt's name
        self, _mode: QIcon.Mode = QIcon.Mode.Normal, _state: QIcon.State = QIcon.State.Off
    ) -> list[QSize]:
        """The one it was made for; any other is drawn as well."""
        return [QSize(self._size, self._size)]

    def actualSize(  # noqa: N802 - Qt's name
        self, size: QSize, _mode: QIcon.Mode, _state: QIcon.State
    ) -> QSize:
        """A square; never larger than it was made for."""
        side = min(size.width(), size.height(), self._size)
        return QSize(side, side)

    def scaledPixmap(  # noqa: N802 - Qt's name
        self, size: QSize, mode: QIcon.Mode, _state: QIcon.State, scale: float
    ) -> QPixmap:
        """`size` in logical pixels, `scale` the screen's ratio (so it is since Qt 6.8)."""
        is_disabled = mode == QIcon.Mode.Disabled
        pixels = QSize(round(size.width() * scale), round(size.height() * scale))
        key = (is_disabled, pixels.width(), pixels.height())
        if key not in self._drawn:
            self._drawn[key] = _draw(self._name, self._disabled if is_disabled else self._color, pixels)
        pixmap = QPixmap(self._drawn[key])
        pixmap.setDevicePixelRatio(scale)
        return pixmap

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """At the ratio 1."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def paint(self, painter: QPainter | None, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Onto a widget; as a picture kept, for reading the drawing takes longer than painting it."""
        device = painter.device() if painter is not None else None
        if painter is not None and device is not None:
            picture = self.scaledPixmap(rect.size(), mode, state, device.devicePixelRatioF())
            painter.drawPixmap(rect.topLeft(), picture)


def _renderer(name: str, color: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(drawings()[name].replace("currentColor", color.name()).encode()))


def _draw(name: str, color: QColor, size: QSize) -> QPixmap:
    pixmap = QPixmap(size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    _renderer(name, color).render(painter)
    painter.end()
    return pixmap
