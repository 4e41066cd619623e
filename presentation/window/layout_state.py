"""The window's layout: which panes are wanted, how large they are, what fits at a width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QSize, Qt, QTimer
from PyQt6.QtGui import QGuiApplication, QWindowStateChangeEvent
from PyQt6.QtWidgets import QSplitter, QWidget

from presentation.ui.theme import Theme

LEFT_FOLDS_BELOW = 1180
RIGHT_OVERLAYS_BELOW = 960
"""Widths of the window in logical pixels at the scale 1 (look.md 2)."""


_FULL, _SMALL = 1440, 1280
_SMALL_LEFT = 204
"""Widths of the windows the usual panes are drawn for, and of the left one in the small (look2.md 3)."""


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


def usual_sides(width: int, theme: Theme) -> tuple[int, int]:
    """Left and right pane in a window of a width nobody has arranged: the centre keeps what is seen in it."""
    room = (width / theme.scale - _SMALL) / (_FULL - _SMALL)
    share = min(max(room, 0.0), 1.0)
    small = round(_SMALL_LEFT * theme.scale), theme.size("pane.right_min")
    full = theme.size("pane.left_default"), theme.size("pane.right_default")
    left, right = (round(least + (most - least) * share) for least, most in zip(small, full, strict=True))
    return left, right


def sizes_of(splitter: QSplitter) -> tuple[int, ...]:
    """Its parts' sizes; nothing while it was never shown, when they mean nothing."""
    sizes = tuple(splitter.sizes())
    return sizes if any(sizes) else ()


def fitted(
    kept: Sequence[int], usual: Sequence[int], *, first: int | None = None, grows_alone: bool = False
) -> list[int]:
    """Sizes of a splitter's parts that were kept in another window, for one that has room for `usual`.

    In a smaller window all parts shrink alike, but the one numbered `first` not below its usual size there:
    what is read in it (curves) would be the first to be of no use. In a larger one all grow alike, or `first`
    `grows_alone`, as where the window is pulled larger. Sizes of another number of parts are not used.
    """
    before, room = sum(kept), sum(usual)
    if len(kept) != len(usual) or before <= 0:
        return list(usual)
    sizes = [size * room // before for size in kept]
    if first is not None and before <= room and grows_alone:
        return [size + room - before if at == first else size for at, size in enumerate(kept)]
    if first is None or before <= room:
        return sizes
    main = max(sizes[first], min(kept[first], usual[first]))
    others = before - kept[first]
    return [main if at == first else size * (room - main) // max(others, 1) for at, size in enumerate(kept)]


_FRAME = QMargins(4, 32, 4, 4)
"""What window managers put around a window, at most; the real one is known when it is on the screen."""


def frame_of(window: QWidget) -> QMargins:
    """The frame around a window, or what it may come to while it has none yet."""
    inner, outer = window.geometry(), window.frameGeometry()
    found = QMargins(
        inner.left() - outer.left(),
        inner.top() - outer.top(),
        outer.right() - inner.right(),
        outer.bottom() - inner.bottom(),
    )
    return _FRAME if found.isNull() else found


def on_a_screen(geometry: tuple[int, int, int, int], frame: QMargins = _FRAME) -> QRect:
    """The window's place without its frame, moved and shrunk until all of it is on a screen."""
    wanted = QRect(*geometry)
    screen = QGuiApplication.screenAt(wanted.center()) or QGuiApplication.primaryScreen()
    if screen is None:
        return wanted
    room = screen.availableGeometry().marginsRemoved(frame)
    wanted.setSize(wanted.size().boundedTo(room.size()))
    wanted.moveLeft(min(max(wanted.left(), room.left()), room.right() - wanted.width() + 1))
    wanted.moveTop(min(max(wanted.top(), room.top()), room.bottom() - wanted.height() + 1))
    return wanted


def first_place(window: QWidget, size: QSize) -> QRect:
    """Of a window nobody has placed yet: `size` in the middle of its screen, or what there is room for."""
    screen = window.screen()
    if screen is None:
        return QRect(QPoint(0, 0), size)
    room = screen.availableGeometry().marginsRemoved(_FRAME)
    place = QRect(QPoint(0, 0), size.boundedTo(room.size()))
    place.moveCenter(room.center())
    return on_a_screen((place.x(), place.y(), place.width(), place.height()))


class KeepOnScreen(QObject):
    """Moves and shrinks a window whose real frame is larger than was thought.

    That is when it is first shown, and when it is no longer maximised. Later moves are somebody's wish.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._is_new = True
        self._framed = QTimer(self)
        """The window manager frames a window some time after it has shown it."""
        self._framed.setSingleShot(True)
        self._framed.setInterval(200)
        self._framed.timeout.connect(self._fit)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        if event is not None and watched is self._window:
            is_first = event.type() == QEvent.Type.ActivationChange and self._is_new
            if is_first or (isinstance(event, QWindowStateChangeEvent) and self._was_grown(event)):
                self._is_new = False
                self._framed.start()
        return False

    def _was_grown(self, event: QWindowStateChangeEvent) -> bool:
        """Whether it filled the screen until now, and shall have a place of its own again.

        One that comes back from being minimised has the place that somebody gave it.
        """
        grown = Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen
        return bool(event.oldState() & grown) and not self._window.windowState() & (
            grown | Qt.WindowState.WindowMinimized
        )

    def _fit(self) -> None:
        window = self._window
        if window.isMaximized() or window.isFullScreen() or window.geometry() == window.frameGeometry():
            return
        now = window.geometry()
        fitting = on_a_screen((now.x(), now.y(), now.width(), now.height()), frame_of(window))
        if fitting != now:
            window.setGeometry(fitting)
