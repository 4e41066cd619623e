"""What most widgets are made of: rows and columns, labels, buttons, timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PyQt6.QtCore import QObject, Qt, QTimer
from PyQt6.QtWidgets import QBoxLayout, QLabel, QLayout, QPushButton, QWidget

from presentation.ui.styles import mark

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


def text_label(
    text: str = "", *, name: str = "", wraps: bool = False, plain: bool = False, **marks: str
) -> QLabel:
    """A label, marked for the style sheet; `plain` shows what looks like markup as it is."""
    label = QLabel(text)
    label.setObjectName(name)
    label.setWordWrap(wraps)
    if plain:
        label.setTextFormat(Qt.TextFormat.PlainText)
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
