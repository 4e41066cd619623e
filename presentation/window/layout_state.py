"""The window's layout: which panes are wanted, how large they are, what fits at a width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PyQt6.QtCore import QRect
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QSplitter

LEFT_FOLDS_BELOW = 1180
RIGHT_OVERLAYS_BELOW = 960
"""Widths of the window in logical pixels at the scale 1 (look.md 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Which panes are seen, and how."""

    left: bool
    bottom: bool
    right: bool
    right_overlays: bool
    """The right pane lies over the centre instead of beside it."""


def fit(width: int, wanted: Mapping[str, bool], *, asked_for: frozenset[str], scale: float = 1.0) -> Fit:
    """What is shown at a width. A pane a person asked for at this width is shown all the same."""
    narrow = width < LEFT_FOLDS_BELOW * scale
    overlays = width < RIGHT_OVERLAYS_BELOW * scale
    right = wanted.get("right", True)
    return Fit(
        left=wanted.get("left", True) and (not narrow or "left" in asked_for),
        bottom=wanted.get("bottom", True),
        right=right and (not overlays or "right" in asked_for),
        right_overlays=overlays,
    )


def sizes_of(splitter: QSplitter) -> tuple[int, ...]:
    """Its parts' sizes; nothing while it was never shown, when they mean nothing."""
    sizes = tuple(splitter.sizes())
    return sizes if any(sizes) else ()


def on_a_screen(geometry: tuple[int, int, int, int]) -> QRect:
    """The window's place, moved and shrunk onto a screen that is there now."""
    wanted = QRect(*geometry)
    screen = QGuiApplication.screenAt(wanted.center()) or QGuiApplication.primaryScreen()
    if screen is None:
        return wanted
    room = screen.availableGeometry()
    wanted.setSize(wanted.size().boundedTo(room.size()))
    wanted.moveLeft(min(max(wanted.left(), room.left()), room.right() - wanted.width() + 1))
    wanted.moveTop(min(max(wanted.top(), room.top()), room.bottom() - wanted.height() + 1))
    return wanted
