"""Goals with what was measured, their limits, and a bar for how firmly each is met."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from domain.simulation.goals import GoalVerdict
from presentation.goal_margins import row_of, shown
from presentation.goal_words import name_of
from presentation.ui.workspace import WindowServices


class MarginBars(QWidget):
    """One line for each goal; right of the tick it is met, left of it missed."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__()
        self._services = services
        self.verdicts: Sequence[GoalVerdict] = ()
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        services.theme.changed.connect(self._on_theme)  # a method: the connection ends with the widget

    def _on_theme(self, _theme: object) -> None:
        self.updateGeometry()

    def show_verdicts(self, verdicts: Sequence[GoalVerdict]) -> None:
        self.verdicts = verdicts
        self.setAccessibleDescription("; ".join(self.texts()))
        self.updateGeometry()
        self.update()

    def texts(self) -> list[str]:
        """Each line in words."""
        language = self._services.language
        lines = []
        for verdict in self.verdicts:
            row = row_of(verdict)
            cells = (language(name_of(verdict.goal)), language(shown(row.value)), language(shown(row.limit)))
            lines.append(" ".join((*cells, row.margin_text)))
        return lines

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        return QSize(300, theme.size("row.goal") * len(self.verdicts) + 2 * theme.size("space.2"))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(240, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Name, value, limit, bar, margin."""
        painter, theme, language = QPainter(self), self._services.theme.theme, self._services.language
        painter.fillRect(self.rect(), theme.color("surface.base"))
        edge, gap, row_height = theme.size("space.3"), theme.size("space.2"), theme.size("row.goal")
        painter.setFont(theme.tabular("ui"))
        metrics = QFontMetrics(painter.font())
        rows = [(verdict, row_of(verdict)) for verdict in self.verdicts]
        if not rows:
            return
        margin_width = max(metrics.horizontalAdvance(row.margin_text) for _, row in rows)
        values = [language(shown(row.value)) for _, row in rows]
        limits = [language(shown(row.limit)) for _, row in rows]
        value_width, limit_width = (max(map(metrics.horizontalAdvance, texts)) for texts in (values, limits))
        names = [language(name_of(verdict.goal)) for verdict, _ in rows]
        wanted = min(max(map(metrics.horizontalAdvance, names)) + gap, self.width() // 3)
        bar_width = theme.size("margin_bar.width")
        taken = 2 * edge + wanted + value_width + margin_width + 2 * gap
        if taken + bar_width + limit_width + 2 * gap > self.width():  # names and figures come before bars
            bar_width = 0
        if taken + bar_width + limit_width + gap > self.width():
            limit_width = 0
        right = self.width() - edge
        bar_left = right - margin_width - gap - bar_width
        limit_left = bar_left - gap - limit_width
        value_right = limit_left - gap
        left_flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right_flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number, (verdict, row) in enumerate(rows):
            top = gap + number * row_height
            room = value_right - value_width - gap - edge
            name = metrics.elidedText(
                language(name_of(verdict.goal)), Qt.TextElideMode.ElideRight, max(room, 0)
            )
            painter.setPen(theme.color("text.primary"))
            painter.drawText(QRectF(edge, top, room, row_height), left_flags, name)
            painter.drawText(QRectF(value_right - value_width, top, value_width, row_height), right_flags,
                             values[number])  # fmt: skip
            painter.setPen(theme.color("text.secondary"))
            if limit_width:
                painter.drawText(QRectF(limit_left, top, limit_width, row_height), left_flags, limits[number])
            if bar_width:
                self._bar(painter, QRectF(bar_left, top, bar_width, row_height), row.fill, is_met=row.met)
            painter.setPen(theme.color("ok.text" if row.met else "error.text"))
            painter.drawText(QRectF(right - margin_width, top, margin_width, row_height), right_flags,
                             row.margin_text)  # fmt: skip

    def _bar(self, painter: QPainter, place: QRectF, fill: float, *, is_met: bool) -> None:
        theme = self._services.theme.theme
        height, tick_at = theme.size("margin_bar.height"), theme.size("margin_bar.limit_tick_at")
        track = QRectF(place.left(), place.center().y() - height / 2, place.width(), height)
        painter.fillRect(track, theme.color("surface.pressed"))
        zero = place.left() + tick_at
        end = zero + fill * (place.width() - tick_at if fill >= 0 else tick_at)
        filled = QRectF(min(zero, end), track.top(), abs(end - zero), height)
        painter.fillRect(filled, theme.color("ok.icon" if is_met else "error.icon"))
        tick = theme.size("margin_bar.tick_height")
        painter.fillRect(QRectF(zero, place.center().y() - tick / 2, 1, tick), theme.color("text.secondary"))
