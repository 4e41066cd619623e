"""What most widgets are made of: rows and columns, labels, buttons, timers, texts to copy."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from PyQt6.QtCore import QObject, QSize, Qt, QTimer
from PyQt6.QtGui import QFontMetricsF, QGuiApplication, QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QLabel,
    QLayout,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from presentation.ui.name_cut import middle_cut
from presentation.ui.styles import mark
from shared.message import Message

if TYPE_CHECKING:
    from presentation.ui.workspace import WindowServices

_LEAST_SHOWN = 4
"""Letters of a choice that has little room."""

Part = QWidget | QLayout
L = TypeVar("L", bound=QBoxLayout)


def arrange(
    layout: L,
    *parts: Part | tuple[Part, int] | int,
    edges: int | tuple[int, int, int, int] | None = None,
    gap: int | None = None,
) -> L:
    """Put parts into a row or column, each with its stretch if it has one; a number alone is empty room.

    `edges` (left, top, right, bottom) and `gap` are pixels; None leaves them as they are.
    """
    if edges is not None:
        layout.setContentsMargins(*((edges,) * 4 if isinstance(edges, int) else edges))
    if gap is not None:
        layout.setSpacing(gap)
    for each in parts:
        if isinstance(each, int):
            layout.addStretch(each)
            continue
        part, stretch = each if isinstance(each, tuple) else (each, 0)
        if isinstance(part, QWidget):
            layout.addWidget(part, stretch)
        else:
            layout.addLayout(part, stretch)
    return layout


def text_label(text: str = "", *, name: str = "", wraps: bool = False, **marks: str) -> QLabel:
    """A label, marked for the style sheet."""
    label = QLabel(text)
    label.setObjectName(name)
    label.setWordWrap(wraps)
    mark(label, **marks)
    return label


def push_button(
    text: str = "", *, name: str = "", clicked: Callable[..., object] | None = None, **marks: str | bool
) -> QPushButton:
    """A button that a dialog does not take for its default, marked for the style sheet."""
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAutoDefault(False)
    if clicked is not None:
        button.clicked.connect(clicked)
    mark(button, **marks)
    return button


def once_after(owner: QObject, wait_ms: int, call: Callable[[], object]) -> QTimer:
    """A timer that calls once, `wait_ms` after it was last started."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(wait_ms)
    timer.timeout.connect(call)
    return timer


def copy_text(text: str) -> None:
    """Put a text there; nothing happens on a platform without a clipboard."""
    clipboard = QGuiApplication.clipboard()
    if clipboard is not None:
        clipboard.setText(text)


def beside_its_name(choice: QComboBox) -> int:
    """Pixels that a box needs beside its name: borders, the arrow, and a breath before it."""
    option = QStyleOptionComboBox()
    choice.initStyleOption(option)
    style = choice.style()
    assert style is not None
    field = style.subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, choice
    )
    return choice.width() - field.width() + 2


class ShortChoice(QComboBox):
    """As wide as what is chosen in it, its list as wide as the longest; with less room the name is cut."""

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self._wide(self.currentText()), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        least = min(self.currentText(), f"{self.currentText()[:_LEAST_SHOWN]}…", key=len)
        return QSize(self._wide(least), super().minimumSizeHint().height())

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        view = self.view()
        if view is not None:
            view.setMinimumWidth(max(map(self._wide, map(self.itemText, range(self.count()))), default=0))
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        metrics, text, room = self.fontMetrics(), self.currentText(), self.width() - beside_its_name(self)
        if metrics.horizontalAdvance(text) > room:  # a rounded width: the exact one may be a fraction more
            option.currentText = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def _wide(self, text: str) -> int:
        return beside_its_name(self) + self.fontMetrics().horizontalAdvance(text)


class ElidedLabel(QLabel):
    """One line of plain text; the whole of it is in the tooltip. A file's name loses its middle."""

    def __init__(self, *, is_name: bool = False) -> None:
        super().__init__()
        self._is_name = is_name

    def setText(self, text: str | None) -> None:  # noqa: N802 - Qt's name
        super().setText(text)
        self.setToolTip(text or "")

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        width = QFontMetricsF(self.fontMetrics()).horizontalAdvance(self.text())
        return QSize(ceil(width), super().sizeHint().height())  # a rounded width would lack a pixel

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        painter, style = QPainter(self), self.style()
        metrics, text, room = self.fontMetrics(), self.text(), self.width()
        shown = (
            middle_cut(metrics, text, room)
            if self._is_name
            else metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        )
        if isinstance(style, QStyle):
            alignment = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            style.drawItemText(
                painter,
                self.rect(),
                alignment,
                self.palette(),
                self.isEnabled(),
                shown,
                self.foregroundRole(),
            )


class SpokenName(QObject):
    """What a screen reader calls a widget that has no words of its own, in the language in force."""

    def __init__(self, services: WindowServices, widget: QWidget, name: Message) -> None:
        super().__init__(widget)  # it ends with the widget
        self._services, self._widget, self._name = services, widget, name
        services.language.changed.connect(self._say)
        self._say()

    def _say(self) -> None:
        self._widget.setAccessibleName(self._services.language(self._name))
