"""The traces as chips above the plot: a sample of the line and the expression; one field adds another."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QStringListModel, Qt, pyqtSignal
from PyQt6.QtGui import (
    QEnterEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PyQt6.QtWidgets import QAbstractButton, QCompleter, QHBoxLayout, QLineEdit, QScrollArea, QWidget

from presentation.panels.waveforms.figure_table import is_delete
from presentation.window.command_hits import score_of
from presentation.window.frame import IconButton
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import Message, msg

_COLORS = 8
_MOST_SOLID = 4
_WIDEST = 220
_NARROWEST_FIELD = 80
_WIDEST_FIELD = 180
_SAMPLE = 12
_MOST_OFFERED = 200


class TraceChip(QAbstractButton):
    """One trace. A click draws it stronger, Delete or the cross (shown under the mouse) takes it away."""

    removed = pyqtSignal()

    def __init__(
        self,
        services: WindowServices,
        expression: str,
        color: int,
        error: Message | None = None,
        *,
        can_be_removed: bool = True,
    ) -> None:
        super().__init__()
        self._can_be_removed = can_be_removed
        self._hint: Message | None = None
        self._services = services
        self._color = color
        self._error = error
        self._has_mouse = False
        self.setText(expression)
        self.setCheckable(True)
        self.setObjectName(f"trace:{expression}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.retranslate()

    def set_hint(self, hint: Message) -> None:
        """Another tooltip than that of a trace."""
        self._hint = hint
        self.retranslate()

    def retranslate(self) -> None:
        """Tooltip and accessible name."""
        told = self._hint if self._error is None else self._error
        if told is not None:
            self.setToolTip(self._services.language(told))
        else:
            self.setToolTip(
                self._services.language(
                    msg("{expression}: click to draw it stronger, Delete removes it", expression=self.text())
                )
            )
        self.setAccessibleName(self.text())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Sample, gap, text, padding."""
        theme = self._services.theme.theme
        width = QFontMetrics(theme.font("ui")).horizontalAdvance(self.text())
        sample = round(_SAMPLE * theme.scale) + theme.size("space.1") + theme.size("space.half")
        most = round(_WIDEST * theme.scale)
        return QSize(
            min(width, most) + sample + 2 * theme.size("space.2"), theme.size("control.height_small") - 4
        )

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Chips don't shrink; the row scrolls."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Frame, line sample, text; the cross over its end while the mouse is here."""
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_pressed = self.isChecked() and self._can_be_removed
        # One that shows and hides its line is quiet while the line is there.
        is_off = self._error is not None or not (self._can_be_removed or self.isChecked())
        surface = "surface.pressed" if is_pressed else "surface.hover" if self._has_mouse else "surface.base"
        has_ring = self.hasFocus() and bool(self.property("kbdFocus"))
        painter.setPen(theme.color("focus_ring" if has_ring else "border.default"))
        painter.setBrush(theme.color(surface))
        radius = theme.size("radius.control")
        painter.drawRoundedRect(frame, radius, radius)
        left = theme.size("space.2")
        sample = round(_SAMPLE * theme.scale)
        middle = self.rect().center().y() + 0.5
        pen = QPen(theme.color("text.disabled" if is_off else f"trace.{self._color % _COLORS}"), 2)
        if self._color >= _MOST_SOLID:
            pen.setDashPattern([2.0, 1.0] if self._color < _COLORS else [1.0, 1.0])
        painter.setPen(pen)
        painter.drawLine(QPointF(left, middle), QPointF(left + sample, middle))
        painter.setFont(theme.font("ui"))
        painter.setPen(theme.color("text.tertiary" if is_off else "text.primary"))
        start = left + sample + theme.size("space.1") + theme.size("space.half")
        room = self.width() - start - theme.size("space.2")
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room + 1)
        painter.drawText(QRect(start, 0, room + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if self._has_mouse and self._can_be_removed:
            cross = self._cross()
            painter.fillRect(cross.adjusted(0, 1, -1, -1), theme.color(surface))
            side = theme.size("icon.small")
            icon = self._services.icons.get("x", "text.secondary", side)
            icon.paint(painter, cross)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """The cross, the middle button."""
        if event is not None and self._can_be_removed:
            is_inside = self.rect().contains(event.position().toPoint())
            is_cross = event.button() == Qt.MouseButton.LeftButton and self._cross().contains(
                event.position().toPoint()
            )
            if is_inside and (is_cross or event.button() == Qt.MouseButton.MiddleButton):
                self.setDown(False)
                self.removed.emit()
                return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Delete."""
        if self._can_be_removed and is_delete(event):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        """The cross appears."""
        self._has_mouse = True
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        """The cross goes."""
        self._has_mouse = False
        self.update()
        super().leaveEvent(event)

    def _cross(self) -> QRect:
        side = self._services.theme.theme.size("icon.default") + self._services.theme.theme.size("space.1")
        return QRect(self.width() - side, 0, side, self.height())


class _Field(QLineEdit):
    """Where an expression is typed; Escape leaves it."""

    left = pyqtSignal()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Escape."""
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class _ChipScroll(QScrollArea):
    """Chips that don't fit are scrolled to by the wheel."""

    def wheelEvent(self, event: QWheelEvent | None) -> None:  # noqa: N802 - Qt's name
        """Up and down is left and right here."""
        bar = self.horizontalScrollBar()
        if event is not None and bar is not None:
            delta = event.angleDelta()
            bar.setValue(bar.value() - (delta.y() or delta.x()))
            event.accept()


class ChipRow(QWidget):
    """All chips, and the field that adds one."""

    trace_added = pyqtSignal(str)
    trace_removed = pyqtSignal(str)
    trace_selected = pyqtSignal(object)
    """expression: str, or None"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._chips: list[TraceChip] = []
        self._holder = QWidget()
        self._inner = QHBoxLayout(self._holder)
        self._inner.setContentsMargins(0, 0, 0, 0)
        self._scroll = _ChipScroll()
        self._scroll.setWidget(self._holder)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for set_policy in (
            self._scroll.setHorizontalScrollBarPolicy,
            self._scroll.setVerticalScrollBarPolicy,
        ):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        mark(self._scroll, surface="base")
        mark(self._holder, surface="base")
        self.add_button = IconButton(services, "plus", msg("Add a trace"), name="add_trace")
        self.add_button.clicked.connect(self.begin_adding)
        self.field = _Field()
        self.field.setObjectName("trace_expression")
        mark(self.field, small=True)
        self._names = QStringListModel()
        self._suggested: tuple[str, ...] = ()
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        # What is offered is sorted by us: letters in the right order are enough.
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.activated.connect(self._on_picked)
        self.field.setCompleter(completer)
        self.field.hide()
        self.field.returnPressed.connect(self._on_entered)
        self.field.left.connect(self.end_adding)
        self.field.textEdited.connect(self._on_edited)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._scroll, 1000)
        row.addWidget(self.add_button)
        row.addWidget(self.field)
        row.addStretch(1)
        self._row = row
        self.restyle()
        self.retranslate()

    @property
    def chips(self) -> Sequence[TraceChip]:
        """The chips, left to right."""
        return self._chips

    @property
    def wanted_width(self) -> int:
        """Room for all chips and what adds one."""
        return self._scroll.maximumWidth() + self._row.spacing() + self.add_button.width()

    def show_chips(self, traces: Sequence[tuple[str, int, Message | None]], selected: str | None) -> None:
        """(expression, colour, error) of every trace."""
        for chip in self._chips:
            self._inner.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        while self._inner.count():
            self._inner.takeAt(0)
        self._chips = [self._made(*trace, selected) for trace in traces]
        for chip in self._chips:
            self._inner.addWidget(chip)
            chip.show()  # the layout counts only what is shown
        self._fit()

    def suggest(self, names: Sequence[str]) -> None:
        """What the field completes to."""
        self._suggested = tuple(names)
        self._offer("")

    def begin_adding(self) -> None:
        """Open the field, and the list of what there is."""
        self.begin_expression()
        self._offer("")
        completer = self.field.completer()
        if completer is not None:
            completer.complete()

    def begin_expression(self) -> None:
        """Open the field."""
        self.field.clear()
        mark(self.field, state="")
        self.field.show()
        self.add_button.hide()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._fit()

    def end_adding(self, expression: str | None = None) -> None:
        """Close the field, if it still says `expression` (None: in any case)."""
        if expression is not None and self.field.text().strip() != expression:
            return
        had_focus = self.field.hasFocus()
        self.field.hide()
        self.add_button.show()
        if had_focus:
            self.add_button.setFocus()

    def refuse(self) -> None:
        """What was typed cannot be drawn: it stays, to be mended."""
        mark(self.field, state="error")

    def restyle(self) -> None:
        """Sizes."""
        theme = self._services.theme.theme
        self._inner.setSpacing(theme.size("space.2"))
        self.field.setMinimumWidth(round(_NARROWEST_FIELD * theme.scale))
        self.field.setMaximumWidth(round(_WIDEST_FIELD * theme.scale))
        self.setFixedHeight(theme.size("row.toolbar"))
        for chip in self._chips:
            chip.updateGeometry()
        self._fit()

    def retranslate(self) -> None:
        """Texts."""
        self.field.setPlaceholderText("v(out)/v(in)")
        self.field.setAccessibleName(self._services.language(msg("Expression of a new trace")))
        for chip in self._chips:
            chip.retranslate()

    def _made(self, expression: str, color: int, error: Message | None, selected: str | None) -> TraceChip:
        chip = TraceChip(self._services, expression, color, error)
        chip.setChecked(expression == selected)
        chip.clicked.connect(lambda checked: self._on_clicked(expression, is_checked=checked))
        chip.removed.connect(lambda: self.trace_removed.emit(expression))
        return chip

    def _on_clicked(self, expression: str, *, is_checked: bool) -> None:
        for chip in self._chips:
            chip.setChecked(is_checked and chip.text() == expression)
        self.trace_selected.emit(expression if is_checked else None)

    def _on_edited(self, text: str) -> None:
        mark(self.field, state="")
        self._offer(text)

    def _offer(self, text: str) -> None:
        """The suggestions that have the typed letters in their order, the best first."""
        wanted = "".join(text.split())
        scored = [
            (score, position, name)
            for position, name in enumerate(self._suggested)
            if (score := score_of(wanted, name)) is not None
        ]
        offered = [name for _, _, name in sorted(scored)[:_MOST_OFFERED]]
        # One that is whole needs no list over what comes next.
        self._names.setStringList([] if offered == [wanted] else offered)

    def _on_picked(self, name: str) -> None:
        self.trace_added.emit(name)

    def _on_entered(self) -> None:
        text = self.field.text().strip()
        if text:
            self.trace_added.emit(text)
        else:
            self.end_adding()

    def _fit(self) -> None:
        width = self._inner.sizeHint().width() if self._chips else 0
        self._holder.setMinimumWidth(width)
        self._scroll.setMaximumWidth(width)
        self._row.setSpacing(self._services.theme.theme.size("space.2"))
